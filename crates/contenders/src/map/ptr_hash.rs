//! The crate `ptr_hash`: a minimal perfect hash function built for the very keys, over an array of
//! entries. Never changes; each find is one computed place and one comparison: the bound for maps
//! that are only read.

use ptr_hash::{DefaultPtrHash, PtrHashParams};

use crate::hash::Default64;
use crate::keyed::methods::contender;
use crate::keyed::{Abilities, Key, Structure};

contender! {
    pub(super) PtrHash: PlainMap<K> = Table<K>,
    library!("ptr-hash", "ptr_hash", "MIT", "ptr_hash.rs";
        keeps Borrowed,
        caveat "built once, never changed; keys are hashed to 64 bits with foldhash first")
}

pub(super) struct Table<K> {
    places: Option<DefaultPtrHash>,
    entries: Vec<(K, u64)>,
}

impl<K: Key> Structure<K> for Table<K> {
    const ABILITIES: Abilities = Abilities { iterate: true, ..Abilities::STATIC };

    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table { places: None, entries: Vec::new() }
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        let function = Default64::default();
        let hash = |key: K| key.hash_by(&function);
        let mut all: Vec<(u64, K, u64)> =
            keys.iter().zip(values).map(|(&key, &value)| (hash(key), key, value)).collect();
        all.sort_unstable();
        all.dedup_by_key(|(_, key, _)| *key);
        let hashes: Vec<u64> = all.iter().map(|(hash, ..)| *hash).collect();
        if hashes.is_empty() {
            return Self::sized(0, ());
        }
        let places = DefaultPtrHash::<_, u64>::new(&hashes, PtrHashParams::default());
        let mut entries = vec![(K::default(), 0); hashes.len()];
        for &(hash, key, value) in &all {
            entries[places.index(&hash)] = (key, value);
        }
        Table { places: Some(places), entries }
    }

    fn entries(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    fn find(&self, key: K) -> Option<u64> {
        let place = self.places.as_ref()?.index(&key.hash_by(&Default64::default()));
        let (found, value) = self.entries.get(place)?;
        (*found == key).then_some(*value)
    }

    fn each(&self, visit: impl FnMut(u64)) {
        self.entries.iter().map(|(_, value)| *value).for_each(visit);
    }
}
