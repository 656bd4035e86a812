//! The page cache: whether a file is in it, and ways out of it, past it and into it.
//!
//! Two probes, for two questions. [`is_cached`] asks for a few bytes and refuses to wait; but Linux begins to
//! read what it did not find, so that whoever asks of a file that is out of memory has a page of it in. [`resident_bytes`]
//! only looks, at every page.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, OFlags, fadvise, fdatasync, fstatfs};
use rustix::io::{ReadWriteFlags, preadv2};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Whether the file is in memory, by a look at a byte in each of sixteen parts of the range, which waits for no device.
pub fn is_cached(file: &File, range: Range<u64>) -> bool {
    const PARTS: u64 = 16;
    let part = (range.end - range.start) / PARTS;
    let is_there = |at: u64| {
        let mut byte = [0];
        let into = &mut [IoSliceMut::new(&mut byte)];
        // Where nobody can tell, it is not.
        preadv2(file, into, at, ReadWriteFlags::NOWAIT).is_ok_and(|read| read == 1)
    };
    (0..PARTS).all(|number| is_there(range.start + number * part + part / 2))
}

/// How much of the file is in memory, in bytes of whole pages; all of it where the kernel does not let this process look,
/// which is at files that it may neither write to nor owns.
///
/// # Errors
/// What the operating system answers.
pub fn resident_bytes(file: &File) -> io::Result<u64> {
    /// Mapped and looked at in one go.
    const PIECE_BYTES: u64 = 1 << 30;
    let (bytes, page) = (file.metadata()?.len(), rustix::param::page_size());
    let (mut resident, mut at) = (0, 0);
    while at < bytes {
        let len = (bytes - at).min(PIECE_BYTES) as usize;
        let mut pages = vec![0_u8; len.div_ceil(page)];
        // (Nothing is read. Of pages that may not be, some emulators say nothing.)
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing else.
        let map =
            unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, at)? };
        // SAFETY: the mapping has `len` bytes, and the vector one for each of its pages.
        let done = unsafe { libc::mincore(map, len, pages.as_mut_ptr()) };
        let error = io::Error::last_os_error();
        // SAFETY: mapped above, and nobody else has its address.
        unsafe { munmap(map, len)? };
        if done != 0 {
            return Err(error);
        }
        resident += pages.iter().filter(|&page| page & 1 == 1).count() * page;
        at += len as u64;
    }
    Ok(resident as u64)
}

/// Puts a file out of memory, and looks whether it is.
///
/// Out of this kernel's memory: what the device or the host of a virtual machine keeps, it keeps.
///
/// # Errors
/// That pages stay, as they do in file systems in memory and of files that somebody has mapped, locked or is reading; and what the
/// operating system answers.
pub fn evict(file: &File) -> io::Result<()> {
    const ATTEMPTS: u32 = 8;
    let stays = |why: &str| Err(io::Error::other(format!("cannot be put out of memory: {why}")));
    let mut stay = 0;
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            // What was written stays until the device has it, and what is being read until it is there: a quarter of a second
            // in all for a device that others keep busy.
            fdatasync(file)?;
            thread::sleep(Duration::from_millis(1 << attempt));
        }
        fadvise(file, 0, None, Advice::DontNeed)?;
        stay = resident_bytes(file)?;
        if stay == 0 {
            return Ok(());
        }
        if is_in_memory(file).unwrap_or(false) {
            return stays("its file system is in memory");
        }
    }
    stays(&format!(
        "{stay} bytes stay; somebody has them mapped, locked or in use, or the file is not one \
         that this process may look for: it would have to own it or be allowed to write to it"
    ))
}

/// Whether the file's, or the folder's, file system has no device but memory.
///
/// # Errors
/// What the operating system answers.
pub fn is_in_memory(file: &File) -> io::Result<bool> {
    /// `statfs(2)`: tmpfs, ramfs, hugetlbfs.
    const KINDS: [u32; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
    Ok(KINDS.contains(&(fstatfs(file)?.f_type as u32)))
}

/// Opens a file to be read past the page cache (`O_DIRECT`): addresses, offsets and lengths must be multiples of a block of
/// the device's, of 4 KiB to be sure.
///
/// # Errors
/// Of file systems in memory, too: there the flag means nothing, and since Linux 6.6 it is taken all the same. Some others refuse
/// the first read only.
pub fn open_direct(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path)?;
    if is_in_memory(&file)? {
        return Err(io::Error::other("the file system is in memory"));
    }
    Ok(file)
}

/// Tells the kernel that the file will be read from beginning to end: it reads twice as far ahead.
///
/// # Errors
/// What the operating system answers.
pub fn expect_in_order(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::Sequential)?)
}

/// Tells the kernel that all of the file will be needed: it begins to read it.
///
/// # Errors
/// What the operating system answers.
pub fn expect_whole(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::WillNeed)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    use super::*;

    /// A file without a name in a folder.
    fn file_in(folder: &Path, bytes: &[u8]) -> File {
        let thread = thread::current();
        let name = format!("fathom-cache-{}-{:?}", std::process::id(), thread.id());
        let path = folder.join(name);
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    /// On a disk, if there is one.
    fn file(bytes: &[u8]) -> Option<File> {
        let folders = [std::env::temp_dir(), "/var/tmp".into()];
        let mut files = folders.iter().map(|folder| file_in(folder, bytes));
        files.find(|file| !is_in_memory(file).unwrap())
    }

    #[test]
    fn what_was_just_written_is_cached() {
        let page = rustix::param::page_size();
        let file = file_in(&std::env::temp_dir(), &vec![7; 3 * page]);
        let size = 3 * page as u64;
        assert!(is_cached(&file, 0..size) && !is_cached(&file, size..2 * size));
    }

    #[test]
    fn an_evicted_file_is_out_of_memory_until_it_is_read() {
        const BYTES: usize = (1 << 20) + 1001;
        let file = file(&[7; BYTES]);
        crate::needs!("folder for temporary files on a disk", file.is_some());
        let file = file.unwrap();
        let all = BYTES.next_multiple_of(rustix::param::page_size()) as u64;
        assert_eq!(resident_bytes(&file).unwrap(), all, "just written");
        // Each look makes the kernel read its own page alone, not those of the next looks too.
        fadvise(&file, 0, None, Advice::Random).unwrap();
        for _ in 0..3 {
            evict(&file).unwrap();
            assert_eq!(resident_bytes(&file).unwrap(), 0);
            // A fast disk may have read the page by then: not all sixteen, every time.
            let is_out = || !is_cached(&file, 0..BYTES as u64);
            assert!((0..20).any(|_| evict(&file).is_ok() && is_out()));
            evict(&file).unwrap();
            file.read_exact_at(&mut vec![0; BYTES], 0).unwrap();
            assert_eq!(resident_bytes(&file).unwrap(), all, "just read");
            assert!(is_cached(&file, 0..BYTES as u64));
        }
    }

    #[test]
    fn reading_past_the_page_cache_leaves_nothing_in_it() {
        let file = file(&[7; 10_001]);
        crate::needs!("folder for temporary files on a disk", file.is_some());
        let file = file.unwrap();
        evict(&file).unwrap();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let direct = open_direct(Path::new(&path)).unwrap();
        let mut room =
            crate::os::memory::Buffer::new(16 << 10, crate::os::memory::Pages::Base).unwrap();
        assert_eq!(direct.read_at(&mut room, 0).unwrap(), 10_001, "the end is no block's");
        assert_eq!(resident_bytes(&file).unwrap(), 0);
    }

    #[test]
    fn a_file_in_memory_cannot_be_put_out_of_it_nor_read_past_it() {
        let shm = Path::new("/dev/shm");
        let is_there = File::open(shm).is_ok_and(|folder| is_in_memory(&folder).unwrap());
        crate::needs!("/dev/shm in memory", is_there);
        let file = file_in(shm, &[7; 10_001]);
        let error = evict(&file).unwrap_err().to_string();
        assert_eq!(error, "cannot be put out of memory: its file system is in memory");
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        assert!(open_direct(Path::new(&path)).is_err());
    }

    #[test]
    fn an_empty_file_is_out_of_memory() {
        let file = file_in(&std::env::temp_dir(), b"");
        assert_eq!(resident_bytes(&file).unwrap(), 0);
        evict(&file).unwrap();
    }
}
