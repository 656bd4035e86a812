//! Zstandard of this machine, the C library of its authors, at levels 1, 3 and 6.

use super::workload::Texts;
use crate::system::lent;

lent! {
    ZSTD of Texts: zstd::Zstd, "zstd.rs", levels ["1", "3", "6"];
    |library, level, texts| texts.perhaps(library.at(level), level)
}
