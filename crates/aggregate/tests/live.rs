//! Files that others change while they are mapped: the result of what was there, or the error that reading gives;
//! whatever the bytes turn into, the loops end and stay within their bounds.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_aggregate::{
    Error, Input, OnError, Options, Progress, Source, Summary, aggregate, format,
};
use fathom_machine::level::Level;
use fathom_random::Random;

/// Each fault is tried so often, at another moment and place.
const TRIES: usize = 100;

const CHUNK_BYTES: usize = 4096;

/// Rows of keys of all lengths and values of all shapes.
fn rows(count: u64) -> Vec<u8> {
    let mut random = Random::new(count);
    let mut rows = Vec::new();
    for _ in 0..count {
        let key = random.below(200);
        let padding = "-".repeat(if key.is_multiple_of(4) { key as usize } else { 0 });
        let (value, more) = (random.below(999), if key.is_multiple_of(7) { "5" } else { "" });
        let row = format!("{key}{padding};{}.{}{more}\n", value / 10, value % 10);
        rows.extend_from_slice(row.as_bytes());
    }
    rows
}

fn file_of(bytes: &[u8]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn options(input: Input) -> Options {
    Options { threads: 2, chunk_bytes: CHUNK_BYTES, input, ..Options::default() }
}

fn run(file: &File, size: u64, options: &Options, on_error: OnError<'_>) -> Result<Summary, Error> {
    let file = Box::new(file.try_clone().unwrap());
    let source = Source::File { path: "rows".into(), file, size };
    aggregate(vec![source], options, on_error, &Progress::default())
}

fn text(summary: &Summary) -> Vec<u8> {
    format::brc(&summary.columns[0], &format::Layout::default())
}

/// What a run says while, after so many turns of a loop, something is done to its file.
fn while_changed(
    file: &File,
    size: u64,
    (turns, change): (u64, impl Fn() + Send),
) -> Result<Summary, Error> {
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..turns {
                std::hint::spin_loop();
            }
            change();
        });
        run(file, size, &options(Input::Map), OnError::Fail)
    })
}

#[test]
fn a_file_that_is_cut_short_while_it_is_mapped_is_an_error_that_says_so() {
    let bytes = rows(40_000);
    let size = bytes.len() as u64;
    let file = file_of(&bytes);
    let expected = text(&run(&file, size, &options(Input::Read), OnError::Fail).unwrap());
    let mut random = Random::new(1);
    let mut cut = 0;
    for _ in 0..TRIES {
        file.write_all_at(&bytes, 0).unwrap();
        let kept = random.below(size);
        let change = || file.set_len(kept).unwrap();
        match while_changed(&file, size, (random.below(200_000), change)) {
            Ok(summary) => assert_eq!(text(&summary), expected),
            Err(Error::Shrunk { expected_bytes, .. }) => {
                assert_eq!(expected_bytes, size);
                cut += 1;
            }
            Err(error) => panic!("cut to {kept}: {error}"),
        }
    }
    assert!(cut > 0, "no run met the cut");
    // Before it begins, at every place of its last and of its first chunks, and at pages.
    for kept in [0, 1, 63, 64, 4095, 4096, 4097, 8192, 8193, size / 2, size - 4096, size - 1] {
        file.write_all_at(&bytes, 0).unwrap();
        file.set_len(kept).unwrap();
        let error = run(&file, size, &options(Input::Map), OnError::Skip(None)).unwrap_err();
        assert!(matches!(error, Error::Shrunk { expected_bytes, .. } if expected_bytes == size));
    }
}

#[test]
fn a_file_that_grows_while_it_is_mapped_counts_as_it_was_opened() {
    let bytes = rows(20_000);
    let size = bytes.len() as u64;
    let file = file_of(&bytes);
    let expected = text(&run(&file, size, &options(Input::Read), OnError::Fail).unwrap());
    let mut random = Random::new(2);
    for _ in 0..TRIES {
        let more = || {
            for at in 0..50 {
                file.write_all_at(b"another;99.9\n", size + at * 13).unwrap();
            }
        };
        let summary = while_changed(&file, size, (random.below(100_000), more)).unwrap();
        assert_eq!(text(&summary), expected);
        file.set_len(size).unwrap();
    }
}

#[test]
fn a_file_that_is_rewritten_while_it_is_mapped_gives_rows_of_both_or_an_error() {
    let rows = [b"old-key;1.5\n", b"newkey;-2.5\n"];
    let [old, new] = rows.map(|row| row.repeat(20_000));
    assert_eq!(old.len(), new.len());
    let size = old.len() as u64;
    let file = file_of(&old);
    let before = text(&run(&file, size, &options(Input::Read), OnError::Fail).unwrap());
    // Of each byte of a row either may be met, but no other, and none of another place.
    let is_of_both = |key: &[u8]| {
        let mut bytes = key.iter().enumerate();
        [6, 7].contains(&key.len())
            && bytes.all(|(at, byte)| rows.iter().any(|row| row[at] == *byte))
    };
    let values = ["-2.5", "-1.5", "1.5", "2.5"];
    let mut met = 0;
    let mut random = Random::new(3);
    for _ in 0..TRIES {
        file.write_all_at(&old, 0).unwrap();
        // In pieces of whole rows.
        let change = || {
            for at in (0..old.len()).step_by(12 * 400) {
                file.write_all_at(&new[at..(at + 12 * 400).min(new.len())], at as u64).unwrap();
            }
        };
        match while_changed(&file, size, (random.below(100_000), change)) {
            Ok(summary) => {
                assert_eq!(summary.records, 20_000);
                for group in &summary.columns[0].groups {
                    let key = String::from_utf8_lossy(&group.key);
                    assert!(is_of_both(&group.key), "{key}");
                    for value in [group.stats.min(), group.stats.max()].into_iter().flatten() {
                        assert!(values.contains(&&*value.to_string()), "{key}: {value}");
                    }
                }
                met += usize::from(text(&summary) != before);
            }
            Err(Error::Record(_)) => met += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(met > 0, "no run met the change");
}

/// What is written into a file at random: what rows consist of, what they must not, and what they are made of
/// inside the tables.
const SCRAPS: [&[u8]; 12] = [
    b"\n", b";", b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", b";1.5\n", b"a;-99.9\n;\n",
    b"0123456789abcdef0123456789abcdef0123456789", b"0123456789abcde;1.0\n", b"-", b".", &[0; 64],
    &[0xff; 33], &[b'k'; 3000],
];

#[test]
fn whatever_rows_turn_into_while_they_are_looked_at_the_loops_end_and_stay_in_their_bounds() {
    let mut bytes = rows(6_000);
    // Most keys of some stretches are long.
    for key in 0..1500 {
        let row = format!("{}{};12.5\n", "long-key-".repeat(key % 30), key);
        bytes.extend_from_slice(row.as_bytes());
    }
    let size = bytes.len() as u64;
    for level in Level::available() {
        for squares in [false, true] {
            let file = file_of(&bytes);
            let is_done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| {
                    let mut random = Random::new(4);
                    let mut writes = 0_u64;
                    while !is_done.load(Ordering::Relaxed) {
                        let scrap = SCRAPS[random.below(SCRAPS.len() as u64) as usize];
                        let at = random.below(size - scrap.len() as u64);
                        file.write_all_at(scrap, at).unwrap();
                        // Most of it stays rows.
                        let at = random.below(size - 2000);
                        let part = &bytes[at as usize..at as usize + 2000];
                        file.write_all_at(part, at).unwrap();
                        writes += 1;
                    }
                    writes
                });
                for _ in 0..TRIES / 2 {
                    let options = Options { level, with_squares: squares, ..options(Input::Map) };
                    let summary = run(&file, size, &options, OnError::Skip(None)).unwrap();
                    assert!(summary.ways[0].is_mapped);
                    assert!(summary.records + summary.rejected + summary.blank_lines <= size);
                    assert!(!text(&summary).is_empty());
                }
                is_done.store(true, Ordering::Relaxed);
                assert!(writer.join().unwrap() > 0);
            });
        }
    }
}

#[test]
fn inputs_say_how_they_got_into_memory() {
    let bytes = rows(1000);
    let (file, size) = (file_of(&bytes), bytes.len() as u64);
    let told = |options: Options| {
        let summary = run(&file, size, &options, OnError::Fail).unwrap();
        let read = run(&file, size, &self::options(Input::Read), OnError::Fail).unwrap();
        assert_eq!(text(&summary), text(&read));
        (summary.ways[0].is_mapped, summary.ways[0].why.clone())
    };
    let is = |is_mapped: bool, why: &str| (is_mapped, why.to_owned());
    assert_eq!(told(options(Input::Read)), is(false, "as asked for"));
    assert_eq!(told(options(Input::Map)), is(true, "as asked for"));
    assert_eq!(told(options(Input::Auto)), is(false, "it is small"));
    let whole = Options { with_values: true, ..options(Input::Map) };
    assert_eq!(told(whole), is(false, "the statistics need whole records"));
    let large = Options { chunk_bytes: 8 << 20, ..options(Input::Map) };
    assert_eq!(told(large), is(false, "a chunk has more than 4 MiB"));
    let stream = Source::Stream { path: "-".into(), reader: Box::new(&b"a;1.0\n"[..]) };
    let summary =
        aggregate(vec![stream], &options(Input::Map), OnError::Fail, &Progress::default()).unwrap();
    assert!(!summary.ways[0].is_mapped);
}
