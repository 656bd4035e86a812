//! The workload of the family: a file, given or made, and the bytes asked for at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fathom_measure::contender::{Preparation, timed};
use fathom_measure::digest::Digest;
use fathom_measure::facts::Facts;
use fathom_measure::scratch::{self, Unnamed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::sum::Sum;
use super::tables;

/// A file to read.
pub struct File {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Bytes asked for at a time: a multiple of 4 KiB.
    pub(super) buffer_bytes: usize,
    /// Keeps a made file until the workload goes.
    _made: Option<Unnamed>,
}

/// The page sizes of every processor we build for divide this.
const UNIT: u64 = 4 << 10;

/// What is special about the family.
pub(super) const FACTS: Facts = Facts { tables: tables::of, ..Facts::NONE };

impl Workload for File {
    const OPERATIONS: &'static [Offer] =
        &[Offer { name: "sum", default: "", doc: "read once and add the bytes up" }];
    const PARAMETERS: &'static [Offer] = &[
        Offer { name: "buffer", default: "256K", doc: "bytes at a time, in steps of 4K" },
        Offer { name: "size", default: "64M", doc: "bytes of the file made when none is given" },
    ];
    const MADE: &'static [&'static str] = &["size"];

    fn load(spec: &Spec) -> Result<File, SpecError> {
        let buffer = spec.number("buffer")?;
        if !(UNIT..=1 << 30).contains(&buffer) || buffer % UNIT != 0 {
            return Err(spec.bad("buffer", "4K to 1G, a multiple of 4K"));
        }
        let failed = |path: &Path, error: io::Error| SpecError::File {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let (path, made) = match &spec.file {
            Some(file) => (file.clone(), None),
            None => {
                let size = spec.number("size")?;
                if size > 1 << 34 {
                    return Err(spec.bad("size", "at most 16G"));
                }
                let made = make(size).map_err(|error| failed(&std::env::temp_dir(), error))?;
                (made.path(), Some(made))
            }
        };
        let data = fs::metadata(&path).map_err(|error| failed(&path, error))?;
        if !data.is_file() {
            return Err(failed(&path, io::Error::other("not a regular file")));
        }
        let buffer_bytes = usize::try_from(buffer).unwrap_or(usize::MAX);
        Ok(File { path, bytes: data.len(), buffer_bytes, _made: made })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, items: 0 }
    }

    fn cases() -> Vec<Spec> {
        ["4K", "16K", "64K", "256K", "1M", "4M", "16M"]
            .map(|buffer| Spec::new("sum", &[("buffer", buffer)]))
            .to_vec()
    }

    fn small_cases() -> Vec<Spec> {
        [("0", "4K"), ("1", "4K"), ("4K", "4K"), ("10001", "4K"), ("300K", "64K"), ("100K", "1M")]
            .map(|(size, buffer)| Spec::new("sum", &[("size", size), ("buffer", buffer)]))
            .to_vec()
    }

    /// Reading is the kernel's work, and one way has a second thread.
    fn leaves_the_thread(&self) -> bool {
        true
    }
}

/// A file of bytes that look random, each run the same.
fn make(bytes: u64) -> io::Result<Unnamed> {
    use io::Write;
    let mut file = scratch::file()?;
    let mut out = io::BufWriter::with_capacity(1 << 20, file.as_file_mut());
    let mut state = 1u64;
    let mut left = bytes;
    while left > 0 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ state >> 29).to_le_bytes();
        let now = left.min(8) as usize;
        out.write_all(&word[..now])?;
        left -= now as u64;
    }
    out.flush()?;
    drop(out);
    Ok(file)
}

impl File {
    /// A contender that reads the file, opened anew in each iteration, to its sum.
    pub(super) fn timed(
        &self,
        mut read: impl FnMut(&fs::File, &File) -> io::Result<Sum> + 'static,
    ) -> Preparation<'_> {
        let run = move |file: &File| fs::File::open(&file.path).and_then(|open| read(&open, file));
        Ok(timed(self, run, |sum| {
            let lanes = sum.expect("the file can be read as it was before").lanes();
            lanes.into_iter().fold(Digest::default(), Digest::with_u64)
        }))
    }
}

/// Fills `buffer` as far as the source has bytes; how far.
pub(super) fn fill(
    buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read(&mut buffer[filled..], filled) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
