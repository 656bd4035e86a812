//! A piece of the input in memory, with room around it for loads that reach past its ends.
//!
//! ```text
//! │ margin │ data, len bytes              │ margin of zeros │ … capacity │
//! ```

use std::io;

/// Readable bytes before and after the data: as far as a kernel may look in one step.
pub(crate) const MARGIN_BYTES: usize = 320;

/// A buffer of fixed capacity that is filled again and again.
#[derive(Debug)]
pub(crate) struct Block {
    buffer: Vec<u8>,
    len: usize,
}

impl Block {
    pub(crate) fn new(capacity: usize) -> Block {
        Block { buffer: vec![0; capacity + 2 * MARGIN_BYTES], len: 0 }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.buffer.len() - 2 * MARGIN_BYTES
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[MARGIN_BYTES..MARGIN_BYTES + self.len]
    }

    /// Data and both margins; the data begins at [`MARGIN_BYTES`].
    pub(crate) fn with_margins(&self) -> &[u8] {
        &self.buffer[..self.len + 2 * MARGIN_BYTES]
    }

    /// Replaces the data by what `read` puts at the places it is offered, until it answers 0 or
    /// the block is full. `read` is told how many bytes it has delivered before.
    pub(crate) fn fill(
        &mut self,
        mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
    ) -> io::Result<()> {
        let capacity = self.capacity();
        self.len = 0;
        while self.len < capacity {
            let room = &mut self.buffer[MARGIN_BYTES + self.len..MARGIN_BYTES + capacity];
            match read(room, self.len) {
                Ok(0) => break,
                Ok(read) => self.len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.buffer[MARGIN_BYTES + self.len..][..MARGIN_BYTES].fill(0);
        Ok(())
    }
}
