//! A memory limit bounds what the process takes. One test, whose cases have a process each and read its peak: what an
//! allocator keeps of one that is over would count for the next, 40 MiB of it at times.

use std::io::Read;
use std::process::Command;

use fathom_aggregate::{Column, Error, OnError, Options, Progress, Source, Spill, aggregate};

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

/// The most memory this process has had, in bytes.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// Names the case that a process of this program runs: a place among those of [`cases`].
const CASE: &str = "FATHOM_TEST_MEMORY_CASE";

/// What keys end with, the value of each record, and how many keys there are; they fit, do not, or are spilled.
fn cases() -> Vec<(&'static str, &'static str, u64, Outcome)> {
    let rows = [("", "1.0"), (" and much that makes it a long key", "1.0"), ("", "1.25")];
    let sizes = [
        (100_000, Outcome::Fits),
        (600_000, Outcome::Error),
        (2_000_000, Outcome::Error),
        (2_000_000, Outcome::Spilled),
    ];
    let of = |(padding, value)| sizes.map(move |(keys, outcome)| (padding, value, keys, outcome));
    rows.into_iter().flat_map(of).collect()
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

fn run((padding, value, keys, outcome): (&'static str, &'static str, u64, Outcome)) {
    let before = peak_bytes();
    let reader = Box::new(Rows { next: 0, keys, padding, value, rest: Vec::new() });
    let source = Source::Stream { path: "-".into(), reader };
    let create = |at: &_| tempfile::tempfile_in(at);
    let (folder, least_bytes) = (std::env::temp_dir(), Spill::LEAST_BYTES);
    let spill = Spill { folder, create, totals: false, least_bytes };
    let options = Options {
        threads: 2,
        memory_limit_bytes: Some(LIMIT_BYTES),
        spill: (outcome == Outcome::Spilled).then_some(spill),
        ..Options::default()
    };
    let summary = aggregate(vec![source], &options, OnError::Fail, &Progress::default());
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
    let taken = peak_bytes() - before;
    assert!(taken < LIMIT_BYTES + BESIDE_BYTES, "{taken} bytes");
}
