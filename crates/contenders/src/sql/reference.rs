//! The table as a sorted map in memory, every question answered by a loop: the oracle, and what the work
//! costs without a database.

use std::collections::BTreeMap;

use fathom_measure::contender::{Keeps, Meta, Simple};

use super::store::{Column, Function, Store, matches, soundex};
use super::workload::Database;
use crate::people::Person;

pub(super) const PLAIN: Simple<Database> = Simple {
    meta: Meta {
        name: "plain",
        keeps: Keeps::Copied,
        caveat: "no SQL, no disk, no transactions: the bound, not a rival",
        ..Meta::of(include_str!("reference.rs"))
    },
    prepare: |workload| workload.timed(|| Box::new(Table::default())),
};

/// Rows with their versions, and the lines of the log.
#[derive(Default)]
pub(super) struct Table {
    rows: BTreeMap<i64, (Person, i64)>,
    version: i64,
    log: Vec<String>,
}

impl Table {
    fn put(&mut self, person: Person) {
        self.version += 1;
        self.rows.insert(person.id, (person, self.version));
    }

    fn people(&self) -> impl Iterator<Item = &Person> {
        self.rows.values().map(|(person, _)| person)
    }
}

impl Store for Table {
    fn begin(&mut self) {}

    fn commit(&mut self) {}

    fn add(&mut self, person: &Person, _: bool) -> i64 {
        let after_last = self.rows.last_key_value().map_or(1, |(id, _)| id + 1);
        let is_free = person.id != 0 && !self.rows.contains_key(&person.id);
        let id = if is_free { person.id } else { after_last };
        self.put(Person { id, ..person.clone() });
        id
    }

    fn update(&mut self, person: &Person) -> bool {
        let is_there = self.rows.contains_key(&person.id);
        if is_there {
            self.put(person.clone());
        }
        is_there
    }

    fn named(&mut self, last_name: &str) -> Vec<Person> {
        let is_named = |person: &&Person| person.last_name == last_name;
        let mut found: Vec<Person> = self.people().filter(is_named).cloned().collect();
        found.sort_by(|a, b| (&a.first_name, a.id).cmp(&(&b.first_name, b.id)));
        found
    }

    fn all(&mut self) -> Vec<Person> {
        self.people().cloned().collect()
    }

    fn cursor(&mut self) -> (u64, i64) {
        let years =
            |person: &Person| i64::from(person.year_of_birth) + i64::from(person.year_of_death);
        (self.rows.len() as u64, self.people().map(years).sum())
    }

    fn vacuum(&mut self) {}

    fn sorted(&mut self, by: &[(Column, bool)]) -> Vec<i64> {
        let mut people: Vec<&Person> = self.people().collect();
        let folded = |person: &Person| person.first_name.to_ascii_lowercase();
        people.sort_by(|a, b| {
            let of_column = |&(column, is_down): &(Column, bool)| {
                let order = match column {
                    Column::Id => a.id.cmp(&b.id),
                    Column::FirstName => folded(a).cmp(&folded(b)),
                    Column::LastName => a.last_name.cmp(&b.last_name),
                    Column::Data => a.data.cmp(&b.data),
                    Column::YearOfBirth => a.year_of_birth.cmp(&b.year_of_birth),
                    Column::YearOfDeath => a.year_of_death.cmp(&b.year_of_death),
                };
                if is_down { order.reverse() } else { order }
            };
            let first = by.iter().map(of_column).find(|order| order.is_ne());
            first.unwrap_or_else(|| a.id.cmp(&b.id))
        });
        people.iter().map(|person| person.id).collect()
    }

    fn like(&mut self, part: &str) -> u64 {
        let part = part.to_ascii_lowercase();
        let is_like = |person: &&Person| person.first_name.to_ascii_lowercase().contains(&part);
        self.people().filter(is_like).count() as u64
    }

    fn regexp(&mut self, pattern: &str) -> u64 {
        self.people().filter(|person| matches(pattern, &person.first_name)).count() as u64
    }

    fn joined(&mut self, last_name: &str) -> String {
        let named = self.people().filter(|person| person.last_name == last_name);
        let names: Vec<&str> = named.map(|person| person.first_name.as_str()).collect();
        names.join(",")
    }

    fn remainder(&mut self, a: i64, b: i64) -> i64 {
        a % b
    }

    fn call(&mut self, function: Function, text: &str) -> String {
        match function {
            Function::Soundex => soundex(text),
            Function::Upper => text.to_uppercase(),
            Function::CharIndex => {
                let at = text.chars().position(|character| character == 'a');
                at.map_or(0, |at| at + 1).to_string()
            }
        }
    }

    fn attach_log(&mut self, lines: &[String]) {
        self.log = lines.to_vec();
    }

    fn log(&mut self, level: Option<&str>, word: Option<&str>) -> u64 {
        let is_wanted = |line: &&String| {
            let mut fields = line.splitn(3, ',').skip(1);
            let (found, text) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
            level.is_none_or(|level| found == level) && word.is_none_or(|word| text.contains(word))
        };
        self.log.iter().filter(is_wanted).count() as u64
    }

    fn changes(&mut self, version: i64) -> Vec<(Person, i64)> {
        let mut rows: Vec<_> = self.rows.values().filter(|row| row.1 > version).cloned().collect();
        rows.sort_by_key(|row| row.1);
        rows
    }

    fn apply(&mut self, rows: &[(Person, i64)]) {
        for (person, version) in rows {
            self.version = self.version.max(*version);
            self.rows.insert(person.id, (person.clone(), *version));
        }
    }
}
