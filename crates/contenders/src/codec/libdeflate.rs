//! libdeflate of this machine, at levels 1 and 6: mORMot's DeflateFast and Deflate rows, but in the zlib
//! format, as the others write it. Deflate of whole buffers only.

use super::workload::Texts;
use crate::system::lent;

lent! {
    LIBDEFLATE of Texts: libdeflate::Libdeflate, "libdeflate.rs", levels ["1", "6"];
    |library, level, texts| texts.perhaps(library.at(level), level)
}
