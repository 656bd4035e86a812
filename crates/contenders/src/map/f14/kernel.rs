//! The chunks of F14: memory, probing, overflow counts. Knows items, not keys: what an item's hash
//! is and whether it is the one looked for, its callers say.
//!
//! Pseudo-code of a find, the loop everything else follows:
//!
//! ```text
//! at = place.index
//! repeat at most once per chunk:
//!     chunk = chunks[at & mask]
//!     for slot in where tags of chunk equal place.tag: if it is the one: found
//!     if outbound of chunk is 0: not there
//!     at += 2 place.tag + 1        (odd: visits every chunk)
//! ```

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::super::place::Place;
use super::super::slots::Slots;
use crate::keyed::prefetch;

/// Bytes before the items of a chunk: 14 tags, then the two counts.
const HEADER: usize = 16;
const HOSTED: usize = 14;
const OUTBOUND: usize = 15;
/// The first chunk begins on a cache line, and all do whose stride is whole lines; of entries of 24 bytes every
/// second one does.
const ALIGN: usize = 64;

/// The header of a table that holds nothing: no tag, no overflow, no item is ever read.
#[repr(C, align(64))]
struct Nothing([u8; HEADER]);
static NOTHING: Nothing = Nothing([0; HEADER]);

/// Chunks of items. Items are plain values: `Copy`, never dropped.
pub(in crate::map) struct Table<I: Copy> {
    /// `mask + 1` chunks of `STRIDE` bytes each, or `NOTHING`.
    chunks: NonNull<u8>,
    mask: usize,
    len: usize,
    /// Items it takes before it must grow; 0 while `chunks` is `NOTHING`.
    capacity: usize,
    items: PhantomData<I>,
}

// SAFETY: the table owns its chunks as a `Vec` owns its buffer, and shares nothing.
unsafe impl<I: Copy + Send> Send for Table<I> {}
// SAFETY: as above; a shared reference only reads.
unsafe impl<I: Copy + Sync> Sync for Table<I> {}

impl<I: Copy> Table<I> {
    const SLOTS: usize = if size_of::<I>() == 4 { 12 } else { 14 };
    /// Slots filled per chunk, on average, when the table grows.
    const FILLED: usize = Self::SLOTS - 2;
    /// Bytes from chunk to chunk: padded to a power of two if that costs one item or less.
    const STRIDE: usize = {
        let bytes = HEADER + Self::SLOTS * size_of::<I>();
        let power = bytes.next_power_of_two();
        if power - bytes <= size_of::<I>() { power } else { bytes.next_multiple_of(HEADER) }
    };
    /// Bytes of a chunk that a probe asks for at once: nine items, more than most chunks hold. Tried
    /// on hits among a million keys: only the line in the middle, as folly does (1.07 times the time
    /// for words, 1.2 for integers); no line (1.2 and 1.1).
    const AHEAD: usize = if Self::STRIDE > 64 { HEADER + 9 * size_of::<I>() } else { 0 };
    const FITS: () = assert!(align_of::<I>() <= HEADER);

    /// Points the table at fresh, empty chunks for at least `entries` items.
    fn allocate(&mut self, entries: usize) {
        // One chunk may be cut short: 2, 6 or all slots.
        let (chunks, capacity) = match entries {
            0..=2 => (1, 2),
            3..=6 => (1, 6),
            _ if entries <= Self::SLOTS => (1, Self::SLOTS),
            _ => {
                let chunks = entries.div_ceil(Self::FILLED).next_power_of_two();
                (chunks, chunks * Self::FILLED)
            }
        };
        let layout = Self::layout(chunks, capacity);
        // SAFETY: the layout has at least one header, so its size is not 0.
        let memory = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        for chunk in 0..chunks {
            // SAFETY: each chunk's header lies within the allocation.
            unsafe { memory.add(chunk * Self::STRIDE).write_bytes(0, HEADER) };
        }
        (self.chunks, self.mask, self.capacity, self.len) = (memory, chunks - 1, capacity, 0);
    }

    fn layout(chunks: usize, capacity: usize) -> Layout {
        let bytes = match chunks {
            1 => HEADER + capacity * size_of::<I>(),
            _ => chunks * Self::STRIDE,
        };
        Layout::from_size_align(bytes, ALIGN).expect("a table that fits in memory")
    }

    fn free(&mut self) {
        if self.capacity > 0 {
            // SAFETY: `chunks` was allocated with this very layout by `allocate`.
            unsafe { dealloc(self.chunks.as_ptr(), Self::layout(self.mask + 1, self.capacity)) };
        }
    }

    #[inline]
    fn chunk(&self, at: usize) -> NonNull<u8> {
        // SAFETY: `mask + 1` chunks were allocated; while there are none, mask and offset are 0.
        unsafe { self.chunks.add((at & self.mask) * Self::STRIDE) }
    }

    /// # Safety
    /// `chunk` is one of this table's and `slot` one of the slots it was allocated with.
    #[inline]
    unsafe fn item(chunk: NonNull<u8>, slot: usize) -> NonNull<I> {
        // SAFETY: the slot lies within the chunk; the header keeps the items aligned.
        unsafe { chunk.add(HEADER).cast::<I>().add(slot) }
    }

    /// Where the item is that has `place` and for which `is` holds.
    #[inline]
    fn position(
        &self,
        place: Place,
        mut is: impl FnMut(&I) -> bool,
    ) -> Option<(NonNull<u8>, usize)> {
        let mut at = place.index;
        for _ in 0..=self.mask {
            let chunk = self.chunk(at);
            // Which line the item is on is known once the header has come; by then they have, too.
            for line in (64..Self::AHEAD).step_by(64) {
                prefetch(chunk.as_ptr().wrapping_add(line));
            }
            // SAFETY: a chunk begins with its header.
            let mut hits = unsafe { tags_equal(chunk, place.tag) } & ((1 << Self::SLOTS) - 1);
            while hits != 0 {
                let slot = hits.trailing_zeros() as usize;
                // SAFETY: a slot with a tag holds an item, so it exists and is initialised.
                if is(unsafe { Self::item(chunk, slot).as_ref() }) {
                    return Some((chunk, slot));
                }
                hits &= hits - 1;
            }
            // SAFETY: the count lies within the header.
            if unsafe { chunk.add(OUTBOUND).read() } == 0 {
                return None;
            }
            at = at.wrapping_add(2 * usize::from(place.tag) + 1);
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, place_of: impl Fn(&I) -> Place) {
        let mut larger = Table::with_capacity(self.capacity + 1);
        self.each(|item| larger.put(place_of(item), *item));
        std::mem::swap(self, &mut larger);
    }

    /// Puts an item into the first chunk on its path that has room; there is one.
    #[inline]
    fn put(&mut self, place: Place, item: I) {
        debug_assert!(self.len < self.capacity);
        // One chunk cut short has fewer slots than its header could describe.
        let slots = if self.mask == 0 { self.capacity } else { Self::SLOTS };
        let mut at = place.index;
        let mut chunk = self.chunk(at);
        let slot = loop {
            // SAFETY: a chunk begins with its header.
            let empty = unsafe { tags_equal(chunk, 0) } & ((1 << slots) - 1);
            if empty != 0 {
                break empty.trailing_zeros() as usize;
            }
            // SAFETY: the count lies within the header, and nobody else looks at it.
            let outbound = unsafe { chunk.add(OUTBOUND).as_mut() };
            *outbound = outbound.saturating_add(1);
            at = at.wrapping_add(2 * usize::from(place.tag) + 1);
            chunk = self.chunk(at);
        };
        // SAFETY: tag, count and slot lie within the chunk; the slot is empty.
        unsafe {
            chunk.add(slot).write(place.tag);
            if chunk != self.chunk(place.index) {
                *chunk.add(HOSTED).as_mut() += 1;
            }
            Self::item(chunk, slot).write(item);
        }
        self.len += 1;
    }
}

impl<I: Copy> Slots<I> for Table<I> {
    fn with_capacity(entries: usize) -> Table<I> {
        let () = Self::FITS;
        let chunks = NonNull::from(&NOTHING).cast();
        let mut table = Table { chunks, mask: 0, len: 0, capacity: 0, items: PhantomData };
        if entries > 0 {
            table.allocate(entries);
        }
        table
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn find(&self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&I> {
        let (chunk, slot) = self.position(place, is)?;
        // SAFETY: `position` returns slots that hold items; the borrow keeps the table as it is.
        Some(unsafe { Self::item(chunk, slot).as_ref() })
    }

    #[inline]
    fn find_mut(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<&mut I> {
        let (chunk, slot) = self.position(place, is)?;
        // SAFETY: as in `find`, and the borrow is the only one.
        Some(unsafe { Self::item(chunk, slot).as_mut() })
    }

    #[inline]
    fn insert_new(&mut self, place: Place, item: I, place_of: impl Fn(&I) -> Place) {
        if self.len == self.capacity {
            self.grow(place_of);
        }
        self.put(place, item);
    }

    #[inline]
    fn remove(&mut self, place: Place, is: impl FnMut(&I) -> bool) -> Option<I> {
        let (chunk, slot) = self.position(place, is)?;
        self.len -= 1;
        let mut at = place.index;
        // SAFETY: `position` returns slots that hold items; tags and counts lie within headers.
        unsafe {
            chunk.add(slot).write(0);
            if *chunk.add(HOSTED).as_ref() != 0 && self.chunk(at) != chunk {
                *chunk.add(HOSTED).as_mut() -= 1;
                while self.chunk(at) != chunk {
                    let outbound = self.chunk(at).add(OUTBOUND).as_mut();
                    // A saturated count has forgotten how many there were.
                    *outbound -= u8::from(*outbound != u8::MAX);
                    at = at.wrapping_add(2 * usize::from(place.tag) + 1);
                }
            }
            Some(Self::item(chunk, slot).read())
        }
    }

    fn each(&self, mut visit: impl FnMut(&I)) {
        for at in 0..=self.mask {
            let chunk = self.chunk(at);
            // SAFETY: a chunk begins with its header.
            let empty = unsafe { tags_equal(chunk, 0) };
            let mut full = !empty & ((1 << Self::SLOTS) - 1);
            while full != 0 {
                // SAFETY: a slot with a tag holds an item.
                visit(unsafe { Self::item(chunk, full.trailing_zeros() as usize).as_ref() });
                full &= full - 1;
            }
        }
    }
}

/// Items are plain values; only the chunks go.
impl<I: Copy> Drop for Table<I> {
    fn drop(&mut self) {
        self.free();
    }
}

/// Which of the 16 bytes at `chunk` equal `tag`, as bits from the lowest.
///
/// # Safety
/// 16 bytes can be read there, at an address that is a multiple of 16.
#[inline]
unsafe fn tags_equal(chunk: NonNull<u8>, tag: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::_mm_set1_epi8;
        use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8};
        // SAFETY: SSE2 is part of x86-64; the caller answers for the address.
        unsafe {
            let tags = _mm_load_si128(chunk.as_ptr().cast::<__m128i>());
            _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag as i8))) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // SAFETY: the caller answers for the address.
        let tags = unsafe { chunk.cast::<[u8; 16]>().read() };
        (0..16).fold(0, |bits, at| bits | (u32::from(tags[at] == tag) << at))
    }
}
