//! Every strategy of the journey against the engine, and every limit as an error.

use std::io::{Cursor, Write};

use fathom_aggregate::{OnError, Options, Partial, Progress, Source};
use fathom_contenders::aggregate::journey::{
    Check, Entry, Error, Input, PRESETS, Parse, Refusal, Scan, Strategy, Table, aggregate,
};
use fathom_machine::level::Level;

/// Every combination, built or not, on top of the chunks of `final`.
fn points() -> Vec<Strategy> {
    let mut points = Vec::new();
    let base = Strategy::named("final").unwrap();
    for &entry in Entry::ALL {
        for &table in Table::ALL {
            for &check in Check::ALL {
                for &parse in Parse::ALL {
                    for &scan in Scan::ALL {
                        points.push(Strategy { entry, table, check, parse, scan, ..base });
                    }
                }
            }
        }
    }
    points
}

fn run(input: &[u8], strategy: &Strategy, level: Level) -> Result<Vec<Partial>, Error> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(input).unwrap();
    aggregate(file.path(), strategy, level)
}

/// What the engine says on one thread, without vectors.
fn plain(input: &[u8]) -> Vec<Partial> {
    let reader = Box::new(Cursor::new(input.to_vec()));
    let sources = vec![Source::Stream { path: "-".into(), reader }];
    let options = Options { threads: 1, level: Level::Scalar, ..Options::default() };
    let summary =
        fathom_aggregate::aggregate(sources, &options, OnError::Fail, &Progress::default());
    summary.unwrap().columns.remove(0).groups
}

fn assert_same(input: &[u8], strategy: &Strategy, level: Level) {
    assert_groups(&plain(input), input, strategy, level);
}

fn assert_groups(expected: &[Partial], input: &[u8], strategy: &Strategy, level: Level) {
    let groups = run(input, strategy, level).unwrap_or_else(|error| {
        panic!("{strategy}, {level}: {error}");
    });
    assert!(groups == expected, "{strategy}, {level}");
}

/// Rows every strategy takes: names of all lengths up to 51, all shapes of values.
fn strict_rows(rows: u32, names: u32) -> Vec<u8> {
    let mut input = Vec::new();
    let mut state = 7_u32;
    for _ in 0..rows {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let name = (state >> 8) % names;
        let tenths = (state >> 4) as i32 % 1999 - 999;
        let sign = if tenths < 0 { "-" } else { "" };
        let digits = name.to_string();
        let rest = (name as usize % 52).saturating_sub(digits.len());
        let padding = "e".repeat(rest % 2) + &"é".repeat(rest / 2);
        let tenths = tenths.abs();
        let row = format!("{digits}{padding};{sign}{}.{}\n", tenths / 10, tenths % 10);
        input.extend_from_slice(row.as_bytes());
    }
    input
}

#[test]
fn every_point_agrees_with_the_reference_on_every_input_axis() {
    let with_end = strict_rows(400, 60);
    let without_end = &with_end[..with_end.len() - 1];
    let expected = plain(&with_end);
    for point in points().into_iter().filter_map(|point| point.checked().ok()) {
        for level in Level::available() {
            for &input in Input::ALL {
                for (chunk_bytes, threads) in [(64, 3), (1000, 2), (1 << 20, 1)] {
                    let strategy = Strategy { input, chunk_bytes, threads: Some(threads), ..point };
                    assert_groups(&expected, &with_end, &strategy, level);
                    assert_groups(&expected, without_end, &strategy, level);
                }
            }
        }
    }
}

#[test]
fn every_point_of_the_space_parses_back_or_says_why_it_is_not_built() {
    let mut built = 0;
    for point in points() {
        match point.checked() {
            Ok(point) => {
                assert_eq!(point.to_string().parse(), Ok(point));
                built += 1;
            }
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains("there is only") || said.contains("share"), "{said}");
            }
        }
    }
    assert_eq!(built, 4 + 16 + 2);
}

#[test]
fn presets_agree_with_the_reference_on_files_that_have_broken_others() {
    let inputs: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"a;1.0".to_vec(),
        b"a;1.0\n".to_vec(),
        b"a;-0.0\na;0.0\n".to_vec(),
        b"a=b;1.0\na, b;2.0\n\xff;3.0\nlast;-9.9".to_vec(),
        [vec![b'n'; 51], b";5.5\n".to_vec(), vec![b'm'; 50], b";-5.5".to_vec()].concat(),
    ];
    for preset in PRESETS {
        for input in &inputs {
            for chunk_bytes in [64, 4096, 16 << 20] {
                let strategy = Strategy { chunk_bytes, ..preset.strategy };
                assert_same(input, &strategy, Level::best());
            }
        }
    }
}

#[test]
fn files_of_exactly_whole_pages_are_right() {
    let row = b"exactly16;-12.3\n";
    for rows in [256, 512, 1024] {
        let input = row.repeat(rows);
        assert_eq!(input.len() % 4096, 0);
        for preset in PRESETS {
            assert_same(&input, &preset.strategy, Level::best());
            assert_same(&input[..input.len() - 1], &preset.strategy, Level::best());
        }
    }
}

#[test]
fn many_names_agree_while_threads_insert_them() {
    let input = strict_rows(60_000, 30_000);
    for preset in PRESETS {
        let strategy = Strategy { chunk_bytes: 4096, threads: Some(4), ..preset.strategy };
        assert_same(&input, &strategy, Level::best());
    }
}

#[test]
fn the_first_bad_row_is_an_error_with_its_line() {
    for bad in [&b"oops"[..], b"", b"a;1", b"a;1.0\r", b"a;100.0", b";1.0", b"a;b;1.0", b"a;+1.0"] {
        let mut input = b"good;1.0\n".repeat(5000);
        input.extend_from_slice(bad);
        input.extend_from_slice(b"\ngood;1.0\nworse\n");
        for preset in PRESETS.iter().filter(|preset| preset.name != "fathom") {
            for &how in Input::ALL {
                let strategy = Strategy { chunk_bytes: 777, input: how, ..preset.strategy };
                match run(&input, &strategy, Level::best()) {
                    Err(Error::Row { line, .. }) => assert_eq!(line, 5001, "{strategy} {bad:?}"),
                    other => panic!("{strategy}, {bad:?}: {other:?}"),
                }
            }
        }
    }
    // The engine's own parser takes more, however the bytes arrive.
    for &how in Input::ALL {
        let strategy = Strategy { input: how, ..Strategy::FATHOM };
        assert_same(b"a;1.0\r\n\nb;123.45\nc;7", &strategy, Level::best());
        let error = run(b"a;1.0\nx\n", &strategy, Level::best()).unwrap_err();
        let by_engine = matches!(error, Error::Engine(fathom_aggregate::Error::Record(_)));
        let by_journey = matches!(error, Error::Row { line: 2, .. });
        assert!(if how == Input::Pread { by_engine } else { by_journey }, "{error}");
    }
}

/// It was a row of the line before its chunk.
#[test]
fn a_record_that_is_too_long_is_told_with_its_byte() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&b"a;1.0\n".repeat(100)).unwrap();
    file.as_file().set_len(1000 + fathom_aggregate::MOST_RECORD_BYTES as u64).unwrap();
    for input in [Input::Pread, Input::Chunk, Input::Whole] {
        let few =
            Strategy { chunk_bytes: 400, threads: Some(1), ..Strategy::named("final").unwrap() };
        match aggregate(file.path(), &Strategy { input, ..few }, Level::best()) {
            Err(Error::Engine(fathom_aggregate::Error::RecordTooLong { position, .. })) => {
                assert_eq!(position.byte, 600, "{input:?}");
            }
            other => panic!("{input:?}: {other:?}"),
        }
    }
}

fn limit(input: &[u8], strategy: &Strategy) -> Refusal {
    match run(input, strategy, Level::best()) {
        Err(Error::Limit { limit, .. }) => limit,
        other => panic!("{strategy}: {:?}", other.map(|groups| groups.len())),
    }
}

#[test]
fn more_names_than_16_bit_indices_are_an_error() {
    let most: Vec<u8> = (0..65_535).flat_map(|i| format!("n{i};1.0\n").into_bytes()).collect();
    let one_more = [&most[..], b"one more;1.0\n"].concat();
    for preset in PRESETS.iter().filter(|preset| preset.name != "fathom") {
        let strategy = Strategy { threads: Some(1), ..preset.strategy };
        let full = Strategy { check: Check::Full, ..strategy };
        assert_same(&most, &full, Level::best());
        // Hashes of these names may collide where they are trusted, and then there is room.
        assert_eq!(limit(&one_more, &full), Refusal::Names, "{full}");
    }
    assert_same(&one_more, &Strategy::FATHOM, Level::best());
}

#[test]
fn sums_beyond_32_bits_are_an_error_that_names_the_key() {
    let input = b"hot;99.9\n".repeat(2_149_634);
    for preset in PRESETS.iter().filter(|preset| preset.name != "fathom") {
        let strategy = Strategy { threads: Some(1), ..preset.strategy };
        assert_eq!(limit(&input, &strategy), Refusal::Sum { key: "hot".into() }, "{strategy}");
        assert_same(&input[9..], &strategy, Level::best());
    }
    assert_same(&input, &Strategy::FATHOM, Level::best());
}

#[test]
fn names_longer_than_an_inline_entry_are_an_error() {
    let input = [vec![b'n'; 52], b";1.0\n".to_vec()].concat();
    let old = Strategy::named("old").unwrap();
    let Refusal::NameBytes { most: 51, .. } = limit(&input, &old) else { panic!() };
    assert_same(&input, &Strategy::named("fullcheck").unwrap(), Level::best());
}

#[test]
fn trusting_hashes_merges_names_that_collide_and_comparing_does_not() {
    // Two ten-letter names with the same two steps of CRC-32C: found by searching, below.
    let (a, b) = colliding_names();
    let input = format!("{a};1.0\n{b};2.0\n").into_bytes();
    for name in ["perthreadht", "final", "sharedht"] {
        let trusting = Strategy { threads: Some(1), ..Strategy::named(name).unwrap() };
        let groups = run(&input, &trusting, Level::Scalar).unwrap();
        assert_eq!(groups.len(), 1, "{name} trusts");
        let full = Strategy { check: Check::Full, ..trusting };
        assert_same(&input, &full, Level::Scalar);
    }
    assert_same(&input, &Strategy::FATHOM, Level::best());
}

/// Searches ten-letter names until two share the journey's hash: the birthday bound promises a pair
/// among some 80,000.
fn colliding_names() -> (String, String) {
    let step = |mut crc: u32, bytes: &[u8]| {
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
            }
        }
        crc
    };
    let mut seen = std::collections::HashMap::new();
    let mut state = 1_u64;
    loop {
        let mut name = String::new();
        for _ in 0..10 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            name.push(char::from(b'a' + (state >> 58) as u8 % 26));
        }
        let bytes = name.as_bytes();
        let hash = step(step(0, &bytes[..8]), &bytes[2..]);
        if let Some(other) = seen.insert(hash, name.clone())
            && other != name
        {
            return (other, name);
        }
    }
}
