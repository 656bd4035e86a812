//! What Python hands over as input: paths, bytes, and objects with a method `read`.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use fathom_input::Input;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::error;

/// An input, opened; decompressed by so many threads if it is compressed.
pub(crate) fn open(data: &Bound<'_, PyAny>, threads: usize) -> PyResult<(PathBuf, Input)> {
    if let Ok(bytes) = data.extract::<PyBackedBytes>() {
        return stream("<bytes>", Cursor::new(bytes), threads);
    }
    if data.hasattr("read")? {
        let name = data.getattr("name").and_then(|name| name.extract::<String>());
        return stream(
            name.as_deref().unwrap_or("<stream>"),
            Reader(data.clone().unbind()),
            threads,
        );
    }
    let path: PathBuf = data.extract()?;
    let input = fathom_input::open(&path, threads).map_err(|said| error::system(&said, &path))?;
    Ok((path, input))
}

fn stream(
    name: &str,
    reader: impl Read + Send + 'static,
    threads: usize,
) -> PyResult<(PathBuf, Input)> {
    let input = fathom_input::stream(Box::new(reader), threads);
    let input = input.map_err(|said| error::system(&said, Path::new(name)))?;
    Ok((name.into(), input))
}

/// Python's lock is taken for each read, and for nothing else.
struct Reader(Py<PyAny>);

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.call_method1(py, "read", (room.len(),))?;
            let bytes: PyBackedBytes = read.extract(py).map_err(|_| {
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "read() must return bytes: open it as binary",
                )
            })?;
            let into = room.get_mut(..bytes.len()).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "read() returned more than it was asked for",
                )
            })?;
            into.copy_from_slice(&bytes);
            Ok(bytes.len())
        })
    }
}
