//! `aggregate`: from Python's arguments to a run of the engine, over text or over Arrow arrays.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_aggregate::columnar::{self, Frame};
use fathom_aggregate::delimited::{self, By, Kind, Null, Query, Ragged, Selector, Syntax, Value};
use fathom_aggregate::format::{self, Statistic, Wanted, Wish, WishError};
use fathom_aggregate::guess::{self, Said};
use fathom_aggregate::{
    Approx, Error, Filter, Layout, Method, OnError, Options, Progress, Rejects, Source, Summary,
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
use crate::wait::{self, Caller, Told};

/// How the text is cut, which the package spells out before it calls.
#[derive(FromPyObject)]
pub(crate) struct Plan {
    /// Lines `key;value`, of which nothing else is asked.
    plain: bool,
    /// One of [`SYNTAXES`]; without it guessed, as all of these are.
    format_in: Option<String>,
    delimiter: Option<u8>,
    header: Option<bool>,
    /// What the first record of every text is, where that one was guessed to be a header.
    guessed_header: Option<Vec<String>>,
    quotes: Option<bool>,
    decimal_comma: Option<bool>,
    /// Each perhaps with the width of its buckets.
    by: Vec<Column>,
    trim: bool,
    ignore_case: bool,
    /// Column, what a missing value means, and whether it is one of texts.
    values: Vec<(Column, String, bool)>,
    filter: Option<String>,
    null_values: Vec<Vec<u8>>,
    pad: bool,
    stats: Vec<String>,
    nearest: bool,
    /// How near sketches are; exact without.
    approx: Option<String>,
    /// As [`Wish::of`] reads them.
    sort: Vec<String>,
    reverse: bool,
    top: Option<usize>,
    /// Whether shares are told beside what adds up.
    shares: bool,
    /// What the total of all keys is called, which is the last row.
    total: Option<String>,
    /// Whether the inputs are two, to be shown side by side.
    compare: bool,
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

/// The statistic that an option names.
fn statistic(word: &str) -> PyResult<Statistic> {
    Statistic::named(word).ok_or_else(|| {
        let known: Vec<&str> = Statistic::WORDS.iter().map(|(word, _)| *word).collect();
        PyValueError::new_err(format!("stats: {word:?} is none of {}", known.join(", ")))
    })
}

impl Plan {
    fn method(&self) -> Method {
        if self.nearest { Method::Nearest } else { Method::Linear }
    }

    /// What is told of each key, but for the shares that [`shares`](Plan::shares) adds.
    pub(crate) fn statistics(&self) -> PyResult<Vec<Statistic>> {
        self.stats.iter().map(|word| Ok(statistic(word)?.by(self.method()))).collect()
    }

    fn wishes(&self) -> Vec<Wish> {
        self.sort.iter().map(|word| Wish::of(word)).collect()
    }

    /// What must be known of each key: what is told, and what is sorted by.
    pub(crate) fn asked(&self) -> PyResult<Vec<Statistic>> {
        let wishes = self.wishes();
        let keys: Vec<Selector> = self.shape().by.into_iter().map(|by| by.column).collect();
        let sorted = wishes.iter().flat_map(|wish| wish.statistics(&keys));
        let sorted = sorted.map(|statistic| statistic.by(self.method()));
        Ok(self.statistics()?.into_iter().chain(sorted).collect())
    }

    fn layout(&self, keys: Vec<String>) -> PyResult<Layout> {
        let told = self.statistics()?;
        let statistics = if self.shares { Statistic::with_shares(&told) } else { told };
        let default = Layout::default();
        let threads = self.threads.unwrap_or(default.threads);
        let (pairs, errors) = (self.compare, self.approx.is_some());
        Ok(Layout { statistics, keys, pairs, errors, threads, ..default })
    }

    /// What `check` finds of the order that is wanted.
    fn ordered<T>(&self, check: impl FnOnce(&Wanted<'_>) -> Result<T, WishError>) -> PyResult<T> {
        let (wishes, number_parts) = (&self.wishes()[..], &self.shape().number_parts()[..]);
        let (reverse, method, only_counts) = (self.reverse, self.method(), self.values.is_empty());
        let order = check(&Wanted { wishes, reverse, method, number_parts, only_counts });
        order.map_err(|why| PyValueError::new_err(format!("sort: {why}")))
    }

    /// What parts of keys are of what stands in the input.
    fn shape(&self) -> Query {
        let mut query = Query::new(self.delimiter.unwrap_or(b';'));
        query.by = self.by.iter().cloned().map(|column| By::of(column.into())).collect();
        (query.trim, query.ignore_case) = (self.trim, self.ignore_case);
        query.nulls.extend(self.null_values.iter().cloned());
        query
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

    pub(crate) fn options(&self) -> PyResult<Options> {
        let (default, asked) = (Options::default(), self.asked()?);
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
        let mut query = self.shape();
        query.filter = self.filter()?;
        query.values = self.values.iter().map(value).collect::<PyResult<_>>()?;
        if query.has_only_texts()
            && !self.statistics()?.iter().any(|statistic| statistic.is_of_texts())
        {
            let said = "stats: of texts count, rows, count%, rows%, distinct, mode, first and last are told";
            return Err(PyValueError::new_err(said));
        }
        query.ragged = if self.pad { Ragged::Pad } else { Ragged::Fail };
        query.syntax = self.format_in.as_deref().map_or(Ok(Syntax::Delimited), syntax)?;
        if query.syntax == Syntax::Delimited {
            query.header = self.header.unwrap_or_else(|| query.has_names());
            query.guessed_header.clone_from(&self.guessed_header);
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
        let default = Layout::default();
        let keys = if has_names { summary.keys.clone() } else { default.keys };
        let layout = self.layout(keys)?;
        let order = self.ordered(|wanted| wanted.criteria(&layout, &summary.columns))?;
        let total = self.total.as_deref();
        format::prepare(&mut summary.columns, &layout, (&order, self.top), total);
        Ok(Groups::new(summary, layout, total.is_some()))
    }

    /// Checks the order as far as it can be before texts are read.
    pub(crate) fn check_order(&self, query: Option<&Query>) -> PyResult<()> {
        let layout = self.layout(Layout::default().keys)?;
        let may_have_header = self.header != Some(false);
        self.ordered(|wanted| wanted.check(query, may_have_header, layout))
    }

    /// The same of a table, whose names are those of the result.
    fn check_order_of(&self, frame: &Frame) -> PyResult<()> {
        let columns: Vec<_> = frame.values.iter().map(|(name, _)| (name.clone(), false)).collect();
        let layout = self.layout(frame.keys.clone())?;
        self.ordered(|wanted| wanted.check_columns(&columns, &layout))
    }

    /// Where refused records are kept.
    fn rejects(&self) -> PyResult<Option<(File, bool)>> {
        let create = |path: &PathBuf| File::create(path).map_err(|said| error::system(&said, path));
        Ok(self.rejects.as_ref().map(create).transpose()?.map(|file| (file, false)))
    }
}

/// What is told of records that are none, which are kept in a file if there is one.
fn on_error(skip: bool, rejects: Option<&mut (File, bool)>) -> OnError<'_> {
    let rejects = rejects.map(|(file, is_open)| {
        let sink = Box::new(BufWriter::new(&*file));
        Rejects { sink, is_open }
    });
    if skip { OnError::Skip(rejects) } else { OnError::Fail }
}

/// Aggregates texts, or an Arrow stream where there is one, or two of either side by side; and what was guessed
/// of how they are written.
#[pyfunction]
pub(crate) fn aggregate<'py>(
    py: Python<'py>,
    inputs: Vec<Bound<'py, PyAny>>,
    plan: Plan,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Groups, Bound<'py, PyDict>)> {
    let told = Arc::new(Told::default());
    let mut reading = Reading {
        plan: &plan,
        options: plan.options()?,
        known: Known { query: plan.query()?, rejects: plan.rejects()?, ..Known::default() },
        told: Arc::clone(&told),
    };
    let (mut summaries, mut has_names) = (Vec::new(), false);
    for side in inputs.chunks(if plan.compare { 1 } else { inputs.len().max(1) }) {
        let (found, is_named) = match side {
            [frame] if frame.hasattr("__arrow_c_stream__")? => {
                (reading.frame(frame, &progress, summaries.is_empty())?, true)
            }
            texts => reading.texts(texts, &progress)?,
        };
        has_names |= is_named;
        summaries.push(found);
    }
    let guesses = reading.known.guesses;
    let shown = wait::run(py, &told, progress.as_ref(), move |_, told| {
        let summary = summaries.into_iter().reduce(format::compared);
        let mut summary = summary.ok_or_else(|| PyValueError::new_err("there is no input"))?;
        summary.bytes = told.progress.bytes.load(Ordering::Relaxed);
        plan.shown(summary, has_names)
    });
    Ok((shown??, guesses.told(py)?))
}

/// What one input after the other is read with.
struct Reading<'a> {
    plan: &'a Plan,
    options: Options,
    known: Known,
    told: Arc<Told>,
}

/// What an input leaves for the next.
#[derive(Default)]
struct Known {
    /// With what was guessed of the first text that has something, which holds for the others.
    query: Option<Query>,
    /// Whether there was one.
    is_settled: bool,
    guesses: Guesses,
    /// Their file, and whether its last line is open.
    rejects: Option<(File, bool)>,
}

impl Known {
    /// What is known of some texts together.
    fn read(
        &mut self,
        given: Vec<Given>,
        (options, said, skip): (&Options, &Said, bool),
        (caller, told): (&Caller, &Told),
    ) -> Result<Summary, Error> {
        let open = |given| open(given, options.threads, caller);
        let sources = given.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let texts = sources.into_iter().map(|source| self.guesses.text(source));
        let mut texts = texts.collect::<Result<Vec<_>, Error>>()?;
        let guessed = self.query.as_mut().filter(|_| !self.is_settled);
        self.guesses.settle(&mut texts, guessed, said);
        self.is_settled |= guess::has_text(&mut texts);
        let on_error = on_error(skip, self.rejects.as_mut());
        run(texts, self.query.as_ref(), options, on_error, &told.progress)
    }
}

impl Reading<'_> {
    /// What is known of some texts together, and whether the parts of their keys have names.
    fn texts<'py>(
        &mut self,
        inputs: &[Bound<'py, PyAny>],
        callback: &Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Summary, bool)> {
        let Reading { plan, options, known, told } = self;
        plan.check_order(known.query.as_ref())?;
        let given = inputs.iter().map(Given::of).collect::<PyResult<Vec<_>>>()?;
        let how = (options.clone(), plan.said(), plan.skip);
        let (py, mut own) = (inputs[0].py(), std::mem::take(known));
        let outcome = wait::run(py, told, callback.as_ref(), move |caller, told| {
            let (options, said, skip) = &how;
            let outcome = own.read(given, (options, said, *skip), (caller, told));
            (outcome, own)
        });
        let (outcome, own) = outcome?;
        *known = own;
        let summary = outcome.map_err(|error| match (error, &plan.rejects) {
            (Error::Rejects(said), Some(path)) => error::system(&said, path),
            (error, _) => error::aggregated(py, error),
        })?;
        Ok((summary, known.query.as_ref().is_some_and(Query::has_named_parts)))
    }

    /// What is known of a table.
    fn frame<'py>(
        &self,
        frame: &Bound<'py, PyAny>,
        callback: &Option<Bound<'py, PyAny>>,
        is_first: bool,
    ) -> PyResult<Summary> {
        let py = frame.py();
        let (stream, frame) = frame_of(frame, self.plan)?;
        if is_first {
            self.plan.check_order_of(&frame)?;
        }
        self.told.holds.store(true, Ordering::Relaxed);
        let (source, options) = (Lent(stream, Holds(Arc::clone(&self.told))), self.options.clone());
        let outcome = wait::run(py, &self.told, callback.as_ref(), move |_, told| {
            columnar::aggregate(source, &frame, &options, &told.progress)
        });
        outcome?.map_err(|error| error::aggregated(py, error))
    }
}

/// Another's stream, which is given back before that is told.
struct Lent(arrow::read::Stream, #[expect(dead_code, reason = "dropped behind it")] Holds);

impl columnar::Source for Lent {
    type Batch = arrow::read::Batch;

    fn next(&mut self) -> Result<Option<Self::Batch>, Error> {
        self.0.next()
    }
}

/// Holds what is another's until it is dropped.
struct Holds(Arc<Told>);

impl Drop for Holds {
    fn drop(&mut self) {
        self.0.holds.store(false, Ordering::Release);
    }
}

/// The columns that a condition asks for.
#[pyfunction]
pub(crate) fn columns(condition: &str) -> PyResult<Vec<Column>> {
    let filter = Filter::parse(condition);
    let filter = filter.map_err(|wrong| PyValueError::new_err(format!("where: {wrong}")))?;
    Ok(filter.columns().iter().map(Column::from).collect())
}

/// The column of a part of keys, and the width of its buckets if it was said with one.
#[pyfunction]
pub(crate) fn part(column: Column) -> PyResult<(Column, Option<String>)> {
    let by = By::of(column.into());
    match &by.column {
        // What other digits say is a place by now.
        Selector::Name(name)
            if by.bucket.is_some()
                && !name.is_empty()
                && name.bytes().all(|digit| digit == b'0') =>
        {
            Err(PyValueError::new_err("by: places of columns count from 1, and 0 is none"))
        }
        column => Ok((column.into(), by.bucket.map(|bucket| bucket.to_string()))),
    }
}

/// Whether a value is computed.
#[pyfunction]
pub(crate) fn is_formula(column: Column) -> bool {
    matches!(column, Column::Name(name) if Value::is_formula(&name))
}

/// The words of the statistics that must be known of each key.
#[pyfunction]
pub(crate) fn kept(plan: Plan) -> PyResult<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    for statistic in plan.asked()? {
        let word = statistic.to_string();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    Ok(words)
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
    let shape = plan.shape();
    let by = shape.by.iter().map(|by| by.column.clone());
    let values = plan.values.iter().map(|(column, ..)| column.clone().into());
    let filter = plan.filter()?;
    let filtered = filter.iter().flat_map(|filter| filter.columns().to_vec());
    let columns: Vec<Selector> = by.chain(values).chain(filtered).collect();
    let sizes = [plan.by.len(), plan.values.len()];
    let bucketed: Vec<bool> = shape.by.iter().map(|by| by.bucket.is_some()).collect();
    let path = stream.getattr("path").and_then(|path| path.extract::<PathBuf>()).ok();
    let (stream, mut keys) = arrow::read::open(stream, path.clone(), &columns, sizes, &bucketed)?;
    let path = path.unwrap_or_else(|| "<arrow>".into());
    let mut names = keys.split_off(plan.by.len());
    let filtered = names.split_off(plan.values.len());
    let nulls = plan.values.iter().map(|(_, word, _)| null(word)).collect::<PyResult<Vec<_>>>()?;
    let nan_is_missing = plan.null_values.iter().any(|text| text == b"NaN");
    let mut values: Vec<(String, Null)> = names.into_iter().zip(nulls).collect();
    if values.is_empty() {
        values.push(("records".to_owned(), Null::Skip));
    }
    let frame = Frame {
        path,
        keys,
        values,
        filter: filter.map(|filter| (filter, filtered)),
        shape: shape.shapes_keys().then_some(shape),
        nan_is_missing,
        fail: !plan.skip,
    };
    Ok((stream, frame))
}
