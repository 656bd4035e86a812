//! The update of a row: the one place for each kind of table in which a value is added.

use super::rows::Rows;
use crate::table::{Long, Short};

/// Adds a value to a slot of the short table, or to its sink.
///
/// # Safety
/// The slot is one of the table; with `SQUARES` it keeps them; the level of `R` is available.
#[inline(always)]
pub(super) unsafe fn add_short<R: Rows, const SQUARES: bool>(
    short: &mut Short,
    slot: usize,
    value: i32,
) {
    // SAFETY: the caller's; squares are one per slot.
    unsafe {
        R::add(&mut (*short.entries.as_mut_ptr().add(slot)).tenths, value);
        if SQUARES {
            add_square(short, slot, value);
        }
    }
}

/// Adds the square of a value to a slot of the short table, or to its sink.
///
/// # Safety
/// The slot is one of the table, which keeps squares.
#[inline(always)]
pub(super) unsafe fn add_square(short: &mut Short, slot: usize, value: i32) {
    // SAFETY: the caller's; squares are one per slot.
    unsafe { add_square_to(short.aside.squares.as_mut_ptr().add(slot), value) };
}

/// Adds a value to a key of the long table.
///
/// # Safety
/// `unit` is the first unit of a key, otherwise as for short ones.
#[inline(always)]
pub(super) unsafe fn add_long<R: Rows, const SQUARES: bool>(
    long: &mut Long,
    unit: usize,
    value: i32,
) {
    // SAFETY: the caller's; squares are one per key, which the index numbers.
    unsafe {
        let unit = &mut *long.units.as_mut_ptr().add(unit);
        R::add(&mut unit.tenths, value);
        if SQUARES {
            add_square_to(long.aside.squares.as_mut_ptr().add(unit.index as usize), value);
        }
    }
}

/// # Safety
/// There is such a sum.
#[inline(always)]
unsafe fn add_square_to(sum: *mut u64, value: i32) {
    // The sink takes anything, so this may wrap there, and only there: tables are folded before.
    let square = i64::from(value).wrapping_mul(value.into()) as u64;
    // SAFETY: the caller's.
    unsafe { *sum = (*sum).wrapping_add(square) };
}
