//! What nobody said of how texts are written: guessed as the command does, and told.

use fathom_aggregate::guess::{self, Guessed, Said};
use fathom_aggregate::{Error, Query, Source};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::aggregate::word_of;

/// What was guessed.
#[derive(Default)]
pub(crate) struct Guesses {
    guessed: Guessed,
    /// Of the first text that is not UTF-8.
    encoding: Option<&'static str>,
}

impl Guesses {
    /// A source as text in UTF-8.
    ///
    /// # Errors
    /// A source that is no text.
    pub(crate) fn text(&mut self, source: Source) -> Result<Source, Error> {
        let (text, encoding) = text_of(source)?;
        self.encoding = self.encoding.or(encoding);
        Ok(text)
    }

    /// Enters into the query what is not said of texts.
    pub(crate) fn settle(&mut self, texts: &mut [Source], query: Option<&mut Query>, said: &Said) {
        if let Some(query) = query {
            self.guessed = guess::settle(query, said, texts);
        }
    }

    /// The guesses by the names of the options that say otherwise.
    pub(crate) fn told<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Guesses { guessed, encoding } = self;
        let told = PyDict::new(py);
        let tell = |name: &str, is_guessed: bool, value: &str| match is_guessed {
            true => told.set_item(name, value),
            false => Ok(()),
        };
        let delimiter = guessed.delimiter.map(char::from).map(String::from).unwrap_or_default();
        tell("format_in", guessed.syntax.is_some(), guessed.syntax.map_or("", word_of))?;
        tell("delimiter", !delimiter.is_empty(), &delimiter)?;
        tell("encoding", encoding.is_some(), encoding.unwrap_or_default())?;
        for (name, is_guessed, value) in [
            ("quotes", guessed.no_quotes, false),
            ("header", guessed.header, true),
            ("decimal_comma", guessed.decimal_comma, true),
        ] {
            if is_guessed {
                told.set_item(name, value)?;
            }
        }
        Ok(told)
    }
}

/// A source as text in UTF-8, and what it was if it was not.
///
/// # Errors
/// A source that is no text.
pub(crate) fn text_of(mut source: Source) -> Result<(Source, Option<&'static str>), Error> {
    const LOOKED_AT_BYTES: usize = 64;
    let (first, _) = source.peek(LOOKED_AT_BYTES);
    let path = source.path().to_owned();
    if let Some((what, hint)) = fathom_input::foreign(&first) {
        return Err(Error::Foreign { path, what, hint });
    }
    let Some(is_little) = fathom_input::utf_16(&first) else { return Ok((source, None)) };
    let reader = fathom_input::decoded(source.into_reader(), is_little);
    let encoding = if is_little { "utf-16-le" } else { "utf-16-be" };
    Ok((Source::Stream { path, reader }, Some(encoding)))
}

/// What these first bytes of an input are instead of text, in words.
#[pyfunction]
pub(crate) fn foreign(first: &[u8]) -> Option<&'static str> {
    fathom_input::foreign(first).map(|(what, _)| what)
}
