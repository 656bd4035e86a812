//! The crate `fst`, `Map`: a static finite-state transducer, beginnings and endings shared: the
//! smallest of all on natural words, with the keys inside.

use ::fst::{IntoStreamer, Map, Streamer};
use fathom_measure::contender::{Keeps, Meta, Origin};

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Fst;

impl PlainMap for Fst {
    const META: Meta = Meta {
        name: "fst",
        origin: Origin::Crate("fst"),
        link: "https://docs.rs/fst",
        licence: "Unlicense OR MIT",
        keeps: Keeps::Copied,
        caveat: "built once, never changed",
        ..Meta::of(include_str!("fst.rs"))
    };
    type Map<K: Key> = Map<Vec<u8>>;
}

impl<K: Key> Structure<K> for Map<Vec<u8>> {
    const ABILITIES: Abilities = Abilities { insert: false, erase: false, ..Abilities::TREE };
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Map::default()
    }

    fn build(keys: &[K], values: &[u64], (): ()) -> Self {
        let mut all: Vec<(K, u64)> = keys.iter().copied().zip(values.iter().copied()).collect();
        all.sort_unstable();
        all.dedup_by_key(|(key, _)| *key);
        Map::from_iter(all.into_iter().map(|(key, value)| (key.raw(), value))).expect("sorted keys")
    }

    fn entries(&self) -> usize {
        self.len()
    }

    fn find(&self, key: K) -> Option<u64> {
        self.get(key.raw())
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        let mut all = self.stream();
        while let Some((_, value)) = all.next() {
            visit(value);
        }
    }

    fn range(&self, start: K, span: usize, mut visit: impl FnMut(u64)) {
        let mut from = self.range().ge(start.raw()).into_stream();
        for _ in 0..span {
            let Some((_, value)) = from.next() else { return };
            visit(value);
        }
    }
}
