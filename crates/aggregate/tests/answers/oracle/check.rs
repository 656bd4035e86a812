//! The engine against the oracle: the same input and the same wishes, every word of the answers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{Cursor, Read, Write};

use fathom_aggregate::delimited::{self, Kind, Null as EngineNull, Query, Ragged, Selector, Value};
use fathom_aggregate::format::{self, Criterion, Layout, Sort, Statistic, Streamed, Telling};
use fathom_aggregate::{
    Approx, Bucket, Column, Error, Filter, Method, OnError, Options, Progress, Rejects, Rounding,
    SHOWN, Source, Summary, Syntax,
};

use super::choice::Choices;
use super::line;
use super::number::Round;
use super::shown::{By, Form, Look, text};
use super::{Answer, NoAnswer, Null, Place, Refused, Task};

/// A file that holds `input` and nothing else, open for reading.
pub fn file(input: &[u8]) -> Source {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    Source::File { path: "input".into(), file: Box::new(file), size: input.len() as u64 }
}

/// A stream that hands out `portion` bytes at a time.
pub fn stream(input: &[u8], portion: usize) -> Source {
    struct Portions(Cursor<Vec<u8>>, usize);
    impl Read for Portions {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }
    let reader = Box::new(Portions(Cursor::new(input.to_vec()), portion));
    Source::Stream { path: "input".into(), reader }
}

fn selector(place: &Place) -> Selector {
    match place {
        Place::At(place) => Selector::Place(*place),
        Place::Named(name) => Selector::Name(name.clone()),
    }
}

/// The engine's words for a task.
pub fn query(task: &Task) -> Query {
    let null = |null| match null {
        Null::Skip => EngineNull::Skip,
        Null::Zero => EngineNull::Zero,
        Null::Fail => EngineNull::Fail,
    };
    let value = |(at, (place, n)): (usize, &(Place, Null))| {
        let mut value = match task.formulas.get(&at) {
            Some(formula) => Value::list(&formula.whole_text()).unwrap().remove(0),
            None => Value::from(selector(place)),
        };
        value.null = null(*n);
        value.kind = if task.texts.contains(&at) { Kind::Text } else { Kind::Number };
        value
    };
    let mut query = Query::new(task.delimiter);
    query.header = task.header;
    (query.quotes, query.decimal_comma) = (task.quotes, task.comma);
    query.by = task.keys.iter().map(|place| selector(place).into()).collect();
    for (by, shape) in query.by.iter_mut().zip(&task.shapes) {
        by.bucket = shape.map(|width| Bucket::parse(width).expect("a width"));
    }
    (query.trim, query.ignore_case) = (task.trim, task.ignore_case);
    query.values = task.values.iter().enumerate().map(value).collect();
    query.filter = task.filter.as_ref().map(|filter| {
        let text = filter.text();
        Filter::parse(&text).unwrap_or_else(|why| panic!("{text}: {why}"))
    });
    query.ragged = if task.pad { Ragged::Pad } else { Ragged::Fail };
    query.nulls.clone_from(&task.nulls);
    query
}

fn layout(look: &Look, threads: usize) -> Layout {
    Layout {
        statistics: look.statistics.iter().map(|name| named(name, look)).collect(),
        decimals: look.decimals.map(|decimals| decimals as u8),
        rounding: match look.round {
            Round::HalfUp => Rounding::HalfUp,
            Round::Ceiling => Rounding::Ceiling,
            Round::HalfEven => Rounding::HalfEven,
        },
        threads,
        pairs: false,
        errors: look.approx.is_some(),
        keys: look.keys.clone(),
    }
}

fn named(name: &str, look: &Look) -> Statistic {
    let statistic = Statistic::named(name).unwrap_or_else(|| panic!("no statistic {name}"));
    statistic.by(if look.nearest { Method::Nearest } else { Method::Linear })
}

/// Runs the engine; also the refused records as they were kept.
pub fn run(source: Source, task: &Task, options: &Options) -> Result<(Summary, Vec<u8>), Error> {
    let mut kept = Vec::new();
    let rejects = Rejects { sink: Box::new(&mut kept), is_open: &mut false };
    let on_error = OnError::Skip(Some(rejects));
    let (sources, progress) = (vec![source], Progress::default());
    let summary = if task.plain {
        fathom_aggregate::aggregate(sources, options, on_error, &progress)
    } else {
        delimited::aggregate(sources, &query(task), options, on_error, &progress)
    };
    let mut summary = summary?;
    unspill(&mut summary);
    Ok((summary, kept))
}

/// Reads what a run wrote to disk, if it did.
fn unspill(summary: &mut Summary) {
    if summary.spilled.is_none() {
        return;
    }
    let mut columns = summary.columns.clone();
    let take = |piece: &[Column]| {
        for (column, piece) in columns.iter_mut().zip(piece) {
            column.groups.extend_from_slice(&piece.groups);
        }
        Ok::<_, Error>(())
    };
    summary.pieces(&[], take).unwrap();
    summary.columns = columns;
}

/// The first error of a run over `key;value` lines that must fail.
pub fn failure(source: Source, options: &Options) -> Error {
    let progress = Progress::default();
    fathom_aggregate::aggregate(vec![source], options, OnError::Fail, &progress).unwrap_err()
}

/// An input and what the oracle says of it.
pub struct Judge<'a> {
    input: &'a [u8],
    task: Task,
    answer: Result<Answer, NoAnswer>,
    /// The answer by how it was looked at: most inputs are checked in many pieces.
    texts: RefCell<HashMap<String, Vec<u8>>>,
}

impl<'a> Judge<'a> {
    pub fn new(input: &'a [u8], task: Task) -> Judge<'a> {
        let answer = super::aggregate(input, &task);
        Judge { input, answer, task, texts: RefCell::default() }
    }

    /// Asserts that the engine says the same of `source`, which holds the input.
    pub fn check(&self, source: Source, looks: &[Look], options: &Options, what: &str) {
        let options = &near(options, &looks[0]);
        let shown = || {
            let beginning = &self.input[..self.input.len().min(2000)];
            let text = String::from_utf8_lossy(beginning).into_owned();
            format!("{what}, {options:?}, {:?}: {text:?}", self.task)
        };
        let (summary, kept) = match (run(source, &self.task, options), &self.answer) {
            (Ok(found), Ok(_)) => found,
            (Err(Error::BadHeader { .. }), Err(NoAnswer::BadHeader))
            | (Err(Error::NoSuchColumn { .. }), Err(NoAnswer::NoSuchColumn))
            | (Err(Error::AmbiguousColumn { .. }), Err(NoAnswer::AmbiguousColumn)) => return,
            (found, expected) => panic!("{}: {found:?} for {expected:?}", shown()),
        };
        let answer = self.answer.as_ref().expect("both have an answer");
        let counts = [summary.records, summary.blank_lines, summary.left_out, summary.rejected];
        let refused = answer.refused.len() as u64;
        let expected = [answer.records, answer.blank_lines, answer.left_out, refused];
        assert_eq!(counts, expected, "{}: records, blank lines, left out, refused", shown());
        let (found, expected) = (shown_rejects(&summary), expected_rejects(self.input, answer));
        assert_eq!(found, expected, "{}: places and reasons", shown());
        assert_eq!(kept, texts(self.input, answer), "{}: kept records", shown());
        if let Some(keys) = &answer.keys {
            assert_eq!(summary.keys, *keys, "{}: the names of the key", shown());
        }
        let mut texts = self.texts.borrow_mut();
        for look in looks {
            let expected = texts.entry(format!("{look:?}")).or_insert_with(|| text(answer, look));
            check_text(&summary, expected, look, options.threads, &shown);
        }
    }
}

fn check_text(
    summary: &Summary,
    expected: &[u8],
    look: &Look,
    threads: usize,
    shown: &dyn Fn() -> String,
) {
    let found = formatted(summary, look, threads);
    if found != expected {
        let [found, expected] = [&found[..], expected].map(String::from_utf8_lossy);
        panic!("{}: {look:?}\nfound    {found}\nexpected {expected}", shown());
    }
}

/// Asserts that the engine says of lines that are no delimited text what the oracle says of the text they stand for.
pub fn check_lines(input: &[u8], form: line::Form, task: &Task, look: &Look, how: &mut Choices) {
    let mut query = query(task);
    query.header = false;
    query.syntax = match form {
        line::Form::Json => Syntax::JsonLines,
        line::Form::Access { combined } => Syntax::Access { combined },
    };
    let names = query.names().expect("columns have names").into_iter().map(str::to_owned);
    let mut columns: Vec<String> = names.collect();
    columns.sort();
    columns.dedup();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let read = line::read(input, form, &columns);
    let answer = super::aggregate(&read.csv, task).expect("the columns are there");
    let options = near(&how.limited(), look);
    let sources = vec![how.source(input)];
    let (on_error, progress) = (OnError::Skip(None), Progress::default());
    let summary = delimited::aggregate(sources, &query, &options, on_error, &progress);
    let mut summary = summary.expect("columns are known");
    unspill(&mut summary);
    let shown = || {
        let text = String::from_utf8_lossy(&input[..input.len().min(2000)]);
        format!("{form:?}, {options:?}, {task:?}: {text:?}")
    };
    let counts = [summary.records, summary.blank_lines, summary.left_out, summary.rejected];
    let refused = read.refused + answer.refused.len() as u64;
    let expected = [answer.records, read.blank + answer.blank_lines, answer.left_out, refused];
    assert_eq!(counts, expected, "{}: records, blank lines, left out, refused", shown());
    check_text(&summary, &text(&answer, look), look, options.threads, &shown);
}

/// The same, as near as the look wants values.
pub fn near(options: &Options, look: &Look) -> Options {
    let approx = look.approx.map(|digits| Approx::ALL[digits as usize - 2].1);
    Options { approx, ..options.clone() }
}

/// The engine's text.
pub fn formatted(summary: &Summary, look: &Look, threads: usize) -> Vec<u8> {
    rendered(summary.columns.clone(), look, layout(look, threads))
}

/// The engine's text of two inputs side by side.
pub fn compared(before: &Summary, after: &Summary, look: &Look) -> Vec<u8> {
    let columns = format::side_by_side(before.columns.clone(), after.columns.clone());
    rendered(columns, look, Layout { pairs: true, ..layout(look, 1) })
}

/// The engine's text of what was spilled or not gathered, with totals: in pieces, or of the first keys.
pub fn pieces(summary: &mut Summary, look: &Look, form: Option<Streamed>) -> String {
    let (order, layout) = (order(look), layout(look, 1));
    let mut text = Vec::new();
    let (Some(form), None) = (form, look.top) else {
        // All keys where no form is written in pieces.
        summary.first(&order, look.top.unwrap_or(usize::MAX), false).unwrap();
        let text = written(summary.columns.clone(), look, &layout);
        return String::from_utf8_lossy(&text).into_owned();
    };
    text.extend(form.begin(&summary.columns, &layout));
    let mut is_first = true;
    let take = |keys, piece: &[u8]| {
        text.extend_from_slice(piece);
        is_first &= keys == 0;
        Ok::<_, Error>(())
    };
    summary.texts((&order, &layout), form, take).unwrap();
    if look.total {
        summary.columns.iter_mut().for_each(|column| column.groups.clear());
        format::append_total(&mut summary.columns, "all", look.keys.len());
        text.extend(form.keys(&summary.columns, &layout, is_first));
        is_first = false;
    }
    text.extend(form.end(is_first));
    String::from_utf8_lossy(&text).into_owned()
}

fn rendered(mut columns: Vec<Column>, look: &Look, layout: Layout) -> Vec<u8> {
    columns.iter_mut().for_each(Column::sum_up);
    format::arrange(&mut columns, &order(look), look.top);
    written(columns, look, &layout)
}

fn order(look: &Look) -> Vec<Criterion> {
    let sort = |by| match by {
        By::Key => Sort::Key,
        By::Part(at, is_number) => Sort::Part { at, of: look.keys.len(), is_number },
        By::Of(at, name) => Sort::By(Telling::Of(at, named(name, look))),
        By::Change(name) => Sort::By(Telling::Change([0, 1], named(name, look))),
        By::Percent(name) => Sort::By(Telling::Percent([0, 1], named(name, look))),
    };
    look.sort.iter().map(|&(by, falling)| Criterion { sort: sort(by), falling }).collect()
}

fn written(mut columns: Vec<Column>, look: &Look, layout: &Layout) -> Vec<u8> {
    if look.total {
        format::append_total(&mut columns, "all", look.keys.len());
    }
    match look.form {
        Form::Brc => format::brc(&columns[0], layout),
        Form::Table => format::table(&columns, layout),
        Form::Csv => format::csv(&columns, layout),
        Form::Tsv => format::tsv(&columns, layout),
        Form::Json => format::json(&columns, layout),
        Form::Ndjson => format::ndjson(&columns, layout),
        Form::Markdown => format::markdown(&columns, layout),
    }
}

/// Byte of the record and of what is wrong in it, line, column, reason and record.
type Reject = ((u64, u64), u64, u64, String, Vec<u8>);

fn expected_rejects(input: &[u8], answer: &Answer) -> Vec<Reject> {
    let mark = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let place = |refused: &Refused| {
        let before = &input[..refused.byte];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(mark, |at| at + 1);
        let column = String::from_utf8_lossy(&before[start..]).chars().count() as u64 + 1;
        let bytes = (refused.record as u64, refused.byte as u64);
        let text = refused.text.strip_suffix(b"\r").unwrap_or(&refused.text);
        (bytes, line, column, refused.why.clone(), text.to_vec())
    };
    answer.refused.iter().take(SHOWN).map(place).collect()
}

fn shown_rejects(summary: &Summary) -> Vec<Reject> {
    let place = |reject: &fathom_aggregate::Reject| {
        let at = &reject.position;
        let why = format!("{:?}", reject.reason);
        ((reject.record_byte, at.byte), at.line, at.column, why, reject.text.clone())
    };
    summary.shown_rejects.iter().map(place).collect()
}

/// Refused records as they stand in the input, line ends included.
fn texts(input: &[u8], answer: &Answer) -> Vec<u8> {
    let end = |record: usize, len: usize| (record + len + 1).min(input.len());
    let one = |refused: &Refused| &input[refused.record..end(refused.record, refused.text.len())];
    answer.refused.iter().flat_map(|refused| one(refused).to_vec()).collect()
}
