//! What a compact table compares, hashes or names in full, in a thread's own entries and in those
//! that all threads read.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use fathom_machine::simd::Vector;

use super::{Arena, same};

/// What a compact table compares: what it keeps of a name in an entry of its own, and what it
/// publishes in a shared array.
pub(in super::super) trait Compared: Send + Sync + 'static {
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
pub(in super::super) struct Hashes;

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
pub(in super::super) struct Names;

/// A name in an arena.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(4))]
pub(in super::super) struct Place {
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
