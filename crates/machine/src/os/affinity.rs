//! Which processors a thread may run on.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::OnceLock;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors the calling thread may run on, by number, ascending.
///
/// # Errors
/// What the operating system answers when it refuses to say.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// The processor for what this process measures, the same at every call: of those that it may use the last one that
/// no other running process has by this function, or the last one where others have them all.
#[must_use]
pub fn own() -> Option<usize> {
    static OWN: OnceLock<Option<(usize, Option<Claim>)>> = OnceLock::new();
    let first_free = || {
        let allowed = allowed().ok()?;
        let free = allowed.iter().rev().find_map(|&cpu| Some((cpu, Some(Claim::new(cpu)?))));
        free.or(allowed.last().map(|&last| (last, None)))
    };
    OWN.get_or_init(first_free).as_ref().map(|(cpu, _)| *cpu)
}

/// What one process at a time has of a processor: a socket without a file, whose name is free again when the
/// process is gone, however it ended.
struct Claim(#[expect(dead_code, reason = "held, never read")] UnixListener);

impl Claim {
    /// `None` while another has it, or where sockets are refused.
    fn new(cpu: usize) -> Option<Self> {
        let name = SocketAddr::from_abstract_name(format!("fathom processor {cpu}")).ok()?;
        UnixListener::bind_addr(&name).ok().map(Self)
    }
}

/// Binds the calling thread to processor `cpu`.
///
/// # Errors
/// `InvalidInput` when there is no such processor for this process, otherwise what the operating
/// system answers.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinning_leaves_exactly_that_processor() {
        std::thread::spawn(|| {
            let last = *allowed().unwrap().last().unwrap();
            pin(last).unwrap();
            assert_eq!(allowed().unwrap(), [last]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_has_one_owner_at_a_time() {
        // No machine has it.
        let cpu = usize::MAX;
        let claim = Claim::new(cpu);
        assert!(claim.is_some() && Claim::new(cpu).is_none());
        drop(claim);
        assert!(Claim::new(cpu).is_some());
    }

    #[test]
    fn ones_own_processor_is_allowed_and_stays() {
        let own = own().unwrap();
        assert!(allowed().unwrap().contains(&own));
        assert_eq!(super::own(), Some(own));
    }

    #[test]
    fn a_processor_that_cannot_exist_is_refused() {
        assert_eq!(pin(usize::MAX).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
