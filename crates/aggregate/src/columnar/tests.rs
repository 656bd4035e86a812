//! Columns against the exact parser on their text.

use fathom_machine::os::memory::Slab;

use super::*;
use crate::Source as TextSource;
use crate::format::{Layout, Statistic, csv};

/// A column of texts and one of numbers, in batches of so many rows.
struct Made {
    batches: VecDeque<Rows>,
}

struct Rows {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
    values: Vec<f64>,
    valid: Vec<u8>,
}

impl Source for Made {
    type Batch = Rows;
    fn next(&mut self) -> Result<Option<Rows>, Error> {
        Ok(self.batches.pop_front())
    }
}

impl Batch for Rows {
    fn rows(&self) -> usize {
        self.values.len()
    }
    fn row_bytes(&self) -> u64 {
        0
    }
    fn keys(&self, _: usize) -> Texts<'_> {
        Texts::Short(Valid::default(), &self.offsets, &self.bytes)
    }
    fn values(&self, _: usize) -> Numbers<'_> {
        Numbers::F64(Valid { bits: Some(&self.valid), offset: 0 }, &self.values)
    }
    /// The key, then the value.
    fn filtered(&self, column: usize) -> Texts<'_> {
        if column == 0 { self.keys(0) } else { Texts::Numbers(self.values(0)) }
    }
}

fn rows(cells: &[(String, Option<f64>)]) -> Rows {
    let (mut offsets, mut bytes, mut valid) = (vec![0], Vec::new(), vec![0; cells.len() / 8 + 1]);
    for (row, (key, value)) in cells.iter().enumerate() {
        bytes.extend_from_slice(key.as_bytes());
        offsets.push(bytes.len() as i32);
        valid[row / 8] |= u8::from(value.is_some()) << (row % 8);
    }
    let values = cells.iter().map(|(_, value)| value.unwrap_or(f64::NAN)).collect();
    Rows { offsets, bytes, values, valid }
}

fn frame(fail: bool) -> Frame {
    let (keys, values) = (vec!["k".to_owned()], vec![("v".to_owned(), Null::Skip)]);
    let path = "frame".into();
    Frame { path, keys, values, filter: None, shape: None, nan_is_missing: false, fail }
}

#[test]
fn a_memory_limit_holds_for_keys_and_for_what_is_kept_of_values() {
    let limited = |cells: &[(String, Option<f64>)], stats: &str, limit_bytes| {
        let batches = cells.chunks(1000).map(rows).collect();
        let statistics = [Statistic::named(stats).unwrap()];
        let limit = Options { memory_limit_bytes: Some(limit_bytes), ..Options::default() };
        let options = limit.for_statistics(&statistics);
        aggregate(Made { batches }, &frame(true), &options, &Progress::default())
    };
    let is_over =
        |outcome: Result<Summary, Error>| matches!(outcome, Err(Error::MemoryLimit { .. }));
    let cell = |key: String, value: u32| (key, Some(f64::from(value)));
    let one: Vec<_> = (0..100_000).map(|value| cell("a".to_owned(), value)).collect();
    let few: Vec<_> = (0..100_000).map(|value| cell("a".to_owned(), value % 100)).collect();
    let many: Vec<_> = (0..100_000).map(|key| cell(format!("the key of {key}"), 1)).collect();
    for stats in ["median", "distinct", "mode"] {
        assert!(is_over(limited(&one, stats, 1 << 20)), "{stats}");
        let told = [Statistic::named(stats).unwrap()];
        let layout = Layout { statistics: told.to_vec(), ..Layout::default() };
        let [shown, free] =
            [limited(&one, stats, 64 << 20), of_columns(&one, 1000, 1, (true, &told))]
                .map(|summary| csv(&summary.unwrap().columns, &layout));
        assert_eq!(shown, free);
        assert!(limited(&few, stats, 1 << 20).is_ok(), "{stats}");
    }
    assert!(limited(&one, "mean", 1 << 20).is_ok());
    assert!(is_over(limited(&many, "mean", 10 << 20)) && limited(&many, "mean", 64 << 20).is_ok());
}

fn of_columns(
    cells: &[(String, Option<f64>)],
    batch: usize,
    threads: usize,
    (fail, statistics): (bool, &[Statistic]),
) -> Result<Summary, Error> {
    of_some(cells, (batch, threads), &frame(fail), statistics)
}

fn of_some(
    cells: &[(String, Option<f64>)],
    (batch, threads): (usize, usize),
    frame: &Frame,
    statistics: &[Statistic],
) -> Result<Summary, Error> {
    let batches = cells.chunks(batch).map(rows).collect();
    let options = Options { threads, ..Options::default() }.for_statistics(statistics);
    aggregate(Made { batches }, frame, &options, &Progress::default())
}

/// The frame of the rows for which a condition on `$1`, the key, and then `$2` is true.
fn filtered(condition: &str, fail: bool) -> Frame {
    let names = vec!["k".to_owned(), "v".to_owned()];
    Frame { filter: Some((Filter::parse(condition).unwrap(), names)), ..frame(fail) }
}

fn lines(cells: &[(String, Option<f64>)]) -> String {
    let line = |(key, value): &(String, Option<f64>)| match value {
        Some(value) => format!("{key};{}\n", text(*value)),
        None => format!("{key};\n"),
    };
    cells.iter().map(line).collect()
}

/// What a run on the text of the cells says.
fn of_text(cells: &[(String, Option<f64>)], query: &Query, options: &Options) -> Summary {
    let reader = Box::new(std::io::Cursor::new(lines(cells).into_bytes()));
    let sources = vec![TextSource::Stream { path: "text".into(), reader }];
    let (fail, progress) = (crate::OnError::Fail, Progress::default());
    crate::delimited::aggregate(sources, query, options, fail, &progress).unwrap()
}

fn shown(summary: &Summary) -> Vec<u8> {
    csv(&summary.columns, &Layout::default())
}

#[test]
fn a_condition_takes_the_rows_that_it_takes_of_text() {
    let (cells, statistics) = (cells(20_000), Layout::default().statistics);
    for condition in [
        "$1 =~ \"c$\" || $2 > 100.5", "$1 < \"abcdefghi\" && $2 is not null",
        "$1 != \"\" && !($2 * 2 <= 1)", "$1 == \"z\" && $2 > 0",
    ] {
        let mut query = crate::delimited::Query::new(b';');
        query.filter = Some(Filter::parse(condition).unwrap());
        let expected = of_text(&cells, &query, &Options::default());
        for sizes in [(20_000, 1), (777, 2), (1, 3)] {
            let found = of_some(&cells, sizes, &filtered(condition, true), &statistics).unwrap();
            assert!(shown(&found) == shown(&expected), "{condition} {sizes:?}");
            let counts = |summary: &Summary| (summary.records, summary.left_out, summary.rejected);
            assert_eq!(counts(&found), counts(&expected));
        }
    }
}

#[test]
fn what_a_condition_leaves_out_is_not_looked_at_and_what_it_cannot_read_is_refused() {
    let mut cells = vec![("a".to_owned(), Some(1.0)); 10];
    (cells[3].0, cells[4].1) = (String::new(), Some(f64::NAN));
    (cells[5].0, cells[7].1) = ("b".to_owned(), Some(f64::INFINITY));
    let count = |summary: &Summary| (summary.records, summary.left_out, summary.rejected);
    let found = of_some(&cells, (3, 2), &filtered("$1 == \"b\"", true), &[]).unwrap();
    assert_eq!((count(&found), found.columns[0].groups.len()), ((1, 9, 0), 1));
    let found = of_some(&cells, (3, 2), &filtered("$1 == \"b\" || $2 > 0", false), &[]).unwrap();
    assert_eq!(count(&found), (7, 0, 3));
    let said: Vec<String> = found.shown_rejects.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "frame:4:1: the key is empty: k \"\"",
            "frame:5:4: the value is not a decimal number: v \"NaN\"",
            "frame:8:4: the value is not a decimal number: v \"inf\"",
        ]
    );
}

#[test]
fn keys_are_shaped_as_those_of_text_and_what_is_in_no_bucket_is_refused() {
    let key = |row: u64| match row % 5 {
        0 => format!(" {} ", row % 37),
        1 => format!("{}e1", row % 7),
        _ => format!("-{}.{}", row % 11, row % 100),
    };
    let mut cells: Vec<_> = (0..5000_u64).map(|row| (key(row), Some(row as f64))).collect();
    let shape = |by: &str, trim| {
        let mut query = Query::new(b';');
        (query.by, query.trim, query.ignore_case) = (crate::By::list(by).unwrap(), trim, trim);
        query
    };
    for query in [shape("1:2.5", true), shape("1", true)] {
        let expected = of_text(&cells, &query, &Options::default());
        let frame = Frame { shape: Some(query), ..frame(true) };
        let found = of_some(&cells, (777, 2), &frame, &[]).unwrap();
        assert!(shown(&found) == shown(&expected));
    }
    (cells[7].0, cells[9].0, cells[11].0) = ("x".to_owned(), String::new(), " ".to_owned());
    let frame = Frame { shape: Some(shape("1:2.5", true)), ..frame(false) };
    let found = of_some(&cells[5..15], (4, 1), &frame, &[]).unwrap();
    let said: Vec<String> = found.shown_rejects.iter().map(ToString::to_string).collect();
    let wanted = [
        "frame:3:1: the value is not a decimal number: k \"x\"",
        "frame:5:1: the key is empty: k \"\"", "frame:7:1: the key is empty: k \"\"",
    ];
    assert_eq!((found.records, &said[..]), (7, &wanted.map(str::to_owned)[..]));
}

/// Keys of all lengths around the tables' limits, values of every kind of double.
fn cells(count: u64) -> Vec<(String, Option<f64>)> {
    let mut state = 7_u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let cell = |_| {
        let key = "abcdefghijklmnopqrstuvwxyz"[..1 + draw() as usize % 20].to_owned();
        let value = match draw() % 8 {
            0 => None,
            1 => Some(draw() as f64),
            2 => Some(-(draw() as f64) / 10.0),
            3 => Some(draw() as f64 / 1e4),
            4 => Some(f64::from_bits(draw() << 32 | draw() | 1)),
            5 => Some(0.1 + 0.2),
            6 => Some(-0.0),
            _ => Some(draw() as f64 * 1e15),
        };
        (key, value.filter(|value| value.is_finite()))
    };
    (0..count).map(cell).collect()
}

/// A double as programs print it: of two decimals as near, the even one; the standard library writes the
/// larger one.
fn text(value: f64) -> String {
    let (text, exact) = (format!("{value:?}"), format!("{value:.40}"));
    let lower = &exact[..text.len().min(exact.len())];
    let is_between = exact.trim_end_matches('0').strip_suffix('5') == Some(lower);
    let is_even = lower.ends_with(['0', '2', '4', '6', '8']);
    if is_between && is_even { lower.to_owned() } else { text }
}

#[test]
fn a_table_and_its_text_have_the_same_result() {
    let cells = cells(20_000);
    let named = |words: &str| {
        words.split(',').map(|word| Statistic::named(word).unwrap()).collect::<Vec<_>>()
    };
    let sums = "min,mean,max,count,rows,sum,variance,stddev,range";
    for statistics in [named(sums), named("median,p99.9,distinct,mode,first,last,sum,rows")] {
        let options = Options::default().for_statistics(&statistics);
        let layout = Layout { statistics: statistics.clone(), ..Layout::default() };
        let expected = of_text(&cells, &Query::new(b';'), &options);
        let expected = csv(&expected.columns, &layout);
        for (batch, threads) in [(20_000, 1), (777, 2), (1, 3)] {
            let found = of_columns(&cells, batch, threads, (true, &statistics)).unwrap();
            assert!(csv(&found.columns, &layout) == expected, "batches of {batch}");
            assert_eq!(found.records, 20_000);
        }
    }
}

#[test]
fn the_first_refused_row_is_named_and_the_others_counted() {
    let mut cells = cells(200_000);
    for row in [199_999, 123_456, 150_000] {
        cells[row].1 = Some(f64::INFINITY);
    }
    cells[140_000].0 = String::new();
    for (batch, threads) in [(200_000, 2), (1000, 3)] {
        let Err(Error::Record(reject)) = of_columns(&cells, batch, threads, (true, &[])) else {
            panic!("the run went on");
        };
        let said = "frame:123457:2: the value is not a decimal number: v \"inf\"";
        assert_eq!(reject.to_string(), said);
        let counted = of_columns(&cells, batch, threads, (false, &[])).unwrap();
        let lines: Vec<u64> = counted.shown_rejects.iter().map(|r| r.position.line).collect();
        assert_eq!(lines, [123_457, 140_001, 150_001, 200_000]);
        assert_eq!((counted.rejected, counted.records), (4, 199_996));
        let rows: u64 = counted.columns[0].groups.iter().map(|group| group.stats.rows()).sum();
        assert_eq!(rows, 199_996);
    }
}

/// A batch that is one piece.
struct Whole(Option<Rows>);

impl Parts for Whole {
    type Batch = Rows;
    fn next(&mut self) -> Result<Option<Part<Rows>>, Error> {
        let Some(batch) = self.0.take().map(Arc::new) else { return Ok(None) };
        let piece = Piece { rows: 0..batch.rows(), batch, place: (0, 0) };
        Ok(Some(Box::new(std::iter::once(Ok(piece)))))
    }
}

#[test]
fn of_a_large_batch_no_more_rows_are_taken_at_a_time_than_sums_hold() {
    let cells: Vec<_> = (0..2 * PIECE_ROWS + 1)
        .map(|row| (format!("{}", row % 3), Some(if row == PIECE_ROWS { f64::NAN } else { 0.5 })))
        .collect();
    let told = [Statistic::Count, Statistic::Sum];
    let options = Options::default().for_statistics(&told);
    let whole = Whole(Some(rows(&cells)));
    let found = aggregate_parts(whole, &frame(false), &options, &Progress::default()).unwrap();
    let expected = of_columns(&cells, 1000, 1, (false, &told)).unwrap();
    assert_eq!(found.columns[0].groups, expected.columns[0].groups);
    assert_eq!(found.shown_rejects[0].position.line, PIECE_ROWS as u64 + 1);
    assert_eq!((found.records, found.rejected), (expected.records, 1));
}

/// It ended the process without a word.
#[test]
fn memory_that_is_refused_is_an_error() {
    struct Refused;
    impl Parts for Refused {
        type Batch = Rows;
        fn next(&mut self) -> Result<Option<Part<Rows>>, Error> {
            drop(Slab::<u64>::new(1 << 58));
            Ok(None)
        }
    }
    let options = Options { threads: 2, ..Options::default() };
    let found = aggregate_parts(Refused, &frame(false), &options, &Progress::default());
    assert!(matches!(found, Err(Error::NoMemory(_))));
}
