//! Bytes that are read at offsets, by several threads at once: of a file, or of what can be asked the
//! same way.
//!
//! Nothing here reads ahead: who can be told what is going to be read, and may.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// What can be read in any order.
pub trait ReadAt: Send + Sync {
    /// Reads some bytes from byte `at` on; none at the end only.
    ///
    /// # Errors
    /// What could not be read.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// Hears that these bytes are going to be read, about in their order and behind those it heard of
    /// before: a hint for whom asking takes long.
    fn expect(&self, _range: Range<u64>) {}

    /// The file itself, if it is one: then it can be mapped.
    fn file(&self) -> Option<&File> {
        None
    }

    /// Fills a slice from byte `at` on.
    ///
    /// # Errors
    /// What could not be read; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) at the end.
    fn read_exact_at(&self, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
        while !into.is_empty() {
            match self.read_at(into, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => (into, at) = (&mut into[read..], at + read as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for File {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, into, at)
    }

    fn file(&self) -> Option<&File> {
        Some(self)
    }
}

/// A file as it was when it was opened: what is appended later is not there, and what was cut off is an error.
pub struct AsOpened {
    file: File,
    size: u64,
}

impl AsOpened {
    /// Of a file that has `size` bytes now.
    pub fn new(file: File, size: u64) -> AsOpened {
        AsOpened { file, size }
    }
}

impl ReadAt for AsOpened {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        let most = left.min(into.len());
        match FileExt::read_at(&self.file, &mut into[..most], at)? {
            0 if most > 0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the file shrank while it was read: it had {} bytes", self.size),
            )),
            read => Ok(read),
        }
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

/// The same bytes from the first to the last.
pub struct Forward {
    bytes: Box<dyn ReadAt>,
    at: u64,
    /// Up to where they were said to be read.
    expected: u64,
}

/// How far ahead of itself a reader says that it will read, at most.
const MOST_AHEAD_BYTES: u64 = 64 << 20;

impl Forward {
    /// A reader at the first byte.
    pub fn new(bytes: Box<dyn ReadAt>) -> Forward {
        Forward { bytes, at: 0, expected: 0 }
    }
}

impl Read for Forward {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // As far ahead as it has come: of many that are opened, most may be read a little only.
        let ahead = self.at.min(MOST_AHEAD_BYTES);
        if self.expected < self.at + ahead / 2 {
            let from = self.expected.max(self.at);
            self.expected = self.at + ahead;
            self.bytes.expect(from..self.expected);
        }
        let read = self.bytes.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rustix::fs::{MemfdFlags, memfd_create};

    use super::*;

    /// Gives three bytes at a time, and notes what it hears.
    struct Slow(Vec<u8>, Mutex<Vec<Range<u64>>>);

    impl ReadAt for Slow {
        fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
            let rest = &self.0[(at as usize).min(self.0.len())..];
            let read = rest.len().min(into.len()).min(3);
            into[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        }

        fn expect(&self, range: Range<u64>) {
            self.1.lock().unwrap().push(range);
        }
    }

    #[test]
    fn portions_are_put_together_and_the_end_is_told() {
        let text: Vec<u8> = (0..200).collect();
        let slow = || Box::new(Slow(text.clone(), Mutex::default()));
        let mut some = [0; 50];
        slow().read_exact_at(&mut some, 149).unwrap();
        assert_eq!(some, text[149..199]);
        let error = slow().read_exact_at(&mut some, 151).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let mut all = Vec::new();
        Forward::new(slow()).read_to_end(&mut all).unwrap();
        assert_eq!(all, text);
    }

    #[test]
    fn a_file_is_read_as_it_was_opened() {
        let file = File::from(memfd_create("opened", MemfdFlags::CLOEXEC).unwrap());
        file.write_all_at(b"0123456789", 0).unwrap();
        let opened = || Box::new(AsOpened::new(file.try_clone().unwrap(), 10));
        let all = |opened| {
            let mut all = Vec::new();
            Forward::new(opened).read_to_end(&mut all).map(|_| all)
        };
        file.write_all_at(b"abc", 10).unwrap();
        assert_eq!(all(opened()).unwrap(), b"0123456789", "what was appended is not there");
        assert_eq!(opened().read_at(&mut [0; 4], 12).unwrap(), 0);
        file.set_len(9).unwrap();
        let error = all(opened()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(error.to_string(), "the file shrank while it was read: it had 10 bytes");
        assert!(opened().read_exact_at(&mut [0; 10], 0).is_err());
        opened().read_exact_at(&mut [0; 9], 0).unwrap();
    }

    #[test]
    fn what_is_expected_is_expected_once_and_in_order() {
        struct Shared(std::sync::Arc<Slow>);
        impl ReadAt for Shared {
            fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
                self.0.read_at(into, at)
            }
            fn expect(&self, range: Range<u64>) {
                self.0.expect(range);
            }
        }
        let slow = std::sync::Arc::new(Slow(vec![7; 5000], Mutex::default()));
        io::copy(&mut Forward::new(Box::new(Shared(slow.clone()))), &mut io::sink()).unwrap();
        let heard = slow.1.lock().unwrap();
        assert!(heard.len() > 4 && heard.iter().all(|range| range.start < range.end), "{heard:?}");
        assert!(heard.windows(2).all(|two| two[0].end <= two[1].start), "{heard:?}");
    }
}
