//! The sums that exist in no crate, on vectors and AES units.

pub(super) mod aesnihash;
pub(super) mod hash32;
