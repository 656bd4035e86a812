//! The standard library's `HashMap`: hashbrown as of the compiler, with any hash function here. Its own
//! default is `siphash13` with a random seed.

use ::std::collections::HashMap;

use fathom_measure::contender::{Keeps, Meta};

use crate::hash::Build;
use crate::keyed::bench::STD;
use crate::keyed::methods::{by_methods, contender};

type Table<K, H> = HashMap<K, u64, Build<H>>;
by_methods!(Table, HashMap::with_capacity_and_hasher, remove);

contender! {
    pub(crate) Std: HashedMap<K, H> = Table<K, H>,
    Meta {
        name: "std",
        origin: STD,
        link: "https://doc.rust-lang.org/std/collections/struct.HashMap.html",
        licence: "MIT OR Apache-2.0",
        keeps: Keeps::Borrowed,
        code: "std::collections::HashMap<K, V, S>",
        ..Meta::of(include_str!("std.rs"))
    }
}
