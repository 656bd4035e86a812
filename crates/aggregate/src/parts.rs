//! Parts of the engine, for whoever brings rows into memory in other ways than it does, or measures
//! them apart: rows in a [`Window`], and a thread's [`Table`] that takes them.
//!
//! ```
//! use fathom_aggregate::merge;
//! use fathom_aggregate::parts::{SLACK, Table, Window};
//! use fathom_machine::level::Level;
//!
//! let buffer = [&[0; SLACK][..], b"Oslo;-1.5\nOslo;3.0\n", &[0; SLACK]].concat();
//! let mut table = Table::new(Level::best(), false);
//! table.take(&Window::new(&buffer, SLACK, buffer.len() - SLACK)).unwrap();
//! let groups = merge(vec![table.partials()]);
//! assert_eq!(groups[0].stats.sum().to_string(), "1.5");
//! ```

use fathom_machine::level::Level;

use crate::account::Account;
pub use crate::chunk::{SLACK, Window};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::merge::{Keep, Partial};
use crate::queue::Place;
use crate::shard::Shard;

/// What one thread knows of `key;value` rows. Where memory is refused, making it and [`Table::partials`] unwind to
/// [`NoMemory::caught`](fathom_machine::os::memory::NoMemory::caught).
#[derive(Debug)]
pub struct Table(Shard);

/// Why a window was not taken whole.
#[derive(Debug)]
pub enum Refused {
    /// The row that starts at this byte of the window's buffer is no record.
    Row(usize),
    /// The table cannot go on.
    Error(Error),
}

impl Table {
    /// An empty table whose loops run at an instruction level, which must be available. With
    /// `trust_hash` two keys of 16 bytes and more are the same when their 64-bit hashes are, which
    /// on other data than today's silently merges keys.
    pub fn new(level: Level, trust_hash: bool) -> Table {
        Table(Shard::new(Kernel { level }, Keep::default(), trust_hash, &Account::new(None)))
    }

    /// Takes every row of the window.
    ///
    /// # Errors
    /// The first row that is no record, and what the table cannot hold; once memory was refused it is not to be used.
    pub fn take(&mut self, window: &Window<'_>) -> Result<(), Refused> {
        Error::caught(|| self.0.take(window, Place::FIRST)).map_err(Refused::Error)?;
        self.0.refused.first().map_or(Ok(()), |row| Err(Refused::Row(row.start)))
    }

    /// What it knows, in no order.
    pub fn partials(self) -> Vec<Partial> {
        self.0.into_run().partials()
    }
}
