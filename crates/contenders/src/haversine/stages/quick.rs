//! The same machine with a quick number parser that adds digits up in a double: the notes' largest
//! gain, paid with wrong digits.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_json::reference::{Machine, Plain};
use fathom_json::{Limits, Mode};

use super::number::quick;
use super::row::Row;
use super::workload::step;

step! {
    QUICK, Quick: "quick", "quick.rs";
    |source, take| each_byte(source, quick, take)
}

/// Pairs by the plain machine of `fathom-json`: a match per byte, each appended to its token.
pub(super) fn each_byte(
    mut source: impl Read,
    convert: impl Fn(&[u8]) -> f64 + Copy,
    mut take: impl FnMut(Pair),
) -> io::Result<()> {
    let mut machine = Machine::new(Mode::Lines, Limits::default());
    let mut row = Row::default();
    let mut on_event = |event: Plain<'_>| match event {
        Plain::Key(key) => row.key(key),
        Plain::Number(text) => row.number(text, convert),
        Plain::EndObject => {
            if let Some(pair) = row.end() {
                take(pair);
            }
        }
        _ => {}
    };
    let mut chunk = [0; 4 << 10];
    loop {
        let read = source.read(&mut chunk)?;
        if read == 0 {
            return machine.finish(&mut on_event).map_err(io::Error::other);
        }
        machine.feed(&chunk[..read], &mut on_event).map_err(io::Error::other)?;
    }
}
