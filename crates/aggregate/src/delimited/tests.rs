//! Delimited text against the plain program, at every split.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use fathom_machine::level::Level;
use proptest::prelude::*;

use super::columns::Columns;
use super::cut::byte_order_mark;
use super::*;
use crate::error::Reason;
use crate::merge::{Partial, Stats};
use crate::number::{Decimal, NumberError};
use crate::record::{Split, split};

fn shape(header: bool, key: Selector, values: &[Selector]) -> Shape {
    Shape { delimiter: b',', header, key, values: values.to_vec() }
}

/// Yields its bytes a few at a time.
struct Slow(Vec<u8>, usize, usize);

impl Read for Slow {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n = self.2.min(into.len()).min(self.0.len() - self.1);
        into[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
        self.1 += n;
        Ok(n)
    }
}

fn run(text: &str, shape: &Shape, portion: usize) -> Result<Summary, Error> {
    run_bytes(text.as_bytes(), shape, portion, false, &options(1, portion, Level::best()))
}

fn options(threads: usize, chunk_bytes: usize, level: Level) -> Options {
    Options { threads, chunk_bytes, level, with_squares: threads == 2, ..Options::default() }
}

fn run_bytes(
    text: &[u8],
    shape: &Shape,
    portion: usize,
    as_file: bool,
    options: &Options,
) -> Result<Summary, Error> {
    let source = if as_file {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text).unwrap();
        Source::File { path: "t.csv".into(), file, size: text.len() as u64 }
    } else {
        let reader = Box::new(Slow(text.to_vec(), 0, portion));
        Source::Stream { path: "t.csv".into(), reader }
    };
    aggregate(vec![source], shape, options, OnError::Skip(None), &Progress::default())
}

/// The plain program: one record after the other, a sorted map per column.
fn plain(text: &[u8], shape: &Shape, with_squares: bool) -> Result<Plain, Error> {
    use std::collections::BTreeMap;
    let path = Path::new("t.csv");
    let mut maps: Vec<BTreeMap<Box<[u8]>, Stats>> = vec![BTreeMap::new(); shape.values.len()];
    let mut plain = Plain::default();
    let mut columns = Columns::placed(shape);
    let (mut at, mut fields) = (byte_order_mark(text), Vec::new());
    while at < text.len() {
        let start = at;
        let outcome = split(text, at, shape.delimiter, true, &mut fields);
        at = match outcome {
            Split::Record(end) | Split::Blank(end) | Split::Malformed(_, end) => end,
            Split::More => unreachable!("the text has ended"),
        };
        let contents: Vec<_> = fields.iter().map(|field| field.content(text)).collect();
        let field = |place: usize| contents.get(place).ok_or(Reason::NoColumn(place + 1));
        let result = match (outcome, &columns) {
            (Split::Blank(_), _) => {
                plain.blank_lines += 1;
                continue;
            }
            (Split::Malformed(reason, _), None) => {
                return Err(Error::BadHeader { path: path.to_owned(), reason });
            }
            (Split::Malformed(reason, _), Some(_)) => Err(reason),
            (_, None) => {
                columns = Some(Arc::new(Columns::named(shape, path, &contents)?));
                continue;
            }
            (_, Some(columns)) => (|| {
                let values: Vec<Decimal> = columns
                    .values
                    .iter()
                    .map(|&place| Ok::<_, Reason>(Decimal::parse(field(place)?)?))
                    .collect::<Result<_, _>>()?;
                let key = field(columns.key)?;
                if key.is_empty() {
                    return Err(Reason::EmptyKey);
                }
                Ok((key, values))
            })(),
        };
        match result {
            Ok((key, values)) => {
                plain.records += 1;
                for (map, value) in maps.iter_mut().zip(values) {
                    map.entry(key.to_vec().into())
                        .and_modify(|stats| stats.add(value).unwrap())
                        .or_insert_with(|| Stats::of(value, with_squares));
                }
            }
            Err(reason) => {
                let line = text[..start].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
                plain.rejects.push((start as u64, line, reason));
            }
        }
    }
    plain.columns = maps
        .into_iter()
        .map(|map| map.into_iter().map(|(key, stats)| Partial { key: key.into(), stats }).collect())
        .collect();
    Ok(plain)
}

#[derive(Debug, Default)]
struct Plain {
    columns: Vec<Vec<Partial>>,
    records: u64,
    blank_lines: u64,
    rejects: Vec<(u64, u64, Reason)>,
}

fn assert_same(text: &[u8], shape: &Shape, portion: usize, file: bool, options: &Options) {
    let what = || {
        let (threads, chunk) = (options.threads, options.chunk_bytes);
        let text = String::from_utf8_lossy(text);
        format!("{text:?}, file {file}, {threads} threads, chunks of {chunk}, {}", options.level)
    };
    let found = run_bytes(text, shape, portion, file, options);
    let expected = plain(text, shape, options.with_squares);
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (Err(found), Err(expected)) => {
            assert_eq!(found.to_string(), expected.to_string(), "{}", what());
            return;
        }
        (found, expected) => panic!("{}: {found:?} for {expected:?}", what()),
    };
    let groups: Vec<_> = found.columns.iter().map(|column| column.groups.clone()).collect();
    assert_eq!(groups, expected.columns, "{}", what());
    let rejects: Vec<_> = found
        .shown_rejects
        .iter()
        .map(|r| (r.position.byte, r.position.record, r.reason))
        .collect();
    let shown = expected.rejects.len().min(crate::rejects::SHOWN);
    assert_eq!(rejects, expected.rejects[..shown], "{}", what());
    let counts = (found.records, found.blank_lines, found.rejected, found.bytes);
    let rejected = expected.rejects.len() as u64;
    let bytes = text.len() as u64;
    assert_eq!(counts, (expected.records, expected.blank_lines, rejected, bytes), "{}", what());
}

#[test]
fn every_split_of_quoted_and_unquoted_text_gives_the_same_answer() {
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
    ];
    for text in &texts {
        let columns = [Selector::Place(2)];
        for header in [false, true] {
            let shape = shape(header, Selector::Place(1), &columns);
            for chunk in 1..=text.len() + 1 {
                for level in Level::available() {
                    let text = text.as_bytes();
                    assert_same(text, &shape, 1000, true, &options(1, chunk, level));
                    assert_same(text, &shape, chunk, false, &options(2, 7, level));
                }
                let three = options(3, chunk, Level::best());
                assert_same(text.as_bytes(), &shape, 1000, true, &three);
            }
        }
    }
}

#[test]
fn many_keys_and_columns_agree_with_the_plain_program() {
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
    let columns = [Selector::Name("w".into()), Selector::Name("v".into())];
    let shape = shape(true, Selector::Name("name".into()), &columns);
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let options = options(threads, 20_000, level);
            assert_same(text.as_bytes(), &shape, 1 << 20, true, &options);
            assert_same(text.as_bytes(), &shape, 5000, false, &options);
        }
    }
}

#[test]
fn a_memory_limit_is_an_error_that_counts_keys() {
    let text: String = (0..200_000).map(|i| format!("k{i},1.0\n")).collect();
    let shape = shape(false, Selector::Place(1), &[Selector::Place(2)]);
    let options =
        Options { memory_limit_bytes: Some(2 << 20), ..options(2, 1 << 16, Level::best()) };
    let error = run_bytes(text.as_bytes(), &shape, 1000, true, &options).unwrap_err();
    let Error::MemoryLimit { keys, .. } = error else { panic!("{error}") };
    assert!((10_000..=400_000).contains(&keys), "{keys}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        // A failure prints its input; it becomes a named case above.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_in_any_split_agrees(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "a", "b", ",", ",", "1.5", "-22.5", "0.25", "\"", "\"\"", "\n", "\n", "\r\n",
            "a,1.5\n", "bcd,-7.5\n", "\"q,q\",3.5\n", "a key of many bytes,5.5\n", ";",
        ]), 0..60),
        chunk in 1_usize..80,
        threads in 1_usize..4,
        file in any::<bool>(),
        header in any::<bool>(),
    ) {
        let text = pieces.concat();
        let shape = shape(header, Selector::Place(1), &[Selector::Place(2)]);
        for level in Level::available() {
            let options = options(threads, chunk, level);
            assert_same(text.as_bytes(), &shape, chunk, file, &options);
        }
    }
}

fn sums(summary: &Summary) -> Vec<(String, Vec<i128>)> {
    let keys = &summary.columns[0].groups;
    (0..keys.len())
        .map(|i| {
            let key = String::from_utf8_lossy(&keys[i].key).into_owned();
            (key, summary.columns.iter().map(|c| c.groups[i].stats.sum()).collect())
        })
        .collect()
}

#[test]
fn quoted_fields_keep_delimiters_quotes_and_line_breaks_at_any_portion() {
    let text = "\u{feff}name,t,h\r\n\"Oslo, N\",1.5,10\n\"the \"\"big\"\" one\",-2,20\r\n\
                \"two\nlines\",3,30\n\"Oslo, N\",\"0.5\",5\r\n\n\"\"\"\",1,1";
    let shape = shape(
        true,
        Selector::Name("name".into()),
        &[Selector::Name("t".into()), Selector::Place(3)],
    );
    for portion in 1..text.len() {
        let summary = run(text, &shape, portion).unwrap();
        let expected = [
            ("\"", vec![1, 1]),
            ("Oslo, N", vec![20, 15]),
            ("the \"big\" one", vec![-2, 20]),
            ("two\nlines", vec![3, 30]),
        ];
        let found = sums(&summary);
        let expected: Vec<_> = expected.map(|(key, sums)| (key.to_owned(), sums)).into();
        assert_eq!(found, expected, "portions of {portion}");
        assert_eq!((summary.records, summary.blank_lines, summary.rejected), (5, 1, 0));
        assert_eq!(summary.columns[1].name, "column 3");
    }
}

#[test]
fn malformed_records_are_refused_one_line_at_a_time() {
    let text = "a,1\n\"b\"x,2\nc\"d,3\n,4\nshort\ne,\nf,x\n\"open,5\ng,6\n";
    for portion in 1..text.len() {
        let summary =
            run(text, &shape(false, Selector::Place(1), &[Selector::Place(2)]), portion).unwrap();
        let found: Vec<_> = summary
            .shown_rejects
            .iter()
            .map(|r| (r.position.byte, r.position.record, r.reason))
            .collect();
        assert_eq!(
            found,
            [
                (4, 2, Reason::AfterQuote),
                (11, 3, Reason::StrayQuote),
                (17, 4, Reason::EmptyKey),
                (20, 5, Reason::NoColumn(2)),
                (26, 6, Reason::Number(NumberError::Empty)),
                (29, 7, Reason::Number(NumberError::Malformed)),
                (33, 8, Reason::OpenQuote),
            ],
            "portions of {portion}"
        );
        assert_eq!(sums(&summary), [("a".to_owned(), vec![1]), ("g".to_owned(), vec![6])]);
        assert_eq!((summary.records, summary.rejected), (2, 7));
    }
}

#[test]
fn a_missing_column_lists_those_there_are() {
    let error =
        run("a,b\nx,1\n", &shape(true, Selector::Place(1), &[Selector::Name("t".into())]), 9)
            .unwrap_err();
    assert_eq!(error.to_string(), "t.csv: the header has no column \"t\"; it has: \"a\", \"b\"");
}
