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

use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_machine::vector::Vector;

use crate::error::quoted;
use crate::merge::{Partial, Stats};
use crate::reference::DELIMITER;

/// Slots of every table: four times the most names there can be.
const SLOTS: usize = 1 << 18;

/// Names that 16-bit indices can tell apart from a free slot.
const MOST_NAMES: usize = u16::MAX as usize;

/// Longest name, in bytes, of an inline entry.
const MOST_INLINE_BYTES: usize = 51;

/// What a table cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The row is no row the strategy takes; the caller finds out which.
    Row,
    /// One more name than there are indices.
    Names,
    /// A name longer than its place.
    NameBytes { key: String, most: usize },
    /// The sum of a name does not fit 32 bits.
    Sum { key: String },
    /// So many rows of a name that 32 bits might not count them.
    Count,
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

    fn partial(&self, name: &[u8]) -> Option<Partial> {
        let stats = Stats::of_tenths(
            self.count.into(),
            self.min.into(),
            self.max.into(),
            self.sum.into(),
            None,
        );
        (self.count > 0).then(|| Partial { key: name.into(), stats })
    }
}

/// A table as the loops see it.
///
/// # Safety
/// An implementation reads only what its methods' contracts allow.
pub(super) unsafe trait Table: Send {
    /// Adds a value to the statistics of a name; false if it cannot, and then
    /// [`refusal`](Table::refusal) has the reason.
    ///
    /// # Safety
    /// `len + 16` bytes from `name` on are readable, and the level of `V` is available. `hash` is
    /// the same function of the name in every call.
    unsafe fn add<V: Vector>(
        &mut self,
        name: *const u8,
        len: usize,
        hash: u32,
        tenths: i32,
    ) -> bool;

    /// Why an addition was refused.
    fn refusal(&mut self) -> Option<Refusal>;

    /// The highest count of a name.
    fn most_count(&self) -> u32;

    /// Names and statistics, in no order.
    fn partials(&self) -> Vec<Partial>;
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

/// Names inside 64-byte entries, per thread.
#[derive(Debug)]
pub(super) struct Inline {
    slots: Vec<u16>,
    entries: Vec<InlineEntry>,
    refusal: Option<Refusal>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct InlineEntry {
    len: u8,
    name: [u8; MOST_INLINE_BYTES],
    small: Small,
}

const _: () = assert!(size_of::<InlineEntry>() == 64 && size_of::<Small>() == 12);

impl Inline {
    pub(super) fn new() -> Inline {
        Inline { slots: vec![0; SLOTS], entries: Vec::new(), refusal: None }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, name: &[u8], slot: usize) -> Result<usize, Refusal> {
        let name = checked(name)?;
        if name.len() > MOST_INLINE_BYTES {
            return Err(Refusal::NameBytes { key: quoted(name), most: MOST_INLINE_BYTES });
        }
        if self.entries.len() == MOST_NAMES {
            return Err(Refusal::Names);
        }
        let mut entry = InlineEntry { len: name.len() as u8, name: [0; _], small: Small::NONE };
        entry.name[..name.len()].copy_from_slice(name);
        self.entries.push(entry);
        self.slots[slot] = self.entries.len() as u16;
        Ok(self.entries.len() - 1)
    }
}

// SAFETY: reads names within the contract, and entries through `same`, whose sixteen bytes from
// the name of an entry on are inside it.
unsafe impl Table for Inline {
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        name: *const u8,
        len: usize,
        hash: u32,
        tenths: i32,
    ) -> bool {
        let mut slot = hash as usize & (SLOTS - 1);
        let index = loop {
            // SAFETY: the slot was masked; indices in slots are those of entries; the name is as
            // the caller says.
            unsafe {
                let index = usize::from(*self.slots.get_unchecked(slot));
                if index == 0 {
                    match self.insert(std::slice::from_raw_parts(name, len), slot) {
                        Ok(index) => break index,
                        Err(refusal) => {
                            self.refusal.get_or_insert(refusal);
                            return false;
                        }
                    }
                }
                let entry = self.entries.get_unchecked(index - 1);
                let same_len = usize::from(entry.len) == len;
                if same_len && same::<V>(entry.name.as_ptr(), name, len) {
                    break index - 1;
                }
            }
            slot = (slot + 1) & (SLOTS - 1);
        };
        // SAFETY: found or inserted above.
        let entry = unsafe { self.entries.get_unchecked_mut(index) };
        let fits = entry.small.add(tenths);
        if !fits {
            let key = quoted(&entry.name[..usize::from(entry.len)]);
            self.refusal.get_or_insert(Refusal::Sum { key });
        }
        fits
    }

    fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    fn most_count(&self) -> u32 {
        self.entries.iter().map(|entry| entry.small.count).max().unwrap_or(0)
    }

    fn partials(&self) -> Vec<Partial> {
        let name = |entry: &InlineEntry| entry.name[..usize::from(entry.len)].to_vec();
        self.entries.iter().filter_map(|entry| entry.small.partial(&name(entry))).collect()
    }
}

/// What a compact table compares: what it keeps of a name in an entry of its own, and what it
/// publishes in a shared array.
pub(super) trait Compared: Send + Sync + 'static {
    /// Beside the statistics of a thread's own entry.
    type Kept: Copy + Send;
    /// In the array that all threads read.
    type Published: Send + Sync;

    /// What to keep of a name that is stored at `place` for good.
    fn kept(hash: u32, place: *const u8, len: usize) -> Self::Kept;

    /// Whether the name is the kept one.
    ///
    /// # Safety
    /// As [`Table::add`], and `kept` was made from a place that still holds its name.
    unsafe fn is_kept<V: Vector>(kept: Self::Kept, name: *const u8, len: usize, hash: u32) -> bool;

    /// An element of the array before it is used.
    fn unpublished() -> Self::Published;

    /// Publishes a name; its index is published afterwards.
    fn publish(into: &Self::Published, hash: u32, place: *const u8);

    /// Whether the name is the published one.
    ///
    /// # Safety
    /// As [`is_kept`](Compared::is_kept).
    unsafe fn is_published<V: Vector>(
        published: &Self::Published,
        name: *const u8,
        len: usize,
        hash: u32,
    ) -> bool;
}

/// Compares hashes only.
#[derive(Debug)]
pub(super) struct Hashes;

impl Compared for Hashes {
    type Kept = u32;
    type Published = AtomicU32;

    #[inline(always)]
    fn kept(hash: u32, _: *const u8, _: usize) -> u32 {
        hash
    }

    #[inline(always)]
    unsafe fn is_kept<V: Vector>(kept: u32, _: *const u8, _: usize, hash: u32) -> bool {
        kept == hash
    }

    fn unpublished() -> AtomicU32 {
        AtomicU32::new(0)
    }

    fn publish(into: &AtomicU32, hash: u32, _: *const u8) {
        into.store(hash, Ordering::Relaxed);
    }

    #[inline(always)]
    unsafe fn is_published<V: Vector>(
        published: &AtomicU32,
        _: *const u8,
        _: usize,
        hash: u32,
    ) -> bool {
        published.load(Ordering::Relaxed) == hash
    }
}

/// Compares names in full.
#[derive(Debug)]
pub(super) struct Names;

/// A name in an arena.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(super) struct Place {
    len: u32,
    name: *const u8,
}

// SAFETY: points into the arena of the table that holds it.
unsafe impl Send for Place {}

impl Compared for Names {
    type Kept = Place;
    type Published = AtomicPtr<u8>;

    #[inline(always)]
    fn kept(_: u32, name: *const u8, len: usize) -> Place {
        Place { len: len as u32, name }
    }

    #[inline(always)]
    unsafe fn is_kept<V: Vector>(kept: Place, name: *const u8, len: usize, _: u32) -> bool {
        // SAFETY: names in an arena have sixteen readable bytes behind them.
        kept.len as usize == len && unsafe { same::<V>(kept.name, name, len) }
    }

    fn unpublished() -> AtomicPtr<u8> {
        AtomicPtr::new(std::ptr::null_mut())
    }

    fn publish(into: &AtomicPtr<u8>, _: u32, place: *const u8) {
        into.store(place.cast_mut(), Ordering::Relaxed);
    }

    #[inline(always)]
    unsafe fn is_published<V: Vector>(
        published: &AtomicPtr<u8>,
        name: *const u8,
        len: usize,
        _: u32,
    ) -> bool {
        let place = published.load(Ordering::Relaxed).cast_const();
        // SAFETY: an arena keeps the length in the four bytes before a name.
        unsafe {
            let kept_len = place.sub(Arena::BEFORE).cast::<u32>().read_unaligned();
            kept_len as usize == len && same::<V>(place, name, len)
        }
    }
}

/// A compact table of one thread.
pub(super) struct Own<C: Compared> {
    slots: Vec<u16>,
    entries: Vec<OwnEntry<C::Kept>>,
    arena: Arena,
    refusal: Option<Refusal>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct OwnEntry<K> {
    small: Small,
    kept: K,
}

const _: () = assert!(size_of::<OwnEntry<u32>>() == 16 && size_of::<OwnEntry<Place>>() == 24);

impl<C: Compared> Own<C> {
    pub(super) fn new() -> Own<C> {
        Own { slots: vec![0; SLOTS], entries: Vec::new(), arena: Arena::default(), refusal: None }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, name: &[u8], hash: u32, slot: usize) -> Result<usize, Refusal> {
        let place = self.arena.push(checked(name)?)?;
        let kept = C::kept(hash, place, name.len());
        self.entries.push(OwnEntry { small: Small::NONE, kept });
        self.slots[slot] = self.entries.len() as u16;
        Ok(self.entries.len() - 1)
    }
}

// SAFETY: reads names within the contract, and kept ones while their arena lives.
unsafe impl<C: Compared> Table for Own<C> {
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        name: *const u8,
        len: usize,
        hash: u32,
        tenths: i32,
    ) -> bool {
        let mut slot = hash as usize & (SLOTS - 1);
        let index = loop {
            // SAFETY: the slot was masked; indices in slots are those of entries; the name is as
            // the caller says.
            unsafe {
                let index = usize::from(*self.slots.get_unchecked(slot));
                if index == 0 {
                    match self.insert(std::slice::from_raw_parts(name, len), hash, slot) {
                        Ok(index) => break index,
                        Err(refusal) => {
                            self.refusal.get_or_insert(refusal);
                            return false;
                        }
                    }
                }
                let kept = self.entries.get_unchecked(index - 1).kept;
                if C::is_kept::<V>(kept, name, len, hash) {
                    break index - 1;
                }
            }
            slot = (slot + 1) & (SLOTS - 1);
        };
        // SAFETY: found or inserted above.
        let fits = unsafe { self.entries.get_unchecked_mut(index) }.small.add(tenths);
        if !fits {
            let key = quoted(self.arena.get(index));
            self.refusal.get_or_insert(Refusal::Sum { key });
        }
        fits
    }

    fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    fn most_count(&self) -> u32 {
        self.entries.iter().map(|entry| entry.small.count).max().unwrap_or(0)
    }

    fn partials(&self) -> Vec<Partial> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(index, entry)| entry.small.partial(self.arena.get(index))).collect()
    }
}

/// The names of all threads.
pub(super) struct SharedNames<C: Compared> {
    slots: Box<[AtomicU16]>,
    published: Box<[C::Published]>,
    /// What insertion needs; the lock is taken for new names only.
    arena: Mutex<Arena>,
}

impl<C: Compared> SharedNames<C> {
    pub(super) fn new() -> SharedNames<C> {
        SharedNames {
            slots: (0..SLOTS).map(|_| AtomicU16::new(0)).collect(),
            published: (0..MOST_NAMES).map(|_| C::unpublished()).collect(),
            arena: Mutex::new(Arena::default()),
        }
    }

    /// Inserts a name that was not found from `slot` on, unless another thread just did.
    #[cold]
    #[inline(never)]
    fn insert<V: Vector>(&self, name: &[u8], hash: u32, mut slot: usize) -> Result<usize, Refusal> {
        let name = checked(name)?;
        let mut arena = self.arena.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let index = usize::from(self.slots[slot].load(Ordering::Acquire));
            if index == 0 {
                break;
            }
            let kept = &self.published[index - 1];
            // SAFETY: the name is a slice of a window, which has slack behind it; the kept name
            // lives as long as the arena.
            if unsafe { C::is_published::<V>(kept, name.as_ptr(), name.len(), hash) } {
                return Ok(index - 1);
            }
            slot = (slot + 1) & (SLOTS - 1);
        }
        let place = arena.push(name)?;
        let index = arena.names.len() - 1;
        C::publish(&self.published[index], hash, place);
        // Whoever reads the index reads what was published before it.
        self.slots[slot].store(index as u16 + 1, Ordering::Release);
        Ok(index)
    }
}

/// A thread's statistics of names that all threads share.
pub(super) struct Shared<C: Compared> {
    names: Arc<SharedNames<C>>,
    entries: Vec<Small>,
    refusal: Option<Refusal>,
}

impl<C: Compared> Shared<C> {
    pub(super) fn new(names: Arc<SharedNames<C>>) -> Shared<C> {
        Shared { names, entries: vec![Small::NONE; MOST_NAMES], refusal: None }
    }
}

// SAFETY: reads names within the contract, and published ones, which live in the shared arena.
unsafe impl<C: Compared> Table for Shared<C> {
    #[inline(always)]
    unsafe fn add<V: Vector>(
        &mut self,
        name: *const u8,
        len: usize,
        hash: u32,
        tenths: i32,
    ) -> bool {
        let mut slot = hash as usize & (SLOTS - 1);
        let index = loop {
            // SAFETY: the slot was masked; indices in slots are at most MOST_NAMES, and what they
            // point to was published before; the name is as the caller says.
            unsafe {
                let index = self.names.slots.get_unchecked(slot).load(Ordering::Acquire);
                let index = usize::from(index);
                if index == 0 {
                    let text = std::slice::from_raw_parts(name, len);
                    match self.names.insert::<V>(text, hash, slot) {
                        Ok(index) => break index,
                        Err(refusal) => {
                            self.refusal.get_or_insert(refusal);
                            return false;
                        }
                    }
                }
                let published = self.names.published.get_unchecked(index - 1);
                if C::is_published::<V>(published, name, len, hash) {
                    break index - 1;
                }
            }
            slot = (slot + 1) & (SLOTS - 1);
        };
        // SAFETY: there is an entry for every index.
        let fits = unsafe { self.entries.get_unchecked_mut(index) }.add(tenths);
        if !fits {
            let arena = self.names.arena.lock().unwrap_or_else(PoisonError::into_inner);
            self.refusal.get_or_insert(Refusal::Sum { key: quoted(arena.get(index)) });
        }
        fits
    }

    fn refusal(&mut self) -> Option<Refusal> {
        self.refusal.take()
    }

    fn most_count(&self) -> u32 {
        self.entries.iter().map(|small| small.count).max().unwrap_or(0)
    }

    fn partials(&self) -> Vec<Partial> {
        let arena = self.names.arena.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = self.entries[..arena.names.len()].iter().enumerate();
        entries.filter_map(|(index, small)| small.partial(arena.get(index))).collect()
    }
}

#[cfg(test)]
mod tests {
    use fathom_machine::vector::Scalar;
    #[cfg(target_arch = "x86_64")]
    use fathom_machine::vector::Sse2;

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
        let mut sums: Vec<_> = table
            .partials()
            .into_iter()
            .map(|p| (p.key.to_vec(), p.stats.count(), p.stats.sum()))
            .collect();
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
        assert_eq!(own.refusal(), Some(Refusal::Sum { key: "\"hot\"".to_owned() }));
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
