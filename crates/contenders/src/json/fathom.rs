//! This project's own: documents, tables and records from the events of `fathom-json`, numbers by its
//! exact conversion, text by a writer that knows its records.

use fathom_json::{Event, Lexer, Limits, Mode};
use fathom_machine::level::{Level, told};
use fathom_measure::contender::{Keeps, Meta, Path, Simple};

use super::table::{compact, expanded, from_compact};
use super::value::{Pool, Value, decoded, read};
use super::workload::{Operation, Texts};
use super::write::{self, COLUMNS};
use crate::people::{Person, blob_bytes};

pub(super) const FATHOM: Simple<Texts> = Simple {
    meta: Meta {
        name: "fathom",
        keeps: Keeps::Copied,
        hardware: |operation| match operation {
            "table-values" | "serialise" => Path::Portable,
            "numbers" | "dom-no-guess" => Path::takes(lexer(Level::current()).level()),
            _ => Path::takes(levels(Level::current())),
        },
        ..Meta::of(include_str!("fathom.rs"))
    },
    prepare: |workload| {
        const VALID: &str = "the workload's text is valid";
        let level = Level::current();
        match workload.operation {
            Operation::Dom => workload.documents(
                move |text| read(level, text, true, |name| Box::<str>::from(name)),
                Value::digest,
            ),
            Operation::DomNoGuess => workload.documents(
                move |text| read(level, text, false, |name| Box::<str>::from(name)),
                Value::digest,
            ),
            Operation::DomInterned => workload.documents(
                move |text| {
                    let mut pool = Pool::default();
                    read(level, text, true, |name| pool.name(name))
                },
                Value::digest,
            ),
            Operation::TableValues => workload.written(compact),
            Operation::Serialise => workload.written(write::objects),
            Operation::TableExpanded => {
                workload.table(move |text| expanded(level, text).expect(VALID))
            }
            Operation::TableCompact => {
                workload.table(move |text| from_compact(level, text).expect(VALID))
            }
            Operation::Records => {
                workload.records(move |text| records(level, text, |p| p).expect(VALID))
            }
            Operation::Objects => {
                workload.objects(move |text| records(level, text, Box::new).expect(VALID))
            }
            Operation::Numbers => workload.numbers(move |text| numbers(level, text).expect(VALID)),
        }
    },
};

fn lexer(level: Level) -> Lexer {
    Lexer::with(Mode::Document, Limits::default(), level)
}

/// What the counting of members, where tables begin, and the lexer run at.
fn levels(level: Level) -> String {
    told([crate::text::level_of(level), lexer(level).level()])
}

fn records<P>(
    level: Level,
    text: &[u8],
    made: impl Fn(Person) -> P,
) -> Result<Vec<P>, fathom_json::Error> {
    let mut people = Vec::with_capacity(crate::text::members(level, text, b'[') as usize);
    let mut lexer = lexer(level);
    let (mut at, mut column) = (0, 0);
    let mut person = Person::default();
    while let Some(event) = lexer.next(text, &mut at)? {
        match event {
            // Members nearly always come in order: the next column is tried first.
            Event::Key(name) if name.is(COLUMNS[column]) => {}
            Event::Key(name) => {
                column = COLUMNS.iter().position(|column| name.is(column)).unwrap_or(0);
            }
            Event::String(text) => {
                let text = decoded(&text);
                match column {
                    1 => person.first_name = text.into_owned(),
                    2 => person.last_name = text.into_owned(),
                    _ => person.data = blob_bytes(&text).unwrap_or_default(),
                }
                column = (column + 1) % COLUMNS.len();
            }
            Event::Number(number) => {
                let number = number.to_i64().unwrap_or_default();
                match column {
                    0 => person.id = number,
                    4 => person.year_of_birth = number as i32,
                    _ => person.year_of_death = number as u16,
                }
                column = (column + 1) % COLUMNS.len();
            }
            Event::EndObject => {
                people.push(made(std::mem::take(&mut person)));
                column = 0;
            }
            _ => {}
        }
    }
    lexer.end()?;
    Ok(people)
}

fn numbers(level: Level, text: &[u8]) -> Result<Vec<f64>, fathom_json::Error> {
    let mut numbers = Vec::new();
    let mut lexer = lexer(level);
    let mut at = 0;
    while let Some(event) = lexer.next(text, &mut at)? {
        if let Event::Number(number) = event {
            numbers.push(number.to_f64().unwrap_or(f64::NAN));
        }
    }
    lexer.end()?;
    Ok(numbers)
}
