//! The global allocator: one of several, chosen when the process starts, that can count bytes.
//!
//! The choice is read from the environment at the very first allocation, before `main`, and never
//! changes: each block goes back to the allocator it came from. Where nothing is chosen and nothing
//! counted, the price is one relaxed load and one predicted branch per call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering::Relaxed};

use bumpalo::Bump;

/// The environment variable that names the allocator of a process.
pub const VARIABLE: &str = "FATHOM_ALLOCATOR";

/// A global allocator that is one of [`CHOICES`] and can count.
pub struct Allocator;

/// The allocators of this build, in the order they are shown.
pub const CHOICES: &[&str] = &["system", "arena"];

/// Not decided yet; otherwise one more than the place in [`CHOICES`], with [`COUNTING`] or not.
const UNDECIDED: u8 = 0;
const SYSTEM: u8 = 1;
const ARENA: u8 = 2;
const COUNTING: u8 = 0x80;

static MODE: AtomicU8 = AtomicU8::new(UNDECIDED);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The name of this process's allocator; `None` when the choice named an unknown one (it is
/// `system` then) .
#[must_use]
pub fn chosen() -> Option<&'static str> {
    match wanted() {
        Ok(at) => CHOICES.get(at).copied(),
        Err(Unknown) => None,
    }
}

struct Unknown;

/// The place in [`CHOICES`] that the environment names. Allocates nothing.
fn wanted() -> Result<usize, Unknown> {
    // SAFETY: the name ends in a zero byte; nothing writes the environment before `main`, and
    // the command never does.
    let value = unsafe { libc::getenv(c"FATHOM_ALLOCATOR".as_ptr()) };
    if value.is_null() {
        return Ok(0);
    }
    // SAFETY: getenv returned a string that ends in a zero byte.
    let value = unsafe { std::ffi::CStr::from_ptr(value) }.to_bytes();
    CHOICES.iter().position(|choice| choice.as_bytes() == value).ok_or(Unknown)
}

#[cold]
fn decide() -> u8 {
    let mode = 1 + wanted().unwrap_or(0) as u8;
    MODE.store(mode, Relaxed);
    mode
}

/// Switching the count on and off, and reading it.
pub(crate) mod counter {
    use super::*;

    /// Whether [`Allocator`] is this program's global allocator.
    pub(crate) fn is_installed() -> bool {
        std::hint::black_box(Box::new(0_u8));
        MODE.load(Relaxed) != UNDECIDED
    }

    pub(crate) fn start() {
        LIVE.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        MODE.fetch_or(COUNTING, Relaxed);
    }

    /// Live and peak bytes since [`start`].
    pub(crate) fn stop() -> (i64, i64) {
        MODE.fetch_and(!COUNTING, Relaxed);
        (LIVE.load(Relaxed), PEAK.load(Relaxed))
    }
}

fn count(bytes: i64) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every block is freed by the allocator that made it, because the mode, counting aside,
// is decided once before the first block; each of the allocators keeps the contract.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) == SYSTEM {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: as above.
        unsafe { alloc_by_mode(layout, false) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if MODE.load(Relaxed) == SYSTEM {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: as above.
        unsafe { alloc_by_mode(layout, true) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if MODE.load(Relaxed) == SYSTEM {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.dealloc(block, layout) };
        }
        // SAFETY: as above.
        unsafe { dealloc_by_mode(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if MODE.load(Relaxed) == SYSTEM {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.realloc(block, layout, bytes) };
        }
        // SAFETY: as above.
        unsafe { realloc_by_mode(block, layout, bytes) }
    }
}

/// Calls `$call` on the allocator of `$mode`.
macro_rules! by_mode {
    ($mode:expr, $allocator:ident => $call:expr) => {
        match $mode & !COUNTING {
            ARENA => {
                let $allocator = &Arena;
                $call
            }
            _ => {
                let $allocator = &System;
                $call
            }
        }
    };
}

fn mode() -> u8 {
    match MODE.load(Relaxed) {
        UNDECIDED => decide(),
        mode => mode,
    }
}

/// # Safety
/// As `GlobalAlloc::alloc`.
unsafe fn alloc_by_mode(layout: Layout, zeroed: bool) -> *mut u8 {
    let mode = mode();
    if mode & COUNTING != 0 {
        count(layout.size() as i64);
    }
    // SAFETY: the caller's obligations are the same.
    unsafe {
        by_mode!(mode, allocator => match zeroed {
            true => allocator.alloc_zeroed(layout),
            false => allocator.alloc(layout),
        })
    }
}

/// # Safety
/// As `GlobalAlloc::dealloc`.
unsafe fn dealloc_by_mode(block: *mut u8, layout: Layout) {
    let mode = mode();
    if mode & COUNTING != 0 {
        count(-(layout.size() as i64));
    }
    // SAFETY: the caller's obligations are the same.
    unsafe { by_mode!(mode, allocator => allocator.dealloc(block, layout)) }
}

/// # Safety
/// As `GlobalAlloc::realloc`.
unsafe fn realloc_by_mode(block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
    let mode = mode();
    if mode & COUNTING != 0 {
        count(bytes as i64 - layout.size() as i64);
    }
    // SAFETY: the caller's obligations are the same.
    unsafe { by_mode!(mode, allocator => allocator.realloc(block, layout, bytes)) }
}

/// `bumpalo` as an allocator of the whole process: blocks are cut off one after another and none
/// is ever given back.
pub(crate) struct Arena;

struct Locked {
    taken: AtomicBool,
    bump: UnsafeCell<Option<Bump>>,
}

// SAFETY: `bump` is only touched between taking and releasing `taken`.
unsafe impl Sync for Locked {}

static ARENA_BUMP: Locked = Locked { taken: AtomicBool::new(false), bump: UnsafeCell::new(None) };

// SAFETY: blocks come from `bumpalo`, which never moves or reuses them while the static lives, or
// from the system when `bumpalo` itself asks for a chunk; no block is ever freed.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if GROWING.get() {
            // SAFETY: the caller's obligations are the same.
            return unsafe { System.alloc(layout) };
        }
        while ARENA_BUMP.taken.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        GROWING.set(true);
        // SAFETY: `taken` was false and is ours now.
        let bump = unsafe { &mut *ARENA_BUMP.bump.get() }.get_or_insert_with(Bump::new);
        let block = bump.try_alloc_layout(layout).map_or(ptr::null_mut(), NonNull::as_ptr);
        GROWING.set(false);
        ARENA_BUMP.taken.store(false, Release);
        block
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

thread_local! {
    /// Whether this thread is inside `bumpalo`, whose own chunks come from the system.
    static GROWING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}
