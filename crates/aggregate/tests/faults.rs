//! Input that ends in an error: the run ends with it, says where, and gives no result.

use std::io::{self, Read};
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};

use fathom_aggregate::{Error, OnError, Options, Progress, Source, aggregate};
use fathom_machine::os::read_at::ReadAt;

const ROW: &[u8] = b"Oslo;1.5\n";

const CHUNK_BYTES: usize = 4096;

/// Rows without end, and an error after `left` bytes.
struct Failing {
    left: usize,
}

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("the cable was pulled"));
        }
        let bytes = into.len().min(self.left).min(ROW.len());
        into[..bytes].copy_from_slice(&ROW[..bytes]);
        self.left -= bytes;
        Ok(bytes)
    }
}

impl ReadAt for Failing {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let left = self.left.saturating_sub(at as usize);
        if left == 0 {
            return Err(io::Error::other("the cable was pulled"));
        }
        let bytes = into.len().min(left);
        fill(&mut into[..bytes], at);
        Ok(bytes)
    }
}

/// Rows as they are from a byte on.
fn fill(into: &mut [u8], at: u64) {
    let rows = ROW.iter().cycle().skip(at as usize % ROW.len());
    into.iter_mut().zip(rows).for_each(|(to, byte)| *to = *byte);
}

/// A file for two threads: what the one that was started asks for first cannot be read, which it hears once the other,
/// the caller, was given what lies behind.
struct Overtaken {
    caller: ThreadId,
    /// Whether the caller cannot read that either; otherwise it is no row.
    breaks: bool,
    /// The byte the started thread asked for, and whether the caller is behind it.
    state: Mutex<(Option<u64>, bool)>,
    changed: Condvar,
}

impl ReadAt for Overtaken {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        if thread::current().id() != self.caller {
            state.0 = state.0.or(Some(at));
            self.changed.notify_all();
            drop(self.changed.wait_while(state, |state| !state.1).unwrap());
            return Err(io::Error::other("before"));
        }
        state = self.changed.wait_while(state, |state| state.0.is_none()).unwrap();
        fill(into, at);
        if state.0 < Some(at) {
            state.1 = true;
            self.changed.notify_all();
            if self.breaks {
                return Err(io::Error::other("behind"));
            }
            into.iter_mut().filter(|byte| **byte == b';').for_each(|byte| *byte = b',');
        }
        Ok(into.len())
    }
}

/// The error of a run on `source`, whose name is `cable`: the byte.
fn failed(source: Source, threads: usize) -> u64 {
    let options = Options { threads, chunk_bytes: CHUNK_BYTES, ..Options::default() };
    let progress = Progress::default();
    let error = aggregate(vec![source], &options, OnError::Fail, &progress).unwrap_err();
    let Error::Read { byte, .. } = error else { panic!("{error}") };
    let said = format!("cable: cannot read at byte {byte}: the cable was pulled");
    assert_eq!(error.to_string(), said);
    byte
}

#[test]
fn a_stream_that_breaks_half_way_is_an_error_with_its_byte() {
    for left in [0, 9, 9 * 1000, 9 * 100_000] {
        for threads in [1, 2] {
            let reader = Box::new(Failing { left });
            let source = Source::Stream { path: "cable".into(), reader };
            assert_eq!(failed(source, threads), left as u64);
        }
    }
}

#[test]
fn a_file_that_breaks_half_way_is_an_error_with_the_byte_it_was_read_from() {
    for left in [0, 9, 9 * 1000, 9 * 100_000] {
        for threads in [1, 2] {
            let size = (left + 9 * 10_000) as u64;
            let file = Box::new(Failing { left });
            let source = Source::File { path: "cable".into(), file, size };
            // A chunk is read at once, with a little around it.
            let byte = failed(source, threads);
            let chunks = left.abs_diff(byte as usize).div_ceil(CHUNK_BYTES);
            assert!(chunks <= 2, "{byte} of {left}");
        }
    }
}

/// What lay behind was told, of a record with the number of another line.
#[test]
fn of_what_two_threads_hit_at_once_the_first_in_the_input_is_told() {
    for breaks in [true, false] {
        let (caller, state) = (thread::current().id(), Mutex::default());
        let file = Overtaken { caller, breaks, state, changed: Condvar::new() };
        let source = Source::File { path: "cable".into(), file: Box::new(file), size: 9 * 10_000 };
        let options = Options { threads: 2, chunk_bytes: CHUNK_BYTES, ..Options::default() };
        let progress = Progress::default();
        let error = aggregate(vec![source], &options, OnError::Fail, &progress).unwrap_err();
        assert!(error.to_string().ends_with("before"), "{error}");
    }
}
