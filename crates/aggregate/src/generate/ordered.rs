//! Blocks filled by several threads, written in their order.
//!
//! Each worker takes the next block number from a counter, fills its own buffer without looking at
//! anybody, and waits for its block's turn to write. At most one buffer per worker exists, whatever
//! the size of the output.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Fills blocks `0..blocks` with `fill`, which returns how many bytes of the buffer count, and
/// writes them in order. Returns the bytes written.
///
/// # Errors
/// The first error of the output; blocks after it are not written.
pub(super) fn write_blocks(
    threads: usize,
    blocks: u64,
    fill: impl Fn(u64, &mut Vec<u8>) -> usize + Sync,
    out: &mut (dyn Write + Send),
) -> io::Result<u64> {
    let state = Mutex::new(State { turn: 0, bytes: 0, end: None, out });
    let line = Line { state, moved: Condvar::new() };
    let counter = AtomicU64::new(0);
    let work = || {
        let _watch = Watch(&line);
        let mut buffer = Vec::new();
        loop {
            let block = counter.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                break;
            }
            let length = fill(block, &mut buffer);
            if !line.write(block, &buffer[..length]) {
                break;
            }
        }
    };
    thread::scope(|scope| {
        let workers = usize::try_from(blocks).unwrap_or(usize::MAX).min(threads.max(1));
        for _ in 1..workers {
            // With fewer threads it takes longer.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let state = line.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.end {
        Some(Err(error)) => Err(error),
        _ => Ok(state.bytes),
    }
}

/// The queue before the output.
struct Line<'a> {
    state: Mutex<State<'a>>,
    moved: Condvar,
}

struct State<'a> {
    /// The block that may write now.
    turn: u64,
    bytes: u64,
    /// Set when nobody may write any more.
    end: Option<io::Result<()>>,
    out: &'a mut (dyn Write + Send),
}

impl<'a> Line<'a> {
    /// Writes a block when it is its turn; false when the work has ended before.
    fn write(&self, block: u64, bytes: &[u8]) -> bool {
        let mut state = self.lock();
        while state.turn != block && state.end.is_none() {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.end.is_some() {
            return false;
        }
        match state.out.write_all(bytes) {
            Ok(()) => {
                state.turn += 1;
                state.bytes += bytes.len() as u64;
            }
            Err(error) => state.end = Some(Err(error)),
        }
        self.moved.notify_all();
        state.end.is_none()
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        // Poison means that the output panicked; `Watch` ends the work then.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the work for all when its worker panics, so that nobody waits for the block it held.
struct Watch<'a, 'b>(&'a Line<'b>);

impl Drop for Watch<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().end.get_or_insert(Ok(()));
            self.0.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u64, buffer: &mut Vec<u8>) -> usize {
        *buffer = format!("{number} ").into_bytes();
        buffer.len()
    }

    #[test]
    fn blocks_come_in_order_whatever_the_number_of_threads() {
        let expected: String = (0..500).map(|n| format!("{n} ")).collect();
        for threads in [0, 1, 2, 7] {
            let mut out = Vec::new();
            let bytes = write_blocks(threads, 500, block, &mut out).unwrap();
            assert_eq!(out, expected.as_bytes());
            assert_eq!(bytes, expected.len() as u64);
        }
        assert_eq!(write_blocks(3, 0, block, &mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn an_output_that_fails_ends_the_work_with_its_error() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write_blocks(3, u64::MAX, block, &mut Full(1000)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_worker_that_panics_leaves_nobody_waiting() {
        let ended = std::panic::catch_unwind(|| {
            let fill = |number, buffer: &mut Vec<u8>| {
                assert!(number != 20, "the panic of this test");
                block(number, buffer)
            };
            write_blocks(3, 100, fill, &mut Vec::new())
        });
        assert!(ended.is_err());
    }
}
