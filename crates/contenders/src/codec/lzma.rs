//! liblzma of this machine, of XZ Utils, at presets 1 and 6: small and slow.

use super::workload::Texts;
use crate::system::{At, lent};

lent! {
    LZMA of Texts: lzma::Lzma, "lzma.rs", levels ["1", "6"];
    |library, level, texts| texts.blocks(At { library, level })
}
