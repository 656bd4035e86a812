//! The steps of the shared operation, drawn: finds, inserts, updates and erases by several threads at
//! once, each with an outcome that must hold however the threads interleave. Knows no structure.
//!
//! ```text
//! distinct keys, shuffled   | updated, erased: each by one step of one thread | never changed |
//! new keys                  | inserted: each by one step of one thread |
//! finds                     | any of all these, and keys that are nowhere |
//! ```
//!
//! Whoever changes a key is the only one to do so. A thread therefore knows what it must find where
//! nobody else interferes: what it has inserted itself is there, what it has erased is not, and
//! what nobody touches never leaves. A key that another thread changes meanwhile ([`Act::Race`]) may
//! be there or not, but never with somebody else's value. After the pass every key that was touched
//! is looked for once more, untimed; then what was inserted goes and what was erased comes back, so
//! that each pass begins with the same keys. Several threads that change the same key are not
//! measured.

use fathom_random::Random;

use super::step::{Act, thread};
use super::zipf::Zipf;

/// Which steps there are, in shares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    /// Of finds among all steps.
    pub(super) reads: f64,
    /// Of present keys among the finds that are not hot.
    pub(super) hit: f64,
    /// Of finds of few keys often, by their rank, among the finds.
    pub(super) hot: f64,
    /// The exponent of the ranks.
    pub(super) skew: f64,
    /// Of inserts among the changes.
    pub(super) inserts: f64,
    /// Of erases among the changes; the rest updates.
    pub(super) erases: f64,
}

/// Where the key of a step comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The entry of this number.
    Entry(usize),
    /// The new key of this number, which is inserted.
    New(usize),
    /// A key that is nowhere.
    Nowhere,
}

/// Draws `steps` steps over the entries `distinct`, no two of which have the same key; at most as many
/// steps as there are of these.
pub(super) fn drawn(
    distinct: &[usize],
    steps: usize,
    threads: usize,
    mix: &Mix,
    random: &mut Random,
) -> Vec<(Act, Source)> {
    /// A step before its key is known.
    #[derive(Clone, Copy)]
    enum Wanted {
        Change(Act),
        Hit,
        Hot,
        Miss,
    }
    let steps = steps.min(distinct.len());
    let mut wanted = |_| match random.fraction() < mix.reads {
        true if random.fraction() < mix.hot => Wanted::Hot,
        true if random.fraction() < mix.hit => Wanted::Hit,
        true => Wanted::Miss,
        false => match random.fraction() {
            below if below < mix.inserts => Wanted::Change(Act::Insert),
            below if below < mix.inserts + mix.erases => Wanted::Change(Act::Erase),
            _ => Wanted::Change(Act::Update),
        },
    };
    let wanted: Vec<Wanted> = (0..steps).map(&mut wanted).collect();

    // Which step changes the first of `distinct`, and which puts in the new keys.
    let (mut changed, mut inserted) = (Vec::new(), Vec::new());
    for (step, wanted) in wanted.iter().enumerate() {
        match wanted {
            Wanted::Change(Act::Insert) => inserted.push(step),
            Wanted::Change(act) => changed.push((step, *act)),
            _ => {}
        }
    }
    let thread = |step| thread(step, steps, threads);
    let (keys, all) = (distinct.len(), distinct.len() + inserted.len());
    // What finding number `key` of all must meet at `step`; nothing where it surely is not there.
    let met = |step: usize, key: usize| {
        let change = match key.checked_sub(keys) {
            Some(new) => Some((inserted[new], Act::Insert)),
            None => changed.get(key).copied(),
        };
        match change {
            Some((other, _)) if thread(other) != thread(step) => Some(Act::Race),
            Some((other, Act::Insert)) => (other < step).then_some(Act::Find),
            Some((other, Act::Erase)) => (other > step).then_some(Act::Find),
            _ => Some(Act::Find),
        }
    };
    let zipf = Zipf::new(keys as u64, mix.skew);
    let (mut next_changed, mut next_inserted) = (0, 0);
    let of = |key: usize| match key.checked_sub(keys) {
        Some(new) => Source::New(new),
        None => Source::Entry(distinct[key]),
    };
    let step = |(step, wanted): (usize, &Wanted)| match wanted {
        Wanted::Miss => (Act::Miss, Source::Nowhere),
        Wanted::Change(Act::Insert) => {
            next_inserted += 1;
            (Act::Insert, Source::New(next_inserted - 1))
        }
        Wanted::Change(act) => {
            next_changed += 1;
            (*act, Source::Entry(distinct[next_changed - 1]))
        }
        Wanted::Hit | Wanted::Hot => {
            let mut key = || match wanted {
                // From the end, where keys are not changed.
                Wanted::Hot => keys - zipf.rank(|| random.fraction()) as usize,
                _ => random.below(all as u64) as usize,
            };
            let found = (0..16).find_map(|_| {
                let key = key();
                met(step, key).map(|act| (act, of(key)))
            });
            // Where hardly any key is left, whatever is met must at least be its own.
            found.unwrap_or_else(|| (Act::Race, of(key())))
        }
    };
    wanted.iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;

    use super::*;
    use crate::keyed::step::{Share, Step, Undo, original, shares};
    use crate::keyed::structure::{Structure, Tally, together, work};

    const EVERYTHING: Mix =
        Mix { reads: 0.5, hit: 0.7, hot: 0.2, skew: 0.99, inserts: 0.4, erases: 0.3 };

    /// Integers as keys: entry n is key 2n, new key n is 2n + 1 from `entries` on, nowhere is odd.
    fn steps(entries: usize, threads: usize, mix: &Mix, seed: u64) -> (Vec<u64>, Vec<Step>) {
        let mut distinct: Vec<usize> = (0..entries).collect();
        let mut random = Random::new(seed);
        random.shuffle(&mut distinct);
        let steps = drawn(&distinct, entries, threads, mix, &mut random);
        let step = |&(act, source): &(Act, Source)| match source {
            Source::Entry(at) => (2 * at as u64, Step { act, value: at as u64 }),
            Source::New(new) => {
                let value = (entries + new) as u64;
                (2 * value, Step { act, value })
            }
            Source::Nowhere => (1, Step { act, value: 0 }),
        };
        steps.iter().map(step).unzip()
    }

    /// A handle of a map behind one lock, with a fault.
    #[derive(Clone)]
    struct Locked {
        map: Arc<Mutex<BTreeMap<u64, u64>>>,
        fault: Fault,
        calls: Arc<AtomicUsize>,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fault {
        None,
        LosesInserts,
        LosesUpdates,
        KeepsErased,
        FindsOthers,
        ForgetsWhatWasThere,
    }

    impl Locked {
        fn of(entries: usize, fault: Fault) -> Locked {
            let map = (0..entries as u64).map(|at| (2 * at, at)).collect();
            Locked { map: Arc::new(Mutex::new(map)), fault, calls: Arc::default() }
        }

        /// Every fortieth call, if this is the fault.
        fn fails(&self, fault: Fault) -> bool {
            self.fault == fault && self.calls.fetch_add(1, Ordering::Relaxed) % 40 == 39
        }
    }

    impl Structure<u64> for Locked {
        type Hasher = ();

        fn sized(_: usize, (): ()) -> Self {
            Locked::of(0, Fault::None)
        }

        fn entries(&self) -> usize {
            self.map.lock().unwrap().len()
        }

        fn find(&self, key: u64) -> Option<u64> {
            let other = if self.fails(Fault::FindsOthers) { 2 } else { 0 };
            self.map.lock().unwrap().get(&(key ^ other)).copied()
        }

        fn insert(&mut self, key: u64, value: u64) -> Option<u64> {
            let mut map = self.map.lock().unwrap();
            let old = map.get(&key).copied();
            let is_lost = match old {
                None => self.fails(Fault::LosesInserts),
                Some(_) => self.fails(Fault::LosesUpdates),
            };
            if !is_lost {
                map.insert(key, value);
            }
            old.filter(|_| !self.fails(Fault::ForgetsWhatWasThere))
        }

        fn erase(&mut self, key: u64) -> Option<u64> {
            let mut map = self.map.lock().unwrap();
            if self.fails(Fault::KeepsErased) { map.get(&key).copied() } else { map.remove(&key) }
        }
    }

    /// What a pass says of itself and leaves behind.
    fn outcome(map: &Locked, shares: &[Share<'_, u64>]) -> (Tally, BTreeMap<u64, u64>) {
        let tally = together(map, shares, &mut || ());
        (tally, map.map.lock().unwrap().clone())
    }

    /// The same by one thread after another, last thread first if `backwards`.
    fn expected(
        entries: usize,
        shares: &[Share<'_, u64>],
        backwards: bool,
    ) -> (Tally, BTreeMap<u64, u64>) {
        let mut map: BTreeMap<u64, u64> = (0..entries as u64).map(|at| (2 * at, at)).collect();
        let mut order: Vec<&Share<'_, u64>> = shares.iter().collect();
        if backwards {
            order.reverse();
        }
        let tallies = order.into_iter().map(|share| work(&mut map, share));
        (tallies.fold(Tally::default(), Tally::and), map)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn every_step_is_right_in_whatever_order_threads_run(
            entries in 0_usize..400,
            threads in 1_usize..5,
            seed: u64,
            (reads, hit, hot) in (0.0..1.0, 0.0..1.0, 0.0..1.0),
            (inserts, erases) in (0.0..0.5, 0.0..0.5),
        ) {
            let mix = Mix { reads, hit, hot, skew: 0.9, inserts, erases };
            let (keys, steps) = steps(entries, threads, &mix, seed);
            let shares = shares(&keys, &steps, threads);
            let forth = expected(entries, &shares, false);
            let back = expected(entries, &shares, true);
            prop_assert_eq!(forth.0.count, entries as u64);
            prop_assert_eq!(&forth, &back);
            prop_assert_eq!(&outcome(&Locked::of(entries, Fault::None), &shares), &forth);
        }
    }

    #[test]
    fn each_fault_is_seen_in_the_steps_or_in_what_is_left() {
        let (keys, steps) = steps(4000, 3, &EVERYTHING, 7);
        let shares = shares(&keys, &steps, 3);
        let right = expected(4000, &shares, false);
        assert_eq!(outcome(&Locked::of(4000, Fault::None), &shares), right);
        for fault in [
            Fault::LosesInserts,
            Fault::LosesUpdates,
            Fault::KeepsErased,
            Fault::FindsOthers,
            Fault::ForgetsWhatWasThere,
        ] {
            assert_ne!(outcome(&Locked::of(4000, fault), &shares), right, "{fault:?}");
        }
    }

    #[test]
    fn shares_of_the_steps_are_as_asked_and_nobody_changes_a_key_twice() {
        let (keys, steps) = steps(20_000, 4, &EVERYTHING, 3);
        let steps: Vec<(u64, Act)> =
            keys.into_iter().zip(steps.iter().map(|step| step.act)).collect();
        let count = |acts: &[Act]| steps.iter().filter(|step| acts.contains(&step.1)).count();
        let near = |found: usize, share: f64| (found as f64 / 20_000.0 - share).abs() < 0.015;
        assert!(near(count(&[Act::Insert]), 0.2) && near(count(&[Act::Erase]), 0.15));
        assert!(near(count(&[Act::Update]), 0.15) && near(count(&[Act::Miss]), 0.12));
        assert!(near(count(&[Act::Find, Act::Race]), 0.38));
        assert!(count(&[Act::Race]) > 500 && count(&[Act::Find]) > 2000);
        let changes = [Act::Insert, Act::Erase, Act::Update];
        let changed: BTreeSet<u64> =
            steps.iter().filter(|step| changes.contains(&step.1)).map(|step| step.0).collect();
        assert_eq!(changed.len(), count(&changes));
    }

    #[test]
    fn undoing_brings_every_key_back() {
        let (keys, steps) = steps(1000, 2, &EVERYTHING, 5);
        let mut map = Locked::of(1000, Fault::None);
        together(&map, &shares(&keys, &steps, 2), &mut || ());
        let undo = Undo::of(&keys, &steps);
        for &key in &undo.out {
            assert!(map.erase(key).is_some());
        }
        for (&key, &value) in undo.back.iter().zip(&undo.values) {
            assert_eq!(map.insert(key, value), None);
        }
        let map = map.map.lock().unwrap();
        assert_eq!(map.len(), 1000);
        assert!(map.iter().all(|(&key, &value)| original(value) == key / 2));
    }
}
