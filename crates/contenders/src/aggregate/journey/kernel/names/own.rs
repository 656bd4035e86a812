//! Compact entries behind the slots, per thread. Names lie in an arena beside them.

use fathom_machine::simd::Vector;

use super::compared::{Compared, Place};
use super::{Arena, Refusal, SLOTS, Small, Table, checked};

/// A compact table of one thread.
pub(in super::super) struct Own<C: Compared> {
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
    pub(in super::super) fn new() -> Own<C> {
        Own { slots: vec![0; SLOTS], entries: Vec::new(), arena: Arena::default(), refusal: None }
    }
}

// SAFETY: reads names within the contract, and kept ones while their arena lives. Indices in slots
// are those of entries.
unsafe impl<C: Compared> Table for Own<C> {
    #[inline(always)]
    unsafe fn slot(&self, slot: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { *self.slots.get_unchecked(slot) }.into()
    }

    #[inline(always)]
    unsafe fn is_at<V: Vector>(&self, at: usize, name: *const u8, len: usize, hash: u32) -> bool {
        // SAFETY: the caller's.
        unsafe { C::is_kept::<V>(self.entries.get_unchecked(at).kept, name, len, hash) }
    }

    #[cold]
    #[inline(never)]
    fn insert<V: Vector>(&mut self, name: &[u8], hash: u32, slot: usize) -> Result<usize, Refusal> {
        let place = self.arena.push(checked(name)?)?;
        let kept = C::kept(hash, place, name.len());
        self.entries.push(OwnEntry { small: Small::NONE, kept });
        self.slots[slot] = self.entries.len() as u16;
        Ok(self.entries.len() - 1)
    }

    #[inline(always)]
    unsafe fn small(&mut self, index: usize) -> &mut Small {
        // SAFETY: the caller's.
        &mut unsafe { self.entries.get_unchecked_mut(index) }.small
    }

    fn smalls(&self) -> impl Iterator<Item = Small> {
        self.entries.iter().map(|entry| entry.small)
    }

    fn with_name<T>(&self, index: usize, read: impl FnOnce(&[u8]) -> T) -> T {
        read(self.arena.get(index))
    }

    fn refused(&mut self) -> &mut Option<Refusal> {
        &mut self.refusal
    }
}
