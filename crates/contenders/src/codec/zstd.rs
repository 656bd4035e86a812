//! Zstandard of this machine, the C library of its authors, at levels 1, 3 and 6.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::zstd::{self, Zstd};

pub(super) static ZSTD: Lent<Texts, Zstd> = Lent {
    meta: Meta { source: include_str!("zstd.rs"), ..zstd::META },
    library: &zstd::LIBRARY,
    levels: &["1", "3", "6"],
    prepare: |library, level, texts| texts.perhaps(library.at(level), level),
};
