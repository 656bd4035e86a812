//! Compressed input of several members or frames, decoded by several threads in order.
//!
//! ```text
//!   source ──▶ cutter ──▶ pieces: some members or frames each, as many as there are workers and one
//!                            │ each to whichever worker is free, which calls the plain decoder
//!                            ▼
//!   reader ◀── what the first of them has become ...
//!          ◀── ... or the plain decoder over this piece and everything behind it
//! ```
//!
//! A piece counts only if the plain decoder takes it to its last byte without an error. It knows nothing
//! of what came before a member or frame and looks at nothing behind one, so pieces that count, one after the other,
//! are what it makes of the whole. Where one does not count (damaged, cut in a wrong place, larger than a
//! piece may be) the plain decoder goes on from its first byte to the end of the input: its bytes and its errors are
//! those without any thread.
//!
//! Only the thread that reads touches the source, so nobody is left waiting in it when the reader is
//! dropped. The first bytes are decoded in place: whoever just looks at an input starts no thread.

mod ahead;
mod cut;
#[cfg(test)]
mod tests;
mod workers;

use std::collections::VecDeque;
use std::io::{self, BufReader, Cursor, Read};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::Receiver;

use crate::{Compression, READ_BYTES, plain};
use ahead::Ahead;
use cut::Unit;
use workers::{Claim, Plain, Workers};

/// How large pieces are. A reader holds one more than it has workers, and as many as that decoded.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Compressed bytes that are read at once.
    pub(crate) read_bytes: usize,
    /// A piece gets no further member or frame once it has so many bytes ...
    pub(crate) enough_bytes: usize,
    /// ... or seems to decode to so many.
    pub(crate) enough_plain_bytes: u64,
    /// Of what is longer, compressed or decoded, no piece is made.
    pub(crate) most_bytes: usize,
    pub(crate) most_plain_bytes: usize,
    /// What is decoded in place before any thread is started.
    pub(crate) looked_at_bytes: usize,
    /// How many workers there are.
    pub(crate) workers: &'static AtomicUsize,
}

/// `pzstd -3` makes frames of 8 MiB, `pzstd -19` of 32 MiB, bgzip blocks of 64 KiB.
const LIMITS: Limits = Limits {
    read_bytes: READ_BYTES,
    enough_bytes: 256 << 10,
    enough_plain_bytes: 1 << 20,
    most_bytes: 8 << 20,
    most_plain_bytes: 32 << 20,
    looked_at_bytes: 128 << 10,
    workers: &WORKERS,
};

/// Those of all readers of the process.
static WORKERS: AtomicUsize = AtomicUsize::new(0);

/// Reads what comes out of a compressed source.
pub(crate) struct Pieces {
    cutter: Cutter,
    threads: usize,
    state: State,
}

enum State {
    Unread,
    /// The first bytes, from what was read first, and how many there were; nobody has asked for more.
    Looked(Box<dyn Read + Send>, usize),
    Cutting(Queue),
    /// Decoded by the plain decoder, to the end.
    Plain(Box<dyn Read + Send>),
}

impl Pieces {
    pub(crate) fn new(
        compression: Compression,
        source: Box<dyn Read + Send>,
        threads: usize,
    ) -> Pieces {
        Pieces::within(LIMITS, compression, source, threads)
    }

    /// The same with other limits.
    pub(crate) fn within(
        limits: Limits,
        compression: Compression,
        source: Box<dyn Read + Send>,
        threads: usize,
    ) -> Pieces {
        let cutter = Cutter {
            compression,
            limits,
            source,
            held: Vec::new(),
            ended: false,
            failure: Failure(None),
        };
        Pieces { cutter, threads, state: State::Unread }
    }

    fn look(&mut self) -> io::Result<()> {
        self.cutter.read_on();
        if self.cutter.ended {
            return self.go_on(Vec::new(), 0);
        }
        let held = Cursor::new(self.cutter.held.clone());
        self.state = State::Looked(plain::decoder(self.cutter.compression, held)?, 0);
        Ok(())
    }

    /// Cuts from the beginning, if there is something to cut; the bytes that were looked at are left out.
    fn begin(&mut self, looked: usize) -> io::Result<()> {
        let limits = self.cutter.limits;
        let Some((bytes, plain_bytes)) = self.cutter.piece() else {
            return self.go_on(Vec::new(), looked);
        };
        if self.cutter.is_over() {
            return self.go_on(bytes, looked);
        }
        let Some(workers) = Workers::hire(self.threads, self.cutter.compression, &limits) else {
            return self.go_on(bytes, looked);
        };
        let mut queue = Queue::new(workers, looked);
        queue.push(bytes, plain_bytes);
        self.state = State::Cutting(queue);
        Ok(())
    }

    /// Leaves everything from these bytes on to the plain decoder, but for what comes out of it first.
    fn go_on(&mut self, bytes: Vec<u8>, left_out: usize) -> io::Result<()> {
        self.state = State::Plain(Box::new(io::empty()));
        if bytes.is_empty() && self.cutter.is_over() {
            return Ok(());
        }
        let mut decoder = self.plain_decoder(bytes)?;
        let skipped = io::copy(&mut decoder.by_ref().take(left_out as u64), &mut io::sink());
        self.state = State::Plain(decoder);
        skipped.map(drop)
    }

    /// Of these bytes and everything behind them: in a thread of its own if there may be one, and is much to do.
    fn plain_decoder(&mut self, bytes: Vec<u8>) -> io::Result<Box<dyn Read + Send>> {
        let Cutter { compression, limits, ended, .. } = self.cutter;
        let is_little = ended && bytes.len() + self.cutter.held.len() <= limits.read_bytes;
        let mut source: Box<dyn Read + Send> = Box::new(self.cutter.rest(bytes));
        if !is_little && let Some(claim) = Claim::of(limits.workers, 1..=1, self.threads) {
            match Ahead::start(claim, compression, source) {
                Ok(ahead) => return Ok(Box::new(ahead)),
                Err(back) => source = back,
            }
        }
        plain::decoder(compression, BufReader::with_capacity(READ_BYTES, source))
    }
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            match &mut self.state {
                State::Unread => self.look()?,
                State::Looked(decoder, looked) => {
                    let room = into.len().min(self.cutter.limits.looked_at_bytes - *looked);
                    match decoder.read(&mut into[..room]) {
                        Ok(read) if read > 0 => {
                            *looked += read;
                            return Ok(read);
                        }
                        // Whatever ended them is met again.
                        _ => {
                            let looked = *looked;
                            self.begin(looked)?;
                        }
                    }
                }
                State::Cutting(queue) => {
                    let read = queue.current.take(into);
                    if read > 0 {
                        return Ok(read);
                    }
                    queue.fill(&mut self.cutter);
                    if let Err((bytes, left_out)) = queue.turn() {
                        self.go_on(bytes, left_out)?;
                    }
                }
                State::Plain(decoder) => {
                    let read = decoder.read(into)?;
                    if read == 0 {
                        // Its thread is free for another input.
                        self.state = State::Plain(Box::new(io::empty()));
                    }
                    return Ok(read);
                }
            }
        }
        Ok(0)
    }
}

/// Pieces that are being decoded, and the one that is being read.
struct Queue {
    workers: Workers,
    pieces: VecDeque<Piece>,
    current: Plain,
    /// Bytes of the next that are not to be read.
    left_out: usize,
    /// Buffers for pieces to come.
    spare: Vec<Vec<u8>>,
}

/// Some whole members or frames, if they are what they seem.
struct Piece {
    bytes: Arc<Vec<u8>>,
    plain: Receiver<Option<Plain>>,
}

impl Queue {
    fn new(workers: Workers, left_out: usize) -> Queue {
        let (pieces, spare) = (VecDeque::new(), Vec::new());
        Queue { workers, pieces, current: Plain::default(), left_out, spare }
    }

    fn fill(&mut self, cutter: &mut Cutter) {
        while self.pieces.len() <= self.workers.count() {
            let Some((bytes, plain_bytes)) = cutter.piece() else { return };
            self.push(bytes, plain_bytes);
        }
    }

    fn push(&mut self, bytes: Vec<u8>, plain_bytes: usize) {
        let bytes = Arc::new(bytes);
        let into = self.spare.pop().unwrap_or_default();
        let plain = self.workers.decode(Arc::clone(&bytes), plain_bytes, into);
        self.pieces.push_back(Piece { bytes, plain });
    }

    /// Turns to the next piece. If it does not count, or there is none: the bytes of all pieces that are left,
    /// and how many of those that come out of them are not to be read.
    fn turn(&mut self) -> Result<(), (Vec<u8>, usize)> {
        let Some(piece) = self.pieces.pop_front() else { return Err((Vec::new(), self.left_out)) };
        // A worker that panicked sends nothing: so will the plain decoder, where it is seen.
        let Ok(Some(mut plain)) = piece.plain.recv() else {
            let mut bytes = piece.bytes.to_vec();
            self.pieces.iter().for_each(|piece| bytes.extend_from_slice(&piece.bytes));
            return Err((bytes, self.left_out));
        };
        plain.at = self.left_out.min(plain.end);
        self.left_out -= plain.at;
        self.spare.push(mem::replace(&mut self.current, plain).bytes);
        Ok(())
    }
}

/// Cuts a source into pieces.
struct Cutter {
    compression: Compression,
    limits: Limits,
    source: Box<dyn Read + Send>,
    /// What was read and is in no piece.
    held: Vec<u8>,
    /// Nothing comes from the source any more: it is over, or ...
    ended: bool,
    /// ... could not be read.
    failure: Failure,
}

impl Cutter {
    /// The next piece, and about how many bytes it decodes to; None at the end, and where nothing can be cut.
    fn piece(&mut self) -> Option<(Vec<u8>, usize)> {
        let limits = self.limits;
        let (mut end, mut plain_bytes) = (0, 0);
        while end < limits.enough_bytes && plain_bytes < limits.enough_plain_bytes {
            match cut::first(self.compression, &self.held[end..]) {
                Unit::Whole { bytes, plain } if bytes <= limits.most_bytes => {
                    (end, plain_bytes) = (end + bytes, plain_bytes.saturating_add(plain));
                }
                Unit::More if !self.ended && self.held.len() - end < limits.most_bytes => {
                    self.read_on();
                }
                // The last one, or what is left of it.
                Unit::More if self.ended && self.failure.0.is_none() => {
                    end = self.held.len();
                    break;
                }
                _ => break,
            }
        }
        if end == 0 {
            return None;
        }
        let rest = self.held.split_off(end);
        let plain_bytes = plain_bytes.min(limits.most_plain_bytes as u64) as usize;
        Some((mem::replace(&mut self.held, rest), plain_bytes))
    }

    /// Whether all that there was is in pieces.
    fn is_over(&self) -> bool {
        self.ended && self.held.is_empty() && self.failure.0.is_none()
    }

    fn read_on(&mut self) {
        let more = self.source.by_ref().take(self.limits.read_bytes as u64);
        match { more }.read_to_end(&mut self.held) {
            Ok(read) => self.ended = read < self.limits.read_bytes,
            Err(error) => (self.ended, self.failure) = (true, Failure(Some(error))),
        }
    }

    /// These bytes, and everything behind them.
    fn rest(&mut self, mut bytes: Vec<u8>) -> impl Read + Send + use<> {
        bytes.append(&mut self.held);
        let failure = mem::replace(&mut self.failure, Failure(None));
        let source = mem::replace(&mut self.source, Box::new(io::empty()));
        Cursor::new(bytes).chain(failure).chain(source)
    }
}

/// What could not be read, if there was any.
struct Failure(Option<io::Error>);

impl Read for Failure {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
