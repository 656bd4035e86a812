//! `aggregate`: from Python's arguments to a run of the engine, over text or over Arrow arrays.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use fathom_aggregate::columnar::{self, Frame};
use fathom_aggregate::delimited::{self, Kind, Null, Query, Ragged, Selector, Value};
use fathom_aggregate::format::{Criterion, Sort, Statistic, arrange};
use fathom_aggregate::{
    Approx, Error, Filter, Layout, Method, OnError, Options, Progress, Source, Summary,
};
use fathom_input::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrow;
use crate::error;
use crate::groups::Groups;
use crate::source;
use crate::wait;

/// How the text is cut, which the package spells out before it calls.
#[derive(FromPyObject)]
pub(crate) struct Plan {
    /// None for `key;value` lines.
    delimiter: Option<u8>,
    /// By default if a column is asked for by its name.
    header: Option<bool>,
    quotes: bool,
    decimal_comma: bool,
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
#[derive(Clone, FromPyObject)]
pub(crate) enum Column {
    Place(usize),
    Name(String),
}

impl From<Column> for Selector {
    fn from(column: Column) -> Selector {
        match column {
            Column::Place(place) => Selector::Place(place),
            Column::Name(name) => Selector::Name(name),
        }
    }
}

fn null(word: &str) -> PyResult<Null> {
    match word {
        "skip" => Ok(Null::Skip),
        "zero" => Ok(Null::Zero),
        "fail" => Ok(Null::Fail),
        _ => Err(PyValueError::new_err(format!("null: {word:?} is none of skip, zero, fail"))),
    }
}

fn statistic(word: &str) -> PyResult<Statistic> {
    // Shares are the command's: a result here does not know the totals of all keys.
    let is_told = |statistic: &Statistic| !statistic.is_share();
    Statistic::named(word).filter(is_told).ok_or_else(|| {
        let words = Statistic::WORDS.iter().map(|(word, _)| *word);
        let known: Vec<&str> = words.filter(|word| !word.ends_with('%')).collect();
        PyValueError::new_err(format!("stats: {word:?} is none of {}", known.join(", ")))
    })
}

impl Plan {
    fn statistic(&self, word: &str) -> PyResult<Statistic> {
        let method = if self.nearest { Method::Nearest } else { Method::Linear };
        Ok(statistic(word)?.by(method))
    }

    pub(crate) fn statistics(&self) -> PyResult<Vec<Statistic>> {
        self.stats.iter().map(|word| self.statistic(word)).collect()
    }

    /// The statistic that is sorted by; None for the key.
    pub(crate) fn sort(&self) -> PyResult<Option<Statistic>> {
        if self.sort == "key" {
            return Ok(None);
        }
        let statistic = self.statistic(&self.sort)?;
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
        let Some(delimiter) = self.delimiter else { return Ok(None) };
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
        let mut query = Query::new(delimiter);
        let filter = self.filter.as_deref().map(Filter::parse).transpose();
        query.filter = filter.map_err(|wrong| PyValueError::new_err(format!("where: {wrong}")))?;
        query.by = self.by.iter().cloned().map(|column| Selector::from(column).into()).collect();
        query.values = self.values.iter().map(value).collect::<PyResult<_>>()?;
        query.ragged = if self.pad { Ragged::Pad } else { Ragged::Fail };
        query.nulls.extend(self.null_values.iter().cloned());
        query.header = self.header.unwrap_or_else(|| query.has_names());
        (query.quotes, query.decimal_comma) = (self.quotes, self.decimal_comma);
        Ok(Some(query))
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

/// Aggregates texts, opened by [`source::open`], or an Arrow stream where there is one.
#[pyfunction]
pub(crate) fn aggregate(
    py: Python<'_>,
    inputs: Vec<Bound<'_, PyAny>>,
    plan: Plan,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Groups> {
    let options = plan.options(&plan.statistics()?, plan.sort()?)?;
    let (told, callback) = (Progress::default(), progress.as_ref());
    let flags = (&told.bytes, &told.stop);
    let query = plan.query()?;
    let is_frame = match &*inputs {
        [frame] => frame.hasattr("__arrow_c_stream__")?,
        _ => false,
    };
    let outcome = match &*inputs {
        [frame] if is_frame => {
            let (source, frame) = frame_of(frame, &plan)?;
            wait::run(py, flags, callback, || columnar::aggregate(source, &frame, &options, &told))
        }
        _ => {
            let sources = inputs.iter().map(open).collect::<PyResult<Vec<Source>>>()?;
            let on_error = plan.on_error()?;
            let query = query.as_ref();
            wait::run(py, flags, callback, || run(sources, query, &options, on_error, &told))
        }
    };
    let mut summary: Summary = outcome?.map_err(|error| error::aggregated(py, error))?;
    summary.bytes = told.bytes.load(Ordering::Relaxed);
    let has_names = is_frame || query.is_some_and(|query| query.header) || plan.by.len() > 1;
    plan.shown(summary, has_names)
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

fn open(input: &Bound<'_, PyAny>) -> PyResult<Source> {
    let (path, input) = source::open(input)?;
    Ok(match input {
        Input::File(file, size) => Source::File { path, file, size },
        Input::Stream(reader) => Source::Stream { path, reader },
    })
}

/// The stream's columns by the plan's names or places.
fn frame_of(stream: &Bound<'_, PyAny>, plan: &Plan) -> PyResult<(arrow::read::Stream, Frame)> {
    let by = plan.by.iter().cloned();
    let values = plan.values.iter().map(|(column, ..)| column.clone());
    let columns: Vec<Selector> = by.chain(values).map(Selector::from).collect();
    let (stream, mut keys) = arrow::read::open(stream, &columns, plan.by.len())?;
    let names = keys.split_off(plan.by.len());
    let nulls = plan.values.iter().map(|(_, word, _)| null(word)).collect::<PyResult<Vec<_>>>()?;
    let nan_is_missing = plan.null_values.iter().any(|text| text == b"NaN");
    let frame = Frame {
        path: "<arrow>".into(),
        keys,
        values: names.into_iter().zip(nulls).collect(),
        nan_is_missing,
        fail: !plan.skip,
    };
    Ok((stream, frame))
}
