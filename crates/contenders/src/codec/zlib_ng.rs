//! zlib-ng of this machine under its own names, at levels 1 and 6: the zlib format on vectors.

use super::workload::Texts;
use crate::system::{At, lent};

lent! {
    ZLIB_NG of Texts: zlib_ng::ZlibNg, "zlib_ng.rs", levels ["1", "6"];
    |library, level, texts| texts.blocks(At { library, level })
}
