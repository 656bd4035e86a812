//! Errors of the libraries as Python's.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fathom_aggregate as aggregate;
use pyo3::exceptions::{
    PyIsADirectoryError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What a `fathom.DataError` knows.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) message: String,
    pub(crate) path: Option<OsString>,
    pub(crate) line: Option<u64>,
    pub(crate) column: Option<u64>,
    pub(crate) field: Option<String>,
    pub(crate) text: Option<Vec<u8>>,
}

/// A `fathom.DataError`.
pub(crate) fn data(py: Python<'_>, data: Data) -> PyErr {
    let Data { message, path, line, column, field, text } = data;
    let text = text.map(|text| PyBytes::new(py, &text));
    let error = py
        .import("fathom._error")
        .and_then(|module| module.getattr("DataError"))
        .and_then(|class| class.call1((message, path, line, column, field, text)));
    error.map_or_else(|error| error, PyErr::from_value)
}

/// What the system said of a file: the subclass of `OSError` for it.
pub(crate) fn system(error: &io::Error, path: &Path) -> PyErr {
    let name = path.as_os_str().to_owned();
    if path.as_os_str().as_bytes().contains(&0) {
        return PyValueError::new_err("embedded null byte");
    }
    if error.kind() == io::ErrorKind::IsADirectory {
        return PyIsADirectoryError::new_err((21, "Is a directory", name));
    }
    match error.raw_os_error() {
        Some(number) => {
            let said = error.to_string();
            let said = said.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, said, name))
        }
        None => PyOSError::new_err(format!("{}: {error}", path.display())),
    }
}

/// What ended an aggregation.
pub(crate) fn aggregated(py: Python<'_>, error: aggregate::Error) -> PyErr {
    use aggregate::Error;
    let mut message = error.to_string();
    let of = |path: &Path| Some(path.into());
    match error {
        Error::Record(reject) => {
            if let Some(read) = reject.pointed_thousands() {
                message += &format!(
                    " (decimal_comma=True reads it as {read}; separators of thousands are not read)"
                );
            } else if reject.has_decimal_comma() {
                message += " (decimal_comma=True reads numbers with a comma, such as 1,5)";
            }
            let aggregate::Position { path, line, column, .. } = reject.position;
            let (field, text) = match reject.field {
                Some(field) => (Some(field.name), field.text),
                None => (None, reject.text),
            };
            let (line, column, text) = (Some(line), Some(column), Some(text));
            data(py, Data { message, path: of(&path), line, column, field, text })
        }
        Error::RecordTooLong { position, .. } => {
            data(py, Data { message, path: of(&position.path), ..Data::default() })
        }
        Error::Foreign { path, what, hint } => {
            // What is a table was not known as one where it cannot be read twice.
            let is_table = hint == fathom_input::TABLE;
            let hint =
                if is_table { "fathom.aggregate reads it by its path or as bytes" } else { hint };
            let message = format!("{}: this is {what}, not text: {hint}", path.display());
            data(py, Data { message, path: of(&path), ..Data::default() })
        }
        Error::BadHeader { position: aggregate::Position { path, line, column, .. }, .. } => {
            let (line, column) = (Some(line), Some(column));
            data(py, Data { message, path: of(&path), line, column, ..Data::default() })
        }
        Error::NoSuchColumn { path, .. }
        | Error::AmbiguousColumn { path, .. }
        | Error::OtherHeader { path, .. } => {
            data(py, Data { message, path: of(&path), ..Data::default() })
        }
        Error::NoHeader { .. } | Error::NumberedMember(_) | Error::NoSuchLogColumn { .. } => {
            PyValueError::new_err(message)
        }
        Error::MemoryLimit { .. } | Error::TooManyKeys { .. } | Error::NoMemory(_) => {
            PyMemoryError::new_err(message)
        }
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        // What this module refuses stays what it is.
        Error::Read { path, source, .. } => {
            source.downcast::<PyErr>().unwrap_or_else(|said| system(&said, &path))
        }
        _ => PyOSError::new_err(message),
    }
}
