//! The strict lexer of `fathom-json` in place of the trusting scanner: every byte of the grammar
//! checked, vector searches, the same exact numbers.

use std::io::{self, Read};

use fathom_haversine::Pair;
use fathom_json::{Event, Lexer, Mode, ReadError, Reader};
use fathom_measure::contender::{Meta, Simple};

use super::row::Row;
use super::vector::{hardware, in_batches};
use super::workload::{File, Step, distances};

#[derive(Clone, Copy)]
pub(super) struct Strict;

pub(super) const STRICT: Simple<File> = Simple {
    meta: Meta { name: "strict", hardware, ..Meta::of(include_str!("strict.rs")) },
    prepare: |workload| {
        workload.timed(|file| in_batches(Strict, file), |file| distances(Strict, file))
    },
};

impl Step for Strict {
    fn each_pair(self, source: impl Read, mut take: impl FnMut(Pair)) -> io::Result<()> {
        let mut reader = Reader::with(source, Lexer::new(Mode::Lines), 256 << 10);
        let mut row = Row::default();
        while let Some(event) = reader.next().map_err(failed)? {
            match event {
                Event::Key(key) => row.key(key.raw()),
                Event::Number(number) => row.value(number.to_f64().unwrap_or(f64::NAN)),
                Event::EndObject => {
                    if let Some(pair) = row.end() {
                        take(pair);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn failed(error: ReadError) -> io::Error {
    match error {
        ReadError::Io(error) => error,
        ReadError::Json(error) => io::Error::other(error),
    }
}
