//! The global allocator: one of several, chosen when the process starts, that can count bytes.
//!
//! ```text
//! CURRENT ──▶ Table { alloc, alloc_zeroed, dealloc, realloc }      one static per allocator, and
//!                                                                 one more that counts on the way
//! ```
//!
//! The choice is read from the environment at the very first allocation, before `main`, and never
//! changes: each block goes back to the allocator it came from. The price is the same for all, the
//! system's included: one relaxed load of a pointer that is always in the first cache, and one
//! indirect call that is always predicted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicPtr, AtomicUsize, Ordering::Relaxed};

mod arena;
mod pattern;

use arena::Arena;
pub(super) use arena::Passing;
pub(super) use pattern::{Script, run};

/// The environment variable that names the allocator of a process.
pub const VARIABLE: &str = "FATHOM_ALLOCATOR";

/// A global allocator that is one of [`CHOICES`] and can count.
pub struct Allocator;

/// An allocator by name.
struct Choice {
    name: &'static str,
    plain: Table,
    counting: Table,
}

/// What an allocator does; the arguments and obligations are those of `GlobalAlloc`.
struct Table {
    alloc: unsafe fn(Layout) -> *mut u8,
    alloc_zeroed: unsafe fn(Layout) -> *mut u8,
    dealloc: unsafe fn(*mut u8, Layout),
    realloc: unsafe fn(*mut u8, Layout, usize) -> *mut u8,
}

/// An allocator that needs no state of its own beyond statics.
trait Source: GlobalAlloc + Sync + 'static {
    /// The only value.
    const IT: Self;
}

impl Source for System {
    const IT: System = System;
}

impl Source for Arena {
    const IT: Arena = Arena;
}

#[cfg(feature = "native")]
impl Source for mimalloc::MiMalloc {
    const IT: mimalloc::MiMalloc = mimalloc::MiMalloc;
}

#[cfg(feature = "native")]
impl Source for tikv_jemallocator::Jemalloc {
    const IT: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
}

#[cfg(feature = "native")]
impl Source for snmalloc_rs::SnMalloc {
    const IT: snmalloc_rs::SnMalloc = snmalloc_rs::SnMalloc;
}

/// What mimalloc is called in this build: its two forms have the same symbols, and one has room.
#[cfg(feature = "native")]
pub(super) const MIMALLOC: &str =
    if cfg!(feature = "mimalloc-secure") { "mimalloc-secure" } else { "mimalloc" };

static TABLES: &[Choice] = &[
    Choice::of::<System>("system"),
    Choice { plain: Table::counting::<System>(), ..Choice::of::<System>("counting") },
    Choice::of::<Arena>("arena"),
    #[cfg(feature = "native")]
    Choice::of::<mimalloc::MiMalloc>(MIMALLOC),
    #[cfg(feature = "native")]
    Choice::of::<tikv_jemallocator::Jemalloc>("jemalloc"),
    #[cfg(feature = "native")]
    Choice::of::<snmalloc_rs::SnMalloc>("snmalloc"),
];

/// The allocators of this build, in the order they are shown.
pub const CHOICES: &[&str] = &[
    "system", "counting", "arena", #[cfg(feature = "native")]
    MIMALLOC,
    #[cfg(feature = "native")]
    "jemalloc", #[cfg(feature = "native")]
    "snmalloc",
];

impl Choice {
    const fn of<A: Source>(name: &'static str) -> Choice {
        Choice { name, plain: Table::plain::<A>(), counting: Table::counting::<A>() }
    }
}

impl Table {
    const fn plain<A: Source>() -> Table {
        Table {
            // SAFETY: the caller's obligations are the same, here and in the next three.
            alloc: |layout| unsafe { A::IT.alloc(layout) },
            // SAFETY: as above.
            alloc_zeroed: |layout| unsafe { A::IT.alloc_zeroed(layout) },
            // SAFETY: as above.
            dealloc: |block, layout| unsafe { A::IT.dealloc(block, layout) },
            // SAFETY: as above.
            realloc: |block, layout, bytes| unsafe { A::IT.realloc(block, layout, bytes) },
        }
    }

    const fn counting<A: Source>() -> Table {
        Table {
            alloc: |layout| {
                count(layout.size() as i64);
                // SAFETY: the caller's obligations are the same, here and in the next three.
                unsafe { A::IT.alloc(layout) }
            },
            alloc_zeroed: |layout| {
                count(layout.size() as i64);
                // SAFETY: as above.
                unsafe { A::IT.alloc_zeroed(layout) }
            },
            dealloc: |block, layout| {
                count(-(layout.size() as i64));
                // SAFETY: as above.
                unsafe { A::IT.dealloc(block, layout) }
            },
            realloc: |block, layout, bytes| {
                count(bytes as i64 - layout.size() as i64);
                // SAFETY: as above.
                unsafe { A::IT.realloc(block, layout, bytes) }
            },
        }
    }
}

/// Until somebody allocates: decides, and does what was asked.
static UNDECIDED: Table = Table {
    // SAFETY: the caller's obligations are the same, here and in the next three.
    alloc: |layout| unsafe { (decide().alloc)(layout) },
    // SAFETY: as above.
    alloc_zeroed: |layout| unsafe { (decide().alloc_zeroed)(layout) },
    // SAFETY: as above.
    dealloc: |block, layout| unsafe { (decide().dealloc)(block, layout) },
    // SAFETY: as above.
    realloc: |block, layout, bytes| unsafe { (decide().realloc)(block, layout, bytes) },
};

/// Points at [`UNDECIDED`] or into [`TABLES`], always.
static CURRENT: AtomicPtr<Table> = AtomicPtr::new((&raw const UNDECIDED).cast_mut());
/// The place in [`TABLES`], once decided.
static CHOSEN: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

#[cold]
fn decide() -> &'static Table {
    // Several threads may come here; they decide alike.
    let at = wanted().unwrap_or(0);
    CHOSEN.store(at, Relaxed);
    point_at(&TABLES[at].plain);
    &TABLES[at].plain
}

fn point_at(table: &'static Table) {
    CURRENT.store(ptr::from_ref(table).cast_mut(), Relaxed);
}

#[inline]
fn current() -> &'static Table {
    // SAFETY: it only ever holds addresses of statics that are never written.
    unsafe { &*CURRENT.load(Relaxed) }
}

/// The name of this process's allocator; `None` when the choice named an unknown one (it is
/// `system` then).
#[must_use]
pub fn chosen() -> Option<&'static str> {
    match wanted() {
        Ok(at) => TABLES.get(at).map(|choice| choice.name),
        Err(Unknown) => None,
    }
}

/// The version of the C library, as it tells it; 0 where it tells none.
pub(super) fn libc_version() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: it returns a string that ends in a zero byte and lives as long as the program.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        version.to_string_lossy().into_owned()
    }
    #[cfg(not(target_env = "gnu"))]
    "0".to_owned()
}

/// The file whose `malloc` this process calls, wherever a library was put before the C library's.
pub(super) fn file_of_malloc() -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    // SAFETY: the name ends in a zero byte. What is found is only looked at.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
    let mut about = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the answer has room; any address may be asked about.
    if found.is_null() || unsafe { libc::dladdr(found, about.as_mut_ptr()) } == 0 {
        return None;
    }
    // SAFETY: filled in, and zeros before that.
    let name = unsafe { about.assume_init() }.dli_fname;
    if name.is_null() {
        return None;
    }
    // SAFETY: the name ends in a zero byte and lives as long as the library, which stays.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    Some(std::ffi::OsStr::from_bytes(name.to_bytes()).into())
}

struct Unknown;

/// The place in [`TABLES`] that the environment names. Allocates nothing.
fn wanted() -> Result<usize, Unknown> {
    // SAFETY: the name ends in a zero byte; nothing writes the environment before `main`, and
    // the command never does.
    let value = unsafe { libc::getenv(c"FATHOM_ALLOCATOR".as_ptr()) };
    if value.is_null() {
        return Ok(0);
    }
    // SAFETY: getenv returned a string that ends in a zero byte.
    let value = unsafe { std::ffi::CStr::from_ptr(value) }.to_bytes();
    TABLES.iter().position(|choice| choice.name.as_bytes() == value).ok_or(Unknown)
}

/// Switching the count on and off, and reading it.
pub(crate) mod counter {
    use super::*;

    /// Whether [`Allocator`] is this program's global allocator.
    pub(crate) fn is_installed() -> bool {
        std::hint::black_box(Box::new(0_u8));
        !ptr::eq(current(), &raw const UNDECIDED)
    }

    pub(crate) fn start() {
        LIVE.store(0, Relaxed);
        PEAK.store(0, Relaxed);
        point_at(&TABLES[CHOSEN.load(Relaxed)].counting);
    }

    /// Live and peak bytes since [`start`].
    pub(crate) fn stop() -> (i64, i64) {
        point_at(&TABLES[CHOSEN.load(Relaxed)].plain);
        (LIVE.load(Relaxed), PEAK.load(Relaxed))
    }
}

fn count(bytes: i64) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

// SAFETY: every block is freed by the allocator that made it, because the choice, counting aside,
// is made once before the first block; each of the allocators keeps the contract.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are the same.
        unsafe { (current().alloc)(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligations are the same.
        unsafe { (current().alloc_zeroed)(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligations are the same.
        unsafe { (current().dealloc)(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's obligations are the same.
        unsafe { (current().realloc)(block, layout, bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_and_the_tables_agree() {
        let names: Vec<&str> = TABLES.iter().map(|choice| choice.name).collect();
        assert_eq!(names, CHOICES);
    }

    #[test]
    fn each_allocator_keeps_what_is_written_through_growth() {
        for choice in TABLES {
            for table in [&choice.plain, &choice.counting] {
                for (bytes, align) in [(1, 1), (24, 8), (100, 64), (5000, 16), (300_000, 4096)] {
                    let layout = Layout::from_size_align(bytes, align).unwrap();
                    // SAFETY: no layout is empty; each block is written within its size and given
                    // back to the table it came from, with the layout it has then.
                    unsafe {
                        let block = (table.alloc)(layout);
                        assert!(!block.is_null() && block.addr() % align == 0, "{}", choice.name);
                        block.write_bytes(7, bytes);
                        let block = (table.realloc)(block, layout, bytes * 3);
                        assert!(!block.is_null() && block.addr() % align == 0, "{}", choice.name);
                        let kept = std::slice::from_raw_parts(block, bytes);
                        assert!(kept.iter().all(|&byte| byte == 7), "{}", choice.name);
                        let grown = Layout::from_size_align(bytes * 3, align).unwrap();
                        (table.dealloc)(block, grown);
                        let zeroed = (table.alloc_zeroed)(layout);
                        let all = std::slice::from_raw_parts(zeroed, bytes);
                        assert!(all.iter().all(|&byte| byte == 0), "{}", choice.name);
                        (table.dealloc)(zeroed, layout);
                    }
                }
            }
        }
    }
}
