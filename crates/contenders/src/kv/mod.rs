//! Every structure that holds keys with values, as one family: what `fathom kv` chooses from.
//!
//! Maps, trees, tries and stores have families of their own, with their own pages; here they compete in the
//! same rounds. One iteration is a pass over all keys. Nothing is defined here but the union, and
//! contenders that fail on purpose, which are served but never listed.

use fathom_measure::contender::{Contender, Keeps};
use fathom_measure::facts::Facts;
use fathom_measure::family::{Absent, AnyFamily, Entry, Family};

use crate::keyed::bench::Plain;
use crate::keyed::{CPP, Keyed};
pub use crate::map::{held, special};
use crate::{map, store, tree, trie};

mod oracle;
mod planted;

use planted::{CRASH, HANG, NONE, Planted, SLOW, SLOWER, WRONG};

type All = &'static [&'static dyn Contender<Keyed>];

const MEMBERS: [&dyn AnyFamily; 4] = [&map::FAMILY, &tree::FAMILY, &trie::FAMILY, &store::FAMILY];

/// Their contenders; each begins with the reference, which takes part once.
const PARTS: [All; 5] = [
    map::CONTENDERS,
    tree::CONTENDERS.split_at(1).1,
    trie::CONTENDERS.split_at(1).1,
    store::CONTENDERS.split_at(1).1,
    PLANTED,
];

/// Structures that are wrong, crash or hang: what the tests of the method plant.
const PLANTED: All = &[
    &oracle::Oracle,
    &Plain(Planted::<WRONG, 0>),
    &Plain(Planted::<CRASH, 1>),
    &Plain(Planted::<HANG, 2>),
    &Plain(Planted::<SLOW, 3>),
    &Plain(Planted::<NONE, 4>),
    &Plain(Planted::<NONE, 5>),
    &Plain(Planted::<SLOWER, 6>),
];

const CONTENDERS: [&dyn Contender<Keyed>; count()] = {
    let mut all = [PARTS[0][0]; count()];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut number = 0;
        while number < PARTS[part].len() {
            all[at] = PARTS[part][number];
            (number, at) = (number + 1, at + 1);
        }
        part += 1;
    }
    all
};

const fn count() -> usize {
    let (mut part, mut count) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
}

pub(crate) const FAMILY: Family<Keyed> = Family {
    name: "kv",
    source: include_str!("mod.rs"),
    reference: "oracle",
    contenders: &CONTENDERS,
    absent: &[CPP],
    facts: &Facts::NONE,
};

/// The family.
#[must_use]
#[inline(never)]
pub fn family() -> &'static dyn AnyFamily {
    &FAMILY
}

/// The families it consists of.
#[must_use]
#[inline(never)]
pub fn members() -> [&'static dyn AnyFamily; 4] {
    MEMBERS
}

/// The contenders that fail on purpose.
#[must_use]
pub fn planted() -> Vec<Entry> {
    let metas = PLANTED[1..].iter().map(|contender| contender.meta());
    metas.map(|meta| Entry { id: meta.name.to_owned(), meta }).collect()
}

/// Whether contender `id` takes part only when it is asked for: it works in transactions, and is
/// slow for it, is nobody's library but written for the keys, or compares types of keys.
#[must_use]
pub fn is_unasked(id: &str) -> bool {
    let is_it = |contender: &&dyn Contender<Keyed>| contender.meta().name == id;
    store::CONTENDERS[1..].iter().any(is_it)
        || [special::NAME, held::PREFIX].iter().any(|name| id.starts_with(name))
}

/// Whether a structure can have room before it has entries: tables can, which take a hash function but for one,
/// and what consists of nodes cannot.
#[must_use]
pub fn makes_room(structure: &str, takes_hash: bool) -> bool {
    match structure {
        "imbl-hash" | "rpds-hash" => false,
        "intmap" => true,
        _ => takes_hash,
    }
}

/// Whose table it is: the standard library's is `hashbrown`'s, and the two are one among others.
#[must_use]
pub fn design(structure: &str) -> &str {
    match structure {
        "std" => "hashbrown",
        other => other,
    }
}

/// The contender that touches every key and holds none: the floor under all others.
pub const SCAN: &str = "touch";

/// What one takes without thinking about it: what others are compared with.
#[must_use]
pub fn usual(ordered: bool, by_threads: bool) -> &'static str {
    match (ordered, by_threads) {
        (true, true) => "skiplist-crossbeam",
        (false, true) => "dashmap+siphash13",
        (true, false) => "btreemap",
        (false, false) => "std+siphash13",
    }
}

/// What contenders of outside workers do with byte strings in the family of this name: tries copy
/// them.
#[must_use]
pub fn kept_outside(family: &str) -> Keeps {
    if family == trie::FAMILY.name { Keeps::Copied } else { Keeps::Borrowed }
}

/// Who exists but is not in this build: of the structures and of the allocators.
pub fn absent() -> impl Iterator<Item = Absent> {
    MEMBERS.iter().flat_map(|family| family.absent()).chain(crate::alloc::absent())
}
