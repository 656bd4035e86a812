//! What happens to refused records: the first ends the run, or all of them are counted and kept.
//!
//! Threads finish chunks out of order; rejects are written in the order of the input all the same,
//! by holding back what is ahead.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Position, Reason, Reject};

/// How many rejects are kept to be shown.
pub const SHOWN: usize = 10;

/// What to do with a record that is none.
pub enum OnError<'a> {
    /// Stop with [`Error::Record`] at the first one.
    Fail,
    /// Count it, keep the first [`SHOWN`], and write each, with a line feed, to the sink if there
    /// is one.
    Skip(Option<Box<dyn Write + Send + 'a>>),
}

/// A refused record before its line number is known.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) source: usize,
    pub(crate) byte: u64,
    pub(crate) line: Option<u64>,
    pub(crate) reason: Reason,
    pub(crate) text: Vec<u8>,
}

/// Collects rejects chunk by chunk.
pub(crate) struct Collector<'a> {
    policy: OnError<'a>,
    /// The next chunk in the order of the input.
    next: u64,
    ahead: BTreeMap<u64, Vec<Raw>>,
    shown: Vec<Raw>,
    count: u64,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(policy: OnError<'a>) -> Collector<'a> {
        Collector { policy, next: 0, ahead: BTreeMap::new(), shown: Vec::new(), count: 0 }
    }

    /// Takes the rejects of chunk number `chunk`, in order; every chunk reports, also those
    /// without. True if the run must stop.
    pub(crate) fn take(&mut self, chunk: u64, rejects: Vec<Raw>) -> Result<bool, Error> {
        self.count += rejects.len() as u64;
        self.ahead.insert(chunk, rejects);
        while let Some(rejects) = self.ahead.remove(&self.next) {
            self.next += 1;
            self.keep(rejects)?;
        }
        Ok(self.count > 0 && matches!(self.policy, OnError::Fail))
    }

    fn keep(&mut self, rejects: Vec<Raw>) -> Result<(), Error> {
        for raw in rejects {
            if let OnError::Skip(Some(sink)) = &mut self.policy {
                sink.write_all(&raw.text)
                    .and_then(|()| sink.write_all(b"\n"))
                    .map_err(Error::Rejects)?;
            }
            if self.shown.len() < SHOWN {
                self.shown.push(raw);
            }
        }
        Ok(())
    }

    /// All chunks are done: the first rejects with their line numbers, and how many there were.
    /// `line_of` counts the lines before a byte of a source.
    ///
    /// # Errors
    /// [`Error::Record`] with the first reject if the policy is to fail.
    pub(crate) fn finish(
        mut self,
        path_of: impl Fn(usize) -> &'a Path,
        line_of: impl Fn(usize, u64) -> Result<u64, Error>,
    ) -> Result<(Vec<Reject>, u64), Error> {
        // A run that was stopped leaves gaps; what lies behind them still counts.
        let rest: Vec<Raw> = std::mem::take(&mut self.ahead).into_values().flatten().collect();
        self.keep(rest)?;
        if let OnError::Skip(Some(sink)) = &mut self.policy {
            sink.flush().map_err(Error::Rejects)?;
        }
        let mut shown = Vec::new();
        for raw in self.shown {
            let record = match raw.line {
                Some(line) => line,
                None => line_of(raw.source, raw.byte)?,
            };
            let position =
                Position { path: path_of(raw.source).to_owned(), byte: raw.byte, record };
            let reject = Reject { position, reason: raw.reason, text: raw.text };
            if matches!(self.policy, OnError::Fail) {
                return Err(Error::Record(Box::new(reject)));
            }
            shown.push(reject);
        }
        Ok((shown, self.count))
    }
}
