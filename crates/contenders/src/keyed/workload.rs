//! The workload of the key-value families: keys with a value each, and one operation on them.
//!
//! The value of a key is the place of its first occurrence, so that duplicates agree and sums prove
//! which keys were met. Probes are copies in memory of their own and in an order of their own;
//! misses have the shape of the keys and are proven absent.

use fathom_measure::workload::{Data, Offer, Spec, SpecError, Work, Workload};
use fathom_random::Random;

use super::drawn::{Drawn, Settings, changed_bytes, changed_integer};
use super::keys::{Key, Keys};
use super::load;
use super::operation::{self, Find, OFFERED, OPERATIONS, Operation, PARAMETERS};
use super::prepared::{self, Section};
use super::step::{Act, Step};

/// Keys, values, probes: what every structure is given.
pub struct Keyed {
    pub(super) operation: Operation,
    pub(super) entries: Keys,
    pub(super) values: Vec<u64>,
    pub(super) probes: Keys,
    /// What belongs to each probe: the value of its key, or how many a walk from it visits.
    pub(super) probe_values: Vec<u64>,
    pub(super) new_values: Vec<u64>,
    pub(super) misses: Keys,
    pub(super) span: usize,
    /// Threads, and what they do to the probes; or what a trace does to them.
    pub(super) threads: usize,
    pub(super) steps: Vec<Step>,
    /// Whether structures grow by inserts, where they could be built at once.
    pub(super) grown: bool,
    /// Where the keys were moved.
    backing: Option<String>,
}

impl Workload for Keyed {
    const OPERATIONS: &'static [Offer] = &OFFERED;
    const MADE: &'static [&'static str] = &["keys", "count"];
    const PARAMETERS: &'static [Offer] = PARAMETERS;

    fn load(spec: &Spec) -> Result<Keyed, SpecError> {
        match &spec.shared {
            Some(data) if data.is_prepared() => Keyed::read(data.clone(), spec),
            _ => Keyed::of(load::keys(spec)?, spec),
        }
    }

    fn check(spec: &Spec) -> Result<(), SpecError> {
        Settings::of(spec).map(drop)
    }

    fn work(&self) -> Work {
        let all = |keys: &Keys| Work { bytes: keys.bytes(), items: keys.len() as u64 };
        let items = |items: usize| Work { bytes: 0, items: items as u64 };
        match self.operation {
            Operation::Insert | Operation::Build => all(&self.entries),
            Operation::Iterate | Operation::Scan => items(self.distinct()),
            Operation::Churn => Work { bytes: self.probes.bytes(), ..items(4 * self.probes.len()) },
            Operation::Range => Work { bytes: 0, items: self.probe_values.iter().sum() },
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
                let more = [("span", "7"), ("hit", "0.5"), ("reads", "0.5"), ("hot", "0.1")];
                let mut parameters = vec![("keys", keys), ("count", "400")];
                parameters.extend(more);
                cases.push(Spec::new(offer.name, &parameters));
            }
            let is_asked = matches!(operation, Operation::Find(_) | Operation::Insert);
            if is_asked || matches!(operation, Operation::Shared | Operation::Replay) {
                for count in ["0", "1", "3", "20"] {
                    cases.push(Spec::new(offer.name, &[("keys", "uuids"), ("count", count)]));
                }
            }
        }
        cases
    }

    fn prepared(&self) -> Option<Vec<u8>> {
        let acts: Vec<u64> = self.steps.iter().map(|step| step.act as u64).collect();
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
            Section::Values(&acts),
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

    fn takes(spec: &Spec, parameter: &str) -> bool {
        operation::takes(spec, parameter)
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
        let drawn = match &keys {
            Keys::Integers(all) => Drawn::of(all, &settings, &mut random, changed_integer),
            Keys::Text(all) => Drawn::of(&all.keys(), &settings, &mut random, changed_bytes),
        };
        let mut keyed = Keyed::drawn(drawn, &keys, &settings);
        if keyed.operation == Operation::Range {
            keyed.probe_values = match (&keyed.entries, &keyed.probes) {
                (Keys::Integers(keys), Keys::Integers(starts)) => visits(keys, starts, keyed.span),
                (keys, starts) => visits(&keys.strings(), &starts.strings(), keyed.span),
            };
        }
        if let Some(path) = &settings.trace {
            keyed.take_trace(load::trace(path, &keys, spec)?);
        }
        Ok(keyed)
    }

    /// Does what the trace says; what only touches keys touches its keys.
    fn take_trace(&mut self, (probes, acts): (Keys, Vec<fathom_keys::trace::Act>)) {
        self.probes = probes;
        if self.entries.is_empty() {
            self.entries = self.probes.copies(std::iter::empty());
            self.misses = self.entries.clone();
        }
        if self.operation == Operation::Replay {
            let places = self.entries.len() as u64..;
            self.steps = places.zip(acts).map(|(place, act)| Step::recorded(act, place)).collect();
            self.probe_values = self.steps.iter().map(|step| step.value).collect();
        }
    }

    fn drawn(drawn: Drawn, keys: &Keys, settings: &Settings) -> Keyed {
        let Drawn { values, order, probes, misses, steps } = drawn;
        let is_same = settings.operation == Operation::Find(Find::Same);
        let probe_values: Vec<u64> = match settings.operation {
            Operation::Shared | Operation::Replay => steps.iter().map(|step| step.value).collect(),
            _ if values.is_empty() => Vec::new(),
            _ => order.iter().map(|&at| values[at]).collect(),
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
            steps,
            grown: settings.grown,
            backing: None,
        }
    }

    /// The workload of a completed spec as another process prepared it.
    fn read(data: Data, spec: &Spec) -> Result<Keyed, SpecError> {
        let Settings { operation, span, threads, grown, .. } = Settings::of(spec)?;
        // Shared memory on huge pages is to be had on few machines, a process's own on nearly all:
        // without them page walks are most of what a scan measures.
        // What small pages' translations cover anyway is not worth a copy at each opening.
        let stays = data.len() < 8 << 20 || data.has_huge_pages();
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
                steps: Vec::new(),
                grown,
                backing: None,
            };
            keyed.steps = steps(reader.values()?, &keyed)?;
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

    /// How many different keys there are.
    fn distinct(&self) -> usize {
        (0..).zip(&self.values).filter(|&(at, &first)| at == first).count()
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    /// Whether one of the steps is such a one.
    pub(crate) fn does(&self, act: Act) -> bool {
        self.steps.iter().any(|step| step.act == act)
    }

    /// Whether the keys are whole numbers.
    pub(crate) fn has_integers(&self) -> bool {
        matches!(self.entries, Keys::Integers(_))
    }

    /// Whether every key that is ever met is a string.
    pub(crate) fn has_strings(&self) -> bool {
        [&self.entries, &self.probes, &self.misses].into_iter().all(Keys::are_strings)
    }

    /// Whether every key that is ever met has so many bytes.
    #[cfg(any(feature = "store", feature = "native", feature = "cpu"))]
    pub(crate) fn has_lengths(&self, wanted: std::ops::RangeInclusive<usize>) -> bool {
        [&self.entries, &self.probes, &self.misses].into_iter().all(|keys| match keys {
            Keys::Integers(keys) => keys.is_empty() || wanted.contains(&8),
            Keys::Text(text) => text.lengths().all(|length| wanted.contains(&length)),
        })
    }
}

/// How many values a walk visits from each of `starts` on: `span`, or as many as there are keys left.
fn visits<K: Key>(keys: &[K], starts: &[K], span: usize) -> Vec<u64> {
    let mut keys = keys.to_vec();
    keys.sort_unstable();
    keys.dedup();
    let left = |start| keys.len() - keys.partition_point(|key| key < start);
    starts.iter().map(|start| left(start).min(span) as u64).collect()
}

/// The steps that the numbered acts and `keyed`'s probes with their values are.
fn steps(acts: Vec<u64>, keyed: &Keyed) -> Result<Vec<Step>, String> {
    let values = &keyed.probe_values;
    if !acts.is_empty() && (keyed.probes.len() != acts.len() || values.len() < acts.len()) {
        return Err("not as many steps as keys for them".to_owned());
    }
    let step = |(number, &value): (u64, &u64)| {
        let act = Act::of(number).ok_or_else(|| format!("no act has number {number}"))?;
        Ok(Step { act, value })
    };
    acts.into_iter().zip(values).map(step).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::keyed::Bytes;

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

    /// One byte of a character was changed, and what takes UTF-8 alone took no part.
    #[test]
    fn misses_of_text_are_text() {
        for words in [&["é"][..], &["", "ß", "日本", "größer", "naïve", "Привет"]] {
            let keys: Keys = words.iter().map(|word| Box::<[u8]>::from(word.as_bytes())).collect();
            for operation in ["find-miss", "churn", "shared", "replay"] {
                let spec =
                    Spec::new(operation, &[("hit", "0"), ("inserts", "0.75"), ("reads", "0.5")]);
                let keyed = Keyed::of(keys.clone(), &spec.completed::<Keyed>().unwrap()).unwrap();
                assert!(keyed.has_strings(), "{operation} on {words:?}");
            }
        }
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
            let each = match operation {
                "churn" => 4,
                "range" => 3,
                _ => 1,
            };
            assert_eq!(keyed.work().items, 7 * each);
        }
        let keyed = load("find-same", &[("count", "1000"), ("probes", "7")]);
        assert_eq!(keyed.work().items, 1000);
    }

    #[test]
    fn walks_count_the_values_they_visit() {
        let of = |operation, keys: Keys| {
            let spec = Spec::new(operation, &[("span", "2")]).completed::<Keyed>().unwrap();
            Keyed::of(keys, &spec).unwrap()
        };
        let keys = || vec![9, 7, 9, 8, 7, 9, 9, u64::MAX];
        for operation in ["iterate", "scan"] {
            assert_eq!(of(operation, Keys::Integers(keys())).work().items, 4, "{operation}");
        }
        let text =
            |keys: Vec<u64>| keys.iter().map(|key| Box::from(key.to_be_bytes())).collect::<Keys>();
        let visited = |starts: Vec<Vec<u8>>| -> u64 {
            let all = [7, 8, 9, u64::MAX].map(u64::to_be_bytes);
            let left = |start: &Vec<u8>| all.iter().filter(|key| key[..] >= start[..]).count();
            starts.iter().map(|start| left(start).min(2) as u64).sum()
        };
        let walks = of("range", Keys::Integers(keys()));
        let Keys::Integers(starts) = &walks.probes else { panic!() };
        let starts = starts.iter().map(|start| start.to_be_bytes().to_vec()).collect();
        assert_eq!(walks.work().items, visited(starts));
        let walks = of("range", text(keys()));
        let starts = walks.probes.strings().iter().map(|start| start.0.to_vec()).collect();
        assert_eq!(walks.work().items, visited(starts));
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

    /// `insert=12345,erase=87655` of `fathom kv` was refused.
    #[test]
    fn shares_that_are_both_rounded_up_are_taken() {
        let mix = [("count", "10"), ("inserts", "0.1235"), ("erases", "0.8766")];
        assert!(!load("shared", &mix).steps.is_empty());
    }

    #[test]
    fn threads_insert_keys_that_are_nowhere_and_each_only_once() {
        for keys in ["words", "integers-sequential"] {
            let mix = [("reads", "0.2"), ("inserts", "0.8"), ("erases", "0.1")];
            let loaded = load("shared", &[&[("keys", keys), ("count", "3000")][..], &mix].concat());
            assert_eq!(loaded.probes.len(), 3000);
            let names = |keys: &Keys| -> Vec<Vec<u8>> {
                match keys {
                    Keys::Integers(all) => all.iter().map(|k| k.to_be_bytes().to_vec()).collect(),
                    Keys::Text(all) => all.keys().iter().map(|k| k.0.to_vec()).collect(),
                }
            };
            let there: HashSet<Vec<u8>> = names(&loaded.entries).into_iter().collect();
            let steps = names(&loaded.probes).into_iter().zip(&loaded.steps);
            let (mut inserted, mut missed) = (HashSet::new(), HashSet::new());
            for (key, step) in steps {
                match step.act {
                    Act::Insert => assert!(!there.contains(&key) && inserted.insert(key)),
                    Act::Miss => {
                        assert!(!there.contains(&key));
                        missed.insert(key);
                    }
                    Act::Update | Act::Erase => assert!(there.contains(&key)),
                    Act::Find | Act::Race | Act::Scan => {}
                }
            }
            assert!(inserted.len() > 1700 && inserted.is_disjoint(&missed), "{keys}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let nonsense = [
            ("hit", "1.5"),
            ("threads", "0"),
            ("keys", "cats"),
            ("skew", "-1"),
            ("inserts", "0.9"),
            ("hot", "x"),
        ];
        for (name, value) in nonsense {
            let spec = Spec::new("find-hit", &[(name, value)]).completed::<Keyed>();
            assert!(spec.and_then(|spec| Keyed::load(&spec)).is_err(), "{name}={value}");
        }
    }
}
