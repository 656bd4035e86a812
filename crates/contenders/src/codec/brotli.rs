//! Brotli of this machine, the C library of its authors, at qualities 1 and 5: what the web compresses text
//! with.

use super::workload::Texts;
use crate::system::lent;

lent! {
    BROTLI of Texts: brotli::Encoder, "brotli.rs", levels ["1", "5"];
    |library, quality, texts| texts.perhaps(library.at(quality), quality)
}
