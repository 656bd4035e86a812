//! Any text, with any options, split any way and merged in any order, gives the oracle's answer.

use crate::oracle::check::{Judge, check_lines, compared, file, formatted, near, run};
use crate::oracle::choice::Choices;
use crate::oracle::line::{self, OF_LOGS};
use crate::oracle::shown::{By, FORMS, Form, Look, text};
use crate::oracle::{self, Task};
use fathom_aggregate::delimited::{self, Query, Selector, Syntax};
use fathom_aggregate::{
    Approx, Column, Decimal, Method, OnError, Options, Progress, Quantile, Summary, merge,
};
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
        2 => "[-+]?[0-9]{1,12}(\\.[0-9]{0,6})?",
        1 => "-?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,2})?",
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

/// A piece of delimited text: what fields and records are made of, mostly in order.
fn field() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<&[u8]> = vec![
        b"a|", b"b|", b"a|1.5\n", b"b|-2\n", b"a|1.5|7\n", b"|\n", b"NA|", b"NA\n", b"-1.0\n",
        b"\n", b"\r\n", b"\"a\"|", b"\"x|y\"|3e2\n", b"\"x\ny\"|0.25\n", b"\"\"\"\"|", b"\"",
        b"x\"", b"\"x\"y", b"a,b;c|1\n", b"99.9\n", b"1e-7\n", b"\xff|", b"\0|\x01|", b"\x01",
        b"\0", b"\xef\xbb\xbf", b"c|12345678901234567890.5\n",
        b"a|-17014118346046923173168730371588410572.8\n",
        b"-170141183460469231731687303715884105728|", b" A |", b"\t\"b \"|",
        b"2026-11-22T23:14:58.5-05:30|", b"2024-02-29 08:14|", b"31/Dec/2026:23:59:60 +0000|",
        b"2026-02-29|", b"1795335298250|", b"1e40|", b"2,5\n", b"a|-1,25\n", b"b|,5e1|",
        b"a| 7 \n", b" -1.0|", b"\t|", b" NA |", b"b |", b"b|\"\t3.5\"\n",
    ];
    prop_oneof![
        8 => prop::sample::select(texts).prop_map(<[u8]>::to_vec),
        1 => "[-+.0-9e]{0,6}\n".prop_map(String::into_bytes),
    ]
}

/// A text in a JSON string, its characters as they are or as escapes.
fn json_string(text: &str, choices: &mut Choices) -> String {
    let one = |c: char| match (choices.of(3), c) {
        (_, '"' | '\\') => format!("\\{c}"),
        (0, '/') => "\\/".to_owned(),
        (1, '\n') => "\\n".to_owned(),
        (0 | 1, _) | (_, '\0'..' ') => {
            let units = c
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|u| format!("\\u{u:04x}"))
                .collect::<Vec<_>>();
            units.concat()
        }
        _ => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(one).collect::<String>())
}

/// An object with a key at `who.name` and a value, if there is one, at `ms.0`, dressed somehow.
fn json_line(key: &str, value: Option<&str>, choices: &mut Choices) -> String {
    let blank = ["", " ", "\t"][choices.of(3)];
    let key = json_string(key, choices);
    let value = match (value, choices.of(3)) {
        (Some(value), 0) => format!("[{blank}\"{value}\", {{}}]"),
        (Some(value), _) => format!("[{value}{blank}, [1]]"),
        (None, 0) => "[]".to_owned(),
        (None, 1) => "[null]".to_owned(),
        (None, _) => "{\"1\": 7}".to_owned(),
    };
    let members = [
        format!("\"who\":{blank}{{\"id\": 1, \"name\"{blank}: {key}}}"),
        format!("\"ms\": {value}"),
    ];
    let members = if choices.of(2) == 0 {
        members.join(",")
    } else {
        format!("{},{}", members[1], members[0])
    };
    format!("{blank}{{{members},\"name\": \"x\"}}{blank}")
}

/// The same records as quoted text, which the oracle reads.
fn as_text(rows: &[(String, Option<String>)]) -> Vec<u8> {
    let line = |(key, value): &(String, Option<String>)| {
        format!("\"{}\",{}\n", key.replace('"', "\"\""), value.as_deref().unwrap_or_default())
    };
    rows.iter().map(line).collect::<String>().into_bytes()
}

/// What another syntax says of these columns, and what the oracle says of the same records as text.
fn both(
    input: &[u8],
    (by, value, syntax): (&str, &str, Syntax),
    rows: &[(String, Option<String>)],
    choices: &mut Choices,
) -> [String; 2] {
    let mut query = Query::new(b',');
    query.syntax = syntax;
    query.by = fathom_aggregate::By::list(by).unwrap();
    query.values = vec![Selector::Name(value.to_owned()).into()];
    let options = choices.options();
    let source = choices.source(input);
    let summary =
        delimited::aggregate(vec![source], &query, &options, OnError::Fail, &Progress::default());
    let statistics = vec!["rows", "count", "sum", "median", "first", "last"];
    let look = Look { statistics, ..Look::all(Form::Ndjson) };
    let task = Task {
        delimiter: b',',
        plain: false,
        values: vec![(oracle::Place::At(2), oracle::Null::Skip)],
        nulls: vec![Vec::new()],
        ..Task::plain()
    };
    let expected = text(&oracle::aggregate(&as_text(rows), &task).unwrap(), &look);
    let summary =
        summary.unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(input)));
    [formatted(&summary, &look, options.threads), expected]
        .map(|text| String::from_utf8(text).unwrap())
}

/// Keys of these characters, and a number for most.
fn rows(keys: &'static str) -> impl Strategy<Value = Vec<(String, Option<String>)>> {
    let number = (-9999..9999_i32, 0..3_usize).prop_map(|(units, decimals)| {
        let sign = if units < 0 { "-" } else { "" };
        let unit = 10_i32.pow(decimals as u32);
        match decimals {
            0 => units.to_string(),
            _ => format!("{sign}{}.{:0decimals$}", units.abs() / unit, units.abs() % unit),
        }
    });
    prop::collection::vec((keys, prop::option::weighted(0.8, number)), 0..40)
}

/// What lines of JSON and of logs are made of, mostly right.
const JSON: &[&str] = &[
    "{\"a\": \"x\", \"c\": 1.50}\n", "{\"b\": [7, {\"a\": 1}], \"a\": null}\r\n",
    "{\"c\": \"-2e1\", \"a\": true,\t\"d\": [[], {}]}\n", "{\"a\": \"\\u00e9\\ud83d\\ude00\\n\"}",
    "{\"a\": \"\\ud800\"}\n", "{\"\\ud800\": 1, \"a\": 2}\n", "{\"\\u0061\": 1, \"a\": 2}\n",
    "{\"a\": {}}\n", "{\"b\": {\"0\": 3}, \"c\": nul}\n", "\n", " \u{c}\r\n", "[1]\n", "{\"a\": ",
    "1.5", "}\n", "\u{feff}", "\"",
];
const LOG: &[&str] = &[
    "h - u [10/Oct/2000:13:55:36 -0700] \"GET /a?b=c HTTP/1.0\" 200 5\n",
    "::1 - - [t] \"-\" 408 - \"-\" \"a \\\" b\" 0.5\r\n",
    "h i u v [] \"a b c d\" 200 1 \"r\" \"\"\n",
    "h - - [t] \"GET  HTTP\" 1 2\n",
    "h - ",
    " [",
    "] ",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "-",
];

/// Mostly one of these, now and then part of it.
fn piece(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    let one = prop::sample::select(pieces);
    prop_oneof![
        6 => one.clone().prop_map(str::to_owned),
        1 => (one, 0..40_usize).prop_map(|(text, end)| text.chars().take(end).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192,
        // A failure prints its input; it becomes a named case of differential.rs.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lines_give_the_same_text_whatever_the_options(input in input(), seed in any::<u64>()) {
        let mut choices = Choices(seed);
        let (look, options) = (choices.look(&Task::plain()), choices.limited());
        let source = choices.source(&input);
        Judge::new(&input, Task::plain()).check(source, &[look], &options, "lines");
    }

    #[test]
    fn delimited_text_gives_the_same_text_whatever_the_options(
        mut fields in prop::collection::vec(field(), 0..200),
        task in any::<u64>(),
        look in any::<u64>(),
        options in any::<u64>(),
    ) {
        let task = Choices(task).task();
        // One byte stands for whatever the delimiter is.
        let bytes = fields.iter_mut().flatten();
        bytes.filter(|byte| **byte == b'|').for_each(|byte| *byte = task.delimiter);
        let input = fields.concat();
        let look = Choices(look).look(&task);
        let mut choices = Choices(options);
        let options = choices.limited();
        let source = choices.source(&input);
        Judge::new(&input, task).check(source, &[look], &options, "delimited");
    }

    #[test]
    fn filtered_text_gives_the_same_text_whatever_the_condition(
        mut fields in prop::collection::vec(field(), 0..200),
        task in any::<u64>(),
        condition in any::<u64>(),
        options in any::<u64>(),
    ) {
        let mut task = Choices(task).task();
        task.filter = Some(Choices(condition).condition(task.header, 3));
        let bytes = fields.iter_mut().flatten();
        bytes.filter(|byte| **byte == b'|').for_each(|byte| *byte = task.delimiter);
        let input = fields.concat();
        let keys = vec!["key".to_owned(); task.keys.len()];
        let look = Look { statistics: vec!["count", "first"], keys, ..Look::all(Form::Ndjson) };
        let mut choices = Choices(options);
        let options = choices.limited();
        let source = choices.source(&input);
        Judge::new(&input, task).check(source, &[look], &options, "filtered");
    }

    #[test]
    fn any_bytes_agree(
        input in prop::collection::vec(
            prop::sample::select(b"ab;;\n\n\r.-0019e\"\0\xff\xef\xbb\xbf".to_vec()), 0..400,
        ),
        task in any::<u64>(),
        options in any::<u64>(),
    ) {
        for task in [Task::plain(), Task { delimiter: b';', ..Choices(task).task() }] {
            let mut choices = Choices(options);
            let options = choices.limited();
            let source = choices.source(&input);
            let keys = vec!["key".to_owned(); task.keys.len()];
            let look = Look { statistics: vec!["min", "count"], keys, ..Look::all(Form::Ndjson) };
            Judge::new(&input, task).check(source, &[look], &options, "bytes");
        }
    }

    #[test]
    fn any_lines_of_json_and_logs_agree(
        json in prop::collection::vec(piece(JSON), 0..60),
        log in prop::collection::vec(piece(LOG), 0..60),
        task in any::<u64>(),
        look in any::<u64>(),
        options in any::<u64>(),
        combined in any::<bool>(),
    ) {
        let access = line::Form::Access { combined };
        for (input, form, names) in
            [(json, line::Form::Json, &["a", "b.0", "c"][..]), (log, access, &OF_LOGS)]
        {
            let task = Choices(task).task_of(names);
            let look = Choices(look).look(&task);
            check_lines(input.concat().as_bytes(), form, &task, &look, &mut Choices(options));
        }
    }

    #[test]
    fn lines_of_json_say_what_the_same_records_say_as_text(
        rows in rows("[ab\"\\\\/\n\u{1}é\u{1F600}]{1,3}"),
        choices in prop::collection::vec(any::<u64>(), 41),
    ) {
        let lines = rows.iter().zip(&choices).map(|((key, value), choices)| {
            let line = json_line(key, value.as_deref(), &mut Choices(*choices));
            if choices % 7 == 0 { line + "\n\n" } else { line + "\r\n" }
        });
        let input: String = lines.collect();
        let columns = ("who.name", "ms.0", Syntax::JsonLines);
        let [found, expected] = both(input.as_bytes(), columns, &rows, &mut Choices(choices[40]));
        prop_assert_eq!(found, expected, "{}", input);
    }

    #[test]
    fn access_logs_say_what_the_same_records_say_as_text(
        rows in rows("/[a-c.\\[\\]\\-]{0,2}"),
        combined in any::<bool>(),
        choices in prop::collection::vec(any::<u64>(), 41),
    ) {
        let lines = rows.iter().zip(&choices).map(|((path, bytes), choices)| {
            let mut choices = Choices(*choices);
            let user = ["-", "ann", "ann b", "[x]"][choices.of(4)];
            let query = ["", "?", "?a=/b", "?q=\\\"?"][choices.of(4)];
            let agents = [" \"-\" \"a b\"", " \"\" \"\\\\\"", " \"/[\" \"\\\"\""][choices.of(3)];
            let bytes = bytes.as_deref().unwrap_or("-");
            format!(
                "::1 - {user} [t] \"GET {path}{query} H\" 200 {bytes}{}{}\n",
                if combined { agents } else { "" },
                ["", " 1", " \"x\" y"][choices.of(3)],
            )
        });
        let input: String = lines.collect();
        let columns = ("path", "bytes", Syntax::Access { combined });
        let [found, expected] = both(input.as_bytes(), columns, &rows, &mut Choices(choices[40]));
        prop_assert_eq!(found, expected, "{}", input);
    }

    #[test]
    fn two_inputs_stand_side_by_side_with_how_they_differ(
        inputs in [prop::collection::vec(field(), 0..60), prop::collection::vec(field(), 0..60)],
        task in any::<u64>(),
        look in any::<u64>(),
    ) {
        let mut task = Choices(task).task();
        (task.delimiter, task.header) = (b'|', false);
        task.keys.retain(|key| matches!(key, oracle::Place::At(_)));
        task.values.retain(|(column, _)| matches!(column, oracle::Place::At(_)));
        task.texts.clear();
        task.formulas.clear();
        prop_assume!(!task.keys.is_empty());
        let mut choices = Choices(look);
        let mut look = choices.look(&task);
        look.form = FORMS[1 + choices.of(6)];
        let by = [By::Change("mean"), By::Percent("max"), By::Change("count%"), By::Percent("p50")];
        look.sort.insert(0, (by[choices.of(4)], choices.of(2) == 1));
        look.sort.retain(|(by, _)| !matches!(by, By::Of(1.., _)));
        let inputs = inputs.map(|fields| fields.concat());
        let options = near(&choices.options(), &look);
        let [before, after] = inputs.each_ref().map(|input| run(file(input), &task, &options).unwrap().0);
        let [own, other] = inputs.each_ref().map(|input| oracle::aggregate(input, &task).unwrap());
        let (found, expected) =
            (compared(&before, &after, &look), oracle::shown::compared(&own, &other, &look));
        let [found, expected] = [found, expected].map(|t| String::from_utf8_lossy(&t).into_owned());
        prop_assert_eq!(found, expected, "{:?} {:?}", inputs, look);
    }

    #[test]
    fn estimates_are_as_near_as_they_say(
        values in prop::collection::vec((any::<i64>(), 0..60_u32, 0..6_u16), 1..400),
        which in 0..3_usize,
        threads in 1..4_usize,
    ) {
        let line = |&(units, less, scale): &(i64, u32, u16)| {
            format!("k;{}\n", Decimal::new((units >> less).into(), scale))
        };
        let text: String = values.iter().map(line).collect();
        let stats = |approx: Option<Approx>| {
            let options = Options { with_values: true, with_sketch: true, approx, threads, ..Options::default() };
            let (summary, _) = run(file(text.as_bytes()), &Task::plain(), &options).unwrap();
            summary.columns[0].groups[0].stats.clone()
        };
        let (exact, near) = (stats(None), stats(Some(Approx::ALL[which].1)));
        let parts_of_one = [100, 1000, 10_000][which];
        prop_assert_eq!(exact.distinct(), near.distinct());
        for name in ["p0", "p5", "median", "p99.9", "p100"] {
            let quantile = Quantile::named(name).unwrap().by(Method::Nearest);
            let [exact, near] = [&exact, &near].map(|stats| stats.quantile(quantile).unwrap());
            let [exact, near] = [exact, near].map(|number| number.rescaled(6).to_big());
            let off = (&exact - near).magnitude() * parts_of_one as u32;
            prop_assert!(off <= *exact.magnitude(), "{} {}", name, text);
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
        let answer = oracle::aggregate(&whole, &Task::plain()).unwrap();
        let expected = text(&answer, &Look::all(Form::Brc));
        let options = Options { with_squares: true, ..Options::default() };
        let lists: Vec<_> = parts.iter().map(|part| {
            let (summary, _) = run(file(part), &Task::plain(), &options).unwrap();
            summary.columns.into_iter().flat_map(|column| column.groups).collect()
        }).collect();
        let reversed: Vec<Vec<_>> = lists.iter().rev().cloned().collect();
        for lists in [lists, reversed] {
            let columns = vec![Column::new("value", merge(lists))];
            let summary = Summary { columns, ..Summary::default() };
            prop_assert_eq!(&formatted(&summary, &Look::all(Form::Brc), 1), &expected);
        }
    }
}
