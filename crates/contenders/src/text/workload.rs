//! The workload of the family: the generated text, closed with a zero byte, and what is asked of it.

use fathom_measure::contender::{Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::rewrite;
use crate::checksum::fast_sum;
use crate::people;

/// A text and what is asked of it.
pub struct Scan {
    /// The question.
    pub operation: Operation,
    /// The text with one zero byte after it.
    with_zero: Vec<u8>,
    written: usize,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Where the zero is.
    StrLen,
    /// Whether the text is UTF-8.
    Utf8,
    /// The same, length unknown: the zero is looked for first.
    Utf8UpToZero,
    /// Whether the text is JSON.
    JsonValid,
    /// The same, length unknown.
    JsonValidUpToZero,
    /// Items of the array.
    JsonCount,
    /// The same, length unknown.
    JsonCountUpToZero,
    /// Properties of the first object, 100 times.
    JsonProperties,
    /// On one line, names without quotes where they need none.
    JsonUnquoted,
    /// A line per member, indented by tabs.
    JsonHuman,
}

macro_rules! offers {
    ($($name:literal $doc:literal,)*) => {
        &[$(Offer { name: $name, default: "", doc: $doc },)*]
    };
}
const OPERATIONS: &[Offer] = offers! {
    "strlen" "where the zero byte is",
    "utf8" "whether the text is UTF-8",
    "utf8-zero" "the same, the zero byte looked for first",
    "json-valid" "whether the text is JSON, strictly",
    "json-valid-zero" "the same, the zero byte looked for first",
    "json-count" "items of the array",
    "json-count-zero" "the same, the zero byte looked for first",
    "json-properties" "properties of the first object, 100 calls; an item is a call",
    "json-unquoted" "rewritten on one line, names unquoted where that is allowed; bytes written",
    "json-human" "rewritten with a line per member, indented by tabs; bytes written",
};
const EACH: [Operation; 10] = [
    Operation::StrLen,
    Operation::Utf8,
    Operation::Utf8UpToZero,
    Operation::JsonValid,
    Operation::JsonValidUpToZero,
    Operation::JsonCount,
    Operation::JsonCountUpToZero,
    Operation::JsonProperties,
    Operation::JsonUnquoted,
    Operation::JsonHuman,
];

/// Calls of the property count in an iteration.
const CALLS: u64 = 100;

impl Workload for Scan {
    const OPERATIONS: &'static [Offer] = OPERATIONS;
    const PARAMETERS: &'static [Offer] =
        &[Offer { name: "records", default: "8227", doc: "objects in the array" }];

    fn load(spec: &Spec) -> Result<Scan, SpecError> {
        let at = OPERATIONS.iter().position(|offer| offer.name == spec.operation).unwrap_or(0);
        let operation = EACH[at];
        let records = usize::try_from(spec.number("records")?).unwrap_or(usize::MAX);
        if records > 1 << 24 {
            return Err(spec.bad("records", "at most 16M"));
        }
        let mut with_zero = people::json(records);
        let written = match operation {
            Operation::JsonUnquoted => rewrite::plain_unquoted(&with_zero).map_or(0, |t| t.len()),
            Operation::JsonHuman => rewrite::plain_human(&with_zero).map_or(0, |t| t.len()),
            _ => 0,
        };
        with_zero.push(0);
        Ok(Scan { operation, with_zero, written })
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
            _ => Work { bytes: self.text().len() as u64, items: 1 },
        }
    }

    fn cases() -> Vec<Spec> {
        OPERATIONS.iter().map(|offer| Spec::new(offer.name, &[])).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let case = |offer: &Offer| {
            let name = offer.name;
            ["1", "12", "100"].map(|records| Spec::new(name, &[("records", records)]))
        };
        OPERATIONS.iter().flat_map(case).collect()
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

    /// A contender whose answer is a number: for yes-or-no questions 0 or 1.
    pub(super) fn counted<'w>(
        &'w self,
        mut count: impl FnMut(&'w [u8]) -> u64 + 'w,
    ) -> Preparation<'w> {
        match self.operation {
            Operation::StrLen
            | Operation::Utf8UpToZero
            | Operation::JsonValidUpToZero
            | Operation::JsonCountUpToZero => Ok(timed(&self.with_zero[..], count, Digest::of_u64)),
            Operation::JsonProperties => Ok(timed(
                self.first_object(),
                move |object| {
                    let mut sum = 0;
                    for _ in 0..CALLS {
                        sum += std::hint::black_box(count(std::hint::black_box(object)));
                    }
                    sum
                },
                Digest::of_u64,
            )),
            _ => Ok(timed(self.text(), count, Digest::of_u64)),
        }
    }

    /// A contender that writes a text.
    pub(super) fn written<'w>(
        &'w self,
        write: impl FnMut(&'w [u8]) -> Vec<u8> + 'w,
    ) -> Preparation<'w> {
        Ok(timed(self.text(), write, |text: Vec<u8>| {
            Digest::of_u64(fast_sum(&text).into()).with_u64(text.len() as u64)
        }))
    }

    /// What a contender without this operation answers.
    pub(super) fn unsupported<'w>(&self) -> Preparation<'w> {
        let at = EACH.iter().position(|operation| *operation == self.operation).unwrap_or(0);
        Err(Unsupported::operation(OPERATIONS[at].name))
    }
}

/// The bytes before the first zero, which the workload guarantees.
pub(super) fn up_to(text: &[u8], zero: impl Fn(&[u8]) -> Option<usize>) -> &[u8] {
    zero(text).map_or(text, |at| &text[..at])
}
