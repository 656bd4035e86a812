//! The four coordinates on their way to a pair: what the notes' `on_key`, `on_number` and
//! `on_end_object` do. Layout is not checked.

use fathom_haversine::{Coordinate, Pair};

/// What is known of the object being read.
#[derive(Default)]
pub(super) struct Row {
    values: [Option<f64>; 4],
    next: Option<usize>,
}

impl Row {
    pub(super) fn key(&mut self, key: &[u8]) {
        self.next = Coordinate::ALL.iter().position(|c| c.name().as_bytes() == key);
    }

    pub(super) fn number(&mut self, text: &[u8], convert: impl Fn(&[u8]) -> f64) {
        if let Some(next) = self.next.take() {
            self.values[next] = Some(convert(text));
        }
    }

    /// [`Row::number`] of one that is converted already.
    pub(super) fn value(&mut self, value: f64) {
        if let Some(next) = self.next.take() {
            self.values[next] = Some(value);
        }
    }

    /// The pair, if the object had all of it.
    pub(super) fn end(&mut self) -> Option<Pair> {
        match std::mem::take(&mut self.values) {
            [Some(x0), Some(y0), Some(x1), Some(y1)] => Some(Pair { x0, y0, x1, y1 }),
            _ => None,
        }
    }
}
