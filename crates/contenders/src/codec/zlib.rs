//! zlib of this machine, or zlib-ng in its place, at levels 1 and 6: the zlib format, by the original.

use super::workload::Texts;
use crate::system::{At, lent};

lent! {
    ZLIB of Texts: zlib::Zlib, "zlib.rs", levels ["1", "6"];
    |library, level, texts| texts.blocks(At { library, level })
}
