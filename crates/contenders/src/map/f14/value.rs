//! F14, value flavour: our own. Entries lie in the chunks; a find touches the chunk and the key.

use fathom_measure::contender::{Keeps, Meta};

use super::super::place::Place;
use super::kernel::Table;
use crate::hash::{Build, Hashes};
use crate::keyed::operation::HashedMap;
use crate::keyed::{Key, Structure};

pub(in crate::map) struct Value;

impl HashedMap for Value {
    const META: Meta = Meta {
        name: "f14-value",
        link: "https://engineering.fb.com/2019/04/25/developer-tools/f14/",
        hardware: super::hardware,
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("value.rs"))
    };
    type Map<K: Key, H: Hashes> = ValueMap<K, H>;
}

/// A map whose entries lie in the chunks.
pub(crate) struct ValueMap<K: Key, H> {
    table: Table<(K, u64)>,
    function: H,
}

impl<K: Key, H: Hashes> ValueMap<K, H> {
    #[inline]
    fn place(&self, key: K) -> Place {
        Place::of(key.hash_by(&self.function), self.function.avalanches())
    }
}

impl<K: Key, H: Hashes> Structure<K> for ValueMap<K, H> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        ValueMap { table: Table::with_capacity(entries), function: hasher.0 }
    }

    fn entries(&self) -> usize {
        self.table.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        self.table.find(self.place(key), |entry| entry.0 == key).map(|entry| entry.1)
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let place = self.place(key);
        if let Some(entry) = self.table.find_mut(place, |entry| entry.0 == key) {
            return Some(std::mem::replace(&mut entry.1, value));
        }
        let function = &self.function;
        let place_of =
            |entry: &(K, u64)| Place::of(entry.0.hash_by(function), function.avalanches());
        self.table.insert_new(place, (key, value), place_of);
        None
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        self.table.remove(self.place(key), |entry| entry.0 == key).map(|entry| entry.1)
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.table.each(|entry| visit(entry.1));
    }
}
