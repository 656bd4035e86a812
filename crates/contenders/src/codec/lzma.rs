//! liblzma of this machine, of XZ Utils, at presets 1 and 6: small and slow.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::lzma::{self, Lzma};

pub(super) static LZMA: Lent<Texts, Lzma> = Lent {
    meta: Meta { source: include_str!("lzma.rs"), ..lzma::META },
    library: &lzma::LIBRARY,
    levels: &["1", "6"],
    prepare: |library, preset, texts| texts.blocks(library.at(preset)),
};
