//! SQL rows: what a database costs over plain structures in memory, for the work of mORMot's ORM tests.
//!
//! The table is `People` of those tests: eleven persons a round, eleven thousand rows at 1000 rounds.
//! `plain` answers every row from a sorted map in memory, without SQL: the oracle, and the bound.
//! The engine runs in memory, or on a file with `synchronous` off, exclusive locking and a memory
//! map of 256 MiB. Rates are in the elementary operations a row consists of; nothing here is a
//! network, a driver or a planner under load.

use fathom_measure::family::{Absent, Family};

use crate::library::CRATES;

pub mod job;
mod reference;
#[cfg(feature = "cpu")]
mod rusqlite;
pub mod store;
mod workload;

pub use workload::{Database, Operation};

/// The family.
pub(crate) const FAMILY: Family<Database> = Family {
    name: "sql",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        #[cfg(feature = "cpu")]
        &rusqlite::Sqlite,
    ],
    absent: &[
        CRATES,
        Absent::left_out(
            "turso",
            "the rewrite of SQLite in Rust is a beta; not taken in and not measured",
        ),
        Absent::left_out("gluesql", "another dialect of SQL; not taken in and not measured"),
        Absent::left_out(
            "mormot",
            "the forebear's ORM needs a Pascal compiler and its static SQLite; the \
                     article's table has its times",
        ),
    ],
    facts: &workload::FACTS,
};
