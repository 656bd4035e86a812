//! The kernel's `perf_event_open`: the attribute, the call, and what its refusals mean.
//!
//! One function opens one event and says in words why it could not. Whom an event counts and how
//! events are grouped is decided one floor up.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::event::Event;
use super::page::{Page, Raw, Registers};
use crate::arch::{cycle, pmc};

/// The first 72 bytes of the kernel's `struct perf_event_attr` (PERF_ATTR_SIZE_VER1): every kernel
/// since 2.6.33 takes them, and nothing newer is needed.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    config1: u64,
    config2: u64,
}

const READ_ENABLED: u64 = 1 << 0;
const READ_RUNNING: u64 = 1 << 1;
const READ_GROUP: u64 = 1 << 3;

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;

const SAMPLE_ADDRESS: u64 = 1 << 0;
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// Whom an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// The calling thread, from now on.
    Thread,
    /// The calling thread, and threads and processes it starts from now on.
    Family,
    /// The next program the calling thread starts, and those it starts, from its `exec` on.
    Command,
}

/// Which part of the machine an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// User and kernel mode.
    All,
    /// User mode only.
    User,
}

/// Why an event is not counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The machine has no such event.
    Absent {
        /// Whether the processor says it is virtual: then the hypervisor offers no counters.
        is_virtual: bool,
    },
    /// This user may not count it.
    Forbidden {
        /// The value of `/proc/sys/kernel/perf_event_paranoid`, if readable.
        paranoid: Option<i32>,
    },
    /// The event exists, what was asked of it does not.
    NoSuchMode,
    /// The event is listed but dead, or the kernel does not know the code.
    Invalid,
    /// This kernel has no performance events, or a filter hides them.
    NoKernelSupport,
    /// Too many open files.
    TooManyOpen,
    /// It was opened but the kernel never put it on the processor in the time measured.
    NeverRan,
    /// Any other answer of the kernel, by number.
    Other(i32),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Absent { is_virtual: true } => f.write_str(
                "not available here: this virtual machine does not pass the processor's counters on",
            ),
            Reason::Absent { is_virtual: false } => {
                f.write_str("not available here: the machine has no such event")
            }
            Reason::Forbidden { paranoid: Some(level) } if *level > 1 => write!(
                f,
                "not permitted: kernel.perf_event_paranoid is {level}; \
                 `sysctl kernel.perf_event_paranoid=1` (as root) or CAP_PERFMON allows it"
            ),
            Reason::Forbidden { .. } => f.write_str(
                "not permitted: a container's system-call filter or a security module refuses; \
                 CAP_PERFMON and a profile that allows perf_event_open are needed",
            ),
            Reason::NoSuchMode => {
                f.write_str("the event exists, but not in the mode asked for on this processor")
            }
            Reason::Invalid => f.write_str("the kernel lists no such event, or lists it but cannot count it"),
            Reason::NoKernelSupport => {
                f.write_str("this kernel has no performance events, or a filter hides them")
            }
            Reason::TooManyOpen => f.write_str("too many open files: raise `ulimit -n`"),
            Reason::NeverRan => {
                f.write_str("opened, but never got a turn on the processor's counters")
            }
            Reason::Other(code) => write!(f, "{}", io::Error::from_raw_os_error(*code)),
        }
    }
}

impl Reason {
    fn of(error: &io::Error) -> Reason {
        match error.raw_os_error().unwrap_or(0) {
            libc::ENOENT | libc::ENODEV => Reason::Absent { is_virtual: pmc::is_virtual() },
            libc::EACCES => Reason::Forbidden { paranoid: paranoid() },
            // So answers a filter, and never the setting.
            libc::EPERM => Reason::Forbidden { paranoid: None },
            libc::EOPNOTSUPP => Reason::NoSuchMode,
            libc::EINVAL => Reason::Invalid,
            libc::ENOSYS => Reason::NoKernelSupport,
            libc::EMFILE | libc::ENFILE => Reason::TooManyOpen,
            code => Reason::Other(code),
        }
    }
}

fn paranoid() -> Option<i32> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// One open event.
#[derive(Debug)]
pub(crate) struct Opened {
    file: OwnedFd,
    page: Option<Mapped>,
    pub(crate) mode: Mode,
}

impl Opened {
    /// Opens `event`, within the group of `leader` where there is one; user and kernel mode where
    /// that is permitted, else user mode only.
    pub(crate) fn new(
        event: &Event,
        whom: Whom,
        leader: Option<&Opened>,
        wanted: Mode,
    ) -> Result<Opened, Reason> {
        let mut attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            read_format: READ_ENABLED | READ_RUNNING,
            ..Attributes::default()
        };
        match whom {
            Whom::Thread => attributes.read_format |= READ_GROUP,
            Whom::Family => attributes.flags |= INHERIT,
            Whom::Command => attributes.flags |= DISABLED | INHERIT | ENABLE_ON_EXEC,
        }
        let (file, mode) = with_access(attributes, event, whom, leader, wanted)?;
        let page = match whom {
            Whom::Thread => Mapped::new(&file, 1),
            Whom::Family | Whom::Command => None,
        };
        Ok(Opened { file, page, mode })
    }

    /// Count and times of every event of the group this one leads, in order of opening: the
    /// leader's first. `false` where the kernel would not say; `into` is then unchanged.
    pub(crate) fn read_group(&self, into: &mut [Raw]) -> bool {
        // Count of events, enabled, running, then a value each.
        let mut words = [0u64; 3 + LARGEST_GROUP];
        let wanted = 3 + into.len();
        if !self.read_words(&mut words[..wanted]) || words[0] != into.len() as u64 {
            return false;
        }
        for (raw, &value) in into.iter_mut().zip(&words[3..]) {
            *raw = Raw { value, enabled_ns: words[1], running_ns: words[2] };
        }
        true
    }

    /// Count and times of an event that leads no group.
    pub(crate) fn read_alone(&self) -> Option<Raw> {
        let mut words = [0u64; 3];
        let is_read = self.read_words(&mut words);
        let [value, enabled_ns, running_ns] = words;
        is_read.then_some(Raw { value, enabled_ns, running_ns })
    }

    fn read_words(&self, words: &mut [u64]) -> bool {
        // SAFETY: the pointer and length are those of a live slice of integers.
        let got = unsafe {
            libc::read(self.file.as_raw_fd(), words.as_mut_ptr().cast(), size_of_val(words))
        };
        usize::try_from(got) == Ok(size_of_val(words))
    }

    /// The count without a system call, where the kernel allows it and the event is on the
    /// processor. Of the thread that opened the event only: `Counters` stays on it.
    #[inline]
    pub(crate) fn read_in_user_space(&self) -> Option<Raw> {
        if pmc::READABLE { self.page.as_ref()?.page().read(&Hardware) } else { None }
    }

    /// The page's register number and width, if the kernel allows reading it.
    pub(crate) fn register(&self) -> Option<(u32, u16)> {
        let page = self.page.as_ref()?.page();
        page.is_open().then(|| page.register())
    }
}

/// As many events as one group may have here.
pub(crate) const LARGEST_GROUP: usize = 16;

/// Tries what is wanted, then less: without user-space reads, then without kernel mode.
fn with_access(
    attributes: Attributes,
    event: &Event,
    whom: Whom,
    leader: Option<&Opened>,
    wanted: Mode,
) -> Result<(OwnedFd, Mode), Reason> {
    let modes: &[Mode] = match wanted {
        Mode::All => &[Mode::All, Mode::User],
        Mode::User => &[Mode::User],
    };
    let mut refusal = Reason::Invalid;
    for &mode in modes {
        if mode == Mode::User && event.in_kernel {
            break; // would open, and count nothing
        }
        let mut attributes = attributes;
        if mode == Mode::User {
            attributes.flags |= EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
        }
        for config1 in user_access(event, whom) {
            match open(&Attributes { config1: *config1, ..attributes }, leader) {
                Ok(file) => return Ok((file, mode)),
                Err(error) => refusal = Reason::of(&error),
            }
        }
        if !matches!(refusal, Reason::Forbidden { .. }) {
            break;
        }
    }
    Err(refusal)
}

/// AArch64 wants user-space reads requested at opening (config1 bit 1), and 64 bits for the cycle
/// counter (bit 0), which an event counter of an older core refuses. Elsewhere config1 says nothing.
fn user_access(event: &Event, whom: Whom) -> &'static [u64] {
    if !cfg!(target_arch = "aarch64")
        || whom != Whom::Thread
        || event.source() != super::event::Source::Hardware
    {
        &[0]
    } else if event.is_cycles() {
        &[3, 0]
    } else {
        &[2, 0]
    }
}

fn open(attributes: &Attributes, leader: Option<&Opened>) -> io::Result<OwnedFd> {
    let group = leader.map_or(-1, |leader| leader.file.as_raw_fd());
    let (this_thread, any_processor) = (0, -1);
    // SAFETY: the attribute is a live struct of the layout and size it states; the other arguments
    // are numbers. The kernel keeps no pointer.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            ptr::from_ref(attributes),
            this_thread,
            any_processor,
            group,
            CLOSE_ON_EXEC,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, for us.
    Ok(unsafe { OwnedFd::from_raw_fd(answer as i32) })
}

/// The registers of this processor.
struct Hardware;

impl Registers for Hardware {
    #[inline(always)]
    fn count(&self, index: u32) -> u64 {
        // SAFETY: `Page::read` passes an index only when the page publishes it with the right to
        // read, and the page is that of an event of this thread (`Counters` is not Send).
        unsafe { pmc::read(index) }
    }

    #[inline(always)]
    fn ticks(&self) -> u64 {
        cycle::ticks()
    }
}

/// The kernel's page of an event, and for a sampled event the ring after it.
#[derive(Debug)]
struct Mapped {
    at: NonNull<u8>,
    len: usize,
}

impl Mapped {
    fn new(file: &OwnedFd, pages: usize) -> Option<Mapped> {
        let len = pages * rustix::param::page_size();
        // The kernel takes a writable mapping of a ring as the promise to move its tail.
        let access = if pages > 1 { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing else.
        let at = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }.ok()?;
        Some(Mapped { at: NonNull::new(at.cast())?, len })
    }

    fn page(&self) -> &Page {
        // SAFETY: the mapping starts with the kernel's page, is page-aligned, lives as long as
        // `self`, and every field is an atomic, so the kernel may write meanwhile.
        unsafe { self.at.cast().as_ref() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by us, unmapped only here, and nothing borrowed from it outlives `self`.
        let _ = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
    }
}

/// An event whose overflows leave an address each: where the thread was, every so many events.
#[derive(Debug)]
pub struct Sampler {
    file: OwnedFd,
    ring: Mapped,
}

/// What a [`Sampler`] collected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The instruction's address at each overflow, in order.
    pub addresses: Vec<u64>,
    /// Overflows for which the ring had no room.
    pub lost: u64,
}

impl Sampler {
    /// Samples the calling thread's user mode every `period` events, from now until
    /// [`finish`](Sampler::finish). `ring_pages` is a power of two; a page holds about 250 samples.
    ///
    /// # Errors
    /// The reason why the event cannot be sampled here.
    pub fn start(event: &Event, period: u64, ring_pages: usize) -> Result<Sampler, Reason> {
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            sample_period: period,
            sample_type: SAMPLE_ADDRESS,
            flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        };
        let file = open(&attributes, None).map_err(|error| Reason::of(&error))?;
        let ring = Mapped::new(&file, 1 + ring_pages)
            .ok_or_else(|| Reason::of(&io::Error::last_os_error()))?;
        Ok(Sampler { file, ring })
    }

    /// Stops, and hands over what the ring holds.
    pub fn finish(self) -> Samples {
        const DISABLE: libc::c_ulong = 0x2401;
        // SAFETY: a live descriptor and a request that takes no pointer.
        unsafe { libc::ioctl(self.file.as_raw_fd(), DISABLE as _, 0) };
        let page = rustix::param::page_size();
        // SAFETY: the first page holds the ring's head at byte 1024 (kernel header), aligned; the
        // kernel writes it atomically.
        let head =
            unsafe { self.ring.at.add(1024).cast::<std::sync::atomic::AtomicU64>().as_ref() };
        let written = head.load(std::sync::atomic::Ordering::Acquire) as usize;
        let size = self.ring.len - page;
        let written = written.min(size); // the kernel stops at the tail, which was never moved
        // SAFETY: the ring follows the first page; the event is disabled, so nobody writes it any
        // more, and `written` bytes of it are initialised.
        let bytes = unsafe { std::slice::from_raw_parts(self.ring.at.add(page).as_ptr(), written) };
        records(bytes)
    }
}

/// Reads the records of a ring that never wrapped: header of kind (u32), flags (u16), size (u16).
fn records(mut bytes: &[u8]) -> Samples {
    const LOST: u32 = 2;
    const SAMPLE: u32 = 9;
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).map_or(0, |b| u64::from_ne_bytes(b.try_into().expect("eight bytes")))
    };
    let mut samples = Samples::default();
    while bytes.len() >= 8 {
        let kind = u32::from_ne_bytes(bytes[..4].try_into().expect("four bytes"));
        let size = usize::from(u16::from_ne_bytes(bytes[6..8].try_into().expect("two bytes")));
        match kind {
            SAMPLE => samples.addresses.push(word(bytes, 8)),
            LOST => samples.lost += word(bytes, 16),
            _ => {}
        }
        if size < 8 || size > bytes.len() {
            break;
        }
        bytes = &bytes[size..];
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_says_what_to_do() {
        let sentence = |code| Reason::of(&io::Error::from_raw_os_error(code)).to_string();
        assert!(sentence(libc::ENOENT).starts_with("not available here"));
        assert!(sentence(libc::EPERM).starts_with("not permitted"));
        assert!(sentence(libc::EACCES).starts_with("not permitted"));
        assert!(sentence(libc::EMFILE).contains("ulimit"));
        assert!(sentence(libc::ENOSYS).contains("kernel"));
        assert!(sentence(libc::EOPNOTSUPP).contains("mode"));
        assert!(sentence(libc::EBUSY).contains("os error 16"));
        let debian = Reason::Forbidden { paranoid: Some(3) }.to_string();
        assert!(debian.contains("perf_event_paranoid is 3"), "{debian}");
        let container = Reason::Forbidden { paranoid: Some(-1) }.to_string();
        assert!(container.contains("filter"), "{container}");
    }

    #[test]
    fn ring_records_are_read_and_a_torn_one_ends_them() {
        let mut ring = Vec::new();
        let mut record = |kind: u32, words: &[u64]| {
            ring.extend_from_slice(&kind.to_ne_bytes());
            ring.extend_from_slice(&0u16.to_ne_bytes());
            ring.extend_from_slice(&(8 + 8 * words.len() as u16).to_ne_bytes());
            words.iter().for_each(|w| ring.extend_from_slice(&w.to_ne_bytes()));
        };
        record(9, &[0x1000]);
        record(2, &[77, 5]);
        record(3, &[1, 2, 3]);
        record(9, &[0x2000]);
        let expected = Samples { addresses: vec![0x1000, 0x2000], lost: 5 };
        assert_eq!(records(&ring), expected);
        assert_eq!(records(&ring[..ring.len() - 1]).addresses.len(), 2);
        ring.extend_from_slice(&[0; 8]);
        assert_eq!(records(&ring), expected);
    }
}
