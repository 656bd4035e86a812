//! LZ4 of this machine, the C library of its author, at its default speed.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::lz4::{self, Lz4};

pub(super) static LZ4: Lent<Texts, Lz4> = Lent {
    meta: Meta { source: include_str!("lz4.rs"), ..lz4::META },
    library: &lz4::LIBRARY,
    levels: &[],
    prepare: |library, _, texts| texts.blocks(library),
};
