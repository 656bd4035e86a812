//! What each operation does and which of its parts is timed; how a contender names its types.
//! Knows no particular structure.

use std::rc::Rc;

use fathom_measure::contender::{
    Contender, Meta, Metric, Origin, Preparation, Prepared, Unsupported, timed_batch,
};
use fathom_measure::digest::Digest;
use fathom_measure::meter::Meter;

use super::keys::{Key, Keys};
use super::latency;
use super::shared::Undo;
use super::structure::{Abilities, Batch, EachKey, Structure, Tally};
use super::workload::{Keyed, Operation, View, Views};
use crate::footprint;
use crate::hash::{self, Build, Called, Hashes};

/// The standard library, at the version of the compiler.
pub(crate) const STD: Origin = Origin::Library("std", || env!("FATHOM_RUSTC").to_owned());

/// A contender whose structure takes a key and nothing else.
pub(crate) trait PlainMap: Sync + 'static {
    const META: Meta;
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
        match workload.views() {
            Views::Integers(view) => prepare(of::<u64, T::Map<u64>>(()), view),
            Views::Text(view) => prepare(of::<_, T::Map<_>>(()), view),
        }
    }
}

impl<T: IntegerMap> Contender<Keyed> for Integers<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.views() {
            Views::Integers(view) => prepare(of::<u64, T::Map>(()), view),
            Views::Text(_) => Err(Unsupported("takes integers alone".into())),
        }
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
                let hasher = Build(function);
                match self.0.views() {
                    Views::Integers(view) => prepare(of::<u64, T::Map<u64, H>>(hasher), view),
                    Views::Text(view) => prepare(of::<_, T::Map<_, H>>(hasher), view),
                }
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
        match workload.views() {
            Views::Integers(view) => prepare(of::<_, T::Map<_, Called>>(Build(function)), view),
            Views::Text(view) => prepare(of::<_, T::Map<_, Called>>(Build(function)), view),
        }
    }
}

fn unknown(function: &str) -> Unsupported {
    Unsupported(format!("no hash function {function:?} in this build"))
}

/// How to make a contender's structure; what [`Bench`] knows about it.
pub(crate) struct Maker<'w, K> {
    pub(crate) abilities: Abilities,
    /// How many operations are timed one by one, at most.
    pub(crate) single: usize,
    pub(crate) empty: Box<dyn Fn() -> Table<'w, K> + 'w>,
    pub(crate) build: Box<Builder<'w, K>>,
}

type Table<'w, K> = Box<dyn Batch<K> + 'w>;
type Builder<'w, K> = dyn Fn(&[K], &[u64]) -> Table<'w, K> + 'w;

/// The maker of a structure that takes one key at a time.
fn of<'w, K: Key + 'w, S: Structure<K> + 'w>(hasher: S::Hasher) -> Maker<'w, K> {
    let other = hasher.clone();
    Maker {
        abilities: S::ABILITIES,
        single: usize::MAX,
        empty: Box::new(move || Box::new(EachKey(S::sized(0, hasher.clone())))),
        build: Box::new(move |keys, values| {
            Box::new(EachKey(S::build(keys, values, other.clone())))
        }),
    }
}

/// Gets a structure ready for the operation of `view`.
pub(crate) fn prepare<'w, K: Key + 'w>(maker: Maker<'w, K>, view: View<'w, K>) -> Preparation<'w> {
    let can = maker.abilities;
    let (needed, name) = match view.operation {
        Operation::Insert | Operation::Update => (can.insert, "insert"),
        Operation::Churn => (can.insert && can.erase, "insert and erase"),
        Operation::Erase => (can.erase, "erase"),
        Operation::Iterate => (can.iterate, "iterate"),
        Operation::Scan => (can.ordered, "order"),
        Operation::Range => (can.range, "ordered range"),
        Operation::Shared => (can.concurrent, "sharing between threads"),
        Operation::Touch => (false, "part in touching keys: it is measured without a structure"),
        Operation::Build | Operation::Find(_) => (true, ""),
    };
    if !needed {
        return Err(Unsupported::operation(name));
    }
    let fresh = matches!(view.operation, Operation::Insert | Operation::Build | Operation::Erase);
    Ok(if fresh { each_fresh(maker, view) } else { Box::new(Bench::new(maker, view)) })
}

/// The floor under every operation: reads each byte of each probe, holds nothing.
pub(crate) fn touch(workload: &Keyed, sum: fn(&Keys) -> u64) -> Preparation<'_> {
    if workload.operation() != Operation::Touch {
        return Err(Unsupported("holds nothing: it only touches keys".into()));
    }
    Ok(Box::new(Touch { probes: workload.probes(), sum }))
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

/// Operations that need a fresh structure for each iteration.
fn each_fresh<'w, K: Key + 'w>(maker: Maker<'w, K>, view: View<'w, K>) -> Box<dyn Prepared + 'w> {
    let (view, maker) = (Rc::new(view), Rc::new(maker));
    // Small structures are made many at a time, so that the clock is not read around each.
    let batch = (100_000 / view.entries.len().max(1)).clamp(1, 64) as u64;
    let (set_up, run, check) = (view.clone(), view.clone(), view.clone());
    let (make, build) = (maker.clone(), maker.clone());
    let inner = timed_batch(
        batch,
        move || match set_up.operation {
            Operation::Erase => Some((make.build)(&set_up.entries, set_up.values)),
            Operation::Insert => Some((make.empty)()),
            _ => None,
        },
        move |fresh| match fresh {
            Some(mut map) if run.operation == Operation::Erase => {
                let tally = map.erase_all(&run.probes);
                (map, tally)
            }
            Some(mut map) => {
                let tally = map.insert_all(&run.entries, run.values);
                (map, tally)
            }
            None => ((build.build)(&run.entries, run.values), Tally::default()),
        },
        move |(map, tally)| {
            // Every probe must be there afterwards, or none.
            let found = map.find_all(&check.probes);
            digest(tally).with_u64(map.entries() as u64).with_u64(found.count).with_u64(found.sum)
        },
    );
    let metrics = Box::new(move || fresh_metrics(&maker, &view));
    Box::new(Measured { inner, metrics })
}

/// A prepared contender with metrics of its own.
struct Measured<'w> {
    inner: Box<dyn Prepared + 'w>,
    metrics: Box<dyn FnMut() -> Vec<Metric> + 'w>,
}

impl Prepared for Measured<'_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        self.inner.sample(iterations, meter)
    }

    fn metrics(&mut self) -> Vec<Metric> {
        (self.metrics)()
    }
}

fn fresh_metrics<'w, K: Key + 'w>(maker: &Maker<'w, K>, view: &View<'w, K>) -> Vec<Metric> {
    let (keys, values) = (&view.entries, view.values);
    match view.operation {
        Operation::Insert => {
            let grow = || {
                let mut map = (maker.empty)();
                map.insert_all(keys, values);
                map
            };
            let mut metrics = memory_metrics(grow);
            let mut map = (maker.empty)();
            metrics.extend(latency::percentiles(keys.len().min(maker.single), |at| {
                map.insert_all(&keys[at..=at], &values[at..=at]);
            }));
            metrics
        }
        Operation::Build => memory_metrics(|| (maker.build)(keys, values)),
        _ => {
            let mut map = (maker.build)(keys, values);
            latency::percentiles(view.probes.len().min(maker.single), |at| {
                map.erase_all(&view.probes[at..=at]);
            })
        }
    }
}

/// Bytes per entry that are live once the structure is made, and the most there were on the way.
fn memory_metrics<'w, K: Key + 'w>(make: impl FnOnce() -> Table<'w, K>) -> Vec<Metric> {
    weighed(make).1
}

/// A structure and what [`memory_metrics`] says of it.
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

/// Operations on one structure that stays.
struct Bench<'w, K> {
    view: View<'w, K>,
    single: usize,
    map: Table<'w, K>,
    /// What building it took.
    memory: Vec<Metric>,
    /// What the shared operation changed.
    undo: Undo<K>,
    /// All entries, found once after the first pass of the shared operation.
    content: Option<Tally>,
}

impl<'w, K: Key + 'w> Bench<'w, K> {
    fn new(maker: Maker<'w, K>, view: View<'w, K>) -> Bench<'w, K> {
        let (map, memory) = weighed(|| (maker.build)(&view.entries, view.values));
        let undo = Undo::of(&view.shares);
        Bench { map, memory, view, single: maker.single, undo, content: None }
    }

    /// Passes of several threads, each from the same keys on. What they leave behind is part of the
    /// answer: every key they touched, how many there are, and once all others.
    fn shared(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let (map, view, undo) = (&mut *self.map, &self.view, &self.undo);
        let mut first = None;
        let mut is_same = true;
        let mut left = (Tally::default(), 0);
        for turn in 1..=iterations {
            let tally = map.share(&view.shares, &mut || meter.start());
            meter.stop();
            is_same &= *first.get_or_insert(tally) == tally;
            if turn == iterations {
                left = (map.find_all(&view.probes), map.entries() as u64);
            }
            map.erase_all(&undo.out);
            map.insert_all(&undo.back, &undo.values);
        }
        let content = *self.content.get_or_insert_with(|| map.find_all(&view.entries));
        let tally = first.filter(|_| is_same).unwrap_or_default();
        let of = |digest: Digest, tally: Tally| digest.with_u64(tally.count).with_u64(tally.sum);
        of(of(digest(tally), left.0).with_u64(left.1), content)
    }

    fn run(&mut self) -> Tally {
        let (map, view) = (&mut *self.map, &self.view);
        match view.operation {
            Operation::Find(_) => map.find_all(&view.probes),
            Operation::Update => map.insert_all(&view.probes, view.new_values),
            Operation::Churn => {
                // There and back again, so that each iteration starts from the same keys.
                let there = map.churn(&view.probes, &view.misses, view.new_values);
                there.and(map.churn(&view.misses, &view.probes, view.probe_values))
            }
            Operation::Iterate => map.iterate(),
            Operation::Scan => map.scan(),
            Operation::Range => map.range_all(&view.probes, view.span),
            _ => unreachable!("needs a fresh structure, or several threads"),
        }
    }
}

impl<'w, K: Key + 'w> Prepared for Bench<'w, K> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        if self.view.operation == Operation::Shared {
            return self.shared(iterations.max(1), meter);
        }
        let mut tally = Tally::default();
        meter.start();
        for _ in 0..iterations.max(1) {
            tally = std::hint::black_box(self.run());
        }
        meter.stop();
        // What is replaced differs between the first iteration and later ones.
        if matches!(self.view.operation, Operation::Update) {
            tally = Tally { count: tally.count, ..self.map.find_all(&self.view.probes) };
        }
        digest(tally).with_u64(self.map.entries() as u64)
    }

    fn metrics(&mut self) -> Vec<Metric> {
        let (map, view) = (&mut *self.map, &self.view);
        let single = view.probes.len().min(self.single);
        let mut metrics = self.memory.clone();
        match view.operation {
            Operation::Find(_) => metrics.extend(latency::percentiles(single, |at| {
                std::hint::black_box(map.find_all(&view.probes[at..=at]));
            })),
            Operation::Update => metrics.extend(latency::percentiles(single, |at| {
                map.insert_all(&view.probes[at..=at], &view.new_values[at..=at]);
            })),
            _ => {}
        }
        metrics
    }
}
