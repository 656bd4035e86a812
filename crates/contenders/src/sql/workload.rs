//! The workload of the family: a job over fresh or filled stores, some rounds of persons long.

use fathom_measure::contender::{Preparation, timed_batch};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::job;
use super::store::Store;
use crate::people::{self, NAMES, Person};

/// Persons and what is done with them.
pub struct Database {
    /// The job.
    pub operation: Operation,
    people: Vec<Person>,
}

/// A job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`job::direct`].
    Direct,
    /// [`job::virtual_table`].
    VirtualTable,
    /// [`job::table`].
    TableJson,
    /// [`job::rest`].
    Rest,
    /// [`job::regexp`].
    Regexp,
    /// [`job::versions`].
    RecordVersion,
}

const OPERATIONS: &[Offer] = &[
    Offer {
        name: "direct",
        default: "",
        doc: "functions called from SQL, insertion bound and literal, ordered and pattern queries",
    },
    Offer { name: "virtual-table", default: "", doc: "a log file as a table: opened, six queries" },
    Offer {
        name: "table-json",
        default: "",
        doc: "all rows as JSON and by cursor, VACUUM, sorted by every field and pair of fields",
    },
    Offer {
        name: "rest",
        default: "",
        doc: "requests with JSON bodies to a REST-like layer in process: batch, get, list, put, \
              delete, locks, blobs",
    },
    Offer { name: "regexp", default: "", doc: "FirstName REGEXP three patterns over all rows" },
    Offer {
        name: "record-version",
        default: "",
        doc: "versioned rows replicated to a second database, changed, replicated again",
    },
];
const EACH: [Operation; 6] = [
    Operation::Direct,
    Operation::VirtualTable,
    Operation::TableJson,
    Operation::Rest,
    Operation::Regexp,
    Operation::RecordVersion,
];

impl Workload for Database {
    const OPERATIONS: &'static [Offer] = OPERATIONS;
    const PARAMETERS: &'static [Offer] =
        &[Offer { name: "rounds", default: "1000", doc: "rounds of eleven rows each" }];

    fn load(spec: &Spec) -> Result<Database, SpecError> {
        let at = OPERATIONS.iter().position(|offer| offer.name == spec.operation).unwrap_or(0);
        let rounds = usize::try_from(spec.number("rounds")?).ok().filter(|r| *r <= 100_000);
        let rounds = rounds.ok_or_else(|| spec.bad("rounds", "at most 100000"))?;
        Ok(Database { operation: EACH[at], people: people::people(rounds * NAMES.len()) })
    }

    fn work(&self) -> Work {
        let rows = self.people.len() as u64;
        let items = match self.operation {
            Operation::Direct => job::direct_operations(rows),
            Operation::VirtualTable => job::LOG_QUERIES,
            Operation::TableJson => rows * (3 + job::orders().len() as u64),
            Operation::Rest => job::requests(rows),
            Operation::Regexp => rows * job::PATTERNS.len() as u64,
            Operation::RecordVersion => 2 * rows + rows / 2,
        };
        Work { bytes: 0, items }
    }

    fn cases() -> Vec<Spec> {
        OPERATIONS.iter().map(|offer| Spec::new(offer.name, &[])).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let case = |offer: &Offer| {
            let name = offer.name;
            ["1", "2", "20"].map(|rounds| Spec::new(name, &[("rounds", rounds)]))
        };
        OPERATIONS.iter().flat_map(case).collect()
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
                Operation::Direct | Operation::VirtualTable | Operation::Rest => {}
                Operation::TableJson | Operation::Regexp => fill(&mut *store, people),
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
                (Operation::Rest, _) => job::rest(&mut *store, people),
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

/// All rows in one transaction.
fn fill(store: &mut dyn Store, people: &[Person]) {
    store.begin();
    for person in people {
        store.add(person, false);
    }
    store.commit();
}
