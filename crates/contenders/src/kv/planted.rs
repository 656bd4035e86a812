//! Structures that fail on purpose: each must cost its own row and nothing else. Around the
//! reference, so that everything but the fault is right.

use std::collections::BTreeMap;
use std::time::Duration;

use fathom_measure::contender::{Keeps, Meta};

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

const META: Meta = Meta { keeps: Keeps::Borrowed, ..Meta::of(include_str!("planted.rs")) };

const WRONG: u8 = 0;
const CRASH: u8 = 1;
const HANG: u8 = 2;
const SLOW: u8 = 3;
const NONE: u8 = 4;
const SLOWER: u8 = 5;

macro_rules! planted {
    ($($(#[$doc:meta])* $map:ident $name:literal $fault:ident,)*) => {
        $($(#[$doc])*
        pub(super) struct $map;

        impl PlainMap for $map {
            const META: Meta = Meta { name: $name, ..META };
            type Map<K: Key> = Faulty<K, $fault>;
        })*
    };
}
planted! {
    /// One find in a hundred answers with another value.
    Wrong "planted-wrong" WRONG,
    /// The hundredth find aborts the process.
    Crash "planted-crash" CRASH,
    /// The hundredth find never answers.
    Hang "planted-hang" HANG,
    /// Every find is done twice and a little more: slower by a factor that is known to be above 1.5.
    Slow "planted-slow" SLOW,
    /// No fault: what the next two are compared with.
    Right "planted-right" NONE,
    /// No fault again: no difference may be resolved.
    Twin "planted-twin" NONE,
    /// One find in twenty is done twice: 5 % more work.
    Slower "planted-slower" SLOWER,
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
