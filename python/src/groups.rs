//! A result in Python's hands: exact states, which leave as lists, text or Arrow arrays.

use std::borrow::Cow;

use fathom_aggregate::format::{self, Type, Typed};
use fathom_aggregate::{Column, Layout, Rounding, Summary};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyInt, PyList};

use crate::arrow::write::{self, Array, Data};

/// The groups of a run, in their order.
#[pyclass(module = "fathom._native", frozen)]
pub(crate) struct Groups {
    inner: Inner,
}

enum Inner {
    /// Exact states, how they are shown, and whether the last of them is the total of all keys.
    Live(Summary, Layout, bool),
    /// What was shown of them: all that is pickled.
    Saved(Saved),
}

/// Names, keys by part, texts by column, lines of the table, and what the run counted.
#[derive(Clone, FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Saved {
    names: Vec<String>,
    keys: Vec<Vec<Vec<u8>>>,
    texts: Vec<Vec<Option<String>>>,
    kinds: Vec<String>,
    lines: Vec<String>,
    counts: [u64; 4],
    rejects: Vec<String>,
    has_total: bool,
}

/// The names of types in what is pickled.
const TYPES: [(Type, &str); 4] = [
    (Type::Integer, "integer"),
    (Type::Whole, "whole"),
    (Type::Number, "number"),
    (Type::Text, "text"),
];

impl Groups {
    pub(crate) fn new(summary: Summary, layout: Layout, has_total: bool) -> Groups {
        Groups { inner: Inner::Live(summary, layout, has_total) }
    }

    /// Parts of all keys, by part.
    fn keys(&self, part: usize) -> Vec<Cow<'_, [u8]>> {
        match &self.inner {
            Inner::Live(summary, layout, _) => {
                format::key_part(&summary.columns, layout, part, 0..self.__len__()).collect()
            }
            Inner::Saved(saved) => saved.keys[part].iter().map(Cow::from).collect(),
        }
    }

    /// The texts of a column of numbers with all their digits; the first column behind the key is 0.
    fn texts(&self, number: usize) -> Cow<'_, [Option<String>]> {
        match &self.inner {
            Inner::Live(summary, layout, _) => {
                typed(summary, layout, number).cells(0..self.__len__()).collect()
            }
            Inner::Saved(saved) => Cow::Borrowed(&saved.texts[number]),
        }
    }

    /// What a column has.
    fn kind(&self, number: usize) -> Type {
        match &self.inner {
            Inner::Live(summary, layout, _) => typed(summary, layout, number).cell_type(),
            Inner::Saved(saved) => {
                let is_it = |(_, name): &&(Type, &str)| saved.kinds[number] == *name;
                TYPES.iter().find(is_it).map_or(Type::Number, |(kind, _)| *kind)
            }
        }
    }

    /// A column as an Arrow array: integers if all are and fit 64 bits, otherwise doubles, or decimals if `exact`.
    fn array(&self, number: usize, exact: bool) -> PyResult<Array> {
        let Some(number) = number.checked_sub(self.parts()) else {
            let keys = self.keys(number);
            let data = Data::texts(keys.iter(), are_texts(&keys));
            return Ok(Array { data, valid: None });
        };
        let texts = self.texts(number);
        let valid = texts.iter().any(Option::is_none).then(|| texts.iter().map(Option::is_some));
        let valid = valid.map(Iterator::collect);
        let data = match (self.kind(number), exact) {
            (Type::Text, _) => {
                Data::texts(texts.iter().map(|text| text.as_deref().unwrap_or("")), true)
            }
            (Type::Integer, _) => {
                Data::Integers(integers(&texts).map(Option::unwrap_or_default).collect())
            }
            (Type::Whole | Type::Number, true) => decimals(&texts).ok_or_else(|| {
                let name = &self.names()[number + self.parts()];
                PyValueError::new_err(format!(
                    "{name:?} has a number of more than 38 digits: to_dicts(exact=True) has it"
                ))
            })?,
            (Type::Whole | Type::Number, false) => Data::Doubles(doubles(&texts)),
        };
        Ok(Array { data, valid })
    }

    fn arrays(&self, exact: bool) -> PyResult<Vec<Array>> {
        (0..self.names().len()).map(|number| self.array(number, exact)).collect()
    }

    fn saved(&self) -> Saved {
        if let Inner::Saved(saved) = &self.inner {
            return saved.clone();
        }
        let keys = |part| self.keys(part).into_iter().map(Cow::into_owned).collect();
        Saved {
            names: self.names(),
            keys: (0..self.parts()).map(keys).collect(),
            texts: (self.parts()..self.names().len())
                .map(|number| self.texts(number - self.parts()).into_owned())
                .collect(),
            kinds: (self.parts()..self.names().len())
                .map(|number| name_of(self.kind(number - self.parts())))
                .collect(),
            lines: self.lines(SAVED_LINES, SAVED_LINES),
            counts: self.counts(),
            rejects: self.rejects(),
            has_total: self.has_total(),
        }
    }
}

/// Rows at either end whose lines are kept for showing.
const SAVED_LINES: usize = 10;

/// A column behind the key.
fn typed<'r>(summary: &'r Summary, layout: &'r Layout, number: usize) -> Typed<'r> {
    Typed::all(&summary.columns, layout)[number]
}

fn name_of(kind: Type) -> String {
    let is_it = |(known, _): &&(Type, &str)| *known == kind;
    TYPES.iter().find(is_it).expect("all are there").1.to_owned()
}

fn are_texts(keys: &[Cow<'_, [u8]>]) -> bool {
    keys.iter().all(|key| std::str::from_utf8(key).is_ok())
}

fn integers(texts: &[Option<String>]) -> impl Iterator<Item = Option<i64>> {
    texts.iter().map(|text| text.as_ref().map(|text| text.parse().expect("an integer")))
}

fn doubles(texts: &[Option<String>]) -> Vec<f64> {
    let double = |text: &str| text.parse().expect("a decimal number is a double");
    texts.iter().map(|text| text.as_deref().map_or(0.0, double)).collect()
}

/// Python's integers, which have any size.
fn whole<'py>(py: Python<'py>, texts: &[Option<String>]) -> PyResult<Bound<'py, PyList>> {
    /// What Python reads as an integer however few digits it was told to read.
    const ALWAYS_READ_BYTES: usize = 640;
    let (list, integer) = (PyList::empty(py), py.get_type::<PyInt>());
    for text in texts {
        match text {
            Some(text) if text.len() > ALWAYS_READ_BYTES => {
                let decimal = py.import("decimal")?.getattr("Decimal")?.call1((text,))?;
                list.append(integer.call1((decimal,))?)?;
            }
            Some(text) => list.append(integer.call1((text,))?)?,
            None => list.append(py.None())?,
        }
    }
    Ok(list)
}

/// The same numbers in units of the finest, in 128 bits, if all have 38 digits at most.
fn decimals(texts: &[Option<String>]) -> Option<Data> {
    let scale = texts.iter().flatten().map(|text| format::scale_of(text)).max().unwrap_or(0);
    let units = |text: &Option<String>| format::units(text.as_deref().unwrap_or("0"), scale);
    let all: Vec<i128> = texts.iter().map(units).collect::<Option<_>>()?;
    (scale <= 38).then_some(Data::Decimals(all, scale))
}

#[pymethods]
impl Groups {
    /// What [`saved_state`](Groups::saved_state) gave.
    #[staticmethod]
    fn restored(saved: Saved) -> Groups {
        Groups { inner: Inner::Saved(saved) }
    }

    fn saved_state(&self) -> Saved {
        self.saved()
    }

    fn __len__(&self) -> usize {
        match &self.inner {
            Inner::Live(summary, ..) => summary.columns[0].groups.len(),
            Inner::Saved(saved) => saved.keys[0].len(),
        }
    }

    /// How many of the columns are parts of the key.
    #[getter]
    fn parts(&self) -> usize {
        match &self.inner {
            Inner::Live(_, layout, _) => layout.keys.len(),
            Inner::Saved(saved) => saved.keys.len(),
        }
    }

    /// Whether the last row is the total of all keys.
    #[getter]
    fn has_total(&self) -> bool {
        match &self.inner {
            Inner::Live(.., has_total) => *has_total,
            Inner::Saved(saved) => saved.has_total,
        }
    }

    /// Records taken and refused, blank lines, and bytes.
    #[getter]
    fn counts(&self) -> [u64; 4] {
        match &self.inner {
            Inner::Live(summary, ..) => {
                [summary.records, summary.rejected, summary.blank_lines, summary.bytes]
            }
            Inner::Saved(saved) => saved.counts,
        }
    }

    /// The first refused records, as the command says them.
    #[getter]
    fn rejects(&self) -> Vec<String> {
        match &self.inner {
            Inner::Live(summary, ..) => {
                summary.shown_rejects.iter().map(ToString::to_string).collect()
            }
            Inner::Saved(saved) => saved.rejects.clone(),
        }
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        match &self.inner {
            Inner::Live(summary, layout, _) => format::headings(&summary.columns, layout),
            Inner::Saved(saved) => saved.names.clone(),
        }
    }

    /// A column as Python's objects: texts (bytes if one is not UTF-8), integers of any size and floats; what
    /// does not exist is None.
    fn column<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyList>> {
        let Some(number) = number.checked_sub(self.parts()) else {
            let keys = self.keys(number);
            let list = PyList::empty(py);
            let is_text = are_texts(&keys);
            for key in keys {
                match std::str::from_utf8(&key) {
                    Ok(text) if is_text => list.append(text)?,
                    _ => list.append(PyBytes::new(py, &key))?,
                }
            }
            return Ok(list);
        };
        let texts = self.texts(number);
        match self.kind(number) {
            Type::Integer => return PyList::new(py, integers(&texts).collect::<Vec<_>>()),
            Type::Whole => return whole(py, &texts),
            Type::Text => return PyList::new(py, &*texts),
            Type::Number => {}
        }
        let doubles = doubles(&texts).into_iter().zip(&*texts);
        PyList::new(py, doubles.map(|(double, text)| text.as_ref().map(|_| double)))
    }

    /// Whether a column is one of texts.
    fn is_text(&self, number: usize) -> bool {
        number < self.parts() || self.kind(number - self.parts()) == Type::Text
    }

    /// Whether a column is one of integers of 64 bits.
    fn is_integer(&self, number: usize) -> bool {
        number >= self.parts() && self.kind(number - self.parts()) == Type::Integer
    }

    /// The numbers of a column as text, with all their digits.
    fn exact(&self, number: usize) -> Vec<Option<String>> {
        self.texts(number - self.parts()).into_owned()
    }

    /// The result as the command prints it.
    fn render<'py>(
        &self,
        py: Python<'py>,
        form: &str,
        decimals: Option<u8>,
        rounding: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let rounding = [Rounding::HalfUp, Rounding::Ceiling, Rounding::HalfEven]
            .into_iter()
            .find(|known| known.to_string() == rounding)
            .ok_or_else(|| PyValueError::new_err("rounding is half-up, ceiling or half-even"))?;
        if decimals.is_some_and(|decimals| decimals > 18) {
            return Err(PyValueError::new_err("decimals are 0 to 18"));
        }
        let Inner::Live(Summary { columns, .. }, layout, _) = &self.inner else {
            let said = "a pickled result has its numbers, not its states: format it before";
            return Err(PyValueError::new_err(said));
        };
        let layout = Layout { decimals, rounding, ..layout.clone() };
        if form == "brc" && (columns.len() > 1 || layout.keys.len() > 1) {
            return Err(PyValueError::new_err("the brc format shows one key and one value"));
        }
        let text = py.detach(|| match form {
            "brc" => Ok(format::brc(&columns[0], &layout)),
            "table" => Ok(format::table(columns, &layout)),
            "csv" => Ok(format::csv(columns, &layout)),
            "tsv" => Ok(format::tsv(columns, &layout)),
            "json" => Ok(format::json(columns, &layout)),
            "ndjson" => Ok(format::ndjson(columns, &layout)),
            _ => Err(PyValueError::new_err("format is brc, table, csv, tsv, json or ndjson")),
        })?;
        Ok(PyBytes::new(py, &text))
    }

    /// A table for people: its header, the first rows, and the last.
    fn lines(&self, first: usize, last: usize) -> Vec<String> {
        let (summary, layout) = match &self.inner {
            Inner::Live(summary, layout, _) => (summary, layout),
            Inner::Saved(saved) => return saved.lines.clone(),
        };
        let ends = |column: &Column| {
            let rows = column.groups.len();
            let end = last.min(rows.saturating_sub(first));
            let (head, tail) = (&column.groups[..first.min(rows)], &column.groups[rows - end..]);
            let mut ends = Column::new(&column.name, [head, tail].concat());
            (ends.scale, ends.is_text) = (column.scale, column.is_text);
            ends.total.clone_from(&column.total);
            ends
        };
        let columns: Vec<Column> = summary.columns.iter().map(ends).collect();
        let text = format::table(&columns, layout);
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// An Arrow stream of one batch.
    #[pyo3(signature = (exact=false))]
    fn stream<'py>(&self, py: Python<'py>, exact: bool) -> PyResult<Bound<'py, PyCapsule>> {
        write::stream(py, self.names(), self.arrays(exact)?)
    }

    /// The types of that stream.
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        write::schema(py, &self.names(), &self.arrays(false)?)
    }
}
