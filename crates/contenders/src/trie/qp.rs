//! The crate `qp-trie`: a quadbit Patricia trie: four bits a step, children packed behind a bitmap.
//! Its iteration is not in the order of the keys: it looks at the low half of a byte first.

use fathom_measure::contender::{Keeps, Meta, Origin};
use qp_trie::Trie;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Qp;

impl PlainMap for Qp {
    const META: Meta = Meta {
        name: "qp-trie",
        origin: Origin::Crate("qp-trie"),
        link: "https://docs.rs/qp-trie",
        licence: "MPL-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("qp.rs"))
    };
    type Map<K: Key> = Table<K>;
}

pub(super) struct Table<K: Key>(Trie<K::Raw, u64>);

impl<K: Key> Structure<K> for Table<K> {
    const ABILITIES: Abilities = Abilities::MAP;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table(Trie::new())
    }

    fn entries(&self) -> usize {
        self.0.count()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.0.get(key.raw().as_ref()).copied()
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.0.insert(key.raw(), value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.0.remove(key.raw().as_ref())
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.0.values().copied().for_each(visit);
    }
}
