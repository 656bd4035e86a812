//! zlib-ng of this machine under its own names, at levels 1 and 6: the zlib format on vectors.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::zlib_ng::{self, ZlibNg};

pub(super) static ZLIB_NG: Lent<Texts, ZlibNg> = Lent {
    meta: Meta { source: include_str!("zlib_ng.rs"), ..zlib_ng::META },
    library: &zlib_ng::LIBRARY,
    levels: &["1", "6"],
    prepare: |library, level, texts| texts.blocks(library.at(level)),
};
