//! A `match` per byte, every token copied, numbers by the standard library: the oracle, and the
//! first step of the ladder.
//!
//! Pairs are the objects of the member `pairs` that have had all four coordinates when they end; the
//! rest of the layout is not checked.

use fathom_haversine::{Coordinate, Pair};
use fathom_json::reference::{Machine, Plain as Event};
use fathom_json::{Limits, Mode};
use fathom_measure::contender::{Meta, Simple};

use super::workload::Document;

pub(super) const PLAIN: Simple<Document> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("plain.rs")) },
    prepare: |workload| workload.timed_pairs(read),
};

fn read(json: &[u8]) -> Vec<Pair> {
    let mut rows = Rows::default();
    let mut machine = Machine::new(Mode::Document, Limits::default());
    let on_event = |event: Event<'_>| match event {
        Event::StartObject | Event::StartArray => rows.start(),
        Event::Key(key) if key.contains(&b'\\') => {
            let quoted = [&b"\""[..], key, b"\""].concat();
            let key: String = ::serde_json::from_slice(&quoted).unwrap_or_default();
            rows.key(key.as_bytes());
        }
        Event::Key(key) => rows.key(key),
        Event::Number(number) => {
            rows.number(|| std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()));
        }
        Event::EndObject | Event::EndArray => rows.end(),
        _ => {}
    };
    machine.feed(json, &mut { on_event }).expect("the document is valid");
    rows.pairs
}

/// What the events of a document have come to.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) pairs: Vec<Pair>,
    row: [Option<f64>; 4],
    /// The coordinate whose number follows.
    next: Option<usize>,
    /// Containers that are open.
    depth: usize,
    /// The member of the root being read is `pairs`.
    is_pairs: bool,
}

impl Rows {
    /// Containers that are open in a pair: the root, the array, the pair itself.
    const PAIR: usize = 3;

    /// An object or an array begins.
    #[inline]
    pub(super) fn start(&mut self) {
        self.depth += 1;
    }

    /// A key, its escapes decoded.
    #[inline]
    pub(super) fn key(&mut self, name: &[u8]) {
        if self.depth == 1 {
            self.is_pairs = name == b"pairs";
        } else if self.depth == Self::PAIR && self.is_pairs {
            self.next = Coordinate::ALL.iter().position(|c| c.name().as_bytes() == name);
        }
    }

    /// A number, converted where it is wanted.
    #[inline]
    pub(super) fn number(&mut self, convert: impl FnOnce() -> Option<f64>) {
        if let Some(next) = self.next.take() {
            self.row[next] = convert();
        }
    }

    /// An object or an array ends.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.depth == Self::PAIR
            && self.is_pairs
            && let [Some(x0), Some(y0), Some(x1), Some(y1)] = std::mem::take(&mut self.row)
        {
            self.pairs.push(Pair { x0, y0, x1, y1 });
        }
        self.depth -= 1;
    }
}
