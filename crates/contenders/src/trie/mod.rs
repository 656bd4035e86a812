//! Tries: structures that look at the bytes of a key one after another instead of hashing or
//! comparing whole keys. In order, often small, and fast where keys share beginnings.
//!
//! Integers go in as eight bytes, most significant first, which keeps their order. Tries that cannot
//! hold a key which is the beginning of another, or a zero byte, get keys with a terminator, or with
//! zeros replaced: a copy of the key per operation, as their users must make one too. One iteration
//! is a pass over all keys.

use fathom_measure::contender::Contender;
use fathom_measure::facts::Facts;
use fathom_measure::family::Family;

use crate::keyed::bench::{Integers, Plain};
use crate::keyed::reference::Reference;
use crate::keyed::{CPP, Keyed};
use crate::library::more;

mod blart;
mod cedarwood;
mod congee;
mod crawdad;
mod escape;
mod fst;
mod hot;
mod patricia;
mod qp;
#[cfg(feature = "more")]
mod rart;
mod yada;

/// All of them, the reference first.
pub(crate) const CONTENDERS: &[&dyn Contender<Keyed>] = &[
    &Reference,
    &Plain(hot::Hot),
    &Plain(blart::Blart),
    #[cfg(feature = "more")]
    &Plain(rart::Rart),
    &Integers(congee::Congee),
    &Plain(qp::Qp),
    &Plain(patricia::Patricia),
    &Plain(cedarwood::Cedarwood),
    &Plain(yada::Yada),
    &Plain(crawdad::Crawdad),
    &Plain(fst::Fst),
];

/// The family.
pub(crate) const FAMILY: Family<Keyed> = Family {
    name: "trie",
    source: include_str!("mod.rs"),
    reference: "btreemap",
    contenders: CONTENDERS,
    absent: &[CPP, more("art-rart")],
    facts: &Facts::NONE,
};
