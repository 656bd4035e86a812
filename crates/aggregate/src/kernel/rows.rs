//! What differs between instruction levels: how eight rows are parsed, and how a key is masked,
//! hashed and compared.

use fathom_machine::simd::Vector;

use super::{BATCH, LANES};
use crate::table::{Seed, ShortEntry, ShortKey, Tenths, slot_of};

/// Where the values of rows and what is known of their keys go: an element for each row.
#[derive(Clone, Copy)]
pub(super) struct Parsed {
    pub(super) values: *mut i32,
    /// Bytes of the key and its delimiter; 0 for a dummy.
    pub(super) masks: *mut u32,
    /// The same without the cut at 16: what long keys need.
    pub(super) key_bytes: *mut u32,
}

impl Parsed {
    /// Where those from row `row` on go.
    ///
    /// # Safety
    /// There are so many elements.
    #[inline(always)]
    pub(super) unsafe fn at_row(self, row: usize) -> Parsed {
        let Parsed { values, masks, key_bytes } = self;
        // SAFETY: the caller's.
        unsafe {
            Parsed { values: values.add(row), masks: masks.add(row), key_bytes: key_bytes.add(row) }
        }
    }
}

/// Where the table of short keys looks for a key first.
pub(super) struct Home<'a> {
    pub(super) seed: Seed,
    pub(super) displacements: &'a [u16],
    pub(super) mask: u64,
}

/// What eight rows turned out to be, a bit per row.
#[derive(Clone, Copy)]
pub(super) struct Shapes {
    pub(super) odd: u32,
    pub(super) long: u32,
}

/// The part of the kernel that differs between levels.
///
/// # Safety
/// Every method may use the instructions of its level: callers vouch that it is available.
pub(super) unsafe trait Rows {
    /// The register newlines are searched with.
    type Scan: Vector;
    /// A key of sixteen bytes in the form comparisons like best.
    type Key: Copy;

    /// Rows parsed at once: a divisor of [`BATCH`].
    const PARSED: usize = LANES;

    /// Parses the [`PARSED`](Rows::PARSED) rows that end at `ends[1..]`; `ends[0]` is the newline before the first.
    ///
    /// # Safety
    /// `base + ends[i]` lies in a [`Span`](super::Span): 64 bytes around it are readable.
    /// There are so many elements of each kind to write.
    unsafe fn values(base: *const u8, ends: *const u32, into: Parsed) -> Shapes;

    /// The first `bytes <= 16` bytes at `from`, then zeros.
    ///
    /// # Safety
    /// Sixteen bytes from `from` on are readable.
    unsafe fn key(from: *const u8, bytes: u32) -> Self::Key;

    /// The first `bytes <= 15` bytes at `from`, the terminator of stored keys, then zeros.
    ///
    /// # Safety
    /// Sixteen bytes from `from` on are readable.
    unsafe fn field_key(from: *const u8, bytes: u32) -> Self::Key;

    /// The keys of eight rows and their first slots; any of dummies. `from` is the base
    /// of a window, the newlines before the rows in it, and what [`Parsed::masks`] says of them.
    ///
    /// # Safety
    /// Sixteen bytes from the start of each row on are readable, eight keys and slots are writable.
    #[inline(always)]
    unsafe fn place<const DISPLACED: bool>(
        (base, ends, masks): (*const u8, *const u32, *const u32),
        home: &Home<'_>,
        keys: *mut Self::Key,
        slots: *mut u32,
    ) {
        for lane in 0..LANES {
            // SAFETY: the caller's.
            unsafe {
                let bytes = *masks.add(lane);
                let key = Self::key(base.add(*ends.add(lane) as usize + 1), bytes);
                let hash = Self::hash(key, &home.seed);
                let slot = if DISPLACED {
                    slot_of(hash, home.displacements, home.mask) as u32
                } else {
                    (hash & home.mask) as u32
                };
                *keys.add(lane) = key;
                *slots.add(lane) = slot;
            }
        }
    }

    /// Whether the entry has this key.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn is_at(key: Self::Key, entry: &ShortEntry) -> bool;

    /// The key as the table stores it.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn stored(key: Self::Key) -> ShortKey;

    /// Hashes a short key.
    ///
    /// # Safety
    /// As the trait.
    unsafe fn hash(key: Self::Key, seed: &Seed) -> u64;

    /// Hashes a key of `bytes >= 16` bytes by its first, middle and last sixteen: without a loop,
    /// whose end could not be predicted.
    ///
    /// # Safety
    /// `bytes` bytes from `from` on are readable.
    unsafe fn hash_samples(from: *const u8, bytes: usize, seed: &Seed) -> u64;

    /// Hashes a key of `bytes >= 16` bytes, all of them.
    ///
    /// # Safety
    /// `bytes` bytes from `from` on are readable.
    unsafe fn hash_long(from: *const u8, bytes: usize, seed: &Seed) -> u64;

    /// Whether two long keys of `bytes` bytes are the same.
    ///
    /// # Safety
    /// `bytes` bytes, and at least 32, are readable at both.
    unsafe fn same_long(left: *const u8, right: *const u8, bytes: usize) -> bool;

    /// Bit i is set where `keys[i]` is not the key of `entries[slots[i]]`.
    ///
    /// # Safety
    /// Eight keys and slots are readable and the slots lie in `entries`.
    unsafe fn differ(keys: *const Self::Key, slots: *const u32, entries: *const ShortEntry) -> u32;

    /// Adds a value to statistics.
    ///
    /// # Safety
    /// As the trait.
    #[inline(always)]
    unsafe fn add(to: &mut Tenths, value: i32) {
        to.add(value);
    }

    /// Adds the values of a batch to the statistics of slots, each to its own.
    ///
    /// # Safety
    /// So many slots and values are readable, and the slots lie in `entries`.
    #[inline(always)]
    unsafe fn add_all(entries: *mut ShortEntry, (slots, values): (*const u32, *const i32)) {
        for row in 0..BATCH {
            // SAFETY: the caller's; nobody else has a reference to the entry.
            unsafe {
                let entry = &mut *entries.add(*slots.add(row) as usize);
                Self::add(&mut entry.tenths, *values.add(row));
            }
        }
    }
}
