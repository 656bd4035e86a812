//! A memory limit bounds what the process takes. One test, whose cases have a process each and read its peak: what an
//! allocator keeps of one that is over would count for the next, 40 MiB of it at times.

use std::io::Read;
use std::process::Command;

use fathom_aggregate::{
    Column, Error, OnError, Options, Progress, Query, Selector, Source, Spill, Value, aggregate,
    delimited,
};
use fathom_machine::os::usage::peak_bytes;

const LIMIT_BYTES: usize = 80 << 20;

/// Buffers, stacks, what the allocator keeps, and keys met between two looks at the account.
const BESIDE_BYTES: usize = 32 << 20;

/// Rows of keys that are all different, made while they are read.
struct Rows {
    next: u64,
    keys: u64,
    padding: &'static str,
    value: &'static str,
    rest: Vec<u8>,
}

impl Read for Rows {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while self.rest.len() < into.len() && self.next < self.keys {
            let Rows { next, padding, value, .. } = self;
            self.rest.extend_from_slice(format!("{next}{padding};{value}\n").as_bytes());
            self.next += 1;
        }
        let bytes = into.len().min(self.rest.len());
        into[..bytes].copy_from_slice(&self.rest[..bytes]);
        self.rest.drain(..bytes);
        Ok(bytes)
    }
}

/// Names the case that a process of this program runs: a place among those of [`cases`].
const CASE: &str = "FATHOM_TEST_MEMORY_CASE";

/// What keys end with, the value of each record, what is kept of it, and how many keys there are; they fit, do not, or
/// are spilled.
type Case = (&'static str, &'static str, Kept, u64, Outcome);

fn cases() -> Vec<Case> {
    use Outcome::{Error, Fits, Spilled};
    let rows = [("", "1.0"), (" and much that makes it a long key", "1.0"), ("", "1.25")];
    let sizes = [(100_000, Fits), (600_000, Error), (2_000_000, Error), (2_000_000, Spilled)];
    let of = |(padding, value)| sizes.map(|(keys, is)| (padding, value, Kept::Sums, keys, is));
    let sizes = [(20_000, Fits), (300_000, Error), (300_000, Spilled)];
    let of_texts = |kept| sizes.map(|(keys, is)| ("", TEXT, kept, keys, is));
    let texts = [Kept::Values, Kept::Ends].into_iter().flat_map(of_texts);
    rows.into_iter().flat_map(of).chain(texts).collect()
}

const TEXT: &str = match std::str::from_utf8(&[b'x'; 400]) {
    Ok(text) => text,
    Err(_) => unreachable!(),
};

/// Sums of numbers; of texts all that there are, or the first and the last.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kept {
    Sums,
    Values,
    Ends,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Fits,
    Error,
    Spilled,
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
fn a_memory_limit_bounds_the_peak_of_tables_that_grow_and_of_the_result() {
    if let Ok(case) = std::env::var(CASE) {
        return run(cases()[case.parse::<usize>().unwrap()]);
    }
    for case in 0..cases().len() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let output = own.arg("--nocapture").env(CASE, case.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {said}", cases()[case]);
    }
}

fn run((padding, value, kept, keys, outcome): Case) {
    let before = peak_bytes().unwrap();
    let reader = Box::new(Rows { next: 0, keys, padding, value, rest: Vec::new() });
    let source = Source::Stream { path: "-".into(), reader };
    let create = |at: &_| tempfile::tempfile_in(at);
    let (folder, least_bytes) = (std::env::temp_dir(), Spill::LEAST_BYTES);
    let spill = Spill { folder, create, totals: false, least_bytes };
    let options = Options {
        threads: 2,
        memory_limit_bytes: Some(LIMIT_BYTES),
        spill: (outcome == Outcome::Spilled).then_some(spill),
        with_values: kept == Kept::Values,
        with_ends: kept == Kept::Ends,
        ..Options::default()
    };
    let (sources, progress) = (vec![source], Progress::default());
    let summary = match kept {
        Kept::Sums => aggregate(sources, &options, OnError::Fail, &progress),
        Kept::Values | Kept::Ends => {
            let mut query = Query::new(b';');
            query.values = vec![Value::text(Selector::Place(2))];
            delimited::aggregate(sources, &query, &options, OnError::Fail, &progress)
        }
    };
    match (summary, outcome) {
        (Ok(summary), Outcome::Fits) => {
            assert_eq!(summary.columns[0].groups.len() as u64, keys);
        }
        (Err(Error::MemoryLimit { .. }), Outcome::Error) => {}
        // As many keys as there are on disk, merged in a part of the same memory.
        (Ok(mut summary), Outcome::Spilled) => {
            let (mut found, mut records) = (0, 0);
            let take = |columns: &[Column]| {
                found += columns[0].groups.len() as u64;
                records += columns[0].groups.iter().map(|group| group.stats.count()).sum::<u64>();
                Ok::<_, Error>(())
            };
            summary.pieces(&[], take).unwrap();
            assert_eq!((found, records), (keys, keys));
        }
        (summary, _) => panic!("{:?}", summary.map(|_| "a result")),
    }
    let taken = peak_bytes().unwrap() - before;
    assert!(taken < (LIMIT_BYTES + BESIDE_BYTES) as u64, "{taken} bytes");
}
