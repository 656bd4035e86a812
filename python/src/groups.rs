//! A result in Python's hands: exact states, which leave as lists, text or Arrow arrays.

use std::borrow::Cow;
use std::sync::Arc;

use fathom_aggregate::format::{self, Statistic};
use fathom_aggregate::{Column, Layout, Rounding, Summary};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyList};

use crate::arrow::write::{self, Array, Data};

/// The groups of a run, in their order.
#[pyclass(module = "fathom._native", frozen)]
pub(crate) struct Groups {
    summary: Arc<Summary>,
    layout: Layout,
}

impl Groups {
    pub(crate) fn new(summary: Arc<Summary>, layout: Layout) -> Groups {
        Groups { summary, layout }
    }

    /// Columns of the result that are parts of the key; they come first.
    fn parts(&self) -> usize {
        self.layout.keys.len()
    }

    /// The column and the statistic of a column of the result, behind the key.
    fn at(&self, number: usize) -> PyResult<(&Column, Statistic)> {
        let statistics = &self.layout.statistics;
        let found = number.checked_sub(self.parts()).and_then(|number| {
            let column = self.summary.columns.get(number / statistics.len())?;
            Some((column, statistics[number % statistics.len()]))
        });
        found.ok_or_else(|| PyValueError::new_err("there is no such column"))
    }

    /// A part of all keys.
    fn keys(&self, part: usize) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let groups = &self.summary.columns[0].groups;
        groups.iter().map(move |group| match self.parts() {
            1 => Cow::Borrowed(&*group.key),
            _ => self.summary.parts(&group.key).nth(part).unwrap_or_default(),
        })
    }

    fn are_texts(&self, part: usize) -> bool {
        self.keys(part).all(|key| std::str::from_utf8(&key).is_ok())
    }

    /// The texts of a column's cells, with all their digits.
    fn texts(&self, number: usize) -> PyResult<Vec<Option<String>>> {
        let (column, statistic) = self.at(number)?;
        let cell = |group| {
            let mut text = Vec::new();
            let exists = format::cell(&mut text, group, statistic, &self.layout);
            exists.then(|| String::from_utf8(text).expect("digits"))
        };
        Ok(column.groups.iter().map(|group| cell(&group.stats)).collect())
    }

    /// A column as an Arrow array: integers if all are, otherwise doubles, or decimals if `exact`.
    fn array(&self, number: usize, exact: bool) -> PyResult<Array> {
        if number < self.parts() {
            let data = Data::texts(self.keys(number), self.are_texts(number));
            return Ok(Array { data, valid: None });
        }
        let texts = self.texts(number)?;
        let valid = texts.iter().any(Option::is_none).then(|| texts.iter().map(Option::is_some));
        let valid = valid.map(|valid| valid.collect());
        let integer = |text: &Option<String>| text.as_deref().map_or(Some(0), |t| t.parse().ok());
        if let Some(integers) = texts.iter().map(integer).collect() {
            return Ok(Array { data: Data::Integers(integers), valid });
        }
        let data = if exact { decimals(&texts)? } else { Data::Doubles(doubles(&texts)) };
        Ok(Array { data, valid })
    }
}

fn doubles(texts: &[Option<String>]) -> Vec<f64> {
    let double = |text: &str| text.parse().expect("a decimal number is a double");
    texts.iter().map(|text| text.as_deref().map_or(0.0, double)).collect()
}

/// The same numbers in units of the finest, in 128 bits.
fn decimals(texts: &[Option<String>]) -> PyResult<Data> {
    let part = |text: &str| text.split_once('.').map_or(0, |(_, part)| part.len());
    let scale = texts.iter().flatten().map(|text| part(text)).max().unwrap_or(0);
    let units = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or("0");
        let zeros = "0".repeat(scale - part(text));
        let units = format!("{}{zeros}", text.replace('.', ""));
        units.parse::<i128>().ok().filter(|units| units.unsigned_abs() < 10_u128.pow(38))
    };
    let all: Option<Vec<i128>> = texts.iter().map(units).collect();
    let wide = || PyValueError::new_err("numbers of more than 38 digits: use to_dicts(exact=True)");
    if scale > 38 {
        return Err(wide());
    }
    Ok(Data::Decimals(all.ok_or_else(wide)?, scale))
}

#[pymethods]
impl Groups {
    fn __len__(&self) -> usize {
        self.summary.columns[0].groups.len()
    }

    #[getter]
    fn records(&self) -> u64 {
        self.summary.records
    }

    #[getter]
    fn rejected(&self) -> u64 {
        self.summary.rejected
    }

    #[getter]
    fn blank_lines(&self) -> u64 {
        self.summary.blank_lines
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.summary.bytes
    }

    /// The first refused records, as the command says them.
    #[getter]
    fn rejects(&self) -> Vec<String> {
        self.summary.shown_rejects.iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        format::headings(&self.summary.columns, &self.layout)
    }

    /// A column as Python's objects: texts (bytes if one is not UTF-8), integers and floats; what does
    /// not exist is None.
    fn column<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyList>> {
        if number < self.parts() {
            let list = PyList::empty(py);
            let is_text = self.are_texts(number);
            for key in self.keys(number) {
                match std::str::from_utf8(&key) {
                    Ok(text) if is_text => list.append(text)?,
                    _ => list.append(PyBytes::new(py, &key))?,
                }
            }
            return Ok(list);
        }
        let valid = self.texts(number)?;
        match self.array(number, false)?.data {
            Data::Integers(all) => {
                PyList::new(py, valid.iter().zip(all).map(|(text, n)| text.as_ref().map(|_| n)))
            }
            Data::Doubles(all) => {
                PyList::new(py, valid.iter().zip(all).map(|(text, n)| text.as_ref().map(|_| n)))
            }
            Data::Texts { .. } | Data::Decimals(..) => unreachable!("numbers, not exact"),
        }
    }

    /// The numbers of a column as text, with all their digits.
    fn exact(&self, number: usize) -> PyResult<Vec<Option<String>>> {
        self.texts(number)
    }

    /// The result as the command prints it.
    #[pyo3(signature = (form, decimals=None, rounding="half-up"))]
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
        let layout = Layout { decimals, rounding, ..self.layout.clone() };
        let columns = &self.summary.columns;
        if form == "brc" && columns.len() > 1 {
            return Err(PyValueError::new_err("the brc format shows one value"));
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

    /// The first and the last rows as a table for people.
    fn shown(&self, first: usize, last: usize) -> (String, String) {
        let part = |range: std::ops::Range<usize>| {
            let column = |column: &Column| Column {
                groups: column.groups[range.clone()].to_vec(),
                name: column.name.clone(),
                scale: column.scale,
            };
            let columns: Vec<Column> = self.summary.columns.iter().map(column).collect();
            String::from_utf8_lossy(&format::table(&columns, &self.layout)).into_owned()
        };
        let rows = self.__len__();
        let first = first.min(rows);
        (part(0..first), part(rows - last.min(rows - first)..rows))
    }

    /// An Arrow stream of one batch.
    #[pyo3(signature = (exact=false))]
    fn stream<'py>(&self, py: Python<'py>, exact: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let names = self.names();
        let arrays = (0..names.len()).map(|number| self.array(number, exact));
        write::stream(py, names, arrays.collect::<PyResult<_>>()?)
    }

    /// The types of that stream.
    #[pyo3(signature = (exact=false))]
    fn schema<'py>(&self, py: Python<'py>, exact: bool) -> PyResult<Bound<'py, PyCapsule>> {
        let names = self.names();
        let arrays = (0..names.len()).map(|number| self.array(number, exact));
        write::schema(py, &names, &arrays.collect::<PyResult<Vec<_>>>()?)
    }
}
