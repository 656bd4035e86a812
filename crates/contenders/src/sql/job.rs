//! The jobs: each works through a store and sums up what it was told.
//!
//! They follow the rows of mORMot's tests as far as these have a meaning outside its ORM. Left out are
//! what only that ORM has: SOUNDEX in French and Spanish, records with dynamic arrays and nested
//! objects, full-text search, virtual tables on its own file formats, background backup.

use fathom_measure::digest::Digest;

use super::store::{Column, Function, Store};
use crate::json;
use crate::people::{NAMES, Person};

/// The patterns of the REGEXP row; the first is asked twice.
pub const PATTERNS: [&str; 3] = ["\\bFinley\\b", "^Samuel F", "\\bFinley\\b"];
/// Queries of the log.
pub const LOG_QUERIES: u64 = 6;

/// Calls of the function with numbers for this many rows: the forebear's share.
fn remainders(rows: u64) -> u64 {
    100 + rows * 10_000 / 11_000
}

/// The elementary operations of [`direct`].
pub fn direct_operations(rows: u64) -> u64 {
    remainders(rows) + 18 + rows + 3
}

/// Functions called from SQL, one round committed row by row, all others in one transaction (three rows
/// of eleven bound, eight as literal SQL), then ordered, joined and pattern queries.
pub fn direct(store: &mut dyn Store, people: &[Person]) -> Digest {
    let mut digest = Digest::default();
    for i in 1..=remainders(people.len() as u64) as i64 {
        digest = digest.with_u64(store.remainder(i * 1000, i % 7 + 5) as u64);
    }
    for word in ["Salvador", "Finley", "Rachmaninoff", "Claud\u{e8}", "Gutenberg", "banana"] {
        for function in [Function::Soundex, Function::Upper, Function::CharIndex] {
            digest = digest.with_bytes(store.call(function, word).as_bytes());
        }
    }
    let (first, rest) = people.split_at(NAMES.len().min(people.len()));
    let mut add = |store: &mut dyn Store, rows: &[Person]| {
        for (at, person) in rows.iter().enumerate() {
            digest = digest.with_u64(store.add(person, at % NAMES.len() >= 3) as u64);
        }
    };
    add(store, first);
    store.begin();
    add(store, rest);
    store.commit();
    digest
        .with_bytes(&json::objects(&store.named("M\u{f4}net")))
        .with_bytes(store.joined("Dali").as_bytes())
        .with_u64(store.like("eona"))
}

/// A log of as many lines as there are rows attached as a table, and six queries.
pub fn virtual_table(store: &mut dyn Store, lines: usize) -> Digest {
    let level = |i: usize| ["info", "warning", "error"][i % 3];
    let line = |i| format!("2026-11-21T00:00:{:02}Z,{},request {i} served", i % 60, level(i));
    let lines: Vec<String> = (0..lines).map(line).collect();
    store.attach_log(&lines);
    let queries = [
        (None, None),
        (Some("info"), None),
        (Some("error"), None),
        (Some("fatal"), None),
        (None, Some("request 1")),
        (Some("warning"), Some("7 served")),
    ];
    queries
        .iter()
        .fold(Digest::default(), |digest, (level, word)| digest.with_u64(store.log(*level, *word)))
}

/// Every field up and down, and every pair of different fields.
pub fn orders() -> Vec<Vec<(Column, bool)>> {
    let mut orders = Vec::new();
    for first in Column::ALL {
        orders.push(vec![(first, false)]);
        orders.push(vec![(first, true)]);
        for second in Column::ALL.into_iter().filter(|second| *second != first) {
            orders.push(vec![(first, false), (second, false)]);
        }
    }
    orders
}

/// All rows as a JSON table and by cursor, VACUUM, the cursor again, and all [`orders`].
pub fn table(store: &mut dyn Store) -> Digest {
    let text = json::table::compact(&store.all());
    let mut digest = Digest::of_u64(crate::checksum::fast_sum(&text).into());
    for is_first in [true, false] {
        let (rows, years) = store.cursor();
        digest = digest.with_u64(rows).with_u64(years as u64);
        if is_first {
            store.vacuum();
        }
    }
    for order in orders() {
        let keys = store.sorted(&order);
        let weighted = keys.iter().zip(1_u64..).map(|(key, at)| (*key as u64).wrapping_mul(at));
        digest = digest.with_u64(weighted.fold(0, u64::wrapping_add));
    }
    digest
}

/// The rows that match each of [`PATTERNS`].
pub fn regexp(store: &mut dyn Store) -> Digest {
    PATTERNS
        .iter()
        .fold(Digest::default(), |digest, pattern| digest.with_u64(store.regexp(pattern)))
}

/// All rows in one transaction.
pub fn fill(store: &mut dyn Store, people: &[Person]) {
    store.begin();
    for person in people {
        store.add(person, false);
    }
    store.commit();
}

/// Rows added to the first store are taken over by the second; every fourth is changed there after, and
/// the changes alone are taken over.
pub fn versions(master: &mut dyn Store, slave: &mut dyn Store, people: &[Person]) -> Digest {
    fill(master, people);
    let mut digest = Digest::default();
    let mut version = 0;
    for year in [0, 2000] {
        if year > 0 {
            master.begin();
            for person in people.iter().step_by(4) {
                master.update(&Person { year_of_death: year, ..person.clone() });
            }
            master.commit();
        }
        let changes = master.changes(version);
        slave.begin();
        slave.apply(&changes);
        slave.commit();
        version = changes.last().map_or(version, |change| change.1);
        digest = digest.with_u64(changes.len() as u64).with_u64(version as u64);
        let (rows, years) = slave.cursor();
        digest = digest.with_u64(rows).with_u64(years as u64);
    }
    digest
}
