//! A `match` per byte, every token copied, numbers by the standard library: the oracle, and the
//! first step of the ladder.
//!
//! Pairs are objects that have had all four coordinates when they end; layout is not checked.

use fathom_haversine::{Coordinate, Pair};
use fathom_json::reference::{Machine, Plain as Event};
use fathom_json::{Limits, Mode};
use fathom_measure::contender::{Meta, Simple};

use super::workload::Document;

pub(super) static PLAIN: Simple<Document> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("plain.rs")) },
    prepare: |workload| workload.timed_pairs(read),
};

fn read(json: &[u8]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut row = [None; 4];
    let mut next = None;
    let mut machine = Machine::new(Mode::Document, Limits::default());
    let on_event = |event: Event<'_>| match event {
        Event::Key(key) => {
            next = Coordinate::ALL.iter().position(|c| c.name().as_bytes() == key);
        }
        Event::Number(number) => {
            if let Some(next) = next.take() {
                row[next] = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok());
            }
        }
        Event::EndObject => {
            if let [Some(x0), Some(y0), Some(x1), Some(y1)] = std::mem::take(&mut row) {
                pairs.push(Pair { x0, y0, x1, y1 });
            }
        }
        _ => {}
    };
    machine.feed(json, &mut { on_event }).expect("the document is valid");
    pairs
}
