//! Results as an Arrow stream of one batch, in a capsule.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::{ArrayC, NULLABLE, Schema, StreamC};

/// A column.
pub(crate) struct Array {
    pub(crate) data: Data,
    /// Which rows have a value; None if all have one.
    pub(crate) valid: Option<Vec<bool>>,
}

/// What is in a column.
pub(crate) enum Data {
    /// Offsets, bytes, and whether they are UTF-8.
    Texts(Vec<i64>, Vec<u8>, bool),
    Integers(Vec<i64>),
    Doubles(Vec<f64>),
    /// In units of `10^-scale`.
    Decimals(Vec<i128>, usize),
}

impl Data {
    pub(crate) fn texts<T: AsRef<[u8]>>(all: impl Iterator<Item = T>, is_utf8: bool) -> Data {
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for text in all {
            bytes.extend_from_slice(text.as_ref());
            offsets.push(bytes.len() as i64);
        }
        Data::Texts(offsets, bytes, is_utf8)
    }

    fn format(&self) -> String {
        match self {
            Data::Texts(_, _, true) => "U".to_owned(),
            Data::Texts(_, _, false) => "Z".to_owned(),
            Data::Integers(_) => "l".to_owned(),
            Data::Doubles(_) => "g".to_owned(),
            Data::Decimals(_, scale) => format!("d:38,{scale}"),
        }
    }

    fn rows(&self) -> usize {
        match self {
            Data::Texts(offsets, ..) => offsets.len() - 1,
            Data::Integers(all) => all.len(),
            Data::Doubles(all) => all.len(),
            Data::Decimals(all, _) => all.len(),
        }
    }

    fn buffers(&self) -> Vec<*const c_void> {
        match self {
            Data::Texts(offsets, bytes, _) => vec![offsets.as_ptr().cast(), bytes.as_ptr().cast()],
            Data::Integers(all) => vec![all.as_ptr().cast()],
            Data::Doubles(all) => vec![all.as_ptr().cast()],
            Data::Decimals(all, _) => vec![all.as_ptr().cast()],
        }
    }
}

/// What a schema's pointers point to.
struct SchemaParts {
    _format: CString,
    _name: CString,
    _owned: Vec<Schema>,
    _children: Vec<*mut Schema>,
}

fn schema_of(name: &str, format: &str, flags: i64, mut owned: Vec<Schema>) -> Schema {
    let mut children: Vec<*mut Schema> = owned.iter_mut().map(|child| &raw mut *child).collect();
    // A zero byte would end the name.
    let text = |text: &str| CString::new(text.replace('\0', "\u{fffd}")).expect("no zero byte");
    let (format, name) = (text(format), text(name));
    let mut schema = Schema::EMPTY;
    schema.format = format.as_ptr();
    schema.name = name.as_ptr();
    schema.flags = flags;
    schema.n_children = children.len() as i64;
    schema.children = children.as_mut_ptr();
    schema.release = Some(release_schema);
    let parts = SchemaParts { _format: format, _name: name, _owned: owned, _children: children };
    schema.private_data = Box::into_raw(Box::new(parts)).cast();
    schema
}

/// # Safety
/// `schema` was made by [`schema_of`] and not released.
unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the promise of the caller; the parts were boxed there. Children that were moved away
    // have no `release` any more, the others are released with their list.
    unsafe {
        drop(Box::from_raw((*schema).private_data.cast::<SchemaParts>()));
        (*schema).release = None;
    }
}

/// What an array's pointers point to.
struct ArrayParts {
    _data: Option<Array>,
    _valid: Vec<u8>,
    _buffers: Vec<*const c_void>,
    _owned: Vec<ArrayC>,
    _children: Vec<*mut ArrayC>,
}

fn bits(valid: &[bool]) -> Vec<u8> {
    let byte = |some: &[bool]| some.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    valid.chunks(8).map(byte).collect()
}

fn array_of(data: Option<Array>, rows: usize, mut owned: Vec<ArrayC>) -> ArrayC {
    let validity = data.as_ref().and_then(|array| array.valid.as_deref());
    let nulls = validity.map_or(0, |valid| valid.iter().filter(|valid| !**valid).count());
    let valid = validity.map(bits).unwrap_or_default();
    let first = if validity.is_some() { valid.as_ptr().cast() } else { ptr::null() };
    let mut buffers = vec![first];
    buffers.extend(data.iter().flat_map(|array| array.data.buffers()));
    let mut children: Vec<*mut ArrayC> = owned.iter_mut().map(|child| &raw mut *child).collect();
    let mut array = ArrayC::EMPTY;
    array.length = rows as i64;
    array.null_count = nulls as i64;
    array.n_buffers = buffers.len() as i64;
    array.n_children = children.len() as i64;
    array.buffers = buffers.as_mut_ptr();
    array.children = children.as_mut_ptr();
    array.release = Some(release_array);
    let parts = ArrayParts {
        _data: data,
        _valid: valid,
        _buffers: buffers,
        _owned: owned,
        _children: children,
    };
    array.private_data = Box::into_raw(Box::new(parts)).cast();
    array
}

/// # Safety
/// `array` was made by [`array_of`] and not released.
unsafe extern "C" fn release_array(array: *mut ArrayC) {
    // SAFETY: as in `release_schema`.
    unsafe {
        drop(Box::from_raw((*array).private_data.cast::<ArrayParts>()));
        (*array).release = None;
    }
}

fn table_schema(names: &[String], formats: &[String]) -> Schema {
    let column = |(name, format): (&String, &String)| schema_of(name, format, NULLABLE, Vec::new());
    schema_of("", "+s", 0, names.iter().zip(formats).map(column).collect())
}

/// What a stream gives out, once each.
struct StreamParts {
    names: Vec<String>,
    formats: Vec<String>,
    batch: Option<ArrayC>,
}

/// # Safety
/// `stream` was made by [`stream`] and not released; `into` can be written.
unsafe extern "C" fn get_schema(stream: *mut StreamC, into: *mut Schema) -> c_int {
    // SAFETY: the promise of the caller.
    unsafe {
        let parts = &*(*stream).private_data.cast::<StreamParts>();
        into.write(table_schema(&parts.names, &parts.formats));
    }
    0
}

/// # Safety
/// As [`get_schema`].
unsafe extern "C" fn get_next(stream: *mut StreamC, into: *mut ArrayC) -> c_int {
    // SAFETY: the promise of the caller. An array without `release` is the end of a stream.
    unsafe {
        let parts = &mut *(*stream).private_data.cast::<StreamParts>();
        into.write(parts.batch.take().unwrap_or(ArrayC::EMPTY));
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut StreamC) -> *const c_char {
    ptr::null()
}

/// # Safety
/// `stream` was made by [`stream`] and not released.
unsafe extern "C" fn release_stream(stream: *mut StreamC) {
    // SAFETY: as in `release_schema`.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

/// A capsule's content may be released on any thread.
struct Sendable<T>(T);

// SAFETY: the structures own what they point to, and nothing of it belongs to a thread.
unsafe impl<T> Send for Sendable<T> {}

/// A stream of one batch.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    names: Vec<String>,
    arrays: Vec<Array>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let rows = arrays.first().map_or(0, |array| array.data.rows());
    let formats = arrays.iter().map(|array| array.data.format()).collect();
    let columns = arrays.into_iter().map(|array| array_of(Some(array), rows, Vec::new()));
    let batch = Some(array_of(None, rows, columns.collect()));
    let parts = Box::new(StreamParts { names, formats, batch });
    let mut stream = StreamC::EMPTY;
    stream.get_schema = Some(get_schema);
    stream.get_next = Some(get_next);
    stream.get_last_error = Some(get_last_error);
    stream.release = Some(release_stream);
    stream.private_data = Box::into_raw(parts).cast();
    PyCapsule::new_with_value(py, Sendable(stream), c"arrow_array_stream")
}

/// The types of the columns.
pub(crate) fn schema<'py>(
    py: Python<'py>,
    names: &[String],
    arrays: &[Array],
) -> PyResult<Bound<'py, PyCapsule>> {
    let formats: Vec<String> = arrays.iter().map(|array| array.data.format()).collect();
    let schema = Sendable(table_schema(names, &formats));
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}
