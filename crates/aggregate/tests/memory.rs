//! A memory limit bounds what the process takes. One test, alone in its process, whose peak it reads.

use std::io::Read;

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

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
fn a_memory_limit_bounds_the_peak_of_tables_that_grow_and_of_the_result() {
    let before = peak_bytes();
    for (padding, value) in
        [("", "1.0"), (" and much that makes it a long key", "1.0"), ("", "1.25")]
    {
        for (keys, fits) in [(100_000, true), (600_000, false), (2_000_000, false)] {
            let reader = Box::new(Rows { next: 0, keys, padding, value, rest: Vec::new() });
            let source = Source::Stream { path: "-".into(), reader };
            let limit = Some(LIMIT_BYTES);
            let options = Options { threads: 2, memory_limit_bytes: limit, ..Options::default() };
            let outcome = aggregate(vec![source], &options, OnError::Fail, &Progress::default());
            match outcome {
                Ok(summary) => {
                    assert_eq!((summary.columns[0].groups.len() as u64, fits), (keys, true))
                }
                Err(Error::MemoryLimit { .. }) => assert!(!fits, "{keys} {padding} {value}"),
                Err(error) => panic!("{error}"),
            }
            let taken = peak_bytes() - before;
            assert!(taken < LIMIT_BYTES + BESIDE_BYTES, "{taken} with {keys} {padding} {value}");
        }
        // As many keys as there are on disk, merged in a part of the same memory.
        let keys = 2_000_000;
        let reader = Box::new(Rows { next: 0, keys, padding, value, rest: Vec::new() });
        let source = Source::Stream { path: "-".into(), reader };
        let folder = std::env::temp_dir();
        let spill = Spill { folder, create: |at| tempfile::tempfile_in(at), totals: false };
        let limit = Some(LIMIT_BYTES);
        let options = Options { threads: 2, memory_limit_bytes: limit, ..Options::default() };
        let options = Options { spill: Some(spill), ..options };
        let progress = Progress::default();
        let mut summary = aggregate(vec![source], &options, OnError::Fail, &progress).unwrap();
        let (mut found, mut records) = (0, 0);
        let take = |columns: &[Column]| {
            found += columns[0].groups.len() as u64;
            records += columns[0].groups.iter().map(|group| group.stats.count()).sum::<u64>();
            Ok::<_, Error>(())
        };
        summary.pieces(&[], take).unwrap();
        assert_eq!((found, records), (keys, keys));
        let taken = peak_bytes() - before;
        assert!(taken < LIMIT_BYTES + BESIDE_BYTES, "{taken}, spilled, with {padding} {value}");
    }
}
