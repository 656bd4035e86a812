//! The events of `fathom-json` (views into the text, vector searches, exact fast numbers), pairs
//! put together by hand.

use fathom_haversine::{Coordinate, Pair};
use fathom_json::{Event, Lexer, Mode};
use fathom_machine::level::Level;
use fathom_measure::contender::{Contender, Meta, Preparation};

use super::workload::Document;

pub(super) struct Events;

impl Contender<Document> for Events {
    fn meta(&self) -> Meta {
        Meta { name: "fathom-json", hardware, ..Meta::of(include_str!("events.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Document) -> Preparation<'w> {
        workload.timed_pairs(read)
    }
}

fn hardware() -> String {
    Level::chosen().unwrap_or(Level::Scalar).to_string()
}

fn read(json: &[u8]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut row = [None; 4];
    let mut next = None;
    let mut lexer = Lexer::new(Mode::Document);
    let mut at = 0;
    while let Some(event) = lexer.next(json, &mut at).expect("the document is valid") {
        match event {
            Event::Key(key) => next = Coordinate::ALL.iter().position(|c| key.is(c.name())),
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
