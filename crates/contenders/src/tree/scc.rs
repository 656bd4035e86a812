//! The crate `scc`, `TreeIndex`: a B+ tree for several threads whose readers never wait. It reclaims
//! memory by epochs, so that it must own its keys.

use std::ops::Bound;

use fathom_measure::contender::{Keeps, Meta, Origin};
use scc::{Guard, TreeIndex};

use crate::keyed::operation::PlainMap;
use crate::keyed::structure::{Concurrent, Shared};
use crate::keyed::{Abilities, Key};

pub(super) struct Scc;

impl PlainMap for Scc {
    const META: Meta = Meta {
        name: "scc-tree",
        origin: Origin::Crate("scc"),
        link: "https://docs.rs/scc",
        licence: "Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "made for several threads; inserting and erasing look first to tell what was there",
        ..Meta::of(include_str!("scc.rs"))
    };
    type Map<K: Key> = Shared<Table<K>>;
}

pub(super) struct Table<K: Key>(TreeIndex<K::Owned, u64>);

impl<K: Key> Concurrent<K> for Table<K> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table(TreeIndex::new())
    }

    fn entries(&self) -> usize {
        self.0.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.0.peek_with(key.part(), |_, value| *value)
    }

    fn insert(&self, key: K, value: u64) -> Option<u64> {
        let old = self.find(key);
        self.0.upsert_sync(key.owned(), value);
        old
    }

    fn erase(&self, key: K) -> Option<u64> {
        let old = self.find(key);
        self.0.remove_sync(key.part());
        old
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.0.iter(&Guard::new()).for_each(|(_, value)| visit(*value));
    }

    fn range(&self, start: K, span: usize, mut visit: impl FnMut(u64)) {
        let guard = Guard::new();
        let from = (Bound::Included(start.part()), Bound::Unbounded);
        let range = self.0.range::<K::Part, _>(from, &guard);
        range.take(span).for_each(|(_, value)| visit(*value));
    }
}
