//! Key sets from a seed: the same bytes on any machine and in any version.
//!
//! ```text
//! Recipe ─▶ distinct keys ─▶ duplicates among them ─▶ order ─▶ values ─▶ KeySet
//! ```
//!
//! Each step draws from its own stream of the seed, so that another order or other values leave
//! the keys as they are. Holds everything in memory; writes nothing.

mod shape;
mod sizes;

use std::borrow::Cow;
use std::collections::HashSet;

use fathom_random::Random;
use xxhash_rust::xxh3::xxh3_64;

use crate::set::{KeySet, Keys, Span};

pub use shape::Shape;
pub use sizes::{Sizes, UnknownSizes};

/// What key set is wanted.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// Keys, duplicates counted.
    pub count: u64,
    /// Which of the many possible sets.
    pub seed: u64,
    /// What keys look like.
    pub shape: Shape,
    /// Integers of so many bits instead of byte strings; `sizes` means nothing then.
    pub integer_bits: Option<u32>,
    /// Lengths of keys in bytes; `None` for what suits the shape.
    pub sizes: Option<Sizes>,
    /// Lengths of values in bytes, where values are wanted.
    pub values: Option<Sizes>,
    /// Values of printable ASCII instead of any bytes.
    pub printable_values: bool,
    /// In what order they stand.
    pub order: Order,
    /// Share of the keys that repeat another one, from 0 to below 1.
    pub duplicates: f64,
}

/// The order of generated keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Every order equally likely.
    #[default]
    Random,
    /// Upwards by bytes, or by number.
    Sorted,
    /// Downwards.
    Reversed,
}

/// Why a recipe cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// There are not so many different keys of this shape and size.
    #[error("only {made} different keys of this shape and size were found, {wanted} are wanted")]
    Exhausted {
        /// Keys found before it became hopeless.
        made: u64,
        /// Keys wanted.
        wanted: u64,
    },
    /// A share that is none.
    #[error("{0} is no share of duplicates: from 0 to below 1")]
    Duplicates(String),
    /// A shape that integers do not have.
    #[error("integers are random, sequential or clustered")]
    Integers,
    /// UUIDs have 36 bytes.
    #[error("UUIDs have 36 bytes; they take no sizes")]
    Uuid,
    /// IPv4 addresses have the bytes that their numbers take.
    #[error("IPv4 addresses are as long as their numbers; they take no sizes")]
    Ipv4,
    /// They do not fit in memory.
    #[error("no memory for {0} keys")]
    Memory(u64),
    /// A key of no byte.
    #[error("a key has at least one byte; the sizes of these begin at 0")]
    Empty,
}

/// After so many draws in a row that gave nothing new the shape is taken to be exhausted: if one key of a shape is left, and
/// as many were made, all miss it once in e^20 times.
fn patience(made: usize) -> u64 {
    20 * (made as u64).clamp(100, 10_000_000)
}

const STREAM_KEYS: u64 = 1;
const STREAM_DUPLICATES: u64 = 2;
const STREAM_ORDER: u64 = 3;
const STREAM_VALUES: u64 = 4;

/// Follows the recipe.
///
/// # Errors
/// See [`RecipeError`].
pub fn generate(recipe: &Recipe) -> Result<KeySet<'static>, RecipeError> {
    if !(0.0..1.0).contains(&recipe.duplicates) {
        return Err(RecipeError::Duplicates(recipe.duplicates.to_string()));
    }
    let repeated = (recipe.count as f64 * recipe.duplicates).round() as u64;
    // Something must be there to be repeated.
    let distinct = (recipe.count - repeated).max(recipe.count.min(1));
    let mut bytes = Vec::new();
    let keys = match recipe.integer_bits {
        Some(bits) => {
            let numbers = integers(recipe, distinct, bits)?;
            Keys::Integers(arranged(numbers, recipe, |a, b| a.cmp(b)))
        }
        None => {
            let spans = strings(recipe, distinct, &mut bytes)?;
            Keys::Bytes(arranged(spans, recipe, |a, b| a.of(&bytes).cmp(b.of(&bytes))))
        }
    };
    let values = recipe.values.as_ref().map(|sizes| values(recipe, sizes, &mut bytes));
    Ok(KeySet { bytes: Cow::Owned(bytes), keys, values })
}

/// Distinct byte strings.
fn strings(recipe: &Recipe, wanted: u64, bytes: &mut Vec<u8>) -> Result<Vec<Span>, RecipeError> {
    if let Some(sizes) = &recipe.sizes {
        match recipe.shape {
            Shape::Uuids => return Err(RecipeError::Uuid),
            Shape::Ipv4 => return Err(RecipeError::Ipv4),
            _ if sizes.least() == 0 => return Err(RecipeError::Empty),
            _ => {}
        }
    }
    let mut random = Random::stream(recipe.seed, STREAM_KEYS);
    let sizes = recipe.sizes.clone().unwrap_or_else(|| recipe.shape.usual_sizes());
    let maker = shape::Maker::new(recipe.shape, wanted, sizes.most(), &mut random)?;
    // A key whose hash is taken counts as taken: millions of keys cost megabytes, not gigabytes.
    let mut taken = HashSet::new();
    let mut spans = Vec::new();
    let mut in_vain = 0;
    let memory = |_| RecipeError::Memory(wanted);
    while (spans.len() as u64) < wanted {
        let start = bytes.len();
        let size = sizes.draw(&mut random) as usize;
        bytes.try_reserve(size).map_err(memory)?;
        taken.try_reserve(1).map_err(memory)?;
        spans.try_reserve(1).map_err(memory)?;
        maker.key(spans.len() as u64, size, &mut random, bytes);
        if taken.insert(xxh3_64(&bytes[start..])) {
            spans.push(Span { start: start as u64, len: (bytes.len() - start) as u32 });
            in_vain = 0;
            continue;
        }
        bytes.truncate(start);
        in_vain += 1;
        if in_vain == patience(spans.len()) {
            return Err(RecipeError::Exhausted { made: spans.len() as u64, wanted });
        }
    }
    Ok(spans)
}

/// Distinct integers of `bits` bits.
fn integers(recipe: &Recipe, wanted: u64, bits: u32) -> Result<Vec<u64>, RecipeError> {
    let mut random = Random::stream(recipe.seed, STREAM_KEYS);
    let most = u64::MAX >> (64 - bits.clamp(1, 64));
    let exhausted = |made| RecipeError::Exhausted { made, wanted };
    // In order they begin with 1, and not with 0.
    let many = if recipe.shape == Shape::Sequential { most } else { most.saturating_add(1) };
    if wanted > many {
        return Err(exhausted(many));
    }
    let memory = |_| RecipeError::Memory(wanted);
    if recipe.shape == Shape::Sequential {
        let mut numbers = Vec::new();
        let count = usize::try_from(wanted).unwrap_or(usize::MAX);
        numbers.try_reserve_exact(count).map_err(memory)?;
        numbers.extend(1..=wanted);
        return Ok(numbers);
    }
    // A cluster is a run of numbers, three quarters of it taken, at a random place.
    const RUN: u64 = 256;
    let mut base = 0;
    let mut numbers = Vec::new();
    let mut taken = HashSet::new();
    let mut in_vain = 0;
    while (numbers.len() as u64) < wanted {
        let number = match recipe.shape {
            Shape::Random => random.word() & most,
            Shape::Clustered => {
                if (numbers.len() as u64).is_multiple_of(RUN / 4 * 3) || in_vain > 64 {
                    base = random.word() & most & !(RUN - 1);
                }
                base + random.below(RUN.min(most.saturating_add(1)))
            }
            _ => return Err(RecipeError::Integers),
        };
        taken.try_reserve(1).map_err(memory)?;
        numbers.try_reserve(1).map_err(memory)?;
        if taken.insert(number) {
            numbers.push(number);
            in_vain = 0;
            continue;
        }
        in_vain += 1;
        if in_vain == patience(numbers.len()) {
            return Err(exhausted(numbers.len() as u64));
        }
    }
    Ok(numbers)
}

/// With duplicates, in order.
fn arranged<T: Copy>(
    mut keys: Vec<T>,
    recipe: &Recipe,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<T> {
    let mut random = Random::stream(recipe.seed, STREAM_DUPLICATES);
    let distinct = keys.len() as u64;
    for _ in distinct..recipe.count {
        keys.push(keys[random.below(distinct) as usize]);
    }
    match recipe.order {
        Order::Random => Random::stream(recipe.seed, STREAM_ORDER).shuffle(&mut keys),
        Order::Sorted => keys.sort_unstable_by(&compare),
        Order::Reversed => keys.sort_unstable_by(|a, b| compare(b, a)),
    }
    keys
}

fn values(recipe: &Recipe, sizes: &Sizes, bytes: &mut Vec<u8>) -> Vec<Span> {
    let mut random = Random::stream(recipe.seed, STREAM_VALUES);
    let value = |_| {
        let start = bytes.len();
        let size = sizes.draw(&mut random) as usize;
        while bytes.len() < start + size {
            let word = random.word().to_le_bytes();
            match recipe.printable_values {
                // 0x20 to 0x7e, near enough to uniform.
                true => bytes.extend(word.map(|byte| 0x20 + (u16::from(byte) * 95 / 256) as u8)),
                false => bytes.extend(word),
            }
        }
        bytes.truncate(start + size);
        Span { start: start as u64, len: size as u32 }
    };
    (0..recipe.count).map(value).collect()
}
