//! Snappy of this machine, Google's C++ library.

use super::workload::Texts;
use crate::system::lent;

lent! {
    SNAPPY of Texts: snappy::Snappy, "snappy.rs";
    |library, _, texts| texts.blocks(library)
}
