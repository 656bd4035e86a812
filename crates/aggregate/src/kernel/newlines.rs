//! Stage 1: the places of newlines, as masks of 64 bytes turned into lists.

use fathom_machine::simd::{Vector, positions_64};

/// Writes the places of the newlines from `at` to `stop` and returns how many there are. `FIRST` is six where rows are
/// short, which seldom have fewer than ten bytes, and three where 64 bytes hardly ever end more rows.
///
/// # Safety
/// The level of `V` is available, `at..stop` lies in a window from `base` on, and `into` has room for
/// as many as there are bytes and for [`SURPLUS`](fathom_machine::simd::SURPLUS) more.
#[inline(always)]
pub(super) unsafe fn list<V: Vector, const FIRST: usize>(
    base: *const u8,
    (mut at, stop): (usize, usize),
    into: *mut u32,
) -> usize {
    let mut found = 0;
    // SAFETY: a window has 64 readable bytes past its end, so past any `at` inside it; there is room for as many newlines
    // as there were bytes.
    unsafe {
        while stop - at >= 64 {
            let mask = positions_64::<V>(base.add(at), b'\n');
            V::write_positions::<FIRST>(mask, at as u32, into.add(found));
            found += mask.count_ones() as usize;
            at += 64;
        }
        if at < stop {
            let mask = positions_64::<V>(base.add(at), b'\n') & ((1 << (stop - at)) - 1);
            V::write_positions::<FIRST>(mask, at as u32, into.add(found));
            found += mask.count_ones() as usize;
        }
    }
    found
}
