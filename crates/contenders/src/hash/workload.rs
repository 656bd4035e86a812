//! The workload of the family: keys hashed one after another, or one buffer.
//!
//! Hash functions do not agree with each other, so the check is a yes or no: the sum of all hashes
//! in the timed loop is the one computed beforehand, key by key, and the published vectors hold.

use std::hint::black_box;

use fathom_measure::contender::{Prepared, timed};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::{HashFunction, Hashes};
use crate::keyed::load;
use crate::keyed::{Key, Keys};
use crate::tasks::{offer, parameter};
use fathom_random::Random;

/// Keys or a buffer, and how they are hashed.
pub struct Hashing {
    operation: Operation,
    keys: Keys,
    bulk: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Keys,
    Chain,
    Bulk,
}

impl Workload for Hashing {
    const OPERATIONS: &'static [Offer] = &[
        offer("keys", "each key on its own; the processor may overlap them"),
        offer("chain", "each key after the hash before it is known: latency"),
        offer("bulk", "one buffer of `size` bytes"),
    ];
    const PARAMETERS: &'static [Offer] = &[
        load::PARAMETERS[0],
        load::PARAMETERS[1],
        load::PARAMETERS[2],
        load::PARAMETERS[3],
        parameter("size", "64K", "bulk: bytes in the buffer"),
    ];

    fn load(spec: &Spec) -> Result<Hashing, SpecError> {
        let operation = match spec.operation.as_str() {
            "chain" => Operation::Chain,
            "bulk" => Operation::Bulk,
            _ => Operation::Keys,
        };
        let size = usize::try_from(spec.number("size")?).ok().filter(|&size| size <= 1 << 32);
        let size = size.ok_or_else(|| spec.bad("size", "at most 4G"))?;
        let mut random = Random::new(spec.number("seed")?);
        let (keys, bulk) = match operation {
            Operation::Bulk => {
                (Keys::Integers(Vec::new()), (0..size).map(|_| random.word() as u8).collect())
            }
            _ => (load::keys(spec)?, Vec::new()),
        };
        Ok(Hashing { operation, keys, bulk })
    }

    fn work(&self) -> Work {
        match self.operation {
            Operation::Bulk => Work { bytes: self.bulk.len() as u64, items: 1 },
            _ => Work { bytes: self.keys.bytes(), items: self.keys.len() as u64 },
        }
    }

    /// Keys have no size, and the buffer has no keys.
    fn takes(spec: &Spec, parameter: &str) -> bool {
        let is_bulk = spec.operation == "bulk";
        match parameter {
            "size" => is_bulk,
            "format" => !is_bulk && spec.file.is_some(),
            "keys" | "count" => !is_bulk && spec.file.is_none(),
            _ => true,
        }
    }

    fn cases() -> Vec<Spec> {
        let mut cases = Vec::new();
        for operation in ["keys", "chain"] {
            for keys in ["words", "integers", "uuids", "long"] {
                cases.push(Spec::new(operation, &[("keys", keys), ("count", "10000")]));
            }
        }
        cases.extend(["1K", "64K", "1M"].map(|size| Spec::new("bulk", &[("size", size)])));
        cases
    }

    fn small_cases() -> Vec<Spec> {
        let mut cases = Vec::new();
        for operation in ["keys", "chain"] {
            for keys in ["words", "integers", "long"] {
                cases.push(Spec::new(operation, &[("keys", keys), ("count", "100")]));
            }
            cases.push(Spec::new(operation, &[("count", "0")]));
        }
        cases.extend(["0", "1", "1000"].map(|size| Spec::new("bulk", &[("size", size)])));
        cases
    }
}

impl Hashing {
    /// `H` on this workload.
    pub(super) fn prepare<H: HashFunction>(&self) -> Box<dyn Prepared + '_> {
        let right = H::vectors().iter().all(|(found, expected)| found == expected);
        match &self.keys {
            _ if self.operation == Operation::Bulk => {
                let expected = Hashes::bytes(&H::default(), &self.bulk);
                let items = self.bulk.len() as u64;
                let run = |bytes: &[u8]| Hashes::bytes(&H::default(), bytes);
                timed(&self.bulk[..], run, move |hash| verdict(items, right && *hash == expected))
            }
            Keys::Integers(keys) => self.each(&Loops::<u64>::of::<H>(), keys.clone(), right),
            Keys::Text(text) => self.each(&Loops::of::<H>(), text.keys(), right),
        }
    }

    fn each<'w, K: Key + 'w>(
        &self,
        loops: &Loops<K>,
        keys: Vec<K>,
        right: bool,
    ) -> Box<dyn Prepared + 'w> {
        let mut expected = 0_u64;
        for &key in &keys {
            expected = expected.wrapping_add((loops.one)(key));
        }
        let items = keys.len() as u64;
        let run = if self.operation == Operation::Chain { loops.chain } else { loops.sum };
        let run = move || run(black_box(&keys));
        timed(&(), move |()| run(), move |sum| verdict(items, right && *sum == expected))
    }
}

/// A hash function over keys of a type: all that is compiled for both.
struct Loops<K> {
    one: fn(K) -> u64,
    sum: fn(&[K]) -> u64,
    chain: fn(&[K]) -> u64,
}

impl<K: Key> Loops<K> {
    fn of<H: HashFunction>() -> Loops<K> {
        Loops { one: one::<H, K>, sum: sum::<H, K>, chain: chain::<H, K> }
    }
}

fn verdict(items: u64, right: bool) -> Digest {
    Digest::of_u64(items).with_u64(u64::from(right))
}

fn one<H: HashFunction, K: Key>(key: K) -> u64 {
    key.hash_by(&H::default())
}

#[inline(never)]
fn sum<H: HashFunction, K: Key>(keys: &[K]) -> u64 {
    let function = H::default();
    keys.iter().fold(0, |sum, key| sum.wrapping_add(key.hash_by(&function)))
}

/// The place of the next key is known only once the hash is, for the hash is in it twice and cancels
/// itself out, which the compiler cannot know.
#[inline(never)]
fn chain<H: HashFunction, K: Key>(keys: &[K]) -> u64 {
    let function = H::default();
    let (mut sum, mut hash) = (0_u64, 0_u64);
    for at in 0..keys.len() {
        let place = at ^ (hash ^ black_box(hash)) as usize;
        hash = keys[place].hash_by(&function);
        sum = sum.wrapping_add(hash);
    }
    sum
}
