//! The workload of the family: the generated text, closed with a zero byte, and what is asked of it.

use std::hint::black_box;

use fathom_aggregate::Decimal;
use fathom_aggregate::generate::{Measurements, Stations};
use fathom_measure::contender::{Preparation, Prepared, timed};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::documents;
use super::rewrite;
use crate::checksum::fast_sum;
use crate::own;
use crate::people;
use crate::tasks::{each, parameter, tasks};

/// A text and what is asked of it.
pub struct Scan {
    /// The question.
    pub operation: Operation,
    /// The text with one zero byte after it.
    with_zero: Vec<u8>,
    /// The same, each with a byte that makes the answer no: the first, one in the middle, the last; and short texts that
    /// are no JSON.
    refused: Vec<Vec<u8>>,
    written: usize,
}

tasks! {
    /// A question.
    Operation {
        StrLen "strlen" "where the zero byte is",
            forebear: "StrLen()";
        Utf8 "utf8" "whether the text is UTF-8",
            forebear: "IsValidUtf8(RawUtf8)", own: true;
        Utf8UpToZero "utf8-zero" "the same, the zero byte looked for first",
            forebear: "IsValidUtf8(PUtf8Char)";
        JsonValid "json-valid" "whether the text is JSON, strictly",
            forebear: "IsValidJson(RawUtf8)", own: true;
        JsonValidUpToZero "json-valid-zero" "the same, the zero byte looked for first",
            forebear: "IsValidJson(PUtf8Char)";
        JsonCount "json-count" "items of the array",
            forebear: "JsonArrayCount(P,PMax)";
        JsonCountUpToZero "json-count-zero" "the same, the zero byte looked for first",
            forebear: "JsonArrayCount(P)";
        JsonCountSoFar "json-count-half" "items before the middle of the text, which ends there: as a negative number",
            forebear: "JsonArrayCount(P,PMax) < 0";
        JsonProperties "json-properties" "properties of the first object, 100 calls; an item is a call",
            forebear: "JsonObjectPropCount()";
        JsonUnquoted "json-unquoted" "rewritten on one line, names unquoted where that is allowed; bytes written",
            forebear: "jsonUnquotedPropNameCompact",
            alone: "no JSON, so no library writes it";
        JsonHuman "json-human" "rewritten with a line per member, indented by tabs; bytes written",
            forebear: "jsonHumanReadable";
        Pattern "pattern" "where `Year[A-Z][A-Za-z]+\":18[0-9][0-9]` matches: the sum of the ends";
        LineEnds "line-ends" "positions of the ends of lines `station;-1.5`, eight per record asked for";
        Measurements "measurements" "the same lines to count, min, max and sum per station, exactly, on one thread";
    }
}

/// What is known about a station; values are in tenths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) key: Box<[u8]>,
    pub(super) count: u64,
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) sum: i64,
}

impl Group {
    /// Of a station of which nothing is known yet.
    pub(super) fn new(key: &[u8]) -> Group {
        Group { key: key.into(), count: 0, min: i64::MAX, max: i64::MIN, sum: 0 }
    }

    /// Takes in a value.
    pub(super) fn add(&mut self, tenths: i64) {
        self.count += 1;
        self.min = self.min.min(tenths);
        self.max = self.max.max(tenths);
        self.sum += tenths;
    }

    /// In byte order of the names.
    pub(super) fn sorted(groups: impl Iterator<Item = Group>) -> Vec<Group> {
        let mut groups: Vec<Group> = groups.collect();
        groups.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        groups
    }
}

impl From<fathom_aggregate::Partial> for Group {
    fn from(partial: fathom_aggregate::Partial) -> Group {
        let fathom_aggregate::Partial { key, stats } = partial;
        // One decimal everywhere: this changes nothing but the scale of whole numbers.
        let tenths = |number: Option<Decimal>| {
            let tenths = number.and_then(|number| number.rescaled(1).small());
            tenths
                .and_then(|tenths| i64::try_from(tenths).ok())
                .expect("sums of this text are short")
        };
        let (min, max, sum) = (tenths(stats.min()), tenths(stats.max()), tenths(Some(stats.sum())));
        Group { key: key.as_ref().into(), count: stats.count(), min, max, sum }
    }
}

/// What [`Operation::Pattern`] looks for: who was born or died in a century.
pub(super) const PATTERN: &str = r#"Year[A-Z][A-Za-z]+":18[0-9][0-9]"#;

/// The documents beside `people`.
const OTHERS: [&str; 3] = ["messages", "catalogue", "coordinates"];
const DOCUMENTS: &str = "people, or of json-valid messages, catalogue or coordinates";

/// Calls of the property count in an iteration.
const CALLS: u64 = 100;

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("text"),
    reference: Timed::AsOracle,
    tasks: Operation::TASKS,
    common: &[Common::of("UTF-8 valid?", "utf8", &["std"])],
    ..Facts::NONE
};

impl Workload for Scan {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[
        parameter(
            "records",
            "8227",
            "objects in the array; of another document, about as many bytes",
        ),
        parameter(
            "document",
            "people",
            "people, or messages, catalogue, coordinates: like twitter.json, citm_catalog.json, \
                  canada.json (json-valid)",
        ),
    ];
    const MADE: &'static [&'static str] = &["records", "document"];
    const OF_FILES: &'static [&'static str] = &["utf8", "json-valid"];

    fn load(spec: &Spec) -> Result<Scan, SpecError> {
        let operation = Operation::of(spec);
        if spec.file.is_some() {
            let mut with_zero = match operation {
                Operation::JsonValid => own::json(spec),
                _ => own::text(spec),
            }?;
            let refused = refused(operation, &with_zero);
            with_zero.push(0);
            return Ok(Scan { operation, with_zero, refused, written: 0 });
        }
        let records = usize::try_from(spec.number("records")?).unwrap_or(usize::MAX);
        if records > 1 << 24 {
            return Err(spec.bad("records", "at most 16M"));
        }
        let mut with_zero = match (operation, spec.text("document")) {
            (Operation::LineEnds | Operation::Measurements, _) => {
                measurements(LINES * records as u64)
            }
            (Operation::JsonValid, "messages") => documents::messages(records.div_ceil(24)),
            (Operation::JsonValid, "catalogue") => documents::catalogue(records.div_ceil(16)),
            (Operation::JsonValid, "coordinates") => documents::coordinates(records.div_ceil(32)),
            // Operations that take no document may be asked without its name.
            (_, "people" | "") => people::json(records),
            _ => return Err(spec.bad("document", DOCUMENTS)),
        };
        let written = match operation {
            Operation::JsonUnquoted => rewrite::plain_unquoted(&with_zero).map_or(0, |t| t.len()),
            Operation::JsonHuman => rewrite::plain_human(&with_zero).map_or(0, |t| t.len()),
            _ => 0,
        };
        let refused = refused(operation, &with_zero);
        with_zero.push(0);
        Ok(Scan { operation, with_zero, refused, written })
    }

    fn work(&self) -> Work {
        match self.operation {
            Operation::JsonUnquoted | Operation::JsonHuman => {
                Work { bytes: self.written as u64, items: 1 }
            }
            Operation::JsonProperties => {
                let first = self.first_object();
                Work { bytes: CALLS * first.len() as u64, items: CALLS }
            }
            Operation::JsonCountSoFar => Work { bytes: self.half().len() as u64, items: 1 },
            _ => Work { bytes: self.text().len() as u64, items: 1 },
        }
    }

    fn cases() -> Vec<Spec> {
        let case = |name: &str| {
            let others = OTHERS.iter().filter(|_| name == "json-valid");
            let others = others.map(|other| Spec::new("json-valid", &[("document", *other)]));
            std::iter::once(Spec::new(name, &[])).chain(others).collect::<Vec<_>>()
        };
        Operation::OFFERS.iter().flat_map(|offer| case(offer.name)).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let mut cases = each(Operation::OFFERS, "records", &["1", "12", "100"]);
        for other in OTHERS {
            let spec =
                |records| Spec::new("json-valid", &[("document", other), ("records", records)]);
            cases.extend(["1", "100"].map(spec));
        }
        cases
    }

    fn takes(spec: &Spec, parameter: &str) -> bool {
        parameter != "document" || spec.operation == "json-valid"
    }

    /// For contenders in other languages: the text, and behind a zero byte each that is to be refused.
    fn prepared(&self) -> Option<Vec<u8>> {
        let all = std::iter::once(&self.with_zero).chain(&self.refused);
        let texts: Vec<&[u8]> = all.map(|text| &text[..text.len() - 1]).collect();
        Some(texts.join(&0))
    }
}

impl Scan {
    /// The text.
    pub fn text(&self) -> &[u8] {
        &self.with_zero[..self.with_zero.len() - 1]
    }

    fn first_object(&self) -> &[u8] {
        let text = self.text();
        let end = text.iter().position(|&byte| byte == b'}').map_or(text.len(), |at| at + 1);
        &text[1.min(end)..end]
    }

    /// The first half, which ends within an object.
    fn half(&self) -> &[u8] {
        let text = self.text();
        let ends_within = |end: &usize| text[end - 1] != b'}' && text[end - 1] != b',';
        let end = (1..=text.len() / 2).rev().find(ends_within).unwrap_or(0);
        &text[..end]
    }

    /// A contender whose answer is a number: for yes-or-no questions 0 or 1.
    pub(super) fn counted<'w>(
        &'w self,
        count: impl FnMut(&'w [u8]) -> u64 + 'w,
    ) -> Preparation<'w> {
        self.counted_by(Box::new(count))
    }

    /// The same, compiled once for all contenders: what calls by a pointer cost is nothing beside a text.
    fn counted_by<'w>(&'w self, mut count: Box<Count<'w>>) -> Preparation<'w> {
        let number = |number: &u64| Digest::of_u64(*number);
        match self.operation {
            Operation::Utf8 | Operation::JsonValid => self.asked(count, 1),
            Operation::Utf8UpToZero | Operation::JsonValidUpToZero => self.asked(count, 0),
            Operation::StrLen | Operation::JsonCountUpToZero => {
                Ok(timed(&self.with_zero[..], count, number))
            }
            Operation::JsonProperties => Ok(timed(
                self.first_object(),
                move |object| {
                    let mut sum = 0;
                    for _ in 0..CALLS {
                        sum += std::hint::black_box(count(std::hint::black_box(object)));
                    }
                    sum
                },
                number,
            )),
            Operation::JsonCountSoFar => Ok(timed(self.half(), count, number)),
            _ => Ok(timed(self.text(), count, number)),
        }
    }

    /// A contender that says yes or no: to the text with its time, and once to each that is to be
    /// refused. `beyond` bytes at their ends are not shown.
    fn asked<'w>(&'w self, ask: Box<Count<'w>>, beyond: usize) -> Preparation<'w> {
        let shown = |text: &'w Vec<u8>| &text[..text.len() - beyond];
        let refused = self.refused.iter().map(shown).collect();
        Ok(Box::new(Asked { text: shown(&self.with_zero), refused, ask, answers: Vec::new() }))
    }

    /// A contender that writes a text.
    pub(super) fn written<'w>(
        &'w self,
        write: impl FnMut(&'w [u8]) -> Vec<u8> + 'w,
    ) -> Preparation<'w> {
        Ok(timed(self.text(), write, |text: &Vec<u8>| {
            Digest::of_u64(fast_sum(text).into()).with_u64(text.len() as u64)
        }))
    }

    /// A contender that appends the positions of all line ends to the list it is given.
    pub(super) fn listed<'w>(
        &'w self,
        list: impl FnMut(&'w [u8], &mut Vec<u32>) + 'w,
    ) -> Preparation<'w> {
        let positions = Vec::with_capacity(self.text().len() / 8);
        Ok(Box::new(Listed { text: self.text(), positions, list }))
    }

    /// A contender that tells what it knows about each station, in byte order of their names.
    pub(super) fn grouped<'w>(
        &'w self,
        group: impl FnMut(&'w [u8]) -> Vec<Group> + 'w,
    ) -> Preparation<'w> {
        Ok(timed(self.text(), group, |groups| {
            groups.iter().fold(Digest::default(), |digest, group| {
                let digest = digest.with_bytes(&group.key).with_u64(group.count);
                let numbers = [group.min, group.max, group.sum];
                numbers
                    .iter()
                    .fold(digest, |digest, number| digest.with_u64(number.cast_unsigned()))
            })
        }))
    }
}

/// No JSON for another reason each than brackets that do not match.
const NO_JSON: [&str; 8] =
    [r#"["\uZZZZ"]"#, r#"["\q"]"#, "[\"a\tb\"]", "[01]", "[1.]", "[1,]", r#"{"a" 1}"#, "[nul]"];

/// `text` with a zero byte, spoilt at its first byte, in the middle and at its last; what else is no JSON.
fn refused(operation: Operation, text: &[u8]) -> Vec<Vec<u8>> {
    let places = match operation {
        // No byte of UTF-8.
        Operation::Utf8 | Operation::Utf8UpToZero => {
            vec![(0, 0xff), (text.len() / 2, 0xff), (text.len() - 1, 0xff)]
        }
        // The wrong bracket.
        Operation::JsonValid | Operation::JsonValidUpToZero => {
            let middle = (text.len() / 2..text.len()).find(|&at| text[at] == b'}');
            let (first, last) = (text[0] == b'{', text[text.len() - 1] == b'}');
            let (first, last) = (if first { b'[' } else { b'{' }, if last { b']' } else { b'}' });
            vec![(0, first), (middle.unwrap_or(0), b']'), (text.len() - 1, last)]
        }
        _ => Vec::new(),
    };
    let spoilt = |(at, byte): (usize, u8)| {
        let mut copy = [text, &[0]].concat();
        copy[at] = byte;
        copy
    };
    let others: &[&str] = match operation {
        Operation::JsonValid | Operation::JsonValidUpToZero => &NO_JSON,
        _ => &[],
    };
    // Long enough for registers of every length.
    let long = others.iter().map(|text| format!("{text:<80}\0").into_bytes());
    places.into_iter().map(spoilt).chain(long).collect()
}

/// Says a number of a text.
type Count<'w> = dyn FnMut(&'w [u8]) -> u64 + 'w;

/// A question of yes or no.
struct Asked<'w> {
    text: &'w [u8],
    refused: Vec<&'w [u8]>,
    ask: Box<Count<'w>>,
    /// To what is to be refused; empty before it was asked.
    answers: Vec<u64>,
}

impl Prepared for Asked<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let iterations = iterations.max(1);
        let mut yes = 0;
        meter.start();
        for _ in 0..iterations {
            yes += black_box((self.ask)(black_box(self.text)));
        }
        meter.stop();
        if self.answers.is_empty() {
            self.answers.extend(self.refused.iter().map(|text| (self.ask)(text)));
        }
        let digest = Digest::of_u64(u64::from(yes == iterations));
        self.answers.iter().fold(digest, |digest, &answer| digest.with_u64(answer))
    }
}

/// Lines of measurements per record asked for: about as many bytes.
const LINES: u64 = 8;

/// Lines of the One Billion Row Challenge.
fn measurements(lines: u64) -> Vec<u8> {
    let mut text = Vec::new();
    let generator = Measurements::new(Stations::world(), 1);
    generator.write(lines, 1, &mut text).expect("there are stations, and memory does not fail");
    text
}

/// The list is kept from one iteration to the next: its memory is no part of the question.
struct Listed<'w, F> {
    text: &'w [u8],
    positions: Vec<u32>,
    list: F,
}

impl<'w, F: FnMut(&'w [u8], &mut Vec<u32>)> Prepared for Listed<'w, F> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        meter.start();
        for _ in 0..iterations.max(1) {
            self.positions.clear();
            (self.list)(black_box(self.text), &mut self.positions);
            black_box(&self.positions);
        }
        meter.stop();
        let positions = self.positions.iter();
        positions.fold(Digest::default(), |digest, &at| digest.with_u64(at.into()))
    }
}

/// The bytes before the first zero, which the workload guarantees.
pub(super) fn up_to(text: &[u8], zero: impl Fn(&[u8]) -> Option<usize>) -> &[u8] {
    zero(text).map_or(text, |at| &text[..at])
}

#[cfg(test)]
mod tests {
    use fathom_measure::contender::Contender;
    use fathom_measure::meter::Untimed;

    use super::super::reference::PLAIN;
    use super::*;

    #[test]
    fn documents_are_json_and_what_is_prepared_beside_them_is_none() {
        for document in ["people"].into_iter().chain(OTHERS) {
            for records in ["1", "12", "1000"] {
                let parameters = [("records", records), ("document", document)];
                let scan = Scan::load(&Spec::new("json-valid", &parameters)).unwrap();
                let prepared = scan.prepared().unwrap();
                let valid: Vec<bool> = prepared
                    .split(|&byte| byte == 0)
                    .map(|text| serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok())
                    .collect();
                assert_eq!(valid.len(), 4 + NO_JSON.len());
                let first = valid.iter().position(|is_valid| *is_valid);
                assert!(first == Some(0) && !valid[1..].contains(&true), "{document} {records}");
            }
        }
    }

    /// A library passed over an escape and was called strict.
    #[test]
    fn who_only_matches_brackets_is_caught() {
        let matches = |text: &[u8]| {
            let (mut open, mut is_string) = (Vec::new(), false);
            for (at, &byte) in text.iter().enumerate() {
                is_string ^= byte == b'"' && (at == 0 || text[at - 1] != b'\\');
                match byte {
                    b'[' | b'{' if !is_string => open.push(byte + 2),
                    b']' | b'}' if !is_string && open.pop() != Some(byte) => return false,
                    _ => {}
                }
            }
            open.is_empty()
        };
        for operation in ["json-valid", "json-valid-zero"] {
            let scan = Scan::load(&Spec::new(operation, &[("records", "12")])).unwrap();
            let digest = |prepared: Preparation<'_>| prepared.unwrap().sample(1, &mut Untimed);
            assert!(matches(scan.text()) && !matches(&scan.refused[1]));
            let found = digest(scan.counted(|text| matches(text).into()));
            assert_ne!(found, digest(PLAIN.prepare(&scan)), "{operation}");
        }
    }

    #[test]
    fn who_always_says_yes_or_once_says_no_is_caught() {
        for operation in ["utf8", "utf8-zero", "json-valid", "json-valid-zero"] {
            let scan = Scan::load(&Spec::new(operation, &[("records", "12")])).unwrap();
            let digest = |prepared: Preparation<'_>| prepared.unwrap().sample(10, &mut Untimed);
            let expected = digest(PLAIN.prepare(&scan));
            let says_no = scan.refused.iter().fold(Digest::of_u64(1), |d, _| d.with_u64(0));
            assert_eq!(expected, says_no, "{operation}");
            assert_ne!(digest(scan.counted(|_| 1)), expected, "{operation}");
            let mut calls = 0;
            let once_no = digest(scan.counted(|text| {
                calls += 1;
                u64::from(text == scan.text() || text == scan.with_zero) & u64::from(calls != 5)
            }));
            assert_ne!(once_no, expected, "{operation}");
        }
    }
}
