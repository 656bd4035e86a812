//! The crate `crawdad`, `MpTrie`: a static double-array trie over characters with frequent ones
//! numbered first, tails stored apart. A byte becomes the character of its number; values are places
//! in an array beside it.

use ::crawdad::MpTrie;

use crate::keyed::methods::{contender, structure};
use crate::keyed::structure::sorted;
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Crawdad: PlainMap<K> = Table,
    library!("crawdad", "crawdad", "MIT OR Apache-2.0", "crawdad.rs";
        keeps Copied, caveat "built once, never changed; made for characters, given bytes",
        code crawdad::MpTrie)
}

pub(super) struct Table {
    trie: Option<MpTrie>,
    values: Vec<u64>,
}

/// Each byte as a character above zero, which marks the end; one more ends the key, so that none is
/// empty.
fn characters(key: &[u8]) -> impl Iterator<Item = char> + '_ {
    let character = |&byte: &u8| char::from_u32(u32::from(byte) + 2).unwrap_or_default();
    key.iter().map(character).chain(['\u{1}'])
}

structure! {
    impl[K: Key] for Table: keys K, hasher (), can Abilities::STATIC;
    sized(_, ()) => Table { trie: None, values: Vec::new() },
    build(keys, values, ()) => {
        let (keys, values): (Vec<K>, Vec<u64>) = sorted(keys, values).into_iter().unzip();
        let texts = keys.iter().map(|key| characters(key.raw().as_ref()).collect::<String>());
        let trie = (!values.is_empty()).then(|| MpTrie::from_records(texts.zip(0_u32..)));
        Table { trie: trie.map(|made| made.expect("distinct keys, none empty")), values }
    },
    entries(map) => map.values.len(),
    find(map, key) => {
        let place = map.trie.as_ref()?.exact_match(characters(key.raw().as_ref()))?;
        map.values.get(place as usize).copied()
    },
}
