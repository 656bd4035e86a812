//! Other processes as their starter sees them: where they run, how much memory they may have, how
//! their groups are ended. Starting and waiting is [`ward`](super::ward)'s business.

use std::io;

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getppid, kill_process_group, prlimit,
    set_parent_process_death_signal,
};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Binds the main thread of `child`, and what it starts from now on, to processor `cpu`.
///
/// # Errors
/// `InvalidInput` when there is no such processor, otherwise what the operating system answers.
pub fn pin(child: u32, cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(Some(raw_id(child)?), &set)?)
}

/// Lets `child` have at most `bytes` of private writable memory; an allocation beyond that fails
/// inside it. Address space that is only reserved, and files mapped for reading, do not count.
///
/// # Errors
/// What the operating system answers.
pub fn limit_memory(child: u32, bytes: u64) -> io::Result<()> {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    prlimit(Some(raw_id(child)?), Resource::Data, limit)?;
    Ok(())
}

/// Ends all in the process group that `id` leads, at once. Call it only while that process cannot
/// have been waited for yet, or the number may be another's.
///
/// # Errors
/// What the operating system answers; that all have ended already is no error.
pub(super) fn kill_group_of(id: u32) -> io::Result<()> {
    match kill_process_group(raw_id(id)?, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Asks that the calling process be ended when the thread that started it ends, so that a worker
/// never outlives its conductor.
///
/// # Errors
/// What the operating system answers.
pub fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Asks that the calling process be told to terminate when its parent ends, if that has this number: whoever inherited
/// the request from another process is left alone.
///
/// # Errors
/// What the operating system answers.
pub fn follow(parent: u32) -> io::Result<()> {
    let is_ours =
        || getppid().map(Pid::as_raw_nonzero) == raw_id(parent).ok().map(Pid::as_raw_nonzero);
    if !is_ours() {
        return Ok(());
    }
    set_parent_process_death_signal(Some(Signal::TERM))?;
    if is_ours() { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}

/// Whose process this is.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Memory the machine could give to new programs without swapping, in bytes; `None` without procfs.
pub fn available_bytes() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

pub(super) fn raw_id(id: u32) -> io::Result<Pid> {
    Pid::from_raw(id.cast_signed()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::os::affinity;

    fn sleeper() -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 100 & wait"]).process_group(0).stdout(Stdio::null());
        command.spawn().unwrap()
    }

    #[test]
    fn a_group_ends_as_one() {
        let mut child = sleeper();
        kill_group_of(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn limits_and_places_are_accepted_for_a_child() {
        let mut child = sleeper();
        pin(child.id(), affinity::allowed().unwrap()[0]).unwrap();
        limit_memory(child.id(), 1 << 30).unwrap();
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
        assert!(limits.contains("1073741824"), "{limits}");
        assert_eq!(pin(child.id(), usize::MAX).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        kill_group_of(child.id()).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn memory_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal: 5 kB\nMemAvailable:   16 kB\n";
        assert_eq!(available_in(text), Some(16_384));
        assert_eq!(available_in("MemTotal: 5 kB"), None);
    }
}
