//! Registers: the operations kernels share, written once per [`Level`](crate::level::Level).
//!
//! [`Vector`] is a register of bytes, [`Doubles`] one of doubles, [`Words`] one of integers of 32 or 64
//! bits; each has as many operations as the kernels over them need. Kernels that gain from more (gathers, multiply-adds of bytes, AES rounds)
//! are written per level where they belong, and measured to deserve it.
//!
//! Every method is `inline(always)`: a kernel generic over a register is compiled inside a function
//! that carries the level's features, which [`compile!`](crate::compile) writes, and the operations
//! melt into it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod utf8;

#[cfg(target_arch = "x86_64")]
pub use std::arch::x86_64::{__m128i as Sse2, __m256i as Avx2, __m512i as Avx512};

#[cfg(target_arch = "aarch64")]
pub use std::arch::aarch64::uint8x16_t as Neon;

/// Eight bytes in an integer.
pub type Scalar = u64;

pub use utf8::is_utf8_64;

/// How many elements [`Vector::write_positions`] may overwrite behind those it writes.
pub const SURPLUS: usize = 16;

/// Those methods of a register that are the same whatever it is made of.
macro_rules! load_and_store {
    () => {
        /// What is at `from`, which is readable, at any alignment.
        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller vouches for the bytes; a register is nothing else.
            unsafe { from.cast::<Self>().read_unaligned() }
        }

        /// Writes it to `to`, which is writable, at any alignment.
        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller vouches for the bytes.
            unsafe { to.cast::<Self>().write_unaligned(self) }
        }
    };
}

/// A register of [`Vector::BYTES`] bytes at one instruction level.
///
/// # Safety
/// An implementor is `BYTES` bytes and nothing else; its methods may use instructions of its level and
/// touch exactly these bytes. Whoever names the type in a generic kernel guarantees that the level
/// [is available](crate::level::Level::is_available): the `# Safety` of every method.
#[allow(clippy::missing_safety_doc)] // stated once, above
pub unsafe trait Vector: Copy {
    /// Width of the register in bytes: a divisor of 64.
    const BYTES: usize = size_of::<Self>();

    /// Whether [`Vector::lookup`] is an instruction.
    const LOOKS_UP: bool;

    /// What a comparison of bytes answers.
    type Chosen: Copy;

    /// The level's register of doubles.
    type Doubles: Doubles;

    /// The level's register of 32-bit words.
    type Words: Words<u32>;

    /// The level's register of 64-bit words.
    type Longs: Words<u64>;

    /// `byte` in every position.
    unsafe fn splat(byte: u8) -> Self;
    /// Zeros, but for the last four bytes, the first of them lowest.
    unsafe fn last_four(bytes: u32) -> Self;

    /// Each byte less the other's, modulo 256.
    unsafe fn less(self, other: Self) -> Self;
    /// Each byte less the other's, at least zero.
    unsafe fn over(self, other: Self) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of either.
    unsafe fn or(self, other: Self) -> Self;
    /// Bits of one only.
    unsafe fn xor(self, other: Self) -> Self;
    /// Each byte's upper four bits.
    unsafe fn upper(self) -> Self;
    /// The byte of `table` that each byte, below 16, is the index of.
    unsafe fn lookup(self, table: &[u8; 16]) -> Self;
    /// The bytes one, two and three places before each, the first ones from the end of `before`.
    unsafe fn earlier(self, before: Self) -> [Self; 3];
    /// Sums of 64-bit words, modulo 2^64.
    unsafe fn plus_words(self, other: Self) -> Self;

    /// Bytes that are equal.
    unsafe fn is(self, other: Self) -> Self::Chosen;
    /// Bytes that are not greater.
    unsafe fn is_at_most(self, other: Self) -> Self::Chosen;
    /// Bytes of 0x80 and above.
    unsafe fn is_high(self) -> Self::Chosen;
    /// Bytes that are no decimal digit.
    unsafe fn is_no_digit(self) -> Self::Chosen;
    /// Blanks, tabs, line feeds and carriage returns.
    unsafe fn is_space(self) -> Self::Chosen;
    /// Bit i for byte i; bits from `BYTES` on are clear.
    unsafe fn bits(chosen: Self::Chosen) -> u64;
    /// Whether a bit of `mask` differs between the two.
    unsafe fn differs(self, other: Self, mask: Self) -> bool;

    load_and_store!();

    /// Registers that hold the 64 readable bytes at `from`, as [`Vector::bits_64`] wants them; one for
    /// each `BYTES`, those behind repeat.
    #[inline(always)]
    unsafe fn load_64(from: *const u8) -> [Self; 8] {
        // SAFETY: each register lies within the 64 bytes; the caller vouches for them and the level.
        unsafe {
            let mut all = [Self::load(from); 8];
            for (i, register) in all.iter_mut().enumerate().take(64 / Self::BYTES).skip(1) {
                *register = Self::load(from.add(i * Self::BYTES));
            }
            all
        }
    }

    /// Bit i for byte i of the 64 that were loaded.
    #[inline(always)]
    unsafe fn bits_64(chosen: [Self::Chosen; 8]) -> u64 {
        let mut all = 0;
        for (i, chosen) in chosen.into_iter().enumerate().take(64 / Self::BYTES) {
            // SAFETY: the caller vouches for the level.
            all |= unsafe { Self::bits(chosen) } << (i * Self::BYTES);
        }
        all
    }

    /// Bit i is the parity of bits 0 to i.
    #[inline(always)]
    unsafe fn parities(mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    /// Writes the position of each set bit, `at` added, ascending, to `into`, which has room for [`SURPLUS`] more: some
    /// behind them are overwritten. One branch decides for 64 bytes if no more than `FIRST`, at most
    /// eight, are set.
    #[inline(always)]
    unsafe fn write_positions<const FIRST: usize>(bits: u64, at: u32, into: *mut u32) {
        const { assert!(FIRST <= 8) };
        let (mut left, found) = (bits, bits.count_ones() as usize);
        let mut write = |i: usize| {
            // SAFETY: the caller vouches for room.
            unsafe { *into.add(i) = at.wrapping_add(left.trailing_zeros()) };
            left &= left.wrapping_sub(1);
        };
        (0..FIRST).for_each(&mut write);
        let mut i = FIRST;
        while i < found {
            write(i);
            i += 1;
        }
    }

    /// Bit i is set where byte i of both registers is equal.
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u64 {
        // SAFETY: the caller vouches for the level.
        unsafe { Self::bits(self.is(other)) }
    }

    /// Bit i is set where byte i is less than `BOUND`, which is not 0.
    #[inline(always)]
    unsafe fn below<const BOUND: u8>(self) -> u64 {
        // SAFETY: the caller vouches for the level.
        unsafe { Self::bits(self.is_at_most(Self::splat(BOUND - 1))) }
    }
}

/// A register of doubles. Each operation rounds as IEEE 754 says, so that levels with a fused
/// multiply-add compute the same bits; nothing here approximates.
///
/// # Safety
/// As for [`Vector`]; an implementor is [`Doubles::COUNT`] doubles and nothing else.
#[allow(clippy::missing_safety_doc)] // stated once, there
pub unsafe trait Doubles: Copy {
    /// Doubles in the register, at most [`MOST_DOUBLES`].
    const COUNT: usize = size_of::<Self>() / size_of::<f64>();

    /// `value` in every position.
    unsafe fn splat(value: f64) -> Self;
    /// `COUNT` readable rows of four doubles, as four columns.
    unsafe fn columns(rows: *const f64) -> [Self; 4];
    /// Differences.
    unsafe fn sub(self, other: Self) -> Self;
    /// Products.
    unsafe fn mul(self, other: Self) -> Self;
    /// `self` · `factor` + `summand`, rounded once; by SSE2, which has no such instruction, twice.
    unsafe fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// The smaller one; neither is NaN.
    unsafe fn min(self, other: Self) -> Self;
    /// Without the sign.
    unsafe fn abs(self) -> Self;
    /// Square roots.
    unsafe fn sqrt(self) -> Self;
    /// Per lane: `then` where `self` > `limit`, otherwise `other`.
    unsafe fn if_above(self, limit: Self, then: Self, other: Self) -> Self;
    /// Bit i is set unless lane i of `self` is at most that of `limit`.
    unsafe fn beyond(self, limit: Self) -> u32;

    /// Writes `COUNT` doubles to `to`, which are writable.
    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller vouches for the doubles.
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }
}

/// Doubles of the widest register.
pub const MOST_DOUBLES: usize = 8;

/// A register of words of type `T`, which is `u32` or `u64`: what digests are made of. Kernels have a
/// message in each lane, and names are those of the standards: FIPS 180-4, RFC 1321, FIPS 202.
///
/// # Safety
/// As for [`Vector`]; an implementor is [`Words::COUNT`] words, the first one lowest, and nothing else.
#[allow(clippy::missing_safety_doc)] // stated once, there
pub unsafe trait Words<T: Copy>: Copy {
    /// Words in the register: a power of two, at most [`MOST_WORDS`].
    const COUNT: usize = size_of::<Self>() / size_of::<T>();

    /// `word` in every position.
    unsafe fn splat(word: T) -> Self;
    /// The first word of this, the first of the other, the second of this and so on, as two registers.
    unsafe fn zip(self, other: Self) -> [Self; 2];
    /// Bytes of each word in the other order.
    unsafe fn swapped(self) -> Self;
    /// Sums, modulo 2^32 or 2^64.
    unsafe fn plus(self, other: Self) -> Self;
    /// Bits of both.
    unsafe fn and(self, other: Self) -> Self;
    /// Bits of one only.
    unsafe fn xor(self, other: Self) -> Self;
    /// Bits of this that the other has not.
    unsafe fn without(self, other: Self) -> Self;
    /// Bits of this and those that the other has not.
    unsafe fn or_not(self, other: Self) -> Self;
    /// Rotations to the left; `bits` is a constant where this melts into a kernel.
    unsafe fn left(self, bits: u32) -> Self;
    /// Shifts to the right.
    unsafe fn down(self, bits: u32) -> Self;

    load_and_store!();

    /// Rotations to the right, by less than a word.
    #[inline(always)]
    unsafe fn right(self, bits: u32) -> Self {
        // SAFETY: the caller vouches for the level; so in all that follow.
        unsafe { self.left(8 * size_of::<T>() as u32 - bits) }
    }

    /// Bits that one of the three has, or all.
    #[inline(always)]
    unsafe fn parity(self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        unsafe { self.xor(b).xor(c) }
    }

    /// Bits of `yes` where a bit is set, and of `no` where it is not.
    #[inline(always)]
    unsafe fn choose(self, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        unsafe { no.xor(self.and(yes.xor(no))) }
    }

    /// Bits that two of the three have.
    #[inline(always)]
    unsafe fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        unsafe { self.and(b).xor(c.and(self.xor(b))) }
    }

    /// Bits that either this has or `b` without `c`: χ of FIPS 202.
    #[inline(always)]
    unsafe fn xor_without(self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        unsafe { self.xor(b.without(c)) }
    }

    /// Bits that either this has or `b` and those that `c` has not: the last function of MD5.
    #[inline(always)]
    unsafe fn xor_or_not(self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        unsafe { self.xor(b.or_not(c)) }
    }
}

/// Words of the widest register.
pub const MOST_WORDS: usize = 16;

/// Where `byte` stands among the 64 bytes at `from`: bit i for byte i.
///
/// # Safety
/// 64 bytes from `from` on are readable, and the level of `V` is available.
#[inline(always)]
pub unsafe fn positions_64<V: Vector>(from: *const u8, byte: u8) -> u64 {
    // SAFETY: the caller vouches for the 64 bytes and for the level.
    unsafe {
        let (all, byte) = (V::load_64(from), V::splat(byte));
        V::bits_64(crate::each_64!(V, all, v => v.is(byte)))
    }
}

/// An expression of each register of [`Vector::load_64`], as a loop: in a closure, which lacks the
/// level's features, an operation would stay a call.
#[macro_export]
macro_rules! each_64 {
    ($vector:ty, $all:expr, $v:ident => $result:expr) => {{
        let all: [$vector; 8] = $all;
        let $v = all[0];
        let mut results = [$result; 8];
        for i in 1..64 / <$vector as $crate::simd::Vector>::BYTES {
            let $v = all[i];
            results[i] = $result;
        }
        results
    }};
}

/// Methods over registers, and perhaps arguments of other types, each in an instruction or a few.
#[macro_export]
macro_rules! operations {
    ($(
        $name:ident($($argument:ident),* $(; $($other:ident: $type:ty),+)?) -> $answer:ty = $body:expr;
    )*) => {$(
        #[inline(always)]
        #[allow(unused_unsafe)] // of the scalar level
        #[allow(clippy::macro_metavars_in_unsafe)] // the method is unsafe
        unsafe fn $name($($argument: Self,)* $($($other: $type),+)?) -> $answer {
            // SAFETY: the caller vouches for the level and for what pointers lead to.
            unsafe { $body }
        }
    )*};
}
use operations;

/// Those of [`Words`] that know no words, by the names of a register's instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! operations_on_bits {
    ($register:ty: $and:ident $or:ident $xor:ident $and_not:ident $ones:expr) => {
        $crate::simd::operations! {
            and(self, other) -> $register = $and(self, other);
            xor(self, other) -> $register = $xor(self, other);
            without(self, other) -> $register = $and_not(other, self);
            or_not(self, other) -> $register = $or(self, $xor(other, $ones));
        }
    };
}
#[cfg(target_arch = "x86_64")]
use operations_on_bits;

#[cfg(test)]
mod tests;
