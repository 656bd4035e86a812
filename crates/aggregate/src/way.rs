//! How a file gets into memory: read into a buffer, or mapped, whichever takes less time here.
//!
//! Reading copies, into a buffer that stays in a core's cache. Mapping copies nothing, but the kernel has to
//! enter every page, and the processor fetches the bytes from farther away. Which is less differs between processors and
//! kernels, so it is tried: the first chunks of a large file are taken both ways by turns, which is work that has
//! to be done anyway, and the rest the better way. Nothing here knows what the bytes mean.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use fathom_machine::clock::thread_cpu_ns;
use fathom_machine::os::cache::is_cached;
use fathom_machine::os::live::LiveMap;

use crate::chunk::PIECE_ROWS;
use crate::error::Error;
use crate::source::{FilePart, Source, read_at};

/// How regular, uncompressed files get into memory, where they are read at any offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// They are read into buffers.
    #[default]
    Read,
    /// They are mapped where that is possible. The first time, a handler for SIGBUS is installed for the whole
    /// process, see [`live`](fathom_machine::os::live).
    Map,
    /// What takes less time: tried with files of 64 MiB and 128 chunks at least that are in memory, others are read.
    Auto,
}

impl Input {
    /// All of them, with the words for them.
    pub const ALL: [(&str, Input); 3] =
        [("auto", Input::Auto), ("map", Input::Map), ("read", Input::Read)];
}

/// How an input got into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// As the user named it.
    pub path: PathBuf,
    /// Whether it was mapped, apart from its ends and from what does not fit; otherwise it was read.
    pub is_mapped: bool,
    /// Why.
    pub why: String,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.is_mapped { "mapped" } else { "read" };
        write!(f, "{} was {way}: {}", self.path.display(), self.why)
    }
}

/// Files below are read: there is too little to win.
const LEAST_BYTES: u64 = 64 << 20;

/// Pieces in which memory of a mapped file is let go.
const SEGMENT_BYTES: u64 = 16 << 20;

/// A source and the ways that lead to it.
pub(crate) struct Road {
    path: PathBuf,
    map: Option<LiveMap>,
    /// Which way is better, if that is asked.
    trial: Option<Trial>,
    /// Why there is no map, or no trial.
    why: &'static str,
}

impl Road {
    /// The road to a source that is taken in chunks of so many bytes, and read if there is an `obstacle`.
    pub(crate) fn new(
        source: &Source,
        input: Input,
        chunk_bytes: usize,
        obstacle: Option<&'static str>,
    ) -> Road {
        let path = source.path().to_owned();
        let read = |why| Road { path: path.clone(), map: None, trial: None, why };
        let (file, range) = match source {
            Source::File { file, size, .. } => (file.file(), 0..*size),
            Source::Part { file, range, .. } => (file.file(), range.clone()),
            Source::Stream { .. } => (None, 0..0),
        };
        let Some(file) = file else { return read("it is no file that can be mapped") };
        let bytes = range.end.saturating_sub(range.start);
        let chunk_bytes = chunk_bytes as u64;
        let few = LEAST_BYTES.max(chunk_bytes.saturating_mul(4 * Trial::CHUNKS as u64));
        match (input, obstacle) {
            (Input::Read, _) => return read("as asked for"),
            (_, Some(obstacle)) => return read(obstacle),
            _ if chunk_bytes > PIECE_ROWS => return read("a chunk has more than 4 MiB"),
            (Input::Auto, _) if bytes < few => return read("it is small"),
            (Input::Auto, _) if !is_cached(file, range.clone()) => {
                return read("it is not in memory");
            }
            (Input::Auto | Input::Map, _) => {}
        }
        match LiveMap::new(file, range) {
            Ok(map) => Road {
                map: Some(map),
                trial: (input == Input::Auto).then(Trial::default),
                ..read("as asked for")
            },
            Err(_) => read("the system does not map it"),
        }
    }

    /// The way of the next chunk.
    pub(crate) fn next(&self) -> Leg<'_> {
        let Some(map) = &self.map else { return Leg::default() };
        let Some(trial) = &self.trial else { return Leg { map: Some(map), trial: None } };
        let is_mapped = match trial.outcome.get() {
            Some(outcome) => outcome.is_mapped(),
            None => {
                let number = trial.chunks.fetch_add(1, Ordering::Relaxed);
                let is_mapped = number % 2 == 1;
                let is_counted = number >= Trial::WARM_UP;
                let trial = is_counted.then(|| (trial, map, thread_cpu_ns()));
                return Leg { map: is_mapped.then_some(map), trial };
            }
        };
        Leg { map: is_mapped.then_some(map), trial: None }
    }

    /// How it was.
    pub(crate) fn told(&self) -> Way {
        let outcome = self.trial.as_ref().map(|trial| trial.outcome.get());
        let (is_mapped, why) = match outcome {
            None => (self.map.is_some(), self.why.to_owned()),
            Some(None) => {
                (false, "it has too few rows to tell, and every other chunk was mapped".into())
            }
            Some(Some(outcome)) => (outcome.is_mapped(), outcome.told()),
        };
        Way { path: self.path.clone(), is_mapped, why }
    }
}

/// A chunk on its way.
#[derive(Default)]
pub(crate) struct Leg<'a> {
    /// How it is mapped, if it is.
    pub(crate) map: Option<&'a LiveMap>,
    /// What it is part of, by which map, and when it began.
    trial: Option<(&'a Trial, &'a LiveMap, u64)>,
}

impl Leg<'_> {
    /// Says that so many bytes have been taken, and whether they were mapped.
    pub(crate) fn end(self, is_mapped: bool, bytes: usize) {
        if let Some((trial, map, start_ns)) = self.trial
            && is_mapped == self.map.is_some()
            && bytes > 0
        {
            let took_ns = thread_cpu_ns().saturating_sub(start_ns);
            trial.add(is_mapped, took_ns as f64 / bytes as f64);
            if trial.outcome.get().is_some_and(|outcome| !outcome.is_mapped()) {
                map.forget(map.range());
            }
        }
    }
}

/// Chunks taken both ways by turns.
#[derive(Debug, Default)]
struct Trial {
    chunks: AtomicUsize,
    /// Nanoseconds of processor time a byte: read, and mapped.
    times: Mutex<[Vec<f64>; 2]>,
    outcome: OnceLock<Outcome>,
}

/// Medians, in nanoseconds of processor time a byte.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    read: f64,
    mapped: f64,
}

impl Outcome {
    /// A tie is read.
    fn is_mapped(self) -> bool {
        self.mapped < 0.97 * self.read
    }

    fn told(self) -> String {
        let of_mebibyte = |ns: f64| ns * f64::from(1 << 20) / 1e3;
        let (mapped, read) = (of_mebibyte(self.mapped), of_mebibyte(self.read));
        format!("a MiB takes {mapped:.0} µs mapped and {read:.0} µs read")
    }
}

impl Trial {
    /// Chunks that are not counted: tables are small and grow.
    const WARM_UP: usize = 8;
    /// Chunks that are counted of each way.
    const SAMPLES: usize = 12;
    /// All of them.
    const CHUNKS: usize = Trial::WARM_UP + 2 * Trial::SAMPLES;

    fn add(&self, is_mapped: bool, ns_per_byte: f64) {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times[usize::from(is_mapped)].push(ns_per_byte);
        if times.iter().all(|times| times.len() >= Trial::SAMPLES) {
            let [read, mapped] = times.each_mut().map(|times| {
                times.sort_by(f64::total_cmp);
                times[times.len() / 2]
            });
            self.outcome.get_or_init(|| Outcome { read, mapped });
        }
    }
}

/// The bytes of the rows that start in a part, if they can be taken where they are mapped: not so at the ends of
/// the map, and not if they are too many.
pub(crate) fn rows_of(map: &LiveMap, part: &FilePart<'_>) -> Option<Range<u64>> {
    if part.start <= map.range().start {
        return None;
    }
    let first = map.find(b'\n', part.start - 1..part.end - 1)? + 1;
    let last = map.find(b'\n', part.end - 1..first.saturating_add(PIECE_ROWS))?;
    Some(first..last + 1)
}

/// Whether all of a file was there while a part of it was looked at; lets go of memory behind the part.
///
/// # Errors
/// What reading would have said.
pub(crate) fn settle(map: &LiveMap, part: &FilePart<'_>) -> Result<(), Error> {
    let shrunk = || Error::Shrunk { path: part.path.to_owned(), expected_bytes: part.size };
    if let Some(lost) = map.lost() {
        read_at(part.path, part.file, part.size, &mut [0], lost)?;
        // It is there again.
        return Err(shrunk());
    }
    // What is missing of the last page is zeros, and no signal.
    let file = part.file.file().ok_or_else(shrunk)?;
    let failed = |source| Error::Read { path: part.path.to_owned(), byte: part.start, source };
    if file.metadata().map_err(failed)?.len() < part.size {
        return Err(shrunk());
    }
    let segment = part.end / SEGMENT_BYTES;
    if segment > part.start / SEGMENT_BYTES {
        // Threads may still be in the one before.
        let end = segment.saturating_sub(1) * SEGMENT_BYTES;
        map.forget(end.saturating_sub(SEGMENT_BYTES)..end);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_way_that_takes_less_time_in_the_median_is_taken_and_a_tie_is_read() {
        for (read, mapped, is_mapped) in [(1.0, 0.9, true), (1.0, 0.98, false), (1.0, 1.2, false)] {
            let trial = Trial::default();
            for number in 0..Trial::SAMPLES {
                assert!(trial.outcome.get().is_none());
                // Whoever is held up once is no slower for that.
                let held_up = if number == 0 { 100.0 } else { 0.0 };
                trial.add(false, read + if is_mapped { 0.0 } else { held_up });
                trial.add(true, mapped + if is_mapped { held_up } else { 0.0 });
            }
            let outcome = trial.outcome.get().unwrap();
            assert_eq!(outcome.is_mapped(), is_mapped, "{}", outcome.told());
        }
    }

    #[test]
    fn both_ways_are_gone_by_turns_until_it_is_known_which_is_better() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a;1.5\n").unwrap();
        let source = Source::File { path: "rows".into(), file: Box::new(file), size: 6 };
        let road = Road::new(&source, Input::Map, 1, None);
        let road = Road { trial: Some(Trial::default()), ..road };
        let take = |number: usize, is_as_planned: bool| {
            let leg = road.next();
            let is_mapped = leg.map.is_some();
            assert_eq!(is_mapped, number % 2 == 1);
            leg.end(is_mapped == is_as_planned, 1);
        };
        // What could not be mapped tells nothing of mapping.
        (0..100).for_each(|number| take(number, false));
        assert!(road.told().why.contains("too few"));
        (0..2 * Trial::SAMPLES).for_each(|number| take(number, true));
        let outcome = road.trial.as_ref().unwrap().outcome.get().expect("it is known");
        let mapped = (0..9).filter(|_| road.next().map.is_some()).count();
        assert_eq!(mapped, if outcome.is_mapped() { 9 } else { 0 });
        assert_eq!((road.told().is_mapped, road.told().why), (outcome.is_mapped(), outcome.told()));
    }
}
