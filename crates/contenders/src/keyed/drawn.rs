//! What chance decides about a workload: orders, probes, misses, the steps of threads. The same seed
//! decides the same; measures nothing and knows no structure.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use fathom_measure::workload::{Spec, SpecError};
use fathom_random::Random;

use super::keys::{Bytes, Key, Keys};
use super::operation::{Find, Operation};
use super::shared::{self, Mix, Source};
use super::step::{Act, Step};
use super::zipf::Zipf;
use crate::hash::{Build, Default64};

/// A spec's parameters, checked.
pub(super) struct Settings {
    pub(super) operation: Operation,
    pub(super) seed: u64,
    probes: usize,
    /// What finds and shared steps are made of.
    mix: Mix,
    pub(super) span: usize,
    pub(super) threads: usize,
    /// Whether structures grow where they could be built at once.
    pub(super) grown: bool,
    /// The file of the trace, where the operation has one.
    pub(super) trace: Option<PathBuf>,
}

impl Settings {
    pub(super) fn of(spec: &Spec) -> Result<Settings, SpecError> {
        let share = |name| {
            let share = spec.fraction(name)?;
            let within = (0.0..=1.0).contains(&share);
            within.then_some(share).ok_or_else(|| spec.bad(name, "expected 0 to 1"))
        };
        let at_least_one = |name, most: u64| {
            let number = spec.number(name)?;
            let within = (1..=most).contains(&number);
            let reason = format!("expected 1 to {most}");
            within.then_some(number as usize).ok_or_else(|| spec.bad(name, &reason))
        };
        let skew = spec.fraction("skew")?;
        if !(0.0..=10.0).contains(&skew) {
            return Err(spec.bad("skew", "expected 0 to 10"));
        }
        let mix = Mix {
            reads: share("reads")?,
            hit: share("hit")?,
            hot: share("hot")?,
            skew,
            inserts: share("inserts")?,
            erases: share("erases")?,
        };
        // Each may be rounded up, to four decimals: then erases have that much less.
        if mix.inserts + mix.erases > 1.0 + 1.1e-4 {
            return Err(spec.bad("erases", "expected at most 1 together with inserts"));
        }
        let operation = Operation::of(&spec.operation);
        let takes_traces = matches!(operation, Operation::Replay | Operation::Touch);
        let trace = Some(spec.text("trace")).filter(|path| takes_traces && !path.is_empty());
        Ok(Settings {
            operation,
            trace: trace.map(PathBuf::from),
            seed: spec.number("seed")?,
            probes: at_least_one("probes", 1 << 40)?,
            mix,
            span: at_least_one("span", 1 << 30)?,
            threads: at_least_one("threads", 1024)?,
            grown: match spec.text("table") {
                "grown" => true,
                "built" => false,
                _ => return Err(spec.bad("table", "expected built or grown")),
            },
        })
    }
}

/// What chance decides about a workload.
pub(super) struct Drawn {
    pub(super) values: Vec<u64>,
    /// Which entry each probe is made from.
    pub(super) order: Vec<usize>,
    /// Probes that are no copies of entries, where the operation has such.
    pub(super) probes: Option<Keys>,
    pub(super) misses: Option<Keys>,
    /// What threads do to the probes.
    pub(super) steps: Vec<Step>,
}

/// Where each key occurs first.
type Places<K> = HashMap<K, u64, Build<Default64>>;
/// Keys that are to be inserted.
type New<K> = HashSet<<K as Key>::Owned>;
/// Draws a key of the shape of the first that is in neither of the two.
type Absent<K> = fn(K, &[K], &Places<K>, &New<K>, &mut Random) -> <K as Key>::Owned;

impl Drawn {
    /// `absent` draws a key of the shape of the one given that is neither among the places nor among
    /// the new keys.
    pub(super) fn of<K: Key>(
        keys: &[K],
        settings: &Settings,
        random: &mut Random,
        absent: Absent<K>,
    ) -> Drawn
    where
        Keys: FromIterator<K::Owned>,
    {
        let operation = settings.operation;
        let (mut places, mut values) = (Places::default(), Vec::new());
        // Whoever only touches keys asks for no values.
        if operation != Operation::Touch {
            places.reserve(keys.len());
            let place = |(at, &key): (u64, &K)| *places.entry(key).or_insert(at);
            values = (0_u64..).zip(keys).map(place).collect();
        }
        let order = order(keys.len(), &values, settings, random);
        let mut drawn = Drawn { values, order, probes: None, misses: None, steps: Vec::new() };
        let mut among = |hit: f64| -> Keys {
            let pick = |&at: &usize| match random.fraction() < hit {
                true => keys[at].owned(),
                false => absent(keys[at], keys, &places, &New::<K>::new(), random),
            };
            drawn.order.iter().map(pick).collect()
        };
        match operation {
            Operation::Churn => drawn.misses = Some(among(0.0)),
            Operation::Find(Find::Miss) => drawn.probes = Some(among(0.0)),
            Operation::Find(Find::Mixed) => drawn.probes = Some(among(settings.mix.hit)),
            Operation::Range => drawn.probes = Some(among(0.5)),
            Operation::Shared => drawn.steps(keys, settings, random, &places, absent),
            Operation::Replay => drawn.trace(keys, &settings.mix, random, |key, random| {
                absent(key, keys, &places, &New::<K>::new(), random)
            }),
            _ => {}
        }
        drawn
    }

    /// A trace of as many steps as there are in `order`; keys are met again, and after they are gone.
    fn trace<K: Key>(
        &mut self,
        keys: &[K],
        mix: &Mix,
        random: &mut Random,
        absent: impl Fn(K, &mut Random) -> K::Owned,
    ) where
        Keys: FromIterator<K::Owned>,
    {
        let mut taken = Vec::with_capacity(self.order.len());
        for value in (keys.len() as u64..).take(self.order.len()) {
            let key = keys[random.below(keys.len() as u64) as usize];
            let (act, is_new) = match random.fraction() < mix.reads {
                true => (Act::Find, random.fraction() >= mix.hit),
                false => match random.fraction() {
                    below if below < mix.inserts => (Act::Insert, true),
                    below if below < mix.inserts + mix.erases => (Act::Erase, false),
                    _ => (Act::Insert, false),
                },
            };
            taken.push(match is_new {
                true => absent(key, random),
                false => key.owned(),
            });
            self.steps.push(Step { act, value });
        }
        self.probes = Some(taken.into_iter().collect());
    }

    /// What threads do; `order` has every distinct key.
    fn steps<K: Key>(
        &mut self,
        keys: &[K],
        settings: &Settings,
        random: &mut Random,
        places: &Places<K>,
        absent: Absent<K>,
    ) where
        Keys: FromIterator<K::Owned>,
    {
        let Settings { probes, threads, mix, .. } = settings;
        let steps = shared::drawn(&self.order, *probes, *threads, mix, random);
        let inserts = steps.iter().filter(|(act, _)| *act == Act::Insert).count();
        let (mut new, mut is_new) = (Vec::with_capacity(inserts), New::<K>::with_capacity(inserts));
        for &like in self.order.iter().cycle().take(inserts) {
            let key = absent(keys[like], keys, places, &is_new, random);
            is_new.insert(key.clone());
            new.push(key);
        }
        let mut taken = Vec::with_capacity(steps.len());
        for (number, &(act, source)) in steps.iter().enumerate() {
            let (key, value) = match source {
                Source::Entry(at) => (keys[at].owned(), self.values[at]),
                Source::New(at) => (new[at].clone(), (keys.len() + at) as u64),
                Source::Nowhere => {
                    let like = keys[self.order[number]];
                    (absent(like, keys, places, &is_new, random), 0)
                }
            };
            taken.push(key);
            self.steps.push(Step { act, value });
        }
        self.probes = Some(taken.into_iter().collect());
    }
}

/// Which of `entries` each probe is made from; `values` are the places of first occurrences.
fn order(entries: usize, values: &[u64], settings: &Settings, random: &mut Random) -> Vec<usize> {
    if settings.trace.is_some() {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..entries).collect();
    random.shuffle(&mut order);
    match settings.operation {
        Operation::Find(Find::Zipf) if !order.is_empty() => {
            // Ranks are scattered over the keys: hot keys are no neighbours.
            order.retain(|&at| values[at] == at as u64);
            let zipf = Zipf::new(order.len() as u64, settings.mix.skew);
            let mut draw = || order[zipf.rank(|| random.fraction()) as usize - 1];
            return (0..entries.min(settings.probes)).map(|_| draw()).collect();
        }
        Operation::Range => order.truncate(entries.div_ceil(settings.span)),
        // Steps are drawn from all of them.
        Operation::Shared => {
            order.retain(|&at| values[at] == at as u64);
            return order;
        }
        _ => {}
    }
    order.truncate(settings.probes);
    order
}

/// An integer that is no key, of the shape of `key`.
pub(super) fn changed_integer(
    key: u64,
    _: &[u64],
    present: &Places<u64>,
    new: &New<u64>,
    random: &mut Random,
) -> u64 {
    let is_absent = |key: &u64| !present.contains_key(key) && !new.contains(key);
    loop {
        // One bit below the highest used one changes most often: the same shape.
        let width = (65 - key.leading_zeros() as usize).min(64);
        let (bit, other) = (1_u64 << random.below(width as u64) as usize, random.word());
        let changed = if random.below(4) > 0 { key ^ bit } else { key ^ (other >> (64 - width)) };
        if is_absent(&changed) {
            break changed;
        }
        if random.below(64) == 0 && is_absent(&other) {
            break other;
        }
    }
}

/// A byte string that is no key, of the shape of `key`.
pub(super) fn changed_bytes<'w>(
    key: Bytes<'w>,
    keys: &[Bytes<'w>],
    present: &Places<Bytes<'w>>,
    new: &New<Bytes<'w>>,
    random: &mut Random,
) -> Box<[u8]> {
    let mut changed = key.0.to_vec();
    let is_text = str::from_utf8(key.0).is_ok();
    for attempt in 1_u32.. {
        // A byte that occurs in the keys, at a random place; after many attempts the keys are dense,
        // and the key must grow.
        let donor = keys[random.below(keys.len() as u64) as usize].0;
        let byte = match donor.len() {
            0 => random.word() as u8,
            len => donor[random.below(len as u64) as usize],
        };
        if changed.is_empty() || attempt % 64 == 0 {
            changed.push(if is_text && !byte.is_ascii() { b'a' + byte % 26 } else { byte });
        } else {
            let place = random.below(changed.len() as u64) as usize;
            let old = std::mem::replace(&mut changed[place], byte);
            // A part of another character: text stays text, which some structures take alone.
            if is_text && str::from_utf8(&changed).is_err() {
                changed[place] = old;
                continue;
            }
        }
        if !present.contains_key(&Bytes(&changed)) && !new.contains(&changed[..]) {
            break;
        }
    }
    changed.into()
}
