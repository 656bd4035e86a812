//! The crate `congee`: an adaptive radix tree of 8-byte keys for several threads, synchronised by
//! versions that readers check instead of locks.

use ::congee::{U64Congee, epoch};
use fathom_measure::contender::{Meta, Origin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::keyed::Abilities;
use crate::keyed::operation::IntegerMap;
use crate::keyed::structure::{Concurrent, Shared};

pub(super) struct Congee;

impl IntegerMap for Congee {
    const META: Meta = Meta {
        name: "art-congee",
        origin: Origin::Crate("congee"),
        link: "https://docs.rs/congee",
        licence: "MIT",
        caveat: "integer keys only; made for several threads",
        ..Meta::of(include_str!("congee.rs"))
    };
    type Map = Shared<Table>;
}

pub(super) struct Table {
    tree: U64Congee<usize>,
    /// The tree does not count.
    entries: AtomicUsize,
}

impl Concurrent<u64> for Table {
    const ABILITIES: Abilities =
        Abilities { iterate: false, ordered: false, range: true, ..Abilities::TREE };
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table { tree: U64Congee::new(), entries: AtomicUsize::new(0) }
    }

    fn entries(&self) -> usize {
        self.entries.load(Relaxed)
    }

    fn find(&self, key: u64) -> Option<u64> {
        self.tree.get(key, &epoch::pin()).map(|value| value as u64)
    }

    fn insert(&self, key: u64, value: u64) -> Option<u64> {
        let old = self.tree.insert(key, value as usize, &epoch::pin()).expect("memory for a node");
        if old.is_none() {
            self.entries.fetch_add(1, Relaxed);
        }
        old.map(|value| value as u64)
    }

    fn erase(&self, key: u64) -> Option<u64> {
        let old = self.tree.remove(key, &epoch::pin())?;
        self.entries.fetch_sub(1, Relaxed);
        Some(old as u64)
    }

    fn range(&self, start: u64, span: usize, mut visit: impl FnMut(u64)) {
        let mut found = vec![([0; 8], 0); span];
        let count = self.tree.range(start, u64::MAX, &mut found, &epoch::pin());
        found[..count].iter().for_each(|(_, value)| visit(*value as u64));
    }
}
