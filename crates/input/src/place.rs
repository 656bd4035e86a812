//! Line and column of a byte at fault. Files are read again up to it; of streams the last line ends
//! are remembered while they are read.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Forward, Input, open};

/// Line ends remembered, 8 MiB of them: further than threads read ahead of the one that finds a fault, unless nearly
/// every byte is a line end or blocks are many or large; a fault before them is told by its byte alone.
const MOST_KEPT: usize = 1 << 20;

/// The line ends of an input, as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct Lines(Arc<Mutex<Ends>>);

#[derive(Debug, Default)]
struct Ends {
    bytes: u64,
    /// Line ends before those kept.
    dropped: u64,
    kept: VecDeque<u64>,
}

impl Lines {
    /// The same bytes, whose line ends are noted.
    pub fn watch<'a>(&self, source: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
        Box::new(Watched { source, lines: self.clone() })
    }

    /// Those of a file's first `bytes` bytes.
    pub fn of_file(path: &Path, bytes: u64) -> io::Result<Lines> {
        let lines = Lines::default();
        let source: Box<dyn Read + Send> = match open(path, 1)? {
            Input::File(file, _) => Box::new(Forward::new(file)),
            Input::Stream(stream) => stream,
        };
        io::copy(&mut lines.watch(source.take(bytes)), &mut io::sink())?;
        Ok(lines)
    }

    /// Line and column (in bytes) of a byte, both from 1; `None` of one that is too long ago.
    pub fn place(&self, offset: u64) -> Option<(u64, u64)> {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = ends.kept.partition_point(|&end| end < offset);
        match before.checked_sub(1) {
            Some(last) => Some((ends.dropped + before as u64 + 1, offset - ends.kept[last])),
            None => (ends.dropped == 0).then_some((1, offset + 1)),
        }
    }
}

struct Watched<R> {
    source: R,
    lines: Lines,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(room)?;
        let mut guard = self.lines.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = &mut *guard;
        let base = ends.bytes;
        ends.kept.extend(memchr::memchr_iter(b'\n', &room[..read]).map(|at| base + at as u64));
        ends.bytes += read as u64;
        let excess = ends.kept.len().saturating_sub(MOST_KEPT);
        ends.kept.drain(..excess);
        ends.dropped += excess as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_what_was_forgotten_has_none() {
        let text = b"ab\n\ncd\n".repeat(MOST_KEPT / 3);
        let lines = Lines::default();
        let watch = |text: &[u8]| {
            io::copy(&mut lines.watch(text), &mut io::sink()).unwrap();
        };
        watch(&text);
        let places = [0, 2, 3, 4, 7].map(|offset| lines.place(offset).unwrap());
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (3, 1), (4, 1)]);
        watch(b"\n\n\n");
        assert_eq!(lines.place(0), None);
        let ends = 3 * (MOST_KEPT as u64 / 3);
        assert_eq!(lines.place(text.len() as u64), Some((ends + 1, 1)));
    }
}
