//! Stage 1: the places of newlines, as masks of 64 bytes turned into lists.

use fathom_machine::simd::{Vector, positions_64};

/// Writes the places of the newlines from `at` to `stop` and returns how many there are.
///
/// # Safety
/// The level of `V` is available, `at..stop` lies in a window from `base` on, and `into` has room for
/// as many as there are bytes and for `FIRST` more.
#[inline(always)]
pub(super) unsafe fn list<V: Vector, const FIRST: usize>(
    base: *const u8,
    mut at: usize,
    stop: usize,
    into: *mut u32,
) -> usize {
    let mut found = 0;
    while at < stop {
        // SAFETY: a window has 64 readable bytes past its end, so past any `at` inside it.
        let mut mask = unsafe { positions_64::<V>(base.add(at), b'\n') };
        if stop - at < 64 {
            mask &= (1 << (stop - at)) - 1;
        }
        // SAFETY: forwarded.
        unsafe { write_positions::<FIRST>(into.add(found), mask, at as u32) };
        found += mask.count_ones() as usize;
        at += 64;
    }
    found
}

/// Writes the position of each set bit, `at` added. The first ones are written whether they exist
/// or not, so that one branch decides for 64 bytes: six where rows are short, which seldom have fewer
/// than ten bytes, and three where 64 bytes hardly ever end more rows.
///
/// # Safety
/// `into` has room for as many as there are bits, and for at least `FIRST`.
#[inline(always)]
pub(super) unsafe fn write_positions<const FIRST: usize>(into: *mut u32, mut mask: u64, at: u32) {
    let found = mask.count_ones() as usize;
    for i in 0..FIRST {
        // SAFETY: room for the first ones.
        unsafe { *into.add(i) = at.wrapping_add(mask.trailing_zeros()) };
        mask &= mask.wrapping_sub(1);
    }
    let mut i = FIRST;
    while i < found {
        // SAFETY: room for `found`.
        unsafe { *into.add(i) = at + mask.trailing_zeros() };
        mask &= mask.wrapping_sub(1);
        i += 1;
    }
}
