//! Lines of JSON: of each object the members that were asked for, by their paths.
//!
//! A path is the names of members within each other, and the numbers of elements from 0, with dots
//! between: `user.name`, `tags.0`. No tree is built: the lexer's events go by, and the place of each value
//! that has a path in demand is noted. A member that is not there, or null, has no value.

use fathom_json::{Event, Lexer, Located, Mode};

use crate::error::{Fault, Reason};
use crate::record::Field;

/// Finds the values of paths in line after line.
#[derive(Debug)]
pub(crate) struct Finder {
    fresh: Lexer,
    paths: Vec<Vec<u8>>,
    found: Vec<bool>,
    path: Vec<u8>,
    open: Vec<Open>,
}

/// A container that is not yet closed.
#[derive(Debug)]
struct Open {
    /// Bytes of its own path.
    path: usize,
    /// Of an array, the number of its next element.
    next: Option<usize>,
}

impl Finder {
    pub(crate) fn new(paths: impl Iterator<Item = Vec<u8>>) -> Finder {
        let fresh = Lexer::new(Mode::Document);
        let (found, path, open) = (Vec::new(), Vec::new(), Vec::new());
        Finder { fresh, paths: paths.collect(), found, path, open }
    }

    /// The values in a line, `start..end` of the bytes, one for each path; false if there is nothing on it.
    ///
    /// # Errors
    /// What is no JSON, and what a value in demand must not be.
    pub(crate) fn split(
        &mut self,
        bytes: &[u8],
        (start, end): (usize, usize),
        fields: &mut Vec<Field>,
    ) -> Result<bool, Fault> {
        let line = &bytes[start..end];
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        fields.clear();
        fields.resize(self.paths.len(), Field::new(start, start));
        self.found.clear();
        self.found.resize(self.paths.len(), false);
        self.path.clear();
        self.open.clear();
        let mut lexer = self.fresh.clone();
        let wrong = |error: fathom_json::Error| {
            Fault::at(start + error.offset as usize, Reason::Json(error.code))
        };
        let mut at = 0;
        while let Some(located) = lexer.next_located(line, &mut at).map_err(wrong)? {
            self.take(located, line, start, fields)?;
        }
        // A number that nothing follows comes now: it is the whole line, or the line is cut.
        while lexer.end().map_err(wrong)?.is_some() {}
        match line.iter().position(|byte| !byte.is_ascii_whitespace()) {
            Some(first) if line[first] != b'{' => Err(Fault::at(start + first, Reason::NoObject)),
            _ => Ok(true),
        }
    }

    fn take(
        &mut self,
        Located { event, offset, .. }: Located<'_>,
        line: &[u8],
        start: usize,
        fields: &mut [Field],
    ) -> Result<(), Fault> {
        let at = start + offset as usize;
        let fault = |reason| Fault::at(at, reason);
        match event {
            Event::Key(name) => {
                let name = name.decode().map_err(|_| fault(Reason::LoneSurrogate))?;
                let own = self.open.last().expect("a key stands in an object").path;
                self.path.truncate(own);
                self.extend(name.as_bytes());
                return Ok(());
            }
            Event::EndObject | Event::EndArray => {
                let own = self.open.pop().expect("the lexer saw it open").path;
                self.path.truncate(own);
                return Ok(());
            }
            _ => {}
        }
        self.element();
        let is_container = matches!(event, Event::StartObject | Event::StartArray);
        if self.open.is_empty() && event != Event::StartObject {
            return Err(fault(Reason::NoObject));
        }
        let wanted = self.paths.iter().position(|path| *path == self.path);
        if let Some(place) = wanted.filter(|_| !self.open.is_empty()) {
            if std::mem::replace(&mut self.found[place], true) {
                return Err(fault(Reason::Twice));
            }
            fields[place] = match event {
                Event::String(text) => {
                    text.decode().map_err(|_| fault(Reason::LoneSurrogate))?;
                    let range = (at + 1, at + 1 + text.raw().len());
                    if text.has_escapes() {
                        Field::json(range.0, range.1)
                    } else {
                        Field::new(range.0, range.1)
                    }
                }
                Event::Number(number) => Field::new(at, at + number.text().len()),
                Event::Bool(true) => Field::new(at, at + 4),
                Event::Bool(false) => Field::new(at, at + 5),
                Event::Null => Field::new(at, at),
                _ => return Err(fault(Reason::Nested)),
            };
            debug_assert!(fields[place].range().end <= start + line.len());
        }
        if is_container {
            let next = (event == Event::StartArray).then_some(0);
            self.open.push(Open { path: self.path.len(), next });
        }
        Ok(())
    }

    /// In an array, goes to the path of the next element.
    fn element(&mut self) {
        let Some(Open { path, next: Some(next) }) = self.open.last_mut() else { return };
        let (own, number) = (*path, *next);
        *next += 1;
        self.path.truncate(own);
        self.extend(number.to_string().as_bytes());
    }

    fn extend(&mut self, name: &[u8]) {
        if self.open.len() > 1 {
            self.path.push(b'.');
        }
        self.path.extend_from_slice(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, paths: &[&str]) -> Result<Vec<String>, (usize, Reason)> {
        let mut finder = Finder::new(paths.iter().map(|path| path.as_bytes().to_vec()));
        let (mut fields, bytes) = (Vec::new(), line.as_bytes());
        let found = finder.split(bytes, (0, line.len()), &mut fields);
        found.map_err(|fault| (fault.at, fault.reason))?;
        let text = |field: Field| String::from_utf8(field.content(bytes).into_owned()).unwrap();
        Ok(fields.into_iter().map(text).collect())
    }

    #[test]
    fn values_are_found_by_their_paths() {
        let line = r#" {"a": 1.50, "b": {"c": "x\n\u00e9", "a": true, "d": {}}, "t": [[7], {"u": "v"}, false], "n": null, "a.b": -1e3, "": "e"} "#;
        for (path, expected) in [
            ("a", "1.50"),
            ("b.c", "x\n\u{e9}"),
            ("b.a", "true"),
            ("t.0.0", "7"),
            ("t.1.u", "v"),
            ("t.2", "false"),
            ("t.3", ""),
            ("n", ""),
            ("c", ""),
            ("b.c.d", ""),
            ("a.b", "-1e3"),
            ("", "e"),
        ] {
            assert_eq!(read(line, &[path]), Ok(vec![expected.to_owned()]), "{path}");
        }
        assert_eq!(read(line, &["t.2", "a"]), Ok(vec!["false".to_owned(), "1.50".to_owned()]));
        assert_eq!(read(" \r", &["a"]), Ok(vec![]));
    }

    #[test]
    fn what_is_no_object_or_no_json_says_where() {
        for (line, at, reason) in [
            ("7", 0, Reason::NoObject),
            ("[{\"a\": 1}]", 0, Reason::NoObject),
            ("{\"a\": [1]}", 6, Reason::Nested),
            ("{\"a\": {\"b\": 1}}", 6, Reason::Nested),
            ("{\"a\": 1, \"a\": 2}", 14, Reason::Twice),
            ("{\"a\": \"\\ud800\"}", 6, Reason::LoneSurrogate),
            ("{\"a\": 1", 7, Reason::Json(fathom_json::Code::Truncated)),
            ("{\"a\": 01}", 7, Reason::Json(fathom_json::Code::LeadingZero)),
            ("{\"b\": nul}", 9, Reason::Json(fathom_json::Code::BadLiteral)),
            ("{} {}", 3, Reason::Json(fathom_json::Code::TrailingText)),
        ] {
            assert_eq!(read(line, &["a"]), Err((at, reason)), "{line}");
        }
    }
}
