//! Files without a name, and runs in them: lists of keys in order, each with what is known of it.
//!
//! ```text
//! run    blocks of some 256 KiB, anywhere in the file; where, and their hashes, are in memory
//! block  entries: bytes shared with the key before │ the rest of the key │ what is known
//! ```
//!
//! The hash of a block (XXH3) never was on the disk, so a block that is not what was written there is seen, also if
//! it is another one of the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use super::codec::{Front, text, unsigned};
use crate::error::Error;
use crate::merge::{Keep, Stats};

/// Where what outgrows the memory limit is written.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The folder.
    pub folder: PathBuf,
    /// Makes a file in it that can be read and written, and vanishes with the process.
    pub create: fn(&Path) -> io::Result<File>,
    /// Whether the [totals](crate::Column::total) of the columns will be asked for.
    pub totals: bool,
    /// What each thread's tables of a column may take however small the limit is: [`Spill::LEAST_BYTES`], unless they
    /// are to be written all the time.
    pub least_bytes: usize,
}

impl Spill {
    /// The first tables take a third of it, a total as much as half. With less they would hardly hold a key.
    pub const LEAST_BYTES: usize = 2 << 20;
}

/// Bytes of a block, unless one key has more.
pub(super) const BLOCK_BYTES: usize = 256 << 10;

/// A file in the making.
#[derive(Debug)]
pub(super) struct Store {
    spill: Spill,
    file: File,
    end: AtomicU64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug)]
struct Block {
    at: u64,
    len: usize,
    hash: u64,
}

/// Keys in order.
#[derive(Debug)]
pub(super) struct Run {
    store: Arc<Store>,
    blocks: Vec<Block>,
}

impl Store {
    /// An empty one.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub(super) fn new(spill: &Spill) -> Result<Arc<Store>, Error> {
        let failed = |source| Error::Spill { folder: spill.folder.clone(), source };
        let file = (spill.create)(&spill.folder).map_err(failed)?;
        Ok(Arc::new(Store { spill: spill.clone(), file, end: AtomicU64::new(0) }))
    }

    /// Another empty one beside it.
    ///
    /// # Errors
    /// The same.
    pub(super) fn another(&self) -> Result<Arc<Store>, Error> {
        Store::new(&self.spill)
    }

    pub(super) fn with_totals(&self) -> bool {
        self.spill.totals
    }

    pub(super) fn least_bytes(&self) -> usize {
        self.spill.least_bytes
    }

    /// Bytes written so far.
    pub(super) fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Spill { folder: self.spill.folder.clone(), source }
    }

    fn damaged(&self) -> Error {
        let said = "what is read back is not what was written";
        self.failed(io::Error::other(said))
    }

    fn append(&self, bytes: &[u8]) -> Result<Block, Error> {
        let len = bytes.len();
        let at = self.end.fetch_add(len as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, at).map_err(|error| self.failed(error))?;
        Ok(Block { at, len, hash: xxh3_64(bytes) })
    }

    fn read(&self, block: Block, into: &mut Vec<u8>) -> Result<(), Error> {
        if into.capacity() > 2 * block.len.max(BLOCK_BYTES) {
            *into = Vec::new();
        }
        into.resize(block.len, 0);
        self.file.read_exact_at(into, block.at).map_err(|error| self.failed(error))?;
        if xxh3_64(into) == block.hash { Ok(()) } else { Err(self.damaged()) }
    }
}

impl Run {
    /// Where it is.
    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Bytes of its largest block.
    pub(super) fn most_bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.len).max().unwrap_or(0)
    }
}

/// Writes a run.
#[derive(Debug)]
pub(super) struct Writer {
    run: Run,
    bytes: Vec<u8>,
    /// The key before, of this block.
    key: Vec<u8>,
}

impl Writer {
    pub(super) fn new(store: &Arc<Store>) -> Writer {
        let run = Run { store: Arc::clone(store), blocks: Vec::new() };
        Writer { run, bytes: Vec::with_capacity(BLOCK_BYTES + 4096), key: Vec::new() }
    }

    /// Adds a key with what `write` appends.
    ///
    /// # Errors
    /// [`Error::Spill`].
    pub(super) fn push(
        &mut self,
        key: &[u8],
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        let shared = self.key.iter().zip(key).take_while(|(a, b)| a == b).count();
        unsigned(&mut self.bytes, shared as u128);
        text(&mut self.bytes, &key[shared..]);
        self.key.truncate(shared);
        self.key.extend_from_slice(&key[shared..]);
        write(&mut self.bytes);
        if self.bytes.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.run.blocks.push(self.run.store.append(&self.bytes)?);
        self.bytes.clear();
        self.key.clear();
        Ok(())
    }

    /// The whole run.
    ///
    /// # Errors
    /// The same.
    pub(super) fn finish(mut self) -> Result<Run, Error> {
        if !self.bytes.is_empty() {
            self.flush()?;
        }
        Ok(self.run)
    }
}

/// Reads a run, a key at a time.
#[derive(Debug)]
pub(super) struct Reader {
    run: Run,
    /// The next block.
    next: usize,
    bytes: Vec<u8>,
    /// Where in the block the next entry starts.
    at: usize,
    key: Vec<u8>,
}

impl Reader {
    /// Before the first key.
    pub(super) fn new(run: Run) -> Reader {
        Reader { run, next: 0, bytes: Vec::new(), at: 0, key: Vec::new() }
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Bytes it has in memory.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Where it is in the block in hand.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes on to the next key, of which everything was read; false if there is none.
    ///
    /// # Errors
    /// [`Error::Spill`].
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        if self.at == self.bytes.len() {
            let Some(&block) = self.run.blocks.get(self.next) else {
                self.bytes = Vec::new();
                self.at = 0;
                return Ok(false);
            };
            self.run.store.read(block, &mut self.bytes)?;
            (self.next, self.at) = (self.next + 1, 0);
            self.key.clear();
        }
        self.read(|front, key| {
            let shared: usize = front.unsigned()?;
            let rest = front.text()?;
            (shared <= key.len()).then(|| {
                key.truncate(shared);
                key.extend_from_slice(rest);
            })
        })?;
        Ok(true)
    }

    /// What is known of the key in one more column.
    ///
    /// # Errors
    /// The same.
    #[inline]
    pub(super) fn stats(&mut self, keep: Keep) -> Result<Stats, Error> {
        self.read(|front, _| front.stats(keep))
    }

    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut Front<'_>, &mut Vec<u8>) -> Option<T>,
    ) -> Result<T, Error> {
        let mut front = Front(&self.bytes[self.at..]);
        let found = read(&mut front, &mut self.key);
        self.at = self.bytes.len() - front.0.len();
        found.ok_or_else(|| self.run.store.damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of two keys, in one block.
    fn written() -> Run {
        let folder = std::env::temp_dir();
        let spill =
            Spill { folder, create: |_| tempfile::tempfile(), totals: false, least_bytes: 0 };
        let mut writer = Writer::new(&Store::new(&spill).unwrap());
        for key in ["name 1", "name 2"] {
            writer.push(key.as_bytes(), |bytes| bytes.push(7)).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Most bits could be others and still be read, as another key or another number.
    #[test]
    fn a_bit_that_is_not_the_one_written_is_an_error() {
        assert!(Reader::new(written()).advance().unwrap());
        for at in 0..8 * written().store.bytes() {
            let run = written();
            let mut byte = [0];
            run.store.file.read_exact_at(&mut byte, at / 8).unwrap();
            byte[0] ^= 1 << (at % 8);
            run.store.file.write_all_at(&byte, at / 8).unwrap();
            let said = Reader::new(run).advance().unwrap_err().to_string();
            assert!(said.ends_with("what is read back is not what was written"), "{at}: {said}");
        }
    }
}
