//! `bumpalo` as an allocator: blocks are cut off one after another and none is given back.
//!
//! [`Arena`] serves a whole process and refuses to take more than [`LIMIT`] from the system, so
//! that a contender which allocates for ever loses its row and nobody else's; [`Passing`] lives for
//! one iteration of the family `alloc`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use bumpalo::Bump;

/// Bytes after which the process's arena is full.
const LIMIT: usize = 4 << 30;

pub(in crate::alloc) struct Arena;

struct Locked {
    taken: AtomicBool,
    bump: UnsafeCell<Option<Bump>>,
}

// SAFETY: `bump` is only touched between taking and releasing `taken`.
unsafe impl Sync for Locked {}

static BUMP: Locked = Locked { taken: AtomicBool::new(false), bump: UnsafeCell::new(None) };

// SAFETY: blocks come from `bumpalo`, which never moves or reuses them while the static lives, or
// from the system when `bumpalo` itself asks for a chunk; no block is ever freed.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if GROWING.get() {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.alloc(layout) };
        }
        while BUMP.taken.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        GROWING.set(true);
        // SAFETY: `taken` was false and is ours now.
        let bump = unsafe { &mut *BUMP.bump.get() }.get_or_insert_with(limited);
        let block = bump.try_alloc_layout(layout).map_or(ptr::null_mut(), NonNull::as_ptr);
        GROWING.set(false);
        BUMP.taken.store(false, Release);
        block
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

fn limited() -> Bump {
    let bump = Bump::new();
    bump.set_allocation_limit(Some(LIMIT));
    bump
}

/// An arena that goes as a whole.
#[derive(Default)]
pub(in crate::alloc) struct Passing(Bump);

// SAFETY: blocks come from `bumpalo`, which never moves or reuses them while it lives; none is
// freed before it is.
unsafe impl GlobalAlloc for Passing {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.try_alloc_layout(layout).map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    #[inline]
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

thread_local! {
    /// Whether this thread is inside `bumpalo`, whose own chunks come from the system.
    static GROWING: Cell<bool> = const { Cell::new(false) };
}
