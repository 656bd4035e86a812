//! Files of pairs, by any number of threads: the bytes of [`reference`](super::reference), in a fraction of
//! its time.
//!
//! Threads sit in a ring and take blocks of pairs in turn. Two things go round: the stream of pairs, from
//! which a thread draws its block, and the outputs, to which it writes what it has made of the block in
//! between. So every pair is drawn, added to the mean and written in its order, and a block's text and
//! distances, which are the work, are made while others make theirs.
//!
//! ```text
//! thread 0   draw 0 │ text, distances 0 │ write 0 │ draw 2 │ …
//! thread 1           draw 1 │ text, distances 1 │ write 1 │ draw 3 │ …
//! ```
//!
//! A thread that ends leaves its neighbour without what goes round, which ends in turn: nobody waits for
//! one that failed.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::numbers::Numbers;
use super::pairs::Pairs;
use crate::formula::{EARTH_RADIUS_KM, Pair, distance};

/// More pairs than the course's generator accepts.
pub const PAIRS_LIMIT: u64 = 1 << 34;

/// Pairs drawn at a time: their text stays in a second-level cache.
const BLOCK_PAIRS: usize = 1 << 10;

/// Bytes of a pair's text, about.
const PAIR_BYTES: usize = 128;

/// Writes a file of `count` pairs to `json` and, if asked, its distances and their mean to
/// `answers` (see [`crate::answers`]); returns that mean, the course's "Expected sum". Neither depends
/// on the number of threads.
///
/// # Errors
/// What the outputs answer; `InvalidInput` when `count` is not below [`PAIRS_LIMIT`].
pub fn write<'a>(
    pairs: Pairs,
    numbers: Numbers,
    threads: NonZeroUsize,
    json: &'a mut (dyn Write + Send),
    answers: Option<&'a mut (dyn Write + Send)>,
) -> io::Result<f64> {
    let count = pairs.left;
    if count >= PAIRS_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "there must be fewer than 2^34 pairs",
        ));
    }
    json.write_all(b"{\"pairs\":[\n")?;
    let weight = 1.0 / count as f64;
    let outputs = Outputs { json, answers, weight, mean: 0.0 };
    let blocks = count.div_ceil(BLOCK_PAIRS as u64).max(1);
    let threads = usize::try_from(blocks).unwrap_or(usize::MAX).min(threads.get());
    let ended = thread::scope(|scope| {
        // With fewer threads it takes longer; those there are get their seats then.
        let (mut callers, mut others) = (Vec::new(), Vec::new());
        for _ in 1..threads {
            let (caller, called) = channel::<Seat<'_>>();
            let work = move || called.recv().ok()?.work(numbers);
            if let Ok(other) = thread::Builder::new().spawn_scoped(scope, work) {
                callers.push(caller);
                others.push(other);
            }
        }
        let seats = callers.len() + 1;
        let pairs = ring(seats, pairs);
        let mut seats =
            pairs.zip(ring(seats, outputs)).map(|(pairs, outputs)| Seat { pairs, outputs });
        let own = seats.next();
        for (caller, seat) in callers.into_iter().zip(seats) {
            // A thread that is gone has said why.
            let _ = caller.send(seat);
        }
        let own = own.and_then(|own| own.work(numbers));
        let joined = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Vec<_>>().into_iter().chain([own]).flatten().next()
    });
    ended
        .expect("the thread that writes the last pair has the mean, one that cannot write an error")
}

/// What goes round: where it comes from and where it goes to, for each of `seats`; it starts at the
/// first.
fn ring<T>(seats: usize, first: T) -> impl Iterator<Item = (Receiver<T>, Sender<T>)> {
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..seats).map(|_| channel()).unzip();
    // A ring has its receivers, so nothing is refused.
    let _ = senders[0].send(first);
    senders.rotate_left(1);
    receivers.into_iter().zip(senders)
}

/// A thread's place in the ring.
struct Seat<'a> {
    pairs: (Receiver<Pairs>, Sender<Pairs>),
    outputs: (Receiver<Outputs<'a>>, Sender<Outputs<'a>>),
}

/// Where everything goes, in order.
struct Outputs<'a> {
    json: &'a mut (dyn Write + Send),
    answers: Option<&'a mut (dyn Write + Send)>,
    weight: f64,
    mean: f64,
}

impl Seat<'_> {
    /// Takes its turns: the mean or the error if this thread is the last to write, `None` if another is.
    fn work(self, numbers: Numbers) -> Option<io::Result<f64>> {
        let mut block = Block::default();
        loop {
            let mut pairs = self.pairs.0.recv().ok()?;
            block.pairs.clear();
            block.pairs.extend(pairs.by_ref().take(BLOCK_PAIRS));
            let is_last = pairs.left == 0;
            if !is_last {
                // Only one that failed has left its seat; what is drawn is written before that is seen.
                let _ = self.pairs.1.send(pairs);
            }
            block.compute(numbers, is_last);
            let mut outputs = self.outputs.0.recv().ok()?;
            match outputs.take(&block, is_last) {
                Ok(()) if is_last => return Some(Ok(outputs.mean)),
                Ok(()) => self.outputs.1.send(outputs).ok()?,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Some pairs, and what becomes of them.
#[derive(Default)]
struct Block {
    pairs: Vec<Pair>,
    text: Vec<u8>,
    distances: Vec<f64>,
}

impl Block {
    fn compute(&mut self, numbers: Numbers, is_last: bool) {
        let text = &mut self.text;
        text.clear();
        text.reserve(PAIR_BYTES * self.pairs.len());
        for &Pair { x0, y0, x1, y1 } in &self.pairs {
            text.extend_from_slice(b"    {\"x0\":");
            numbers.add(x0, text);
            text.extend_from_slice(b", \"y0\":");
            numbers.add(y0, text);
            text.extend_from_slice(b", \"x1\":");
            numbers.add(x1, text);
            text.extend_from_slice(b", \"y1\":");
            numbers.add(y1, text);
            text.extend_from_slice(b"},\n");
        }
        if is_last {
            let end = text.len().saturating_sub(b",\n".len());
            text.truncate(end);
            text.extend_from_slice(if self.pairs.is_empty() { b"" } else { b"\n" });
            text.extend_from_slice(b"]}\n");
        }
        self.distances.clear();
        self.distances.extend(self.pairs.iter().map(|&pair| distance(pair, EARTH_RADIUS_KM)));
    }
}

impl Outputs<'_> {
    fn take(&mut self, block: &Block, is_last: bool) -> io::Result<()> {
        self.json.write_all(&block.text)?;
        for distance in &block.distances {
            self.mean += self.weight * distance;
        }
        let Some(answers) = &mut self.answers else { return Ok(()) };
        let bytes = block.distances.iter().flat_map(|distance| distance.to_le_bytes());
        answers.write_all(&bytes.collect::<Vec<u8>>())?;
        if is_last { answers.write_all(&self.mean.to_le_bytes()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pairs::Method;
    use super::super::reference;
    use super::*;

    fn threads(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    /// The last digits of the means move with the C library; a nanometre does not.
    #[test]
    fn means_are_the_courses() {
        for (method, count, known) in [
            (Method::Uniform, 10, 7_488.113_229_798_82),
            (Method::Uniform, 1000, 9_979.704_532_285_454),
            (Method::Uniform, 100_000, 10_003.523_209_527_657),
            (Method::Cluster, 1000, 5_409.405_315_278_781),
            (Method::Cluster, 100_000, 4_919.201_290_658_04),
        ] {
            let pairs = Pairs::new(method, 1, count);
            let mean = reference::write(pairs, Numbers::Course, &mut io::sink(), None).unwrap();
            assert!((mean - known).abs() < 1e-9, "{method:?} {count}: {mean:.16}");
        }
    }

    #[test]
    fn any_number_of_threads_writes_the_references_bytes() {
        let block = BLOCK_PAIRS as u64;
        for count in [0, 1, 2, block - 1, block, block + 1, 3 * block, 5 * block + 7] {
            for (method, seed) in [(Method::Uniform, 1), (Method::Cluster, 77)] {
                for numbers in [Numbers::Course, Numbers::Shortest] {
                    let pairs = Pairs::new(method, seed, count);
                    let (mut json, mut answers) = (Vec::new(), Vec::new());
                    let expected =
                        reference::write(pairs.clone(), numbers, &mut json, Some(&mut answers))
                            .unwrap();
                    for number in [1, 2, 3, 7, 50] {
                        let (mut own, mut own_answers) = (Vec::new(), Vec::new());
                        let pairs = pairs.clone();
                        let also = Some(&mut own_answers as &mut (dyn Write + Send));
                        let mean = write(pairs, numbers, threads(number), &mut own, also).unwrap();
                        let is_same = own == json && own_answers == answers;
                        assert!(is_same, "{count} {method:?} {numbers:?} {number} threads");
                        assert_eq!(mean.to_bits(), expected.to_bits());
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_of_two_pairs_and_one_of_none() {
        let mut json = Vec::new();
        let mut answers = Vec::new();
        let pairs = Pairs::new(Method::Uniform, 1, 2);
        let mean =
            write(pairs, Numbers::Course, threads(2), &mut json, Some(&mut answers)).unwrap();
        let text = String::from_utf8(json).unwrap();
        assert!(text.starts_with("{\"pairs\":[\n    {\"x0\":-28.4758627070003030, \"y0\":-53.29"));
        assert!(text.ends_with("}\n]}\n"));
        assert_eq!((text.lines().count(), text.matches("},\n").count()), (4, 1));
        assert_eq!(answers.len(), 24);
        assert_eq!(answers[16..], mean.to_le_bytes());

        let mut empty = Vec::new();
        let none = Pairs::new(Method::Uniform, 1, 0);
        assert_eq!(write(none, Numbers::Course, threads(2), &mut empty, None).unwrap(), 0.0);
        assert_eq!(empty, b"{\"pairs\":[\n]}\n");
    }

    #[test]
    fn shortest_numbers_read_back_as_themselves() {
        let mut json = Vec::new();
        let pairs = Pairs::new(Method::Cluster, 7, 100);
        write(pairs.clone(), Numbers::Shortest, threads(1), &mut json, None).unwrap();
        let text = String::from_utf8(json).unwrap();
        for (line, pair) in text.lines().skip(1).zip(pairs) {
            let x0 = line.split_once(':').unwrap().1.split_once(',').unwrap().0;
            assert_eq!(x0.parse::<f64>().unwrap().to_bits(), pair.x0.to_bits());
        }
    }

    /// Takes so many bytes, then fails or panics.
    struct Full {
        room: usize,
        panics: bool,
    }

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.room.checked_sub(bytes.len()) {
                Some(room) => self.room = room,
                None if self.panics => panic!("the panic of this test"),
                None => return Err(io::ErrorKind::StorageFull.into()),
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn outputs_that_fail_end_the_work_with_their_error() {
        let pairs = || Pairs::new(Method::Uniform, 1, PAIRS_LIMIT - 1);
        for number in [1, 2, 5] {
            for room in [0, 1000, 1_000_000] {
                let mut full = Full { room, panics: false };
                let written = write(pairs(), Numbers::Course, threads(number), &mut full, None);
                assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
                let mut full = Full { room, panics: false };
                let also = Some(&mut full as &mut (dyn Write + Send));
                let written =
                    write(pairs(), Numbers::Course, threads(number), &mut io::sink(), also);
                assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
            }
        }
    }

    #[test]
    fn an_output_that_panics_leaves_nobody_waiting() {
        for number in [1, 2, 5] {
            let ended = std::panic::catch_unwind(|| {
                let pairs = Pairs::new(Method::Uniform, 1, PAIRS_LIMIT - 1);
                let mut full = Full { room: 1_000_000, panics: true };
                write(pairs, Numbers::Course, threads(number), &mut full, None)
            });
            assert!(ended.is_err());
        }
    }
}
