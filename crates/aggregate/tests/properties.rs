//! Any bytes, split any way, merged in any order, give the reference's answer.

mod common;

use common::{assert_same, file, stream};
use fathom_aggregate::{Options, Partial, merge, reference};
use fathom_machine::level::Level;
use proptest::prelude::*;

/// Lines that are mostly records, sometimes nearly, sometimes not at all.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let key = prop_oneof![
        6 => "[a-e]{1,3}",
        3 => "[ab]{10,20}",
        1 => "\\PC{1,40}",
    ];
    let value = prop_oneof![
        8 => (-999..=999_i32).prop_map(|v| {
            format!("{}{}.{}", if v < 0 { "-" } else { "" }, v.abs() / 10, v.abs() % 10)
        }),
        2 => "[-+]?[0-9]{1,12}(\\.[0-9]{1,6})?",
        1 => "[-+.;0-9]{0,8}",
    ];
    prop_oneof![
        12 => (key, value, prop::bool::weighted(0.1)).prop_map(|(key, value, crlf)| {
            format!("{key};{value}{}", if crlf { "\r" } else { "" }).into_bytes()
        }),
        1 => prop::collection::vec(any::<u8>(), 0..30),
    ]
}

fn input() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(line(), 0..200), any::<bool>()).prop_map(|(lines, ends)| {
        let mut input = lines.join(&b'\n');
        if ends {
            input.push(b'\n');
        }
        input
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        // A failure prints its input; it becomes a named case of differential.rs.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_split_and_level_agrees(
        input in input(),
        chunk_bytes in 1_usize..4000,
        threads in 1_usize..4,
        portion in 1_usize..300,
        with_squares in any::<bool>(),
    ) {
        for level in Level::available() {
            let options = Options { level, threads, chunk_bytes, with_squares, ..Options::default() };
            assert_same(&input, file(&input), &options, &format!("file, {level}"));
            assert_same(&input, stream(&input, portion), &options, &format!("stream, {level}"));
        }
    }

    #[test]
    fn any_bytes_agree(input in prop::collection::vec(
        prop::sample::select(b"ab;;\n\n\r.-0019\0\xff".to_vec()), 0..400,
    )) {
        for level in Level::available() {
            let options = Options { level, threads: 2, chunk_bytes: 37, ..Options::default() };
            assert_same(&input, file(&input), &options, level.name());
        }
    }

    #[test]
    fn partial_states_merge_in_any_order(
        parts in prop::collection::vec(input(), 1..6).prop_shuffle(),
    ) {
        let whole = parts.iter().map(|part| {
            let mut part = part.clone();
            if part.last() != Some(&b'\n') { part.push(b'\n'); }
            part
        }).collect::<Vec<_>>().concat();
        let expected = reference::aggregate(&whole, true).groups;
        let lists: Vec<Vec<Partial>> =
            parts.iter().map(|part| reference::aggregate(part, true).groups).collect();
        let reversed = lists.iter().rev().cloned().collect();
        prop_assert_eq!(&merge(lists), &expected);
        prop_assert_eq!(&merge(reversed), &expected);
    }
}
