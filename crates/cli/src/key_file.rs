//! Files of keys: read whole, in the format that was named or detected. Errors carry the path.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;
use std::thread;

use anyhow::Context;
use fathom_keys::{Error, Format, KeySet, Keys, detect, read};

use crate::input::{self, Forward, Input, foreign};

/// All bytes of a file, or of standard input for `-`; decompressed.
///
/// # Errors
/// When it cannot be read; names the file.
pub(crate) fn load(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let read = match input::open(path, threads)? {
        Input::File(file, length) => {
            match bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX)) {
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
                format!("{path}:{}: {reason}", place(bytes, offset))
            }
            other => format!("{path}: {other}"),
        })
    };
    let format = match (forced, foreign(bytes)) {
        (Some(format), _) => format.clone(),
        (None, Some((what, hint))) => {
            return Err(BadKeys(format!("{}: this is {what}, not keys: {hint}", path.display())));
        }
        (None, None) => detect(bytes).map_err(|error| bad(error, None))?,
    };
    let keys = read(bytes, &format).map_err(|error| bad(error, Some(&format)))?;
    Ok((format, keys))
}

/// Key `number`, from 1, of `keys`, which were read from `bytes`, is none of what they are to be: with its place
/// where they lie in a text.
pub(crate) fn refused(
    path: &Path,
    bytes: &[u8],
    format: &Format,
    keys: &KeySet<'_>,
    number: u64,
    what: &str,
) -> BadKeys {
    let path = path.display();
    let place = match (&keys.bytes, &keys.keys) {
        (Cow::Borrowed(text), Keys::Bytes(spans)) if format.is_text() => {
            // A byte order mark is in front of what was read.
            let marked = (bytes.len() - text.len()) as u64;
            Some(place(bytes, marked + spans[number as usize - 1].start))
        }
        _ => None,
    };
    BadKeys(match place {
        Some(place) => format!("{path}:{place}: key {number}: {what}"),
        None => format!("{path}: key {number}: {what}"),
    })
}

/// Line and column, from 1, of what follows so many bytes.
fn place(bytes: &[u8], offset: u64) -> String {
    let before = &bytes[..bytes.len().min(offset as usize)];
    let is_end = |byte: &u8| *byte == b'\n';
    let line = 1 + before.iter().filter(|byte| is_end(byte)).count();
    let start = before.iter().rposition(is_end).map_or(0, |end| end + 1);
    format!("{line}:{}", before.len() - start + 1)
}

/// A file whose keys cannot be had: what is said of it, with its path and the place.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BadKeys(pub(crate) String);
