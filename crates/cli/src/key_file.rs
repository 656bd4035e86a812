//! Files of keys: read whole, in the format that was named or detected. Errors carry the path.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::thread;

use anyhow::Context;
use fathom_keys::{Error, Format, KeySet, detect, read};

use crate::input::{self, Forward, Input};

/// All bytes of a file, or of standard input for `-`; decompressed.
///
/// # Errors
/// When it cannot be read; names the file.
pub(crate) fn load(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let read = match input::open(path, threads)? {
        Input::File(file, length) => {
            // A hint: the file may grow or shrink while it is read.
            let hint = usize::try_from(length).unwrap_or(usize::MAX);
            match bytes.try_reserve_exact(hint) {
                Ok(()) => Forward::new(file).read_to_end(&mut bytes),
                Err(_) => Err(io::Error::new(
                    io::ErrorKind::OutOfMemory,
                    format!("its {length} bytes do not fit in memory"),
                )),
            }
        }
        Input::Stream(mut stream) => stream.read_to_end(&mut bytes),
    };
    read.with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes)
}

/// The keys of `bytes`, which came from `path`, and their format.
///
/// # Errors
/// [`BadKeys`].
pub(crate) fn keys<'b>(
    path: &Path,
    bytes: &'b [u8],
    forced: Option<&Format>,
) -> Result<(Format, KeySet<'b>), BadKeys> {
    let bad = |error, format: Option<&Format>| {
        let path = path.display();
        BadKeys(match error {
            Error::Bad { offset, reason } if format.is_some_and(Format::is_text) => {
                let before = &bytes[..bytes.len().min(offset as usize)];
                let is_end = |byte: &u8| *byte == b'\n';
                let line = 1 + before.iter().filter(|byte| is_end(byte)).count();
                let start = before.iter().rposition(is_end).map_or(0, |end| end + 1);
                format!("{path}:{line}:{}: {reason}", before.len() - start + 1)
            }
            other => format!("{path}: {other}"),
        })
    };
    let format = match forced {
        Some(format) => format.clone(),
        None => detect(bytes).map_err(|error| bad(error, None))?,
    };
    let keys = read(bytes, &format).map_err(|error| bad(error, Some(&format)))?;
    Ok((format, keys))
}

/// A file whose keys cannot be had: what is said of it, with its path and the place.
#[derive(Debug)]
pub(crate) struct BadKeys(pub(crate) String);

impl fmt::Display for BadKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for BadKeys {}
