//! The events of `fathom-json` (views into the text, vector searches, exact fast numbers), pairs
//! put together by hand.

use fathom_haversine::Pair;
use fathom_json::{Event, Lexer, Mode, Text};
use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::Document;

pub(super) static EVENTS: Simple<Document> = Simple {
    meta: Meta { name: "fathom-json", hardware, ..Meta::of(include_str!("events.rs")) },
    prepare: |workload| workload.timed_pairs(read),
};

fn hardware(_: &str) -> Path {
    Path::takes(Lexer::new(Mode::Document).level())
}

fn read(json: &[u8]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut row = [None; 4];
    let mut next = None;
    let mut lexer = Lexer::new(Mode::Document);
    let mut at = 0;
    while let Some(event) = lexer.next(json, &mut at).expect("the document is valid") {
        match event {
            Event::Key(key) => next = coordinate(key),
            Event::Number(number) => {
                if let Some(next) = next.take() {
                    row[next] = number.to_f64().ok();
                }
            }
            Event::EndObject => {
                if let [Some(x0), Some(y0), Some(x1), Some(y1)] = std::mem::take(&mut row) {
                    pairs.push(Pair { x0, y0, x1, y1 });
                }
            }
            _ => {}
        }
    }
    pairs
}

/// Which of the four a key is; one with escapes is decoded first.
fn coordinate(key: Text<'_>) -> Option<usize> {
    let decoded;
    let name = if key.has_escapes() {
        decoded = key.decode().ok()?;
        decoded.as_bytes()
    } else {
        key.raw()
    };
    match name {
        b"x0" => Some(0),
        b"y0" => Some(1),
        b"x1" => Some(2),
        b"y1" => Some(3),
        _ => None,
    }
}
