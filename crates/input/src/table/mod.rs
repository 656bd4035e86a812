//! Tables in Parquet files and in Arrow files and streams: the columns that are wanted, as CSV with a header or as arrays.
//!
//! As text everything is asked of them that is asked of delimited text. A number has all its digits, a
//! floating-point number its shortest ones, a time is RFC 3339, and a missing value an empty field. Parts of
//! a table (row groups, batches) become text on threads of their own, a few ahead of whoever reads.

mod arrow;
mod cells;
mod file;
mod pages;
mod text;
mod whole;

use std::cell::Cell;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use fathom_machine::os::read_at::ReadAt;

use self::file::File;
use self::whole::Whole;
use crate::Input;

/// A file that is a table.
pub struct Table {
    file: File,
    schema: Arc<Schema>,
}

/// What a reader has, in a file without a name if it is a table: of this parts are read in any order, by several threads.
/// Anything else is read on. The file is in the temporary folder (`TMPDIR`), and is gone with the process,
/// however that ends.
///
/// # Errors
/// When it cannot be read, or the file not written.
pub fn kept(mut reader: Box<dyn Read + Send>) -> io::Result<Input> {
    let mut first = Vec::new();
    reader.by_ref().take(MAGIC_BYTES).read_to_end(&mut first)?;
    let is_table = File::opener(&first).is_some();
    let mut whole = Cursor::new(first).chain(reader);
    if !is_table {
        return Ok(Input::Stream(Box::new(whole)));
    }
    let unkept = |error: io::Error| {
        let folder = std::env::temp_dir();
        let said = format!("a table that is no file is kept in {}: {error}", folder.display());
        io::Error::new(error.kind(), said)
    };
    let mut file = tempfile::tempfile().map_err(unkept)?;
    let (mut piece, mut size) = (Vec::new(), 0);
    while whole.by_ref().take(1 << 16).read_to_end(&mut piece)? > 0 {
        file.write_all(&piece).map_err(unkept)?;
        size += piece.len() as u64;
        piece.clear();
    }
    Ok(Input::File(Box::new(file), size))
}

/// The table in an open file of so many bytes that is a Parquet file, or an Arrow file or stream; any other file comes
/// back.
///
/// # Errors
/// When it cannot be read, or is damaged.
pub fn of(bytes: Box<dyn ReadAt>, size: u64) -> io::Result<Result<Table, Box<dyn ReadAt>>> {
    let mut first = [0; MAGIC_BYTES as usize];
    let first = &mut first[..MAGIC_BYTES.min(size) as usize];
    // What cannot be read is said by whoever reads it as text.
    let is_read = bytes.read_exact_at(first, 0).is_ok();
    let Some(open) = File::opener(first).filter(|_| is_read) else { return Ok(Err(bytes)) };
    let whole = Whole::new(bytes, size);
    let (file, schema) = guarded(&whole, || open(whole.clone()))?;
    Ok(Ok(Table { file, schema }))
}

const MAGIC_BYTES: u64 = 8;

impl Table {
    /// How many columns it has.
    pub fn width(&self) -> usize {
        self.schema.fields().len()
    }

    /// The columns that are `wanted`, or all; `hint` is said behind the name of one that is not among those that
    /// are there.
    ///
    /// # Errors
    /// When there is no such column or none at all, or one is of a type that no text is made of.
    pub fn choose(
        self,
        wanted: Option<&[&str]>,
        hint: fn(&str, &[&str]) -> String,
    ) -> io::Result<Columns> {
        if self.schema.fields().is_empty() {
            // As text it would have one, of no name.
            return Err(io::Error::new(ErrorKind::InvalidData, "it has no columns"));
        }
        let invalid = |said: String| io::Error::new(ErrorKind::InvalidInput, said);
        let names = || self.schema.fields().iter().map(|field| field.name().as_str());
        let is_missing = |wanted: &&&str| !names().any(|name| name == **wanted);
        if let Some(missing) = wanted.and_then(|wanted| wanted.iter().find(is_missing)) {
            let there: Vec<&str> = names().collect();
            let (hint, there) = (hint(missing, &there), there.join(", "));
            let said = format!("there is no column {missing:?}{hint}; there are: {there}");
            return Err(invalid(said));
        }
        let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(&name));
        let fields = self.schema.fields().iter().enumerate();
        let places: Vec<usize> =
            fields.filter(|(_, field)| is_wanted(field.name())).map(|(place, _)| place).collect();
        let columns = Columns { places, file: self.file, schema: self.schema };
        if let Some(field) = columns.fields().find(|field| !cells::is_text(field.data_type())) {
            let (name, kind) = (field.name(), field.data_type());
            let hint = if wanted.is_none() { ": choose the others by their names" } else { "" };
            let said = format!("column {name:?} has type {kind}, of which no text is made{hint}");
            return Err(invalid(said));
        }
        Ok(columns)
    }
}

/// Columns of a table, in its order.
#[derive(Clone)]
pub struct Columns {
    file: File,
    schema: Arc<Schema>,
    places: Vec<usize>,
}

impl Columns {
    /// Their names and types.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.places.iter().map(|&place| self.schema.field(place))
    }

    /// All rows as CSV, made by up to so many threads. The reader fails where the file is damaged.
    pub fn text(&self, threads: usize) -> Box<dyn io::Read + Send> {
        let mut header = Vec::new();
        for (place, field) in self.fields().enumerate() {
            cells::separate(place, &mut header);
            cells::quoted(field.name().as_bytes(), &mut header);
        }
        header.push(b'\n');
        Box::new(text::Text::new(self.file.clone(), self.places.clone(), header, threads))
    }

    /// How many parts (row groups, batches) there are, which threads can read apart.
    pub fn parts(&self) -> usize {
        self.file.parts()
    }

    /// The rows of a part as arrays. Texts that a Parquet file has as places in a dictionary stay so.
    ///
    /// # Errors
    /// Where the file cannot be read, or is damaged; the iterator's are the same.
    pub fn arrays(
        &self,
        part: usize,
    ) -> io::Result<impl Iterator<Item = io::Result<RecordBatch>> + use<>> {
        let whole = self.file.whole().clone();
        let file = guarded(&whole, || self.file.with_dictionaries(part, &self.places))?;
        let mut batches = guarded(&whole, || file.part(part, &self.places))?;
        let mut next = move || batches.next().transpose().map_err(damaged);
        Ok(std::iter::from_fn(move || guarded(&whole, &mut next).transpose()))
    }
}

/// What `work` makes of a file. Files that nobody thought of may be more than the libraries can bear: that they
/// give up is an error like others, and nothing else is said of it. What could not be read is no damage.
fn guarded<T>(whole: &Whole, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
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
    let made = made.unwrap_or_else(|_| Err(damaged("its reader gave up")));
    made.map_err(|error| whole.failure().unwrap_or(error))
}

fn damaged(said: impl std::fmt::Display) -> io::Error {
    io::Error::new(
        ErrorKind::InvalidData,
        format!("the table is damaged, or has what is not read: {said}"),
    )
}

#[cfg(test)]
mod tests;
