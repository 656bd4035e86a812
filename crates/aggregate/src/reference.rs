//! References to the keys of a thread's tables, in the order of their bytes.
//!
//! A reference holds the first bytes of its key, so that sorting hardly ever looks at the tables.

use std::borrow::Cow;
use std::cmp::Ordering;

use fathom_machine::os::memory::prefer_huge;
use fathom_machine::prefetch;

use crate::merge::Stats;
use crate::table::{ShortKey, Tables, short_bytes};
use crate::wide::Wide;

/// Where a key is, with enough of it to put most keys in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference {
    /// The first 15 bytes of the key, zeros behind a shorter one, then its length, at most 16: as a
    /// number, so that less is before. Two keys with the same are the same, unless they are longer
    /// than 15 bytes.
    pub(crate) head: [u64; 2],
    pub(crate) table: Table,
    /// The place in it.
    pub(crate) place: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    Short,
    Long,
    Wide,
}

/// What a key takes while those of a thread are put in order.
pub(crate) const BYTES_PER_REFERENCE: usize = size_of::<Reference>();

const _: () = assert!(BYTES_PER_REFERENCE == 24);

/// What references lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) wide: &'a Wide,
}

impl Reference {
    fn to_short(key: &ShortKey, place: usize) -> Reference {
        let bytes = short_bytes(key) as u32;
        // The delimiter behind the key is no part of it.
        let end = 8 * (bytes % 8);
        let mut words = *key;
        words[bytes as usize / 8] &= (1_u64 << end).wrapping_sub(1);
        let head = [words[0].swap_bytes(), words[1].swap_bytes() | u64::from(bytes)];
        Reference { head, table: Table::Short, place: place as u32 }
    }

    fn new(key: &[u8], table: Table, place: usize) -> Reference {
        let mut head = [0; 16];
        let len = key.len().min(15);
        head[..len].copy_from_slice(&key[..len]);
        head[15] = key.len().min(16) as u8;
        let (words, _) = head.as_chunks::<8>();
        let head = [u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1])];
        let place = u32::try_from(place).expect("tables number their keys in 32 bits");
        Reference { head, table, place }
    }

    fn is_whole(&self) -> bool {
        self.head[1] & 0xff < 16
    }
}

impl<'a> Held<'a> {
    /// All keys in order, a key at most once per table.
    pub(crate) fn sorted(self) -> Vec<Reference> {
        let Held { tables, wide } = self;
        let keys = tables.short.keys() + tables.long.keys() + wide.len();
        let mut references = Vec::with_capacity(keys);
        prefer_huge(references.spare_capacity_mut());
        let shorts = tables.short.keyed();
        references.extend(shorts.map(|(slot, key)| Reference::to_short(key, slot)));
        let longs = tables.long.places().map(|at| (at, tables.long.key(at)));
        references.extend(longs.map(|(at, key)| Reference::new(key, Table::Long, at)));
        let wides = (0..wide.len()).map(|group| (group, wide.key(group)));
        references.extend(wides.map(|(group, key)| Reference::new(key, Table::Wide, group)));
        references.sort_unstable_by(|a, b| compare((self, a), (self, b)));
        references
    }

    /// The key of a reference, which `short` has room for if it is no longer than 15 bytes.
    pub(crate) fn key<'k>(self, reference: &Reference, short: &'k mut [u8; 16]) -> &'k [u8]
    where
        'a: 'k,
    {
        if !reference.is_whole() {
            return self.long_key(reference);
        }
        let [high, low] = reference.head.map(u64::to_be_bytes);
        short[..8].copy_from_slice(&high);
        short[8..].copy_from_slice(&low);
        &short[..usize::from(low[7])]
    }

    /// The key of a reference with more than 15 bytes.
    fn long_key(self, reference: &Reference) -> &'a [u8] {
        match reference.table {
            Table::Short => unreachable!("short keys have up to 15 bytes"),
            Table::Long => self.tables.long.key(reference.place as usize),
            Table::Wide => self.wide.key(reference.place as usize),
        }
    }

    /// What is known of the key of a reference.
    pub(crate) fn stats(self, reference: &Reference) -> Cow<'a, Stats> {
        let place = reference.place as usize;
        match reference.table {
            Table::Short => Cow::Owned(self.tables.short.stats(place)),
            Table::Long => Cow::Owned(self.tables.long.stats(place)),
            Table::Wide => Cow::Borrowed(self.wide.stats(place)),
        }
    }

    /// Begins to fetch the statistics of a reference to a table of the hot path.
    pub(crate) fn prefetch(self, reference: &Reference) {
        let place = reference.place as usize;
        match reference.table {
            Table::Short => prefetch(&self.tables.short.entries[place]),
            Table::Long => prefetch(&self.tables.long.units[place]),
            Table::Wide => {}
        }
    }
}

/// The order of two keys.
#[inline(always)]
pub(crate) fn compare(
    (a_held, a): (Held<'_>, &Reference),
    (b_held, b): (Held<'_>, &Reference),
) -> Ordering {
    let number = |r: &Reference| u128::from(r.head[0]) << 64 | u128::from(r.head[1]);
    match number(a).cmp(&number(b)) {
        Ordering::Equal if !a.is_whole() => a_held.long_key(a).cmp(b_held.long_key(b)),
        order => order,
    }
}
