//! A field of the JSON object on each line: strings decoded, numbers as they are written. Lines
//! that hold white space only are passed over; a line that is no object, or has the field not or
//! twice, is an error.

use std::borrow::Cow;

use fathom_json::{Event, Lexer, Mode};

use super::text::line_ends;
use crate::error::{Error, Grow, Reason, bad};
use crate::read::is_space;
use crate::set::{KeySet, Keys, Span};

/// Whether the first line is a JSON document.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    let mut lines = line_ends(bytes).map(|(start, end)| &bytes[start..end]);
    lines
        .find(|line| !line.iter().all(|&byte| is_space(byte)))
        .is_some_and(|line| fathom_json::validate(line).is_ok())
}

pub(super) fn field(bytes: &[u8], path: &str) -> Result<KeySet<'static>, Error> {
    let path: Vec<&str> = path.split('.').collect();
    let (mut copies, mut spans) = (Vec::new(), Vec::new());
    for (number, (start, end)) in line_ends(bytes).enumerate() {
        let line = &bytes[start..end];
        if line.iter().all(|&byte| is_space(byte)) {
            continue;
        }
        let mut search = Search { path: &path, matched: 0, depth: 0, awaits: false, found: None };
        let outcome = search.line(line);
        let here = |what: String| bad(start, Reason::Field { line: number as u64 + 1, what });
        let text = match outcome {
            Err(Trouble::Json(error)) => {
                return Err(bad(start + error.offset as usize, Reason::Json(error.code)));
            }
            Err(Trouble::Field(what)) => return Err(here(what)),
            Ok(text) => text,
        };
        let name = path.join(".");
        let text = text.ok_or_else(|| here(format!("no field {name:?}")))?;
        if text.is_empty() {
            return Err(bad(start, Reason::EmptyKey(number as u64 + 1)));
        }
        let len = u32::try_from(text.len()).map_err(|_| bad(start, Reason::TooLong))?;
        spans.grow(Span { start: copies.len() as u64, len })?;
        copies.try_reserve(text.len()).map_err(|_| Error::Memory(spans.len()))?;
        copies.extend_from_slice(&text);
    }
    Ok(KeySet { bytes: Cow::Owned(copies), keys: Keys::Bytes(spans), values: None })
}

enum Trouble {
    Json(fathom_json::Error),
    Field(String),
}

/// Where in a line's document the search is.
struct Search<'p> {
    path: &'p [&'p str],
    /// How many names of the path the open objects have matched.
    matched: usize,
    depth: usize,
    /// The last key was the next name of the path.
    awaits: bool,
    found: Option<Vec<u8>>,
}

impl Search<'_> {
    fn line(&mut self, line: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        let mut lexer = Lexer::new(Mode::Document);
        let mut at = 0;
        while let Some(event) = lexer.next(line, &mut at).map_err(Trouble::Json)? {
            self.event(event)?;
        }
        while let Some(event) = lexer.end().map_err(Trouble::Json)? {
            self.event(event)?;
        }
        Ok(self.found.take())
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), Trouble> {
        let trouble = |what: &str| Err(Trouble::Field(what.to_owned()));
        let is_value = self.awaits && self.matched + 1 == self.path.len();
        if self.depth == 0 && !matches!(event, Event::StartObject) {
            return trouble("a value that is no object");
        }
        match event {
            Event::Key(key) => {
                let here = self.depth == self.matched + 1 && self.matched < self.path.len();
                self.awaits = here && key.is(self.path[self.matched]);
                return Ok(());
            }
            Event::String(text) if is_value => match text.decode() {
                Ok(text) => self.found(text.as_bytes())?,
                Err(_) => return trouble("the field holds half a surrogate pair"),
            },
            Event::Number(number) if is_value => self.found(number.text())?,
            _ if is_value => return trouble("the field is no string and no number"),
            Event::StartObject => {
                // The document itself, or the object a name of the path leads into.
                if self.awaits {
                    self.matched += 1;
                }
                self.depth += 1;
            }
            Event::StartArray => self.depth += 1,
            Event::EndObject | Event::EndArray => {
                self.depth -= 1;
                self.matched = self.matched.min(self.depth.saturating_sub(1));
            }
            _ => {}
        }
        self.awaits = false;
        Ok(())
    }

    fn found(&mut self, text: &[u8]) -> Result<(), Trouble> {
        match self.found.replace(text.to_vec()) {
            None => Ok(()),
            Some(_) => Err(Trouble::Field("the field occurs twice".to_owned())),
        }
    }
}
