//! Anonymous memory on the largest pages to be had, with what the kernel really gave.
//!
//! ```text
//!   asked Huge1G ─▶ hugetlb 1 GiB ─▶ hugetlb 2 MiB ─▶ madvise(HUGEPAGE) ─▶ 4 KiB pages
//!   (each request starts at its own place on the ladder and falls to the right)
//!
//!   reserved:  │guard│ …padding to 2 MiB │ bytes … rounded up to pages │guard│
//! ```
//!
//! Pages of the hugetlb pool exist only where an administrator reserved them; transparent ones are
//! a wish the kernel may grant late, partly or never. So [`Buffer::backing`] asks the kernel
//! afterwards instead of repeating the wish. Nothing here frees or shrinks page by page.

use std::fs;
use std::io;
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::ops::{Deref, DerefMut};
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mprotect,
    mremap_fixed, munmap,
};

/// Bytes of a large page of the usual size.
const LARGE: usize = 2 << 20;
/// Bytes from which on a large page saves enough translations: 128 small ones. Miri unmaps no part and moves nothing.
const WORTH: usize = if cfg!(miri) { usize::MAX } else { LARGE / 4 };
/// Bytes of the largest pages.
const GIANT: usize = 1 << 30;
/// A multiple of every page there is.
const UNIT: usize = 64 << 10;

/// Which pages are wanted, or were mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pages {
    /// The kernel's smallest, 4 KiB nearly everywhere; huge pages are declined.
    Base,
    /// Transparent huge pages, by `madvise`.
    Transparent,
    /// Reserved pages of 2 MiB.
    Huge2M,
    /// Reserved pages of 1 GiB.
    Huge1G,
}

impl Pages {
    /// The words users read.
    pub fn name(self) -> &'static str {
        match self {
            Pages::Base => "base pages",
            Pages::Transparent => "transparent huge pages",
            Pages::Huge2M => "2 MiB huge pages",
            Pages::Huge1G => "1 GiB huge pages",
        }
    }

    /// The next smaller wish.
    pub(crate) fn lesser(self) -> Option<Pages> {
        match self {
            Pages::Base => None,
            Pages::Transparent => Some(Pages::Base),
            Pages::Huge2M => Some(Pages::Transparent),
            Pages::Huge1G => Some(Pages::Huge2M),
        }
    }

    /// What a mapping on these pages is rounded up to, in bytes.
    pub(crate) fn unit_bytes(self) -> usize {
        match self {
            Pages::Base | Pages::Transparent => rustix::param::page_size(),
            Pages::Huge2M => LARGE,
            Pages::Huge1G => GIANT,
        }
    }
}

/// What the kernel really gave, asked of it at the time of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backing {
    /// What the caller wanted.
    pub asked: Pages,
    /// How the memory was mapped in the end.
    pub mapped: Pages,
    /// Length of the mapping, in bytes.
    pub bytes: u64,
    /// Of these, resident in memory, in bytes; `None` without procfs.
    pub resident_bytes: Option<u64>,
    /// Of these, on pages larger than the smallest, in bytes; `None` without procfs.
    pub huge_bytes: Option<u64>,
}

impl Backing {
    /// One line for a report: what was got, and what was wanted where that differs.
    pub fn sentence(&self) -> String {
        let share = match (self.huge_bytes, self.resident_bytes) {
            (Some(huge), Some(resident)) if resident > 0 => {
                format!(
                    "{:.0} % of resident memory on huge pages",
                    huge as f64 / resident as f64 * 100.0
                )
            }
            (Some(_), _) => "not touched yet".to_owned(),
            (None, _) => "share on huge pages unknown".to_owned(),
        };
        if self.asked == self.mapped {
            format!("{}: {share}", self.mapped.name())
        } else {
            format!("{} (no {} to be had): {share}", self.mapped.name(), self.asked.name())
        }
    }
}

/// Zeroed memory of this process alone.
#[derive(Debug)]
pub struct Buffer {
    map: Mapping,
    len: usize,
    asked: Pages,
    mapped: Pages,
}

impl Buffer {
    /// `bytes` zeroed bytes, aligned to at least a page, on `wanted` pages or the next best.
    ///
    /// The memory is not touched: the first write of each page faults. [`Buffer::touch`] does that
    /// beforehand.
    ///
    /// # Errors
    /// `OutOfMemory` when not even base pages are to be had, `InvalidInput` when `bytes` cannot be
    /// an object's size.
    pub fn new(bytes: usize, wanted: Pages) -> io::Result<Buffer> {
        let mut pages = wanted;
        loop {
            match (Mapping::anonymous(bytes, pages), pages.lesser()) {
                (Ok(map), _) => {
                    return Ok(Buffer { map, len: bytes, asked: wanted, mapped: pages });
                }
                (Err(error), None) => return Err(error),
                (Err(_), Some(lesser)) => pages = lesser,
            }
        }
    }

    /// Makes every page resident, so that later accesses do not fault. The bytes stay as they are.
    pub fn touch(&mut self) {
        // SAFETY: exactly this buffer's own mapping; populating changes no byte.
        let done = unsafe {
            madvise(self.map.at.as_ptr().cast(), self.map.len, Advice::LinuxPopulateWrite)
        };
        if done.is_ok() {
            return;
        }
        // Before Linux 5.14: write to each page what is in it.
        for at in (0..self.len).step_by(rustix::param::page_size()) {
            // The compiler must not see that the byte written is the byte read.
            self[at] = std::hint::black_box(self[at]);
        }
    }

    /// What the kernel gave for this buffer, as of now.
    pub fn backing(&self) -> Backing {
        self.map.backing(self.asked, self.mapped)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.bytes(self.len)
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: a Buffer's mapping is anonymous, private, readable and writable, `len` is within
        // it (`Mapping::anonymous` rounds up), and `&mut self` is the only way to it.
        unsafe { std::slice::from_raw_parts_mut(self.map.at.as_ptr(), self.len) }
    }
}

/// Values whose bytes may all be zero.
///
/// # Safety
/// Memory full of zeros is a valid value of the type, which owns nothing outside itself.
pub unsafe trait Zeroed: Copy + Send + Sync + 'static {}

// SAFETY: any bytes are an integer.
unsafe impl Zeroed for u8 {}
// SAFETY: any bytes are an integer.
unsafe impl Zeroed for u32 {}
// SAFETY: any bytes are an integer.
unsafe impl Zeroed for u64 {}

/// Memory for a table that the system refused. It unwinds without the words of a panic, which take memory themselves, to
/// [`NoMemory::caught`].
#[derive(Debug, thiserror::Error)]
#[error("no memory for a table of {bytes} bytes: {source}")]
pub struct NoMemory {
    bytes: usize,
    source: io::Error,
}

impl NoMemory {
    /// Does what makes tables and lists; what that changed is not to be used once memory was refused.
    ///
    /// # Errors
    /// The first table that memory was refused for.
    pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, NoMemory> {
        panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
            let refused = payload.downcast::<NoMemory>();
            *refused.unwrap_or_else(|other| panic::resume_unwind(other))
        })
    }

    fn unwind(bytes: usize, source: io::Error) -> ! {
        panic::resume_unwind(Box::new(NoMemory { bytes, source }))
    }
}

/// A slice of zeroed values: a table that may be too large for caches and translation buffers.
///
/// From 512 KiB on it lies on transparent huge pages where the kernel has some to spare. Nothing is
/// touched before the program does, so that a table that stays nearly empty costs nearly nothing. What is smaller than
/// any mapping lies on the heap: a process may have 65,530 mappings.
pub struct Slab<T> {
    /// The first value.
    at: NonNull<T>,
    len: usize,
    /// One of these is where it lies.
    _map: Option<Mapping>,
    _heap: Vec<T>,
}

// SAFETY: a slab owns its values, like a vector.
unsafe impl<T: Send> Send for Slab<T> {}
// SAFETY: through `&Slab` values are only read.
unsafe impl<T: Sync> Sync for Slab<T> {}

impl<T: Zeroed> Slab<T> {
    /// `len` zeros. Where the system has no such memory it unwinds with [`NoMemory`].
    pub fn new(len: usize) -> Slab<T> {
        const { assert!(align_of::<T>() <= 4096, "mappings start on a page") };
        let bytes = len.checked_mul(size_of::<T>()).expect("a slice is smaller than memory");
        if bytes < UNIT {
            // SAFETY: zeros are a value of the type.
            let zero = unsafe { mem::zeroed::<T>() };
            let mut heap = huge(len, zero);
            let at = NonNull::from(heap.as_mut_slice()).cast();
            return Slab { at, len, _map: None, _heap: heap };
        }
        let map = Mapping::zeroed(bytes).unwrap_or_else(|why| NoMemory::unwind(bytes, why));
        Slab { at: map.at.cast(), len, _map: Some(map), _heap: Vec::new() }
    }
}

impl<T: Zeroed> Deref for Slab<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the mapping, or the vector, has `len` values' bytes (see `new`) from `at` on, aligned to a page or as the
        // type is; they are zeros, which are values, or were written through `deref_mut`.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T: Zeroed> DerefMut for Slab<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the memory is private and writable, and `&mut self` the only way
        // to it.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl<T> std::fmt::Debug for Slab<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slab").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Wishes for huge pages under what lies in memory that the allocator gave; from 2 MiB on, and
/// worth it only before it is touched. What the kernel makes of the wish changes no byte.
pub fn prefer_huge<T>(memory: &mut [MaybeUninit<T>]) {
    let range = memory.as_mut_ptr_range();
    let start = (range.start as usize).next_multiple_of(LARGE);
    let end = range.end as usize / LARGE * LARGE;
    if start < end {
        let at = range.start.wrapping_byte_add(start - range.start as usize);
        // SAFETY: lies in the borrowed memory; this advice changes neither contents nor access.
        let _ = unsafe { madvise(at.cast(), end - start, Advice::LinuxHugepage) };
    }
}

/// Room for so many more behind the values of a list, with a wish for huge pages. Where the system has no such memory it
/// unwinds with [`NoMemory`].
pub fn reserve<T>(list: &mut Vec<T>, more: usize) {
    if list.try_reserve_exact(more).is_err() {
        let bytes = list.len().saturating_add(more).saturating_mul(size_of::<T>());
        NoMemory::unwind(bytes, io::ErrorKind::OutOfMemory.into());
    }
    prefer_huge(list.spare_capacity_mut());
}

/// A list of so many equal values, for which room is made [so](reserve).
pub fn huge<T: Clone>(len: usize, value: T) -> Vec<T> {
    let mut list = Vec::new();
    reserve(&mut list, len);
    list.resize(len, value);
    list
}

/// A list of its own memory, on huge pages where it is large, that grows without a copy where the kernel moves its pages:
/// then only new ones are cleared.
///
/// ```text
///   [ values │ room ]            full
///   [ values │ room      ]       larger: pages change their address, bytes stay where they are
/// ```
pub struct List<T> {
    /// Of the first value, in `map` if there is one.
    at: NonNull<T>,
    len: usize,
    capacity: usize,
    map: Option<Mapping>,
    values: PhantomData<T>,
}

// SAFETY: a list owns its values, like a vector.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: through `&List` values are only read.
unsafe impl<T: Sync> Sync for List<T> {}

impl<T> List<T> {
    /// One without room.
    pub fn new() -> List<T> {
        const { assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0, "it is mapped") };
        List { at: NonNull::dangling(), len: 0, capacity: 0, map: None, values: PhantomData }
    }

    /// Values there is room for.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Gives it room for so many values in all. Where the system has no such memory it unwinds with [`NoMemory`].
    #[cold]
    pub fn enlarge(&mut self, capacity: usize) {
        let bytes = capacity.checked_mul(size_of::<T>()).expect("a list is smaller than memory");
        if self.map.as_ref().is_none_or(|map| map.len < bytes) {
            let used = self.len * size_of::<T>();
            let map = match self.map.as_mut() {
                Some(map) => map.enlarge(bytes, used).map(|()| map),
                None => Mapping::zeroed(bytes).map(|map| self.map.insert(map)),
            };
            let map = map.unwrap_or_else(|why| NoMemory::unwind(bytes, why));
            self.at = map.at.cast();
        }
        self.capacity = self.capacity.max(capacity);
    }

    /// Puts a value behind the others; room for it is made where there is none.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.make_room(1);
        // SAFETY: the mapping has room for `capacity` values, and `len` is less.
        unsafe { self.at.add(self.len).write(value) };
        self.len += 1;
    }

    /// Puts these behind the others; room for them is made where there is none.
    #[inline]
    pub fn extend_from_slice(&mut self, values: &[T])
    where
        T: Copy,
    {
        self.make_room(values.len());
        // SAFETY: there is room for as many behind the last value, outside of what is borrowed.
        unsafe {
            self.at
                .add(self.len)
                .copy_from_nonoverlapping(NonNull::from(values).cast(), values.len());
        }
        self.len += values.len();
    }

    /// Room for so many more: for twice as many if it grows.
    #[inline]
    fn make_room(&mut self, more: usize) {
        if self.capacity - self.len < more {
            self.enlarge((2 * self.capacity).max(self.len + more).max(64));
        }
    }

    /// Takes all values out; the room stays.
    pub fn clear(&mut self) {
        let values: *mut [T] = &mut **self;
        self.len = 0;
        // SAFETY: these were values, which nobody reaches any more.
        unsafe { values.drop_in_place() };
    }
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List::new()
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: `at` is aligned to a page, or dangling where there is no value; the first `len`
        // values were written.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for List<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the mapping is private and writable, and `&mut self` the only way
        // to it.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<T> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("List").field("len", &self.len).finish_non_exhaustive()
    }
}

/// A region of address space that is unmapped when dropped; readable for as long as it lives.
///
/// Whoever builds one guarantees that its bytes never change except through a `&mut` to the
/// owner: private memory, or a file sealed against writing.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// Start and length of what `munmap` gets: usable bytes, padding and guards.
    reserved: NonNull<u8>,
    reserved_len: usize,
    /// Start and length of the usable bytes.
    pub(crate) at: NonNull<u8>,
    pub(crate) len: usize,
}

// SAFETY: a Mapping is memory owned by one value, like a boxed slice; the address says nothing
// about the thread that made it.
unsafe impl Send for Mapping {}
// SAFETY: through `&Mapping` bytes are only read, and they do not change meanwhile (see the type).
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Takes over a finished mapping that needs no guards.
    ///
    /// # Safety
    /// `at` and `len` are a whole mapping that nobody else will unmap, readable, and its bytes are
    /// as the type promises.
    pub(crate) unsafe fn adopt(at: NonNull<u8>, len: usize) -> Mapping {
        Mapping { reserved: at, reserved_len: len, at, len }
    }

    fn anonymous(bytes: usize, pages: Pages) -> io::Result<Mapping> {
        let unit = pages.unit_bytes();
        let len = bytes.max(1).checked_next_multiple_of(unit);
        let len =
            len.filter(|&len| isize::try_from(len).is_ok()).ok_or(io::ErrorKind::InvalidInput)?;
        let size = match pages {
            Pages::Huge2M => MapFlags::HUGE_2MB,
            Pages::Huge1G => MapFlags::HUGE_1GB,
            Pages::Base | Pages::Transparent => return Mapping::guarded(len, pages),
        };
        Mapping::reserved_pages(len, MapFlags::HUGETLB | size)
    }

    /// Memory of zeros without guards, from a quarter of [`LARGE`] on with a wish for huge pages.
    ///
    /// Asks nobody how large a page is: that reads the auxiliary vector, which makes programs under
    /// Valgrind crash.
    fn zeroed(bytes: usize) -> io::Result<Mapping> {
        let align = if bytes >= WORTH { LARGE } else { UNIT };
        let len = bytes.max(1).checked_next_multiple_of(align);
        let slack = if bytes >= WORTH { LARGE } else { 0 };
        let reserved_len = len.and_then(|len| len.checked_add(slack));
        let (len, reserved_len) = len.zip(reserved_len).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: as in `reserved_pages`.
        let reserved = unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            mmap_anonymous(ptr::null_mut(), reserved_len, access, MapFlags::PRIVATE)?
        };
        let reserved = NonNull::new(reserved.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = if slack > 0 { (reserved.as_ptr() as usize).wrapping_neg() % LARGE } else { 0 };
        // SAFETY: skip < LARGE, so that skip + len stays inside what was reserved.
        let at = unsafe { reserved.add(skip) };
        if slack > 0 {
            // SAFETY: all three lie in the region reserved above, the first two around `at` and `len`. What cannot be
            // given back stays unused; without huge pages the others do as well.
            unsafe {
                let _ = munmap(reserved.as_ptr().cast(), skip);
                let _ = munmap(at.add(len).as_ptr().cast(), slack - skip);
                let _ = madvise(at.as_ptr().cast(), len, Advice::LinuxHugepage);
            }
        }
        // SAFETY: just mapped, ours alone, readable and private.
        Ok(unsafe { Mapping::adopt(at, len) })
    }

    /// Makes one by [`Mapping::zeroed`] larger; its first `used` bytes stay. An error changes nothing.
    ///
    /// Moves and grows in one step, so that it stays one area for the kernel: before Linux 6.17 none that consists of
    /// several is moved. The address is our choice, since the kernel's own, before 6.7, parts huge pages.
    fn enlarge(&mut self, bytes: usize, used: usize) -> io::Result<()> {
        let mut map = Mapping::zeroed(bytes)?;
        assert!(used <= self.len && self.len <= map.len);
        if self.len >= WORTH && self.len.is_multiple_of(LARGE) {
            let (from, to) = (self.at.as_ptr().cast(), map.at.as_ptr().cast());
            // SAFETY: both are ours alone, whole pages and apart; what is at the new address is untouched memory.
            let moved = unsafe { mremap_fixed(from, self.len, map.len, MremapFlags::MAYMOVE, to) };
            if moved.is_ok() {
                // Nothing of ours is at the old address any more.
                mem::forget(mem::replace(self, map));
                return Ok(());
            }
            // The kernel clears the new address before it refuses: what is there may be another thread's by now, and
            // is not given back, whether or not there is room elsewhere.
            mem::forget(map);
            map = Mapping::zeroed(bytes)?;
        }
        // SAFETY: both are mapped and ours alone, and apart.
        unsafe { map.at.copy_from_nonoverlapping(self.at, used) };
        *self = map;
        Ok(())
    }

    /// Pages of the hugetlb pool. Populated at once: a pool that runs dry (a control group's limit)
    /// then shows here and not as a signal at some later write.
    fn reserved_pages(len: usize, flags: MapFlags) -> io::Result<Mapping> {
        let flags = flags | MapFlags::PRIVATE | MapFlags::POPULATE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing else.
        let at = unsafe {
            mmap_anonymous(ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags)?
        };
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: just mapped, ours alone, readable and private.
        Ok(unsafe { Mapping::adopt(at, len) })
    }

    /// Ordinary pages between two inaccessible ones: an overrun stops there, and the kernel cannot
    /// merge the mapping with a neighbour, whose huge pages would then be counted as ours.
    fn guarded(len: usize, pages: Pages) -> io::Result<Mapping> {
        let guard = rustix::param::page_size();
        let align = if pages == Pages::Transparent { LARGE } else { guard };
        let reserved_len = len.checked_add(align + 2 * guard).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: as in `reserved_pages`.
        let reserved = unsafe {
            mmap_anonymous(ptr::null_mut(), reserved_len, ProtFlags::empty(), MapFlags::PRIVATE)?
        };
        let reserved = NonNull::new(reserved.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = guard + (reserved.as_ptr() as usize + guard).wrapping_neg() % align;
        // SAFETY: skip <= guard + align - 1, so skip + len + guard stays inside what was reserved.
        let at = unsafe { reserved.add(skip) };
        let map = Mapping { reserved, reserved_len, at, len };
        let advice = match pages {
            Pages::Transparent => Advice::LinuxHugepage,
            _ => Advice::LinuxNoHugepage,
        };
        // SAFETY: `at` and `len` lie in the region reserved above, which holds no object yet.
        unsafe {
            mprotect(at.as_ptr().cast(), len, MprotectFlags::READ | MprotectFlags::WRITE)?;
            match madvise(at.as_ptr().cast(), len, advice) {
                // A kernel built without transparent huge pages gives base pages in any case.
                Err(_) if pages == Pages::Base => {}
                other => other?,
            }
        }
        Ok(map)
    }

    /// The first `len` bytes.
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        assert!(len <= self.len, "more bytes than are mapped");
        // SAFETY: `at` has `self.len` readable bytes until drop, and they do not change while
        // `&self` lives (see the type).
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), len) }
    }

    pub(crate) fn backing(&self, asked: Pages, mapped: Pages) -> Backing {
        let smaps = fs::read_to_string("/proc/self/smaps").ok();
        let start = self.at.as_ptr() as u64;
        let found = smaps.map(|text| resident_in(&text, start, start + self.len as u64));
        Backing {
            asked,
            mapped,
            bytes: self.len as u64,
            resident_bytes: found.map(|(resident, _)| resident),
            huge_bytes: found.map(|(_, huge)| huge),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the region was mapped by us, is unmapped only here, and every slice of it borrows
        // from `self`. Failure leaks it, which is safe.
        let _ = unsafe { munmap(self.reserved.as_ptr().cast(), self.reserved_len) };
    }
}

/// Resident bytes, and those of them on huge pages, of the mappings within `start..end`.
fn resident_in(smaps: &str, start: u64, end: u64) -> (u64, u64) {
    let (mut resident, mut huge) = (0, 0);
    let mut inside = false;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { continue };
        if let Some(field) = first.strip_suffix(':') {
            let kilobytes: u64 = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
            let bytes = kilobytes * 1024;
            match field {
                _ if !inside => {}
                "Rss" => resident += bytes,
                "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => huge += bytes,
                // Pages of the pool are not part of Rss.
                "Private_Hugetlb" | "Shared_Hugetlb" => {
                    resident += bytes;
                    huge += bytes;
                }
                _ => {}
            }
        } else if let Some((from, to)) = first.split_once('-') {
            let parse = |hex| u64::from_str_radix(hex, 16).ok();
            inside =
                parse(from).zip(parse(to)).is_some_and(|(from, to)| from >= start && to <= end);
        }
    }
    (resident, huge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_for_huge_pages_leaves_room_as_usable_as_it_was() {
        for capacity in [0, 1, 1000, 3 << 20] {
            let mut numbers: Vec<u32> = Vec::with_capacity(capacity);
            prefer_huge(numbers.spare_capacity_mut());
            numbers.extend(0..capacity as u32);
            assert!(numbers.iter().copied().eq(0..capacity as u32));
        }
    }

    #[test]
    fn a_list_that_is_enlarged_keeps_its_values_and_has_the_room() {
        let capacities = [1, 1000, 1 << 16, 1 << 18, (1 << 18) + 1, 1 << 19, 3 << 19, 5 << 20];
        let mut numbers = List::new();
        for capacity in capacities {
            numbers.enlarge(capacity);
            assert!(numbers.capacity() >= capacity);
            (numbers.len()..capacity).for_each(|number| numbers.push(number));
            assert!(numbers.iter().copied().eq(0..capacity), "{capacity}");
        }
        // What is smaller than a large page is copied, as far as it is used.
        let mut map = Mapping::zeroed(1 << 16).unwrap();
        // SAFETY: 64 KiB were mapped, and nobody else knows of them.
        unsafe { map.at.as_ptr().write_bytes(7, 1 << 16) };
        map.enlarge(3 << 20, 5000).unwrap();
        assert_eq!(map.bytes(5001), [&[7; 5000][..], &[0]].concat());
        for len in [0, 1, 3 << 20] {
            assert_eq!(huge(len, 7_u8), vec![7; len]);
        }
    }

    /// It was two areas after the first move, which Linux 5.7 to 6.16 did not move again.
    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
    fn a_list_that_has_moved_is_still_one_mapping() {
        let mut list = List::new();
        for capacity in [1 << 20, 5 << 20, 11 << 20, 40 << 20] {
            list.enlarge(capacity);
            list.push(7_u8);
            let map = list.map.as_ref().unwrap();
            let start = map.at.as_ptr() as usize;
            assert_eq!(start % LARGE, 0);
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            let whole = maps.lines().any(|line| {
                let (from, to) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
                let parse = |hex| usize::from_str_radix(hex, 16).unwrap();
                parse(from) <= start && start + map.len <= parse(to)
            });
            assert!(whole, "{start:x}+{:x} in\n{maps}", map.len);
        }
    }

    /// Kernels before 6.17 take away what is at the new address before they say no, and the copy was written there.
    #[test]
    fn a_list_the_kernel_does_not_move_is_copied_into_memory_of_its_own() {
        let mut list = List::new();
        list.extend_from_slice(&[7_u8; 3 << 20]);
        let map = list.map.as_ref().unwrap();
        // SAFETY: a part of the list's own pages, which makes them two areas; no byte changes.
        unsafe { madvise(map.at.as_ptr().cast(), LARGE, Advice::LinuxNoHugepage).unwrap() };
        list.enlarge(9 << 20);
        assert_eq!(*list, [7; 3 << 20]);
        list.extend_from_slice(&[8; 6 << 20]);
        assert!(list[3 << 20..].iter().all(|&byte| byte == 8));
    }

    #[test]
    fn a_list_drops_each_of_its_values_once() {
        let value = std::sync::Arc::new(());
        let mut list = List::new();
        (0..300_000).for_each(|_| list.push(std::sync::Arc::clone(&value)));
        assert_eq!(std::sync::Arc::strong_count(&value), 300_001);
        list.clear();
        assert_eq!((std::sync::Arc::strong_count(&value), list.len()), (1, 0));
        list.push(std::sync::Arc::clone(&value));
        drop(list);
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    }

    #[test]
    fn a_list_of_bytes_takes_slices_of_any_length() {
        let (mut list, mut all) = (List::new(), Vec::new());
        for len in [0, 1, 63, 64, 65, 100_000, 3, 5_000_000, 1] {
            let slice: Vec<u8> = (0..len).map(|at| at as u8).collect();
            list.extend_from_slice(&slice);
            all.extend_from_slice(&slice);
            assert!(*list == *all, "{len}");
        }
    }

    #[test]
    fn every_wish_ends_in_zeroed_writable_memory() {
        for pages in [Pages::Base, Pages::Transparent, Pages::Huge2M, Pages::Huge1G] {
            for bytes in [0, 1, 4096, 4097, 5 << 20] {
                let mut buffer = Buffer::new(bytes, pages).unwrap();
                assert_eq!(buffer.len(), bytes);
                assert!(buffer.iter().all(|&byte| byte == 0));
                buffer.fill(0xa5);
                assert!(buffer.iter().all(|&byte| byte == 0xa5));
                assert!(buffer.backing().mapped <= pages);
            }
        }
    }

    #[test]
    fn transparent_buffers_start_on_a_large_page() {
        let buffer = Buffer::new(1, Pages::Transparent).unwrap();
        if buffer.backing().mapped == Pages::Transparent {
            assert_eq!(buffer.as_ptr() as usize % LARGE, 0);
        }
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
    fn touched_memory_is_reported_resident_and_base_pages_stay_base() {
        let mut buffer = Buffer::new(4 << 20, Pages::Base).unwrap();
        assert!(buffer.backing().sentence().contains("base pages"));
        buffer.touch();
        let backing = buffer.backing();
        assert_eq!(backing.resident_bytes, Some(4 << 20));
        assert_eq!(backing.huge_bytes, Some(0));
    }

    #[test]
    fn slabs_are_zeros_that_keep_what_is_written() {
        for len in [0, 1, 1000, 8191, 8192, 700_000] {
            let mut slab = Slab::<u64>::new(len);
            assert_eq!(slab.len(), len);
            assert!(slab.iter().all(|&value| value == 0));
            slab.iter_mut().enumerate().for_each(|(at, value)| *value = at as u64);
            assert!(slab.iter().enumerate().all(|(at, &value)| value == at as u64));
        }
    }

    /// They panicked, and the words of that, with a backtrace, wanted memory again.
    #[test]
    fn memory_that_is_refused_is_an_error_and_other_panics_go_on() {
        const MANY: usize = 1 << 58;
        let refused: [fn(); 3] = [
            || drop(Slab::<u64>::new(MANY)),
            || List::<u64>::new().enlarge(MANY),
            || drop(huge(MANY, 0_u64)),
        ];
        for make in refused {
            let said = NoMemory::caught(make).unwrap_err().to_string();
            let expected = format!("no memory for a table of {} bytes: ", 8 * MANY);
            assert!(said.starts_with(&expected), "{said}");
        }
        assert_eq!(NoMemory::caught(|| 5).unwrap(), 5);
        let other =
            panic::catch_unwind(|| NoMemory::caught::<()>(|| panic::resume_unwind(Box::new(7))));
        assert_eq!(other.unwrap_err().downcast_ref::<i32>(), Some(&7));
    }

    #[test]
    fn a_wish_for_huge_pages_changes_no_byte() {
        let mut bytes: Vec<u8> = Vec::with_capacity(9 << 20);
        prefer_huge(bytes.spare_capacity_mut());
        bytes.resize(9 << 20, 7);
        assert!(bytes.iter().all(|&byte| byte == 7));
        prefer_huge(&mut [] as &mut [MaybeUninit<u64>]);
    }

    #[test]
    fn a_size_no_object_can_have_is_refused() {
        for pages in [Pages::Base, Pages::Huge1G] {
            assert!(Buffer::new(usize::MAX, pages).is_err());
            assert!(Buffer::new(isize::MAX as usize, pages).is_err());
        }
    }

    #[test]
    fn kernel_text_counts_only_mappings_inside_the_range() {
        let smaps = "1000-3000 rw-p 00000000 00:00 0\nRss: 8 kB\nAnonHugePages: 4 kB\n\
                     3000-5000 rw-p 00000000 00:00 0\nRss: 8 kB\nAnonHugePages: 0 kB\n\
                     Private_Hugetlb: 2048 kB\nVmFlags: rd wr\n";
        assert_eq!(resident_in(smaps, 0x1000, 0x3000), (8192, 4096));
        assert_eq!(resident_in(smaps, 0x3000, 0x5000), (8192 + (2 << 20), 2 << 20));
        assert_eq!(resident_in(smaps, 0x2000, 0x3000), (0, 0));
        assert_eq!(resident_in("", 0, u64::MAX), (0, 0));
    }
}
