//! Files that are written to: those that are open already, and those that must not grow any more.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// What this process has open under a number, once more: both are at the same place of the file.
///
/// # Errors
/// When nothing is open under it.
pub fn opened(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: of no memory; a number that is none is an error.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the copy is new, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// From now on writing beyond `ulimit -f` is an error (`EFBIG`) and does not end the process. It is a handler and not
/// an ignored signal, since programs that are started would inherit that.
pub fn survive_size_limit() {
    extern "C" fn on_signal(_: libc::c_int) {}
    // SAFETY: a handler that does nothing may interrupt anything.
    unsafe { libc::signal(libc::SIGXFSZ, on_signal as extern "C" fn(libc::c_int) as usize) };
}
