//! The workload of the family: the text of an operation, or the records that are to be written.
//!
//! Knows what right answers look like (their digests), not how they are found.

use std::fmt::Display;

use fathom_measure::contender::{Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::table::{Table, compact};
use super::write;
use crate::checksum::fast_sum;
use crate::mix::SplitMix;
use crate::own;
use crate::people::{self, Person};
use crate::tasks::{each, parameter, tasks};

/// A text and what is asked of it.
pub struct Texts {
    /// The question.
    pub operation: Operation,
    text: Vec<u8>,
    people: Vec<Person>,
    work: Work,
}

tasks! {
    /// A question.
    Operation {
        Dom "dom" "the whole document as values in memory, each library's best way",
            forebear: "TDocVariant", own: true;
        DomNoGuess "dom-no-guess" "the same, containers growing: items are not counted first",
            forebear: "TDocVariant no guess";
        DomInterned "dom-interned" "the same, names taken from a pool so that each is stored once",
            forebear: "TDocVariant dvoInternNames";
        TableValues "table-values" "records written as one compact table; bytes written",
            forebear: "TOrmTableJson GetJsonValues";
        TableExpanded "table-expanded" "an array of objects to rows of pointers, nothing converted",
            forebear: "TOrmTableJson expanded";
        TableCompact "table-compact" "a compact table to rows of pointers, nothing converted",
            forebear: "TOrmTableJson not expanded";
        Records "records" "an array of records: integers, strings, a blob decoded",
            forebear: "DynArrayLoadJson";
        Objects "objects" "the same, each record allocated for itself",
            forebear: "TOrmPeopleObjArray";
        Serialise "serialise" "records written as an array of objects; bytes written";
        Numbers "numbers" "an array of coordinates to doubles, rounded to the nearest";
    }
}

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("json"),
    reference: Timed::AsOracle,
    quick: &[("records", "1000")],
    tasks: Operation::TASKS,
    common: &[Common::of("JSON parse", "dom", &["serde-json"])],
    ..Facts::NONE
};

impl Workload for Texts {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[parameter("records", "8227", "objects in the array")];
    const MADE: &'static [&'static str] = &["records"];
    const OF_FILES: &'static [&'static str] = &["dom", "dom-no-guess", "dom-interned"];

    fn load(spec: &Spec) -> Result<Texts, SpecError> {
        let operation = Operation::of(spec);
        if spec.file.is_some() {
            let text = own::json(spec)?;
            let work = Work { bytes: text.len() as u64, items: 1 };
            return Ok(Texts { operation, text, people: Vec::new(), work });
        }
        let records = usize::try_from(spec.number("records")?).unwrap_or(usize::MAX);
        if records > 1 << 24 {
            return Err(spec.bad("records", "at most 16M"));
        }
        let (mut text, mut people) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        match operation {
            Operation::TableValues => {
                people = people::people(records);
                bytes = compact(&people).len();
            }
            Operation::Serialise => {
                people = people::people(records);
                bytes = write::objects(&people).len();
            }
            Operation::TableCompact => text = compact(&people::people(records)),
            Operation::Numbers => text = coordinates(4 * records),
            _ => text = people::json(records),
        }
        let bytes = bytes.max(text.len()) as u64;
        Ok(Texts { operation, text, people, work: Work { bytes, items: records as u64 } })
    }

    fn work(&self) -> Work {
        self.work
    }

    fn cases() -> Vec<Spec> {
        Operation::OFFERS.iter().map(|offer| Spec::new(offer.name, &[])).collect()
    }

    fn small_cases() -> Vec<Spec> {
        each(Operation::OFFERS, "records", &["0", "1", "12", "100"])
    }
}

impl Texts {
    /// A contender that builds documents. One that refuses a file which others read takes no part.
    pub(super) fn documents<'w, V: 'w, E: Display>(
        &'w self,
        mut read: impl FnMut(&'w [u8]) -> Result<V, E> + 'w,
        digest: impl Fn(&V) -> Digest + 'w,
    ) -> Preparation<'w> {
        if let Err(error) = read(&self.text) {
            return Err(Unsupported(format!("does not read this text: {error}")));
        }
        self.values(move |text| read(text).ok().expect("it was read before"), digest)
    }

    /// A contender that builds values; `digest` walks them.
    pub(super) fn values<'w, V: 'w>(
        &'w self,
        read: impl FnMut(&'w [u8]) -> V + 'w,
        digest: impl Fn(&V) -> Digest + 'w,
    ) -> Preparation<'w> {
        Ok(timed(&self.text[..], read, digest))
    }

    /// A contender that builds rows of pointers.
    pub(super) fn table<'w>(
        &'w self,
        read: impl FnMut(&'w [u8]) -> Table<'w> + 'w,
    ) -> Preparation<'w> {
        self.values(read, Table::digest)
    }

    /// A contender that builds records.
    pub(super) fn records<'w>(
        &'w self,
        read: impl FnMut(&'w [u8]) -> Vec<Person> + 'w,
    ) -> Preparation<'w> {
        self.values(read, |people| people.iter().fold(Digest::default(), with_person))
    }

    /// A contender that builds records, each allocated for itself.
    #[allow(clippy::vec_box)] // an array of references to objects is what the row is about
    pub(super) fn objects<'w>(
        &'w self,
        read: impl FnMut(&'w [u8]) -> Vec<Box<Person>> + 'w,
    ) -> Preparation<'w> {
        self.values(read, |people| people.iter().map(|p| &**p).fold(Digest::default(), with_person))
    }

    /// A contender that converts numbers.
    pub(super) fn numbers<'w>(
        &'w self,
        read: impl FnMut(&'w [u8]) -> Vec<f64> + 'w,
    ) -> Preparation<'w> {
        let with = |digest: Digest, number: &f64| digest.with_u64(number.to_bits());
        self.values(read, move |numbers| numbers.iter().fold(Digest::default(), with))
    }

    /// A contender that writes the records.
    pub(super) fn written<'w>(
        &'w self,
        write: impl FnMut(&'w [Person]) -> Vec<u8> + 'w,
    ) -> Preparation<'w> {
        Ok(timed(&self.people[..], write, |text: &Vec<u8>| {
            Digest::of_u64(fast_sum(text).into()).with_u64(text.len() as u64)
        }))
    }
}

fn with_person(digest: Digest, person: &Person) -> Digest {
    digest
        .with_u64(person.id as u64)
        .with_bytes(person.first_name.as_bytes())
        .with_bytes(person.last_name.as_bytes())
        .with_bytes(&person.data)
        .with_u64(person.year_of_birth as u64)
        .with_u64(person.year_of_death.into())
}

/// An array of degrees, in the shortest decimal form that gives the same double again.
fn coordinates(count: usize) -> Vec<u8> {
    let mut random = SplitMix(1);
    let degrees = |bits: u64| (bits >> 11) as f64 * (360.0 / (1_u64 << 53) as f64) - 180.0;
    let numbers: Vec<String> = (0..count).map(|_| degrees(random.word()).to_string()).collect();
    format!("[{}]", numbers.join(",")).into_bytes()
}
