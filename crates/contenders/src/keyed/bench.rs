//! What each operation does and which of its parts is timed; how a contender names its types.
//! Knows no particular structure.

use std::hint::black_box;

use fathom_measure::contender::{
    Contender, Meta, Metric, Origin, Preparation, Prepared, Unsupported,
};
use fathom_measure::digest::Digest;
use fathom_measure::meter::Meter;

use super::keys::{Bytes, Key, Keys};
use super::latency;
use super::operation::Operation;
use super::step::{Act, Share, Undo, shares};
use super::structure::{Abilities, Batch, EachKey, Structure, Tally};
use super::workload::Keyed;
use crate::footprint;
use crate::hash::{self, Build, Called, Hashes};

/// The standard library, at the version of the compiler.
pub(crate) const STD: Origin = Origin::Library("std", || env!("FATHOM_RUSTC").to_owned());

/// A contender whose structure takes a key and nothing else.
pub(crate) trait PlainMap: Sync + 'static {
    const META: Meta;
    /// See [`Contender::is_listed`].
    const IS_LISTED: bool = true;
    type Map<K: Key>: Structure<K, Hasher = ()>;
}

/// A contender whose structure takes a hash function as well.
pub(crate) trait HashedMap: Sync + 'static {
    const META: Meta;
    type Map<K: Key, H: Hashes>: Structure<K, Hasher = Build<H>>;
}

/// A contender whose structure takes integers alone.
pub(crate) trait IntegerMap: Sync + 'static {
    const META: Meta;
    type Map: Structure<u64, Hasher = ()> + 'static;
}

/// [`PlainMap`] as a contender.
pub(crate) struct Plain<T>(pub(crate) T);
/// [`HashedMap`] as a contender: one variant per hash function, short functions inlined.
pub(crate) struct Hashed<T>(pub(crate) T);
/// [`HashedMap`] as a contender: one variant per hash function, all of them called.
///
/// For maps that synchronise or copy paths: against that a call is nothing, and they are the ones
/// that take longest to compile, which is done once instead of seven times.
pub(crate) struct HashedByCall<T>(pub(crate) T);
/// [`IntegerMap`] as a contender.
pub(crate) struct Integers<T>(pub(crate) T);

impl<T: PlainMap> Contender<Keyed> for Plain<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.has_integers() {
            true => of::<u64, T::Map<u64>>(workload, Keys::integers, ()),
            false => of::<Bytes<'w>, T::Map<Bytes<'w>>>(workload, Keys::strings, ()),
        }
    }

    fn is_listed(&self) -> bool {
        T::IS_LISTED
    }
}

impl<T: IntegerMap> Contender<Keyed> for Integers<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.has_integers() {
            true => of::<u64, T::Map>(workload, Keys::integers, ()),
            false => Err(Unsupported("takes integers alone".into())),
        }
    }
}

/// The structure `T::Map` with `function`, ready for `workload`.
fn hashed<'w, T: HashedMap, H: Hashes>(workload: &'w Keyed, function: H) -> Preparation<'w> {
    let hasher = Build(function);
    match workload.has_integers() {
        true => of::<u64, T::Map<u64, H>>(workload, Keys::integers, hasher),
        false => of::<Bytes<'w>, T::Map<Bytes<'w>, H>>(workload, Keys::strings, hasher),
    }
}

impl<T: HashedMap> Contender<Keyed> for Hashed<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        self.prepare_variant(hash::DEFAULT, workload)
    }

    fn variants(&self) -> &'static [&'static str] {
        hash::NAMES
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Keyed) -> Preparation<'w> {
        struct With<'w, T>(&'w Keyed, std::marker::PhantomData<T>);
        impl<'w, T: HashedMap> hash::Visitor for With<'w, T> {
            type Output = Preparation<'w>;
            fn visit<H: Hashes>(self, function: H) -> Preparation<'w> {
                hashed::<T, H>(self.0, function)
            }
        }
        let visitor = With(workload, std::marker::PhantomData::<T>);
        hash::with(variant, visitor).ok_or_else(|| unknown(variant))?
    }
}

impl<T: HashedMap> Contender<Keyed> for HashedByCall<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        self.prepare_variant(hash::DEFAULT, workload)
    }

    fn variants(&self) -> &'static [&'static str] {
        hash::NAMES
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Keyed) -> Preparation<'w> {
        let function = hash::called(variant).ok_or_else(|| unknown(variant))?;
        hashed::<T, Called>(workload, function)
    }
}

/// Why a variant is none.
pub(crate) fn unknown(function: &str) -> Unsupported {
    Unsupported(format!("no hash function {function:?} in this build"))
}

/// A structure of any type.
pub(crate) type Table<'w, K> = Box<dyn Batch<K> + 'w>;
/// Makes one that holds keys with these values, in the best way it offers.
pub(crate) type Make<'w, K> = Box<dyn Fn(&[K], &[u64]) -> Table<'w, K> + 'w>;

/// A structure that takes one key at a time, ready for `workload`, whose keys `typed` gives.
pub(crate) fn of<'w, K: Key + 'w, S: Structure<K> + 'w>(
    workload: &'w Keyed,
    typed: fn(&'w Keys) -> Vec<K>,
    hasher: S::Hasher,
) -> Preparation<'w> {
    let make: Make<'w, K> =
        Box::new(move |keys, values| Box::new(EachKey(S::build(keys, values, hasher.clone()))));
    prepare(workload, typed, S::ABILITIES, usize::MAX, make)
}

/// What `make` makes, ready for `workload`, whose keys `typed` gives; at most `single` operations are
/// timed one by one.
pub(crate) fn prepare<'w, K: Key + 'w>(
    workload: &'w Keyed,
    typed: fn(&'w Keys) -> Vec<K>,
    can: Abilities,
    single: usize,
    make: Make<'w, K>,
) -> Preparation<'w> {
    let operation = workload.operation;
    let (has, name) = match operation {
        Operation::Insert | Operation::Update => (can.insert, "insert"),
        Operation::Churn => (can.insert && can.erase, "insert and erase"),
        Operation::Erase => (can.erase, "erase"),
        Operation::Iterate => (can.iterate, "iterate"),
        Operation::Scan => (can.ordered, "order"),
        Operation::Range => (can.range, "ordered range"),
        Operation::Shared => (can.concurrent, "sharing between threads"),
        Operation::Replay => lacking(workload, can).map_or((true, ""), |name| (false, name)),
        Operation::Touch => (false, "part in touching keys: it is measured without a structure"),
        Operation::Build | Operation::Find(_) => (true, ""),
    };
    let grows = workload.grown && operation != Operation::Build;
    if !has || (grows && !can.insert) {
        return Err(Unsupported::operation(if has { "insert" } else { name }));
    }
    let [entries, probes, misses] =
        [&workload.entries, &workload.probes, &workload.misses].map(typed);
    let undo = match operation {
        Operation::Shared => Undo::of(&probes, &workload.steps),
        _ => Undo::default(),
    };
    let memory = Vec::new();
    let mut bench = Bench {
        workload,
        entries,
        probes,
        misses,
        single,
        make,
        stays: None,
        memory,
        undo,
        content: None,
        is_updated: false,
    };
    let is_fresh = match operation {
        Operation::Insert | Operation::Build | Operation::Erase => true,
        Operation::Replay => workload.does(Act::Insert) || workload.does(Act::Erase),
        _ => false,
    };
    if !is_fresh {
        let (map, memory) = weighed(|| bench.filled());
        (bench.stays, bench.memory) = (Some(map), memory);
    }
    Ok(Box::new(bench))
}

/// What a trace needs and a structure cannot do.
fn lacking(workload: &Keyed, can: Abilities) -> Option<&'static str> {
    let needs = [
        (Act::Insert, can.insert, "insert"),
        (Act::Erase, can.erase, "erase"),
        (Act::Scan, can.range, "ordered range"),
    ];
    let lacks = |&(act, has, _): &(Act, bool, &str)| !has && workload.does(act);
    needs.into_iter().find(lacks).map(|(.., name)| name)
}

/// The floor under every operation: reads each byte of each probe, holds nothing.
pub(crate) fn touch(workload: &Keyed, sum: fn(&Keys) -> u64) -> Preparation<'_> {
    if workload.operation != Operation::Touch {
        return Err(Unsupported("holds nothing: it only touches keys".into()));
    }
    Ok(Box::new(Touch { probes: &workload.probes, sum }))
}

struct Touch<'w> {
    probes: &'w Keys,
    sum: fn(&Keys) -> u64,
}

impl Prepared for Touch<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut tally = Tally { count: self.probes.len() as u64, sum: 0 };
        meter.start();
        for _ in 0..iterations.max(1) {
            tally.sum = (self.sum)(std::hint::black_box(self.probes));
        }
        meter.stop();
        digest(tally)
    }
}

fn digest(tally: Tally) -> Digest {
    Digest::of_u64(tally.count).with_u64(tally.sum)
}

/// A structure's operation on a workload.
struct Bench<'w, K> {
    workload: &'w Keyed,
    entries: Vec<K>,
    probes: Vec<K>,
    misses: Vec<K>,
    /// How many operations are timed one by one, at most.
    single: usize,
    make: Make<'w, K>,
    /// The structure that the operation leaves as it is; others need a fresh one each time.
    stays: Option<Table<'w, K>>,
    /// What making that took.
    memory: Vec<Metric>,
    /// What the shared operation changed.
    undo: Undo<K>,
    /// All entries, found once after the first pass of the shared operation.
    content: Option<Tally>,
    /// The last update wrote the new values: the next one writes the old ones, since what stays the same is not written by
    /// all (SQLite leaves a cell alone whose bytes are the same, and then has nothing to commit).
    is_updated: bool,
}

impl<'w, K: Key + 'w> Bench<'w, K> {
    fn empty(&self) -> Table<'w, K> {
        (self.make)(&[], &[])
    }

    fn built(&self) -> Table<'w, K> {
        (self.make)(&self.entries, &self.workload.values)
    }

    fn grown(&self) -> Table<'w, K> {
        let mut map = self.empty();
        map.insert_all(&self.entries, &self.workload.values);
        map
    }

    /// What finds, changes and walks begin with.
    fn filled(&self) -> Table<'w, K> {
        if self.workload.grown { self.grown() } else { self.built() }
    }

    /// Iterations that each need a fresh structure. Small ones are made many at a time, so that the
    /// clock is not read around each.
    fn fresh(&self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let size = match self.workload.operation {
            Operation::Replay => self.entries.len().max(self.probes.len()),
            _ => self.entries.len(),
        };
        let batch = (100_000 / size.max(1)).clamp(1, 64) as u64;
        let (mut ready, mut done) = (Vec::new(), Vec::new());
        let mut left = iterations;
        loop {
            let now = left.min(batch);
            ready.extend((0..now).map(|_| self.set_up()));
            done.reserve(ready.len());
            meter.start();
            for map in ready.drain(..) {
                done.push(black_box(self.once(black_box(map))));
            }
            meter.stop();
            left -= now;
            let last = done.pop();
            done.clear();
            if let (0, Some((map, tally))) = (left, last) {
                // Every probe must be there afterwards, or none.
                let mut found = map.find_all(&self.probes);
                // After a trace, each key has its last value, or none.
                if self.workload.operation == Operation::Replay {
                    found = found.and(map.find_all(&self.entries));
                }
                let digest = digest(tally).with_u64(map.entries() as u64);
                return digest.with_u64(found.count).with_u64(found.sum);
            }
        }
    }

    /// What a fresh iteration starts from.
    fn set_up(&self) -> Option<Table<'w, K>> {
        match self.workload.operation {
            Operation::Erase => Some(self.filled()),
            Operation::Insert => Some(self.empty()),
            Operation::Replay if self.entries.is_empty() => Some(self.empty()),
            Operation::Replay => Some(self.filled()),
            _ => None,
        }
    }

    fn once(&self, map: Option<Table<'w, K>>) -> (Table<'w, K>, Tally) {
        let Some(mut map) = map else { return (self.built(), Tally::default()) };
        let tally = match self.workload.operation {
            Operation::Erase => map.erase_all(&self.probes),
            Operation::Replay => map.replay(&trace(self.workload, &self.probes)),
            _ => map.insert_all(&self.entries, &self.workload.values),
        };
        (map, tally)
    }

    /// Passes of several threads, each from the same keys on. What they leave behind is part of the
    /// answer: every key they touched, how many there are, and once all others.
    fn shared(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let Bench { workload, entries, probes, undo, stays: Some(map), content, .. } = self else {
            unreachable!("threads share a structure that stays")
        };
        let shares = shares(probes, &workload.steps, workload.threads);
        let mut first = None;
        let mut is_same = true;
        let mut left = (Tally::default(), 0);
        for turn in 1..=iterations {
            let tally = map.share(&shares, &mut || meter.start());
            meter.stop();
            is_same &= *first.get_or_insert(tally) == tally;
            if turn == iterations {
                left = (map.find_all(probes), map.entries() as u64);
            }
            map.erase_all(&undo.out);
            map.insert_all(&undo.back, &undo.values);
        }
        let content = *content.get_or_insert_with(|| map.find_all(entries));
        let tally = first.filter(|_| is_same).unwrap_or_default();
        let of = |digest: Digest, tally: Tally| digest.with_u64(tally.count).with_u64(tally.sum);
        of(of(digest(tally), left.0).with_u64(left.1), content)
    }

    /// Iterations on the structure that stays.
    fn standing(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let Bench { workload, probes, misses, stays: Some(map), is_updated, .. } = self else {
            unreachable!("a structure stays")
        };
        let updated = |map: &mut dyn Batch<K>, is_updated: &mut bool| {
            *is_updated = !*is_updated;
            let values = if *is_updated { &workload.new_values } else { &workload.probe_values };
            map.insert_all(probes, values)
        };
        let map = &mut **map;
        let mut tally = Tally::default();
        meter.start();
        for _ in 0..iterations {
            tally = black_box(match workload.operation {
                Operation::Find(_) => map.find_all(probes),
                Operation::Update => updated(map, is_updated),
                Operation::Churn => {
                    // There and back again, so that each iteration starts from the same keys.
                    let there = map.churn(probes, misses, &workload.new_values);
                    there.and(map.churn(misses, probes, &workload.probe_values))
                }
                Operation::Iterate => map.iterate(),
                Operation::Scan => map.scan(),
                Operation::Range => map.range_all(probes, workload.span),
                Operation::Replay => map.replay(&trace(workload, probes)),
                _ => unreachable!("needs a fresh structure, or several threads"),
            });
        }
        meter.stop();
        // What is replaced differs between the first iteration and later ones.
        if workload.operation == Operation::Update {
            if !*is_updated {
                updated(map, is_updated);
            }
            tally = Tally { count: tally.count, ..map.find_all(probes) };
        }
        digest(tally).with_u64(map.entries() as u64)
    }
}

impl<'w, K: Key + 'w> Prepared for Bench<'w, K> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let iterations = iterations.max(1);
        match (self.workload.operation, &self.stays) {
            (Operation::Shared, _) => self.shared(iterations, meter),
            (_, Some(_)) => self.standing(iterations, meter),
            (_, None) => self.fresh(iterations, meter),
        }
    }

    /// Bytes per entry, and how long single operations take.
    fn metrics(&mut self) -> Vec<Metric> {
        let (keys, values) = (&self.entries, &self.workload.values);
        let singly = |keys: &[K], run: &mut dyn FnMut(usize)| {
            latency::percentiles(keys.len().min(self.single), run)
        };
        let mut metrics = self.memory.clone();
        match self.workload.operation {
            Operation::Insert => {
                metrics = weighed(|| self.grown()).1;
                let mut map = self.empty();
                metrics.extend(singly(keys, &mut |at| {
                    map.insert_all(&keys[at..=at], &values[at..=at]);
                }));
            }
            Operation::Build => metrics = weighed(|| self.built()).1,
            // Per entry that is there at the end; if none is, there is nothing to say.
            Operation::Replay if self.stays.is_none() => {
                let (map, memory) = weighed(|| match self.set_up() {
                    Some(mut map) => {
                        map.replay(&trace(self.workload, &self.probes));
                        map
                    }
                    None => self.empty(),
                });
                metrics = if map.entries() > 0 { memory } else { Vec::new() };
            }
            Operation::Erase => {
                let (mut map, memory) = weighed(|| self.filled());
                metrics = memory;
                metrics.extend(singly(&self.probes, &mut |at| {
                    map.erase_all(&self.probes[at..=at]);
                }));
            }
            Operation::Find(_) => {
                let Some(map) = &self.stays else { return metrics };
                metrics.extend(singly(&self.probes, &mut |at| {
                    black_box(map.find_all(&self.probes[at..=at]));
                }));
            }
            Operation::Update => {
                // Samples leave the new values.
                let (probes, values) = (&self.probes, &self.workload.probe_values);
                let Some(map) = &mut self.stays else { return metrics };
                metrics.extend(latency::percentiles(probes.len().min(self.single), |at| {
                    map.insert_all(&probes[at..=at], &values[at..=at]);
                }));
                map.insert_all(probes, &self.workload.new_values);
            }
            _ => {}
        }
        metrics
    }
}

/// The trace, as one share.
fn trace<'a, K>(workload: &'a Keyed, keys: &'a [K]) -> Share<'a, K> {
    Share { keys, steps: &workload.steps, is_trace: true }
}

/// A structure, the bytes per entry that are live once it is made, and the most there were on the way.
fn weighed<'w, K: Key + 'w>(make: impl FnOnce() -> Table<'w, K>) -> (Table<'w, K>, Vec<Metric>) {
    let (map, counted) = footprint::counted(make);
    let entries = map.entries().max(1) as f64;
    let metric = |name: &str, bytes: u64| Metric {
        name: format!("{name}_bytes_per_entry"),
        value: bytes as f64 / entries,
        less_is_better: Some(true),
    };
    let metrics = match (map.stored_bytes(), counted) {
        (Some(bytes), _) => vec![metric("stored", bytes)],
        (None, Some(counted)) => vec![metric("live", counted.live), metric("peak", counted.peak)],
        (None, None) => Vec::new(),
    };
    (map, metrics)
}
