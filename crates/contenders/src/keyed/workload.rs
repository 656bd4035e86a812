//! The workload of the key-value families: keys with a value each, and one operation on them.
//!
//! The value of a key is the place of its first occurrence, so that duplicates agree and sums prove
//! which keys were met. Probes are copies in memory of their own and in an order of their own;
//! misses have the shape of the keys and are proven absent.

use std::collections::HashMap;

use fathom_measure::workload::{Data, Offer, Spec, SpecError, Work, Workload};

use super::keys::{Bytes, Key, Keys, on_huge_pages};
use super::load;
use super::prepared::{self, Section};
use super::structure::Share;
use super::zipf::Zipf;
use crate::hash::{Build, Default64};
use fathom_random::Random;

/// What is done to the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every key into an empty structure that grows as it must.
    Insert,
    /// A structure with all keys, in the best way it offers: pre-sized, in bulk, static.
    Build,
    /// Finds.
    Find(Find),
    /// A new value for every key, shuffled.
    Update,
    /// Every key out, shuffled.
    Erase,
    /// One key out, another one in: all keys replaced by others and back again.
    Churn,
    /// Every value, in any order.
    Iterate,
    /// Every value, in key order.
    Scan,
    /// From random keys on, some values in key order.
    Range,
    /// Finds and updates from several threads.
    Shared,
    /// Reads every byte of every probe and nothing else: what all other operations contain.
    Touch,
}

/// Which keys are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Find {
    /// Present ones, shuffled, from separate copies.
    Hit,
    /// Present ones, in the order they were inserted and from the very same bytes.
    Same,
    /// Absent ones of the same shape.
    Miss,
    /// Present with probability `hit`.
    Mixed,
    /// Present ones, few of them often.
    Zipf,
}

const OPERATIONS: &[(Operation, Offer)] = &[
    (Operation::Find(Find::Hit), offer("find-hit", "every key, shuffled, from separate copies")),
    (
        Operation::Find(Find::Same),
        offer("find-same", "every key in insertion order from the same bytes, as kvbench does"),
    ),
    (Operation::Find(Find::Miss), offer("find-miss", "absent keys of the same shape")),
    (Operation::Find(Find::Mixed), offer("find-mixed", "present keys with probability `hit`")),
    (
        Operation::Find(Find::Zipf),
        offer("find-zipf", "present keys, rank k with probability proportional to k^-skew"),
    ),
    (Operation::Insert, offer("insert", "every key into an empty structure that grows")),
    (
        Operation::Build,
        offer("build", "all keys at once: pre-sized, bulk-loaded or static, whichever it offers"),
    ),
    (Operation::Update, offer("update", "a new value for every key, shuffled")),
    (Operation::Erase, offer("erase", "every key out, shuffled")),
    (Operation::Churn, offer("churn", "one key out and another in, until all are back again")),
    (Operation::Iterate, offer("iterate", "every value in any order")),
    (Operation::Scan, offer("scan", "every value in key order")),
    (Operation::Range, offer("range", "`span` values in key order from random keys on")),
    (
        Operation::Shared,
        offer("shared", "`threads` threads find with probability `reads`, or update"),
    ),
    (Operation::Touch, offer("touch", "every byte of every probe read; no structure at all")),
];

const fn offer(name: &'static str, doc: &'static str) -> Offer {
    Offer { name, default: "", doc }
}

/// Keys, values, probes: what every structure is given.
pub struct Keyed {
    operation: Operation,
    entries: Keys,
    values: Vec<u64>,
    probes: Keys,
    probe_values: Vec<u64>,
    new_values: Vec<u64>,
    misses: Keys,
    span: usize,
    /// For each thread the probes it takes and whether it writes.
    threads: usize,
    writes: Vec<bool>,
    /// Where the keys were moved.
    backing: Option<String>,
}

/// [`Keyed`] for keys of one type.
pub(crate) struct View<'w, K> {
    pub(crate) operation: Operation,
    pub(crate) entries: Vec<K>,
    pub(crate) values: &'w [u64],
    pub(crate) probes: Vec<K>,
    pub(crate) probe_values: &'w [u64],
    pub(crate) new_values: &'w [u64],
    pub(crate) misses: Vec<K>,
    pub(crate) span: usize,
    pub(crate) shares: Vec<Share<K>>,
}

/// A view for whichever type the keys are of.
pub(crate) enum Views<'w> {
    Integers(View<'w, u64>),
    Text(View<'w, Bytes<'w>>),
}

impl Workload for Keyed {
    const OPERATIONS: &'static [Offer] = {
        const NAMES: [Offer; OPERATIONS.len()] = {
            let mut names = [OPERATIONS[0].1; OPERATIONS.len()];
            let mut at = 0;
            while at < names.len() {
                names[at] = OPERATIONS[at].1;
                at += 1;
            }
            names
        };
        &NAMES
    };
    const MADE: &'static [&'static str] = &["keys", "count"];
    const PARAMETERS: &'static [Offer] = &[
        load::PARAMETERS[0],
        load::PARAMETERS[1],
        load::PARAMETERS[2],
        load::PARAMETERS[3],
        Offer {
            name: "probes",
            default: "1000000",
            doc: "keys looked for, updated or erased in a pass, at most: chosen at random; \
                  find-same, insert and build always take all",
        },
        Offer { name: "hit", default: "0.9", doc: "find-mixed: share of probes that are there" },
        Offer { name: "skew", default: "0.99", doc: "find-zipf: the exponent; 0 is uniform" },
        Offer { name: "span", default: "100", doc: "range: values read from each start" },
        Offer { name: "threads", default: "2", doc: "shared: number of threads" },
        Offer { name: "reads", default: "0.9", doc: "shared: share of finds; the rest updates" },
    ];

    fn load(spec: &Spec) -> Result<Keyed, SpecError> {
        match &spec.shared {
            Some(data) if data.is_prepared() => Keyed::read(data.clone(), spec),
            _ => Keyed::of(load::keys(spec)?, spec),
        }
    }

    fn work(&self) -> Work {
        let all = |keys: &Keys| Work { bytes: keys.bytes(), items: keys.len() as u64 };
        let items = |items: usize| Work { bytes: 0, items: items as u64 };
        match self.operation {
            Operation::Insert | Operation::Build => all(&self.entries),
            Operation::Iterate | Operation::Scan => items(self.entries.len()),
            Operation::Churn => Work { bytes: self.probes.bytes(), ..items(4 * self.probes.len()) },
            Operation::Range => items(self.probes.len() * self.span),
            _ => all(&self.probes),
        }
    }

    fn cases() -> Vec<Spec> {
        let operations = ["insert", "find-hit", "find-miss", "erase"];
        let keys = ["words", "integers"];
        let case = |operation| {
            keys.map(|keys| Spec::new(operation, &[("keys", keys), ("count", "1000000")]))
        };
        operations.into_iter().flat_map(case).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let mut cases = Vec::new();
        for (operation, offer) in OPERATIONS {
            for keys in ["words", "integers", "urls"] {
                let more = [("span", "7"), ("hit", "0.5"), ("reads", "0.7")];
                let mut parameters = vec![("keys", keys), ("count", "400")];
                parameters.extend(more);
                cases.push(Spec::new(offer.name, &parameters));
            }
            if matches!(operation, Operation::Find(_) | Operation::Insert) {
                for count in ["0", "1", "3", "20"] {
                    cases.push(Spec::new(offer.name, &[("keys", "uuids"), ("count", count)]));
                }
            }
        }
        cases
    }

    fn prepared(&self) -> Option<Vec<u8>> {
        let writes: Vec<u64> = self.writes.iter().map(|&write| u64::from(write)).collect();
        let is_same = self.operation == Operation::Find(Find::Same);
        let none = self.entries.copies(std::iter::empty());
        let sections = [
            Section::Keys(&self.entries),
            Section::Values(&self.values),
            // The very same bytes cannot be in two places.
            Section::Keys(if is_same { &none } else { &self.probes }),
            Section::Values(&self.probe_values),
            Section::Values(&self.new_values),
            Section::Keys(&self.misses),
            Section::Values(&writes),
        ];
        Some(prepared::bytes(&sections))
    }

    fn reads_prepared() -> bool {
        true
    }

    fn backing(&self) -> Option<String> {
        self.backing.clone()
    }

    fn leaves_the_thread(&self) -> bool {
        self.operation == Operation::Shared
    }
}

impl Keyed {
    /// The workload of a completed spec on `keys`, wherever they come from.
    ///
    /// # Errors
    /// A parameter that cannot be read or makes no sense.
    pub fn of(keys: Keys, spec: &Spec) -> Result<Keyed, SpecError> {
        let settings = Settings::of(spec)?;
        let mut random = Random::new(settings.seed ^ 0x5eed);
        Ok(match &keys {
            Keys::Integers(integers) => {
                let drawn = Drawn::of(integers, &settings, &mut random, changed_integer);
                drawn.workload(&keys, settings)
            }
            Keys::Text(text) => {
                let drawn = Drawn::of(&text.keys(), &settings, &mut random, changed_bytes);
                drawn.workload(&keys, settings)
            }
        })
    }

    /// The workload of a completed spec as another process prepared it.
    fn read(data: Data, spec: &Spec) -> Result<Keyed, SpecError> {
        let Settings { operation, span, threads, .. } = Settings::of(spec)?;
        // Shared memory on huge pages is to be had on few machines, a process's own on nearly all:
        // without them page walks are most of what a scan measures.
        // Less than one huge page is not worth asking about.
        let stays = data.len() < 2 << 20 || data.has_huge_pages();
        let sections = || -> Result<Keyed, String> {
            let mut reader = prepared::Reader::new(data)?;
            let mut keyed = Keyed {
                operation,
                entries: reader.keys()?,
                values: reader.values()?,
                probes: reader.keys()?,
                probe_values: reader.values()?,
                new_values: reader.values()?,
                misses: reader.keys()?,
                span,
                threads,
                writes: reader.values()?.into_iter().map(|write| write != 0).collect(),
                backing: None,
            };
            reader.finish()?;
            if !stays {
                keyed.entries = keyed.entries.moved(&mut keyed.backing);
                keyed.probes = keyed.probes.moved(&mut keyed.backing);
                keyed.misses = keyed.misses.moved(&mut keyed.backing);
            }
            if operation == Operation::Find(Find::Same) {
                keyed.probes = keyed.entries.clone();
            }
            Ok(keyed)
        };
        let path = spec.file.clone().unwrap_or_default();
        sections().map_err(|reason| SpecError::File { path, reason })
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    pub(crate) fn probes(&self) -> &Keys {
        &self.probes
    }

    pub(crate) fn views(&self) -> Views<'_> {
        match (&self.entries, &self.probes) {
            (Keys::Integers(entries), Keys::Integers(probes)) => {
                let misses = match &self.misses {
                    Keys::Integers(misses) => misses.clone(),
                    Keys::Text(_) => Vec::new(),
                };
                let copy = |keys: &[u64]| on_huge_pages(keys.iter().copied());
                Views::Integers(self.view(copy(entries), copy(probes), misses))
            }
            (Keys::Text(entries), Keys::Text(probes)) => {
                let misses = match &self.misses {
                    Keys::Text(misses) => misses.keys(),
                    Keys::Integers(_) => Vec::new(),
                };
                Views::Text(self.view(entries.keys(), probes.keys(), misses))
            }
            _ => unreachable!("probes are copies of the keys"),
        }
    }

    fn view<K: Key>(&self, entries: Vec<K>, probes: Vec<K>, misses: Vec<K>) -> View<'_, K> {
        let share = |keys: &[K], places: &[bool], values: &[u64]| Share {
            keys: keys.to_vec(),
            writes: places
                .iter()
                .zip(values)
                .map(|(write, value)| write.then_some(*value))
                .collect(),
        };
        let each = probes.len().div_ceil(self.threads).max(1);
        let shares = match self.operation {
            Operation::Shared => probes
                .chunks(each)
                .zip(self.writes.chunks(each))
                .zip(self.probe_values.chunks(each))
                .map(|((keys, writes), values)| share(keys, writes, values))
                .collect(),
            _ => Vec::new(),
        };
        View {
            operation: self.operation,
            entries,
            values: &self.values,
            probes,
            probe_values: &self.probe_values,
            new_values: &self.new_values,
            misses,
            span: self.span,
            shares,
        }
    }
}

/// A spec's parameters, checked.
struct Settings {
    operation: Operation,
    seed: u64,
    probes: usize,
    hit: f64,
    skew: f64,
    reads: f64,
    span: usize,
    threads: usize,
}

impl Settings {
    fn of(spec: &Spec) -> Result<Settings, SpecError> {
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
        let found = OPERATIONS.iter().find(|(_, offer)| offer.name == spec.operation);
        Ok(Settings {
            operation: found.map_or(Operation::Insert, |(operation, _)| *operation),
            seed: spec.number("seed")?,
            probes: at_least_one("probes", 1 << 40)?,
            hit: share("hit")?,
            skew,
            reads: share("reads")?,
            span: at_least_one("span", 1 << 30)?,
            threads: at_least_one("threads", 1024)?,
        })
    }
}

/// What chance decides about a workload.
struct Drawn {
    values: Vec<u64>,
    /// Which entry each probe is made from.
    order: Vec<usize>,
    /// Probes that are no copies of entries, where the operation has such.
    probes: Option<Keys>,
    misses: Option<Keys>,
    writes: Vec<bool>,
}

/// Where each key occurs first.
type Places<K> = HashMap<K, u64, Build<Default64>>;

impl Drawn {
    /// `absent` draws a key of the shape of the one given that is not among the places.
    fn of<K: Key>(
        keys: &[K],
        settings: &Settings,
        random: &mut Random,
        absent: fn(K, &[K], &Places<K>, &mut Random) -> K::Owned,
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
        let mut among = |hit: f64| -> Keys {
            let pick = |&at: &usize| match random.fraction() < hit {
                true => keys[at].owned(),
                false => absent(keys[at], keys, &places, random),
            };
            order.iter().map(pick).collect()
        };
        let (mut probes, mut misses) = (None, None);
        match operation {
            Operation::Churn => misses = Some(among(0.0)),
            Operation::Find(Find::Miss) => probes = Some(among(0.0)),
            Operation::Find(Find::Mixed) => probes = Some(among(settings.hit)),
            Operation::Range => probes = Some(among(0.5)),
            _ => {}
        }
        let writes = match operation {
            Operation::Shared => {
                order.iter().map(|_| random.fraction() >= settings.reads).collect()
            }
            _ => Vec::new(),
        };
        Drawn { values, order, probes, misses, writes }
    }

    fn workload(self, keys: &Keys, settings: Settings) -> Keyed {
        let Drawn { values, order, probes, misses, writes } = self;
        let is_same = settings.operation == Operation::Find(Find::Same);
        let probe_values: Vec<u64> = match values.is_empty() {
            true => Vec::new(),
            false => order.iter().map(|&at| values[at]).collect(),
        };
        let new_values = probe_values.iter().map(|value| !value).collect();
        Keyed {
            operation: settings.operation,
            entries: keys.clone(),
            values,
            probes: match probes {
                Some(probes) => probes,
                None if is_same => keys.clone(),
                None => keys.copies(order.iter().copied()),
            },
            probe_values,
            new_values,
            misses: misses.unwrap_or_else(|| keys.copies(std::iter::empty())),
            span: settings.span,
            threads: settings.threads,
            writes,
            backing: None,
        }
    }
}

/// Which of `entries` each probe is made from; `values` are the places of first occurrences.
fn order(entries: usize, values: &[u64], settings: &Settings, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries).collect();
    random.shuffle(&mut order);
    match settings.operation {
        Operation::Find(Find::Zipf) if !order.is_empty() => {
            // Ranks are scattered over the keys: hot keys are no neighbours.
            order.retain(|&at| values[at] == at as u64);
            let zipf = Zipf::new(order.len() as u64, settings.skew);
            let mut draw = || order[zipf.rank(|| random.fraction()) as usize - 1];
            return (0..entries.min(settings.probes)).map(|_| draw()).collect();
        }
        Operation::Range => order.truncate(entries.div_ceil(settings.span)),
        _ => {}
    }
    order.truncate(settings.probes);
    order
}

/// An integer that is no key, of the shape of `key`.
fn changed_integer(key: u64, _: &[u64], present: &Places<u64>, random: &mut Random) -> u64 {
    loop {
        // One bit below the highest used one changes most often: the same shape.
        let width = (65 - key.leading_zeros() as usize).min(64);
        let (bit, other) = (1_u64 << random.below(width as u64) as usize, random.word());
        let changed = if random.below(4) > 0 { key ^ bit } else { key ^ (other >> (64 - width)) };
        if !present.contains_key(&changed) {
            break changed;
        }
        if random.below(64) == 0 && !present.contains_key(&other) {
            break other;
        }
    }
}

/// A byte string that is no key, of the shape of `key`.
fn changed_bytes<'w>(
    key: Bytes<'w>,
    keys: &[Bytes<'w>],
    present: &Places<Bytes<'w>>,
    random: &mut Random,
) -> Box<[u8]> {
    let mut changed = key.0.to_vec();
    for attempt in 1_u32.. {
        // A byte that occurs in the keys, at a random place; after many attempts the keys are dense,
        // and the key must grow.
        let donor = keys[random.below(keys.len() as u64) as usize].0;
        let byte = match donor.len() {
            0 => random.word() as u8,
            len => donor[random.below(len as u64) as usize],
        };
        if changed.is_empty() || attempt % 64 == 0 {
            changed.push(byte);
        } else {
            let place = random.below(changed.len() as u64) as usize;
            changed[place] = byte;
        }
        if !present.contains_key(&Bytes(&changed)) {
            break;
        }
    }
    changed.into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn load(operation: &str, parameters: &[(&str, &str)]) -> Keyed {
        Keyed::load(&Spec::new(operation, parameters).completed::<Keyed>().unwrap()).unwrap()
    }

    fn text(keys: &Keys) -> Vec<Bytes<'_>> {
        match keys {
            Keys::Text(text) => text.keys(),
            Keys::Integers(_) => panic!("text expected"),
        }
    }

    #[test]
    fn misses_are_absent_and_of_the_same_length() {
        for keys in ["words", "uuids", "urls"] {
            let loaded = load("find-miss", &[("keys", keys), ("count", "2000")]);
            let there: HashSet<Bytes<'_>> = text(&loaded.entries).into_iter().collect();
            assert!(text(&loaded.probes).iter().all(|probe| !there.contains(probe)));
            assert_eq!(loaded.probes.bytes(), loaded.entries.bytes(), "{keys}");
        }
        let loaded = load("find-miss", &[("keys", "integers-sequential"), ("count", "2000")]);
        let Keys::Integers(probes) = &loaded.probes else { panic!() };
        assert!(probes.iter().all(|probe| *probe == 0 || *probe > 2000));
    }

    #[test]
    fn probes_are_every_key_in_another_order_and_place() {
        let loaded = load("find-hit", &[("count", "1000")]);
        let (mut entries, mut probes) = (text(&loaded.entries), text(&loaded.probes));
        assert_ne!(entries, probes);
        assert!(entries.iter().zip(&probes).all(|(e, p)| e.0.as_ptr() != p.0.as_ptr()));
        entries.sort_unstable();
        probes.sort_unstable();
        assert_eq!(entries, probes);
    }

    #[test]
    fn mixed_probes_hit_as_often_as_asked() {
        let loaded = load("find-mixed", &[("count", "10000"), ("hit", "0.25")]);
        let there: HashSet<Bytes<'_>> = text(&loaded.entries).into_iter().collect();
        let hits = text(&loaded.probes).iter().filter(|probe| there.contains(probe)).count();
        assert!((2300..2700).contains(&hits), "{hits}");
    }

    #[test]
    fn a_key_has_the_value_of_its_first_occurrence() {
        let spec = Spec::new("find-hit", &[]).completed::<Keyed>().unwrap();
        let keyed = Keyed::of(Keys::Integers(vec![5, 7, 5, 8, 7]), &spec).unwrap();
        assert_eq!(keyed.values, [0, 1, 0, 3, 1]);
    }

    #[test]
    fn no_more_probes_are_drawn_than_asked_for() {
        for operation in ["find-hit", "find-mixed", "find-zipf", "erase", "churn", "range"] {
            let keyed = load(operation, &[("count", "1000"), ("probes", "7"), ("span", "3")]);
            assert_eq!((keyed.probes.len(), keyed.entries.len()), (7, 1000), "{operation}");
            let items = keyed.work().items;
            assert_eq!(
                items,
                if operation == "churn" {
                    28
                } else if operation == "range" {
                    21
                } else {
                    7
                }
            );
        }
        let keyed = load("find-same", &[("count", "1000"), ("probes", "7")]);
        assert_eq!(keyed.work().items, 1000);
    }

    #[test]
    fn what_another_process_prepared_is_the_same_workload() {
        for (_, offer) in OPERATIONS {
            for keys in ["words", "integers"] {
                let parameters = [("keys", keys), ("count", "300"), ("probes", "100")];
                let keyed = load(offer.name, &parameters);
                let bytes = keyed.prepared().unwrap();
                let spec = Spec::new(offer.name, &parameters).completed::<Keyed>().unwrap();
                let again = Keyed::read(Data::own(bytes.clone()), &spec).unwrap();
                assert_eq!(again.prepared().unwrap(), bytes, "{} {keys}", offer.name);
                assert_eq!(again.work(), keyed.work());
                assert_eq!(again.probes.sum(), keyed.probes.sum());
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for (name, value) in [("hit", "1.5"), ("threads", "0"), ("keys", "cats"), ("skew", "-1")] {
            let spec = Spec::new("find-hit", &[(name, value)]).completed::<Keyed>().unwrap();
            assert!(Keyed::load(&spec).is_err(), "{name}={value}");
        }
    }
}
