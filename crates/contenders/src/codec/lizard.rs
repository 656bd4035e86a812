//! Lizard, where this machine has it, at levels 10, 17 and 41: mORMot's LizardFast, Lizard and LizardHuffman
//! rows.

use super::workload::Texts;
use crate::system::{At, lent};

lent! {
    LIZARD of Texts: lizard::Lizard, "lizard.rs", levels ["10", "17", "41"];
    |library, level, texts| texts.blocks(At { library, level })
}
