//! What stands for objects of a store in a build without the feature `remote`: an error that names it.

use std::io;
use std::path::Path;

use fathom_machine::os::read_at::ReadAt;

fn absent<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, crate::WITHOUT_REMOTE))
}

pub(crate) fn open(_: &Path) -> io::Result<(Box<dyn ReadAt>, u64)> {
    absent()
}

pub(crate) fn identity(_: &Path) -> io::Result<(u64, String)> {
    absent()
}

/// That there are none.
pub fn mistake() -> Option<String> {
    Some(crate::WITHOUT_REMOTE.to_owned())
}

/// No address is known.
///
/// # Errors
/// Always.
pub fn canonical(_: &Path) -> io::Result<String> {
    absent()
}

/// Nothing is prepared.
///
/// # Errors
/// None: opening says what is wrong.
pub fn prepare<P: AsRef<Path>>(_: &[P]) -> Result<(), (usize, io::Error)> {
    Ok(())
}

/// No folder can be read.
///
/// # Errors
/// Always.
pub fn folder(_: &Path) -> io::Result<Vec<String>> {
    absent()
}
