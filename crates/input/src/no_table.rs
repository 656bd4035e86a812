//! Parquet and Arrow files in a build without the feature `tables`: there are none.

use std::convert::Infallible;
use std::io::{self, Read};

use fathom_machine::os::read_at::ReadAt;

use crate::Input;

/// A file that is a table, of which there is none.
pub struct Table(Infallible);

/// No reader has a table.
///
/// # Errors
/// None.
pub fn kept(reader: Box<dyn Read + Send>) -> io::Result<Input> {
    Ok(Input::Stream(reader))
}

/// No file is a table.
///
/// # Errors
/// None.
pub fn of(bytes: Box<dyn ReadAt>, _: u64) -> io::Result<Result<Table, Box<dyn ReadAt>>> {
    Ok(Err(bytes))
}

impl Table {
    /// Never called.
    pub fn width(&self) -> usize {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn choose(self, _: Option<&[&str]>, _: fn(&str, &[&str]) -> String) -> io::Result<Columns> {
        match self.0 {}
    }
}

/// Columns of a table, of which there is none.
pub struct Columns(Infallible);

impl Columns {
    /// Never called.
    pub fn text(&self, _: usize) -> Box<dyn Read + Send> {
        match self.0 {}
    }
}
