//! F14, value flavour: our own. Entries lie in the chunks; a find touches the chunk and the key.

use fathom_measure::contender::{Keeps, Meta};

use super::super::slots::SlotMap;
use super::kernel::Table;
use crate::keyed::methods::contender;

contender! {
    pub(in crate::map) Value: HashedMap<K, H> = ValueMap<K, H>,
    Meta {
        name: "f14-value",
        link: "https://engineering.fb.com/2019/04/25/developer-tools/f14/",
        hardware: super::hardware,
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("value.rs"))
    }
}

/// A map whose entries lie in the chunks.
pub(crate) type ValueMap<K, H> = SlotMap<Table<(K, u64)>, H>;
