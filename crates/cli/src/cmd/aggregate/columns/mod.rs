//! Tables column by column, without text: the same results, several times as fast.
//!
//! One question decides ([`Asked::of`]): can columns answer this query? What they cannot answer goes by text, and so
//! does what they refuse: text alone knows the places of what is wrong, and it is the reference for all they say. No
//! error is told here.

use std::fmt;
use std::io;
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::new_empty_array;
use fathom_aggregate::columnar::{self, Frame, Part, Piece};
use fathom_aggregate::{
    Error, Kind, Options as EngineOptions, Progress, Query, Selector, Summary, Value,
};

use super::Options;
use crate::input::Columns;

mod arrays;
#[cfg(test)]
mod tests;

use arrays::{Rows, numbers, texts};

/// A table, and what messages call it.
type Table = (PathBuf, Columns);

/// What is known of these tables together, if columns can tell.
pub(super) fn summarise(
    options: &Options,
    query: Option<&Query>,
    tables: &[Table],
    engine: &EngineOptions,
    progress: &Progress,
) -> Option<Summary> {
    let query = query.filter(|_| !tables.is_empty())?;
    let told = |said: &dyn fmt::Display| {
        if options.verbose {
            say!("{said}");
        }
    };
    let asked = match Asked::of(query, engine, tables) {
        _ if options.range.is_some() => return None,
        Ok(asked) => asked,
        Err(why) => {
            told(&format_args!("tables become text: {why}"));
            return None;
        }
    };
    told(&"tables are read column by column");
    let summary = asked.answer(tables, engine, progress).ok();
    if summary.is_none() {
        told(&"something is wrong: tables become text, which has its place");
        progress.bytes.store(0, Ordering::Relaxed);
    }
    summary
}

/// Why columns cannot answer a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum Unfit {
    #[error("values are computed")]
    Formula,
    #[error("texts are told of")]
    Texts,
    #[error("--null-values says what is missing")]
    Nulls,
    #[error("columns are chosen by number")]
    Places,
    #[error("--memory-limit counts what text takes")]
    Limit,
    #[error("there are two columns {0:?}")]
    Twice(String),
    #[error("column {0:?} is of another type")]
    Type(String),
    #[error("column {0:?} has several types")]
    Differs(String),
}

/// A question that columns answer.
struct Asked {
    frame: Frame,
    /// Of each table, where its columns of keys, values and conditions stand among those that were chosen.
    places: Vec<Arc<[usize]>>,
    /// How many of them are keys, and values.
    sizes: [usize; 2],
}

impl Asked {
    /// What a query asks of these tables, if columns can answer it.
    fn of(query: &Query, engine: &EngineOptions, tables: &[Table]) -> Result<Asked, Unfit> {
        const NAN: &[u8] = b"NaN";
        let is_number = |value: &Value| value.kind == Kind::Number;
        let unfit = [
            (query.values.iter().any(|value| value.formula.is_some()), Unfit::Formula),
            (!query.values.iter().all(is_number), Unfit::Texts),
            (!query.nulls.iter().all(|null| [&b""[..], NAN].contains(&&**null)), Unfit::Nulls),
            (query.has_places(), Unfit::Places),
            (engine.memory_limit_bytes.is_some(), Unfit::Limit),
        ];
        if let Some((_, why)) = unfit.into_iter().find(|(is_so, _)| *is_so) {
            return Err(why);
        }
        let name = |column: &Selector| match column {
            Selector::Name(name) => name.clone(),
            Selector::Place(_) => unreachable!("all are chosen by their names"),
        };
        let keys: Vec<String> = query.by.iter().map(|by| name(&by.column)).collect();
        let values = query.values.iter().map(|value| (name(&value.column), value.null));
        let values: Vec<_> = values.collect();
        let filter = query.filter.clone().map(|filter| {
            let names = filter.columns().iter().map(name).collect::<Vec<_>>();
            (filter, names)
        });
        let filtered = filter.iter().flat_map(|(_, names)| names);
        let names = keys.iter().chain(values.iter().map(|(name, _)| name)).chain(filtered);
        let names: Vec<&String> = names.collect();
        let is_value = |at: usize| (keys.len()..keys.len() + values.len()).contains(&at);
        let mut places = Vec::new();
        for (_, table) in tables {
            let mut of_table = Vec::new();
            for (at, &name) in names.iter().enumerate() {
                let mut found = table.fields().enumerate().filter(|(_, f)| f.name() == name);
                let (Some((place, field)), None) = (found.next(), found.next()) else {
                    return Err(Unfit::Twice(name.clone()));
                };
                let none = new_empty_array(field.data_type());
                let fits =
                    if is_value(at) { numbers(&none).is_some() } else { texts(&none).is_some() };
                if !fits {
                    return Err(Unfit::Type(name.clone()));
                }
                let (_, first) = &tables[0];
                let mut types = first.fields().filter(|f| f.name() == name).map(|f| f.data_type());
                if types.next() != Some(field.data_type()) {
                    return Err(Unfit::Differs(name.clone()));
                }
                of_table.push(place);
            }
            places.push(of_table.into());
        }
        let sizes = [keys.len(), values.len()];
        let mut frame = Frame {
            path: PathBuf::new(),
            keys,
            values,
            filter,
            shape: query.shapes_keys().then(|| query.clone()),
            nan_is_missing: query.nulls.iter().any(|null| null == NAN),
            fail: true,
        };
        if frame.values.is_empty() {
            frame.values.push(("records".to_owned(), fathom_aggregate::Null::Skip));
        }
        Ok(Asked { frame, places, sizes })
    }

    /// # Errors
    /// Whatever is wrong, without a place that means anything.
    fn answer(
        &self,
        tables: &[Table],
        engine: &EngineOptions,
        progress: &Progress,
    ) -> Result<Summary, Error> {
        let parts = tables.iter().zip(&self.places).flat_map(|((_, columns), places)| {
            (0..columns.parts()).map(move |part| (columns, part, places))
        });
        let parts = Parts(parts.enumerate(), self.sizes);
        let mut summary = columnar::aggregate_parts(parts, &self.frame, engine, progress)?;
        summary.bytes = progress.bytes.load(Ordering::Relaxed);
        Ok(summary)
    }
}

/// All parts of all tables, and how many of their columns are keys, and values.
struct Parts<I>(I, [usize; 2]);

impl<'t, I> columnar::Parts for Parts<I>
where
    I: Iterator<Item = (usize, (&'t Columns, usize, &'t Arc<[usize]>))> + Send,
{
    type Batch = Rows;

    fn next(&mut self) -> Result<Option<Part<Rows>>, Error> {
        let Some((source, (columns, part, places))) = self.0.next() else { return Ok(None) };
        let (columns, places, sizes) = (columns.clone(), Arc::clone(places), self.1);
        let (mut batches, mut row) = (None, 0);
        let mut next = move || -> io::Result<Option<Piece<Rows>>> {
            if batches.is_none() {
                batches = Some(columns.arrays(part)?);
            }
            let Some(batch) = batches.as_mut().and_then(Iterator::next) else { return Ok(None) };
            let batch = Arc::new(Rows::new(batch?, &places, sizes)?);
            let (rows, place) = (0..columnar::Batch::rows(&*batch), (source, row));
            row += rows.len() as u64;
            Ok(Some(Piece { batch, rows, place }))
        };
        let read = |source| Error::Read { path: PathBuf::new(), byte: 0, source };
        Ok(Some(Box::new(iter::from_fn(move || next().map_err(read).transpose()))))
    }
}
