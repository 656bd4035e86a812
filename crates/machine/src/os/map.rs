//! Parts of files mapped into memory, with readable zeros on either side.
//!
//! ```text
//!   │ zeros, a page │ …the file before │ wanted bytes │ file or zeros to the page's end │ zeros │
//!   └──────────────── padded() ────────┴── start() ───────────────────────────────────────────┘
//! ```
//!
//! The zeros are the licence to read wide at both ends, also where a file ends exactly with its
//! page. Nothing here writes, and nothing protects against others: see [`FileMap::new`].

use std::fs::File;
use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous};

use super::memory::Mapping;

/// A part of a file in memory.
#[derive(Debug)]
pub struct FileMap {
    region: Mapping,
    start: usize,
    len: usize,
}

impl FileMap {
    /// Maps bytes `range` of `file`; with `populate`, all pages are made present at once instead of
    /// at the first access of each.
    ///
    /// # Safety
    /// While the map lives nobody, in this process or another, changes these bytes of the file; if
    /// somebody makes it shorter, reading what was cut off ends the process with `SIGBUS`.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file is shorter than the range, otherwise what the kernel answers.
    pub unsafe fn new(file: &File, range: Range<u64>, populate: bool) -> io::Result<FileMap> {
        let page = rustix::param::page_size();
        if range.start > range.end {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Pages that lie wholly behind the end of a file cannot be read.
        if range.end > file.metadata()?.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let lead = (range.start % page as u64) as usize;
        let fits = |bytes: u64| usize::try_from(bytes).ok().filter(|&b| isize::try_from(b).is_ok());
        let len = fits(range.end - range.start).ok_or(io::ErrorKind::InvalidInput)?;
        let body =
            (lead + len).checked_next_multiple_of(page).ok_or(io::ErrorKind::InvalidInput)?;
        let whole = body.checked_add(2 * page).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing else.
        let at = unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
            mmap_anonymous(ptr::null_mut(), whole, ProtFlags::READ, flags)?
        };
        let at = NonNull::new(at.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: just mapped, ours alone and readable; its bytes are zeros or, from here on, those
        // the caller promises to leave alone.
        let region = unsafe { Mapping::adopt(at, whole) };
        if body > 0 {
            let flags = MapFlags::SHARED | MapFlags::FIXED;
            let flags = if populate { flags | MapFlags::POPULATE } else { flags };
            // SAFETY: replaces pages 1.. of the region just reserved, in which no object lives.
            unsafe {
                let body_at = at.as_ptr().add(page).cast();
                mmap(body_at, body, ProtFlags::READ, flags, file, range.start - lead as u64)?;
            }
        }
        Ok(FileMap { region, start: page + lead, len })
    }

    /// The wanted bytes with at least a page of other readable bytes on either side.
    pub fn padded(&self) -> &[u8] {
        self.region.bytes(self.region.len)
    }

    /// Where the wanted bytes are in [`padded`](FileMap::padded).
    pub fn place(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!(
            "fathom-map-{}-{:?}-{}",
            std::process::id(),
            std::thread::current().id(),
            bytes.len()
        ));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        file.write_all(bytes).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    #[test]
    fn any_range_is_mapped_between_readable_bytes() {
        let page = rustix::param::page_size();
        for size in [0, 1, page - 1, page, page + 1, 3 * page] {
            let bytes: Vec<u8> = (0..size).map(|i| (i % 251) as u8 + 1).collect();
            let file = file(&bytes);
            for (start, end) in [(0, size), (size / 2, size), (size, size), (0, size / 3)] {
                for populate in [false, true] {
                    // SAFETY: the file is this test's own.
                    let map = unsafe { FileMap::new(&file, start as u64..end as u64, populate) };
                    let map = map.unwrap();
                    assert_eq!(&map.padded()[map.place()], &bytes[start..end]);
                    assert!(map.place().start >= page);
                    assert!(map.padded().len() - map.place().end >= page);
                    let after: u64 =
                        map.padded()[map.place().end..].iter().map(|&b| b as u64).sum();
                    assert!(end < size || after == 0, "zeros follow the file");
                }
            }
        }
    }

    #[test]
    fn what_the_file_does_not_have_is_refused() {
        let file = file(b"short");
        // SAFETY: the file is this test's own.
        let error = unsafe { FileMap::new(&file, 0..6, false) }.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
