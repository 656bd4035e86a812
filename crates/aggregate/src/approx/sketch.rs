//! How many values differ, without keeping them: HyperLogLog.
//!
//! Of every value 64 bits of hash are looked at. As long as few values differ their hashes are kept, and counted. Then
//! the first 14 bits choose one of 16,384 registers, which keeps how many zeros the other bits began with at most (Flajolet,
//! Fusy, Gandouet and Meunier, HyperLogLog, AofA 2007). The estimate is that of Ertl (New cardinality estimation algorithms for
//! HyperLogLog sketches, 2017, arXiv:1702.01284, section 4, algorithm 6), which needs no table of corrections; additions,
//! products and roots of doubles are the same on every machine.
//!
//! The hash has no seed, so that sketches of different machines merge. Whoever chooses the values can mislead it.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use crate::kept::Given;
use crate::number::Decimal;

/// Bits that choose a register.
const INDEX_BITS: u32 = 14;

/// Registers.
const REGISTERS: usize = 1 << INDEX_BITS;

/// The other bits of a hash.
const OTHER_BITS: usize = 64 - INDEX_BITS as usize;

/// Fewest different hashes that are no longer kept: together they take half the room of registers, and their written form is
/// shorter.
const MANY: usize = 1024;

/// The standard deviation of the estimate in percent, `1.04 / sqrt(16384)`, as units and decimals.
pub(crate) const STANDARD_ERROR: (i128, u16) = (8125, 4);

/// Fewest hashes that wait before they are looked at: one after the other, registers of many keys would all be
/// fetched from memory.
const WAITING: usize = 64;

/// What is known of which values there are: depends on those alone, and not on their order.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    known: Known,
    /// Not yet among those.
    waiting: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// The hashes of all values, in order, each once.
    Few(Vec<u64>),
    /// The registers.
    Many(Box<[u8]>),
}

impl PartialEq for Sketch {
    fn eq(&self, other: &Sketch) -> bool {
        self.settled().known == other.settled().known
    }
}

impl Eq for Sketch {}

impl Sketch {
    pub(crate) fn of(value: Given<'_>) -> Sketch {
        Sketch { known: Known::Few(Vec::new()), waiting: vec![hash(value)] }
    }

    pub(crate) fn add(&mut self, value: Given<'_>) {
        if self.is_time() {
            self.settle();
        }
        self.waiting.push(hash(value));
    }

    /// Whether no more should wait: as many as are known, so that each is moved a few times only.
    fn is_time(&self) -> bool {
        let known = match &self.known {
            Known::Few(hashes) => hashes.len() / 2,
            Known::Many(_) => 0,
        };
        self.waiting.len() >= known.max(WAITING)
    }

    /// Looks at what waits: all that is asked of a sketch is asked afterwards.
    pub(crate) fn settle(&mut self) {
        if let Known::Few(hashes) = &mut self.known {
            hashes.append(&mut self.waiting);
            // What is known is a run, which the stable sort finds.
            hashes.sort();
            hashes.dedup();
            if hashes.len() < MANY {
                hashes.shrink_to(hashes.len());
                return;
            }
            self.waiting = std::mem::take(hashes);
            self.known = Known::Many(vec![0; REGISTERS].into());
        }
        let Known::Many(registers) = &mut self.known else { unreachable!("there are many") };
        for hash in self.waiting.drain(..) {
            let register = &mut registers[(hash >> OTHER_BITS) as usize];
            let rank = (hash << INDEX_BITS).leading_zeros().min(OTHER_BITS as u32) + 1;
            *register = (*register).max(rank as u8);
        }
        self.waiting.shrink_to(WAITING);
    }

    /// With nothing that waits.
    fn settled(&self) -> Cow<'_, Sketch> {
        if self.waiting.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut settled = self.clone();
        settled.settle();
        Cow::Owned(settled)
    }

    /// Takes in what another one knows.
    pub(crate) fn merge(&mut self, other: &Sketch) {
        self.waiting.extend(&other.waiting);
        match (&mut self.known, &other.known) {
            (_, Known::Few(hashes)) => self.waiting.extend(hashes),
            (Known::Few(hashes), Known::Many(_)) => {
                self.waiting.append(hashes);
                self.known = other.known.clone();
            }
            (Known::Many(own), Known::Many(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| *own = (*own).max(*more));
            }
        }
        self.settle();
    }

    /// How many values differ, nearly.
    pub(crate) fn count(&self) -> u64 {
        match &self.settled().known {
            Known::Few(hashes) => hashes.len() as u64,
            Known::Many(registers) => estimate(registers),
        }
    }

    /// Whether the count is no estimate.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.settled().known, Known::Few(_))
    }

    /// Bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let known = match &self.known {
            Known::Few(hashes) => hashes.capacity() * size_of::<u64>(),
            Known::Many(_) => REGISTERS,
        };
        known + self.waiting.capacity() * size_of::<u64>()
    }

    /// Bytes that another value may allocate.
    pub(crate) fn growth(&self) -> usize {
        let hashes = match &self.known {
            Known::Few(hashes) if self.is_time() => 2 * (hashes.len() + self.waiting.len()),
            _ if self.waiting.len() == self.waiting.capacity() => self.waiting.capacity().max(4),
            _ => return 0,
        };
        let may_be_many = if hashes >= MANY { REGISTERS } else { 0 };
        hashes * size_of::<u64>() + may_be_many
    }

    /// As bytes: 8 for each hash, little-endian, or one for each register.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match &self.settled().known {
            Known::Few(hashes) => hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect(),
            Known::Many(registers) => registers.to_vec(),
        }
    }

    /// What was written so. None for bytes that are none.
    pub(crate) fn restored(bytes: &[u8]) -> Option<Sketch> {
        let of = |known| Sketch { known, waiting: Vec::new() };
        if bytes.len() == REGISTERS {
            let is_rank = |rank: &u8| usize::from(*rank) <= OTHER_BITS + 1;
            return bytes.iter().all(is_rank).then(|| of(Known::Many(bytes.into())));
        }
        let (hashes, rest) = bytes.as_chunks::<8>();
        let hashes: Vec<u64> = hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
        let is_right = rest.is_empty() && (1..MANY).contains(&hashes.len());
        let is_right = is_right && hashes.is_sorted_by(|a, b| a < b);
        is_right.then(|| of(Known::Few(hashes)))
    }
}

/// The hash of a value: the same for 1 and 1.0.
fn hash(value: Given<'_>) -> u64 {
    let number = match value {
        Given::Text(text) => return xxh3_64(text),
        Given::Number(number) => number,
    };
    match number.small() {
        Some(mut units) => {
            let mut scale = if units == 0 { 0 } else { number.scale() };
            while scale > 0 && units % 10 == 0 {
                units /= 10;
                scale -= 1;
            }
            let mut bytes = [0; 18];
            bytes[..16].copy_from_slice(&units.to_le_bytes());
            bytes[16..].copy_from_slice(&scale.to_le_bytes());
            xxh3_64(&bytes)
        }
        None => hash_big(number),
    }
}

/// The same of a number whose units do not fit 128 bits; those of the same number may.
fn hash_big(number: &Decimal) -> u64 {
    let (mut units, mut scale) = (number.to_big(), number.scale());
    while scale > 0 && (&units % 10_u32) == 0_u32.into() {
        units /= 10_u32;
        scale -= 1;
    }
    let number = Decimal::of_big(units, scale);
    match number.small() {
        Some(_) => hash(Given::Number(&number)),
        None => xxh3_64(number.to_string().as_bytes()),
    }
}

/// Ertl's estimate of registers.
fn estimate(registers: &[u8]) -> u64 {
    let mut having = [0_u32; OTHER_BITS + 2];
    registers.iter().for_each(|&rank| having[usize::from(rank)] += 1);
    let having = having.map(f64::from);
    let all = REGISTERS as f64;
    let mut sum = all * tau(1.0 - having[OTHER_BITS + 1] / all);
    for rank in (1..=OTHER_BITS).rev() {
        sum = 0.5 * (sum + having[rank]);
    }
    sum += all * sigma(having[0] / all);
    (all * all / (2.0 * std::f64::consts::LN_2) / sum).round() as u64
}

/// `x + Σ x^(2^k) 2^(k-1)`: what registers without a value are worth.
fn sigma(mut x: f64) -> f64 {
    let (mut sum, mut factor) = (x, 1.0);
    while x < 1.0 {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor *= 2.0;
        if sum == before {
            return sum;
        }
    }
    f64::INFINITY
}

/// `(1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3`: what full registers are worth.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut sum, mut factor) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sketch(values: impl IntoIterator<Item = u64>) -> Sketch {
        let mut values = values.into_iter().map(|value| Decimal::new(value.into(), 1));
        let mut sketch = Sketch::of(Given::Number(&values.next().unwrap()));
        values.for_each(|value| sketch.add(Given::Number(&value)));
        sketch
    }

    #[test]
    fn estimates_scatter_as_much_as_they_say() {
        // Of 40 sets of each size: the root of the mean square error against the standard error, within
        // what 40 drawings allow (the deviation of a deviation is 1 / sqrt(2 · 40) of it).
        for size in [1000, 2000, 10_000, 50_000, 200_000_u64] {
            let error = |set: u64| {
                let values = (0..size).map(|value| set << 32 | value);
                let sketch = sketch(values);
                assert_eq!(sketch.is_exact(), size < MANY as u64);
                sketch.count() as f64 / size as f64 - 1.0
            };
            let errors: Vec<f64> = (0..40).map(error).collect();
            let mean_square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64;
            let standard = 1.04 / (REGISTERS as f64).sqrt();
            let most = if size < MANY as u64 { 0.0 } else { standard * 1.4 };
            assert!(mean_square.sqrt() <= most, "{size}: {}", mean_square.sqrt() / standard);
            let worst = errors.iter().fold(0.0_f64, |most, error| most.max(error.abs()));
            assert!(worst <= 4.0 * standard, "{size}: {worst}");
        }
    }

    #[test]
    fn the_standard_error_is_that_of_the_registers() {
        let (units, decimals) = STANDARD_ERROR;
        let percent = units as f64 / 10_f64.powi(decimals.into());
        assert!((percent - 104.0 / (REGISTERS as f64).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_number_has_one_hash_however_it_is_written() {
        let of = |text: &str| hash(Given::Number(&Decimal::parse(text.as_bytes()).unwrap()));
        for same in [["1", "1.000"], ["0", "0.0"], ["1e-50", "1000e-53"], ["120", "1.2e2"]] {
            assert_eq!(of(same[0]), of(same[1]), "{same:?}");
        }
        let zeros = format!("5.{}", "0".repeat(60));
        assert_eq!(of(&zeros), of("5"));
        assert_ne!(of("1"), of("-1"));
        assert_ne!(of("1"), of("10"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_sketch_depends_on_the_values_alone(
            parts in prop::collection::vec((0..3000_u64, 1..4000_u64), 1..5), turn in 0..5_usize,
        ) {
            let all = |(start, len): (u64, u64)| start..start + len;
            let whole = sketch(parts.iter().copied().flat_map(all));
            let mut sketches: Vec<Sketch> = parts.iter().map(|&part| sketch(all(part))).collect();
            sketches.rotate_left(turn % parts.len());
            let merged = sketches.into_iter().reduce(|mut own, other| { own.merge(&other); own });
            let different: std::collections::HashSet<u64> =
                parts.iter().copied().flat_map(all).collect();
            prop_assert_eq!(whole.is_exact(), different.len() < MANY);
            if whole.is_exact() {
                prop_assert_eq!(whole.count(), different.len() as u64);
            }
            prop_assert_eq!(Sketch::restored(&whole.to_bytes()), Some(whole.clone()));
            prop_assert_eq!(merged, Some(whole));
        }
    }
}
