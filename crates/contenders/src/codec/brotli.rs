//! Brotli of this machine, the C library of its authors, at qualities 1 and 5: what the web compresses text
//! with.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::brotli::{self, Encoder};

pub(super) static BROTLI: Lent<Texts, Encoder> = Lent {
    meta: Meta { source: include_str!("brotli.rs"), ..brotli::META },
    library: &brotli::LIBRARY,
    levels: &["1", "5"],
    prepare: |library, quality, texts| texts.perhaps(library.at(quality), quality),
};
