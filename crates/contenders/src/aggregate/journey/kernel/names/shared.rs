//! Names that all threads read without a lock, and statistics that stay with each thread.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fathom_machine::simd::Vector;

use super::compared::Compared;
use super::{Arena, MOST_NAMES, Refusal, SLOTS, Small, Table, checked};

/// The names of all threads.
pub(in super::super) struct SharedNames<C: Compared> {
    slots: Box<[AtomicU16]>,
    published: Box<[C::Published]>,
    /// What insertion needs; the lock is taken for new names only.
    pub(super) arena: Mutex<Arena>,
}

impl<C: Compared> SharedNames<C> {
    pub(in super::super) fn new() -> SharedNames<C> {
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
pub(in super::super) struct Shared<C: Compared> {
    names: Arc<SharedNames<C>>,
    entries: Vec<Small>,
    refusal: Option<Refusal>,
}

impl<C: Compared> Shared<C> {
    pub(in super::super) fn new(names: Arc<SharedNames<C>>) -> Shared<C> {
        Shared { names, entries: vec![Small::NONE; MOST_NAMES], refusal: None }
    }
}

// SAFETY: reads names within the contract, and published ones, which live in the shared arena.
// Indices in slots are at most MOST_NAMES, and what they point to was published before.
unsafe impl<C: Compared> Table for Shared<C> {
    #[inline(always)]
    unsafe fn slot(&self, slot: usize) -> usize {
        // SAFETY: the caller's.
        unsafe { self.names.slots.get_unchecked(slot) }.load(Ordering::Acquire).into()
    }

    #[inline(always)]
    unsafe fn is_at<V: Vector>(&self, at: usize, name: *const u8, len: usize, hash: u32) -> bool {
        // SAFETY: the caller's.
        unsafe { C::is_published::<V>(self.names.published.get_unchecked(at), name, len, hash) }
    }

    #[inline(always)]
    fn insert<V: Vector>(&mut self, name: &[u8], hash: u32, slot: usize) -> Result<usize, Refusal> {
        self.names.insert::<V>(name, hash, slot)
    }

    #[inline(always)]
    unsafe fn small(&mut self, index: usize) -> &mut Small {
        // SAFETY: there is an entry for every index.
        unsafe { self.entries.get_unchecked_mut(index) }
    }

    fn smalls(&self) -> impl Iterator<Item = Small> {
        self.entries.iter().copied()
    }

    fn with_name<T>(&self, index: usize, read: impl FnOnce(&[u8]) -> T) -> T {
        let arena = self.names.arena.lock().unwrap_or_else(PoisonError::into_inner);
        read(arena.get(index))
    }

    fn refused(&mut self) -> &mut Option<Refusal> {
        &mut self.refusal
    }
}
