//! Structures that fail on purpose: each must cost its own row and nothing else. Around the
//! reference, so that everything but the fault is right.

use std::collections::BTreeMap;
use std::time::Duration;

use fathom_measure::contender::{Keeps, Meta};

use crate::keyed::bench::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

/// The reference with a fault, under the name of this number.
pub(super) struct Planted<const FAULT: u8, const NAME: usize>;

/// One find in a hundred answers with another value.
pub(super) const WRONG: u8 = 0;
/// The hundredth find aborts the process.
pub(super) const CRASH: u8 = 1;
/// The hundredth find never answers.
pub(super) const HANG: u8 = 2;
/// Every find is done twice and a little more: slower by a factor that is known to be above 1.5.
pub(super) const SLOW: u8 = 3;
/// No fault. It has two names with the same code: between them no difference may be resolved.
pub(super) const NONE: u8 = 4;
/// One find in twenty is done twice: 5 % more work.
pub(super) const SLOWER: u8 = 5;

const NAMES: [&str; 7] = [
    "planted-wrong", "planted-crash", "planted-hang", "planted-slow", "planted-right",
    "planted-twin", "planted-slower",
];

impl<const FAULT: u8, const NAME: usize> PlainMap for Planted<FAULT, NAME> {
    const META: Meta =
        Meta { name: NAMES[NAME], keeps: Keeps::Borrowed, ..Meta::of(include_str!("planted.rs")) };
    const IS_LISTED: bool = false;
    type Map<K: Key> = Faulty<K, FAULT>;
}

/// The reference with a fault.
pub(super) struct Faulty<K, const FAULT: u8> {
    right: BTreeMap<K, u64>,
    finds: std::cell::Cell<u64>,
}

impl<K: Key, const FAULT: u8> Structure<K> for Faulty<K, FAULT> {
    const ABILITIES: Abilities = Abilities::MAP;

    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Faulty { right: BTreeMap::new(), finds: std::cell::Cell::new(0) }
    }

    fn entries(&self) -> usize {
        self.right.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        let found = self.right.get(&key).copied();
        if FAULT == SLOW {
            let again = self.right.get(&std::hint::black_box(key)).copied();
            return if again == found { found } else { None };
        }
        self.finds.set(self.finds.get() + 1);
        if FAULT == SLOWER && self.finds.get().is_multiple_of(20) {
            let again = self.right.get(&std::hint::black_box(key)).copied();
            return if again == found { found } else { None };
        }
        match (self.finds.get() % 100, FAULT) {
            (0, WRONG) => found.map(|value| value + 1),
            (0, CRASH) => std::process::abort(),
            (0, HANG) => loop {
                std::thread::sleep(Duration::from_secs(1));
            },
            _ => found,
        }
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.right.insert(key, value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.right.remove(&key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.right.values().copied().for_each(visit);
    }
}
