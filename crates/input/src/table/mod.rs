//! Tables in Parquet and Arrow files, as text: the columns that are wanted, as CSV with a header.
//!
//! So everything that is asked of delimited text is asked of them as well. A number has all its digits, a
//! floating-point number its shortest ones, a time is RFC 3339, and a missing value an empty field. Parts of
//! a table (row groups, batches) become text on threads of their own, a few ahead of whoever reads.

mod arrow;
mod cells;
mod file;
mod text;
mod whole;

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use arrow_schema::Schema;
use fathom_machine::os::read_at::ReadAt;

use self::file::File;
use self::whole::Whole;

/// A file that is a table.
pub struct Table {
    file: File,
    schema: Arc<Schema>,
}

/// The table in an open file of so many bytes that is a Parquet or Arrow file; any other file comes back.
///
/// # Errors
/// When it cannot be read, or is damaged.
pub fn of(bytes: Box<dyn ReadAt>, size: u64) -> io::Result<Result<Table, Box<dyn ReadAt>>> {
    let mut first = [0; MAGIC_BYTES as usize];
    let first = &mut first[..MAGIC_BYTES.min(size) as usize];
    // What cannot be read is said by whoever reads it as text.
    let is_read = bytes.read_exact_at(first, 0).is_ok();
    let Some(open) = File::opener(first).filter(|_| is_read) else { return Ok(Err(bytes)) };
    let (file, schema) = guarded(|| open(Whole::new(bytes, size)))?;
    Ok(Ok(Table { file, schema }))
}

const MAGIC_BYTES: u64 = 8;

impl Table {
    /// The columns that are `wanted` (all without) as CSV, made by up to so many threads.
    ///
    /// # Errors
    /// When there is no such column, or one is of a type that no text is made of. The reader fails where the
    /// file is damaged.
    pub fn text(
        self,
        wanted: Option<&[&str]>,
        threads: usize,
    ) -> io::Result<Box<dyn io::Read + Send>> {
        let invalid = |said: String| io::Error::new(ErrorKind::InvalidInput, said);
        let names = || self.schema.fields().iter().map(|field| field.name().as_str());
        let is_missing = |wanted: &&&str| !names().any(|name| name == **wanted);
        if let Some(missing) = wanted.and_then(|wanted| wanted.iter().find(is_missing)) {
            let there = names().collect::<Vec<&str>>().join(", ");
            return Err(invalid(format!("there is no column {missing:?}; there are: {there}")));
        }
        let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(&name));
        let fields = self.schema.fields().iter().enumerate();
        let (places, fields): (Vec<usize>, Vec<_>) =
            fields.filter(|(_, field)| is_wanted(field.name())).unzip();
        if let Some(field) = fields.iter().find(|field| !cells::is_text(field.data_type())) {
            let (name, kind) = (field.name(), field.data_type());
            let hint = if wanted.is_none() { ": choose the others by their names" } else { "" };
            let said = format!("column {name:?} has type {kind}, of which no text is made{hint}");
            return Err(invalid(said));
        }
        let mut header = Vec::new();
        for (place, field) in fields.iter().enumerate() {
            cells::separate(place, &mut header);
            cells::quoted(field.name().as_bytes(), &mut header);
        }
        header.push(b'\n');
        Ok(Box::new(text::Text::new(self.file, places, header, threads)))
    }
}

/// What `work` makes of a file. Files that nobody thought of may be more than the libraries can bear: that they
/// give up is an error like others, and nothing else is said of it.
fn guarded<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    thread_local!(static IS_GUARDED: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                usual(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let made = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    made.unwrap_or_else(|_| Err(damaged("its reader gave up")))
}

fn damaged(said: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the table is damaged: {said}"))
}

#[cfg(test)]
mod tests;
