//! Snappy of this machine, Google's C++ library.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::snappy::{self, Snappy};

pub(super) static SNAPPY: Lent<Texts, Snappy> = Lent {
    meta: Meta { source: include_str!("snappy.rs"), ..snappy::META },
    library: &snappy::LIBRARY,
    levels: &[],
    prepare: |library, _, texts| texts.blocks(library),
};
