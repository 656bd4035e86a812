//! The standard library's `HashMap` with keys of its own, as programs hold strings: all other structures here refer to
//! the data, and what an owned key costs is told by none of them. Asked by `&str`; to insert one makes
//! the key, also where it is there already.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use compact_str::CompactString;
use fathom_measure::contender::{Contender, Keeps, Meta, Preparation, Unsupported};
use smol_str::SmolStr;

use crate::hash::{Build, DEFAULT, Default64, Hashes};
use crate::keyed::bench::{STD, of, unknown};
use crate::keyed::keys::Str;
use crate::keyed::methods::structure;
use crate::keyed::{Keyed, Keys};

/// What the names of all of them begin with.
pub const PREFIX: &str = "std-";

/// The types of strings that there are contenders for.
pub const TYPES: [&str; 5] = ["string", "box-str", "arc-str", "compact-str", "smol-str"];

/// The contender that has keys of this type, and the one that refers to them for `None`.
#[must_use]
pub fn id(held: Option<&str>) -> String {
    match held {
        Some(name) => format!("{PREFIX}{name}+{DEFAULT}"),
        None => format!("std+{DEFAULT}"),
    }
}

/// A string that a map has for itself.
pub(super) trait Owned:
    for<'a> From<&'a str> + Borrow<str> + Hash + Eq + Send + Sync + 'static
{
    const META: Meta;
}

/// Of a type that the standard library has.
const fn plain(name: &'static str, code: &'static str) -> Meta {
    Meta {
        name,
        origin: STD,
        link: "https://doc.rust-lang.org/std/collections/struct.HashMap.html",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Copied,
        code,
        ..Meta::of(include_str!("held.rs"))
    }
}

impl Owned for String {
    const META: Meta = plain("std-string", "std::collections::HashMap<String, V, S>");
}

impl Owned for Box<str> {
    const META: Meta = plain("std-box-str", "std::collections::HashMap<Box<str>, V, S>");
}

impl Owned for Arc<str> {
    const META: Meta = plain("std-arc-str", "std::collections::HashMap<std::sync::Arc<str>, V, S>");
}

impl Owned for CompactString {
    const META: Meta = library!("std-compact-str", "compact_str", "MIT", "held.rs";
        keeps Copied, code std::collections::HashMap<compact_str::CompactString, V, S>);
}

impl Owned for SmolStr {
    const META: Meta = library!("std-smol-str", "smol_str", "MIT OR Apache-2.0", "held.rs";
        keeps Copied, code std::collections::HashMap<smol_str::SmolStr, V, S>);
}

/// A map whose keys are `T`.
struct Table<T, H>(HashMap<T, u64, Build<H>>);

structure! {
    impl['w, T: Owned, H: Hashes] for Table<T, H>: keys Str<'w>, hasher Build<H>;
    sized(entries, hasher) => Table(HashMap::with_capacity_and_hasher(entries, hasher)),
    entries(map) => map.0.len(),
    find(map, key) => map.0.get(key.0).copied(),
    insert(map, key, value) => map.0.insert(T::from(key.0), value),
    erase(map, key) => map.0.remove(key.0),
    each(map, visit) => map.0.values().copied().for_each(visit),
}

/// It as a contender, with the one hash function that is inlined into maps everywhere: keys are compared here, not
/// hash functions.
pub(super) struct Held<T>(PhantomData<fn() -> T>);

impl<T> Held<T> {
    pub(super) const NEW: Held<T> = Held(PhantomData);
}

impl<T: Owned> Contender<Keyed> for Held<T> {
    fn meta(&self) -> Meta {
        T::META
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        self.prepare_variant(DEFAULT, workload)
    }

    fn variants(&self) -> &'static [&'static str] {
        &[DEFAULT]
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Keyed) -> Preparation<'w> {
        if variant != DEFAULT {
            return Err(unknown(variant));
        }
        if !workload.has_strings() {
            return Err(Unsupported("takes UTF-8 alone".into()));
        }
        let hasher = Build(Default64::default());
        of::<Str<'w>, Table<T, Default64>>(workload, Keys::texts, hasher)
    }
}
