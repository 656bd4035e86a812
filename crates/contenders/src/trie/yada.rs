//! The crate `yada`: a static double-array trie in one block of bytes. Values are 31 bits, so that
//! they are places in an array of values beside it.

use ::yada::DoubleArray;
use ::yada::builder::DoubleArrayBuilder;

use super::escape::without_zeros;
use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Yada: PlainMap<K> = Table,
    library!("yada", "yada", "MIT OR Apache-2.0", "yada.rs";
        keeps Copied, caveat "built once, never changed; zero bytes are replaced",
        code yada::DoubleArray<Vec<u8>>)
}

pub(super) struct Table {
    trie: Option<DoubleArray<Vec<u8>>>,
    values: Vec<u64>,
}

structure! {
    impl[K: Key] for Table: keys K, hasher (), can Abilities::STATIC;
    sized(_, ()) => Table { trie: None, values: Vec::new() },
    build(keys, values, ()) => {
        let shaped = |key: &K| without_zeros(key.raw().as_ref(), <[u8]>::to_vec);
        let mut all: Vec<_> = keys.iter().map(shaped).zip(values).collect();
        all.sort_unstable();
        all.dedup_by(|next, kept| next.0 == kept.0);
        let (keys, values): (Vec<_>, Vec<u64>) = all.into_iter().unzip();
        let places: Vec<_> = keys.into_iter().zip(0..).collect();
        let bytes = (!places.is_empty()).then(|| DoubleArrayBuilder::build(&places));
        let bytes = bytes.map(|made| made.expect("sorted keys without zeros"));
        Table { trie: bytes.map(|bytes| DoubleArray::new(bytes).expect("just built")), values }
    },
    entries(map) => map.values.len(),
    find(map, key) => {
        let trie = map.trie.as_ref()?;
        let place = without_zeros(key.raw().as_ref(), |key| trie.exact_match_search(key))?;
        map.values.get(place as usize).copied()
    },
}
