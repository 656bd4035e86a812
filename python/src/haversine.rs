//! `haversine`: the mean distance of the pairs in a JSON document.

use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fathom_haversine::{
    EARTH_RADIUS_KM, Error, MOST_RADIUS, OnError, Options, Outcome, Source, read,
};
use fathom_input::{Forward, Input, Lines};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{self, Data};
use crate::source::Given;
use crate::wait::{self, Told};

/// Mean in order (if distances are kept), exact mean, pairs, skipped elements, bytes.
type Means = (Option<f64>, f64, u64, u64, u64);

#[pyfunction]
#[pyo3(signature = (data, *, radius=None, threads=None, skip=false, exact_only=false))]
pub(crate) fn haversine(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    radius: Option<f64>,
    threads: Option<NonZeroUsize>,
    skip: bool,
    exact_only: bool,
) -> PyResult<Means> {
    let radius = radius.unwrap_or(EARTH_RADIUS_KM);
    if !(0.0..=MOST_RADIUS).contains(&radius) {
        return Err(PyValueError::new_err(format!("radius is a length from 0 to {MOST_RADIUS:e}")));
    }
    let most = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let options = Options {
        threads: threads.unwrap_or(most),
        radius,
        on_error: if skip { OnError::Skip } else { OnError::Stop },
        keep_distances: !exact_only,
        ..Options::default()
    };
    let given = Given::of(data)?;
    let path = given.name().to_owned();
    let told = Arc::new(Told::default());
    let stops = {
        let told = Arc::clone(&told);
        move |reader| Box::new(Stops { reader, told })
    };
    let (done, lines) = wait::run(py, &told, None, move |caller, _| {
        let (lines, mut is_file) = (Lines::default(), false);
        let source: io::Result<Box<dyn Read + Send>> =
            given.open(options.threads.get(), caller).map(|input| match input {
                Input::File(file, _) => {
                    is_file = true;
                    stops(Box::new(Forward::new(file)) as Box<dyn Read + Send>) as _
                }
                Input::Stream(stream) => lines.watch(stops(stream)),
            });
        let done = source.map_err(Error::Io).and_then(|source| {
            let outcome = read(Source::Stream(source), &options)?;
            Ok((outcome.mean_in_order(), outcome))
        });
        (done, (!is_file).then_some(lines))
    })?;
    let (mean, Outcome { mean_exact, pairs, skipped, bytes, .. }) =
        done.map_err(|error| located(py, &error, &path, lines))?;
    Ok((mean, mean_exact, pairs, skipped, bytes))
}

/// Ends its stream with an error when told to.
struct Stops {
    reader: Box<dyn Read + Send>,
    told: Arc<Told>,
}

impl Read for Stops {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.told.progress.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.reader.read(room)
    }
}

/// The error with its place; `lines` are those of a stream.
fn located(py: Python<'_>, fault: &Error, path: &Path, lines: Option<Lines>) -> PyErr {
    if let Error::Io(said) = fault {
        return error::system(said, path);
    }
    let place = fault.offset().and_then(|offset| {
        let lines = lines.or_else(|| Lines::of_file(path, offset).ok())?;
        lines.place(offset)
    });
    let shown = path.display();
    let message = match place {
        Some((line, column)) => format!("{shown}:{line}:{column}: {fault}"),
        None => format!("{shown}: {fault}"),
    };
    let (line, column) = place.unzip();
    error::data(py, Data { message, path: Some(path.into()), line, column, ..Data::default() })
}
