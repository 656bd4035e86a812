//! Any number of threads, any block size, any level: the same bits, or the same error.

use std::num::NonZeroUsize;

use fathom_haversine::generate::{self, Method, Numbers, Pairs};
use fathom_haversine::{Error, OnError, Options, Source, Trigonometry, read};
use fathom_machine::level::Level;
use proptest::prelude::*;
use proptest::sample::Index;

/// What must not depend on how the work was cut.
#[derive(Debug, PartialEq)]
struct Told {
    end: Result<(u64, u64, u64), String>,
    distances: Vec<u64>,
}

fn told(text: &[u8], options: &Options) -> Told {
    let source = Source::Stream(Box::new(std::io::Cursor::new(text.to_vec())));
    match read(source, options) {
        Ok(outcome) => Told {
            end: Ok((outcome.pairs, outcome.skipped, outcome.mean_exact.to_bits())),
            distances: outcome.parts().flatten().map(|d| d.to_bits()).collect(),
        },
        Err(error) => Told { end: Err(shown(&error)), distances: Vec::new() },
    }
}

fn shown(error: &Error) -> String {
    assert!(!matches!(error, Error::Io(_)), "{error}");
    error.to_string()
}

fn check(text: &[u8], on_error: OnError, threads: &[usize], block_sizes: &[usize]) {
    let plain = Options {
        on_error,
        level: Level::Scalar,
        block_bytes: NonZeroUsize::new(1 << 20).unwrap(),
        ..Options::default()
    };
    let by_libm = Options { trigonometry: Trigonometry::Libm, ..plain };
    let fused = (plain, told(text, &plain));
    let unfused = (by_libm, told(text, &by_libm));
    for level in Level::available() {
        // SSE2's polynomials have other bits; the C library's have the same everywhere.
        let (plain, expected) = if level == Level::Sse2 { &unfused } else { &fused };
        for &threads in threads {
            for &block_bytes in block_sizes {
                let options = Options {
                    level,
                    threads: NonZeroUsize::new(threads).unwrap(),
                    block_bytes: NonZeroUsize::new(block_bytes).unwrap(),
                    ..*plain
                };
                let said = told(text, &options);
                assert!(
                    said == *expected,
                    "{level}, {threads} threads, blocks of {block_bytes}: {:?} instead of {:?}",
                    said.end,
                    expected.end
                );
            }
        }
    }
}

fn course(count: u64, numbers: Numbers) -> Vec<u8> {
    let mut json = Vec::new();
    let pairs = Pairs::new(Method::Cluster, 3, count);
    generate::write(pairs, numbers, NonZeroUsize::MIN, &mut json, None).unwrap();
    json
}

#[test]
fn every_block_size_on_a_small_file() {
    for numbers in [Numbers::Course, Numbers::Shortest] {
        let json = course(12, numbers);
        let sizes: Vec<usize> = (1..400).chain([512, 1000, 2000]).collect();
        check(&json, OnError::Stop, &[1, 2], &sizes);
        check(&json, OnError::Stop, &[3, 7], &[1, 2, 3, 7, 39, 40, 399]);
    }
}

#[test]
fn every_thread_count_on_a_larger_file() {
    let json = course(5000, Numbers::Course);
    check(&json, OnError::Stop, &[1, 2, 3, 7], &[1000, 4096, 10_001, 65_536]);
}

#[test]
fn lines_and_bare_arrays() {
    let json = course(300, Numbers::Shortest);
    let text = String::from_utf8(json).unwrap();
    let lines = text.lines().skip(1).filter(|line| line.starts_with(' '));
    let lines: Vec<&str> = lines.map(|line| line.trim().trim_end_matches(',')).collect();
    check(lines.join("\n").as_bytes(), OnError::Stop, &[1, 3], &[100, 777, 5000]);
    check(format!("[{}]", lines.join(",")).as_bytes(), OnError::Stop, &[1, 3], &[100, 777, 5000]);
}

/// Text that looks like elements, in strings and nested arrays, at every offset of a block.
#[test]
fn decoys_at_every_seam() {
    let good = r#"{"x0":1.5,"y0":2.5,"x1":3.5,"y1":4.5}"#;
    let decoy = r#"{"x0":1.5,"note":"},{\"x0\":9.5,\"y0\":9.5,\"x1\":9.5,\"y1\":9.5},{\"x0\":8","y0":2.5,"more":[{"x0":7.5,"y0":7.5,"x1":7.5,"y1":7.5},{"x0":7.5,"y0":7.5,"x1":7.5,"y1":7.5},{"x0":7}],"x1":3.5,"y1":4.5}"#;
    let text = format!(
        "{{\"before\":[{good},{good}],\"pairs\":[{good},{decoy},{good},{good},{decoy}],\
         \"after\":[{good},{good},7]}}"
    );
    let sizes: Vec<usize> = (8..300).collect();
    check(text.as_bytes(), OnError::Stop, &[1, 3], &sizes);
}

#[test]
fn faults_are_the_same_wherever_they_stand() {
    let json = course(40, Numbers::Course);
    for at in (11..json.len()).step_by(89) {
        for byte in *b"\"x}]{ ,-.e09" {
            let mut json = json.clone();
            json[at] = byte;
            check(&json, OnError::Stop, &[1, 3], &[256, 1000]);
            check(&json, OnError::Skip, &[2], &[500]);
            check(&json, OnError::Stop, &[7], &[39]);
        }
    }
}

/// Elements and what is none; each of the latter has all four coordinates, or follows one that has.
const PAIRS: [&str; 2] =
    [r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#, r#"{"y1":5.5, "x0":6.5, "y0":7.5, "x1":8.5}"#];
const NO_PAIRS: [&str; 7] = [
    r#"{"note":"none"}"#, r#"{"x0":1,"y0":2,"x1":3,"y1":4,"x0":5}"#,
    r#"{"x0":1,"y0":2,"x1":3,"y1":4,"x0":"5"}"#, r#"{"x0":1,"y0":2,"x1":3,"y1":4,"y1":null}"#,
    r#"{"x0":1,"y0":2,"x1":3,"x1":3,"y1":4}"#, "5", r#"[{"x0":1,"y0":2,"x1":3,"y1":4}]"#,
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// In runs, since what is read alike is learned from the element before.
    #[test]
    fn what_is_no_pair_is_skipped_each_time_it_comes(
        runs in proptest::collection::vec((0..PAIRS.len() + NO_PAIRS.len(), 1..9_usize), 1..12),
        (layout, block_bytes, threads) in (0..3_usize, 40..900_usize, 1..4_usize),
    ) {
        let item = |kind: usize| *PAIRS.get(kind).unwrap_or_else(|| &NO_PAIRS[kind - PAIRS.len()]);
        let document = |items: &[&str]| match layout {
            0 => format!("{{\"pairs\":[{}]}}", items.join(",")),
            1 => format!("[{}]", items.join(", ")),
            _ => items.join("\n"),
        };
        let kinds = runs.into_iter().flat_map(|(kind, n)| vec![kind; n]);
        // A first line that is an array is an array of pairs.
        let kinds: Vec<usize> = kinds.skip_while(|&kind| layout == 2 && item(kind).starts_with('[')).collect();
        prop_assume!(kinds.iter().any(|&kind| kind < PAIRS.len()));
        let all: Vec<&str> = kinds.iter().map(|&kind| item(kind)).collect();
        let pairs: Vec<&str> =
            kinds.iter().filter(|&&kind| kind < PAIRS.len()).map(|&kind| item(kind)).collect();
        let options = Options {
            on_error: OnError::Skip,
            threads: NonZeroUsize::new(threads).unwrap(),
            block_bytes: NonZeroUsize::new(block_bytes).unwrap(),
            ..Options::default()
        };
        let (said, alone) = (told(document(&all).as_bytes(), &options), told(document(&pairs).as_bytes(), &options));
        let (_, _, mean) = alone.end.clone().unwrap();
        let counts = (pairs.len() as u64, (all.len() - pairs.len()) as u64, mean);
        prop_assert_eq!(said.end, Ok(counts));
        prop_assert_eq!(said.distances, alone.distances);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60, failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn mutated_files(
        edits in proptest::collection::vec((any::<Index>(), any::<u8>(), 0u8..3), 0..3),
        block_bytes in 50usize..3000,
        threads in 1usize..5,
        skip in any::<bool>(),
        shortest in any::<bool>(),
    ) {
        let mut json = course(60, if shortest { Numbers::Shortest } else { Numbers::Course });
        for (index, byte, edit) in edits {
            let at = index.index(json.len());
            match edit {
                0 => json.insert(at, byte),
                1 => json[at] = byte,
                _ => drop(json.remove(at)),
            }
        }
        let on_error = if skip { OnError::Skip } else { OnError::Stop };
        check(&json, on_error, &[threads], &[block_bytes]);
    }
}
