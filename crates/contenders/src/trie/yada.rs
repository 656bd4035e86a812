//! The crate `yada`: a static double-array trie in one block of bytes. Values are 31 bits, so that
//! they are places in an array of values beside it.

use ::yada::DoubleArray;
use ::yada::builder::DoubleArrayBuilder;
use fathom_measure::contender::{Keeps, Meta, Origin};

use super::escape::without_zeros;
use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Yada;

impl PlainMap for Yada {
    const META: Meta = Meta {
        name: "yada",
        origin: Origin::Crate("yada"),
        link: "https://docs.rs/yada",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "built once, never changed; zero bytes are replaced",
        ..Meta::of(include_str!("yada.rs"))
    };
    type Map<K: Key> = Table;
}

pub(super) struct Table {
    trie: Option<DoubleArray<Vec<u8>>>,
    values: Vec<u64>,
}

impl<K: Key> Structure<K> for Table {
    const ABILITIES: Abilities = Abilities::STATIC;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table { trie: None, values: Vec::new() }
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        let shaped = |key: &K| without_zeros(key.raw().as_ref(), <[u8]>::to_vec);
        let mut all: Vec<_> = keys.iter().map(shaped).zip(values).collect();
        all.sort_unstable();
        all.dedup_by(|next, kept| next.0 == kept.0);
        let values: Vec<u64> = all.iter().map(|(_, value)| **value).collect();
        let places: Vec<_> = (0..).zip(all).map(|(place, (key, _))| (key, place)).collect();
        let trie = (!places.is_empty()).then(|| {
            let bytes = DoubleArrayBuilder::build(&places).expect("sorted keys without zeros");
            DoubleArray::new(bytes).expect("just built")
        });
        Table { trie, values }
    }

    fn entries(&self) -> usize {
        self.values.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        let trie = self.trie.as_ref()?;
        let place = without_zeros(key.raw().as_ref(), |key| trie.exact_match_search(key))?;
        self.values.get(place as usize).copied()
    }
}
