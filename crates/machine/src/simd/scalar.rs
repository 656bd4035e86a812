//! Eight bytes in an integer, and a double: the level every processor has.

use super::{Doubles, Vector, operations};

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;

/// What a function of each byte gives.
#[inline(always)]
fn each(a: u64, b: u64, of: impl Fn(u8, u8) -> u8) -> u64 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u64::from_le_bytes(std::array::from_fn(|i| of(a[i], b[i])))
}

/// Bit 7 of each byte that is zero.
#[inline(always)]
fn zeros(bytes: u64) -> u64 {
    // Adding 0x7f to the low seven bits carries into bit 7 unless they are zero; no carry leaves the
    // byte, so the test is exact (`(x - ONES) & !x` marks the byte above a match as well).
    !(((bytes & LOW_SEVEN) + LOW_SEVEN) | bytes) & !LOW_SEVEN
}

/// Bit 7 of each byte that is at most the other's.
#[inline(always)]
fn at_most(a: u64, b: u64) -> u64 {
    // With bit 7 set in one and clear in the other nothing is borrowed from a neighbour: the
    // difference keeps bit 7 where the low seven bits are at most the other's.
    let low = (b | !LOW_SEVEN) - (a & LOW_SEVEN);
    (!a & b | !(a ^ b) & low) & !LOW_SEVEN
}

// SAFETY: no instruction beyond the base set; eight bytes.
unsafe impl Vector for u64 {
    const BYTES: usize = 8;
    const LOOKS_UP: bool = false;
    /// Bit 7 of each byte.
    type Chosen = u64;
    type Doubles = f64;
    type Words = u32;
    type Longs = u64;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> u64 {
        // SAFETY: the caller vouches for eight readable bytes.
        u64::from_le(unsafe { from.cast::<u64>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for eight writable bytes.
        unsafe { to.cast::<u64>().write_unaligned(self.to_le()) }
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> u64 {
        u64::from(byte) * ONES
    }

    #[inline(always)]
    unsafe fn last_four(bytes: u32) -> u64 {
        u64::from(bytes) << 32
    }

    #[inline(always)]
    unsafe fn lookup(self, table: &[u8; 16]) -> u64 {
        each(self, 0, |index, _| table[usize::from(index & 15)])
    }

    #[inline(always)]
    unsafe fn earlier(self, before: u64) -> [u64; 3] {
        [8, 16, 24].map(|bits| self << bits | before >> (64 - bits))
    }

    #[inline(always)]
    unsafe fn bits(chosen: u64) -> u64 {
        // The product's top byte collects bit 8i at position 56 + i.
        (chosen >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    operations! {
        less(self, other) -> u64 = each(self, other, u8::wrapping_sub);
        over(self, other) -> u64 = each(self, other, u8::saturating_sub);
        and(self, other) -> u64 = self & other;
        or(self, other) -> u64 = self | other;
        xor(self, other) -> u64 = self ^ other;
        upper(self) -> u64 = self >> 4 & 0x0f0f_0f0f_0f0f_0f0f;
        plus_words(self, other) -> u64 = self.wrapping_add(other);
        is(self, other) -> u64 = zeros(self ^ other);
        is_at_most(self, other) -> u64 = at_most(self, other);
        is_high(self) -> u64 = self & !LOW_SEVEN;
        is_no_digit(self) -> u64 =
            !(at_most(self, u64::splat(b'9')) & at_most(u64::splat(b'0'), self)) & !LOW_SEVEN;
        is_space(self) -> u64 =
            [b' ', b'\t', b'\n', b'\r'].iter().fold(0, |all, &byte| all | zeros(self ^ u64::splat(byte)));
        differs(self, other, mask) -> bool = (self ^ other) & mask != 0;
    }
}

// SAFETY: no instruction beyond the base set; pointers are used as promised.
unsafe impl Doubles for f64 {
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    unsafe fn columns(rows: *const f64) -> [f64; 4] {
        // SAFETY: the caller vouches for four doubles.
        unsafe { rows.cast::<[f64; 4]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for one double.
        unsafe { to.write(self) }
    }

    operations! {
        sub(self, other) -> f64 = self - other;
        mul(self, other) -> f64 = self * other;
        mul_add(self, factor, summand) -> f64 = f64::mul_add(self, factor, summand);
        min(self, other) -> f64 = if self < other { self } else { other };
        abs(self) -> f64 = f64::abs(self);
        sqrt(self) -> f64 = f64::sqrt(self);
        if_above(self, limit, then, other) -> f64 = if self > limit { then } else { other };
        beyond(self, limit) -> u32 = u32::from(!matches!(self.partial_cmp(&limit), Some(o) if o.is_le()));
    }
}

// SAFETY: no instruction beyond the base set; one word.
unsafe impl super::Words<u32> for u32 {
    operations! {
        splat(; word: u32) -> u32 = word;
        zip(self, other) -> [u32; 2] = [self, other];
        swapped(self) -> u32 = self.swap_bytes();
        plus(self, other) -> u32 = self.wrapping_add(other);
        and(self, other) -> u32 = self & other;
        xor(self, other) -> u32 = self ^ other;
        without(self, other) -> u32 = self & !other;
        or_not(self, other) -> u32 = self | !other;
        left(self; bits: u32) -> u32 = self.rotate_left(bits);
        down(self; bits: u32) -> u32 = self >> bits;
    }
}

// SAFETY: no instruction beyond the base set; one word.
unsafe impl super::Words<u64> for u64 {
    operations! {
        splat(; word: u64) -> u64 = word;
        zip(self, other) -> [u64; 2] = [self, other];
        swapped(self) -> u64 = self.swap_bytes();
        plus(self, other) -> u64 = self.wrapping_add(other);
        and(self, other) -> u64 = self & other;
        xor(self, other) -> u64 = self ^ other;
        without(self, other) -> u64 = self & !other;
        or_not(self, other) -> u64 = self | !other;
        left(self; bits: u32) -> u64 = self.rotate_left(bits);
        down(self; bits: u32) -> u64 = self >> bits;
    }
}
