//! LZ4 of this machine, the C library of its author, at its default speed.

use super::workload::Texts;
use crate::system::lent;

lent! {
    LZ4 of Texts: lz4::Lz4, "lz4.rs";
    |library, _, texts| texts.blocks(library)
}
