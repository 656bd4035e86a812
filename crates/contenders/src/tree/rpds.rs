//! The crate `rpds`, `RedBlackTreeMap`: a persistent red-black tree, changed in place while nobody
//! else holds a version. Its update reports nothing, so that an insert looks first.

use fathom_measure::contender::{Keeps, Meta, Origin};
use rpds::RedBlackTreeMapSync;

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Rpds;

impl PlainMap for Rpds {
    const META: Meta = Meta {
        name: "rpds-ord",
        origin: Origin::Crate("rpds"),
        link: "https://docs.rs/rpds",
        licence: "MIT",
        keeps: Keeps::Borrowed,
        caveat: "inserting and erasing look up first to tell what was there",
        ..Meta::of(include_str!("rpds.rs"))
    };
    type Map<K: Key> = RedBlackTreeMapSync<K, u64>;
}

impl<K: Key> Structure<K> for RedBlackTreeMapSync<K, u64> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        RedBlackTreeMapSync::new_sync()
    }

    fn entries(&self) -> usize {
        self.size()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).copied()
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let old = self.find(key);
        self.insert_mut(key, value);
        old
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        let old = self.find(key);
        self.remove_mut(&key);
        old
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        self.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
    }
}
