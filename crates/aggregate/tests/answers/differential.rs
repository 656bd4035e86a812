//! Every level, thread count and chunk size against the oracle, on inputs that have broken other
//! programs.

use std::io::Write as _;

use fathom_aggregate::{Error, Input, Options, Reason};
use fathom_machine::level::Level;

use crate::oracle::check::{Judge, failure, file, formatted, run, stream};
use crate::oracle::number::Round;
use crate::oracle::shown::{By, FORMS, Form, Look, OF_SUMS};
use crate::oracle::{Null, Place, Task};

/// Inputs by name: each is small enough to be cut at every byte.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let mut inputs: Vec<(&'static str, Vec<u8>)> = vec![
        ("nothing", b"".to_vec()),
        ("one byte", b"x".to_vec()),
        ("one newline", b"\n".to_vec()),
        ("one record", b"a;1.0\n".to_vec()),
        ("no final newline", b"a;1.0\nb;-2.5".to_vec()),
        ("crlf", b"a;1.0\r\nbc;-22.5\r\na;0.0\r\n\r\nd;1.0".to_vec()),
        ("mixed line ends", b"a;1.0\r\nb;2.0\nc;3.0\r\nd;4.0\n".to_vec()),
        ("blank lines", b"\n\na;1.0\n\n\r\nb;2.0\n\n".to_vec()),
        (
            "every shape",
            b"a;0.0\na;-0.0\na;9.9\na;-9.9\na;99.9\na;-99.9\na;10.0\na;-10.0\n".to_vec(),
        ),
        ("other shapes", b"a;1\na;+1.5\na;100.0\na;-123.4\na;0.05\na;007.0\na;1.25\n".to_vec()),
        (
            "no numbers",
            b"a;\na;x\na;1.\na;.5\na;--1.0\na;1.0.0\na;1e1\na; 1.0\na;-\nb;1.0\n".to_vec(),
        ),
        ("no keys", b";1.0\n;-1.0\n;\n;;\n".to_vec()),
        ("no delimiter", b"a\nab\n1.0\n-1.0\nabcdefghijklmnopqrstuvwxyz1.0\n".to_vec()),
        ("two delimiters", b"a;b;1.0\na;;1.0\n;a;1.0\na;1.0;\na;1.0;2.0\n;;-1.0\nb;1.0\n".to_vec()),
        ("minus keys", b"-;1.0\na-;1.0\n--;-1.0\na-;-1.0\n1-;1.5\n".to_vec()),
        ("digit keys", b"1;1.0\n12;12.0\n1.5;1.5\n-1.5;-1.5\n99;99.9\n".to_vec()),
        ("nul keys", b"a;1.0\na\0;2.0\na\0\0;3.0\n\0;4.0\n\0\0\0\0\0\0\0\0;5.0\n".to_vec()),
        ("equals and comma", b"a=b;1.0\na, b;2.0\n{};3.0\n".to_vec()),
        ("no utf-8", b"\xff\xfe;1.0\n\xc3\x28;2.0\n\x80;3.0\n".to_vec()),
        ("a key in the last line only", b"a;1.0\na;2.0\nzzz;9.9".to_vec()),
        ("a byte order mark", b"\xef\xbb\xbfa;1.0\nb;2.0".to_vec()),
        ("a byte order mark alone", b"\xef\xbb\xbf".to_vec()),
        ("a byte order mark and a line end", b"\xef\xbb\xbf\n".to_vec()),
    ];
    // Keys of every length around the bounds of the tables, each with a twin that differs in its
    // last, middle and first byte.
    let mut lengths = Vec::new();
    for bytes in
        [1, 2, 7, 8, 9, 14, 15, 16, 17, 30, 31, 32, 33, 34, 47, 48, 49, 63, 64, 65, 100, 300]
    {
        let key = vec![b'k'; bytes];
        for at in [0, bytes / 2, bytes - 1] {
            let mut twin = key.clone();
            twin[at] = b'Z';
            lengths.extend_from_slice(&[&key[..], b";1.5\n", &twin, b";-12.5\n"].concat());
        }
    }
    inputs.push(("key lengths", lengths));
    inputs.push((
        "a long delimiter",
        [&[b'a'; 20][..], b";", &[b'b'; 20], b";1.0\nx;1.0\n"].concat(),
    ));
    let page: Vec<u8> = b"abcdef;12.3\nghi;-4.5\n".iter().copied().cycle().take(4096 - 8).collect();
    inputs.push(("a page exactly", [page, b"\nlast;1.".to_vec()].concat()));
    inputs
}

fn options(level: Level, threads: usize, chunk_bytes: usize) -> Options {
    Options { level, threads, chunk_bytes, with_squares: true, ..Options::default() }
}

/// The same lines as delimited text: the other half of the engine.
fn delimited() -> Task {
    Task { plain: false, values: vec![(Place::At(2), Null::Fail)], ..Task::plain() }
}

#[test]
fn every_level_agrees_with_the_oracle_at_every_split() {
    let (brc, csv) = ([Look::all(Form::Brc)], [Look::all(Form::Csv)]);
    for (name, input) in inputs() {
        for task in [Task::plain(), delimited()] {
            let judge = Judge::new(&input, task);
            let step = if input.len() > 400 { 97 } else { 1 };
            for level in Level::available() {
                for chunk in (1..=input.len().max(1)).step_by(step) {
                    judge.check(file(&input), &brc, &options(level, 1, chunk), name);
                }
                for threads in [2, 5] {
                    judge.check(file(&input), &csv, &options(level, threads, 64), name);
                }
                for (portion, chunk) in
                    [(1, 1), (1, 7), (1, 50), (3, 2), (3, 50), (1000, 1), (1000, 50)]
                {
                    judge.check(stream(&input, portion), &csv, &options(level, 2, chunk), name);
                }
            }
        }
    }
}

#[test]
fn mapped_files_agree_with_the_oracle_at_every_split() {
    // Only what has other bytes around it is mapped.
    let around = b"around;7.5\n".repeat(8);
    for (name, input) in inputs() {
        let newline: &[u8] = if input.ends_with(b"\n") { b"" } else { b"\n" };
        let input = [&around[..], &input, newline, &around].concat();
        let judge = Judge::new(&input, Task::plain());
        let step = if input.len() > 600 { 97 } else { 3 };
        for level in Level::available() {
            let check = |threads, chunk| {
                let options = Options { input: Input::Map, ..options(level, threads, chunk) };
                judge.check(file(&input), &[Look::all(Form::Brc)], &options, name);
            };
            (1..20).for_each(|chunk| check(1, chunk));
            (20..=input.len()).step_by(step).for_each(|chunk| check(1, chunk));
            [2, 5].into_iter().for_each(|threads| check(threads, 64));
        }
    }
}

#[test]
fn quoted_and_unquoted_text_agrees_at_every_split() {
    let long = "a key of more than sixteen bytes";
    let texts = [
        String::new(),
        "\u{feff}".into(),
        "\u{feff}k,v\na,1.5".into(),
        "k,v\n".into(),
        "\n\nk,v\n\n\na,1.5\n\n".into(),
        "k,v\r\na,1.5\r\n\r\nb,-22.5\r\na,0.25".into(),
        format!("k,v\n{long},1.5\n\"{long}\",2.5\n{long}!,99.9\n\"{long}\n\",-1.0\n"),
        "k,v\n\"a\nb\",1.5\n\"a,b\",2.5,x\na;b,1.0\nc\nd,,e\n,1.0\ne,1.0\n".into(),
        "k,v\n\"two\nlines\"x,1\na,1.5\n\"open,1\nb,2.5\n".into(),
        "\"k\nk\",v\n\"a\",\"1.5\"\n\"\"\"\",\"2.5\"".into(),
        "k,v\n\"never closed,1\na,1.5\nb,2.5".into(),
        "k\"k,v\na,1\n".into(),
        "\u{feff}name,t,h\r\n\"Oslo, N\",1.5,10\n\"the \"\"big\"\" one\",-2,20\r\n\
         \"two\nlines\",3,30\n\"Oslo, N\",\"0.5\",5\r\n\n\"\"\"\",1,1"
            .into(),
        "a,1\n\"b\"x,2\nc\"d,3\n,4\nshort\ne,\nf,x\n\"open,5\ng,6\n".into(),
        "a,1\n\"b\nc\",2\nd,3\n\n\"e\",4\n".into(),
        "\n\n\"\"\n\"\"\"\",1\r\n".into(),
        // Taken from a line break in quotes on, each line is a well-formed record, and none of these.
        format!("k,v\na,1.5\n{}a,2.5\n", "\"\n\",\"\n\"\n".repeat(9)),
        format!("k,v\n{}\"b\",2.5\n", "\"a\n\",\"1.5\"\n".repeat(9)),
    ];
    let look = [Look::all(Form::Csv)];
    for text in texts.iter().map(String::as_bytes) {
        for (header, pad) in [(false, false), (true, false), (false, true), (true, true)] {
            let values = vec![(Place::At(2), Null::Skip)];
            let nulls = vec![Vec::new()];
            let task = Task { delimiter: b',', header, pad, values, nulls, ..delimited() };
            let judge = Judge::new(text, task);
            for chunk in 1..=text.len() + 1 {
                for level in Level::available() {
                    judge.check(file(text), &look, &options(level, 1, chunk), "quotes");
                    judge.check(stream(text, chunk), &look, &options(level, 2, 7), "quotes");
                }
                judge.check(file(text), &look, &options(Level::best(), 3, chunk), "quotes");
            }
        }
    }
}

/// Means and spreads without a last digit, halves, and what does not fit 64, 128 or 256 bits.
#[test]
fn numbers_of_any_size_agree_in_every_rounding_and_with_any_decimals() {
    let mut all = Vec::new();
    for round in [Round::HalfUp, Round::Ceiling, Round::HalfEven] {
        for decimals in [None, Some(0), Some(1), Some(3), Some(5), Some(6), Some(18)] {
            for form in [Form::Brc, Form::Table, Form::Csv] {
                let statistics = [&OF_SUMS[..], &["median", "histogram"]].concat();
                all.push(Look { round, decimals, statistics, ..Look::all(form) });
            }
        }
    }
    let sums = [Look { statistics: vec!["min", "mean", "max", "sum"], ..Look::all(Form::Csv) }];
    let inputs = "0.1 0.2|0.2 0.3|-0.1 -0.2|-0.2 -0.3|0.1 0.0 0.0|-0.1 0.0 0.0|-0.1 0.0|\
        -9.9 -9.8 -9.8|12.345 -0.004|7|1|1 2 2.50|1 2|4 4|1 3|0 1.0|0.0001585689968174077 0|\
        100 200|1 0 0|12345678901234567890 1 1|-1 -1 0|1e40 1e40 0|2 4 4 4 5 5 7 9|1 -2.5 0.125|\
        999999999999999999 999999999999999999 999999999999999999|\
        0.000000000000000001 999999999999999999|\
        999999999999999997 999999999999999998 999999999999999999|\
        7 9223372036854775807 9223372036854775807 9223372036854775807 9223372036854775807 \
        9223372036854775807|7 -9223372036854775808 -9223372036854775808 -9223372036854775808 \
        -9223372036854775808|7 9e18 9e18 9e18 9e18 9e18|17e36 17e36 -17e36|17e37 17e37 -17e37|\
        17e37 -17e37 17e37|-17e37 17e37 17e37|\
        17e36 17e36 17e36 17e36 17e36 17e36 17e36 17e36 17e36 17e36 17e36|\
        9e18 9e18 9e18 0.0000000000000000001|0.0000000000000000001 9e18 9e18 9e18|\
        9e18 0.0000000000000000001 9e18 9e18|0 1 1.99 2 10 9 9.5|7 7.0|-1e50 0 1e50 1e-50";
    for values in inputs.split('|') {
        let input: String = values.split(' ').map(|value| format!("a;{value}\n")).collect();
        let judge = Judge::new(input.as_bytes(), Task::plain());
        let squares = options(Level::best(), 1, 1 << 16);
        let kept = Options { with_values: true, ..squares.clone() };
        let plain = Options { with_squares: false, ..squares.clone() };
        judge.check(file(input.as_bytes()), &all, &kept, values);
        judge.check(file(input.as_bytes()), &[Look::all(Form::Csv)], &squares, values);
        judge.check(file(input.as_bytes()), &sums, &plain, values);
    }
}

/// What would end a field or a cell, mean something else in it, is no text, or is wider or narrower than its letters.
#[test]
fn keys_of_any_bytes_agree_in_every_form() {
    let text = b"\"a,\"\"b\"\"\";1\nc\td\\;-2.5\ne\xff\x01;3\na|b;1\n\"*c*\n\";2.5\n\"*c*\n\";4\n\
        \xe6\x97\xa5\xe6\x9c\xac;1\ne\xcc\x81;2\n";
    let judge = Judge::new(text, delimited());
    let options = options(Level::best(), 1, 1 << 16);
    judge.check(file(text), &FORMS.map(Look::all), &options, "keys of any bytes");
}

#[test]
fn keys_stand_in_the_order_that_is_asked_for() {
    let text = b"a;1;10\na;2;10\nb;1.50001;30\nc;1.5;20.25\nd;-7;1\n10;1;1\n2;2;3\n9;1;1\nx;2;3\n";
    let values = vec![(Place::At(2), Null::Fail), (Place::At(3), Null::Fail)];
    let judge = Judge::new(text, Task { values, ..delimited() });
    let sorts: [&[(By, bool)]; 5] = [
        &[],
        &[(By::Of(0, "mean"), true)],
        &[(By::Of(0, "mean"), false)],
        &[(By::Of(0, "max"), true), (By::Part(0, true), false)],
        &[(By::Of(1, "max"), true)],
    ];
    // A table shows all numbers with the decimals of the finest, shown or not.
    for (sort, form) in sorts.into_iter().flat_map(|sort| [(sort, Form::Csv), (sort, Form::Table)])
    {
        let look = |top| Look { sort: sort.to_vec(), top, ..Look::all(form) };
        let options = options(Level::best(), 1, 1 << 16);
        judge.check(file(text), &[None, Some(1), Some(2)].map(look), &options, "order");
    }
}

#[test]
fn many_keys_and_columns_agree() {
    let mut text = String::from("id,v,name,w\n");
    let mut state = 7_u64;
    for i in 0..30_000_u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i | 1);
        let key = (state >> 40) % 6000;
        let padding = "-and-more".repeat((key % 5) as usize);
        let quote = if state >> 20 & 255 == 0 { "\"" } else { "" };
        let tenths = (state >> 8) % 1000;
        let (v, w) = (format!("-{}.{}", tenths / 10, tenths % 10), tenths % 200);
        text += &format!("{i},{v},{quote}{key}{padding}{quote},{w}.5\n");
    }
    let named = |name: &str| Place::Named(name.to_owned());
    let values = vec![(named("w"), Null::Fail), (named("v"), Null::Fail)];
    let keys = vec![named("name")];
    let (text, task) = (text.as_bytes(), Task { delimiter: b',', ..delimited() });
    let judge = Judge::new(text, Task { header: true, keys, values, ..task });
    for level in Level::available() {
        for threads in [1, 3] {
            let options = options(level, threads, 20_000);
            judge.check(file(text), &[Look::all(Form::Tsv)], &options, "columns");
            judge.check(stream(text, 5000), &[Look::all(Form::Json)], &options, "columns");
        }
    }
}

#[test]
fn many_keys_of_all_lengths_agree_while_tables_grow() {
    let mut input = Vec::new();
    let mut state = 1_u64;
    for _ in 0..60_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (state >> 40) % 20_000;
        let padding = if key.is_multiple_of(3) { key % 60 } else { 0 } as usize;
        let tenths = (state >> 20) as i64 % 1999 - 999;
        input.extend_from_slice(format!("{key}{}", "é".repeat(padding)).as_bytes());
        let sign = if tenths < 0 { "-" } else { "" };
        let text = format!(";{sign}{}.{}\n", tenths.abs() / 10, tenths.abs() % 10);
        input.extend_from_slice(text.as_bytes());
    }
    let judge = Judge::new(&input, Task::plain());
    for level in Level::available() {
        // Of so many groups several threads write the text.
        for (threads, form) in [(1, Form::Brc), (3, Form::Ndjson), (3, Form::Brc)] {
            for input_way in [Input::Read, Input::Map] {
                let options = Options { input: input_way, ..options(level, threads, 1 << 16) };
                judge.check(file(&input), &[Look::all(form)], &options, "many keys");
            }
        }
    }
}

/// Of eight threads at least one has so many that it empties its tables into those that all share; one thread has none to
/// share with.
#[test]
fn keys_that_hardly_repeat_agree_on_many_threads() {
    let (mut lines, mut state) = (Vec::new(), 3_u64);
    for _ in 0..900_000 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (key, v, w) = (state >> 40, (state >> 20) % 1000, (state >> 8) % 4000);
        let padding = if key.is_multiple_of(5) { " and a long one" } else { "" };
        let _ = writeln!(lines, "{key}{padding};{}.{};{}.{:02}", v / 10, v % 10, w / 100, w % 100);
    }
    let values = vec![(Place::At(2), Null::Fail), (Place::At(3), Null::Skip)];
    let task = Task { values, ..delimited() };
    for with_squares in [true, false] {
        let statistics =
            if with_squares { vec!["count", "stddev"] } else { vec!["min", "max", "sum"] };
        let look = Look { statistics, ..Look::all(Form::Csv) };
        let [alone, many] = [1, 8].map(|threads| {
            let options = Options { with_squares, ..options(Level::best(), threads, 1 << 16) };
            let (summary, _) = run(file(&lines), &task, &options).unwrap();
            formatted(&summary, &look, threads)
        });
        assert!(alone == many, "squares: {with_squares}");
    }
}

#[test]
fn a_key_of_a_mebibyte_is_right() {
    let key = vec![b'm'; 1 << 20];
    let record = [&key[..], b";1.5\n"].concat();
    let input = [&record[..], b"a;1.0\n", &record, b"b;2.25\n"].concat();
    let judge = Judge::new(&input, Task::plain());
    for chunk in [1000, 256 << 10, 4 << 20] {
        for level in Level::available() {
            for source in [file(&input), stream(&input, 100_000)] {
                let looks = FORMS.map(Look::all);
                let options = Options { input: Input::Map, ..options(level, 2, chunk) };
                judge.check(source, &looks, &options, "a long key");
            }
        }
    }
}

#[test]
fn the_first_error_of_the_input_is_reported_with_its_line() {
    // Blank lines count.
    let mut input = b"a;1.0\n\n".repeat(2500);
    let first = input.len() as u64;
    input.extend_from_slice(b"oops\n");
    input.extend_from_slice(&b"b;x\n".repeat(5000));
    for (source, input) in [
        (file(&input), Input::Read),
        (file(&input), Input::Map),
        (stream(&input, 777), Input::Read),
    ] {
        let error = failure(source, &Options { input, ..options(Level::best(), 4, 512) });
        let Error::Record(reject) = error else { panic!("{error}") };
        assert_eq!((reject.position.byte, reject.position.line), (first, 5001));
        assert_eq!(reject.record_byte, first);
        assert_eq!(reject.reason, Reason::NoDelimiter);
    }
}

#[test]
fn a_file_that_shrank_is_an_error() {
    for input in [Input::Read, Input::Map] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1000).unwrap();
        let (path, file) = ("input".into(), Box::new(file));
        let source = fathom_aggregate::Source::File { path, file, size: 60_000 };
        let error = failure(source, &Options { input, ..options(Level::best(), 2, 4096) });
        assert!(matches!(error, Error::Shrunk { expected_bytes: 60_000, .. }), "{error}");
    }
}
