//! Lizard, where this machine has it, at levels 10, 17 and 41: mORMot's LizardFast, Lizard and LizardHuffman
//! rows.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::lizard::{self, Lizard};

pub(super) static LIZARD: Lent<Texts, Lizard> = Lent {
    meta: Meta { source: include_str!("lizard.rs"), ..lizard::META },
    library: &lizard::LIBRARY,
    levels: &["10", "17", "41"],
    prepare: |library, level, texts| texts.blocks(library.at(level)),
};
