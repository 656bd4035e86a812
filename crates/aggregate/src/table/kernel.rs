//! The tables' memory as other types: what must be said without the compiler's help.

use fathom_machine::os::memory::Zeroed;

use super::long::LongUnit;
use super::short::ShortEntry;

// SAFETY: two words and statistics of integers, and no padding between them.
unsafe impl Zeroed for ShortEntry {}

const _: () = assert!(size_of::<ShortEntry>() == 32 && size_of::<LongUnit>() == 64);

/// Units as their bytes.
pub(super) fn bytes_of(units: &[LongUnit]) -> &[u8] {
    // SAFETY: a unit is integers and bytes in the order of C without padding: see its size.
    unsafe { std::slice::from_raw_parts(units.as_ptr().cast(), size_of_val(units)) }
}

/// The same to be written: any bytes are a unit.
pub(super) fn bytes_of_mut(units: &mut [LongUnit]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`.
    unsafe { std::slice::from_raw_parts_mut(units.as_mut_ptr().cast(), size_of_val(units)) }
}
