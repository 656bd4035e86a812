//! What a structure must do ([`Structure`], one key at a time) and the loops over it ([`Batch`], many
//! keys at a time, one call per sample). Times nothing.

use std::io::{self, Write};
use std::sync::Barrier;

use super::keys::Key;
use super::step::{Act, Share, Step};

/// What a loop found: proof of work, the same for every right structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many operations met a key that was there (for inserts: one that was not).
    pub count: u64,
    /// Wrapping sum of the values met; for ordered walks a polynomial that depends on their order.
    pub sum: u64,
}

impl Tally {
    /// Takes in what a find met.
    #[inline]
    pub(crate) fn hit(&mut self, value: Option<u64>) {
        if let Some(value) = value {
            self.count += 1;
            self.sum = self.sum.wrapping_add(value);
        }
    }

    /// Takes in what an insert replaced.
    #[inline]
    pub(crate) fn inserted(&mut self, old: Option<u64>) {
        match old {
            Some(value) => self.sum = self.sum.wrapping_add(value),
            None => self.count += 1,
        }
    }

    /// Takes in what the next step of a trace met: the order of the answers counts, and so do those
    /// that nothing was there.
    #[inline]
    pub(crate) fn met(&mut self, value: Option<u64>) {
        self.count += u64::from(value.is_some());
        let answer = value.map_or(0, |value| value.wrapping_add(1));
        self.sum = self.sum.wrapping_mul(31).wrapping_add(answer);
    }

    /// Takes in the next value of an ordered walk.
    #[inline]
    pub fn next(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_mul(31).wrapping_add(value);
    }

    /// Takes in a value of a walk without order.
    #[inline]
    pub fn any(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Tally) -> Tally {
        let sum = self.sum.wrapping_add(other.sum);
        Tally { count: self.count + other.count, sum }
    }
}

/// Which operations a structure has beside building and finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Inserts one key at a time; without it the structure is built once and never changes.
    pub insert: bool,
    /// Erases a key.
    pub erase: bool,
    /// Visits every value.
    pub iterate: bool,
    /// Visits the values in key order.
    pub ordered: bool,
    /// Visits the values in key order from any key on.
    pub range: bool,
    /// May be read and written by several threads at once.
    pub concurrent: bool,
}

impl Abilities {
    /// A hash map: everything but order.
    pub const MAP: Abilities = Abilities {
        insert: true,
        erase: true,
        iterate: true,
        ordered: false,
        range: false,
        concurrent: false,
    };
    /// A search tree: everything.
    pub const TREE: Abilities = Abilities { ordered: true, range: true, ..Abilities::MAP };
    /// A trie: in order, but not from any key on.
    pub const TRIE: Abilities = Abilities { ordered: true, ..Abilities::MAP };
    /// Built once, then only read.
    pub const STATIC: Abilities =
        Abilities { insert: false, erase: false, iterate: false, ..Abilities::MAP };
}

/// A structure that holds keys of type `K` with a value each.
///
/// What [`ABILITIES`](Structure::ABILITIES) leaves out need not be written and is never called.
pub trait Structure<K: Key>: Sized {
    /// What it can do beside building and finding.
    const ABILITIES: Abilities = Abilities::MAP;

    /// The hasher it takes, or `()`.
    type Hasher: Clone;

    /// An empty one with room for `entries` if it can make room; 0 makes none.
    fn sized(entries: usize, hasher: Self::Hasher) -> Self;

    /// Holds all of `keys`, loaded in the best way it offers; later values replace earlier ones.
    fn build(keys: &[K], values: &[u64], hasher: Self::Hasher) -> Self {
        let mut all = Self::sized(keys.len(), hasher);
        for (&key, &value) in keys.iter().zip(values) {
            all.insert(key, value);
        }
        all
    }

    /// Number of entries.
    fn entries(&self) -> usize;

    /// The value of `key`.
    fn find(&self, key: K) -> Option<u64>;

    /// Finds every probe, in any way; counts and sums what is found.
    #[inline]
    fn find_all(&self, probes: &[K]) -> Tally {
        let mut tally = Tally::default();
        for &probe in probes {
            tally.hit(self.find(probe));
        }
        tally
    }

    /// Inserts or replaces; the value that was there.
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let _ = (key, value);
        unreachable!("inserts only where ABILITIES.insert")
    }

    /// Removes `key`; the value that was there.
    fn erase(&mut self, key: K) -> Option<u64> {
        let _ = key;
        unreachable!("erases only where ABILITIES.erase")
    }

    /// Visits every value; in key order where `ABILITIES.ordered`.
    fn each(&self, visit: impl FnMut(u64)) {
        let _ = visit;
        unreachable!("iterates only where ABILITIES.iterate")
    }

    /// Visits in key order the values of the first `span` keys that are not below `start`.
    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        let _ = (start, span, visit);
        unreachable!("ranges only where ABILITIES.range")
    }

    /// The work of all shares: on this thread alone, one share after another. One that threads may
    /// share is a handle of itself, and has a thread for each (`together`). Calls `start` once all
    /// is ready.
    fn share(&mut self, shares: &[Share<'_, K>], start: &mut dyn FnMut()) -> Tally {
        start();
        shares.iter().fold(Tally::default(), |tally, share| tally.and(work(self, share)))
    }
}

/// The steps of one share: how many were right, and the sum of their keys' values; or what each met.
///
/// One loop for threads and traces, because everything in it is compiled once per type.
#[inline(never)]
pub(super) fn work<K: Key>(map: &mut impl Structure<K>, share: &Share<'_, K>) -> Tally {
    let mut tally = Tally::default();
    for (&key, &Step { act, value }) in share.keys.iter().zip(share.steps) {
        let met = match act {
            Act::Find | Act::Miss | Act::Race => map.find(key),
            Act::Update => map.insert(key, !value),
            Act::Insert => map.insert(key, value),
            Act::Erase => map.erase(key),
            Act::Scan => {
                map.range(key, value as usize, |value| tally.next(value));
                continue;
            }
        };
        if share.is_trace {
            tally.met(met);
        } else if act.is_right(value, met) {
            tally.any(value);
        }
    }
    tally
}

/// The work of all shares of a structure whose clones are handles of it: one thread per share. They
/// begin together, right after `start`, so that starting threads is no part of the time; ending them
/// is.
pub(crate) fn together<K: Key>(
    map: &(impl Structure<K> + Clone + Send),
    shares: &[Share<'_, K>],
    start: &mut dyn FnMut(),
) -> Tally {
    let barrier = &Barrier::new(shares.len() + 1);
    std::thread::scope(|scope| {
        let run = |share| {
            let mut handle = map.clone();
            let run = move || {
                barrier.wait();
                work(&mut handle, share)
            };
            std::thread::Builder::new().spawn_scoped(scope, run).unwrap_or_else(|error| {
                // A panic would wait for the others, and they for this one: the worker ends, and its
                // row says so.
                let _ = writeln!(io::stderr(), "cannot start {} threads: {error}", shares.len());
                std::process::exit(1)
            })
        };
        let threads: Vec<_> = shares.iter().map(run).collect();
        start();
        barrier.wait();
        let tallies = threads.into_iter().map(|thread| match thread.join() {
            Ok(tally) => tally,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        tallies.fold(Tally::default(), Tally::and)
    })
}

/// The entries in key order, each key once.
pub(crate) fn sorted<K: Key>(keys: &[K], values: &[u64]) -> Vec<(K, u64)> {
    let mut all: Vec<(K, u64)> = keys.iter().copied().zip(values.iter().copied()).collect();
    all.sort_unstable();
    all.dedup_by_key(|(key, _)| *key);
    all
}

/// The loops over a structure; one call per sample.
pub trait Batch<K> {
    /// Number of entries.
    fn entries(&self) -> usize;
    /// Inserts every key; counts the new ones and sums the values replaced.
    fn insert_all(&mut self, keys: &[K], values: &[u64]) -> Tally;
    /// Finds every probe; counts and sums what is found.
    fn find_all(&self, probes: &[K]) -> Tally;
    /// Erases every probe; counts and sums what was there.
    fn erase_all(&mut self, probes: &[K]) -> Tally;
    /// Erases `out[i]` and inserts `into[i]`, for every i.
    fn churn(&mut self, out: &[K], into: &[K], values: &[u64]) -> Tally;
    /// Visits every value, in any order.
    fn iterate(&self) -> Tally;
    /// Visits every value in key order.
    fn scan(&self) -> Tally;
    /// From each start on, visits `span` values in key order.
    fn range_all(&self, starts: &[K], span: usize) -> Tally;
    /// One thread per share, all at once; calls `start` when they are ready.
    fn share(&mut self, shares: &[Share<'_, K>], start: &mut dyn FnMut()) -> Tally;
    /// The steps of a trace, one after another, and what each met.
    fn replay(&mut self, trace: &Share<'_, K>) -> Tally;
    /// Bytes it has taken where no allocator of this process counts them: files, C libraries.
    fn stored_bytes(&self) -> Option<u64> {
        None
    }
}

/// [`Batch`] over a structure that takes one key at a time.
pub(crate) struct EachKey<S>(pub(crate) S);

impl<K: Key, S: Structure<K>> Batch<K> for EachKey<S> {
    fn entries(&self) -> usize {
        self.0.entries()
    }

    #[inline(never)]
    fn insert_all(&mut self, keys: &[K], values: &[u64]) -> Tally {
        let mut tally = Tally::default();
        for (&key, &value) in keys.iter().zip(values) {
            tally.inserted(self.0.insert(key, value));
        }
        tally
    }

    #[inline(never)]
    fn find_all(&self, probes: &[K]) -> Tally {
        self.0.find_all(probes)
    }

    #[inline(never)]
    fn erase_all(&mut self, probes: &[K]) -> Tally {
        let mut tally = Tally::default();
        for &probe in probes {
            tally.hit(self.0.erase(probe));
        }
        tally
    }

    fn churn(&mut self, out: &[K], into: &[K], values: &[u64]) -> Tally {
        let mut tally = Tally::default();
        for ((&old, &new), &value) in out.iter().zip(into).zip(values) {
            tally.hit(self.0.erase(old));
            tally.inserted(self.0.insert(new, value));
        }
        tally
    }

    fn iterate(&self) -> Tally {
        let mut tally = Tally::default();
        self.0.each(|value| tally.any(value));
        tally
    }

    fn scan(&self) -> Tally {
        let mut tally = Tally::default();
        self.0.each(|value| tally.next(value));
        tally
    }

    fn range_all(&self, starts: &[K], span: usize) -> Tally {
        let mut tally = Tally::default();
        for &start in starts {
            self.0.range(start, span, |value| tally.next(value));
        }
        tally
    }

    fn share(&mut self, shares: &[Share<'_, K>], start: &mut dyn FnMut()) -> Tally {
        self.0.share(shares, start)
    }

    fn replay(&mut self, trace: &Share<'_, K>) -> Tally {
        work(&mut self.0, trace)
    }
}
