//! The workload of the family: a file, given or made, in memory or not, and the bytes asked for at a time.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fathom_machine::os::cache;
use fathom_machine::os::memory::{Buffer, Pages};
use fathom_measure::contender::{Preparation, Unsupported, timed, timed_batch};
use fathom_measure::digest::Digest;
use fathom_measure::facts::Facts;
use fathom_measure::scratch::{self, Unnamed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::sum::Sum;
use super::tables;
use crate::own;
use crate::tasks::{offer, parameter};

/// A file to read.
pub struct File {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    /// Bytes asked for at a time: a multiple of 4 KiB.
    pub(super) buffer_bytes: usize,
    /// Whether it is put out of the page cache before each iteration.
    is_cold: bool,
    /// Keeps a made file until the workload goes.
    _made: Option<Unnamed>,
}

/// The page sizes of every processor we build for divide this.
const UNIT: u64 = 4 << 10;

/// What is special about the family.
pub(super) const FACTS: Facts = Facts { tables: tables::of, ..Facts::NONE };

impl Workload for File {
    const OPERATIONS: &'static [Offer] = &[offer("sum", "read once and add the bytes up")];
    const PARAMETERS: &'static [Offer] = &[
        parameter("buffer", "256K", "bytes at a time, in steps of 4K"),
        parameter(
            "cache",
            "warm",
            "the file is in the page cache, or put out of it before each iteration: warm, cold",
        ),
        parameter("size", "64M", "bytes of the file made when none is given"),
    ];
    const MADE: &'static [&'static str] = &["size"];

    fn check(spec: &Spec) -> Result<(), SpecError> {
        let buffer = spec.number("buffer")?;
        if !(UNIT..=1 << 30).contains(&buffer) || buffer % UNIT != 0 {
            return Err(spec.bad("buffer", "4K to 1G, a multiple of 4K"));
        }
        if spec.file.is_none() && spec.number("size")? > 1 << 34 {
            return Err(spec.bad("size", "at most 16G"));
        }
        if is_cold(spec)? && spec.threads()? > 1 {
            return Err(
                spec.bad("threads", "one where cache=cold: others would have the file in use")
            );
        }
        Ok(())
    }

    fn load(spec: &Spec) -> Result<File, SpecError> {
        let is_cold = is_cold(spec)?;
        let (path, made) = match &spec.file {
            Some(file) => (file.clone(), None),
            None => {
                let (size, place) = (spec.number("size")?, place(is_cold));
                let made = make(size, &place).map_err(|error| own::unreadable(&place, error))?;
                (made.path(), Some(made))
            }
        };
        let data = fs::metadata(&path).map_err(|error| own::unreadable(&path, error))?;
        if !data.is_file() {
            return Err(own::unreadable(&path, io::Error::other("not a regular file")));
        }
        if is_cold {
            let evicted = fs::File::open(&path).and_then(|file| cache::evict(&file));
            let of = spec.file.clone().unwrap_or_else(|| place(true));
            evicted.map_err(|error| SpecError::Machine {
                reason: format!("{}: {error}", of.display()),
            })?;
        }
        let buffer_bytes = usize::try_from(spec.number("buffer")?).unwrap_or(usize::MAX);
        Ok(File { path, bytes: data.len(), buffer_bytes, is_cold, _made: made })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, items: 0 }
    }

    fn cases() -> Vec<Spec> {
        let warm = ["4K", "16K", "64K", "256K", "1M", "4M", "16M"].map(|buffer| ("warm", buffer));
        let cold = ["64K", "256K", "1M", "4M"].map(|buffer| ("cold", buffer));
        let case = |(cache, buffer)| Spec::new("sum", &[("cache", cache), ("buffer", buffer)]);
        warm.into_iter().chain(cold).map(case).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let sizes = [
            ("0", "4K"),
            ("1", "4K"),
            ("4K", "4K"),
            ("10001", "4K"),
            ("300K", "64K"),
            ("100K", "1M"),
        ];
        let case = |cache, (size, buffer)| {
            Spec::new("sum", &[("cache", cache), ("size", size), ("buffer", buffer)])
        };
        ["warm", "cold"].iter().flat_map(|cache| sizes.map(|sizes| case(cache, sizes))).collect()
    }

    /// Reading is the kernel's work, and some ways have threads.
    fn leaves_the_thread(&self) -> bool {
        true
    }
}

fn is_cold(spec: &Spec) -> Result<bool, SpecError> {
    match spec.text("cache") {
        "warm" => Ok(false),
        "cold" => Ok(true),
        _ => Err(spec.bad("cache", "warm or cold")),
    }
}

/// Where a file is made: in the temporary folder; if it is to come from a disk and that folder is in memory, in
/// the one for what outlives a start of the machine.
fn place(is_cold: bool) -> PathBuf {
    let usual = env::temp_dir();
    let is_in_memory = || fs::File::open(&usual).and_then(|folder| cache::is_in_memory(&folder));
    if is_cold && is_in_memory().unwrap_or(false) { "/var/tmp".into() } else { usual }
}

/// A file of bytes that look random, each run the same.
fn make(bytes: u64, place: &Path) -> io::Result<Unnamed> {
    use io::Write;
    let mut file = scratch::file_in(place)?;
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
        read: impl FnMut(&fs::File, &File) -> io::Result<Sum> + 'static,
    ) -> Preparation<'_> {
        self.opened(|path| fs::File::open(path), read)
    }

    /// The same past the page cache, where requests begin and end at multiples of [`UNIT`], in memory and in the file.
    pub(super) fn direct(
        &self,
        read: impl FnMut(&fs::File, &File) -> io::Result<Sum> + 'static,
    ) -> Preparation<'_> {
        let mut block = self.aligned()?;
        let file = cache::open_direct(&self.path);
        let first = file.and_then(|file| file.read_at(&mut block[..UNIT as usize], 0));
        first.map_err(|error| Unsupported(format!("O_DIRECT is refused here: {error}")))?;
        self.opened(cache::open_direct, read)
    }

    /// A buffer on pages of its own.
    pub(super) fn aligned(&self) -> Result<Buffer, Unsupported> {
        Buffer::new(self.buffer_bytes, Pages::Base).map_err(|error| Unsupported(error.to_string()))
    }

    fn opened(
        &self,
        open: fn(&Path) -> io::Result<fs::File>,
        mut read: impl FnMut(&fs::File, &File) -> io::Result<Sum> + 'static,
    ) -> Preparation<'_> {
        let mut run = move |file: &File| open(&file.path).and_then(|open| read(&open, file));
        let known = |sum: io::Result<Sum>| {
            sum.unwrap_or_else(|error| panic!("the file that was read before: {error}"))
        };
        let digest = |sum: &Sum| sum.lanes().into_iter().fold(Digest::default(), Digest::with_u64);
        if !self.is_cold {
            return Ok(timed(self, move |file| known(run(file)), digest));
        }
        // Each iteration has a region of its own on the clock, and the file is put out of memory between them.
        let evict = || fs::File::open(&self.path).and_then(|file| cache::evict(&file));
        Ok(timed_batch(
            1,
            evict,
            move |gone| known(gone.and_then(|()| run(self))),
            move |sum| digest(&sum),
        ))
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

/// Fills `buffer` from an offset on, past the page cache. Behind a part of a [`UNIT`] nothing is asked for: it is the end.
pub(super) fn fill_direct(file: &fs::File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    fill(buffer, |room, done| match done as u64 {
        done if done % UNIT == 0 => file.read_at(room, at + done),
        _ => Ok(0),
    })
}

#[cfg(test)]
mod tests {
    use fathom_measure::meter::Meter;

    use super::super::plain::read_into;
    use super::*;

    fn load(cache: &str) -> Result<File, SpecError> {
        let spec = Spec::new("sum", &[("cache", cache), ("size", "300001")]);
        File::load(&spec.completed::<File>()?)
    }

    /// How much of the file was in memory whenever the clock started or stopped.
    struct Look(fs::File, Vec<u64>);

    impl Meter for Look {
        fn start(&mut self) {
            self.1.push(cache::resident_bytes(&self.0).unwrap());
        }
        fn stop(&mut self) {
            self.start();
        }
    }

    fn looks(file: &File) -> Vec<u64> {
        let mut buffer = vec![0; file.buffer_bytes];
        let mut prepared = file.timed(move |file, _| read_into(file, &mut buffer)).unwrap();
        let mut look = Look(fs::File::open(&file.path).unwrap(), Vec::new());
        prepared.sample(3, &mut look);
        look.1
    }

    #[test]
    fn the_file_is_in_memory_or_out_of_it_when_the_clock_starts() {
        let file = load("warm").unwrap();
        let told = cache::resident_bytes(&fs::File::open(&file.path).unwrap());
        fathom_machine::needs!("kernel that tells what is in memory", told.is_ok());
        let warm = looks(&file);
        let all = warm[0];
        assert!(all >= 300_001 && warm == [all; 2], "three iterations in one region: {warm:?}");
        let cold = load("cold");
        let is_able = !matches!(cold, Err(SpecError::Machine { .. }));
        fathom_machine::needs!("file that can be put out of memory", is_able);
        assert_eq!(looks(&cold.unwrap()), [0, all, 0, all, 0, all]);
    }

    #[test]
    fn what_cannot_be_read_cold_is_refused_in_time() {
        let refused = |parameters: &[(&str, &str)]| {
            Spec::new("sum", parameters).completed::<File>().unwrap_err().to_string()
        };
        assert_eq!(refused(&[("cache", "lukewarm")]), "cache=lukewarm: warm or cold");
        assert!(refused(&[("cache", "cold"), ("threads", "2")]).starts_with("threads=2: "));
    }

    #[test]
    fn past_the_page_cache_nothing_is_asked_for_behind_the_end() {
        let file = load("cold").unwrap_or_else(|_| load("warm").unwrap());
        let mut plain = vec![0; 300_001];
        fs::File::open(&file.path).unwrap().read_exact_at(&mut plain, 0).unwrap();
        let direct = cache::open_direct(&file.path);
        fathom_machine::needs!("O_DIRECT in the temporary folder", direct.is_ok());
        let (direct, mut buffer) = (direct.unwrap(), file.aligned().unwrap());
        let end = 262_144;
        assert_eq!(fill_direct(&direct, &mut buffer, 0).unwrap(), end);
        assert_eq!(buffer[..], plain[..end]);
        assert_eq!(fill_direct(&direct, &mut buffer, end as u64).unwrap(), 300_001 - end);
        assert_eq!(buffer[..300_001 - end], plain[end..]);
    }
}
