//! The standard library's B-tree: plain, ordered and right, the oracle of every key-value family.
//!
//! Touches keys byte by byte. In the shared operation it does the work of all threads one after
//! another on one thread: what the work costs where nothing is shared.

use std::collections::BTreeMap;

use fathom_measure::contender::{Contender, Keeps, Meta, Preparation};

use super::bench::{Plain, PlainMap, STD, touch};
use super::keys::{Key, Keys};
use super::operation::Operation;
use super::structure::{Abilities, Structure};
use super::workload::Keyed;

pub(crate) struct Reference;

impl Contender<Keyed> for Reference {
    fn meta(&self) -> Meta {
        BTree::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.operation() {
            Operation::Touch => touch(workload, Keys::sum_plain),
            _ => Plain(BTree).prepare(workload),
        }
    }
}

struct BTree;

impl PlainMap for BTree {
    const META: Meta = Meta {
        name: "btreemap",
        origin: STD,
        link: "https://doc.rust-lang.org/std/collections/struct.BTreeMap.html",
        keeps: Keeps::Borrowed,
        code: "std::collections::BTreeMap<K, V>",
        ..Meta::of(include_str!("reference.rs"))
    };
    type Map<K: Key> = BTreeMap<K, u64>;
}

impl<K: Key> Structure<K> for BTreeMap<K, u64> {
    // Shares one after another, without a lock: nobody else is there.
    const ABILITIES: Abilities = Abilities { concurrent: true, ..Abilities::TREE };

    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        BTreeMap::new()
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        keys.iter().copied().zip(values.iter().copied()).collect()
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.get(&key).copied()
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        self.insert(key, value)
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        self.remove(&key)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.values().copied().for_each(visit);
    }

    fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        self.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
    }
}
