//! F14, vector flavour: our own. Entries lie in a dense array, their 4-byte indexes in the chunks of
//! one cache line; one more dependent read per find, less memory, fast iteration.

use fathom_measure::contender::{Keeps, Meta};

use super::super::place::Place;
use super::super::slots::Slots;
use super::kernel::Table;
use crate::hash::{Build, Hashes};
use crate::keyed::methods::contender;
use crate::keyed::{Key, Structure};

contender! {
    pub(in crate::map) Vector: HashedMap<K, H> = VectorMap<K, H>,
    Meta {
        name: "f14-vector",
        link: "https://engineering.fb.com/2019/04/25/developer-tools/f14/",
        hardware: super::hardware,
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("vector.rs"))
    }
}

/// A map whose entries lie in a dense array. Takes at most 2^32 of them.
pub(crate) struct VectorMap<K: Key, H> {
    indexes: Table<u32>,
    entries: Vec<(K, u64)>,
    function: H,
}

impl<K: Key, H: Hashes> VectorMap<K, H> {
    #[inline]
    fn place(&self, key: K) -> Place {
        Place::of(key.hash_by(&self.function), self.function.avalanches())
    }
}

impl<K: Key, H: Hashes> Structure<K> for VectorMap<K, H> {
    type Hasher = Build<H>;

    fn sized(entries: usize, hasher: Build<H>) -> Self {
        let indexes = Table::with_capacity(entries);
        VectorMap { indexes, entries: Vec::with_capacity(entries), function: hasher.0 }
    }

    fn entries(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        let is = |&at: &u32| self.entries[at as usize].0 == key;
        self.indexes.find(self.place(key), is).map(|&at| self.entries[at as usize].1)
    }

    #[inline]
    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let place = self.place(key);
        let (entries, function) = (&mut self.entries, &self.function);
        if let Some(&at) = self.indexes.find(place, |&at| entries[at as usize].0 == key) {
            return Some(std::mem::replace(&mut entries[at as usize].1, value));
        }
        let at = u32::try_from(entries.len()).expect("at most 2^32 entries");
        let place_of =
            |&at: &u32| Place::of(entries[at as usize].0.hash_by(function), function.avalanches());
        self.indexes.insert_new(place, at, place_of);
        self.entries.push((key, value));
        None
    }

    #[inline]
    fn erase(&mut self, key: K) -> Option<u64> {
        let place = self.place(key);
        let entries = &self.entries;
        let hole = self.indexes.remove(place, |&at| entries[at as usize].0 == key)?;
        let (_, value) = self.entries.swap_remove(hole as usize);
        // The last entry moved into the hole: its index must follow.
        if let Some(&(moved, _)) = self.entries.get(hole as usize) {
            let (last, place) = (self.entries.len() as u32, self.place(moved));
            if let Some(at) = self.indexes.find_mut(place, |&at| at == last) {
                *at = hole;
            }
        }
        Some(value)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.entries.iter().map(|entry| entry.1).for_each(visit);
    }
}
