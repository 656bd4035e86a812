//! bzip2 of this machine, at levels 1 and 9: sorting of blocks, slow both ways.

use super::workload::Texts;
use crate::system::{At, lent};

lent! {
    BZIP2 of Texts: bzip2::Bzip2, "bzip2.rs", levels ["1", "9"];
    |library, level, texts| texts.blocks(At { library, level })
}
