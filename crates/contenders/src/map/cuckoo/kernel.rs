//! Buckets, displacement and growth of the cuckoo map. Knows entries, not keys.

use std::mem::MaybeUninit;

use super::super::place::Place;
use super::super::slots::Slots;

/// Slots per bucket, whose tags are one 32-bit word.
const SLOTS: usize = 4;
/// Moves a displacement makes at most.
const MOVES: usize = 4;
/// Buckets a search looks at: two, and four times as many for each further move.
const SEARCHED: usize = 2 * (1 + 4 + 16 + 64 + 256);

/// Two arrays, one slot each per tag. Entries are plain values: `Copy`, never dropped.
pub(in crate::map) struct Table<I> {
    /// One word of four tags per bucket; the number of buckets is a power of two.
    tags: Box<[u32]>,
    /// Slot `4 * bucket + n` is initialised where tag `n` of the bucket is not 0.
    entries: Box<[MaybeUninit<I>]>,
    len: usize,
}

impl<I: Copy> Table<I> {
    fn with_buckets(buckets: usize) -> Table<I> {
        let entries = Box::new_uninit_slice(buckets * SLOTS);
        Table { tags: vec![0; buckets].into_boxed_slice(), entries, len: 0 }
    }

    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn first(&self, place: Place) -> usize {
        place.index & (self.tags.len() - 1)
    }

    /// The other bucket of an entry with `tag` that is in `bucket`: its own inverse.
    #[inline]
    fn other(&self, bucket: usize, tag: u8) -> usize {
        // The multiplier of MurmurHash2, as libcuckoo has it.
        let step = (u64::from(tag) + 1).wrapping_mul(0xc6a4_a793_5bd1_e995);
        (bucket ^ step as usize) & (self.tags.len() - 1)
    }

    /// The slot of the entry that has `place` and for which `is` holds.
    #[inline]
    fn slot(&self, place: Place, mut is: impl FnMut(&I) -> bool) -> Option<usize> {
        let first = self.first(place);
        let second = self.other(first, place.tag);
        let tags = u64::from(self.tags[first]) | (u64::from(self.tags[second]) << 32);
        let mut hits = bytes_that_may_equal(tags, place.tag);
        while hits != 0 {
            let at = hits.trailing_zeros() as usize / 8;
            let bucket = if at < SLOTS { first } else { second };
            let slot = SLOTS * bucket + at % SLOTS;
            // The bits above a true hit may be false, but a tag of 0 is never taken for one.
            if (tags >> (8 * at)) as u8 == place.tag {
                // SAFETY: the tag is `place.tag`, not 0, so the slot is initialised.
                if is(unsafe { self.entries[slot].assume_init_ref() }) {
                    return Some(slot);
                }
            }
            hits &= hits - 1;
        }
        None
    }

    #[inline]
    fn free_slot(&self, bucket: usize) -> Option<usize> {
        let tags = self.tags[bucket];
        (0..SLOTS).find(|at| (tags >> (8 * at)) & 0xff == 0).map(|at| SLOTS * bucket + at)
    }

    #[inline]
    fn put(&mut self, slot: usize, tag: u8, entry: I) {
        self.entries[slot].write(entry);
        self.tags[slot / SLOTS] |= u32::from(tag) << (8 * (slot % SLOTS));
        self.len += 1;
    }

    /// Frees a slot of `first` or `second` by moving entries to their other buckets.
    #[cold]
    #[inline(never)]
    fn displace(&mut self, first: usize, second: usize) -> Option<usize> {
        /// A bucket reached by moving an entry out of the slot `from` of the one before.
        #[derive(Clone, Copy)]
        struct Reached {
            bucket: usize,
            from: usize,
            before: usize,
            moves: usize,
        }
        let start = |bucket| Reached { bucket, from: 0, before: usize::MAX, moves: 0 };
        // 22 KB, of which most searches need the first lines.
        let mut queue = [MaybeUninit::uninit(); SEARCHED];
        queue[0].write(start(first));
        queue[1].write(start(second));
        let (mut next, mut end) = (0, 2);
        while next < end {
            // SAFETY: the first `end` are written, and `next` is below it.
            let reached: Reached = unsafe { queue[next].assume_init() };
            if let Some(mut free) = self.free_slot(reached.bucket) {
                // Back along the chain: each entry moves into the slot freed after it. The search
                // is breadth-first, so that no bucket is on the chain twice.
                let mut at = reached;
                while at.before != usize::MAX {
                    self.shift(at.from, free);
                    free = at.from;
                    // SAFETY: what was reached before stands before it.
                    at = unsafe { queue[at.before].assume_init() };
                }
                return Some(free);
            }
            if reached.moves < MOVES {
                for at in 0..SLOTS {
                    let tag = (self.tags[reached.bucket] >> (8 * at)) as u8;
                    let bucket = self.other(reached.bucket, tag);
                    let (from, moves) = (SLOTS * reached.bucket + at, reached.moves + 1);
                    queue[end].write(Reached { bucket, from, before: next, moves });
                    end += 1;
                }
            }
            next += 1;
        }
        None
    }

    /// Moves an entry with its tag from one slot to a free one.
    fn shift(&mut self, from: usize, to: usize) {
        let tag = (self.tags[from / SLOTS] >> (8 * (from % SLOTS))) & 0xff;
        self.tags[to / SLOTS] |= tag << (8 * (to % SLOTS));
        self.tags[from / SLOTS] &= !(0xff << (8 * (from % SLOTS)));
        self.entries[to] = self.entries[from];
    }

    /// Doubles as often as it takes to find a slot for everything.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, place: Place, entry: I, place_of: impl Fn(&I) -> Place) {
        let mut buckets = self.tags.len();
        loop {
            buckets *= 2;
            // Keys that share all bits of their hash fill eight slots and no more: a ninth would double
            // the table until memory ends. Others fit long before the table is no more than a sixty-fourth full.
            let is_filled = buckets * SLOTS <= 64 * (self.len + 1);
            assert!(
                is_filled,
                "too many keys share a tag and their buckets: their hashes are alike"
            );
            let mut larger = Table::with_buckets(buckets);
            let mut fits = larger.try_put(place, entry);
            self.each(|entry| fits = fits && larger.try_put(place_of(entry), *entry));
            if fits {
                *self = larger;
                return;
            }
        }
    }

    /// Puts in an entry that is not there yet, unless the table would have to grow for it.
    fn try_put(&mut self, place: Place, entry: I) -> bool {
        let first = self.first(place);
        let second = self.other(first, place.tag);
        let free = [first, second].into_iter().find_map(|bucket| self.free_slot(bucket));
        let free = free.or_else(|| self.displace(first, second));
        if let Some(slot) = free {
            self.put(slot, place.tag, entry);
        }
        free.is_some()
    }
}

impl<I: Copy> Slots<I> for Table<I> {
    fn with_capacity(entries: usize) -> Table<I> {
        let buckets = (entries + entries / 19).div_ceil(SLOTS).next_power_of_two().max(2);
        Table::with_buckets(buckets)
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn find(&self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&I> {
        let slot = self.slot(place, is)?;
        // SAFETY: `slot` returns slots that are initialised.
        Some(unsafe { self.entries[slot].assume_init_ref() })
    }

    #[inline]
    fn find_mut(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&mut I> {
        let slot = self.slot(place, is)?;
        // SAFETY: `slot` returns slots that are initialised.
        Some(unsafe { self.entries[slot].assume_init_mut() })
    }

    #[inline]
    fn insert_new(&mut self, place: Place, entry: I, place_of: impl Fn(&I) -> Place) {
        let first = self.first(place);
        let second = self.other(first, place.tag);
        let free = [first, second].into_iter().find_map(|bucket| self.free_slot(bucket));
        match free.or_else(|| self.displace(first, second)) {
            Some(slot) => self.put(slot, place.tag, entry),
            None => self.grow(place, entry, place_of),
        }
    }

    #[inline]
    fn remove(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<I> {
        let slot = self.slot(place, is)?;
        self.tags[slot / SLOTS] &= !(0xff << (8 * (slot % SLOTS)));
        self.len -= 1;
        // SAFETY: `slot` returns slots that are initialised.
        Some(unsafe { self.entries[slot].assume_init_read() })
    }

    fn each(&self, mut visit: impl FnMut(&I)) {
        for (tags, entries) in self.tags.iter().zip(self.entries.chunks_exact(SLOTS)) {
            for (at, entry) in entries.iter().enumerate() {
                if (tags >> (8 * at)) & 0xff != 0 {
                    // SAFETY: a slot whose tag is not 0 is initialised.
                    visit(unsafe { entry.assume_init_ref() });
                }
            }
        }
    }
}

/// The highest bit of each byte of `tags` that equals `tag`; a byte above an equal one may be
/// marked too (the borrow of the subtraction).
#[inline]
fn bytes_that_may_equal(tags: u64, tag: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero_where_equal = tags ^ (ONES * u64::from(tag));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7)
}
