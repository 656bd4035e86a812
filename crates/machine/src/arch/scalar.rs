//! Eight bytes in an integer: the level every processor has.

use crate::vector::Vector;

/// Eight bytes, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Scalar(u64);

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;

// SAFETY: no instruction beyond the base set; `load` reads exactly BYTES bytes.
unsafe impl Vector for Scalar {
    const BYTES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for eight readable bytes; no alignment is assumed.
        Scalar(u64::from_le(unsafe { from.cast::<u64>().read_unaligned() }))
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        Scalar(u64::from(byte) * ONES)
    }

    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // A byte of `differ` is zero where the inputs agree. Adding 0x7f to its low seven bits
        // carries into bit 7 unless they are zero; no carry leaves the byte, so the test is exact
        // (the shorter `(x - ONES) & !x` form marks the byte above a match as well).
        let differ = self.0 ^ other.0;
        let nonzero = ((differ & LOW_SEVEN) + LOW_SEVEN) | differ;
        let zero = !nonzero & !LOW_SEVEN;
        gather(zero)
    }

    #[inline(always)]
    unsafe fn below<const BOUND: u8>(self) -> u64 {
        // With bit 7 set, a byte is at least BOUND and nothing is borrowed from its neighbour;
        // the difference keeps bit 7 exactly where the low seven bits are at least BOUND.
        let at_least = (self.0 | !LOW_SEVEN) - u64::from(BOUND) * ONES;
        let reaches = if BOUND == 0x80 { 0 } else { at_least };
        gather(!(reaches | self.0) & !LOW_SEVEN)
    }
}

/// Bit 7 of byte i as bit i; every other bit of `tops` is clear. After the shift the product's top
/// byte collects bit 8i at position 56 + i.
#[inline(always)]
fn gather(tops: u64) -> u64 {
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
