//! The crate `cedarwood`: a double-array trie that can be changed, in its reduced form, after Yoshinaga's
//! cedar. Values are 31 bits, so that they are places in an array of values beside it.

use ::cedarwood::Cedar;

use super::escape::without_zeros;
use crate::keyed::methods::contender;
use crate::keyed::{Abilities, Key, Structure};

contender! {
    pub(super) Cedarwood: PlainMap<K> = Table,
    library!("cedarwood", "cedarwood", "BSD-2-Clause", "cedarwood.rs";
        keeps Copied, caveat "zero bytes are replaced; inserting and erasing look up first",
        code cedarwood::Cedar)
}

pub(super) struct Table {
    trie: Cedar,
    values: Vec<u64>,
    /// Places in `values` that erased keys left behind.
    free: Vec<i32>,
}

impl Table {
    fn place(&self, key: &[u8]) -> Option<usize> {
        self.trie.exact_match_search_bytes(key).map(|(place, _)| place as usize)
    }
}

impl<K: Key> Structure<K> for Table {
    const ABILITIES: Abilities = Abilities { iterate: false, ..Abilities::MAP };
    type Hasher = ();

    fn sized(entries: usize, (): ()) -> Self {
        Table { trie: Cedar::new(), values: Vec::with_capacity(entries), free: Vec::new() }
    }

    fn entries(&self) -> usize {
        self.values.len() - self.free.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        without_zeros(key.raw().as_ref(), |key| self.place(key).map(|place| self.values[place]))
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        without_zeros(key.raw().as_ref(), |key| {
            if let Some(place) = self.place(key) {
                return Some(std::mem::replace(&mut self.values[place], value));
            }
            let place = self.free.pop().unwrap_or_else(|| {
                self.values.push(0);
                i32::try_from(self.values.len() - 1).expect("less than 2^31 entries")
            });
            self.values[place as usize] = value;
            self.trie.update_bytes(key, place).expect("a key without zeros");
            None
        })
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        without_zeros(key.raw().as_ref(), |key| {
            let place = self.place(key)?;
            self.trie.erase_bytes(key);
            self.free.push(place as i32);
            Some(self.values[place])
        })
    }
}
