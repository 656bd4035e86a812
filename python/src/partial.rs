//! States in Python's hands: bytes of what is known of some ranges, merged, and shown in the end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_aggregate::delimited::record_starts;
use fathom_aggregate::format;
use fathom_aggregate::guess;
use fathom_aggregate::state::{self, Merger, Object, Piece, Question, State, StateError};
use fathom_aggregate::{Error, OnError, Source};
use fathom_input::{Input, Lines};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::aggregate::{Plan, run, word_of};
use crate::error;
use crate::groups::Groups;
use crate::guesses::{Guesses, text_of};
use crate::wait::{self, Told};

/// Bytes of a file: which of how many, what it was when it was planned, and from where to where.
#[derive(FromPyObject)]
pub(crate) struct Task {
    path: PathBuf,
    number: u64,
    of: u64,
    size: u64,
    identity: String,
    start: u64,
    end: u64,
}

/// Size, identity, and whether it can be cut, of a file.
#[pyfunction]
pub(crate) fn object(path: PathBuf) -> PyResult<(u64, String, bool)> {
    let said = |said| error::system(&said, &path);
    let (size, identity) = fathom_input::identity(&path).map_err(said)?;
    let can_be_cut = match fathom_input::open(&path, 1).map_err(said)? {
        // What is decoded is text only as a whole.
        Input::File(file, size) => {
            let mut first = vec![0; size.min(MARK_BYTES) as usize];
            file.read_exact_at(&mut first, 0).map_err(said)?;
            fathom_input::utf_16(&first).is_none()
        }
        Input::Stream(_) => size == 0,
    };
    Ok((size, identity, can_be_cut))
}

/// Bytes that tell an encoding.
const MARK_BYTES: u64 = 4;

/// What the plan does not say of how these texts are written: by the names of its fields, and as what was guessed.
#[pyfunction]
pub(crate) fn settle<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    plan: Plan,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let (settled, mut query) = (PyDict::new(py), plan.query()?);
    plan.check_order(query.as_ref())?;
    let mut guesses = Guesses::default();
    let said = plan.said();
    // One after the other: there may be more than can be open.
    let outcome = py.detach(|| -> Result<(), Failure> {
        let mut is_settled = false;
        for path in paths {
            // Of each, because the first that is not UTF-8 is told.
            let mut texts = [guesses.text(whole(path, 1)?).map_err(Failure::Engine)?];
            if !is_settled && guess::has_text(&mut texts) {
                guesses.settle(&mut texts, query.as_mut(), &said);
                is_settled = true;
            }
        }
        Ok(())
    });
    outcome.map_err(|failure| failed(py, failure))?;
    if let Some(query) = query {
        settled.set_item("format_in", word_of(query.syntax))?;
        settled.set_item("delimiter", query.delimiter)?;
        settled.set_item("header", query.header)?;
        settled.set_item("guessed_header", query.guessed_header)?;
        settled.set_item("quotes", query.quotes)?;
        settled.set_item("decimal_comma", query.decimal_comma)?;
    }
    Ok((settled, guesses.told(py)?))
}

fn whole(path: PathBuf, threads: usize) -> Result<Source, Failure> {
    let input = fathom_input::open(&path, threads);
    let input = input.map_err(|said| Failure::System(said, path.clone()))?;
    Ok(match input {
        Input::File(file, size) => Source::File { path, file, size },
        Input::Stream(reader) => Source::Stream { path, reader },
    })
}

/// Tasks of about so many bytes: lists of object, start and end.
#[pyfunction]
pub(crate) fn plan(objects: Vec<(u64, bool)>, task_bytes: u64) -> Vec<Vec<(usize, u64, u64)>> {
    let piece = |piece: Piece| (piece.object, piece.range[0], piece.range[1]);
    let tasks = state::plan(&objects, task_bytes).into_iter();
    tasks.map(|task| task.into_iter().map(piece).collect()).collect()
}

/// Where a file can be cut whatever its quotes enclose, about every so many bytes.
#[pyfunction]
pub(crate) fn cuts(py: Python<'_>, path: PathBuf, delimiter: u8, every: u64) -> PyResult<Vec<u64>> {
    let input = fathom_input::open(&path, 1).map_err(|said| error::system(&said, &path))?;
    let Input::File(file, size) = input else { return Ok(Vec::new()) };
    let starts = py.detach(|| record_starts(&path, (file, size), delimiter, every.max(1)));
    starts.map_err(|error| error::aggregated(py, error))
}

/// What ends the reading of a task.
enum Failure {
    Engine(Error),
    State(StateError),
    System(io::Error, PathBuf),
}

/// The state of some ranges.
#[pyfunction]
pub(crate) fn partial<'py>(
    py: Python<'py>,
    tasks: Vec<Task>,
    plan: Plan,
) -> PyResult<Bound<'py, PyBytes>> {
    let (options, query) = (plan.options()?, plan.query()?);
    let question = Question::new(query.as_ref(), &plan.statistics()?, &options);
    let skips = plan.skips();
    let read = move |task: Task, told: &Told| -> Result<State, Failure> {
        let before = told.progress.bytes.load(Ordering::Relaxed);
        let source = opened(&task, options.threads)?;
        let on_error = if skips { OnError::Skip(None) } else { OnError::Fail };
        let mut summary = run(vec![source], query.as_ref(), &options, on_error, &told.progress)
            .map_err(|error| Failure::Engine(located(error, &task)))?;
        summary.bytes -= before;
        unchanged(&task)?;
        let Task { path, number, of, size, identity, start, end } = task;
        let name = fathom_input::told_apart(&path);
        let object = Object { name, number, of: Some(of), identity, size, ranges: Vec::new() };
        Ok(State::new(summary, question.clone(), object, [start, end]))
    };
    let bytes = wait::run(py, &Arc::new(Told::default()), None, move |_, told| {
        let mut merger = Merger::default();
        for task in tasks {
            merger.push(read(task, told)?).map_err(Failure::State)?;
        }
        merger.finish().map(|state| state.to_bytes()).map_err(Failure::State)
    })?;
    match bytes {
        Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
        Err(failure) => Err(failed(py, failure)),
    }
}

/// The same error with the line in the whole file.
fn located(mut error: Error, task: &Task) -> Error {
    if let Error::Record(reject) = &mut error
        && task.start > 0
    {
        let at = &mut reject.position;
        let place = Lines::of_file(&at.path, at.byte).ok().and_then(|lines| lines.place(at.byte));
        at.line = place.map_or(at.line, |(line, _)| line);
    }
    error
}

fn failed(py: Python<'_>, failure: Failure) -> PyErr {
    match failure {
        Failure::Engine(error) => error::aggregated(py, error),
        Failure::State(why) => no_state(py, &why),
        Failure::System(said, path) => error::system(&said, &path),
    }
}

/// The bytes of a task, which are those that were planned.
fn opened(task: &Task, threads: usize) -> Result<Source, Failure> {
    unchanged(task)?;
    let source = match whole(task.path.clone(), threads)? {
        Source::File { path, file, size } if task.end <= size => {
            Source::Part { path, file, size, range: task.start..task.end }
        }
        other => other,
    };
    let (text, _) = text_of(source).map_err(Failure::Engine)?;
    match text {
        // It would be read whole.
        Source::Stream { path, .. } if [task.start, task.end] != [0, task.size] => {
            let said =
                "a part of what is compressed or UTF-16 cannot be read: plan the file as one task";
            Err(Failure::System(io::Error::other(said), path))
        }
        text => Ok(text),
    }
}

fn unchanged(task: &Task) -> Result<(), Failure> {
    let failed = |said| Failure::System(said, task.path.clone());
    let (size, identity) = fathom_input::identity(&task.path).map_err(failed)?;
    if (size, &identity) != (task.size, &task.identity) {
        let name = fathom_input::told_apart(&task.path);
        let [one, other] = [&task.identity, &identity].map(Clone::clone);
        return Err(Failure::State(StateError::Changed { name, one, other }));
    }
    Ok(())
}

/// States do not go together because the input changed or was cut wrongly, which is the data's fault, or
/// are none.
fn no_state(py: Python<'_>, why: &StateError) -> PyErr {
    let message = why.to_string();
    match why {
        StateError::Changed { name, .. } | StateError::Seam { name, .. } => {
            error::data(py, error::Data { message, path: Some(name.into()), ..Default::default() })
        }
        StateError::Gap { .. } | StateError::Missing { .. } => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// Several states as one.
fn merged(states: &[PyBackedBytes]) -> Result<State, StateError> {
    let mut merger = Merger::default();
    for bytes in states {
        State::all(bytes)?.into_iter().try_for_each(|state| merger.push(state))?;
    }
    merger.finish()
}

/// Several states as one.
#[pyfunction]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    states: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = py.detach(|| merged(&states).map(|state| state.to_bytes()));
    Ok(PyBytes::new(py, &bytes.map_err(|why| no_state(py, &why))?))
}

/// How many keys a state has.
#[pyfunction]
pub(crate) fn keys(py: Python<'_>, state: PyBackedBytes) -> PyResult<usize> {
    py.detach(|| State::count_keys(&state)).map_err(|why| no_state(py, &why))
}

/// A state as so many, each with the keys of a partition.
#[pyfunction]
pub(crate) fn split<'py>(
    py: Python<'py>,
    state: PyBackedBytes,
    of: u32,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    if !(1..=state::MOST_PARTITIONS).contains(&of) {
        return Err(PyValueError::new_err(format!("{of} partitions")));
    }
    let parts = py.detach(|| {
        let parts = merged(&[state])?.split(of)?;
        Ok(parts.iter().map(State::to_bytes).collect::<Vec<_>>())
    });
    let parts = parts.map_err(|why| no_state(py, &why))?;
    Ok(parts.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}

/// The result of states that have all of an input, or of those of two side by side.
#[pyfunction]
pub(crate) fn finish(
    py: Python<'_>,
    sides: Vec<Vec<PyBackedBytes>>,
    plan: Plan,
) -> PyResult<Groups> {
    let whole = |states: Vec<PyBackedBytes>| {
        let state = merged(&states)?;
        state.check_whole().map(|()| state)
    };
    let found = py.detach(|| {
        let sides = sides.into_iter().map(whole).collect::<Result<Vec<_>, _>>()?;
        sides.windows(2).try_for_each(|pair| pair[0].check_same_question(&pair[1]))?;
        Ok(sides)
    });
    let found = found.map_err(|why: StateError| no_state(py, &why))?;
    let has_names = found.iter().any(|state| state.question().has_names);
    let summary = found.into_iter().map(State::into_summary).reduce(format::compared);
    let shown = py.detach(|| summary.map(|summary| plan.shown(summary, has_names)));
    shown.ok_or_else(|| no_state(py, &StateError::None))?
}
