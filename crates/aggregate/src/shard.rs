//! What one thread knows: its tables, and the records the hot path left to the exact parser.
//!
//! A shard takes whole rows. It does not read files, and it does not know where in a file its rows
//! stand: refused rows are handed out by their place in the window.

use hashbrown::HashMap;

use crate::chunk::Window;
use crate::error::{Error, Reason, quoted};
use crate::kernel::{self, Kernel};
use crate::merge::{Partial, Stats};
use crate::number::Decimal;
use crate::reference;
use crate::table::{BIAS, FOLD_ROWS, Hashes, Long, MOST_KEYS, Short, short_key};

/// The state of one thread.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) short: Short,
    pub(crate) long: Long,
    pub(crate) wide: HashMap<Box<[u8]>, Stats>,
    wide_bytes: usize,
    with_squares: bool,
    kernel: Kernel,
    hashes: Hashes,
    rows_since_fold: u64,
    /// Whether most keys of the last batch were long: those of the next will be.
    pub(crate) mostly_long: bool,
    /// Records taken.
    pub(crate) records: u64,
    /// Lines with nothing on them.
    pub(crate) blank_lines: u64,
    /// Refused rows of the current window, as `(start, end)` in its buffer.
    pub(crate) refused: Vec<Refused>,
    /// The key whose sum outgrew its type, if one did.
    overflow: Option<Error>,
}

/// A row the exact parser refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused {
    /// First byte of the row in the window's buffer.
    pub(crate) start: usize,
    /// Its newline.
    pub(crate) end: usize,
    /// Why.
    pub(crate) reason: Reason,
}

impl Shard {
    pub(crate) fn new(kernel: Kernel, with_squares: bool, trust_hash: bool) -> Shard {
        let hashes = kernel::hashes(kernel.level);
        Shard {
            short: Short::new(hashes.short, with_squares),
            long: Long::new(hashes.long, with_squares, trust_hash),
            wide: HashMap::new(),
            wide_bytes: 0,
            with_squares,
            kernel,
            hashes,
            rows_since_fold: 0,
            mostly_long: false,
            records: 0,
            blank_lines: 0,
            refused: Vec::new(),
            overflow: None,
        }
    }

    /// Takes every row of the window and returns how many lines it has. Rows that are no records
    /// are in `refused` afterwards.
    ///
    /// # Errors
    /// [`Error::SumOverflow`].
    pub(crate) fn take(&mut self, window: &Window<'_>) -> Result<u64, Error> {
        self.refused.clear();
        let blank_before = self.blank_lines;
        let lines = kernel::run(self.kernel, window, self, self.with_squares);
        let blank = self.blank_lines - blank_before;
        self.records += lines - blank - self.refused.len() as u64;
        self.settle(lines)?;
        self.refused.sort_unstable_by_key(|row| row.start);
        Ok(lines)
    }

    /// Says that `lines` more rows of one window have been added, however they were.
    ///
    /// # Errors
    /// [`Error::SumOverflow`] and [`Error::TooManyKeys`].
    pub(crate) fn settle(&mut self, lines: u64) -> Result<(), Error> {
        // A window has fewer than 2^31 rows, a chunk far fewer; folding between windows keeps the
        // bound as long as a single window stays below it, which its size in bytes guarantees.
        self.rows_since_fold += lines;
        if self.rows_since_fold > FOLD_ROWS / 2 {
            self.fold();
        }
        if self.short.keys().max(self.long.keys()) > MOST_KEYS {
            return Err(Error::TooManyKeys { most: MOST_KEYS });
        }
        self.overflow.take().map_or(Ok(()), Err)
    }

    /// Adds a record, to the table where the hot path would look for it.
    pub(crate) fn add(&mut self, key: &[u8], value: Decimal) {
        let tenths = i32::try_from(value.units).ok().filter(|v| v.abs() < BIAS);
        let Some(tenths) = tenths.filter(|_| value.scale == 1) else {
            return self.wide(key, value);
        };
        if let Some(key) = short_key(key) {
            self.short.prepare(1);
            let slot = self.short.find_or_insert(&key);
            self.short.entries[slot].tenths.add(tenths);
            if self.with_squares {
                self.short.aside.squares[slot] += (tenths * tenths) as u64;
            }
        } else {
            self.long.prepare();
            let thorough = self.long.thorough;
            let hash = if thorough { self.hashes.long } else { self.hashes.samples };
            self.add_long(key, hash(key, &self.long.seed), tenths, None);
        }
    }

    fn fold(&mut self) {
        self.short.fold();
        self.long.fold();
        self.rows_since_fold = 0;
    }

    /// A row the hot path did not take: anything but a one-decimal value below 100.
    #[cold]
    #[inline(never)]
    pub(crate) fn odd(&mut self, buffer: &[u8], start: usize, end: usize) {
        match reference::record(&buffer[start..end]) {
            Ok(None) => self.blank_lines += 1,
            Ok(Some((key, value))) => self.wide(key, value),
            Err(reason) => self.refused.push(Refused { start, end, reason }),
        }
    }

    /// A record whose value the hot tables cannot hold.
    pub(crate) fn wide(&mut self, key: &[u8], value: Decimal) {
        match self.wide.get_mut(key) {
            Some(stats) => {
                if stats.add(value).is_err() && self.overflow.is_none() {
                    self.overflow =
                        Some(Error::SumOverflow { key: quoted(key), scale: stats.scale() });
                }
            }
            None => {
                self.wide_bytes += key.len() + size_of::<Partial>() + 48;
                self.wide.insert(key.into(), Stats::of(value, self.with_squares));
            }
        }
    }

    /// A record with a long key and a value in tenths; false if the key contains `forbidden`.
    #[inline(never)]
    pub(crate) fn add_long(
        &mut self,
        key: &[u8],
        hash: u64,
        value: i32,
        forbidden: Option<u8>,
    ) -> bool {
        let Some(at) = self.long.find_or_insert(key, hash, forbidden) else { return false };
        let unit = &mut self.long.units[at];
        unit.tenths.add(value);
        if self.with_squares {
            self.long.aside.squares[unit.index as usize] += (value * value) as u64;
        }
        true
    }

    /// Keys held, a key of two tables counted twice.
    pub(crate) fn keys(&self) -> usize {
        self.short.keys() + self.long.keys() + self.wide.len()
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        self.short.bytes() + self.long.bytes() + self.wide_bytes
    }
}
