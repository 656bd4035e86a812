//! What fast aggregators get wrong on input nobody benchmarks, a test each. Levels, thread counts
//! and splits are the matter of `differential.rs`.

use crate::oracle::check::{Judge, failure, file};
use crate::oracle::shown::{Form, Look};
use crate::oracle::{Null, Place, Task};
use fathom_aggregate::delimited::{self, Query};
use fathom_aggregate::{Error, OnError, Options, Progress, Reason};
use fathom_machine::level::Level;

fn options(threads: usize) -> Options {
    Options { threads, chunk_bytes: 1 << 14, ..Options::default() }
}

#[test]
fn a_key_that_contains_the_delimiter_is_an_error_with_its_line_and_right_when_quoted() {
    for key in ["a;b", "a key of many bytes;and more of them", ";", "a;1.0"] {
        let plain = format!("x;1.0\n{key};1.5\n");
        let Error::Record(reject) = failure(file(plain.as_bytes()), &options(1)) else {
            panic!("{key} was taken")
        };
        assert_eq!((reject.position.line, reject.reason), (2, Reason::ManyDelimiters), "{key}");
        let shape = Query::new(b';');
        let text = format!("x;1.0\n\"{key}\";1.5\nx;2.0\n\"{key}\";2.5\n");
        let source = file(text.as_bytes());
        let progress = Progress::default();
        let summary =
            delimited::aggregate(vec![source], &shape, &options(2), OnError::Fail, &progress)
                .unwrap();
        let groups = summary.columns[0].groups.iter();
        let sums: Vec<_> = groups.map(|g| (&*g.key, g.stats.sum().to_string())).collect();
        let mut expected = [(&b"x"[..], "3.0".to_owned()), (key.as_bytes(), "4.0".to_owned())];
        expected.sort_unstable();
        assert_eq!(sums, expected);
    }
}

/// Its absolute value does not fit 128 bits; taken for a small number it became 0.
#[test]
fn the_least_number_of_128_bits_is_not_taken_for_a_small_one() {
    let digits = i128::MIN.to_string();
    for point in 0..digits.len() - 1 {
        let (whole, fraction) = digits.split_at(digits.len() - point);
        let text =
            format!("a;{whole}.{fraction}0;{whole}.{fraction}\nb;-1.0;1.5\n").replace(".\n", "\n");
        let values = vec![(Place::At(3), Null::Fail), (Place::At(2), Null::Skip)];
        let task = Task { plain: false, values, ..Task::plain() };
        let judge = Judge::new(text.as_bytes(), task.clone());
        let look = Look::all(Form::Csv);
        judge.check(file(text.as_bytes()), &[look], &options(1), "a value");
        let keys = vec![Place::At(3)];
        for width in ["100", "0.5"] {
            let shapes = vec![Some(width)];
            let task = Task { keys: keys.clone(), shapes, values: Vec::new(), ..task.clone() };
            let look = Look { keys: vec!["k".into()], ..Look::all(Form::Csv) };
            let judge = Judge::new(text.as_bytes(), task);
            judge.check(file(text.as_bytes()), &[look], &options(1), "a bucket");
        }
    }
}

#[test]
fn keys_that_differ_only_where_hashes_do_not_look_are_told_apart() {
    // The same first, middle and last sixteen bytes and the same length: samples see no difference.
    // That probes stay short is counted beside the table.
    let mut input = Vec::new();
    for i in 0..50_000_u32 {
        let (head, middle) = ("h".repeat(16), "m".repeat(16));
        let line = format!("{head}{i:08}{middle}{i:08}{head};{}.5\n", i % 90);
        input.extend_from_slice(line.as_bytes());
    }
    let judge = Judge::new(&input, Task::plain());
    for level in Level::available() {
        let options = Options { level, with_squares: true, ..options(2) };
        judge.check(file(&input), &[Look::all(Form::Brc)], &options, "keys that look alike");
    }
}

#[test]
fn tables_that_outgrow_the_memory_limit_are_an_error_that_names_the_number_of_keys() {
    for long in ["", " with so much text that it is a long key"] {
        let input: Vec<u8> =
            (0..100_000).flat_map(|i| format!("k{i}{long};1.0\n").into_bytes()).collect();
        let limited = Options { memory_limit_bytes: Some(1 << 20), ..options(1) };
        let error = failure(file(&input), &limited);
        let Error::MemoryLimit { limit_bytes, keys } = error else { panic!("{error}") };
        assert_eq!(limit_bytes, 1 << 20);
        assert!(error.to_string().contains(&format!("keys of all threads: {keys})")), "{error}");
        assert!((1000..100_000).contains(&keys), "{keys}");
    }
}
