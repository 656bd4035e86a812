//! Input that ends in an error: the run ends with it, says where, and gives no result.

use std::io::{self, Read};

use fathom_aggregate::{Error, OnError, Options, Progress, Source, aggregate};

/// Rows without end, and an error after `left` bytes.
struct Failing {
    left: usize,
}

impl Read for Failing {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        const ROW: &[u8] = b"Oslo;1.5\n";
        if self.left == 0 {
            return Err(io::Error::other("the cable was pulled"));
        }
        let bytes = into.len().min(self.left).min(ROW.len());
        into[..bytes].copy_from_slice(&ROW[..bytes]);
        self.left -= bytes;
        Ok(bytes)
    }
}

#[test]
fn a_stream_that_breaks_half_way_is_an_error_with_its_byte() {
    for left in [0, 9, 9 * 1000, 9 * 100_000] {
        for threads in [1, 2] {
            let options = Options { threads, chunk_bytes: 4096, ..Options::default() };
            let reader = Box::new(Failing { left });
            let source = Source::Stream { path: "cable".into(), reader };
            let progress = Progress::default();
            let error = aggregate(vec![source], &options, OnError::Fail, &progress).unwrap_err();
            let Error::Read { path, byte, source } = error else { panic!("{error}") };
            assert_eq!((path.to_str(), byte), (Some("cable"), left as u64));
            assert_eq!(source.to_string(), "the cable was pulled");
        }
    }
}
