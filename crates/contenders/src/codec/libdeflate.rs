//! libdeflate of this machine, at levels 1 and 6: mORMot's DeflateFast and Deflate rows, but in the zlib
//! format, as the others write it. Deflate of whole buffers only.

use fathom_measure::contender::Meta;

use super::workload::Texts;
use crate::system::Lent;
use crate::system::libdeflate::{self, Libdeflate};

pub(super) static LIBDEFLATE: Lent<Texts, Libdeflate> = Lent {
    meta: Meta { source: include_str!("libdeflate.rs"), ..libdeflate::META },
    library: &libdeflate::LIBRARY,
    levels: &["1", "6"],
    prepare: |library, level, texts| texts.perhaps(library.at(level), level),
};
