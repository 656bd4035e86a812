//! A file read through io_uring, several pieces at a time, each seen once all of it is there.
//!
//! ```text
//!   slot 0 │ buffer │ ◀── piece 0 ──┐
//!   slot 1 │ buffer │ ◀── piece 1 ──┤ on their way, in any order; a slot whose piece was
//!   …                               │ seen gets the next one
//!   slot 7 │ buffer │ ◀── piece 7 ──┘
//! ```
//!
//! The kernel writes into a buffer from when its request is queued until its completion is taken, whatever happens here
//! meanwhile. Buffers are mappings, which do not move, and belong to the ring; only those of completed requests are looked at,
//! and none is freed before all requests have completed: [`Ring::read`] awaits them, also after an error; if it could not, or
//! somebody panicked, `Drop` does; and if that cannot, the buffers are leaked.

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::sync::LazyLock;

use fathom_machine::os::memory::{Buffer, Pages};
use io_uring::{IoUring, Probe, opcode, types};

/// Requests on their way.
const DEPTH: u32 = 8;

/// Why there is no io_uring on this machine, if so: a kernel before Linux 5.6, `kernel.io_uring_disabled`, a filter of
/// system calls as containers have.
pub(super) fn refusal() -> Option<&'static str> {
    static REFUSAL: LazyLock<Option<String>> = LazyLock::new(|| {
        let mut known = Probe::new();
        let ring = IoUring::new(1).and_then(|ring| ring.submitter().register_probe(&mut known));
        match ring {
            Ok(()) if known.is_supported(opcode::Read::CODE) => None,
            Ok(()) => Some("io_uring cannot read on this kernel".to_owned()),
            Err(error) => Some(format!("io_uring is refused on this machine: {error}")),
        }
    });
    REFUSAL.as_deref()
}

/// Queues and buffers, used for one file after the other.
pub(super) struct Ring {
    queues: IoUring,
    slots: Vec<Slot>,
    /// Requests whose completions were not taken.
    pending: usize,
    /// Bytes of a file.
    bytes: u64,
}

struct Slot {
    buffer: Buffer,
    /// Where in the file its piece begins.
    at: u64,
    /// How much of the piece is there.
    filled: usize,
}

impl Ring {
    /// For files of so many bytes, in pieces of `buffer_bytes`.
    pub(super) fn new(buffer_bytes: usize, bytes: u64) -> io::Result<Ring> {
        let count = bytes.div_ceil(buffer_bytes as u64).min(u64::from(DEPTH));
        let slot =
            |_| Ok(Slot { buffer: Buffer::new(buffer_bytes, Pages::Base)?, at: 0, filled: 0 });
        let slots = (0..count).map(slot).collect::<io::Result<_>>()?;
        Ok(Ring { queues: IoUring::new(DEPTH)?, slots, pending: 0, bytes })
    }

    /// Reads a file and shows `see` its pieces, in the order in which they come.
    ///
    /// # Errors
    /// What the kernel answers, and a file that is shorter than was said.
    pub(super) fn read(&mut self, file: &File, see: impl FnMut(&[u8])) -> io::Result<()> {
        self.settle()?;
        let done = self.pieces(file, see);
        self.settle().and(done)
    }

    fn pieces(&mut self, file: &File, mut see: impl FnMut(&[u8])) -> io::Result<()> {
        let mut ahead = 0;
        for number in 0..self.slots.len() {
            self.begin(number, file, &mut ahead)?;
        }
        while self.pending > 0 {
            let (number, read) = self.completed()?;
            let slot = &mut self.slots[number];
            let (read, wanted) = (read?, self.bytes - slot.at);
            slot.filled += read;
            match slot.filled as u64 == wanted.min(slot.buffer.len() as u64) {
                true => {
                    see(&slot.buffer[..slot.filled]);
                    self.begin(number, file, &mut ahead)?;
                }
                false if read == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                false => self.ask(number, file)?,
            }
        }
        Ok(())
    }

    /// Asks for the piece at `ahead`, if there is one, into a slot.
    fn begin(&mut self, number: usize, file: &File, ahead: &mut u64) -> io::Result<()> {
        if *ahead >= self.bytes {
            return Ok(());
        }
        let slot = &mut self.slots[number];
        (slot.at, slot.filled) = (*ahead, 0);
        *ahead += slot.buffer.len() as u64;
        self.ask(number, file)
    }

    /// Asks for what a slot lacks, to the end of its buffer: past the page cache a request is of whole blocks, also where
    /// the file ends.
    fn ask(&mut self, number: usize, file: &File) -> io::Result<()> {
        let slot = &mut self.slots[number];
        let room = &mut slot.buffer[slot.filled..];
        let request =
            opcode::Read::new(types::Fd(file.as_raw_fd()), room.as_mut_ptr(), room.len() as u32);
        let request = request.offset(slot.at + slot.filled as u64).build().user_data(number as u64);
        // SAFETY: the buffer is a mapping that stays where it is until its ring is dropped, which awaits this request or leaks it;
        // `completed` alone says that the request is over, and before that nobody looks into the buffer: `pieces` does so for
        // the slot just completed, and `ask` is called for that slot or for one that was never asked for.
        let queued = unsafe { self.queues.submission().push(&request) };
        queued.map_err(|_| io::Error::other("more requests than slots"))?;
        self.pending += 1;
        // At once, so that it is on its way while another piece is looked at.
        self.queues.submit()?;
        Ok(())
    }

    /// Waits for a completion; of which slot, and how many bytes came.
    fn completed(&mut self) -> io::Result<(usize, io::Result<usize>)> {
        loop {
            if let Some(entry) = self.queues.completion().next() {
                self.pending -= 1;
                let read = usize::try_from(entry.result());
                let read = read.map_err(|_| io::Error::from_raw_os_error(-entry.result()));
                return Ok((entry.user_data() as usize, read));
            }
            match self.queues.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => drop(other?),
            }
        }
    }

    /// Waits until nothing is on its way.
    fn settle(&mut self) -> io::Result<()> {
        while self.pending > 0 {
            // What became of it was for those to know who are gone.
            let _ = self.completed()?;
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.settle().is_err() {
            mem::forget(mem::take(&mut self.slots));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use fathom_machine::needs;

    use super::*;

    const BUFFER: usize = 4 << 10;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn numbered(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|i| (i / BUFFER) as u8 + 1).collect()
    }

    #[test]
    fn every_piece_is_seen_once_and_whole() {
        needs!("io_uring", refusal().is_none());
        for bytes in [0, 1, BUFFER, BUFFER + 1, 8 * BUFFER, 21 * BUFFER - 7] {
            let text = numbered(bytes);
            let (file, mut ring) = (file(&text), Ring::new(BUFFER, bytes as u64).unwrap());
            for _ in 0..3 {
                let mut seen = Vec::new();
                ring.read(&file, |piece| seen.push(piece.to_vec())).unwrap();
                seen.sort();
                let mut expected: Vec<&[u8]> = text.chunks(BUFFER).collect();
                expected.sort();
                assert_eq!(seen, expected, "{bytes}");
            }
        }
    }

    #[test]
    fn after_an_error_nothing_is_on_its_way() {
        needs!("io_uring", refusal().is_none());
        let text = numbered(21 * BUFFER);
        let mut ring = Ring::new(BUFFER, text.len() as u64).unwrap();
        let cannot = File::options().write(true).open("/dev/null").unwrap();
        assert!(ring.read(&cannot, |_| panic!("it cannot be read")).is_err());
        assert_eq!(ring.pending, 0);
        let short = file(&text[..9 * BUFFER + 1]);
        let error = ring.read(&short, |_| ()).unwrap_err();
        assert_eq!((error.kind(), ring.pending), (io::ErrorKind::UnexpectedEof, 0));

        let whole = file(&text);
        let panicked = catch_unwind(AssertUnwindSafe(|| ring.read(&whole, |_| panic!("a bug"))));
        assert!(panicked.is_err() && ring.pending > 0);
        let mut pieces = 0;
        ring.read(&whole, |_| pieces += 1).unwrap();
        assert_eq!((pieces, ring.pending), (21, 0));
        let _ = catch_unwind(AssertUnwindSafe(|| ring.read(&whole, |_| panic!("a bug"))));
        drop(ring);
    }
}
