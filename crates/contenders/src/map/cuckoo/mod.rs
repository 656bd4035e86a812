//! Our own cuckoo map: every key has two buckets of four slots and is in one of them, so that a find
//! reads two words of tags and, nearly always, one entry. After libcuckoo's published design (Li,
//! Andersen, Kaminsky, Freedman, "Algorithmic improvements for fast concurrent cuckoo hashing",
//! 2014). No code of libcuckoo is used.
//!
//! ```text
//! tags     | t t t t | t t t t | t t t t | …     4 bytes per bucket, 0 = empty
//! entries  | e e e e | e e e e | e e e e | …     4 entries per bucket
//!
//! first  = hash & mask
//! second = (first ^ (tag + 1) * 0xc6a4a7935bd1e995) & mask      (and back again the same way)
//! ```
//!
//! The second bucket follows from the first and the tag, so that entries can be moved without
//! reading their keys. When both buckets are full, a breadth-first search finds the shortest chain
//! of moves (at most four) to a free slot; when there is none the table doubles. That happens at
//! about 95 % load: no other table here is as dense.
//!
//! Departures from libcuckoo: no locks, one thread; tags in an array of their own, so that a miss
//! touches no entry and the tags of a million keys fit in a second-level cache; the tag is the
//! highest byte of the hash instead of all bytes folded; it starts with two buckets, not 2^16;
//! entries must be `Copy`.

mod kernel;

use fathom_measure::contender::{Keeps, Meta};

use super::slots::SlotMap;
use crate::keyed::methods::contender;
use kernel::Table;

contender! {
    pub(super) Cuckoo: HashedMap<K, H> = CuckooMap<K, H>,
    Meta {
        name: "cuckoo",
        link: "https://doi.org/10.1145/2592798.2592820",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("mod.rs"))
    }
}

/// A map in which every key has two buckets.
pub(crate) type CuckooMap<K, H> = SlotMap<Table<(K, u64)>, H>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::Default64;
    use crate::keyed::Structure;
    use crate::map::OneHash;
    use crate::map::slots::tests::{agrees, steps};
    use fathom_random::Random;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn behaves_like_the_standard_map(steps in steps(), room in 0_usize..300) {
            agrees(CuckooMap::<u64, Default64>::sized(room, Default::default()), &steps);
        }
    }

    #[test]
    #[should_panic(expected = "hashes are alike")]
    fn nine_keys_of_one_hash_are_refused_before_memory_ends() {
        let mut map = CuckooMap::<u64, OneHash>::sized(0, Default::default());
        for key in 0..9 {
            map.insert(key, key);
        }
    }

    #[test]
    fn displacement_fills_the_table_to_nine_tenths_before_it_doubles() {
        let mut map = CuckooMap::<u64, Default64>::sized(0, Default::default());
        let mut random = Random::new(5);
        let mut loads = Vec::new();
        let mut slots = map.table.slots();
        for _ in 0..200_000 {
            let before = map.entries();
            map.insert(random.word(), 1);
            if map.table.slots() > slots {
                loads.push(before as f64 / slots as f64);
                slots = map.table.slots();
            }
        }
        let last = *loads.last().unwrap();
        assert!(last > 0.9, "doubled at {last}");
    }
}
