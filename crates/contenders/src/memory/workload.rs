//! The workload of the family: a buffer, and one pass over it.
//!
//! The passes of the table's rows are written once, over the three operations a contender brings.

use std::cell::RefCell;
use std::hint::black_box;

use fathom_machine::describe::{Cache, Machine};
use fathom_measure::contender::{Metric, Preparation, Prepared, Unsupported};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Form, Parameters};
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::checksum::fast_sum;
use crate::mix::{Placed, SplitMix, random};
use crate::tasks::{parameter, tasks};

/// A buffer and what one pass does with it.
pub struct Area {
    /// Which pass.
    pub operation: Operation,
    bytes: usize,
    every: usize,
    /// For `fill`: the lengths.
    fills: Vec<usize>,
    /// For `move` and `read`.
    original: Placed,
    /// For `chase`: the numbers of the lines in the order of the walk.
    order: Vec<u32>,
}

tasks! {
    /// A pass over the buffer.
    Operation {
        Fill "fill" "fills from the start: 1 to 16,384 bytes, then ever longer up to the whole buffer",
            forebear: "FillChar", form: PARTS, quick: SOME;
        Move "move" "moves of 1, 2, 3 … bytes end to end, each to the byte before: a memmove, never a memcpy",
            forebear: "Move";
        SmallMove "small-move" "moves of 1 to 48 bytes, there and back at 10,000 distances",
            forebear: "small Move";
        BigMove "big-move" "25 times there and back between the halves of the buffer",
            forebear: "big Move", form: PARTS, quick: SOME;
        Copy "copy" "the first half of the buffer to the second", quick: LEVELS;
        Read "read" "all words of the buffer, summed", quick: LEVELS;
        Chase "chase" "one read per cache line, each waiting for the one before, at most 64 Ki a time; an item is a read",
            form: Form::Reads, quick: LEVELS, alone: "a read has but one way";
    }
}

/// The forebear's passes are long; a quick look takes every twentieth fill and two of the 25 moves.
const PARTS: Form = Form::Parts { share: SHARE };
/// The metric of bytes moved per byte of the whole pass, where a part is made.
const SHARE: &str = "share_of_pass";
const SOME: &[Parameters] = &[&[("every", "20")]];
/// Half of each cache (of the third at most 16 MiB), and memory.
const LEVELS: &[Parameters] =
    &[&[("size", "l1")], &[("size", "l2")], &[("size", "l3")], &[("size", "memory")]];

impl Operation {
    /// Whether it is one of the forebear's, in one large buffer.
    fn is_in_one_buffer(self) -> bool {
        !matches!(self, Operation::Copy | Operation::Read | Operation::Chase)
    }
}

/// What a contender brings.
pub(super) trait Mover {
    /// Fills with a byte.
    fn fill(&self, bytes: &mut [u8], byte: u8);
    /// Moves `length` bytes within the buffer; the places may overlap.
    fn move_within(&self, bytes: &mut [u8], from: usize, to: usize, length: usize);
    /// Copies to another buffer of the same length.
    fn copy(&self, from: &[u8], to: &mut [u8]);
    /// The wrapping sum of all little-endian 64-bit words; the length is a multiple of 64.
    fn sum(&self, bytes: &[u8]) -> u64;
}

/// The smallest buffer: the small moves reach this far.
const SMALL_REACH: usize = 10_000 + 48;

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("memory"),
    tasks: Operation::TASKS,
    common: &[Common { parameters: &[("size", "l2")], ..Common::of("memcpy", "copy", &["std"]) }],
    ..Facts::NONE
};

impl Workload for Area {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[
        parameter(
            "size",
            "16M",
            "bytes in the buffer; l1, l2, l3: half of that cache (16M of l3 at most), memory: 64M to 128M",
        ),
        parameter("every", "1", "of fills and big moves only one in so many, from 1 to 25"),
    ];

    fn load(spec: &Spec) -> Result<Area, SpecError> {
        let operation = Operation::of(spec);
        let least = if operation.is_in_one_buffer() { SMALL_REACH } else { 128 };
        // Where the next line of a walk begins is told in 32 bits.
        let (most, most_gigabytes) = match operation {
            Operation::Chase => (1 << 34, 16),
            _ => (1 << 36, 64),
        };
        let given = || usize::try_from(spec.number("size").ok()?).ok();
        let caches = || Machine::here().caches;
        let bytes = buffer_bytes(spec.text("size"), caches)?.or_else(given);
        let is_taken = |bytes: &usize| (least..=most).contains(bytes) && bytes.is_multiple_of(128);
        let bytes = bytes.filter(is_taken).ok_or_else(|| {
            let numbers = format!("a multiple of 128 from {least} to {most_gigabytes}G");
            spec.bad("size", &format!("{numbers}, or l1, l2, l3, memory"))
        })?;
        let every = spec.number("every")?;
        if !(1..=25).contains(&every) {
            return Err(spec.bad("every", "from 1 to 25"));
        }
        let every = every as usize;
        let original = match operation {
            // The others change a buffer of their own, and only a move can be told by its origin.
            Operation::Move | Operation::Read => pattern(bytes),
            _ => Placed::default(),
        };
        let order = if operation == Operation::Chase { order(bytes / LINE) } else { Vec::new() };
        let fills = if operation == Operation::Fill { fills(bytes, every) } else { Vec::new() };
        Ok(Area { operation, bytes, every, fills, original, order })
    }

    fn work(&self) -> Work {
        let bytes: u64 = match self.operation {
            Operation::Fill => self.fills.iter().map(|&length| length as u64).sum(),
            Operation::Move => moves(self.bytes).map(|(_, length)| length as u64).sum(),
            Operation::SmallMove => 2 * 10_000 * (1..=48_u64).sum::<u64>(),
            Operation::BigMove => self.big_moves().map(|i| 2 * big(self.bytes, i) as u64).sum(),
            Operation::Copy => self.bytes as u64 / 2,
            Operation::Read => self.bytes as u64,
            Operation::Chase => 0,
        };
        let items = match self.operation {
            Operation::Fill => self.fills.len() as u64,
            Operation::Move => moves(self.bytes).count() as u64,
            Operation::SmallMove => 48 * 20_000,
            Operation::BigMove => 2 * self.big_moves().count() as u64,
            Operation::Copy | Operation::Read => 1,
            Operation::Chase => self.steps() as u64,
        };
        Work { bytes, items }
    }

    fn cases() -> Vec<Spec> {
        specs(&[], &["l1", "l2", "l3", "memory"])
    }

    fn small_cases() -> Vec<Spec> {
        specs(&[("size", "64K")], &["128", "4K", "100096"])
    }
}

/// The forebear's operations with these parameters, the others at each of the sizes.
fn specs(large: &[(&str, &str)], sizes: &[&str]) -> Vec<Spec> {
    let each = Operation::EACH.iter().flat_map(|(operation, name)| match operation {
        operation if operation.is_in_one_buffer() => vec![Spec::new(name, large)],
        _ => sizes.iter().map(|size| Spec::new(name, &[("size", size)])).collect(),
    });
    each.collect()
}

/// What a word for a size means: half of a data cache of this machine, or enough for memory itself, twice the
/// third cache, at least 64 MiB. A cache that is shared by a large server counts as 32 MiB, of which 16 are used;
/// 128 MiB are enough for memory then as well, since nobody has that much of it to himself.
fn buffer_bytes(
    word: &str,
    caches: impl FnOnce() -> Vec<Cache>,
) -> Result<Option<usize>, SpecError> {
    let level = match word {
        "l1" => 1,
        "l2" => 2,
        "l3" | "memory" => 3,
        _ => return Ok(None),
    };
    let caches = caches();
    let data = caches.iter().filter(|c| c.level == level && c.kind != "instruction");
    let bytes = match (word, data.filter_map(|cache| cache.size_bytes).max()) {
        ("memory", size) => (2 * size.unwrap_or(0)).clamp(64 << 20, 128 << 20),
        ("l3", Some(size)) => size.min(32 << 20) / 2,
        (_, Some(size)) => size / 2,
        (_, None) => {
            let reason = format!("this machine tells no {} cache", word.to_uppercase());
            return Err(SpecError::Machine { reason });
        }
    };
    Ok(Some(bytes.next_multiple_of(128) as usize))
}

/// Bytes of a cache line, as far as `chase` cares.
const LINE: usize = 64;

/// Lengths of the fills of a pass: one in `every`.
fn fills(bytes: usize, every: usize) -> Vec<usize> {
    let next = |&length: &usize| match length {
        0..16_384 => Some(length + 1),
        _ => Some(length + 777 + length / 16),
    };
    let all = || std::iter::successors(Some(1), next).take_while(|&length| length < bytes);
    // From the back, so that the longest ones, which dominate, are always there.
    let skipped = (all().count() - 1) % every;
    all().skip(skipped).step_by(every).collect()
}

/// Places and lengths of the moves, end to end; each reads one byte beyond its end.
fn moves(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let next = |&(at, length): &(usize, usize)| Some((at + length, length + 1));
    std::iter::successors(Some((0, 1)), next).take_while(move |(at, length)| at + length < bytes)
}

/// Length of the big moves of round `i`.
fn big(bytes: usize, i: usize) -> usize {
    (bytes - bytes.min(3200)) / 2 - 10 * i
}

/// All lines in random order (Fisher and Yates).
fn order(lines: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..lines as u32).collect();
    let mut random = SplitMix(5);
    for at in (1..lines).rev() {
        order.swap(at, (random.word() % (at as u64 + 1)) as usize);
    }
    order
}

/// One number at the start of each line: where the number of the line that comes next in `order` is.
fn ring(order: &[u32]) -> Vec<u32> {
    const NUMBERS: u32 = LINE as u32 / 4;
    let mut ring = vec![0; order.len() * NUMBERS as usize];
    for (at, line) in order.iter().enumerate() {
        ring[(line * NUMBERS) as usize] = order[(at + 1) % order.len()] * NUMBERS;
    }
    ring
}

/// Random bytes that repeat after a length that no kernel has to do with: a buffer of 128 MiB in the time
/// of a copy.
fn pattern(bytes: usize) -> Placed {
    const PERIOD: usize = 65_521;
    let mut pattern = Placed::zeros(bytes);
    let mut written = PERIOD.min(bytes);
    pattern[..written].copy_from_slice(&random(3, written));
    while written < bytes {
        // Doubling keeps the period, as whole periods are copied.
        let more = written.min(bytes - written);
        pattern.copy_within(..more, written);
        written += more;
    }
    pattern
}

/// Reads of an iteration of the walk, at most: it goes on where it was in the next.
const STEPS: usize = 1 << 16;

impl Area {
    /// Numbers of the big moves of a pass.
    fn big_moves(&self) -> impl Iterator<Item = usize> {
        (1..=25).step_by(self.every)
    }

    /// A contender that brings `mover`.
    pub(super) fn moved<'w>(&'w self, mover: impl Mover + 'w) -> Preparation<'w> {
        if self.operation == Operation::Chase {
            return Err(Unsupported("only one way to wait for a read".into()));
        }
        let bytes = match self.operation {
            Operation::Read => Placed::default(),
            Operation::Move => Placed::of(&self.original),
            _ => pattern(self.bytes),
        };
        Ok(Box::new(Pass { area: self, mover, bytes: RefCell::new(bytes), passes: 0 }))
    }

    /// Reads of an iteration of the walk.
    fn steps(&self) -> usize {
        self.order.len().min(STEPS)
    }

    /// The walk.
    pub(super) fn chased(&self) -> Preparation<'_> {
        let (ring, at) = (ring(&self.order), self.order[0] * (LINE as u32 / 4));
        Ok(Box::new(Walk { area: self, ring, at, steps: 0 }))
    }
}

/// A walk through the lines that goes on from iteration to iteration.
struct Walk<'w> {
    area: &'w Area,
    ring: Vec<u32>,
    at: u32,
    steps: usize,
}

impl Prepared for Walk<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let (ring, steps) = (black_box(&self.ring[..]), self.area.steps());
        let mut at = self.at;
        meter.start();
        for _ in 0..iterations.max(1) {
            for _ in 0..steps {
                at = ring[at as usize];
            }
        }
        meter.stop();
        self.at = at;
        self.steps += steps * iterations.max(1) as usize;
        // Where so many steps lead.
        let order = &self.area.order;
        // The reference walks by the same code, so that a digest would tell nothing.
        let expected = order[self.steps % order.len()] * (LINE as u32 / 4);
        assert_eq!(at, expected, "a walk that is lost");
        Digest::default()
    }
}

struct Pass<'w, M> {
    area: &'w Area,
    mover: M,
    bytes: RefCell<Placed>,
    passes: usize,
}

impl<M: Mover> Pass<'_, M> {
    #[inline]
    fn run(&self, bytes: &mut [u8]) -> u64 {
        let mover = &self.mover;
        match self.area.operation {
            Operation::Fill => {
                for &length in &self.area.fills {
                    mover.fill(black_box(&mut bytes[..length]), length as u8);
                }
            }
            Operation::Move => {
                for (at, length) in moves(bytes.len()) {
                    mover.move_within(black_box(&mut *bytes), at + 1, at, length);
                }
            }
            Operation::SmallMove => {
                for length in 1..=48 {
                    for at in 1..=10_000 {
                        mover.move_within(black_box(&mut *bytes), 100, at, length);
                        mover.move_within(black_box(&mut *bytes), at, 100, length);
                    }
                }
            }
            Operation::BigMove => {
                let half = bytes.len() / 2;
                for i in self.area.big_moves() {
                    let length = big(bytes.len(), i);
                    mover.move_within(black_box(&mut *bytes), 0, half, length);
                    mover.move_within(black_box(&mut *bytes), half, 0, length);
                }
            }
            Operation::Copy => {
                let (from, to) = bytes.split_at_mut(self.area.bytes / 2);
                mover.copy(black_box(from), black_box(to));
            }
            Operation::Read => return mover.sum(black_box(&self.area.original[..])),
            Operation::Chase => {}
        }
        0
    }

    /// What the buffer must look like. All passes but `move` leave it the same however often they
    /// run; `move` shifts it by one byte each time, so every 61st byte is compared with its origin.
    fn digest(&self, bytes: &[u8], sum: u64) -> Digest {
        match self.area.operation {
            Operation::Move => {
                let covered: usize = moves(bytes.len()).map(|(_, length)| length).sum();
                let wrong = (0..bytes.len()).step_by(61).filter(|&at| {
                    let origin = if at < covered { (at + self.passes).min(covered) } else { at };
                    bytes[at] != self.area.original[origin]
                });
                Digest::of_u64(wrong.count() as u64)
            }
            Operation::Read => Digest::of_u64(sum),
            _ => Digest::of_u64(fast_sum(bytes).into()),
        }
    }

    /// The buffer shows of many fills, moves and copies but the first or the last ones: how many of some lengths, done
    /// once more, do not what the standard library does.
    fn wrong_once_more(&self) -> u64 {
        const LENGTHS: [usize; 12] = [1, 2, 3, 7, 8, 15, 16, 31, 33, 48, 100, 1000];
        const PLACES: [(usize, usize); 4] = [(100, 7), (7, 100), (101, 100), (1100, 10)];
        let mover = &self.mover;
        let original = pattern(2200);
        let is_wrong = |run: &dyn Fn(&mut [u8]), right: &dyn Fn(&mut [u8])| {
            let (mut found, mut expected) = (original.to_vec(), original.to_vec());
            run(black_box(&mut found));
            right(&mut expected);
            u64::from(found != expected)
        };
        let wrong = |length: usize| match self.area.operation {
            Operation::Fill => {
                is_wrong(&|bytes| mover.fill(&mut bytes[7..7 + length], length as u8), &|bytes| {
                    bytes[7..7 + length].fill(length as u8)
                })
            }
            Operation::Move | Operation::SmallMove | Operation::BigMove => {
                let moved = |&(from, to): &(usize, usize)| {
                    is_wrong(&|bytes| mover.move_within(bytes, from, to, length), &|bytes| {
                        bytes.copy_within(from..from + length, to)
                    })
                };
                PLACES.iter().map(moved).sum()
            }
            Operation::Copy => is_wrong(
                &|bytes| {
                    let (from, to) = bytes.split_at_mut(1100);
                    mover.copy(&from[..length], &mut to[..length]);
                },
                &|bytes| bytes.copy_within(..length, 1100),
            ),
            Operation::Read | Operation::Chase => 0,
        };
        LENGTHS.into_iter().map(wrong).sum()
    }
}

impl<M: Mover> Prepared for Pass<'_, M> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut bytes = self.bytes.take();
        let mut sum = 0;
        meter.start();
        for _ in 0..iterations.max(1) {
            sum = black_box(self.run(black_box(&mut bytes)));
        }
        meter.stop();
        self.passes += iterations.max(1) as usize;
        let digest = self.digest(&bytes, sum).with_u64(self.wrong_once_more());
        self.bytes.replace(bytes);
        digest
    }

    fn metrics(&mut self) -> Vec<Metric> {
        let Area { operation, bytes, every, .. } = *self.area;
        // The other passes are whole, whatever is asked for.
        if every == 1 || !matches!(operation, Operation::Fill | Operation::BigMove) {
            return Vec::new();
        }
        let fills = if operation == Operation::Fill { fills(bytes, 1) } else { Vec::new() };
        let (original, order) = (Placed::default(), Vec::new());
        let whole = Area { operation, bytes, every: 1, fills, original, order };
        let value = self.area.work().bytes as f64 / whole.work().bytes as f64;
        vec![Metric { name: SHARE.to_owned(), value, less_is_better: None }]
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use fathom_measure::meter::Untimed;

    use super::super::reference::Std;
    use super::*;

    fn area(operation: &str, size: &str, every: &str) -> Area {
        Area::load(&Spec::new(operation, &[("size", size), ("every", every)])).unwrap()
    }

    #[test]
    fn a_walk_visits_every_line_and_notices_when_it_is_lost() {
        let area = area("chase", "64K", "1");
        let mut lines: Vec<u32> = area.order.clone();
        lines.sort_unstable();
        assert_eq!(lines, (0..1024).collect::<Vec<u32>>());
        let mut walk =
            Walk { area: &area, ring: ring(&area.order), at: area.order[0] * 16, steps: 0 };
        for iterations in [1, 2, 5] {
            walk.sample(iterations, &mut Untimed);
        }
        walk.at = area.order[1] * 16;
        let lost = AssertUnwindSafe(|| walk.sample(1, &mut Untimed));
        assert!(catch_unwind(lost).is_err());
    }

    #[test]
    fn a_walk_beyond_32_bits_is_refused() {
        let load = |operation, size| {
            let spec = Spec::new(operation, &[("size", size), ("every", "1")]);
            Area::load(&spec).map(drop)
        };
        assert!(load("chase", "17G").unwrap_err().to_string().contains("to 16G"));
        assert!(load("copy", "l4").unwrap_err().to_string().contains("l1, l2, l3, memory"));
        assert!(load("copy", "64G").is_ok());
    }

    /// A size was made up, and the row told as of a cache that may not be there.
    #[test]
    fn a_cache_that_the_machine_does_not_tell_has_no_size() {
        let bytes = |word| buffer_bytes(word, Vec::new);
        for word in ["l1", "l2", "l3"] {
            assert!(matches!(bytes(word), Err(SpecError::Machine { .. })), "{word}");
        }
        assert_eq!(bytes("memory").unwrap(), Some(64 << 20));
        assert_eq!(bytes("64K").unwrap(), None);
    }

    #[test]
    fn only_a_pass_in_parts_has_a_share() {
        for (operation, shares) in [("fill", 1), ("big-move", 1), ("move", 0), ("small-move", 0)] {
            let area = area(operation, "64K", "20");
            assert_eq!(area.moved(Std).unwrap().metrics().len(), shares, "{operation}");
        }
    }

    /// Leaves out what this says, by its length.
    struct Lazy<F>(F);

    impl<F: Fn(usize) -> bool> Mover for Lazy<F> {
        fn fill(&self, bytes: &mut [u8], byte: u8) {
            if !(self.0)(bytes.len()) {
                Std.fill(bytes, byte);
            }
        }

        fn move_within(&self, bytes: &mut [u8], from: usize, to: usize, length: usize) {
            if !(self.0)(length) {
                Std.move_within(bytes, from, to, length);
            }
        }

        fn copy(&self, from: &[u8], to: &mut [u8]) {
            if !(self.0)(from.len()) {
                Std.copy(from, to);
            }
        }

        fn sum(&self, bytes: &[u8]) -> u64 {
            Std.sum(bytes)
        }
    }

    #[test]
    fn short_fills_and_moves_that_are_left_out_are_noticed() {
        for operation in ["fill", "move", "small-move"] {
            let area = area(operation, "64K", "1");
            let digest = |least| {
                let lazy = Lazy(move |length: usize| length < least);
                area.moved(lazy).unwrap().sample(1, &mut Untimed)
            };
            let right = area.moved(Std).unwrap().sample(1, &mut Untimed);
            assert_eq!(digest(0), right, "{operation}");
            assert_ne!(digest(48), right, "{operation}");
        }
    }

    /// After the first the halves are equal, and nothing that is done between them shows.
    #[test]
    fn big_moves_and_copies_after_the_first_are_missed() {
        for operation in ["big-move", "copy"] {
            let area = area(operation, "64K", "1");
            let digest = |prepared: Preparation<'_>| prepared.unwrap().sample(2, &mut Untimed);
            let right = digest(area.moved(Std));
            let is_done = Cell::new(false);
            let once = Lazy(move |_: usize| is_done.replace(true));
            assert_ne!(digest(area.moved(once)), right, "{operation}");
        }
    }

    #[test]
    fn a_pattern_repeats_after_a_prime() {
        let bytes = pattern(1 << 18);
        assert_eq!(bytes.len(), 1 << 18);
        assert!((65_521..bytes.len()).all(|at| bytes[at] == bytes[at - 65_521]));
        assert_ne!(bytes[..4096], bytes[4096..8192]);
    }

    #[test]
    fn passes_move_the_bytes_of_their_forebear() {
        let work = |operation| area(operation, "16M", "1").work();
        assert_eq!(work("fill"), Work { bytes: 417_219_136, items: 16_489 });
        assert_eq!(work("small-move"), Work { bytes: 23_520_000, items: 960_000 });
        let moved = work("move");
        assert!((16_776_000..16_777_216).contains(&moved.bytes) && moved.items > 5780, "{moved:?}");
        let big = work("big-move");
        assert!((419_000_000..420_000_000).contains(&big.bytes), "{big:?}");
    }

    #[test]
    fn a_part_tells_what_share_of_the_bytes_it_moves() {
        let share = |operation, every| {
            let metrics = area(operation, "16M", every).moved(Std).unwrap().metrics();
            metrics.first().map(|metric| (metric.value * 1000.0).round())
        };
        assert_eq!(share("big-move", "20"), Some(80.0), "2 of 25");
        assert!(share("fill", "20").is_some_and(|share| (70.0..76.0).contains(&share)));
        assert_eq!(share("fill", "1"), None);
    }
}
