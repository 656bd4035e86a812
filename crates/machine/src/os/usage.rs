//! What the operating system says a thread, the process, a child or the whole machine used:
//! switches, faults, migrations, steal, pressure, memory.
//!
//! Readings are totals since the start of whatever they are of; subtract two to get a region's. A
//! figure the kernel does not give is `None`, never 0. Nothing is sampled in the background.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Sub;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// What was used up to now: one `getrusage`, about half a microsecond.
///
/// Its peak of memory is left out: a process begins with that of whoever started it, and keeps it
/// when it runs another program. [`peak_bytes`] does not, nor does [`ward::End`](super::ward::End).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in user mode, in nanoseconds (steps of a microsecond).
    pub user_ns: u64,
    /// Processor time in kernel mode, in nanoseconds (steps of a microsecond).
    pub system_ns: u64,
    /// The processor was given up: waiting for something.
    pub voluntary_switches: u64,
    /// The processor was taken away: somebody else's turn.
    pub involuntary_switches: u64,
    /// Page faults served without reading a device.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
}

impl Sub for Usage {
    type Output = Usage;

    /// What was used between `earlier` and `self`.
    fn sub(self, earlier: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
        }
    }
}

/// The calling thread's usage.
pub fn thread() -> Usage {
    of(libc::RUSAGE_THREAD)
}

/// This process's usage, all threads.
pub fn process() -> Usage {
    of(libc::RUSAGE_SELF)
}

/// The usage of all children that ended and were waited for, and of theirs.
pub fn children() -> Usage {
    of(libc::RUSAGE_CHILDREN)
}

/// Waits until `child` has ended; its number stays its own. `stopped` hears when the kernel stops it because it
/// wants the terminal.
pub(super) fn until_ended(child: &Child, mut stopped: impl FnMut(ExitStatus)) {
    let Some(id) = Pid::from_raw(child.id().cast_signed()) else { return };
    let seen = WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::STOPPED | seen) {
            Ok(Some(status)) if status.stopped() => {
                let signal = status.stopping_signal().unwrap_or_default();
                if [libc::SIGTTIN, libc::SIGTTOU].contains(&signal) {
                    stopped(ExitStatus::from_raw(signal << 8 | 0x7f));
                }
                // Taken note of, so that the next wait waits again.
                let _ = waitid(WaitId::Pid(id), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
            }
            Err(Errno::INTR) => {}
            _ => return,
        }
    }
}

/// Waits for `child` and says what exactly it, and the children it waited for, used.
///
/// # Errors
/// What `wait4` answers; an interrupted wait is taken up again.
pub fn wait(mut child: Child) -> io::Result<(ExitStatus, Usage)> {
    // As `Child::wait` does: a child that reads to the end of its input must be able to see it.
    drop(child.stdin.take());
    let id = child.id().cast_signed();
    let mut status = 0;
    let mut usage = zeroed();
    loop {
        // SAFETY: both pointers are to live locals of the types wait4 writes.
        let answer = unsafe { libc::wait4(id, &raw mut status, 0, &raw mut usage) };
        if answer == id {
            return Ok((ExitStatus::from_raw(status), convert(&usage)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// How often the calling thread was moved to another processor; `None` on a kernel built without
/// scheduler statistics. Reads a file, about ten microseconds: between samples, not inside.
pub fn migrations() -> Option<u64> {
    migrations_in(&told("/proc/thread-self/sched")?)
}

/// The most memory resident since the start, in bytes.
pub fn peak_bytes() -> Option<u64> {
    kilobytes_in(&told("/proc/self/status")?, "VmHWM:")
}

/// What the whole machine's processors lost or waited for, since boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disturbance {
    /// Ticks (10 ms on nearly every kernel) in which the hypervisor ran somebody else, summed over
    /// processors.
    pub steal_ticks: u64,
    /// Microseconds during which at least one runnable thread had no processor; `None` on a kernel
    /// without pressure-stall information.
    pub pressure_us: Option<u64>,
}

/// The machine's disturbance counters now; `None` without procfs.
pub fn disturbance() -> Option<Disturbance> {
    Some(Disturbance {
        steal_ticks: steal_in(&told("/proc/stat")?)?,
        pressure_us: told("/proc/pressure/cpu").and_then(|text| pressure_in(&text)),
    })
}

impl Sub for Disturbance {
    type Output = Disturbance;

    /// What was lost between `earlier` and `self`.
    fn sub(self, earlier: Disturbance) -> Disturbance {
        let pressures = self.pressure_us.zip(earlier.pressure_us);
        Disturbance {
            steal_ticks: self.steal_ticks.saturating_sub(earlier.steal_ticks),
            pressure_us: pressures.map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

fn of(who: i32) -> Usage {
    let mut usage = zeroed();
    // SAFETY: the pointer is to a live local of the type getrusage writes.
    let answer = unsafe { libc::getrusage(who, &raw mut usage) };
    assert_eq!(answer, 0, "getrusage refuses only a wrong `who` or pointer");
    convert(&usage)
}

fn zeroed() -> libc::rusage {
    // SAFETY: rusage is plain integers; all zero is a value.
    unsafe { std::mem::zeroed() }
}

fn convert(usage: &libc::rusage) -> Usage {
    let ns = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
    };
    Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw.cast_unsigned(),
        involuntary_switches: usage.ru_nivcsw.cast_unsigned(),
        minor_faults: usage.ru_minflt.cast_unsigned(),
        major_faults: usage.ru_majflt.cast_unsigned(),
    }
}

/// A text of the kernel, which nobody knows the length of before: in one piece where it fits, not in twenty.
fn told(path: &str) -> Option<String> {
    let mut text = String::with_capacity(8 << 10);
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

fn migrations_in(sched: &str) -> Option<u64> {
    let line = sched.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

fn kilobytes_in(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn steal_in(stat: &str) -> Option<u64> {
    // cpu user nice system idle iowait irq softirq steal guest guest_nice
    let line = stat.lines().find(|line| line.starts_with("cpu "))?;
    line.split_ascii_whitespace().nth(8)?.parse().ok()
}

fn pressure_in(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some "))?;
    line.rsplit("total=").next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::os::memory::{Buffer, Pages};

    #[test]
    fn kernel_texts_are_read_as_written() {
        let sched = "cat (1)\n---\nse.nr_migrations   :    12\nnr_switches : 3";
        assert_eq!(migrations_in(sched), Some(12));
        assert_eq!(migrations_in("nothing of the kind"), None);
        assert_eq!(kilobytes_in("VmPeak:  9 kB\nVmHWM:\t  20 kB\n", "VmHWM:"), Some(20_480));
        assert_eq!(steal_in("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 0 0 0 0 0 0 0 1 0 0"), Some(88));
        assert_eq!(steal_in("cpu  1 2 3"), None);
        let pressure = "some avg10=0.00 avg60=0.09 avg300=0.37 total=7609832\nfull avg10=0 total=1";
        assert_eq!(pressure_in(pressure), Some(7_609_832));
    }

    #[test]
    fn touching_fresh_pages_is_seen_as_faults() {
        let before = thread();
        // Of its own: the allocator may have pages that another test has touched.
        let mut pages = Buffer::new(8 << 20, Pages::Base).unwrap();
        pages.fill(1);
        let used = thread() - before;
        assert!(used.minor_faults > 0, "{used:?} for {} bytes", pages.len());
    }

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let before = thread();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!((thread() - before).voluntary_switches >= 3);
    }

    #[test]
    fn a_child_is_accounted_for_alone() {
        let child = Command::new("sh").args(["-c", "exit 7"]).spawn().unwrap();
        let (status, usage) = wait(child).unwrap();
        assert_eq!(status.code(), Some(7));
        assert!(usage.minor_faults > 0, "{usage:?}");
        let child = Command::new("sh").args(["-c", "kill -9 $$"]).spawn().unwrap();
        assert_eq!(wait(child).unwrap().0.signal(), Some(9));
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "there is no /proc")]
    fn memory_is_known_at_its_peak() {
        assert!(peak_bytes() > Some(0));
        assert!(disturbance().is_some());
    }
}
