//! Our own HOT: a height-optimised trie, after Binna, Zangerle, Pichl, Specht and Leis ("HOT: a height
//! optimized trie index for main-memory database systems", SIGMOD 2018). No code of its authors is
//! used. No Rust library has one.
//!
//! A binary Patricia trie branches on single bits: each inner node names the position of the first
//! bit in which its keys differ. HOT cuts that trie into pieces of up to 32 ends, so that a search
//! takes about log32 n steps whatever the keys look like, and searches a piece at once:
//!
//! ```text
//! node   | header | which bits of the key matter | sparse partial keys | children |
//!          count    window: offset, mask           one per child,        leaf: place of the entry
//!          height   bytes: 8 to 32 places, masks   8, 16 or 32 bits      node: address
//!
//! key "cab"  -> its bits at the named positions, packed: the dense partial key   0b1011
//! child i matches where (dense & sparse[i]) == sparse[i]; the last match is the way down
//! ```
//!
//! A child's *sparse* partial key has the bits of its own path; bits its path does not test are 0,
//! so that all children above the right one in key order fail and the right one is the last to
//! match. At the leaf the whole key is compared.
//!
//! An insert finds the first bit in which the new key differs from the key it met, and adds that
//! bit to the node on the path in which it belongs. A full node is split at its first bit; the two
//! halves go up into its parent if that is one level higher (*pull up*), or get a node of their own
//! between (*intermediate node*). A leaf in a node that could be higher is pushed down into a node
//! of two (*leaf push-down*).
//!
//! Departures from the original: keys are any byte strings, not C strings: bits behind the end
//! count as 0, and keys that differ only in zeros at their end are told apart by the bits of their
//! length, which are positions behind all others. Extracting bits knows one window of 8 bytes or up
//! to four groups of 8 bytes, instead of eight node layouts with three of them specialised. Nodes
//! are rebuilt, not shifted in place. Erasing takes an entry out and dissolves a node of one; it
//! does not merge nodes. Bits are packed with PEXT and partial keys compared with AVX2 where the
//! processor has both, by plain loops elsewhere.

mod kernel;

use fathom_measure::contender::{Keeps, Meta, Path};

use crate::keyed::methods::contender;
use crate::keyed::{Abilities, Key, Structure};
use kernel::Tree;

contender! {
    pub(super) Hot: PlainMap<K> = Tree<K>,
    Meta {
        name: "hot",
        link: "https://doi.org/10.1145/3183713.3196896",
        hardware: |_| if kernel::is_fast() { Path::takes("avx2+bmi2") } else { Path::Portable },
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("mod.rs"))
    }
}

impl<K: Key> Structure<K> for Tree<K> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(entries: usize, (): ()) -> Self {
        Tree::with_capacity(entries)
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.find(key)
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.erase(key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.visit_all(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        self.visit_from(start, span, visit);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fathom_random::Random;
    use proptest::prelude::*;

    use super::*;
    use crate::keyed::Bytes;

    fn agrees<K: Key>(keys: &[K], steps: &[(u8, usize, u64)], fast: bool) {
        let mut tree = Tree::with_level(fast);
        let mut oracle = BTreeMap::new();
        for &(what, at, value) in steps {
            let key = keys[at % keys.len()];
            match what % 8 {
                0..=3 => assert_eq!(tree.insert(key, value), oracle.insert(key, value)),
                4..=5 => assert_eq!(tree.erase(key), oracle.remove(&key)),
                6 => assert_eq!(tree.find(key), oracle.get(&key).copied()),
                _ => {
                    let mut found = Vec::new();
                    tree.visit_from(key, 5, |value| found.push(value));
                    let expected: Vec<u64> = oracle.range(key..).take(5).map(|e| *e.1).collect();
                    assert_eq!(found, expected, "from {key:?}");
                }
            }
            assert_eq!(tree.len(), oracle.len());
        }
        let mut found = Vec::new();
        tree.visit_all(|value| found.push(value));
        assert_eq!(found, oracle.values().copied().collect::<Vec<_>>());
        tree.check();
    }

    fn steps() -> impl Strategy<Value = Vec<(u8, usize, u64)>> {
        prop::collection::vec((any::<u8>(), any::<usize>(), any::<u64>()), 0..800)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn byte_strings_behave_as_in_a_sorted_map(
            keys in prop::collection::vec(prop::collection::vec(0_u8..4, 0..12), 1..200),
            steps in steps(),
        ) {
            let keys: Vec<Bytes<'_>> = keys.iter().map(|key| Bytes(key)).collect();
            agrees(&keys, &steps, kernel::is_fast());
            agrees(&keys, &steps, false);
        }

        #[test]
        fn long_keys_that_differ_far_apart_do_too(
            places in prop::collection::vec((0_usize..300, 0_usize..300, any::<u8>()), 1..150),
            steps in steps(),
        ) {
            let key = |&(at, len, byte): &(usize, usize, u8)| {
                let mut key = vec![7; len + 1];
                key[at % (len + 1)] = byte;
                key
            };
            let keys: Vec<Vec<u8>> = places.iter().map(key).collect();
            let keys: Vec<Bytes<'_>> = keys.iter().map(|key| Bytes(key)).collect();
            agrees(&keys, &steps, kernel::is_fast());
        }

        #[test]
        fn integers_behave_as_in_a_sorted_map(
            keys in prop::collection::vec(any::<u64>(), 1..300),
            dense in any::<bool>(),
            steps in steps(),
        ) {
            let keys: Vec<u64> = keys.iter().map(|key| if dense { key % 400 } else { *key }).collect();
            agrees(&keys, &steps, kernel::is_fast());
        }
    }

    #[test]
    fn a_chain_of_prefixes_is_as_deep_as_it_must_be_and_no_deeper() {
        let text = vec![b'a'; 2000];
        let mut tree = Tree::with_capacity(0);
        for len in 0..2000 {
            assert_eq!(tree.insert(Bytes(&text[..len]), len as u64), None);
        }
        for len in 0..2000 {
            assert_eq!(tree.find(Bytes(&text[..len])), Some(len as u64));
        }
        tree.check();
    }

    #[test]
    fn keys_that_differ_only_in_zeros_at_the_end_are_different() {
        let zeros = [0_u8; 70];
        let mut tree = Tree::with_capacity(0);
        for len in (0..70).rev() {
            assert_eq!(tree.insert(Bytes(&zeros[..len]), len as u64), None);
        }
        let mut found = Vec::new();
        tree.visit_all(|value| found.push(value));
        assert_eq!(found, (0..70).collect::<Vec<_>>());
        assert_eq!(tree.erase(Bytes(&zeros[..9])), Some(9));
        assert_eq!(tree.find(Bytes(&zeros[..9])), None);
        assert_eq!(tree.find(Bytes(&zeros[..10])), Some(10));
    }

    #[test]
    fn random_integers_make_a_low_tree() {
        let mut random = Random::new(3);
        let mut tree = Tree::with_capacity(0);
        for at in 0..50_000 {
            tree.insert(random.word(), at);
        }
        tree.check();
        assert!(tree.height() <= 5, "{}", tree.height());
    }
}
