//! zlib of this machine, or zlib-ng in its place, at levels 1 and 6: the zlib format, by the original.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::zlib::{self, Zlib};

pub(super) static ZLIB: Lent<Texts, Zlib> = Lent {
    meta: Meta { source: include_str!("zlib.rs"), ..zlib::META },
    library: &zlib::LIBRARY,
    levels: &["1", "6"],
    prepare: |library, level, texts| texts.blocks(library.at(level)),
};
