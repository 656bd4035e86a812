//! `aggregate`: from Python's arguments to a run of the engine, over text or over Arrow arrays.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use fathom_aggregate::columnar::{self, Frame};
use fathom_aggregate::delimited::{self, Kind, Null, Query, Ragged, Selector, Syntax, Value};
use fathom_aggregate::format::{Criterion, Sort, Statistic, arrange};
use fathom_aggregate::guess::Said;
use fathom_aggregate::{
    Approx, Error, Filter, Layout, Method, OnError, Options, Progress, Source, Summary,
};
use fathom_input::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow;
use crate::error;
use crate::groups::Groups;
use crate::guesses::Guesses;
use crate::source::Given;
use crate::wait::{self, Caller};

/// How the text is cut, which the package spells out before it calls.
#[derive(FromPyObject)]
pub(crate) struct Plan {
    /// Lines `key;value`, of which nothing else is asked.
    plain: bool,
    /// One of [`SYNTAXES`]; without it guessed, as all of these are.
    format_in: Option<String>,
    delimiter: Option<u8>,
    header: Option<bool>,
    quotes: Option<bool>,
    decimal_comma: Option<bool>,
    by: Vec<Column>,
    /// Column, what a missing value means, and whether it is one of texts.
    values: Vec<(Column, String, bool)>,
    filter: Option<String>,
    null_values: Vec<Vec<u8>>,
    pad: bool,
    stats: Vec<String>,
    nearest: bool,
    /// How near sketches are; exact without.
    approx: Option<String>,
    sort: String,
    reverse: bool,
    top: Option<usize>,
    skip: bool,
    rejects: Option<PathBuf>,
    threads: Option<usize>,
    chunk_bytes: Option<usize>,
    memory_limit: Option<usize>,
}

/// A column by its place, from 1, or by its name.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Column {
    Place(usize),
    Name(String),
}

impl From<&Selector> for Column {
    fn from(column: &Selector) -> Column {
        match column {
            Selector::Place(place) => Column::Place(*place),
            Selector::Name(name) => Column::Name(name.clone()),
        }
    }
}

impl From<Column> for Selector {
    fn from(column: Column) -> Selector {
        match column {
            Column::Place(place) => Selector::Place(place),
            Column::Name(name) => Selector::Name(name),
        }
    }
}

/// How records are written, by the words for it.
const SYNTAXES: [(&str, Syntax); 4] = [
    ("delimited", Syntax::Delimited),
    ("common", Syntax::Access { combined: false }),
    ("combined", Syntax::Access { combined: true }),
    ("ndjson", Syntax::JsonLines),
];

pub(crate) fn word_of(syntax: Syntax) -> &'static str {
    SYNTAXES.iter().find(|(_, known)| *known == syntax).expect("all are there").0
}

fn syntax(word: &str) -> PyResult<Syntax> {
    let found = SYNTAXES.iter().find(|(known, _)| *known == word).map(|(_, syntax)| *syntax);
    let known = || SYNTAXES.map(|(word, _)| word).join(", ");
    found
        .ok_or_else(|| PyValueError::new_err(format!("format_in: {word:?} is none of {}", known())))
}

fn null(word: &str) -> PyResult<Null> {
    match word {
        "skip" => Ok(Null::Skip),
        "zero" => Ok(Null::Zero),
        "fail" => Ok(Null::Fail),
        _ => Err(PyValueError::new_err(format!("null: {word:?} is none of skip, zero, fail"))),
    }
}

/// The statistic that an option names, or one of the other words it has.
fn statistic(option: &str, word: &str, others: &[&str]) -> PyResult<Statistic> {
    // Shares are the command's: a result here does not know the totals of all keys.
    let is_told = |statistic: &Statistic| !statistic.is_share();
    Statistic::named(word).filter(is_told).ok_or_else(|| {
        let words = Statistic::WORDS.iter().map(|(word, _)| *word);
        let words = words.filter(|word| !word.ends_with('%'));
        let known: Vec<&str> = others.iter().copied().chain(words).collect();
        PyValueError::new_err(format!("{option}: {word:?} is none of {}", known.join(", ")))
    })
}

impl Plan {
    fn method(&self) -> Method {
        if self.nearest { Method::Nearest } else { Method::Linear }
    }

    pub(crate) fn statistics(&self) -> PyResult<Vec<Statistic>> {
        let statistic = |word: &String| Ok(statistic("stats", word, &[])?.by(self.method()));
        self.stats.iter().map(statistic).collect()
    }

    /// The statistic that is sorted by; None for the key.
    pub(crate) fn sort(&self) -> PyResult<Option<Statistic>> {
        if self.sort == "key" {
            return Ok(None);
        }
        let statistic = statistic("sort", &self.sort, &["key"])?.by(self.method());
        match statistic.has_order() {
            true => Ok(Some(statistic)),
            false => Err(PyValueError::new_err(format!("sort: a {statistic} has no order"))),
        }
    }

    fn order(&self, sort: Option<Statistic>) -> Criterion {
        let key = Criterion { sort: Sort::Key, falling: false };
        let order = sort.map_or(key, Criterion::largest);
        Criterion { falling: order.falling != self.reverse, ..order }
    }

    /// How near sketches are.
    fn approx(&self, statistics: &[Statistic]) -> PyResult<Option<Approx>> {
        let Some(word) = &self.approx else { return Ok(None) };
        let approx = Approx::named(word).ok_or_else(|| {
            let known = Approx::ALL.map(|(word, _)| word).join(", ");
            PyValueError::new_err(format!("approx: {word:?} is none of {known}"))
        })?;
        match statistics.iter().find(|statistic| statistic.needs_all()) {
            Some(told) => {
                let said = format!("approx: sketches keep no values, and cannot tell {told}");
                Err(PyValueError::new_err(said))
            }
            None => Ok(Some(approx)),
        }
    }

    pub(crate) fn options(
        &self,
        statistics: &[Statistic],
        sort: Option<Statistic>,
    ) -> PyResult<Options> {
        let default = Options::default();
        let asked = [statistics, sort.as_slice()].concat();
        let options = Options {
            threads: self.threads.unwrap_or(default.threads),
            chunk_bytes: self.chunk_bytes.unwrap_or(default.chunk_bytes),
            memory_limit_bytes: self.memory_limit,
            approx: self.approx(&asked)?,
            ..default
        };
        Ok(options.for_statistics(&asked))
    }

    /// What is asked of delimited text; None for `key;value` lines.
    pub(crate) fn query(&self) -> PyResult<Option<Query>> {
        if self.plain {
            return Ok(None);
        }
        let value = |(column, word, is_text): &(Column, String, bool)| {
            let mut value = match column {
                Column::Name(name) if !is_text && Value::is_formula(name) => {
                    Value::derived(name)
                        .map_err(|wrong| PyValueError::new_err(format!("values: {wrong}")))?
                }
                _ => Value::from(Selector::from(column.clone())),
            };
            value.null = null(word)?;
            value.kind = if *is_text { Kind::Text } else { Kind::Number };
            Ok(value)
        };
        let mut query = Query::new(self.delimiter.unwrap_or(b';'));
        query.filter = self.filter()?;
        query.by = self.by.iter().cloned().map(|column| Selector::from(column).into()).collect();
        query.values = self.values.iter().map(value).collect::<PyResult<_>>()?;
        if query.has_only_texts()
            && !self.statistics()?.iter().any(|statistic| statistic.is_of_texts())
        {
            let said = "stats: of texts count, rows, distinct, mode, first and last are told";
            return Err(PyValueError::new_err(said));
        }
        query.ragged = if self.pad { Ragged::Pad } else { Ragged::Fail };
        query.nulls.extend(self.null_values.iter().cloned());
        query.syntax = self.format_in.as_deref().map_or(Ok(Syntax::Delimited), syntax)?;
        if query.syntax == Syntax::Delimited {
            query.header = self.header.unwrap_or_else(|| query.has_names());
        }
        query.quotes = self.quotes.unwrap_or(true);
        query.decimal_comma = self.decimal_comma.unwrap_or(false);
        Ok(Some(query))
    }

    /// Which records are taken.
    fn filter(&self) -> PyResult<Option<Filter>> {
        let filter = self.filter.as_deref().map(Filter::parse).transpose();
        filter.map_err(|wrong| PyValueError::new_err(format!("where: {wrong}")))
    }

    /// What is not guessed.
    pub(crate) fn said(&self) -> Said {
        Said {
            syntax: self.format_in.is_some() || self.pad,
            delimiter: self.delimiter,
            quotes: self.quotes,
            header: self.header,
            decimal_comma: self.decimal_comma,
        }
    }

    /// Whether records that are none are counted, and do not end the run.
    pub(crate) fn skips(&self) -> bool {
        self.skip
    }

    /// A result in its order.
    pub(crate) fn shown(&self, mut summary: Summary, has_names: bool) -> PyResult<Groups> {
        let (statistics, sort) = (self.statistics()?, self.sort()?);
        arrange(&mut summary.columns, &[self.order(sort)], self.top);
        let Options { threads, approx, .. } = self.options(&statistics, sort)?;
        let errors = approx.is_some();
        let mut layout = Layout { statistics, threads, errors, ..Layout::default() };
        if has_names {
            layout.keys.clone_from(&summary.keys);
        }
        Ok(Groups::new(summary, layout))
    }

    fn on_error(&self) -> PyResult<OnError<'static>> {
        if !self.skip {
            return Ok(OnError::Fail);
        }
        let Some(path) = &self.rejects else { return Ok(OnError::Skip(None)) };
        let file = File::create(path).map_err(|said| error::system(&said, path))?;
        Ok(OnError::Skip(Some(Box::new(BufWriter::new(file)))))
    }
}

/// Aggregates texts, or an Arrow stream where there is one; and what was guessed
/// of how they are written.
#[pyfunction]
pub(crate) fn aggregate<'py>(
    py: Python<'py>,
    inputs: Vec<Bound<'py, PyAny>>,
    plan: Plan,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Groups, Bound<'py, PyDict>)> {
    let options = plan.options(&plan.statistics()?, plan.sort()?)?;
    let (told, callback) = (Progress::default(), progress.as_ref());
    let flags = (&told.bytes, &told.stop);
    let mut query = plan.query()?;
    let mut guesses = Guesses::default();
    let is_frame = match &*inputs {
        [frame] => frame.hasattr("__arrow_c_stream__")?,
        _ => false,
    };
    let outcome = match &*inputs {
        [frame] if is_frame => {
            let (source, frame) = frame_of(frame, &plan)?;
            wait::run(py, flags, callback, |_| columnar::aggregate(source, &frame, &options, &told))
        }
        _ => {
            let given = inputs.iter().map(Given::of).collect::<PyResult<Vec<_>>>()?;
            let (on_error, said) = (plan.on_error()?, plan.said());
            wait::run(py, flags, callback, |caller| {
                let open = |given| open(given, options.threads, caller);
                let sources = given.into_iter().map(open).collect::<Result<_, _>>()?;
                let sources = guesses.settle(sources, query.as_mut(), &said)?;
                run(sources, query.as_ref(), &options, on_error, &told)
            })
        }
    };
    let mut summary: Summary = outcome?.map_err(|error| error::aggregated(py, error))?;
    summary.bytes = told.bytes.load(Ordering::Relaxed);
    let has_names = is_frame || query.is_some_and(|query| is_named(&query));
    Ok((plan.shown(summary, has_names)?, guesses.told(py)?))
}

/// The columns that a condition asks for.
#[pyfunction]
pub(crate) fn columns(condition: &str) -> PyResult<Vec<Column>> {
    let filter = Filter::parse(condition);
    let filter = filter.map_err(|wrong| PyValueError::new_err(format!("where: {wrong}")))?;
    Ok(filter.columns().iter().map(Column::from).collect())
}

/// Whether the parts of keys have names of their own.
pub(crate) fn is_named(query: &Query) -> bool {
    query.header || query.by.len() > 1 || query.syntax != Syntax::Delimited
}

/// Runs the engine over texts.
pub(crate) fn run(
    sources: Vec<Source>,
    query: Option<&Query>,
    options: &Options,
    on_error: OnError<'_>,
    told: &Progress,
) -> Result<Summary, Error> {
    match query {
        Some(query) => delimited::aggregate(sources, query, options, on_error, told),
        None => fathom_aggregate::aggregate(sources, options, on_error, told),
    }
}

fn open(given: Given, threads: usize, caller: &Caller) -> Result<Source, Error> {
    let path = given.name().to_owned();
    match given.open(threads, caller) {
        Ok(Input::File(file, size)) => Ok(Source::File { path, file, size }),
        Ok(Input::Stream(reader)) => Ok(Source::Stream { path, reader }),
        Err(source) => Err(Error::Read { path, byte: 0, source }),
    }
}

/// The stream's columns by the plan's names or places.
fn frame_of(stream: &Bound<'_, PyAny>, plan: &Plan) -> PyResult<(arrow::read::Stream, Frame)> {
    let by = plan.by.iter().cloned();
    let values = plan.values.iter().map(|(column, ..)| column.clone());
    let filter = plan.filter()?;
    let filtered = filter.iter().flat_map(|filter| filter.columns().to_vec());
    let columns: Vec<Selector> = by.chain(values).map(Selector::from).chain(filtered).collect();
    let sizes = [plan.by.len(), plan.values.len()];
    let (stream, mut keys) = arrow::read::open(stream, &columns, sizes)?;
    let mut names = keys.split_off(plan.by.len());
    let filtered = names.split_off(plan.values.len());
    let nulls = plan.values.iter().map(|(_, word, _)| null(word)).collect::<PyResult<Vec<_>>>()?;
    let nan_is_missing = plan.null_values.iter().any(|text| text == b"NaN");
    let mut values: Vec<(String, Null)> = names.into_iter().zip(nulls).collect();
    if values.is_empty() {
        values.push(("records".to_owned(), Null::Skip));
    }
    let frame = Frame {
        path: "<arrow>".into(),
        keys,
        values,
        filter: filter.map(|filter| (filter, filtered)),
        nan_is_missing,
        prints_floats: false,
        fail: !plan.skip,
    };
    Ok((stream, frame))
}
