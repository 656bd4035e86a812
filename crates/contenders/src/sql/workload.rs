//! The workload of the family: a job over fresh or filled stores, some rounds of persons long.

use fathom_measure::contender::{Preparation, timed_batch};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Form, Timed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::job;
use super::store::Store;
use crate::people::{self, NAMES, Person};
use crate::tasks::{each, parameter, tasks};

/// Persons and what is done with them.
pub struct Database {
    /// The job.
    pub operation: Operation,
    people: Vec<Person>,
}

tasks! {
    /// A job.
    Operation {
        Direct "direct" "functions called from SQL, insertion bound and literal, ordered and pattern queries",
            forebear: "Database direct access", form: Form::Items, alone: ONE;
        VirtualTable "virtual-table" "a log file as a table: opened, six queries",
            forebear: "Virtual table direct access", form: Form::Items, alone: ONE;
        TableJson "table-json" "all rows as JSON and by cursor, VACUUM, sorted by every field and pair of fields",
            forebear: "TOrmTableJson", form: Form::Items, quick: &[&[("rounds", "10")]], alone: ONE;
        Regexp "regexp" "FirstName REGEXP two patterns over all rows, the first once more",
            forebear: "Regexp function", form: Form::Items, alone: ONE;
        RecordVersion "record-version" "versioned rows replicated to a second database, changed, replicated again",
            forebear: "TRecordVersion", form: Form::Items, alone: ONE;
    }
}

/// Why nobody else is in these rows.
const ONE: &str = "no other library speaks this SQL, with functions and tables of the program";

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("sql"),
    reference: Timed::AsOracle,
    quick: &[("rounds", "20")],
    tasks: Operation::TASKS,
    common: &[
        Common::of("SQLite", "direct", &["sqlite+memory"]).among(&["sqlite+memory", "sqlite+file"])
    ],
    ..Facts::NONE
};

impl Workload for Database {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] =
        &[parameter("rounds", "1000", "rounds of eleven rows each")];

    fn load(spec: &Spec) -> Result<Database, SpecError> {
        let rounds = usize::try_from(spec.number("rounds")?).ok().filter(|r| *r <= 100_000);
        let rounds = rounds.ok_or_else(|| spec.bad("rounds", "at most 100000"))?;
        Ok(Database {
            operation: Operation::of(spec),
            people: people::people(rounds * NAMES.len()),
        })
    }

    fn work(&self) -> Work {
        let rows = self.people.len() as u64;
        let items = match self.operation {
            Operation::Direct => job::direct_operations(rows),
            Operation::VirtualTable => job::LOG_QUERIES,
            Operation::TableJson => rows * (3 + job::orders().len() as u64),
            Operation::Regexp => rows * job::PATTERNS.len() as u64,
            Operation::RecordVersion => 2 * rows + rows / 2,
        };
        Work { bytes: 0, items }
    }

    fn cases() -> Vec<Spec> {
        Operation::OFFERS.iter().map(|offer| Spec::new(offer.name, &[])).collect()
    }

    fn small_cases() -> Vec<Spec> {
        each(Operation::OFFERS, "rounds", &["1", "2", "20"])
    }
}

impl Database {
    /// A contender whose stores are made by `new`; making and filling them is not timed, nor is
    /// closing them.
    pub(super) fn timed<'w, S: Store + 'w>(
        &'w self,
        new: impl Fn() -> Box<S> + 'w,
    ) -> Preparation<'w> {
        let people = &self.people[..];
        let operation = self.operation;
        let setup = move || {
            let mut store = new();
            match operation {
                Operation::Direct | Operation::VirtualTable => {}
                Operation::TableJson | Operation::Regexp => job::fill(&mut *store, people),
                Operation::RecordVersion => return (store, Some(new())),
            }
            (store, None)
        };
        let run = move |(mut store, other): (Box<S>, Option<Box<S>>)| {
            let mut other = other;
            let digest = match (operation, other.as_deref_mut()) {
                (Operation::Direct, _) => job::direct(&mut *store, people),
                (Operation::VirtualTable, _) => job::virtual_table(&mut *store, people.len()),
                (Operation::TableJson, _) => job::table(&mut *store),
                (Operation::Regexp, _) => job::regexp(&mut *store),
                (Operation::RecordVersion, Some(slave)) => {
                    job::versions(&mut *store, slave, people)
                }
                (Operation::RecordVersion, None) => Digest::default(),
            };
            (digest, store, other)
        };
        Ok(timed_batch(1, setup, run, |(digest, ..)| digest))
    }
}
