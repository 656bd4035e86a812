//! The events of `fathom-json` (views into the text, vector searches, exact fast numbers), pairs
//! put together by hand.

use fathom_haversine::Pair;
use fathom_json::{Event, Lexer, Mode};
use fathom_measure::contender::{Meta, Path, Simple};

use super::plain::Rows;
use super::workload::Document;

pub(super) const EVENTS: Simple<Document> = Simple {
    meta: Meta { name: "fathom-json", hardware, ..Meta::of(include_str!("events.rs")) },
    prepare: |workload| workload.timed_pairs(read),
};

fn hardware(_: &str) -> Path {
    Path::takes(Lexer::new(Mode::Document).level())
}

fn read(json: &[u8]) -> Vec<Pair> {
    let mut rows = Rows::default();
    let mut lexer = Lexer::new(Mode::Document);
    let mut at = 0;
    while let Some(event) = lexer.next(json, &mut at).expect("the document is valid") {
        match event {
            Event::StartObject | Event::StartArray => rows.start(),
            Event::Key(key) if key.has_escapes() => {
                rows.key(key.decode().unwrap_or_default().as_bytes());
            }
            Event::Key(key) => rows.key(key.raw()),
            Event::Number(number) => rows.number(|| number.to_f64().ok()),
            Event::EndObject | Event::EndArray => rows.end(),
            _ => {}
        }
    }
    rows.pairs
}
