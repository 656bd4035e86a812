//! The crate `imbl`, `HashMap`: a hash array mapped trie whose versions share structure. Copies cost
//! nothing and every change walks a path; used here through one version.

use imbl::GenericHashMap;
use imbl::shared_ptr::DefaultSharedPtr;

use crate::hash::Build;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = GenericHashMap<K, u64, Build<H>, DefaultSharedPtr>;
by_methods!(Table, |_, hasher| GenericHashMap::with_hasher(hasher), remove);

contender! {
    pub(super) Imbl: HashedMap<K, H> = Table<K, H>,
    library!("imbl-hash", "imbl", "MPL-2.0", "imbl.rs"; keeps Borrowed,
        code imbl::GenericHashMap<K, V, S, imbl::shared_ptr::DefaultSharedPtr>)
}
