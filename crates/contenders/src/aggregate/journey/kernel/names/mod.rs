//! The journey's tables: names to statistics, through slots of 16-bit indices.
//!
//! ```text
//!   slots: 2^18 × u16, 0 = free ─▶ index - 1 into dense arrays
//!
//!   Inline            │ len 1 │ name 51 ………………………… │ count 4 │ sum 4 │ min 2 │ max 2 │   64 bytes
//!   Own<Hashes>       │ count 4 │ sum 4 │ min 2 │ max 2 │ hash 4 │                        16 bytes
//!   Own<Names>        │ count 4 │ sum 4 │ min 2 │ max 2 │ len 4 │ name: pointer 8 │      24 bytes
//!   Shared<…>         │ count 4 │ sum 4 │ min 2 │ max 2 │   per thread                   12 bytes
//!                     │ hash 4 │ or │ pointer 8 │             once, beside the slots
//! ```
//!
//! Probing is linear. A name is looked at closely only when it is inserted: there names with a
//! delimiter or a newline in them are found out, which means that the row before was none. Names
//! are kept even where only hashes are compared, because the result shows them.

use fathom_aggregate::{Partial, Stats};
use fathom_machine::simd::Vector;

use super::DELIMITER;

mod compared;
mod inline;
mod own;
mod shared;

pub(super) use compared::{Compared, Hashes, Names};
pub(super) use inline::Inline;
pub(super) use own::Own;
pub(super) use shared::{Shared, SharedNames};

/// Slots of every table: four times the most names there can be.
const SLOTS: usize = 1 << 18;

/// Names that 16-bit indices can tell apart from a free slot.
const MOST_NAMES: usize = u16::MAX as usize;

/// What a table cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The row is no row the strategy takes; the caller finds out which.
    #[error("a row that is none")]
    Row,
    /// One more name than 16-bit indices can tell apart.
    #[error("more than 65535 keys")]
    Names,
    /// A name longer than its place.
    #[error("key {key:?} is longer than {most} bytes")]
    NameBytes {
        /// The name.
        key: String,
        /// The limit in bytes.
        most: usize,
    },
    /// The sum of a name.
    #[error("the sum of key {key:?} in one thread does not fit 32 bits")]
    Sum {
        /// The name.
        key: String,
    },
    /// So many rows of a name that 32 bits might not count them.
    #[error("a key may have more rows in one thread than 32 bits count")]
    Count,
}

/// A name for an error.
fn quoted(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Statistics of one name in one thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Small {
    count: u32,
    sum: i32,
    min: i16,
    max: i16,
}

impl Small {
    const NONE: Small = Small { count: 0, sum: 0, min: i16::MAX, max: i16::MIN };

    /// False if the sum no longer fits; it is then unusable.
    #[inline(always)]
    fn add(&mut self, tenths: i32) -> bool {
        let (sum, overflowed) = self.sum.overflowing_add(tenths);
        self.sum = sum;
        self.count = self.count.wrapping_add(1);
        let tenths = tenths as i16;
        if tenths < self.min {
            self.min = tenths;
        }
        if tenths > self.max {
            self.max = tenths;
        }
        !overflowed
    }

    fn partial(&self, name: &[u8]) -> Partial {
        let stats = Stats::of_tenths(
            self.count.into(),
            self.min.into(),
            self.max.into(),
            self.sum.into(),
            None,
        );
        Partial { key: name.into(), stats }
    }
}

/// A table as the loops see it: what differs between tables, and the search that does not.
///
/// # Safety
/// An implementation reads only what its methods' contracts allow, and
/// [`slot`](Table::slot) returns numbers of entries it has.
pub(super) unsafe trait Table: Send {
    /// Which entry, from 1, a slot leads to; 0 if it is free.
    ///
    /// # Safety
    /// `slot < SLOTS`.
    unsafe fn slot(&self, slot: usize) -> usize;

    /// Whether the entry, from 0, is that of the name.
    ///
    /// # Safety
    /// As [`add`](Table::add), and the index came from a slot.
    unsafe fn is_at<V: Vector>(&self, index: usize, name: *const u8, len: usize, hash: u32)
    -> bool;

    /// Makes an entry of a name that was not found before a free slot, and returns its index.
    ///
    /// # Errors
    /// Why there can be none.
    fn insert<V: Vector>(&mut self, name: &[u8], hash: u32, slot: usize) -> Result<usize, Refusal>;

    /// The statistics of an entry.
    ///
    /// # Safety
    /// The index came from a slot or from inserting.
    unsafe fn small(&mut self, index: usize) -> &mut Small;

    /// The statistics of all entries, by index.
    fn smalls(&self) -> impl Iterator<Item = Small>;

    /// Shows the name of an entry.
    fn with_name<T>(&self, index: usize, read: impl FnOnce(&[u8]) -> T) -> T;

    /// Where the reason of the first refusal is kept.
    fn refused(&mut self) -> &mut Option<Refusal>;

    /// Adds a value to the statistics of a name; false if it cannot, and then
    /// [`refusal`](Table::refusal) has the reason.
    ///
    /// # Safety
    /// `len + 16` bytes from `name` on are readable, and the level of `V` is available. `hash` is
    /// the same function of the name in every call.
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        name: *const u8,
        len: usize,
        hash: u32,
        tenths: i32,
    ) -> bool {
        let mut slot = hash as usize & (SLOTS - 1);
        let found = loop {
            // SAFETY: the slot was masked; the name is as the caller says.
            unsafe {
                let found = self.slot(slot);
                if found == 0 || self.is_at::<V>(found - 1, name, len, hash) {
                    break found;
                }
            }
            slot = (slot + 1) & (SLOTS - 1);
        };
        let index = if found == 0 {
            // SAFETY: the bytes of the name are readable.
            let name = unsafe { std::slice::from_raw_parts(name, len) };
            match self.insert::<V>(name, hash, slot) {
                Ok(index) => index,
                Err(refusal) => {
                    refuse(self.refused(), refusal);
                    return false;
                }
            }
        } else {
            found - 1
        };
        // SAFETY: found or inserted above.
        let fits = unsafe { self.small(index) }.add(tenths);
        if !fits {
            let refusal = self.sum_refusal(index);
            refuse(self.refused(), refusal);
        }
        fits
    }

    /// The reason where a sum does not fit.
    #[cold]
    #[inline(never)]
    fn sum_refusal(&self, index: usize) -> Refusal {
        Refusal::Sum { key: self.with_name(index, quoted) }
    }

    /// Why an addition was refused.
    fn refusal(&mut self) -> Option<Refusal> {
        self.refused().take()
    }

    /// The highest count of a name.
    fn most_count(&self) -> u32 {
        self.smalls().map(|small| small.count).max().unwrap_or(0)
    }

    /// Names and statistics, in no order.
    fn partials(&self) -> Vec<Partial> {
        let used = self.smalls().enumerate().filter(|(_, small)| small.count > 0);
        used.map(|(index, small)| self.with_name(index, |name| small.partial(name))).collect()
    }
}

/// Keeps the first reason. It does not get the table, so that compilers know that the table
/// stays what it was.
#[cold]
#[inline(never)]
fn refuse(reason: &mut Option<Refusal>, refusal: Refusal) {
    reason.get_or_insert(refusal);
}

/// Whether the `len` bytes at both places are the same.
///
/// # Safety
/// `max(len, 16)` bytes are readable at both; the level of `V` is available.
#[inline(always)]
unsafe fn same<V: Vector>(a: *const u8, b: *const u8, len: usize) -> bool {
    let all = u64::MAX >> (64 - V::BYTES);
    // SAFETY: while a full register fits, it is inside; the last one ends with the name, or starts
    // with it where the name is shorter than a register, which is at most sixteen bytes.
    unsafe {
        let equal = |at: usize| V::load(a.add(at)).equal(V::load(b.add(at)));
        if len <= V::BYTES {
            return (equal(0) | !(all >> (V::BYTES - len))) & all == all;
        }
        let mut at = 0;
        while at + V::BYTES < len {
            if equal(at) != all {
                return false;
            }
            at += V::BYTES;
        }
        equal(len - V::BYTES) == all
    }
}

/// A name may be inserted unless it shows that its row was none.
fn checked(name: &[u8]) -> Result<&[u8], Refusal> {
    let broken = name.is_empty() || memchr::memchr2(DELIMITER, b'\n', name).is_some();
    if broken { Err(Refusal::Row) } else { Ok(name) }
}

/// Names, at addresses that do not change: `len` and the bytes, with room to read wide behind.
#[derive(Debug, Default)]
struct Arena {
    blocks: Vec<Vec<u8>>,
    names: Vec<*const u8>,
    lens: Vec<u32>,
}

// SAFETY: the pointers point into the blocks, which move with the arena but stay where they are on
// the heap.
unsafe impl Send for Arena {}

impl Arena {
    const BLOCK_BYTES: usize = 1 << 20;
    /// A length before each name, readable bytes behind it.
    const BEFORE: usize = 4;
    const BEHIND: usize = 16;

    /// Keeps a name; returns where it is.
    fn push(&mut self, name: &[u8]) -> Result<*const u8, Refusal> {
        if self.names.len() == MOST_NAMES {
            return Err(Refusal::Names);
        }
        let len = u32::try_from(name.len()).expect("windows are shorter than 2 GiB");
        let bytes = Arena::BEFORE + name.len() + Arena::BEHIND;
        let room = self.blocks.last().map_or(0, |block| block.capacity() - block.len());
        if room < bytes {
            self.blocks.push(Vec::with_capacity(bytes.max(Arena::BLOCK_BYTES)));
        }
        let block = self.blocks.last_mut().expect("pushed above");
        block.extend_from_slice(&len.to_ne_bytes());
        let at = block.len();
        block.extend_from_slice(name);
        block.extend_from_slice(&[0; Arena::BEHIND]);
        let place = block[at..].as_ptr();
        self.names.push(place);
        self.lens.push(len);
        Ok(place)
    }

    fn get(&self, index: usize) -> &[u8] {
        // SAFETY: pushed with this length into a block that has not moved since: its capacity was
        // never exceeded.
        unsafe { std::slice::from_raw_parts(self.names[index], self.lens[index] as usize) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fathom_machine::simd::Scalar;
    #[cfg(target_arch = "x86_64")]
    use fathom_machine::simd::Sse2;

    use super::*;

    fn padded(name: &[u8]) -> Vec<u8> {
        [name, &[b'#'; 32]].concat()
    }

    fn add(table: &mut impl Table, name: &[u8], hash: u32, tenths: i32) -> bool {
        let text = padded(name);
        // SAFETY: 32 bytes follow the name; the scalar level is everywhere.
        unsafe { table.add::<Scalar>(text.as_ptr(), name.len(), hash, tenths) }
    }

    fn sums(table: &impl Table) -> Vec<(Vec<u8>, u64, i128)> {
        let sum = |p: Partial| (p.key.to_vec(), p.stats.count(), p.stats.sum().small().unwrap());
        let mut sums: Vec<_> = table.partials().into_iter().map(sum).collect();
        sums.sort();
        sums
    }

    fn every_table_that_compares(check: impl Fn(&str, &mut dyn FnMut(&[u8], u32, i32) -> bool)) {
        let (mut inline, mut own) = (Inline::new(), Own::<Names>::new());
        let mut shared = Shared::new(Arc::new(SharedNames::<Names>::new()));
        check("inline", &mut |name, hash, tenths| add(&mut inline, name, hash, tenths));
        check("own", &mut |name, hash, tenths| add(&mut own, name, hash, tenths));
        check("shared", &mut |name, hash, tenths| add(&mut shared, name, hash, tenths));
        assert_eq!(sums(&inline), sums(&own));
        assert_eq!(sums(&inline), sums(&shared));
    }

    #[test]
    fn equality_is_exact_at_every_length_and_difference() {
        for len in 1..60 {
            let a = padded(&vec![b'a'; len]);
            for at in 0..len {
                let mut b = a.clone();
                b[at] = b'b';
                // SAFETY: 32 bytes follow.
                unsafe {
                    assert!(!same::<Scalar>(a.as_ptr(), b.as_ptr(), len));
                    #[cfg(target_arch = "x86_64")]
                    assert!(!same::<Sse2>(a.as_ptr(), b.as_ptr(), len));
                    b[at] = b'a';
                    b[len] = b'!';
                    assert!(same::<Scalar>(a.as_ptr(), b.as_ptr(), len));
                    #[cfg(target_arch = "x86_64")]
                    assert!(same::<Sse2>(a.as_ptr(), b.as_ptr(), len));
                }
            }
        }
    }

    #[test]
    fn names_with_equal_hashes_are_told_apart_where_names_are_compared() {
        every_table_that_compares(|_, add| {
            for round in 0..3 {
                for i in 0..50 {
                    assert!(add(format!("name {i}").as_bytes(), 7, i + round));
                }
            }
        });
    }

    #[test]
    fn names_with_equal_hashes_become_one_where_hashes_are_trusted() {
        let mut own = Own::<Hashes>::new();
        assert!(add(&mut own, b"one", 7, 1) && add(&mut own, b"two", 7, 2));
        assert_eq!(sums(&own), [(b"one".to_vec(), 2, 3)]);
    }

    #[test]
    fn a_sum_beyond_32_bits_is_refused_with_its_name() {
        every_table_that_compares(|what, add| {
            for i in 0..2_149_633 {
                assert!(add(b"hot", 1, 999), "{what} {i}");
            }
            assert!(!add(b"hot", 1, 999), "{what}");
        });
        let mut own = Own::<Names>::new();
        assert!(add(&mut own, b"hot", 1, i32::MAX));
        assert!(!add(&mut own, b"hot", 1, 1));
        assert_eq!(own.refusal(), Some(Refusal::Sum { key: "hot".to_owned() }));
    }

    #[test]
    fn one_name_more_than_indices_is_refused() {
        every_table_that_compares(|what, add| {
            for i in 0..MOST_NAMES as u32 {
                assert!(add(format!("{i}").as_bytes(), i, 1), "{what} {i}");
            }
            assert!(!add(b"one more", 99_999, 1), "{what}");
            assert!(add(b"17", 17, 1), "{what}: known names go on");
        });
    }

    #[test]
    fn what_shows_a_broken_row_is_refused() {
        every_table_that_compares(|what, add| {
            for name in [&b""[..], b"a;b", b"a\nb"] {
                assert!(!add(name, 5, 1), "{what} {name:?}");
            }
        });
        let mut inline = Inline::new();
        assert!(add(&mut inline, &[b'x'; 51], 1, 1));
        assert!(!add(&mut inline, &[b'x'; 52], 1, 1));
        let refusal = inline.refusal().unwrap();
        assert!(matches!(refusal, Refusal::NameBytes { most: 51, .. }), "{refusal:?}");
    }

    #[test]
    fn threads_agree_on_shared_names() {
        let names = Arc::new(SharedNames::<Names>::new());
        let tables: Vec<Shared<Names>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let mut table = Shared::new(Arc::clone(&names));
                    scope.spawn(move || {
                        for i in 0..5000_u32 {
                            let i = i * (2 * thread + 1) % 5000;
                            // Four names to a hash: probes cross.
                            assert!(add(&mut table, format!("{i}").as_bytes(), i / 4, 1));
                        }
                        table
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for table in &tables {
            let sums = sums(table);
            assert!(sums.iter().all(|(_, count, sum)| *count as i128 == *sum));
            assert_eq!(sums.iter().map(|(_, count, _)| count).sum::<u64>(), 5000);
        }
        assert_eq!(names.arena.lock().unwrap().names.len(), 5000);
    }
}
