//! Input that ends in an error: the run ends with it, says where, and gives no result.

use std::io::{self, Read};

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
        let rows = ROW.iter().cycle().skip(at as usize % ROW.len());
        into[..bytes].iter_mut().zip(rows).for_each(|(to, byte)| *to = *byte);
        Ok(bytes)
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
            assert!(chunks <= 1 + threads, "{byte} of {left}");
        }
    }
}
