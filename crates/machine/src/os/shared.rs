//! Read-only data shared between processes: written once by the conductor, mapped by each worker.
//!
//! ```text
//!   conductor: Draft::new ─▶ fill ─▶ freeze (sealed: no size, no byte changes again) ─▶ Segment
//!                                              │ share() = descriptor number
//!   worker:                     Segment::open(number, bytes) ─▶ the same memory, no copy
//! ```
//!
//! A segment is a memory file. Sealing it is what makes a plain `&[u8]` of it sound in a process
//! that did not write it: [`Segment::open`] refuses a file without the seals. There is no writable
//! sharing here.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::ptr::{self, NonNull};
use std::time::Duration;

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap};

use super::memory::{Backing, Mapping, Pages};

/// What keeps every byte of a segment as it is.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::WRITE);

/// A segment being written; this process alone has it.
#[derive(Debug)]
pub struct Draft {
    map: Mapping,
    file: OwnedFd,
    len: usize,
    asked: Pages,
    mapped: Pages,
}

/// Sealed, shareable bytes.
#[derive(Debug)]
pub struct Segment {
    map: Mapping,
    file: OwnedFd,
    len: usize,
    asked: Pages,
    mapped: Pages,
}

impl Draft {
    /// `bytes` zeroed bytes on `wanted` pages or the next best.
    ///
    /// # Errors
    /// What the kernel answers when not even base pages are to be had.
    pub fn new(bytes: usize, wanted: Pages) -> io::Result<Draft> {
        let mut pages = wanted;
        loop {
            match (Draft::on(bytes, wanted, pages), pages.lesser()) {
                (Ok(draft), _) => return Ok(draft),
                (Err(error), None) => return Err(error),
                (Err(_), Some(lesser)) => pages = lesser,
            }
        }
    }

    fn on(bytes: usize, asked: Pages, pages: Pages) -> io::Result<Draft> {
        let len = bytes.max(1).checked_next_multiple_of(pages.unit_bytes());
        let len =
            len.filter(|&len| isize::try_from(len).is_ok()).ok_or(io::ErrorKind::InvalidInput)?;
        let huge = match pages {
            Pages::Huge2M => MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB,
            Pages::Huge1G => MemfdFlags::HUGETLB | MemfdFlags::HUGE_1GB,
            Pages::Base | Pages::Transparent => MemfdFlags::empty(),
        };
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | huge;
        let file = memfd_create("fathom", flags)?;
        ftruncate(&file, len as u64)?;
        let map = map(&file, len, ProtFlags::READ | ProtFlags::WRITE, pages)?;
        Ok(Draft { map, file, len: bytes, asked, mapped: pages })
    }

    /// Seals the bytes as they are now, for good.
    ///
    /// # Errors
    /// What the kernel answers when it will not seal or map again.
    pub fn freeze(self) -> io::Result<Segment> {
        let Draft { map: writable, file, len, asked, mapped } = self;
        let whole = writable.len;
        // The kernel refuses the write seal while a writable mapping exists.
        drop(writable);
        // A child that another thread is just starting has a copy of it until it runs its program.
        let mut attempts = 200;
        loop {
            match fcntl_add_seals(&file, SEALS) {
                Err(Errno::BUSY) if attempts > 0 => {
                    attempts -= 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
                sealed => break sealed?,
            }
        }
        let map = map(&file, whole, ProtFlags::READ, mapped)?;
        Ok(Segment { map, file, len, asked, mapped })
    }
}

impl Deref for Draft {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.bytes(self.len)
    }
}

impl DerefMut for Draft {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: a Draft's mapping is writable and at least `len` long; its file is reachable only
        // through the Draft, which gives the descriptor to nobody before `freeze`.
        unsafe { std::slice::from_raw_parts_mut(self.map.at.as_ptr(), self.len) }
    }
}

impl Segment {
    /// A segment that holds a copy of `bytes`.
    ///
    /// # Errors
    /// As [`Draft::new`] and [`Draft::freeze`].
    pub fn copy_of(bytes: &[u8], wanted: Pages) -> io::Result<Segment> {
        let mut draft = Draft::new(bytes.len(), wanted)?;
        draft.copy_from_slice(bytes);
        draft.freeze()
    }

    /// Lets processes started from now on inherit the segment, and says under which descriptor
    /// number; hand them that and the length.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn share(&self) -> io::Result<RawFd> {
        fcntl_setfd(&self.file, FdFlags::empty())?;
        Ok(self.file.as_raw_fd())
    }

    /// The segment of `bytes` bytes that this process inherited as descriptor `number`.
    ///
    /// # Errors
    /// `InvalidData` when the descriptor is no sealed segment or is shorter than `bytes`, otherwise
    /// what the kernel answers.
    pub fn open(number: RawFd, bytes: usize) -> io::Result<Segment> {
        // Opened anew through procfs rather than adopted by number: a wrong number then harms
        // nobody else's descriptor.
        let file = OwnedFd::from(File::open(format!("/proc/self/fd/{number}"))?);
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let seals = fcntl_get_seals(&file)
            .map_err(|_| wrong(&format!("descriptor {number} is not a memory file")))?;
        if !seals.contains(SEALS) {
            return Err(wrong(&format!("descriptor {number} is not sealed against change")));
        }
        let stat = fstat(&file)?;
        let len = usize::try_from(stat.st_size).unwrap_or(0);
        if bytes > len || len == 0 {
            return Err(wrong(&format!("{bytes} bytes wanted of a segment of {len}")));
        }
        let pages = match usize::try_from(stat.st_blksize) {
            Ok(size) if size == Pages::Huge1G.unit_bytes() => Pages::Huge1G,
            Ok(size) if size == Pages::Huge2M.unit_bytes() => Pages::Huge2M,
            _ => Pages::Transparent,
        };
        let map = map(&file, len, ProtFlags::READ, pages)?;
        Ok(Segment { map, file, len: bytes, asked: pages, mapped: pages })
    }

    /// What the kernel gave for this process's view of the segment, as of now: pages count once
    /// they were touched here.
    pub fn backing(&self) -> Backing {
        self.map.backing(self.asked, self.mapped)
    }
}

impl Deref for Segment {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.bytes(self.len)
    }
}

fn map(file: &impl AsFd, len: usize, access: ProtFlags, pages: Pages) -> io::Result<Mapping> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing else; the file
    // cannot shrink under it: either this process alone has it, or it is sealed.
    let at = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0)? };
    if pages == Pages::Transparent {
        // A wish; kernels that keep huge pages from memory files decline, `backing` tells.
        // SAFETY: exactly the mapping made above.
        let _ = unsafe { madvise(at, len, Advice::LinuxHugepage) };
    }
    let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: mapped above and ours to unmap; the bytes change only through the Draft (`&mut`) or,
    // sealed, not at all.
    Ok(unsafe { Mapping::adopt(at, len) })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 31 % 251) as u8).collect()
    }

    #[test]
    fn a_segment_is_opened_as_it_was_frozen() {
        for pages in [Pages::Base, Pages::Transparent, Pages::Huge2M] {
            for len in [0, 1, 4096, 3_000_001] {
                let data = pattern(len);
                let segment = Segment::copy_of(&data, pages).unwrap();
                assert_eq!(&*segment, &data);
                let again = Segment::open(segment.share().unwrap(), len).unwrap();
                assert_eq!(&*again, &data);
                assert!(again.backing().bytes as usize >= len);
            }
        }
    }

    #[test]
    fn a_child_process_inherits_the_bytes() {
        let segment = Segment::copy_of(b"deep water", Pages::Base).unwrap();
        let number = segment.share().unwrap();
        let output =
            Command::new("head").args(["-c", "10", &format!("/proc/self/fd/{number}")]).output();
        assert_eq!(output.unwrap().stdout, b"deep water");
    }

    #[test]
    fn what_could_still_change_is_refused() {
        let draft = Draft::new(8, Pages::Base).unwrap();
        let error = Segment::open(draft.file.as_raw_fd(), 8).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let segment = draft.freeze().unwrap();
        assert!(Segment::open(segment.file.as_raw_fd(), 1 << 20).is_err());
        assert!(Segment::open(-1, 1).is_err());
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let error = Segment::open(file.as_raw_fd(), 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
