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
    const LOOKS_UP: bool = false;
    /// Bit 7 of each byte.
    type Chosen = u64;
    type Doubles = f64;
    type Words = u32;
    type Longs = u64;

    operations! {
        load(; from: *const u8) -> u64 = u64::from_le(from.cast::<u64>().read_unaligned());
        store(self; to: *mut u8) -> () = to.cast::<u64>().write_unaligned(self.to_le());
        splat(; byte: u8) -> u64 = u64::from(byte) * ONES;
        last_four(; bytes: u32) -> u64 = u64::from(bytes) << 32;
        less(self, other) -> u64 = each(self, other, u8::wrapping_sub);
        over(self, other) -> u64 = each(self, other, u8::saturating_sub);
        and(self, other) -> u64 = self & other;
        or(self, other) -> u64 = self | other;
        xor(self, other) -> u64 = self ^ other;
        upper(self) -> u64 = self >> 4 & 0x0f0f_0f0f_0f0f_0f0f;
        lookup(self; table: &[u8; 16]) -> u64 =
            each(self, 0, |index, _| table[usize::from(index & 15)]);
        earlier(self, before) -> [u64; 3] = [8, 16, 24].map(|bits| self << bits | before >> (64 - bits));
        plus_words(self, other) -> u64 = self.wrapping_add(other);
        is(self, other) -> u64 = zeros(self ^ other);
        is_at_most(self, other) -> u64 = at_most(self, other);
        is_high(self) -> u64 = self & !LOW_SEVEN;
        is_no_digit(self) -> u64 =
            !(at_most(self, u64::splat(b'9')) & at_most(u64::splat(b'0'), self)) & !LOW_SEVEN;
        is_space(self) -> u64 =
            [b' ', b'\t', b'\n', b'\r'].iter().fold(0, |all, &byte| all | zeros(self ^ u64::splat(byte)));
        // The product's top byte collects bit 8i at position 56 + i.
        bits(; chosen: u64) -> u64 = (chosen >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        differs(self, other, mask) -> bool = (self ^ other) & mask != 0;
    }
}

// SAFETY: no instruction beyond the base set; pointers are used as promised.
unsafe impl Doubles for f64 {
    operations! {
        splat(; value: f64) -> f64 = value;
        columns(; rows: *const f64) -> [f64; 4] = rows.cast::<[f64; 4]>().read();
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

/// `Words` of one.
macro_rules! words {
    ($word:ident) => {
        // SAFETY: no instruction beyond the base set; one word.
        unsafe impl super::Words<$word> for $word {
            operations! {
                splat(; word: $word) -> $word = word;
                zip(self, other) -> [$word; 2] = [self, other];
                swapped(self) -> $word = self.swap_bytes();
                plus(self, other) -> $word = self.wrapping_add(other);
                and(self, other) -> $word = self & other;
                xor(self, other) -> $word = self ^ other;
                without(self, other) -> $word = self & !other;
                or_not(self, other) -> $word = self | !other;
                left(self; bits: u32) -> $word = self.rotate_left(bits);
                down(self; bits: u32) -> $word = self >> bits;
            }
        }
    };
}
words!(u32);
words!(u64);
