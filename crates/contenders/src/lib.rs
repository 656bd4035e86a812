//! Everything that is measured against something, family by family.
//!
//! A family is a folder: `mod.rs` (its page, the ordered slice of its contenders), `workload.rs`
//! (data + operation + parameters), `reference.rs` (the plain implementation that is right) and one
//! file per contender. A contender is added in three places that stand together: its file of 10 to
//! 30 lines, a private `mod` line and an entry in the slice, each with `#[cfg(feature)]` where it
//! needs one. Listings, filters, report rows and the tests of this crate come from the slice.
//!
//! ```
//! use fathom_contenders::family;
//! use fathom_measure::meter::Untimed;
//! use fathom_measure::workload::Spec;
//!
//! let checksum = family("checksum").unwrap();
//! let spec = Spec::new("crc32c", &[("size", "64")]);
//! let mut digests = Vec::new();
//! for entry in checksum.entries() {
//!     let mut sample = |mut opened: fathom_measure::family::Opened<'_>| {
//!         digests.push(opened.prepared.sample(1, &mut Untimed));
//!     };
//!     // A contender without this operation says so and takes no part.
//!     let _ = checksum.open(&entry.id, &spec, &mut sample);
//! }
//! assert!(digests.len() > 1 && digests.iter().all(|digest| *digest == digests[0]));
//! ```
#![deny(unsafe_code)]
// They panic where standard error is closed or full.
#![deny(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fathom_measure::contender::Origin;
use fathom_measure::family::AnyFamily;

#[macro_use]
mod meta;
mod aes;
pub mod aggregate;
#[cfg(feature = "kv")]
#[allow(unsafe_code)] // the global allocator and patterns of allocation, in a folder named kernel
pub mod alloc;
pub mod checksum;
pub mod cipher;
pub mod codec;
pub mod digest;
#[cfg(feature = "kv")]
pub mod footprint;
#[cfg(feature = "kv")]
pub mod hash;
pub mod haversine;
pub mod json;
#[cfg(feature = "kv")]
#[allow(unsafe_code)] // prefetches, in a file named kernel
pub mod keyed;
#[cfg(feature = "kv")]
pub mod kv;
mod library;
#[cfg(feature = "kv")]
#[allow(unsafe_code)] // our own tables, in files named kernel
pub mod map;
pub mod memory;
pub mod mix;
mod own;
pub mod people;
pub mod planted;
pub mod read;
mod several;
pub mod sql;
#[cfg(feature = "kv")]
pub mod store;
#[allow(unsafe_code)] // foreign functions of the libraries of this machine, behind safe ones
pub mod system;
mod tasks;
pub mod text;
#[cfg(feature = "kv")]
pub mod tree;
#[cfg(feature = "kv")]
#[allow(unsafe_code)] // our own trie, in files named kernel
pub mod trie;
mod unit;

pub use own::regular;

/// The memory allocator of a process: any contender can be put on any of them.
#[cfg(feature = "kv")]
pub mod allocator {
    pub use crate::alloc::{
        Allocator, CHOICES, PRELOADS, Preload, SYSTEM, VARIABLE, absent, chosen, others_preloaded,
        reserved_bytes,
    };
}

/// The level this crate is optimised at, and so what is measured.
pub const OPT_LEVEL: &str = env!("FATHOM_OPT_LEVEL");

/// The features this crate was built with, which may be more than the program asked for: what is built together
/// shares them.
pub fn features() -> impl Iterator<Item = &'static str> {
    let all = [
        ("cpu", cfg!(feature = "cpu")),
        ("kv", cfg!(feature = "kv")),
        ("mimalloc-secure", cfg!(feature = "mimalloc-secure")),
        ("more", cfg!(feature = "more")),
        ("native", cfg!(feature = "native")),
        ("store", cfg!(feature = "store")),
    ];
    all.into_iter().filter_map(|(name, is_on)| is_on.then_some(name))
}

/// In the order they are shown.
const FAMILIES: &[&dyn AnyFamily] = &[
    &aggregate::FAMILY,
    &haversine::FAMILY,
    &read::FAMILY,
    #[cfg(feature = "kv")]
    &map::FAMILY,
    #[cfg(feature = "kv")]
    &tree::FAMILY,
    #[cfg(feature = "kv")]
    &trie::FAMILY,
    #[cfg(feature = "kv")]
    &store::FAMILY,
    #[cfg(feature = "kv")]
    &hash::FAMILY,
    #[cfg(feature = "kv")]
    &alloc::FAMILY,
    &memory::FAMILY,
    &checksum::FAMILY,
    &digest::FAMILY,
    &cipher::FAMILY,
    &codec::FAMILY,
    &text::FAMILY,
    &json::FAMILY,
    &sql::FAMILY,
];

/// All families, in the order they are shown. (A function, not in line: who names a constant compiles what it leads to.)
#[must_use]
#[inline(never)]
pub fn families() -> &'static [&'static dyn AnyFamily] {
    FAMILIES
}

/// What a worker serves: all families, the planted one of the self-test, the ladder of
/// `fathom haversine --stages`, and the union that `fathom kv` chooses from.
#[must_use]
pub fn served() -> Vec<&'static dyn AnyFamily> {
    let hidden: &[&'static dyn AnyFamily] = &[
        &planted::FAMILY,
        &haversine::stages::FAMILY,
        #[cfg(feature = "kv")]
        &kv::FAMILY,
    ];
    FAMILIES.iter().chain(hidden).copied().collect()
}

/// The family called `name`.
#[must_use]
pub fn family(name: &str) -> Option<&'static dyn AnyFamily> {
    FAMILIES.iter().copied().find(|family| family.name() == name)
}

/// The lock file this build was made from.
static LOCKED: LazyLock<BTreeMap<&str, &str>> =
    LazyLock::new(|| locked(include_str!(env!("FATHOM_LOCK"))));

/// The version of a contender: of the crate in the lock file this build was made from, of the
/// library as it tells itself, or of fathom.
#[must_use]
pub fn version(origin: Origin) -> String {
    match origin {
        Origin::Own => env!("CARGO_PKG_VERSION").to_owned(),
        Origin::Library(_, version) => version(),
        Origin::Crate(name) => (*LOCKED.get(name).unwrap_or(&"not in the lock file")).to_owned(),
    }
}

/// The crates that a contender takes for an operation beside its own, each with its feature, if one is needed.
#[must_use]
pub fn beside(origin: Origin, operation: &str) -> &'static [(&'static str, &'static str)] {
    const MEMCHR: (&str, &str) = ("memchr", "");
    const SERDE: (&str, &str) = ("serde", "derive");
    let Origin::Crate(name) = origin else { return &[] };
    match (name, operation) {
        ("cfb-mode" | "ctr" | "ofb", _) => &[("aes", "")],
        ("md-5" | "sha1" | "sha2", _) if operation.starts_with("hmac-") => &[("hmac", "")],
        ("serde_json" | "sonic-rs", "json-human") => &[("serde-transcode", "")],
        ("serde_json", "json-valid-zero" | "json-count-zero") => &[SERDE, MEMCHR],
        ("serde_json", "json-valid" | "json-count" | "json-count-half" | "json-properties")
        | (
            "serde_json" | "simd-json" | "sonic-rs",
            "dom-interned" | "mean" | "objects" | "records" | "serialise" | "table-values",
        ) => &[SERDE],
        (
            "simd-json" | "simdutf" | "simdutf8" | "sonic-rs",
            "json-count-zero" | "json-valid-zero" | "utf8-zero",
        ) => &[MEMCHR],
        _ => &[],
    }
}

/// The version of each crate in a lock file; where it has several, the one that this package takes, which the list
/// of its dependencies tells.
fn locked(lock: &str) -> BTreeMap<&str, &str> {
    let (mut versions, mut own) = (BTreeMap::new(), "");
    for entry in lock.split("[[package]]") {
        let field = |key| entry.lines().find_map(|line| line.strip_prefix(key)?.strip_suffix('"'));
        let (Some(name), Some(version)) = (field("name = \""), field("version = \"")) else {
            continue;
        };
        if name == env!("CARGO_PKG_NAME") {
            own = entry;
        }
        versions.entry(name).or_insert(version);
    }
    // A source may follow the version.
    let taken = own.lines().filter_map(|line| {
        let mut words = line.trim().strip_prefix('"')?.strip_suffix("\",")?.split(' ');
        Some((words.next()?, words.next()?))
    });
    versions.extend(taken);
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let entry = |name: &str, rest: &str| format!("[[package]]\nname = \"{name}\"\n{rest}\n\n");
        let version = |number: &str| format!("version = \"{number}\"");
        let own =
            "version = \"0.1.0\"\ndependencies = [\n \"a\",\n \"b 0.17.1 (from somewhere)\",\n]";
        let lock = entry("a", &version("1.2.3"))
            + &entry("ab", &version("0.1.0"))
            + &entry("b", &version("0.14.5"))
            + &entry("b", &version("0.17.1"))
            + &entry("fathom-contenders", own);
        let [a, b, c] = ["a", "b", "c"].map(|name| locked(&lock).get(name).copied());
        assert_eq!((a, c), (Some("1.2.3"), None));
        assert_eq!(b, Some("0.17.1"), "not the first of two");
    }
}
