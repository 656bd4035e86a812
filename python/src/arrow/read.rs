//! Tables of others as batches of the engine: their buffers are read where they lie.

use std::ffi::{CStr, c_void};
use std::mem;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::slice;

use fathom_aggregate::Error;
use fathom_aggregate::columnar::{self, Integers, Numbers, Texts, Time, Valid};
use fathom_aggregate::delimited::{By, Selector, Value};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::copied::{self, Copied};
use super::{ArrayC, Schema, StreamC};
use crate::error::{self, Data};

/// A stream, and which of its columns are asked for: so many keys, so many values, and those of a condition.
pub(crate) struct Stream {
    stream: StreamC,
    columns: Vec<Column>,
    sizes: [usize; 2],
    /// Those of the batches before.
    rows: u64,
    /// Of the file that it reads.
    path: Option<PathBuf>,
}

// SAFETY: a stream may be asked from any thread, by one at a time; the engine keeps it under a lock.
unsafe impl Send for Stream {}

/// A column asked for.
#[derive(Clone)]
struct Column {
    place: usize,
    kind: Kind,
}

/// How the buffers of a column are to be read.
#[derive(Clone, Debug)]
enum Kind {
    Short,
    Long,
    Views,
    /// Texts of so many bytes each.
    Fixed(usize),
    Integers(Width),
    F32,
    F64,
    /// Its scale.
    Decimal(u16),
    /// Bytes of each and scale, where these are not the engine's.
    OtherDecimal(usize, i32),
    Booleans,
    Times(Width, Time),
    Dictionary(Width, Box<Kind>),
    /// Nothing but missing cells.
    Missing,
}

#[derive(Clone, Copy, Debug)]
enum Width {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Width {
    fn of(format: &str) -> Option<Width> {
        Some(match format {
            "c" => Width::I8,
            "s" => Width::I16,
            "i" => Width::I32,
            "l" => Width::I64,
            "C" => Width::U8,
            "S" => Width::U16,
            "I" => Width::U32,
            "L" => Width::U64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Width::I8 | Width::U8 => 1,
            Width::I16 | Width::U16 => 2,
            Width::I32 | Width::U32 => 4,
            Width::I64 | Width::U64 => 8,
        }
    }
}

impl Kind {
    /// What a format says; None where the engine has no such values.
    fn of(format: &str, dictionary: Option<&str>) -> Option<Kind> {
        if let Some(dictionary) = dictionary {
            let (width, values) = (Width::of(format)?, Kind::of(dictionary, None)?);
            return Some(match values {
                Kind::Missing => Kind::Missing,
                Kind::Fixed(_) | Kind::OtherDecimal(..) => return None,
                values => Kind::Dictionary(width, Box::new(values)),
            });
        }
        Some(match format {
            "u" | "z" => Kind::Short,
            "U" | "Z" => Kind::Long,
            "vu" | "vz" => Kind::Views,
            "f" => Kind::F32,
            "g" => Kind::F64,
            "n" => Kind::Missing,
            "b" => Kind::Booleans,
            "tdD" => Kind::Times(Width::I32, Time::Date),
            "tdm" => Kind::Times(Width::I64, Time::Moment(1000, false)),
            "tts" => Kind::Times(Width::I32, Time::Clock(1)),
            "ttm" => Kind::Times(Width::I32, Time::Clock(1000)),
            "ttu" => Kind::Times(Width::I64, Time::Clock(1_000_000)),
            "ttn" => Kind::Times(Width::I64, Time::Clock(1_000_000_000)),
            _ if format.starts_with("ts") => {
                let (unit, zone) = format[2..].split_once(':')?;
                let per_second = match unit {
                    "s" => 1,
                    "m" => 1000,
                    "u" => 1_000_000,
                    "n" => 1_000_000_000,
                    _ => return None,
                };
                // An instant, whatever zone it was written in; without a zone, what a clock showed.
                Kind::Times(Width::I64, Time::Moment(per_second, !zone.is_empty()))
            }
            _ if format.starts_with("w:") => Kind::Fixed(format[2..].parse().ok()?),
            _ if format.starts_with("d:") => {
                let mut parts = format[2..].split(',');
                let (_, scale) = (parts.next(), parts.next()?.parse().ok()?);
                let bits: usize = parts.next().map_or(Some(128), |bits| bits.parse().ok())?;
                match (bits, u16::try_from(scale)) {
                    (128, Ok(scale)) => Kind::Decimal(scale),
                    (32 | 64 | 128 | 256, _) => Kind::OtherDecimal(bits / 8, scale),
                    _ => return None,
                }
            }
            _ => Kind::Integers(Width::of(format)?),
        })
    }

    /// Whether the buffers of an array are aligned to what is read from them.
    fn is_aligned(&self, array: &ArrayC) -> bool {
        let view = View::of(array, 0, 0);
        let (number, bytes) = match self {
            Kind::Missing => return true,
            Kind::Booleans | Kind::Fixed(_) | Kind::Decimal(_) | Kind::OtherDecimal(..) => (1, 1),
            Kind::Integers(width) | Kind::Times(width, _) | Kind::Dictionary(width, _) => {
                (1, width.bytes())
            }
            Kind::Short | Kind::F32 => (1, 4),
            Kind::Long | Kind::F64 => (1, 8),
            // The views are bytes, and the lengths of their buffers are not.
            Kind::Views => (array.n_buffers as usize - 1, 8),
        };
        let is_inside = match self {
            // SAFETY: an array with a dictionary type has one, which lives as long as it does.
            Kind::Dictionary(_, values) => unsafe { array.dictionary.as_ref() }
                .is_none_or(|dictionary| values.is_aligned(dictionary)),
            _ => true,
        };
        is_inside && (view.pointer(number) as usize).is_multiple_of(bytes)
    }

    fn is_number(&self) -> bool {
        use Kind::{Decimal, F32, F64, Integers, Missing, OtherDecimal};
        matches!(self, Integers(_) | F32 | F64 | Decimal(_) | OtherDecimal(..) | Missing)
    }

    /// Keys are texts, or what has one spelling.
    fn is_key(&self) -> bool {
        match self {
            Kind::Short | Kind::Long | Kind::Views | Kind::Fixed(_) | Kind::Integers(_) => true,
            Kind::Booleans | Kind::Times(..) | Kind::Missing => true,
            Kind::Dictionary(_, values) => values.is_key(),
            // Whole numbers, as which integers of any two types are read.
            Kind::Decimal(scale) => *scale == 0,
            Kind::OtherDecimal(_, scale) => *scale <= 0,
            Kind::F32 | Kind::F64 => false,
        }
    }
}

/// Takes the stream out of an object, with the names of the columns: so many keys, of which those in buckets
/// may be any numbers, so many values, and those of a condition.
pub(crate) fn open(
    object: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    columns: &[Selector],
    [keys, values]: [usize; 2],
    bucketed: &[bool],
) -> PyResult<(Stream, Vec<String>)> {
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<StreamC>();
    // SAFETY: a capsule of this name points to a stream; what is taken is replaced by one that is
    // released, as the interface asks.
    let mut stream = unsafe { mem::replace(&mut *pointer.as_ptr(), StreamC::EMPTY) };
    let mut schema = Schema::EMPTY;
    // One that is released tells so by this field alone.
    let get_schema = stream.release.and(stream.get_schema).ok_or_else(|| {
        PyValueError::new_err("a released stream: whatever read it before has taken it")
    })?;
    // SAFETY: the stream was not released, and the schema can be written.
    let code = unsafe { get_schema(&mut stream, &mut schema) };
    if code != 0 {
        return Err(PyValueError::new_err(stream.said(code)));
    }
    let fields = fields(&schema)?;
    let names: Vec<&str> = fields.iter().map(|field| &*field.name).collect();
    let mut found = (Vec::new(), Vec::new());
    for (number, column) in columns.iter().enumerate() {
        let place = place(column, &names)?;
        let Field { name, format, dictionary, extension } = &fields[place];
        let kind = Kind::of(format, dictionary.as_deref());
        // A text is one whatever it is of; bytes may be how another program stores numbers.
        if let Some(extension) = extension
            && !["u", "U", "vu"].contains(&format.as_str())
        {
            let said = format!(
                "column {name:?} is of the extension type {extension:?}, which is not known here: cast it before"
            );
            return Err(PyTypeError::new_err(said));
        }
        if format == "e" {
            let said = format!(
                "column {name:?} has floating-point numbers of 16 bits, which are not read: cast it to 32 bits before"
            );
            return Err(PyTypeError::new_err(said));
        }
        let is_value = (keys..keys + values).contains(&number);
        let fits = |kind: &Kind| match (number < keys, is_value) {
            (true, _) => kind.is_key() || bucketed[number],
            (_, true) => kind.is_number(),
            (false, false) => true,
        };
        let Some(kind) = kind.filter(fits) else {
            let wanted = match (number < keys, is_value) {
                (true, _) => "text, integers, truths or times (in buckets any numbers)",
                (_, true) => "numbers",
                (false, false) => "text, numbers, truths or times",
            };
            let given = match dictionary.as_deref() {
                Some(NESTED) => "a dictionary of a dictionary".to_owned(),
                Some(_) => "a dictionary".to_owned(),
                None => told(format),
            };
            let said = format!("column {name:?} has {given}, where {wanted} are needed");
            return Err(PyTypeError::new_err(said));
        };
        found.0.push(Column { place, kind });
        found.1.push(name.clone());
    }
    let (columns, sizes, rows) = (found.0, [keys, values], 0);
    Ok((Stream { stream, columns, sizes, rows, path }, found.1))
}

/// What a format has, in words.
fn told(format: &str) -> String {
    let words = match format.as_bytes() {
        [b'u' | b'U', ..] | b"vu" => "texts",
        [b'z' | b'Z', ..] | b"vz" | [b'w', ..] => "bytes",
        [b'b', ..] => "truths",
        [b'e' | b'f' | b'g', ..] => "floating-point numbers",
        [b'd', ..] => "decimals",
        [b't', b'd', ..] => "dates",
        [b't', b't', ..] => "times of day",
        [b't', b's', ..] => "times",
        [b't', ..] => "spans of time",
        b"+s" => "structs",
        b"+m" => "maps",
        [b'+', b'l' | b'L' | b'w' | b'v', ..] => "lists",
        _ => return format!("Arrow type {format:?}"),
    };
    words.to_owned()
}

fn place(column: &Selector, names: &[&str]) -> PyResult<usize> {
    match column {
        Selector::Place(place) => {
            (1..=names.len()).contains(place).then(|| place - 1).ok_or_else(|| {
                PyKeyError::new_err(format!(
                    "there is no column {place}: there are {}",
                    names.len()
                ))
            })
        }
        Selector::Name(name) => {
            let mut places = (0..names.len()).filter(|&place| names[place] == name);
            match (places.next(), places.next()) {
                (Some(place), None) => Ok(place),
                (Some(_), Some(_)) => {
                    Err(PyKeyError::new_err(format!("there are two columns {name:?}")))
                }
                (None, _) if Value::is_formula(name) => Err(PyValueError::new_err(format!(
                    "formulas need text, and this is an Arrow table: make {name:?} a column of it before"
                ))),
                (None, _) => {
                    let there = names.join(", ");
                    let is_cut = |whole: &&&str| {
                        By::of(Selector::Name((**whole).to_owned())).column == *column
                    };
                    let hint = match names.iter().find(is_cut) {
                        Some(whole) => format!(
                            " (behind the colon of {whole:?} is a width of buckets: choose it by its place)"
                        ),
                        None => String::new(),
                    };
                    Err(PyKeyError::new_err(format!(
                        "there is no column {name:?}{hint}; there are: {there}"
                    )))
                }
            }
        }
    }
}

/// What a schema says of a column.
struct Field {
    name: String,
    format: String,
    /// The format of its dictionary; [`NESTED`] where that has a dictionary itself.
    dictionary: Option<String>,
    /// The type that it is of, where the format is only how that is stored.
    extension: Option<String>,
}

/// In place of a format, none of which is this.
const NESTED: &str = "dictionary";

fn fields(schema: &Schema) -> PyResult<Vec<Field>> {
    // SAFETY: the texts of a schema end with a zero byte, and a missing one is null.
    let text = |text: *const std::ffi::c_char| unsafe {
        if text.is_null() {
            String::new()
        } else {
            CStr::from_ptr(text).to_string_lossy().into_owned()
        }
    };
    if text(schema.format) != "+s" {
        return Err(PyTypeError::new_err("this Arrow stream is no table: it has no columns"));
    }
    // SAFETY: a schema points to as many children as it says, which live as long as it does.
    let children = unsafe { array(schema.children, schema.n_children as usize) };
    let field = |&child: &*mut Schema| {
        // SAFETY: the same; a dictionary is null where there is none.
        let (child, dictionary) = unsafe { (&*child, (*child).dictionary.as_ref()) };
        Field {
            name: text(child.name),
            format: text(child.format),
            // Else it would be read as the indices that a dictionary in it has.
            dictionary: dictionary.map(|schema| match schema.dictionary.is_null() {
                true => text(schema.format),
                false => NESTED.to_owned(),
            }),
            // SAFETY: the same.
            extension: unsafe { extension(child.metadata.cast()) },
        }
    };
    Ok(children.iter().map(field).collect())
}

/// The name of the extension type that metadata tell, if they do: a number of pairs, then of each the length and the
/// bytes of its key and of its value, as the Arrow C data interface has them.
///
/// # Safety
/// Metadata that live for the call, or null.
unsafe fn extension(metadata: *const u8) -> Option<String> {
    if metadata.is_null() {
        return None;
    }
    let mut rest = metadata;
    // SAFETY: numbers and texts lie one behind the other, as many and as long as the numbers before them say.
    let pairs = unsafe { number(&mut rest) };
    for _ in 0..pairs {
        // SAFETY: the same.
        let (key, value) = unsafe { (text(&mut rest), text(&mut rest)) };
        if key == b"ARROW:extension:name" {
            return Some(String::from_utf8_lossy(value).into_owned());
        }
    }
    None
}

/// The number at a place, which moves behind it.
///
/// # Safety
/// There are its four bytes.
unsafe fn number(at: &mut *const u8) -> usize {
    // SAFETY: the promise of the caller.
    let number = unsafe { at.cast::<i32>().read_unaligned() };
    // SAFETY: the same: behind them is at most the end.
    *at = unsafe { at.add(4) };
    usize::try_from(number).unwrap_or(0)
}

/// The text behind its length at a place, which moves behind it.
///
/// # Safety
/// Both are there, and live as long as `'a`.
unsafe fn text<'a>(at: &mut *const u8) -> &'a [u8] {
    // SAFETY: the promise of the caller.
    let text = unsafe {
        let len = number(at);
        slice::from_raw_parts(*at, len)
    };
    // SAFETY: the same.
    *at = unsafe { at.add(text.len()) };
    text
}

/// A slice of what may be a null pointer if nothing is there.
///
/// # Safety
/// At `pointer` are `len` elements, which live and do not change for as long as `'a`.
unsafe fn array<'a, T>(pointer: *const T, len: usize) -> &'a [T] {
    if len == 0 || pointer.is_null() {
        assert!(len == 0, "an Arrow buffer is missing");
        return &[];
    }
    assert!(pointer.is_aligned(), "an Arrow buffer is not aligned to its elements");
    // SAFETY: the promise of the caller; it is neither null nor unaligned.
    unsafe { slice::from_raw_parts(pointer, len) }
}

impl StreamC {
    fn said(&mut self, code: i32) -> String {
        // SAFETY: a stream that was not released may be asked; its text ends with a zero byte.
        let text = self.get_last_error.and_then(|ask| unsafe {
            let text = NonNull::new(ask(self).cast_mut())?;
            Some(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
        });
        let mut text = text.unwrap_or_else(|| std::io::Error::from_raw_os_error(code).to_string());
        // Behind it pyarrow tells all that Python does, line by line.
        text.truncate(text.find(". Detail: Python exception").unwrap_or(text.len()));
        text
    }
}

impl columnar::Source for Stream {
    type Batch = Batch;

    fn next(&mut self) -> Result<Option<Batch>, Error> {
        let mut array = ArrayC::EMPTY;
        let get_next = self.stream.get_next.expect("a stream that was not released");
        // SAFETY: the stream was not released, and the array can be written.
        let code = unsafe { get_next(&mut self.stream, &mut array) };
        if code != 0 {
            return Err(self.failed(code));
        }
        if array.release.is_none() {
            return Ok(None);
        }
        let rows = View::of(&array, 0, array.length as usize);
        let valid = if array.null_count == 0 { Valid::default() } else { rows.valid() };
        if let Some(row) = (0..rows.rows).find(|&row| !valid.has(row)) {
            let row = self.rows + row as u64 + 1;
            return Err(refused(format!("row {row} is missing as a whole: leave it out before")));
        }
        self.rows += array.length as u64;
        let is_missing = |column: &Column| matches!(column.kind, Kind::Missing);
        let has_missing = self.columns.iter().any(is_missing);
        let rows = if self.sizes[1] == 0 || has_missing { array.length as usize } else { 0 };
        let (zeros, none) = (vec![0; rows], vec![0; rows.div_ceil(8)]);
        let (columns, sizes, copied) = (self.columns.clone(), self.sizes, Vec::new());
        let mut batch = Batch { array, columns, sizes, zeros, none, copied };
        for (number, column) in self.columns.iter().enumerate() {
            let (view, kind) = batch.column(number);
            if !kind.is_aligned(view.array) {
                let place = column.place + 1;
                return Err(refused(format!(
                    "column {place} is not aligned to its elements, as after a cut between bytes: copy it before"
                )));
            }
        }
        let before = self.rows - batch.array.length as u64;
        for (number, column) in self.columns.iter().enumerate() {
            let (view, kind) = batch.column(number);
            if let Some((row, of)) = view.beyond_dictionary(kind) {
                let (row, place) = (before + row as u64 + 1, column.place + 1);
                return Err(refused(format!(
                    "row {row}, column {place}: a place that its dictionary of {of} has not"
                )));
            }
        }
        batch.copied = batch.copied(before)?;
        Ok(Some(batch))
    }
}

impl Stream {
    /// Why there is no next batch: a file that is not what it should be, or whatever else.
    fn failed(&mut self, code: i32) -> Error {
        const EINVAL: i32 = 22;
        let said = self.stream.said(code);
        let source = match &self.path {
            Some(path) if code == EINVAL => {
                let message = format!("{}: {said}", path.display());
                let path = Some(path.into());
                let data = Data { message, path, ..Data::default() };
                std::io::Error::other(Python::attach(|py| error::data(py, data)))
            }
            _ => std::io::Error::other(said),
        };
        let path = self.path.clone().unwrap_or_else(|| "<arrow>".into());
        Error::Read { path, byte: 0, source }
    }
}

/// A table that cannot be read, as a `ValueError`.
fn refused(said: String) -> Error {
    let source = std::io::Error::other(PyValueError::new_err(said));
    Error::Read { path: "<arrow>".into(), byte: 0, source }
}

/// A batch, whose buffers live as long as it does.
pub(crate) struct Batch {
    array: ArrayC,
    columns: Vec<Column>,
    sizes: [usize; 2],
    /// A value for each row where there is none to be read: rows are counted, or miss it.
    zeros: Vec<i8>,
    /// No bit for any of them.
    none: Vec<u8>,
    /// By columns.
    copied: Vec<Copied>,
}

// SAFETY: arrays never change, and may be read and released on any thread.
unsafe impl Send for Batch {}
// SAFETY: the same.
unsafe impl Sync for Batch {}

impl Batch {
    fn column(&self, number: usize) -> (View<'_>, &Kind) {
        let Column { place, kind } = &self.columns[number];
        // SAFETY: an array has as many children as its schema, which has this place.
        let child = unsafe {
            &**array(self.array.children, self.array.n_children as usize)
                .get(*place)
                .expect("a batch of the columns of its schema")
        };
        (View::of(child, self.array.offset, self.array.length as usize), kind)
    }

    /// What is not read where it lies, behind so many rows of other batches.
    fn copied(&self, before: u64) -> Result<Vec<Copied>, Error> {
        let copied = |number: usize| match self.column(number) {
            (view, Kind::Fixed(bytes)) => Ok(copied::offsets(*bytes, view.offset, view.rows)),
            (view, Kind::OtherDecimal(bytes, scale)) => {
                let (valid, all) = (view.valid(), view.fixed(*bytes));
                let cells = &all[view.offset * bytes..];
                copied::decimals(cells, *bytes, *scale, |row| valid.has(row)).map_err(|row| {
                    let (place, row) = (self.columns[number].place + 1, before + row as u64 + 1);
                    refused(format!("row {row}, column {place}: a decimal of more than 128 bits"))
                })
            }
            _ => Ok(Copied::Nothing),
        };
        (0..self.columns.len()).map(copied).collect()
    }

    fn texts(&self, number: usize) -> Texts<'_> {
        match (self.column(number), &self.copied[number]) {
            ((_, Kind::Missing), _) => Texts::Integers(self.missing(), Integers::I8(&self.zeros)),
            ((view, Kind::Fixed(bytes)), Copied::Offsets(offsets)) => {
                Texts::Long(view.valid(), offsets, view.fixed(*bytes))
            }
            ((view, _), Copied::Decimals(all, scale)) => {
                Texts::Numbers(Numbers::Decimals(view.valid(), all, *scale))
            }
            ((view, kind), _) => view.texts(kind),
        }
    }

    /// That no row has a value.
    fn missing(&self) -> Valid<'_> {
        Valid { bits: Some(&self.none), offset: 0 }
    }
}

impl columnar::Batch for Batch {
    fn rows(&self) -> usize {
        self.array.length as usize
    }

    fn row_bytes(&self) -> u64 {
        // Sixteen bytes a cell: what a view or a decimal has.
        16 * self.columns.len() as u64
    }

    fn keys(&self, part: usize) -> Texts<'_> {
        self.texts(part)
    }

    fn values(&self, column: usize) -> Numbers<'_> {
        if self.sizes[1] == 0 {
            return Numbers::Integers(Valid::default(), Integers::I8(&self.zeros));
        }
        let number = self.sizes[0] + column;
        match (self.column(number), &self.copied[number]) {
            ((_, Kind::Missing), _) => Numbers::Integers(self.missing(), Integers::I8(&self.zeros)),
            ((view, _), Copied::Decimals(all, scale)) => {
                Numbers::Decimals(view.valid(), all, *scale)
            }
            ((view, kind), _) => view.numbers(kind).expect("checked when the stream was opened"),
        }
    }

    fn filtered(&self, column: usize) -> Texts<'_> {
        self.texts(self.sizes[0] + self.sizes[1] + column)
    }
}

/// Rows of an array, from its offset on.
struct View<'a> {
    array: &'a ArrayC,
    offset: usize,
    rows: usize,
}

impl<'a> View<'a> {
    /// So many rows from the array's own offset and another one on.
    fn of(array: &'a ArrayC, offset: i64, rows: usize) -> View<'a> {
        View { array, offset: (array.offset + offset) as usize, rows }
    }

    fn pointer(&self, number: usize) -> *const c_void {
        // SAFETY: an array points to as many buffers as it says.
        let buffers = unsafe { array(self.array.buffers, self.array.n_buffers as usize) };
        buffers[number]
    }

    /// The elements of these rows, and so many more.
    fn buffer<T>(&self, number: usize, more: usize) -> &'a [T] {
        // SAFETY: the buffer of a type has an element for each row before the offset and after it;
        // `T` is that of the format, and every pattern of bits is one.
        let all =
            unsafe { array(self.pointer(number).cast::<T>(), self.offset + self.rows + more) };
        &all[self.offset..]
    }

    fn valid(&self) -> Valid<'a> {
        self.bits(0)
    }

    /// A bit for each row; all of them where there is no such buffer.
    fn bits(&self, number: usize) -> Valid<'a> {
        let pointer = self.pointer(number).cast::<u8>();
        let bytes = (self.offset + self.rows).div_ceil(8);
        // SAFETY: where there is a bitmap, it has a bit for each row.
        let bits = (!pointer.is_null()).then(|| unsafe { array(pointer, bytes) });
        Valid { bits, offset: self.offset }
    }

    fn integers(&self, width: Width) -> Integers<'a> {
        match width {
            Width::I8 => Integers::I8(self.buffer(1, 0)),
            Width::I16 => Integers::I16(self.buffer(1, 0)),
            Width::I32 => Integers::I32(self.buffer(1, 0)),
            Width::I64 => Integers::I64(self.buffer(1, 0)),
            Width::U8 => Integers::U8(self.buffer(1, 0)),
            Width::U16 => Integers::U16(self.buffer(1, 0)),
            Width::U32 => Integers::U32(self.buffer(1, 0)),
            Width::U64 => Integers::U64(self.buffer(1, 0)),
        }
    }

    /// The first row with a value that its dictionary of so many does not have. Whoever made the array may not have
    /// looked.
    fn beyond_dictionary(&self, kind: &Kind) -> Option<(usize, i64)> {
        let Kind::Dictionary(width, _) = kind else { return None };
        // SAFETY: an array with a dictionary type has one, which lives as long as it does.
        let of =
            unsafe { self.array.dictionary.as_ref() }.map_or(0, |dictionary| dictionary.length);
        let (valid, places) = (self.valid(), self.integers(*width));
        if places.are_below(u64::try_from(of).unwrap_or(0)) {
            return None;
        }
        let is_there = |row: usize| (0..i128::from(of)).contains(&places.get(row));
        (0..self.rows).find(|&row| !is_there(row) && valid.has(row)).map(|row| (row, of))
    }

    fn numbers(&self, kind: &Kind) -> Option<Numbers<'a>> {
        let valid = self.valid();
        Some(match *kind {
            Kind::Integers(width) => Numbers::Integers(valid, self.integers(width)),
            Kind::F32 => Numbers::F32(valid, self.buffer(1, 0)),
            Kind::F64 => Numbers::F64(valid, self.buffer(1, 0)),
            Kind::Decimal(scale) => Numbers::Decimals(valid, self.buffer(1, 0), scale),
            _ => return None,
        })
    }

    fn texts(&self, kind: &Kind) -> Texts<'a> {
        let valid = self.valid();
        match kind {
            Kind::Short => {
                let offsets: &[i32] = if self.rows == 0 { &[] } else { self.buffer(1, 1) };
                let end = offsets.last().map_or(0, |&end| end as usize);
                Texts::Short(valid, offsets, self.bytes(2, end))
            }
            Kind::Long => {
                let offsets: &[i64] = if self.rows == 0 { &[] } else { self.buffer(1, 1) };
                let end = offsets.last().map_or(0, |&end| end as usize);
                Texts::Long(valid, offsets, self.bytes(2, end))
            }
            Kind::Views => {
                // Behind the views are the buffers, and behind those their lengths.
                let buffers = self.array.n_buffers as usize - 3;
                let lengths = self.pointer(self.array.n_buffers as usize - 1).cast::<i64>();
                // SAFETY: there is a length for each of the buffers.
                let lengths: &[i64] = unsafe { array(lengths, buffers) };
                let texts = lengths.iter().enumerate();
                let texts = texts.map(|(at, &len)| self.bytes(2 + at, len as usize)).collect();
                Texts::Views(valid, self.buffer(1, 0), texts)
            }
            Kind::Integers(width) => Texts::Integers(valid, self.integers(*width)),
            Kind::Dictionary(width, values) => {
                // SAFETY: an array with a dictionary type has one, which lives as long as it does.
                let dictionary = unsafe { self.array.dictionary.as_ref() };
                let dictionary = dictionary.expect("a dictionary array has a dictionary");
                let texts = View::of(dictionary, 0, dictionary.length as usize).texts(values);
                Texts::Dictionary(valid, self.integers(*width), Box::new(texts))
            }
            Kind::Booleans => {
                let bits = self.bits(1);
                assert!(bits.bits.is_some() || self.rows == 0, "an Arrow buffer is missing");
                Texts::Booleans(valid, bits)
            }
            Kind::Times(width, time) => Texts::Times(valid, self.integers(*width), *time),
            Kind::Missing | Kind::Fixed(_) | Kind::OtherDecimal(..) => {
                unreachable!("what stands in for it is read")
            }
            Kind::F32 | Kind::F64 | Kind::Decimal(_) => {
                Texts::Numbers(self.numbers(kind).expect("these are numbers"))
            }
        }
    }

    /// Cells of so many bytes each, those before the rows among them.
    fn fixed(&self, bytes: usize) -> &'a [u8] {
        self.bytes(1, (self.offset + self.rows) * bytes)
    }

    fn bytes(&self, number: usize, len: usize) -> &'a [u8] {
        // SAFETY: offsets and lengths of an array are those of its buffers.
        unsafe { array(self.pointer(number).cast(), len) }
    }
}
