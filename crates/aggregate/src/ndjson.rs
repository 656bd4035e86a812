//! Lines of JSON: of each object the members that were asked for, by their paths.
//!
//! A path is the names of members within each other, and the numbers of elements from 0, with dots
//! between: `user.name`, `tags.0`. No tree is built: the lexer's events go by, and the place of each value
//! that has a path in demand is noted. A member that is not there, or null, has no value.
//!
//! Most lines have the members of one before, in the same order and with the same blanks. The [`Pattern`]s of a
//! few kinds of lines are kept, with the scalars of each that have a path in demand; a line that follows one of
//! them is not read by the lexer.

use std::ops::Range;

use fathom_json::{Event, Kind, Lexer, Limits, Located, Marker, Mode, Pattern, Scalar};
use fathom_machine::level::Level;

use crate::error::{Fault, Reason};
use crate::record::Field;

/// How many kinds of lines are kept.
const KINDS: usize = 4;

/// Bytes and scalars of a line that is kept: about ten times those of a long line of a log.
const MOST_BYTES: usize = 16 << 10;
const MOST_SCALARS: usize = 512;

/// Finds the values of paths in line after line.
#[derive(Debug)]
pub(crate) struct Finder {
    fresh: Lexer,
    level: Level,
    paths: Vec<Vec<u8>>,
    /// The members that those are in.
    on_the_way: Vec<Vec<u8>>,
    /// Kinds of lines, that of the last one first.
    known: Vec<Known>,
    marked: Marked,
    /// The scalars of the line in hand, as a kind has them.
    scalars: Vec<Scalar>,
    /// Of the line in hand where each scalar stands, and those in demand.
    places: Vec<Range<usize>>,
    wanted: Vec<Wanted>,
    found: Vec<bool>,
    /// Which of the paths a line had so far. One that follows a kind has what the line had that it was learned from.
    met_yet: Vec<bool>,
    /// Of the line in hand, which members on the way were met.
    met: Vec<bool>,
    /// The paths whose values in the line in hand are none, in the order of their faults.
    refused: Vec<usize>,
    path: Vec<u8>,
    open: Vec<Open>,
}

/// The marks of some lines that are split next.
#[derive(Debug)]
struct Marked {
    marker: Marker,
    marks: Vec<u32>,
    /// How many of them are of lines that were split.
    passed: usize,
    /// Lines that were not.
    lines: usize,
    /// Where the next one starts.
    next: usize,
    /// Lines that were found by their marks, since some were marked.
    stood: usize,
    /// Lines until others are marked.
    pause: usize,
}

/// Bytes of lines that are marked at once: they and their marks stay near.
const MARKED_BYTES: usize = 16 << 10;

/// If of the lines that were marked few were found so, this many times as many are not marked.
const PAUSE: usize = 32;

impl Marked {
    fn new(level: Level) -> Marked {
        Marked {
            marker: Marker::of(level),
            marks: Vec::new(),
            passed: 0,
            lines: 0,
            next: 0,
            stood: 0,
            pause: 0,
        }
    }

    /// The marks of the first of some lines, which may be of a kind that is known.
    fn pass(&mut self, bytes: &[u8], lines: &[(usize, usize)], known: &[Known]) -> Range<usize> {
        let (start, end) = lines[0];
        if self.lines == 0 {
            self.pause = self.pause.saturating_sub(1);
            let is_far = end - start > MARKED_BYTES;
            let has_marks = known.iter().any(|known| known.pattern.marks().is_some());
            if self.pause > 0 || is_far || !has_marks {
                return 0..0;
            }
            let count = lines.partition_point(|line| line.1 <= start + MARKED_BYTES);
            (self.passed, self.lines, self.next, self.stood) = (0, count, start, 0);
            self.pause = PAUSE * count;
            self.marks.clear();
            // With the last line feed.
            let to = bytes.len().min(lines[count - 1].1 + 1);
            self.marker.mark(bytes, start..to, &mut self.marks);
        }
        assert_eq!(start, self.next, "lines are split in their order");
        self.lines -= 1;
        self.next = lines.get(1).map_or(end, |line| line.0);
        let marks = &self.marks[self.passed..];
        let is_end = |&count: &usize| marks.get(count).is_some_and(|&mark| mark as usize == end);
        let usual = known.iter().filter_map(|known| known.pattern.marks()).find(is_end);
        let found = usual.unwrap_or_else(|| marks.partition_point(|&mark| (mark as usize) < end));
        let from = self.passed;
        self.passed = self.marks.len().min(from + found + 1);
        from..from + found
    }

    /// Notes that a line was found by its marks.
    fn stand(&mut self) {
        self.stood += 1;
        if 2 * self.stood > self.pause / PAUSE {
            self.pause = 0;
        }
    }
}

/// A kind of lines.
#[derive(Debug)]
struct Known {
    pattern: Pattern,
    wanted: Vec<Wanted>,
}

/// Which scalar of a line has which of the paths.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    scalar: usize,
    path: usize,
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
    pub(crate) fn new(paths: impl Iterator<Item = Vec<u8>>, level: Level) -> Finder {
        let paths: Vec<Vec<u8>> = paths.collect();
        let before = |path: &Vec<u8>| {
            let dots = memchr::memchr_iter(b'.', path).collect::<Vec<_>>();
            dots.into_iter().map(|dot| path[..dot].to_vec()).collect::<Vec<_>>()
        };
        let mut on_the_way: Vec<Vec<u8>> = paths.iter().flat_map(before).collect();
        on_the_way.sort_unstable();
        on_the_way.dedup();
        Finder {
            fresh: Lexer::with(Mode::Document, Limits::DEFAULT, level),
            level,
            on_the_way,
            known: Vec::with_capacity(KINDS),
            marked: Marked::new(level),
            scalars: Vec::new(),
            places: Vec::new(),
            wanted: Vec::new(),
            found: Vec::new(),
            met_yet: vec![false; paths.len()],
            met: Vec::new(),
            refused: Vec::new(),
            path: Vec::new(),
            open: Vec::new(),
            paths,
        }
    }

    /// The paths whose values in the line that was split last are none, where nothing else is wrong with it: its other
    /// values were found.
    pub(crate) fn refused(&self) -> &[usize] {
        &self.refused
    }

    /// The paths that no line had so far.
    pub(crate) fn absent(self) -> impl Iterator<Item = Vec<u8>> {
        self.paths.into_iter().zip(self.met_yet).filter(|(_, met)| !met).map(|(path, _)| path)
    }

    /// The values in the first of some lines, each `start..end` of the bytes, one for each path; false if there is nothing on
    /// it. The lines behind it are those that are split next, and in these bytes, which is taken for granted. What
    /// stands behind a line, which begins with its line feed, is not looked at but for speed.
    ///
    /// # Errors
    /// What is no JSON, and what a value in demand must not be.
    ///
    /// # Panics
    /// If there is no line, or another one was expected.
    pub(crate) fn split(
        &mut self,
        bytes: &[u8],
        lines: &[(usize, usize)],
        fields: &mut Vec<Field>,
    ) -> Result<bool, Fault> {
        let line @ (start, end) = lines[0];
        fields.clear();
        fields.resize(self.paths.len(), Field::new(start, start));
        self.refused.clear();
        let marks = self.marked.pass(bytes, lines, &self.known);
        let marks = &self.marked.marks[marks];
        let stands = |known: &Known| known.pattern.stands(bytes, start..end, marks);
        if let Some(known) = self.known.iter().position(stands) {
            let Known { pattern, wanted } = &self.known[known];
            let scalar = |number| pattern.scalar(bytes, number, marks, end);
            assert!(follow(wanted, scalar, fields), "no string has escapes");
            self.known[..=known].rotate_right(1);
            self.marked.stand();
            return Ok(true);
        }
        let mut is_known = false;
        for known in 0..self.known.len() {
            let Known { pattern, wanted } = &self.known[known];
            if pattern.find(bytes, start, &mut self.scalars) == Some(end) {
                let is_followed = follow(wanted, |number| self.scalars[number], fields);
                self.known[..=known].rotate_right(1);
                if is_followed {
                    return Ok(true);
                }
                is_known = true;
                break;
            }
        }
        let mut first = None;
        let is_record = self.read(bytes, line, fields, &mut first).map_err(|fault| {
            self.refused.clear();
            first.take().unwrap_or(fault)
        })?;
        if let Some(fault) = first {
            return Err(fault);
        }
        if is_record && !is_known {
            self.learn(&bytes[start..end]);
        }
        Ok(is_record)
    }

    /// [`Finder::split`] by the lexer. What a value must not be is no end: the `first` of these is kept.
    fn read(
        &mut self,
        bytes: &[u8],
        (start, end): (usize, usize),
        fields: &mut [Field],
        first: &mut Option<Fault>,
    ) -> Result<bool, Fault> {
        let line = &bytes[start..end];
        if line.trim_ascii().is_empty() {
            return Ok(false);
        }
        fields.fill(Field::new(start, start));
        self.places.clear();
        self.wanted.clear();
        self.found.clear();
        self.found.resize(self.paths.len(), false);
        self.met.clear();
        self.met.resize(self.on_the_way.len(), false);
        self.path.clear();
        self.open.clear();
        let mut lexer = self.fresh.clone();
        let wrong = |error: fathom_json::Error| {
            Fault::at(start + error.offset as usize, Reason::Json(error.code))
        };
        let mut at = 0;
        while let Some(located) = lexer.next_located(line, &mut at).map_err(wrong)? {
            self.take(located, line, start, fields, first)?;
        }
        self.met_yet.iter_mut().zip(&self.found).for_each(|(yet, now)| *yet |= now);
        // A number that nothing follows comes now: it is the whole line, or the line is cut.
        while lexer.end().map_err(wrong)?.is_some() {}
        match line.iter().position(|byte| !byte.is_ascii_whitespace()) {
            Some(first) if line[first] != b'{' => Err(Fault::at(start + first, Reason::NoObject)),
            _ => Ok(true),
        }
    }

    /// Keeps the kind of a line that was read, in the place of that whose last line is longest ago.
    fn learn(&mut self, line: &[u8]) {
        if line.len() > MOST_BYTES || self.places.len() > MOST_SCALARS {
            return;
        }
        self.known.truncate(KINDS - 1);
        let pattern = Pattern::of(line, &self.places, self.level);
        self.known.insert(0, Known { pattern, wanted: self.wanted.clone() });
    }

    fn take(
        &mut self,
        Located { event, offset, .. }: Located<'_>,
        line: &[u8],
        start: usize,
        fields: &mut [Field],
        first: &mut Option<Fault>,
    ) -> Result<(), Fault> {
        let at = start + offset as usize;
        let fault = |reason| Fault::at(at, reason);
        match event {
            Event::Key(name) => {
                let own = self.open.last().expect("a key stands in an object").path;
                self.path.truncate(own);
                match name.decode() {
                    Ok(name) => self.extend(name.as_bytes()),
                    // Half a surrogate pair equals no name: neither does a byte that UTF-8 never has.
                    Err(_) => self.extend(&[0xff]),
                }
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
        let scalar = self.places.len();
        if !is_container {
            self.places.push(offset as usize..offset as usize + bytes_of(event));
        }
        if self.open.is_empty() && event != Event::StartObject {
            return Err(fault(Reason::NoObject));
        }
        // Of a member that is there twice nobody knows which one is meant, nor what is in it.
        if let Ok(place) = self.on_the_way.binary_search(&self.path)
            && !self.open.is_empty()
            && std::mem::replace(&mut self.met[place], true)
        {
            return Err(fault(Reason::Twice));
        }
        let wanted = self.paths.iter().position(|path| *path == self.path);
        if let Some(place) = wanted.filter(|_| !self.open.is_empty()) {
            let value = match std::mem::replace(&mut self.found[place], true) {
                true => Err(Reason::Twice),
                false => value(event, at),
            };
            self.wanted.push(Wanted { scalar, path: place });
            match value {
                Ok(value) => fields[place] = value,
                Err(reason) => {
                    first.get_or_insert(fault(reason));
                    self.refused.push(place);
                }
            }
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

/// The field that a value is.
fn value(event: Event<'_>, at: usize) -> Result<Field, Reason> {
    Ok(match event {
        Event::String(text) => {
            text.decode().map_err(|_| Reason::LoneSurrogate)?;
            let range = (at + 1, at + 1 + text.raw().len());
            match text.has_escapes() {
                true => Field::json(range.0, range.1),
                false => Field::new(range.0, range.1),
            }
        }
        Event::Number(number) => Field::new(at, at + number.text().len()),
        Event::Bool(true) => Field::new(at, at + 4),
        Event::Bool(false) => Field::new(at, at + 5),
        Event::Null => Field::new(at, at),
        _ => return Err(Reason::Nested),
    })
}

/// The values of a line, by its scalars; false if one must be read by the lexer.
fn follow(wanted: &[Wanted], scalar: impl Fn(usize) -> Scalar, fields: &mut [Field]) -> bool {
    wanted.iter().all(|wanted| {
        let Scalar { start, end, kind } = scalar(wanted.scalar);
        fields[wanted.path] = match kind {
            // Half a surrogate pair would have to be refused.
            Kind::String { has_escapes: true } => return false,
            Kind::String { has_escapes: false } => Field::new(start + 1, end - 1),
            Kind::Number | Kind::True | Kind::False => Field::new(start, end),
            Kind::Null => Field::new(start, start),
        };
        true
    })
}

/// How long a scalar is.
fn bytes_of(event: Event<'_>) -> usize {
    match event {
        Event::String(text) => text.raw().len() + 2,
        Event::Number(number) => number.text().len(),
        Event::Bool(false) => 5,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finder(paths: &[&str]) -> Finder {
        Finder::new(paths.iter().map(|path| path.as_bytes().to_vec()), Level::best())
    }

    /// The values of a line in a text; of a blank one none.
    fn values(
        finder: &mut Finder,
        text: &str,
        line: Range<usize>,
    ) -> Result<Vec<String>, (usize, Reason)> {
        let mut fields = Vec::new();
        let found = finder.split(text.as_bytes(), &[(line.start, line.end)], &mut fields);
        if !found.map_err(|fault| (fault.at, fault.reason))? {
            return Ok(Vec::new());
        }
        let content = |field: Field| field.content(text.as_bytes()).into_owned();
        Ok(fields.into_iter().map(|field| String::from_utf8(content(field)).unwrap()).collect())
    }

    /// Whether a line, all of a text or a part of it, is of a kind that is known.
    fn is_of(finder: &mut Finder, known: usize, text: &str, line: Range<usize>) -> bool {
        let fields = &mut vec![Field::new(0, 0); finder.paths.len()];
        let (Known { pattern, wanted }, scalars) = (&finder.known[known], &mut finder.scalars);
        let found = pattern.find(text.as_bytes(), line.start, scalars);
        found == Some(line.end) && follow(wanted, |number| scalars[number], fields)
    }

    fn read(line: &str, paths: &[&str]) -> Result<Vec<String>, (usize, Reason)> {
        values(&mut finder(paths), line, 0..line.len())
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
            ("{\"b\": {\"a\": 1}, \"b\": null, \"a\": 1}", 21, Reason::Twice),
            ("{\"b\": {\"c\": 1}, \"b\": {\"a\": 2}}", 21, Reason::Twice),
            ("{\"a\": \"\\ud800\"}", 6, Reason::LoneSurrogate),
            ("{\"a\": 1", 7, Reason::Json(fathom_json::Code::Truncated)),
            ("{\"a\": 01}", 7, Reason::Json(fathom_json::Code::LeadingZero)),
            ("{\"b\": nul}", 9, Reason::Json(fathom_json::Code::BadLiteral)),
            ("{} {}", 3, Reason::Json(fathom_json::Code::TrailingText)),
        ] {
            assert_eq!(read(line, &["a", "b.a"]), Err((at, reason)), "{line}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_in_a_name_that_nobody_asks_for_was_an_error() {
        for line in [
            r#"{"z":{"\ud83d":1},"a":"x"}"#, r#"{"\ud800":{"a":9,"b":[7]},"a":"x"}"#,
            r#"{"\ud800":1,"\ud800":2,"a":"x"}"#,
        ] {
            let expected = ["x", "", ""].map(str::to_owned).to_vec();
            assert_eq!(read(line, &["a", "z.a", ""]), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_was_read_before_changes_nothing_that_is_found() {
        let kinds = [
            r#"{"a":"x","b":{"c":1},"d":[1,"e"]}"#,
            r#"{"a":"text, with: \"more\" of it","b":{"c":-2.5e3},"d":[null,"é"]}"#,
            r#"{"a":"\ud800","b":{"c":true},"d":["\u00e9",false]}"#,
            r#"{ "a" : null , "b" : { "c" : "x" } , "d" : [ {} , 7 ] } "#,
            r#"{"b":{"c":0.125},"a":12}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":{},"b":1}"#,
            r#"{"x":1,"y":2,"z":[3]}"#,
            r#"{"a":01}"#,
            r#"{"a":1"#,
            "7",
            "",
            " \r",
        ];
        let paths = ["a", "b.c", "d.1"];
        let mut lines: Vec<String> = kinds.map(str::to_owned).to_vec();
        for kind in kinds {
            lines.extend((1..kind.len()).filter(|&at| kind.is_char_boundary(at)).flat_map(|at| {
                let (before, rest) = kind.split_at(at);
                let behind: String = rest.chars().skip(1).collect();
                ["", "9", "\"", ",", "}"].map(|byte| format!("{before}{byte}{behind}"))
            }));
        }
        let (mut seasoned, mut followed) = (finder(&paths), 0);
        for line in &lines {
            for kind in &kinds[..5] {
                let text = format!("{kind}\n{line}\n{kind}\n");
                let place = kind.len() + 1..kind.len() + 1 + line.len();
                let _ = values(&mut seasoned, &text, 0..kind.len());
                let found = values(&mut seasoned, &text, place.clone());
                let expected = values(&mut finder(&paths), &text, place.clone());
                assert_eq!(found, expected, "{kind} {line}");
                followed += usize::from(is_of(&mut seasoned, 0, &text, place));
            }
        }
        assert!(followed > 500, "of {} lines, {followed}", 5 * lines.len());
    }

    /// Splits lines one after the other, each as it is alone; returns how many were found by their marks.
    fn split_together(finder: &mut Finder, lines: &[&str]) -> usize {
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let mut at = 0;
        let place = |line: &&str| {
            at += line.len() + 1;
            (at - 1 - line.len(), at - 1)
        };
        let places: Vec<_> = lines.iter().map(place).collect();
        let mut stood = 0;
        for at in 0..lines.len() {
            let (mut fields, mut expected) = (Vec::new(), Vec::new());
            let before = finder.marked.stood;
            let found = finder.split(text.as_bytes(), &places[at..], &mut fields);
            let paths = finder.paths.clone().into_iter();
            let mut alone = Finder::new(paths, finder.level);
            let alone = alone.split(text.as_bytes(), &places[at..=at], &mut expected);
            let told = |found: Result<bool, Fault>| found.map_err(|fault| (fault.at, fault.reason));
            let is_record = matches!(found, Ok(true));
            assert_eq!(told(found), told(alone), "{at} of {text}");
            assert!(!is_record || fields == expected, "{at} of {text}");
            stood += usize::from(finder.marked.stood > before);
        }
        stood
    }

    #[test]
    fn lines_that_are_marked_at_once_are_what_each_is_alone() {
        let kinds = [
            r#"{"a":"x","b":{"c":1},"d":[1,"e"]}"#,
            r#"{"a":"\"","b":{"c":-2.5e3},"d":[null,"é"]}"#, r#"{"b":{"c":0.125},"a":12}"#,
            r#"{"a":01}"#, r#"{"a":"\ud800","b":{"c":1},"d":[1,"e"]}"#, " ", "",
            r#"{"a":null,"b":{"c":true},"d":[[],"e"]}"#,
            r#"{"a":"null","b":{"c":1},"d":[1,"e"]} "#,
        ];
        let mut random = fathom_random::Random::new(1);
        for level in Level::available() {
            let paths = ["a", "b.c", "d.1"].map(|path| path.as_bytes().to_vec());
            let mut finder = Finder::new(paths.into_iter(), level);
            for _ in 0..100 {
                // Others are rare, so that there are rows of one kind.
                let kind =
                    |_| kinds[if random.below(12) > 0 { 0 } else { random.below(9) as usize }];
                let lines: Vec<&str> = (0..40).map(kind).collect();
                let stood = split_together(&mut finder, &lines);
                assert!(stood > 10, "{level}: {stood} of {lines:?}");
            }
        }
    }

    #[test]
    fn a_kind_that_was_found_by_its_marks_is_the_first_one() {
        let mut finder = finder(&["a"]);
        let kinds: Vec<_> = (0..=KINDS).map(|kind| format!("{{\"{kind}\":0,\"a\":1}}")).collect();
        let lines = [0, 1, 2, 3, 0, 4, 4, 4, 4, 4, 4, 4].map(|kind| &*kinds[kind]);
        assert_eq!(split_together(&mut finder, &lines), 2);
        for (at, kind) in [4, 0, 3, 2].into_iter().enumerate() {
            let text = &*kinds[kind];
            assert!(is_of(&mut finder, at, text, 0..text.len()), "{kind}");
        }
    }

    #[test]
    fn lines_are_not_marked_for_a_while_where_marks_find_none() {
        let (mut finder, long) = (finder(&["a"]), format!("{{\"a\":\"{:20000}\"}}", ""));
        let lines = |a: &'static str| vec![a; 2 * MARKED_BYTES / a.len()];
        assert_eq!(split_together(&mut finder, &lines(r#"{"a":"é"}"#)), 0);
        let pause = finder.marked.pause;
        assert!(pause > 0, "nothing was marked");
        assert_eq!(split_together(&mut finder, &vec![r#"{"a":"e"}"#; pause - 1]), 0);
        let mut plain = lines(r#"{"a":"e"}"#);
        plain.insert(1000, &long);
        assert!(split_together(&mut finder, &plain) > plain.len() - 20);
        assert_eq!(finder.marked.pause, 0);
    }

    #[test]
    fn a_line_of_a_known_kind_with_an_escape_takes_no_place_of_another_kind() {
        let mut finder = finder(&["a"]);
        let line = |kind: usize, a: &str| format!("{{\"kind {kind}\":0,\"a\":\"{a}\"}}");
        for (kind, escape) in
            (0..KINDS).flat_map(|kind| [(kind, "x"), (kind, r"\/"), (kind, r"\/")])
        {
            let text = line(kind, escape);
            let expected = escape.trim_start_matches('\\').to_owned();
            assert_eq!(values(&mut finder, &text, 0..text.len()), Ok(vec![expected]));
        }
        for (at, kind) in (0..KINDS).rev().enumerate() {
            let text = line(kind, "x");
            assert!(is_of(&mut finder, at, &text, 0..text.len()), "{kind}");
        }
        let text = line(1, r"\u00e9");
        assert_eq!(values(&mut finder, &text, 0..text.len()), Ok(vec!["\u{e9}".to_owned()]));
        let text = line(1, "x");
        assert!(is_of(&mut finder, 0, &text, 0..text.len()));
    }

    #[test]
    fn kinds_of_lines_take_turns() {
        let mut finder = finder(&["a"]);
        let line = |kind: usize| format!("{{\"kind {kind}\":0,\"a\":{kind}}}");
        for kind in [0, 1, 2, 3, 0, 4, 0, 1] {
            let (text, before) = (line(kind), finder.known.len());
            assert_eq!(values(&mut finder, &text, 0..text.len()), Ok(vec![kind.to_string()]));
            assert_eq!(finder.known.len(), KINDS.min(before + usize::from(kind >= before)));
        }
        for (at, kind) in [1, 0, 4, 3].into_iter().enumerate() {
            let text = line(kind);
            assert!(is_of(&mut finder, at, &text, 0..text.len()), "{kind}");
        }
        let long = format!("{{\"{}\":1,\"a\":2}}", "x".repeat(MOST_BYTES));
        assert_eq!(values(&mut finder, &long, 0..long.len()), Ok(vec!["2".to_owned()]));
        let text = line(1);
        assert!(is_of(&mut finder, 0, &text, 0..text.len()));
    }
}
