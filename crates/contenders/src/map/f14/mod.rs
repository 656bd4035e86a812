//! Our own F14: a table of chunks with fourteen slots, each probed by one vector comparison, after
//! the published design of Facebook's folly ("Open-sourcing F14 for faster, more memory-efficient
//! hash tables", 2019). No code of folly is used.
//!
//! ```text
//! chunk  | t t t t t t t t t t t t t t | h | o | item item item … item |
//!          14 tags, 0 = empty            |   |   14 slots, inline
//!          hosted: items here that ──────┘   |
//!          belong elsewhere                  |
//!          outbound: items that belong here ─┘
//!          and had to go on (255: at least)
//!
//! 4-byte items (indexes) use 12 slots, so that a chunk is one cache line:
//! chunk  | t t t t t t t t t t t t . . | h | o | 12 x u32 |
//! ```
//!
//! The highest byte of the hash is the tag, its low bits choose the chunk. A probe compares all
//! tags at once, then keys where tags agree, and goes on (by 2 tag + 1 chunks) only while `outbound`
//! is not 0. So a miss usually reads 16 bytes, and an erase leaves no tombstone: it counts down
//! `outbound` along its path. At most 12 of 14 slots (10 of 12) are filled on average.
//!
//! Two flavours: *value* keeps entries in the chunks; *vector* keeps them in a dense array and
//! their indexes in the chunks, so that iteration is a walk over an array.
//!
//! Departures from folly: the capacity is kept in the table, not in the first chunk; chunks are
//! aligned to cache lines; `outbound` saturates at 255, because there is no shared empty table to
//! tell apart by it; growth always doubles; items must be `Copy`; no node flavour.

use fathom_measure::contender::Path;

mod kernel;
mod value;
mod vector;

pub(super) use value::Value;
#[cfg(test)]
use value::ValueMap;
pub(super) use vector::Vector;
#[cfg(test)]
use vector::VectorMap;

/// Sixteen tags are compared by SSE2 on x86-64, one by one elsewhere.
fn hardware(_: &str) -> Path {
    if cfg!(target_arch = "x86_64") { Path::takes("sse2") } else { Path::Portable }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash::{Default64, Hashes};
    use crate::keyed::Structure;
    use crate::map::OneHash;
    use crate::map::slots::tests::{agrees, steps};

    /// Everything in few chunks: long probes, counters at work.
    #[derive(Clone, Default)]
    pub(super) struct Clumsy;

    impl Hashes for Clumsy {
        fn bytes(&self, bytes: &[u8]) -> u64 {
            bytes.len() as u64
        }
        fn word(&self, word: u64) -> u64 {
            ((word % 3) << 56) | (word % 2)
        }
        fn avalanches(&self) -> bool {
            true
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn both_flavours_behave_like_the_standard_map(steps in steps(), room in 0_usize..200) {
            agrees(ValueMap::sized(room, Default::default()) as ValueMap<u64, Default64>, &steps);
            agrees(ValueMap::sized(0, Default::default()) as ValueMap<u64, Clumsy>, &steps);
            agrees(VectorMap::sized(room, Default::default()) as VectorMap<u64, Default64>, &steps);
            agrees(VectorMap::sized(0, Default::default()) as VectorMap<u64, Clumsy>, &steps);
        }
    }

    #[test]
    fn an_overflow_count_that_saturated_still_finds_everything() {
        // 2000 keys in one home chunk: its outbound count reaches 255 and stays there.
        let mut map: ValueMap<u64, OneHash> = ValueMap::sized(0, Default::default());
        for key in 0..2000 {
            assert_eq!(map.insert(key, key + 1), None);
        }
        for key in 0..1999 {
            assert_eq!(map.erase(key), Some(key + 1));
        }
        assert_eq!((map.find(1999), map.find(5), map.entries()), (Some(2000), None, 1));
    }
}
