//! What Python hands over as input: paths, bytes, and objects with a method `read`.

use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_input::Input;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::wait::Caller;

/// An input that is not opened yet.
pub(crate) struct Given {
    name: PathBuf,
    kind: Kind,
}

enum Kind {
    Bytes(PyBackedBytes),
    Object(Arc<Py<PyAny>>),
    Path,
}

impl Given {
    /// What an object is.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> PyResult<Given> {
        if let Ok(bytes) = data.extract() {
            return Ok(Given { name: "<bytes>".into(), kind: Kind::Bytes(bytes) });
        }
        // Some paths can read their files, and take another argument for it; open files may have a path, too.
        let is_path = data.hasattr("__fspath__")? && !data.hasattr("readable")?;
        if data.hasattr("read")? && !is_path {
            let name = data.getattr("name").and_then(|name| name.extract::<String>());
            let name = name.map_or("<stream>".into(), PathBuf::from);
            return Ok(Given { name, kind: Kind::Object(Arc::new(data.clone().unbind())) });
        }
        Ok(Given { name: data.extract()?, kind: Kind::Path })
    }

    /// As messages call it.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Opened, without Python's lock; decompressed by so many threads if it is compressed.
    pub(crate) fn open(self, threads: usize, caller: &Caller) -> io::Result<Input> {
        match self.kind {
            Kind::Bytes(bytes) => fathom_input::stream(Box::new(Cursor::new(bytes)), threads),
            Kind::Object(object) => {
                let reader = Reader { object, caller: caller.clone() };
                fathom_input::stream(Box::new(reader), threads)
            }
            Kind::Path => fathom_input::open(&self.name, threads),
        }
    }
}

/// An object that is read by the thread that called.
struct Reader {
    object: Arc<Py<PyAny>>,
    caller: Caller,
}

impl Read for Reader {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let bytes = self.caller.read(&self.object, room.len())?;
        let into = room.get_mut(..bytes.len()).ok_or_else(|| {
            let said = "read() returned more than it was asked for";
            io::Error::new(io::ErrorKind::InvalidData, said)
        })?;
        into.copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}
