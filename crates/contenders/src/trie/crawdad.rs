//! The crate `crawdad`, `MpTrie`: a static double-array trie over characters with frequent ones
//! numbered first, tails stored apart. A byte becomes the character of its number; values are places
//! in an array beside it.

use ::crawdad::MpTrie;
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Crawdad;

impl PlainMap for Crawdad {
    const META: Meta = Meta {
        name: "crawdad",
        origin: Origin::Crate("crawdad"),
        link: "https://docs.rs/crawdad",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        caveat: "built once, never changed; made for characters, given bytes",
        ..Meta::of(include_str!("crawdad.rs"))
    };
    type Map<K: Key> = Table;
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

impl<K: Key> Structure<K> for Table {
    const ABILITIES: Abilities = Abilities::STATIC;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table { trie: None, values: Vec::new() }
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        let mut all: Vec<(K, u64)> = keys.iter().copied().zip(values.iter().copied()).collect();
        all.sort_unstable();
        all.dedup_by_key(|(key, _)| *key);
        let text = |key: &K| characters(key.raw().as_ref()).collect::<String>();
        let records: Vec<_> = all.iter().map(|(key, _)| text(key)).zip(0_u32..).collect();
        let trie = (!records.is_empty())
            .then(|| MpTrie::from_records(records).expect("distinct keys, none empty"));
        Table { trie, values: all.into_iter().map(|(_, value)| value).collect() }
    }

    fn entries(&self) -> usize {
        self.values.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        let place = self.trie.as_ref()?.exact_match(characters(key.raw().as_ref()))?;
        self.values.get(place as usize).copied()
    }
}
