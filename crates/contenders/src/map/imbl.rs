//! The crate `imbl`, `HashMap`: a hash array mapped trie whose versions share structure. Copies cost
//! nothing and every change walks a path; used here through one version.

use fathom_measure::contender::{Keeps, Meta, Origin};
use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;

use crate::hash::{Build, Hashes};
use crate::keyed::Key;
use crate::keyed::bench::HashedMap;
use crate::keyed::methods::by_methods;

type Table<K, H> = GenericHashMap<K, u64, Build<H>, DefaultSharedPtr>;
by_methods!(Table, |_, hasher| GenericHashMap::with_hasher(hasher), remove);

pub(super) struct Imbl;

impl HashedMap for Imbl {
    const META: Meta = Meta {
        name: "imbl-hash",
        origin: Origin::Crate("imbl"),
        link: "https://docs.rs/imbl",
        licence: "MPL-2.0",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("imbl.rs"))
    };
    type Map<K: Key, H: Hashes> = Table<K, H>;
}
