//! From a source to its distances, with any number of threads and the same bits for each.
//!
//! The input is cut into blocks at fixed offsets. A worker takes the next block, guesses where in
//! it an element begins, reads from there as if that were so, and computes the distances. Blocks
//! are joined in order by the one session that has read everything before: it reads up to the
//! guessed place with the strict lexer and takes over the worker's result only if it then stands
//! between two elements exactly there. A wrong guess (a string that looks like elements, a nested
//! array) costs time, never correctness.
//!
//! ```text
//! block k    …7.5}, │{…},{…},…,{…},│ {"x0":1        block k+1 …
//!            joined │   guessed    │ joined
//! ```
//!
//! Distances are kept in order; their sum is an integer ([`ExactSum`]), so no split changes it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use fathom_machine::level::Level;
use fathom_machine::os::read_at::ReadAt;

use crate::block::Block;
use crate::error::Error;
use crate::formula::{EARTH_RADIUS_KM, MOST_RADIUS, Pair};
use crate::kernel::{self, Trigonometry};
use crate::pairs::{Layout, OnError};
use crate::session::{Mark, Session};
use crate::sum::{ExactSum, mean_in_order};
use crate::zone::zone;

/// Where the bytes come from.
pub enum Source<'a> {
    /// A regular file, or what is read like one: from its beginning by all threads, up to its end when it is read
    /// (of [`AsOpened`](fathom_machine::os::read_at::AsOpened) when it was opened).
    File(Box<dyn ReadAt>),
    /// Anything else, read by one thread at a time.
    Stream(Box<dyn Read + Send + 'a>),
}

/// How to read and compute.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that read, parse and compute.
    pub threads: NonZeroUsize,
    /// Radius of the sphere, from 0 to [`MOST_RADIUS`]; distances and means have its unit.
    pub radius: f64,
    /// What to do with elements that are no pairs.
    pub on_error: OnError,
    /// Which sine, cosine and arcsine.
    pub trigonometry: Trigonometry,
    /// Keep the distances: needed for the mean in order and for answers, eight bytes a pair.
    pub keep_distances: bool,
    /// Bytes a thread reads at a time.
    pub block_bytes: NonZeroUsize,
    /// Instruction level.
    pub level: Level,
}

impl Default for Options {
    /// One thread, the course's radius, errors stop, distances are kept.
    fn default() -> Self {
        Options {
            threads: NonZeroUsize::MIN,
            radius: EARTH_RADIUS_KM,
            on_error: OnError::Stop,
            trigonometry: Trigonometry::Vector,
            keep_distances: true,
            block_bytes: const { NonZeroUsize::new(BLOCK_BYTES).unwrap() },
            level: Level::current(),
        }
    }
}

impl Options {
    /// The levels its kernels run at, as one word: `avx512+avx2` where not all have a form for the
    /// level asked for.
    pub fn levels(&self) -> String {
        kernel::levels(self.level, self.trigonometry)
    }
}

/// Blocks of this size, with the pairs of one, stay in a second-level cache.
pub const BLOCK_BYTES: usize = 256 << 10;

/// What an input comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Length of the input.
    pub bytes: u64,
    /// Pairs whose distance was computed.
    pub pairs: u64,
    /// Elements that were no pairs.
    pub skipped: u64,
    /// The exactly rounded mean distance.
    pub mean_exact: f64,
    /// The distances in order, in parts, if they were to be kept.
    pub distances: Vec<Vec<f64>>,
}

impl Outcome {
    /// The mean as the course adds it up, if the distances were kept.
    pub fn mean_in_order(&self) -> Option<f64> {
        let mut zone = zone!("merge");
        zone.bytes(8 * self.pairs);
        let is_kept = !self.distances.is_empty();
        is_kept.then(|| mean_in_order(self.parts(), self.pairs))
    }

    /// The kept distances in order.
    pub fn parts(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.distances.iter().map(Vec::as_slice)
    }
}

/// Reads a source to its end.
///
/// # Errors
/// What the source answers; the first fault of the text, its pair and its offset; the same for
/// every number of threads and every block size.
///
/// # Panics
/// When the radius is out of its range.
pub fn read(source: Source<'_>, options: &Options) -> Result<Outcome, Error> {
    assert!((0.0..=MOST_RADIUS).contains(&options.radius), "the radius is out of its range");
    let merge = Merge::new(options);
    if options.threads.get() == 1 {
        return read_alone(source, merge, options);
    }
    let (file, stream) = match source {
        Source::File(file) => (Some(file), None),
        Source::Stream(stream) => (None, Some(stream)),
    };
    let shared = Shared {
        options,
        file,
        claim: Mutex::new(Claim { next: 0, is_ended: false, stream }),
        merge: Mutex::new(merge),
        room: Condvar::new(),
    };
    thread::scope(|scope| {
        for _ in 1..options.threads.get() {
            // With fewer threads it takes longer.
            let _ = thread::Builder::new().spawn_scoped(scope, || shared.work());
        }
        shared.work();
    });
    let merge = shared.merge.into_inner().unwrap_or_else(PoisonError::into_inner);
    merge.end()
}

/// The exactly rounded mean distance of pairs in memory, `None` of none: what a reader of one's own
/// ends with.
///
/// # Panics
/// When a coordinate is infinite or no number.
pub fn mean_exact(pairs: &[Pair], options: &Options) -> Option<f64> {
    let mut sum = ExactSum::default();
    let mut distances = Vec::new();
    for some in pairs.chunks(1 << 12) {
        distances.clear();
        compute(some, options, &mut distances);
        sum.add(&distances);
    }
    sum.mean()
}

/// Adds the distances of pairs in memory to `out`, as the engine computes them.
pub fn distances(pairs: &[Pair], options: &Options, out: &mut Vec<f64>) {
    compute(pairs, options, out);
}

/// One thread needs no guesses.
fn read_alone(source: Source<'_>, mut merge: Merge, options: &Options) -> Result<Outcome, Error> {
    let mut source = source;
    let mut block = Block::new(options.block_bytes.get());
    loop {
        match &mut source {
            Source::File(file) => fill_at(&mut block, &**file, merge.bytes)?,
            Source::Stream(stream) => fill_from(&mut block, stream)?,
        }
        merge.take(&block, None)?;
        if block.bytes().len() < block.capacity() {
            return merge.end();
        }
    }
}

fn fill_at(block: &mut Block, file: &dyn ReadAt, offset: u64) -> io::Result<()> {
    let mut zone = zone!("read", faults);
    block.fill(|room, done| file.read_at(room, offset + done as u64))?;
    zone.bytes(block.bytes().len() as u64);
    Ok(())
}

fn fill_from(block: &mut Block, stream: &mut (impl Read + ?Sized)) -> io::Result<()> {
    let mut zone = zone!("read", faults);
    block.fill(|room, _| stream.read(room))?;
    zone.bytes(block.bytes().len() as u64);
    Ok(())
}

/// What all threads see.
struct Shared<'a> {
    options: &'a Options,
    file: Option<Box<dyn ReadAt>>,
    claim: Mutex<Claim<'a>>,
    merge: Mutex<Merge>,
    /// Signalled when blocks were merged.
    room: Condvar,
}

struct Claim<'a> {
    next: u64,
    /// A block was not full, or something failed: no later block is worth reading.
    is_ended: bool,
    stream: Option<Box<dyn Read + Send + 'a>>,
}

impl Shared<'_> {
    /// What each thread does until no block is left.
    fn work(&self) {
        let mut reader = Speculator::new(self.options);
        while let Some(mut block) = self.wait_for_room() {
            let Some((number, filled)) = self.claim(&mut block) else { return };
            let guess = match &filled {
                Ok(()) if number > 0 => reader.read(&block),
                _ => None,
            };
            self.hand_in(number, Done { block, filled, guess });
        }
    }

    /// An empty block, once so few wait to be merged that another may be read.
    fn wait_for_room(&self) -> Option<Block> {
        let most = 4 * self.options.threads.get() as u64;
        let mut merge = lock(&self.merge);
        loop {
            if merge.is_over() {
                return None;
            }
            if merge.out < most {
                merge.out += 1;
                let spare = merge.spare.pop();
                return spare.or_else(|| Some(Block::new(self.options.block_bytes.get())));
            }
            merge = self.room.wait(merge).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the next block of the input and fills it; its number, and how filling went.
    fn claim(&self, block: &mut Block) -> Option<(u64, io::Result<()>)> {
        let mut claim = lock(&self.claim);
        if claim.is_ended {
            return None;
        }
        let number = claim.next;
        claim.next += 1;
        let filled = match (&self.file, &mut claim.stream) {
            (Some(file), _) => {
                drop(claim);
                let filled = fill_at(block, &**file, number * block.capacity() as u64);
                claim = lock(&self.claim);
                filled
            }
            (None, Some(stream)) => fill_from(block, stream),
            (None, None) => Ok(()),
        };
        claim.is_ended |= filled.is_err() || block.bytes().len() < block.capacity();
        Some((number, filled))
    }

    /// Queues a block and merges those whose turn it is.
    fn hand_in(&self, number: u64, done: Done) {
        let mut merge = lock(&self.merge);
        let _zone = zone!("merge");
        merge.waiting.insert(number, done);
        merge.drain();
        self.room.notify_all();
    }
}

fn compute(pairs: &[Pair], options: &Options, distances: &mut Vec<f64>) {
    let mut zone = zone!("compute");
    zone.bytes(size_of_val(pairs) as u64);
    kernel::distances(pairs, options, distances);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block that was read, and what its worker made of it.
struct Done {
    block: Block,
    filled: io::Result<()>,
    guess: Option<Guess>,
}

/// The elements a worker has read from a place where it guessed that one begins.
struct Guess {
    layout: Layout,
    /// Where the first one begins, and where things stood after the last.
    from: usize,
    mark: Mark,
    sum: ExactSum,
    distances: Vec<f64>,
}

/// A worker's own state.
struct Speculator<'a> {
    options: &'a Options,
    session: Session,
    pairs: Vec<Pair>,
}

impl Speculator<'_> {
    fn new(options: &Options) -> Speculator<'_> {
        let session = Session::inside(Layout::Member, options.on_error, options.level);
        Speculator { options, session, pairs: Vec::new() }
    }

    /// Reads a block from the first place that looks like the beginning of an element.
    fn read(&mut self, block: &Block) -> Option<Guess> {
        let (layout, from) = guess(block.bytes())?;
        self.session.restart(layout);
        self.pairs.clear();
        let mut mark = Mark::default();
        // An error is not one yet: the guess may be wrong. What was read before it may be right.
        let _ = self.session.read(block, from, &mut self.pairs, &mut mark);
        self.pairs.truncate(mark.pairs);
        let mut distances = Vec::with_capacity(self.pairs.len());
        compute(&self.pairs, self.options, &mut distances);
        let mut sum = ExactSum::default();
        sum.add(&distances);
        Some(Guess { layout, from, mark, sum, distances })
    }
}

/// The first place where an element may begin: behind `}`, a comma and white space around it, or
/// white space alone, at a `{`.
fn guess(bytes: &[u8]) -> Option<(Layout, usize)> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
    memchr::memchr_iter(b'}', bytes).find_map(|brace| {
        let mut rest = bytes[brace + 1..].iter().enumerate().filter(|(_, byte)| !is_space(byte));
        match (rest.next()?, rest.next()) {
            ((0, b'{'), _) => None,
            ((at, b'{'), _) => Some((Layout::Lines, brace + 1 + at)),
            // The depth of an array differs by one from that of a member; the lexer's limit is
            // reached the sooner, which only makes the guess end earlier.
            ((_, b','), Some((at, b'{'))) => Some((Layout::Member, brace + 1 + at)),
            _ => None,
        }
    })
}

/// Everything before the next block, joined.
struct Merge {
    options: Options,
    session: Session,
    /// Number of the next block, and bytes before it.
    next: u64,
    bytes: u64,
    waiting: BTreeMap<u64, Done>,
    /// Blocks handed out and not yet merged.
    out: u64,
    spare: Vec<Block>,
    pairs: Vec<Pair>,
    sum: ExactSum,
    distances: Vec<Vec<f64>>,
    failed: Option<Error>,
    is_ended: bool,
}

impl Merge {
    fn new(options: &Options) -> Merge {
        Merge {
            options: *options,
            session: Session::new(options.on_error, options.level),
            next: 0,
            bytes: 0,
            waiting: BTreeMap::new(),
            out: 0,
            spare: Vec::new(),
            pairs: Vec::new(),
            sum: ExactSum::default(),
            distances: Vec::new(),
            failed: None,
            is_ended: false,
        }
    }

    fn is_over(&self) -> bool {
        self.is_ended || self.failed.is_some()
    }

    /// Merges what is next, as far as it is there.
    fn drain(&mut self) {
        while let Some(done) = self.waiting.remove(&self.next) {
            self.out -= 1;
            self.next += 1;
            if !self.is_over() {
                let taken = match done.filled {
                    Ok(()) => self.take(&done.block, done.guess),
                    Err(error) => Err(error.into()),
                };
                self.failed = taken.err();
                self.is_ended = done.block.bytes().len() < done.block.capacity();
            }
            self.spare.push(done.block);
        }
    }

    /// Reads the next block, with the help of a guess about it.
    fn take(&mut self, block: &Block, guess: Option<Guess>) -> Result<(), Error> {
        self.bytes += block.bytes().len() as u64;
        self.pairs.clear();
        let mut at = 0;
        if let Some(guess) = guess {
            let (stopped, layout) = self.session.read_until(block, guess.from, &mut self.pairs)?;
            at = stopped;
            let is_member = |layout| layout != Layout::Lines;
            let is_alike = layout.is_some_and(|l| is_member(l) == is_member(guess.layout));
            if stopped == guess.from && is_alike {
                self.compute();
                self.session.skip(guess.from, &guess.mark);
                self.sum.merge(&guess.sum);
                self.keep(guess.distances);
                at = guess.mark.at;
            }
        }
        let read = self.session.read(block, at, &mut self.pairs, &mut Mark::default());
        self.compute();
        read
    }

    /// Computes the distances of the pairs read here.
    fn compute(&mut self) {
        let mut distances = Vec::with_capacity(self.pairs.len());
        compute(&self.pairs, &self.options, &mut distances);
        self.pairs.clear();
        let _zone = zone!("merge");
        self.sum.add(&distances);
        self.keep(distances);
    }

    fn keep(&mut self, distances: Vec<f64>) {
        if self.options.keep_distances && !distances.is_empty() {
            self.distances.push(distances);
        }
    }

    fn end(mut self) -> Result<Outcome, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let ended = self.session.end(&mut self.pairs);
        self.compute();
        let (elements, skipped) = self.session.counts();
        ended.map_err(|error| match error {
            Error::NoPairs if skipped > 0 => Error::AllSkipped(skipped),
            error => error,
        })?;
        debug_assert_eq!(elements - skipped, self.sum.count());
        Ok(Outcome {
            bytes: self.bytes,
            pairs: elements - skipped,
            skipped,
            mean_exact: self.sum.mean().ok_or(Error::NoPairs)?,
            distances: self.distances,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_stand_where_an_element_may_begin() {
        assert_eq!(guess(b"1.5}, {\"x0\":1"), Some((Layout::Member, 6)));
        assert_eq!(guess(b"}\n  ,\n\t{"), Some((Layout::Member, 7)));
        assert_eq!(guess(b"}}]},{"), Some((Layout::Member, 5)));
        assert_eq!(guess(b"}\n{"), Some((Layout::Lines, 2)));
        assert_eq!(guess(b"}{"), None);
        assert_eq!(guess(b"},"), None);
        assert_eq!(guess(b"1,2,3"), None);
    }
}
