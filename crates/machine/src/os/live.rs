//! Files mapped while others may write to them, or cut them short.
//!
//! ```text
//!   file    │ ████████████ … ████████████ │ cut off: touching it would end the process by SIGBUS
//!   mapping │ ████████████ … ████████████ │ zeros 0 0 0 … 0 │    once somebody has touched it
//!                                         └── lost(): told to whoever looks afterwards
//! ```
//!
//! Bytes that another process may change at any time are outside of what Rust promises of memory: no reference to them
//! is ever made, here or by who asks for an address. Whoever reads them has to be right about memory
//! whatever they are, at any two looks; what the bytes say is theirs to doubt, with [`LiveMap::lost`] after each part and the
//! size of the file.
//!
//! The signal is that of a page that cannot be had, because the file has become shorter or its device fails. The first
//! map installs a handler for the whole process, which puts pages of zeros where the signal came from, up to the end of
//! the map, and leaves a note. Signals from elsewhere go to whoever was there before. A handler that is installed
//! later, and does the same, takes its place; then nothing new is mapped.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use libc::{c_int, c_void, siginfo_t};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// A part of a file in memory.
#[derive(Debug)]
pub struct LiveMap {
    /// Where the first page is, and how many bytes all have.
    start: usize,
    len: usize,
    /// The byte of the file there.
    first: u64,
    range: Range<u64>,
    note: &'static Note,
}

impl LiveMap {
    /// Maps bytes `range` of `file`, which may be shorter already.
    ///
    /// # Errors
    /// What the kernel answers; `InvalidInput` for no bytes or too many, `Unsupported` if another handler has taken
    /// the place of ours, or too many files are mapped.
    pub fn new(file: &File, range: Range<u64>) -> io::Result<LiveMap> {
        let page = install()?;
        let lead = (range.start % page as u64) as usize;
        let bytes = range.end.checked_sub(range.start).filter(|&bytes| bytes > 0);
        let bytes =
            bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&b| b <= MOST_BYTES);
        let len = bytes.ok_or(io::ErrorKind::InvalidInput)? + lead;
        let len = len.next_multiple_of(page);
        let first = range.start - lead as u64;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing else.
        let at =
            unsafe { mmap(ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, first)? };
        let start = at as usize;
        let Some(note) = NOTES.iter().find(|note| note.open(start..start + len)) else {
            // SAFETY: mapped above; nobody has its address.
            let _ = unsafe { munmap(at, len) };
            return Err(io::ErrorKind::Unsupported.into());
        };
        Ok(LiveMap { start, len, first, range, note })
    }

    /// The bytes of the file that are mapped.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Where a byte of the file is. The address is good while the map lives: for reading, as far as the
    /// [range](LiveMap::range) goes, and without making a reference.
    ///
    /// # Panics
    /// If the byte is not mapped.
    pub fn address(&self, byte: u64) -> *const u8 {
        assert!(self.range.contains(&byte), "byte {byte} is not mapped");
        ptr::with_exposed_provenance(self.start + (byte - self.first) as usize)
    }

    /// The first of some bytes of the file that is `wanted`, or was when it was looked at. The mapped
    /// part of them is searched.
    pub fn find(&self, wanted: u8, bytes: Range<u64>) -> Option<u64> {
        let mut bytes = bytes.start.max(self.range.start)..bytes.end.min(self.range.end);
        // SAFETY: the byte is mapped; a volatile read makes no claim about what is there.
        bytes.find(|&byte| unsafe { self.address(byte).read_volatile() } == wanted)
    }

    /// The first byte of the file that could not be had, if any was touched: it, and all behind it, has been zero since.
    pub fn lost(&self) -> Option<u64> {
        let at = self.note.lost.load(Ordering::Acquire);
        (at != usize::MAX).then(|| (self.first + (at - self.start) as u64).max(self.range.start))
    }

    /// Whether any byte was lost.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.note.lost.load(Ordering::Acquire) == usize::MAX
    }

    /// Lets go of the memory of some bytes of the file. Who touches them again gets them again.
    pub fn forget(&self, bytes: Range<u64>) {
        let page = PAGE_BYTES.load(Ordering::Relaxed);
        let place = |byte: u64| {
            let byte = byte.clamp(self.first, self.range.end);
            self.start + (byte - self.first) as usize
        };
        let (from, to) = (place(bytes.start) & !(page - 1), place(bytes.end) & !(page - 1));
        if from < to {
            let at = ptr::with_exposed_provenance_mut(from);
            // SAFETY: whole pages of this map, which nobody writes to: what is dropped is what the file has.
            let _ = unsafe { madvise(at, to - from, Advice::LinuxDontNeed) };
        }
    }
}

impl Drop for LiveMap {
    fn drop(&mut self) {
        // Before the addresses may become another's.
        self.note.close();
        let at = ptr::with_exposed_provenance_mut(self.start);
        // SAFETY: mapped by us and unmapped only here; addresses are good while the map lives.
        let _ = unsafe { munmap(at, self.len) };
    }
}

/// No object is larger, and offsets in one fit a pointer's difference.
const MOST_BYTES: usize = isize::MAX as usize / 2;

/// What the handler knows of a map.
#[derive(Debug)]
struct Note {
    /// Odd while the place is changed: what is read between two equal even ones belongs together.
    version: AtomicUsize,
    /// The addresses; none where both are 0.
    start: AtomicUsize,
    end: AtomicUsize,
    /// The lowest address that could not be had.
    lost: AtomicUsize,
}

/// Most maps at a time.
const MOST_MAPS: usize = 1024;

static NOTES: [Note; MOST_MAPS] = [const {
    Note {
        version: AtomicUsize::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicUsize::new(usize::MAX),
    }
}; MOST_MAPS];

/// Bytes of a page, once the handler is there.
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(0);

impl Note {
    /// Takes the note for a map, if nobody has it.
    fn open(&self, addresses: Range<usize>) -> bool {
        let version = self.version.load(Ordering::Relaxed);
        if version % 2 == 1 || self.end.load(Ordering::Relaxed) != 0 {
            return false;
        }
        let (taken, order) = (version + 1, Ordering::Acquire);
        if self.version.compare_exchange(version, taken, order, Ordering::Relaxed).is_err() {
            return false;
        }
        // Whoever was faster may have come and gone, or stayed.
        let is_free = self.end.load(Ordering::Relaxed) == 0;
        if is_free {
            fence(Ordering::Release);
            self.start.store(addresses.start, Ordering::Relaxed);
            self.end.store(addresses.end, Ordering::Relaxed);
            self.lost.store(usize::MAX, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
        is_free
    }

    /// Gives it back; only the owner of the map does.
    fn close(&self) {
        let version = self.version.load(Ordering::Relaxed);
        // Nobody else changes a note that is taken: who tries to take it sees its end, or the version before.
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.start.store(0, Ordering::Relaxed);
        self.end.store(0, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }

    /// Whether the address is one of the map, in which case zeros are there from its page on. Runs inside the
    /// signal: it takes no lock, allocates nothing, and calls the kernel directly.
    fn mend(&self, address: usize) -> bool {
        let version = self.version.load(Ordering::Acquire);
        let (start, end) = (self.start.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let is_same = version == self.version.load(Ordering::Relaxed);
        if version % 2 == 1 || !is_same || !(start..end).contains(&address) {
            return false;
        }
        let from = address & !(PAGE_BYTES.load(Ordering::Relaxed) - 1);
        // Before there are zeros to read: whoever read some sees it.
        self.lost.fetch_min(from, Ordering::SeqCst);
        // SAFETY: replaces pages of the map, which lives because somebody is reading it, by others that are readable;
        // no reference to any of its bytes exists.
        let mended = unsafe {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
            let at = ptr::with_exposed_provenance_mut(from);
            mmap_anonymous(at, end - from, ProtFlags::READ, flags)
        };
        mended.is_ok()
    }
}

/// Who was told of the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// What is done on the signal now.
fn current() -> io::Result<libc::sigaction> {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asks only, and has room for the answer, of which all zeros are a value.
    unsafe {
        match libc::sigaction(libc::SIGBUS, ptr::null(), now.as_mut_ptr()) {
            0 => Ok(now.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Makes the handler be there, and says how many bytes a page has.
fn install() -> io::Result<usize> {
    let ours = on_signal as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
    let mut failure = None;
    BEFORE.get_or_init(|| {
        PAGE_BYTES.store(rustix::param::page_size(), Ordering::Relaxed);
        let before = current().inspect_err(|error| failure = Some(error.kind())).ok();
        before.unwrap_or_else(default_action)
    });
    if let Some(kind) = failure {
        return Err(kind.into());
    }
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let mut action = default_action();
        action.sa_sigaction = ours;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler is one that may interrupt anything: see there.
        unsafe { libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) == 0 }
    });
    if current()?.sa_sigaction != ours {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(PAGE_BYTES.load(Ordering::Relaxed))
}

fn default_action() -> libc::sigaction {
    // SAFETY: integers and a pointer that may be null: SIG_DFL, no flags, no signals.
    unsafe { std::mem::zeroed() }
}

/// Runs when a page cannot be had, wherever a thread is: it looks at atomics, calls the kernel, and returns to what was
/// interrupted.
extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a valid description of the signal; with a code above 0 it has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if code > 0 && NOTES.iter().any(|note| note.mend(address)) {
        return;
    }
    // SAFETY: what the kernel gave is handed on as it came.
    unsafe { pass_on(signal, info, context) }
}

/// Does what would have been done without us.
///
/// # Safety
/// The arguments are those of a handler.
unsafe fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = BEFORE.get().copied().unwrap_or_else(default_action);
    // SAFETY: a handler is called as it asked to be. Without one the process is to end: by the same
    // fault once more, or by a signal that waits until this one returns.
    unsafe {
        match before.sa_sigaction {
            libc::SIG_IGN if (*info).si_code <= 0 => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::sigaction(signal, &default_action(), ptr::null_mut());
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
            handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, ExitStatus};

    use super::*;

    fn file(bytes: &[u8]) -> File {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("fathom-live-{}-{number}", std::process::id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn page() -> usize {
        rustix::param::page_size()
    }

    fn byte(map: &LiveMap, at: u64) -> u8 {
        // SAFETY: the map lives.
        unsafe { map.address(at).read_volatile() }
    }

    /// Pages that are full of their numbers, from 1.
    fn numbered(pages: usize) -> Vec<u8> {
        (0..pages * page()).map(|at| (at / page() + 1) as u8).collect()
    }

    #[test]
    fn any_part_of_a_file_is_where_it_is_said_to_be() {
        let bytes: Vec<u8> = (0..3 * page() + 7).map(|at| (at % 251) as u8).collect();
        let file = file(&bytes);
        let size = bytes.len() as u64;
        for range in [0..size, 1..size, 0..1, size - 1..size, 5000..9000] {
            let map = LiveMap::new(&file, range.clone()).unwrap();
            assert_eq!(map.range(), range);
            assert!(range.clone().all(|at| byte(&map, at) == bytes[at as usize]), "{range:?}");
            let found = |wanted| map.find(wanted, 0..u64::MAX);
            let expected = range.clone().find(|&at| bytes[at as usize] == 250);
            assert_eq!((found(250), found(255)), (expected, None), "{range:?}");
            map.forget(0..size);
            assert!(range.clone().all(|at| byte(&map, at) == bytes[at as usize]), "{range:?}");
            assert!(map.is_whole() && map.lost().is_none());
        }
        assert!(LiveMap::new(&file, 5..5).is_err());
    }

    #[test]
    fn what_was_cut_off_is_zero_and_told() {
        let file = file(&numbered(8));
        let end = 8 * page() as u64;
        for (kept, lost) in [(end, None), (page() as u64 * 5, Some(5)), (10, Some(1)), (0, Some(0))]
        {
            let map = LiveMap::new(&file, 0..end).unwrap();
            file.set_len(kept).unwrap();
            // From the back, so that the place moves to the front.
            for at in (0..end).rev() {
                let expected = if at < kept { at as usize / page() + 1 } else { 0 };
                assert_eq!(byte(&map, at), expected as u8, "{at} of {kept}");
            }
            assert_eq!(map.lost(), lost.map(|pages| pages * page() as u64), "{kept}");
            assert_eq!(map.is_whole(), lost.is_none());
        }
    }

    #[test]
    fn threads_and_maps_lose_what_is_theirs() {
        let files = [file(&numbered(64)), file(&numbered(64))];
        let end = 64 * page() as u64;
        for _ in 0..20 {
            files.iter().for_each(|file| file.set_len(end).unwrap());
            let maps = files.each_ref().map(|file| LiveMap::new(file, 0..end).unwrap());
            files[0].set_len(end / 2).unwrap();
            std::thread::scope(|scope| {
                for start in 0..4 {
                    let maps = &maps;
                    scope.spawn(move || {
                        for at in (start..end).step_by(1000) {
                            assert!(byte(&maps[0], at) == 0 || at < end / 2);
                            byte(&maps[1], at);
                        }
                    });
                }
            });
            assert_eq!((maps[0].lost(), maps[1].lost()), (Some(end / 2), None));
        }
    }

    #[test]
    fn memory_is_let_go() {
        let file = file(&numbered(100));
        let end = 100 * page() as u64;
        let map = LiveMap::new(&file, 0..end).unwrap();
        let resident = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let own = maps.split_once(&format!("{:x}-", map.start)).unwrap().1;
            let line = own.lines().find_map(|line| line.strip_prefix("Rss:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
        };
        assert_eq!((0..end).map(|at| usize::from(byte(&map, at) == 0)).sum::<usize>(), 0);
        assert_eq!(resident(), 100 * page());
        map.forget(0..end / 2);
        assert_eq!(resident(), 50 * page());
        map.forget(0..end);
        assert_eq!(resident(), 0);
    }

    /// How this test ends in a process of its own, in which `FATHOM_LIVE` has the word.
    fn ended(test: &str, word: &str) -> ExitStatus {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([&format!("os::live::tests::{test}"), "--exact", "--nocapture"]);
        command.env("FATHOM_LIVE", word).output().unwrap().status
    }

    /// Touches a map that is none of ours, and has no file.
    fn fault() {
        let file = file(&numbered(2));
        let flags = MapFlags::SHARED;
        // SAFETY: a new mapping; the process ends by what is read from it, or by its handler.
        unsafe {
            let at = mmap(ptr::null_mut(), 2 * page(), ProtFlags::READ, flags, &file, 0).unwrap();
            file.set_len(0).unwrap();
            let _ = at.cast::<u8>().read_volatile();
        }
    }

    extern "C" fn leave(_: c_int) {
        std::process::exit(42);
    }

    extern "C" fn leave_with(_: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: as the kernel gives it.
        std::process::exit(if unsafe { (*info).si_signo } == libc::SIGBUS { 43 } else { 1 });
    }

    fn handle(handler: usize, flags: c_int) {
        let mut action = default_action();
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        // SAFETY: these handlers end the process.
        assert_eq!(unsafe { libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) }, 0);
    }

    fn mapped() -> io::Result<LiveMap> {
        let file = file(&numbered(3));
        let map = LiveMap::new(&file, 0..3 * page() as u64)?;
        file.set_len(0)?;
        assert_eq!((byte(&map, 0), map.lost()), (0, Some(0)));
        Ok(map)
    }

    /// What the process does that is told a word.
    fn act(word: &str) {
        match word {
            "nobody" | "sent" => handle(libc::SIG_DFL, 0),
            "ignored" => handle(libc::SIG_IGN, 0),
            "plain" => handle(leave as extern "C" fn(c_int) as usize, 0),
            "informed" => {
                let handler = leave_with as extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
                handle(handler as usize, libc::SA_SIGINFO);
            }
            _ => {}
        }
        let map = mapped().unwrap();
        match word {
            "sent" => {
                // SAFETY: a signal to this thread.
                unsafe { libc::raise(libc::SIGBUS) };
            }
            "later" => {
                handle(leave as extern "C" fn(c_int) as usize, 0);
                let refused = mapped().is_err_and(|why| why.kind() == io::ErrorKind::Unsupported);
                std::process::exit(if refused { 44 } else { 1 });
            }
            "given back" => {
                let at = map.address(0);
                drop(map);
                let file = file(&numbered(3));
                // SAFETY: addresses that were just given back, and are nobody's.
                unsafe {
                    let flags = MapFlags::SHARED | MapFlags::FIXED;
                    let again = mmap(at as *mut c_void, page(), ProtFlags::READ, flags, &file, 0);
                    file.set_len(0).unwrap();
                    let _ = again.unwrap().cast::<u8>().read_volatile();
                }
            }
            _ => fault(),
        }
        std::process::exit(0);
    }

    #[test]
    fn signals_of_others_do_what_they_did() {
        const NAME: &str = "signals_of_others_do_what_they_did";
        if let Ok(word) = std::env::var("FATHOM_LIVE") {
            return act(&word);
        }
        for word in ["nobody", "ignored", "", "sent", "given back"] {
            assert_eq!(ended(NAME, word).signal(), Some(libc::SIGBUS), "{word}");
        }
        for (word, code) in [("plain", 42), ("informed", 43), ("later", 44)] {
            assert_eq!(ended(NAME, word).code(), Some(code), "{word}");
        }
    }
}
