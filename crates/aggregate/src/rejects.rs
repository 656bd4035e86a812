//! What happens to refused records: the first ends the run, or all of them are counted and kept.
//!
//! Threads finish chunks out of order; rejects are written in the order of the input all the same,
//! by holding back what is ahead; several streams are read side by side, each in its order. Lines are counted
//! chunk by chunk in the same order, so that a reject's number is known without reading anything again.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use crate::error::{Error, FieldText, Position, Reason, Reject};

/// How many rejects are kept to be shown.
pub const SHOWN: usize = 10;

/// What to do with a record that is none.
pub enum OnError<'a> {
    /// Stop with [`Error::Record`] at the first one.
    Fail,
    /// Count it, keep the first [`SHOWN`], and write each to the sink if there is one, byte for byte
    /// as it stands in the input; what follows a last line without its end starts on a new one.
    Skip(Option<Rejects<'a>>),
}

/// Where refused records are written, by one run after the other.
pub struct Rejects<'a> {
    /// It is flushed at the end of each run.
    pub sink: Box<dyn Write + Send + 'a>,
    /// Whether what was written last lacks its line end; false at first.
    pub is_open: &'a mut bool,
}

/// A chunk whose records were taken, and those that were refused.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) source: usize,
    /// Which chunk in the order of the input.
    pub(crate) number: u64,
    /// Bytes of input it was.
    pub(crate) bytes: usize,
    /// Line ends in it.
    pub(crate) lines: u64,
    /// In their order.
    pub(crate) rejects: Vec<Raw>,
}

/// A refused record before its line number is known.
#[derive(Debug)]
pub(crate) struct Raw {
    /// Of what is wrong.
    pub(crate) byte: u64,
    pub(crate) record_byte: u64,
    /// Lines of the chunk before the one with what is wrong.
    pub(crate) lines_before: u64,
    pub(crate) column: u64,
    pub(crate) reason: Reason,
    pub(crate) field: Option<FieldText>,
    pub(crate) text: Vec<u8>,
    /// Whether a line feed follows it in the input.
    pub(crate) is_ended: bool,
}

/// Collects rejects chunk by chunk.
pub(crate) struct Collector<'a> {
    policy: OnError<'a>,
    /// The next chunk in the order of the input.
    next: u64,
    ahead: BTreeMap<u64, Taken>,
    /// Of each source, those in the chunks before.
    lines: Vec<u64>,
    paths: &'a [PathBuf],
    shown: Vec<Reject>,
    count: u64,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(policy: OnError<'a>, paths: &'a [PathBuf]) -> Collector<'a> {
        let lines = vec![0; paths.len()];
        let (ahead, shown) = (BTreeMap::new(), Vec::new());
        Collector { policy, next: 0, ahead, lines, paths, shown, count: 0 }
    }

    /// Takes what a chunk refused; every chunk reports, also those that refused nothing. True if the
    /// run must stop.
    pub(crate) fn take(&mut self, taken: Taken) -> Result<bool, Error> {
        self.count += taken.rejects.len() as u64;
        self.ahead.insert(taken.number, taken);
        while let Some(taken) = self.ahead.remove(&self.next) {
            self.next += 1;
            self.keep(taken)?;
        }
        Ok(self.count > 0 && matches!(self.policy, OnError::Fail))
    }

    fn keep(&mut self, taken: Taken) -> Result<(), Error> {
        let before = self.lines[taken.source];
        self.lines[taken.source] += taken.lines;
        for raw in taken.rejects {
            if let OnError::Skip(Some(Rejects { sink, is_open })) = &mut self.policy {
                let line_feed = |is_needed| if is_needed { &b"\n"[..] } else { b"" };
                let parts = [line_feed(**is_open), &raw.text, line_feed(raw.is_ended)];
                parts.iter().try_for_each(|part| sink.write_all(part)).map_err(Error::Rejects)?;
                **is_open = !raw.is_ended;
            }
            if self.shown.len() < SHOWN {
                let Raw { byte, record_byte, lines_before, column, reason, field, .. } = raw;
                let text = raw.text.strip_suffix(b"\r").unwrap_or(&raw.text).to_vec();
                let (path, line) = (self.paths[taken.source].clone(), before + lines_before + 1);
                let position = Position { path, byte, line, column };
                self.shown.push(Reject { position, record_byte, reason, field, text });
            }
        }
        Ok(())
    }

    /// All chunks are done but the first that failed, which is said, and what lies behind it: the first rejects, and
    /// how many there were. A run that stopped leaves other gaps, chunks of other sources: what lies behind one is the
    /// first that is known.
    ///
    /// # Errors
    /// [`Error::Record`] with the first reject if the policy is to fail, unless it lies behind the chunk that failed;
    /// otherwise why that did.
    pub(crate) fn finish(
        mut self,
        failed: Option<(u64, Error)>,
    ) -> Result<(Vec<Reject>, u64), Error> {
        if let OnError::Fail = self.policy {
            // The lines of what failed are not known, so that those behind it cannot be told.
            let end = failed.as_ref().map_or(u64::MAX, |(number, _)| *number);
            let is_known = |(number, _): &(u64, Taken)| *number < end;
            while let Some((_, taken)) = self.ahead.pop_first().filter(is_known) {
                self.keep(taken)?;
            }
            if !self.shown.is_empty() {
                return Err(Error::Record(Box::new(self.shown.swap_remove(0))));
            }
        }
        if let OnError::Skip(Some(rejects)) = &mut self.policy {
            rejects.sink.flush().map_err(Error::Rejects)?;
        }
        failed.map_or(Ok((self.shown, self.count)), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw() -> Raw {
        Raw {
            byte: 7,
            record_byte: 0,
            lines_before: 0,
            column: 3,
            reason: Reason::EmptyKey,
            field: None,
            text: b"a,".to_vec(),
            is_ended: true,
        }
    }

    fn taken(source: usize, number: u64, rejects: Vec<Raw>) -> Taken {
        Taken { source, number, bytes: 10, lines: 2, rejects }
    }

    /// The run passed for a success, without the chunks of the gap.
    #[test]
    fn a_reject_behind_a_gap_is_an_error() {
        let paths = [PathBuf::from("file"), PathBuf::from("-")];
        let mut collector = Collector::new(OnError::Fail, &paths);
        assert!(!collector.take(taken(0, 0, Vec::new())).unwrap());
        // Chunk 1, of the file, was handed out and never cut.
        assert!(collector.take(taken(1, 2, vec![raw()])).unwrap());
        let Err(Error::Record(reject)) = collector.finish(None) else { panic!("a success") };
        assert_eq!(reject.position.path, PathBuf::from("-"));
    }

    /// It was told in place of the failure, with the number of another line.
    #[test]
    fn a_reject_behind_a_chunk_that_failed_is_not_told_and_one_before_it_is() {
        let paths = [PathBuf::from("file")];
        for (number, is_told) in [(0, true), (2, false)] {
            let mut collector = Collector::new(OnError::Fail, &paths);
            assert!(collector.take(taken(0, number, vec![raw()])).unwrap());
            let error = collector.finish(Some((1, Error::Interrupted))).unwrap_err();
            assert_eq!(matches!(error, Error::Record(_)), is_told, "{error}");
        }
    }
}
