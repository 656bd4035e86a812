//! bzip2 of this machine, at levels 1 and 9: sorting of blocks, slow both ways.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::bzip2::{self, Bzip2};

pub(super) static BZIP2: Lent<Texts, Bzip2> = Lent {
    meta: Meta { source: include_str!("bzip2.rs"), ..bzip2::META },
    library: &bzip2::LIBRARY,
    levels: &["1", "9"],
    prepare: |library, level, texts| texts.blocks(library.at(level)),
};
