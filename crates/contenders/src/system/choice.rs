//! Which file each library is opened from, where the user or the process that started this one says so.
//!
//! Opens nothing.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::ALL;

/// Where a library comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// From this file and no other.
    File(PathBuf),
    /// From nowhere: it takes no part.
    None,
}

/// By the names of the libraries; `*` stands for all.
type Choices = Vec<(String, Choice)>;

static CHOSEN: OnceLock<Choices> = OnceLock::new();

/// Takes the choices of `--library`: `NAME=FILE`, `NAME=none`, or `none` for all; to be called before any
/// library is asked for, and once.
///
/// # Errors
/// A library that is not known, a file that is not there, a choice without a name.
pub fn choose(texts: &[String]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let choices = texts.iter().map(|text| parsed(text)).collect::<Result<Choices, _>>()?;
    CHOSEN.set(choices).map_err(|_| "libraries are chosen once".into())
}

/// Opens the libraries that were chosen by a file.
///
/// # Errors
/// Why one of them cannot be used.
pub fn ensure_usable() -> Result<(), &'static str> {
    let is_named = |name: &str| matches!(chosen(name), Some(Choice::File(_)));
    let mut named = ALL.iter().filter(|library| is_named(library.name()));
    named.try_for_each(|library| library.ensure())
}

fn parsed(text: &str) -> Result<(String, Choice), Box<dyn Error + Send + Sync>> {
    if text == "none" {
        return Ok(("*".to_owned(), Choice::None));
    }
    let (name, file) = text.split_once('=').ok_or_else(|| {
        format!(
            "{text:?} is no choice of a library (such as zlib=/opt/libz.so.1, zlib=none or none)"
        )
    })?;
    if !ALL.iter().any(|library| library.name() == name) {
        let all: Vec<&str> = ALL.iter().map(|library| library.name()).collect();
        return Err(format!("no library {name:?}; there is: {}", all.join(", ")).into());
    }
    if file == "none" {
        return Ok((name.to_owned(), Choice::None));
    }
    if file.is_empty() {
        return Err(format!("{text} names no file, nor {name}=none").into());
    }
    // Workers may run in other folders; and a name without one would be looked for by the loader.
    let whole = Path::new(file).canonicalize();
    let whole = whole.map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
    Ok((name.to_owned(), Choice::File(whole)))
}

/// What was chosen for a library; the last word counts.
pub(super) fn chosen(name: &str) -> Option<Choice> {
    let choices = CHOSEN.get()?;
    let found = choices.iter().rev().find(|(of, _)| of == name || of == "*");
    found.map(|(_, choice)| choice.clone())
}

/// The arguments with which a worker opens the same libraries: those that this process has opened from
/// the files they came from, those it has not found not at all, the others as they were chosen.
#[must_use]
pub fn arguments() -> Vec<String> {
    let settled = ALL.iter().filter_map(|library| {
        let place = library.found().map(|found| found.unwrap_or("none").to_owned());
        let place = place.or_else(|| match chosen(library.name())? {
            Choice::File(file) => Some(file.to_string_lossy().into_owned()),
            Choice::None => Some("none".to_owned()),
        })?;
        Some(format!("--library={}={place}", library.name()))
    });
    settled.collect()
}
