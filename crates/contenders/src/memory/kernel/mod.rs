//! Fills, moves and sums over registers of one size, behind safe doors that check places and level.
//!
//! A move of at least one register loads its last register first and stores it last, so that the loop
//! need not care for the rest; forwards when the target lies below the source, backwards otherwise.
//! What is shorter than a register goes by halves: 16, 8, 4, 2, 1 bytes, both ends loaded before
//! either is stored.
//!
//! Stores are fences for the compiler, which would otherwise see what a loop does and call the C
//! library's `memmove` or `memset` instead; loads of eight bytes too, or it would join them to wider
//! ones. A fence is no instruction.

use std::sync::atomic::{Ordering, compiler_fence};

use fathom_machine::simd::{Scalar, Vector};

/// Which registers or instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Eight bytes in an integer.
    Scalar,
    /// Sixteen bytes.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// Thirty-two bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// `rep movsb` and `rep stosb`.
    #[cfg(target_arch = "x86_64")]
    Strings,
    /// Sixteen bytes.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kind {
    /// Whether this processor has it.
    pub(crate) fn is_available(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        if self == Kind::Avx2 {
            return std::arch::is_x86_feature_detected!("avx2");
        }
        true
    }
}

macro_rules! by_kind {
    ($kind:expr, $function:ident($($argument:expr),*)) => {
        match $kind {
            Kind::Scalar => $function::<Scalar>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Kind::Sse2 => $function::<fathom_machine::simd::Sse2>($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => avx2::$function($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Kind::Strings => strings::$function($($argument),*),
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => $function::<fathom_machine::simd::Neon>($($argument),*),
        }
    };
}

/// Fills with a byte.
pub(crate) fn fill(kind: Kind, bytes: &mut [u8], byte: u8) {
    assert!(kind.is_available());
    // SAFETY: the pointer and length are those of a slice; the level was just checked.
    unsafe { by_kind!(kind, filled(bytes.as_mut_ptr(), bytes.len(), byte)) }
}

/// Moves within a buffer; the places may overlap.
///
/// # Panics
/// When a place reaches beyond the buffer.
pub(crate) fn move_within(kind: Kind, bytes: &mut [u8], from: usize, to: usize, length: usize) {
    assert!(kind.is_available());
    let fits = |at: usize| at.checked_add(length).is_some_and(|end| end <= bytes.len());
    assert!(fits(from) && fits(to));
    let start = bytes.as_mut_ptr();
    // SAFETY: both places lie in the buffer, as just checked; so was the level.
    unsafe { by_kind!(kind, moved(start.add(from).cast_const(), start.add(to), length)) }
}

/// Copies to another buffer of the same length.
///
/// # Panics
/// When the lengths differ.
pub(crate) fn copy(kind: Kind, from: &[u8], to: &mut [u8]) {
    assert!(kind.is_available() && from.len() == to.len());
    // SAFETY: both are slices of that length; the level was just checked.
    unsafe { by_kind!(kind, moved(from.as_ptr(), to.as_mut_ptr(), from.len())) }
}

/// The wrapping sum of the 64-bit words of all whole 64-byte lines.
pub(crate) fn sum(kind: Kind, bytes: &[u8]) -> u64 {
    assert!(kind.is_available());
    let (lines, _) = bytes.as_chunks::<64>();
    // SAFETY: whole lines of a slice; the level was just checked.
    unsafe { by_kind!(kind, summed(lines.as_ptr().cast(), lines.len())) }
}

/// # Safety
/// A register is readable; its level is available.
#[inline(always)]
unsafe fn load<V: Vector>(from: *const u8) -> V {
    if V::BYTES == Scalar::BYTES {
        compiler_fence(Ordering::SeqCst);
    }
    // SAFETY: the caller's.
    unsafe { V::load(from) }
}

/// # Safety
/// A register is writable; its level is available.
#[inline(always)]
unsafe fn store<V: Vector>(value: V, to: *mut u8) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's.
    unsafe { value.store(to) }
}

/// # Safety
/// `length` bytes from `to` are writable; the level of `V` is available.
#[inline(always)]
unsafe fn filled<V: Vector>(to: *mut u8, length: usize, byte: u8) {
    // SAFETY: every store lies within `length`; the caller vouches for the rest.
    unsafe {
        if length < V::BYTES {
            return short_fill(to, length, byte);
        }
        let value = V::splat(byte);
        let mut at = 0;
        while at + 4 * V::BYTES <= length {
            for i in 0..4 {
                store(value, to.add(at + i * V::BYTES));
            }
            at += 4 * V::BYTES;
        }
        while at + V::BYTES <= length {
            store(value, to.add(at));
            at += V::BYTES;
        }
        store(value, to.add(length - V::BYTES));
    }
}

/// # Safety
/// `length` bytes from `to` are writable; `length` is below 32.
#[inline(always)]
unsafe fn short_fill(to: *mut u8, length: usize, byte: u8) {
    let word = u64::from(byte) * 0x0101_0101_0101_0101;
    // SAFETY: each pair of stores covers `length` from both ends and stays within it.
    unsafe {
        match length {
            0 => {}
            1..=3 => {
                to.write(byte);
                to.add(length / 2).write(byte);
                to.add(length - 1).write(byte);
            }
            4..=7 => {
                to.cast::<u32>().write_unaligned(word as u32);
                to.add(length - 4).cast::<u32>().write_unaligned(word as u32);
            }
            8..=16 => {
                store(word, to);
                store(word, to.add(length - 8));
            }
            _ => {
                store(word, to);
                store(word, to.add(8));
                store(word, to.add(length - 16));
                store(word, to.add(length - 8));
            }
        }
    }
}

/// # Safety
/// `length` bytes are readable at `from` and writable at `to`; the level of `V` is available.
#[inline(always)]
unsafe fn moved<V: Vector>(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: every access lies within `length`; the order keeps what is still to be read.
    unsafe {
        if length < V::BYTES {
            return short_move(from, to, length);
        }
        if to.cast_const() <= from || to.cast_const() >= from.add(length) {
            let last = load::<V>(from.add(length - V::BYTES));
            let mut at = 0;
            while at + 4 * V::BYTES <= length {
                let four: [V; 4] = std::array::from_fn(|i| load::<V>(from.add(at + i * V::BYTES)));
                for (i, value) in four.into_iter().enumerate() {
                    store(value, to.add(at + i * V::BYTES));
                }
                at += 4 * V::BYTES;
            }
            while at + V::BYTES <= length {
                store(load::<V>(from.add(at)), to.add(at));
                at += V::BYTES;
            }
            store(last, to.add(length - V::BYTES));
        } else {
            let first = load::<V>(from);
            let mut at = length;
            while at >= 4 * V::BYTES {
                at -= 4 * V::BYTES;
                let four: [V; 4] = std::array::from_fn(|i| load::<V>(from.add(at + i * V::BYTES)));
                for (i, value) in four.into_iter().enumerate() {
                    store(value, to.add(at + i * V::BYTES));
                }
            }
            while at >= V::BYTES {
                at -= V::BYTES;
                store(load::<V>(from.add(at)), to.add(at));
            }
            store(first, to);
        }
    }
}

/// # Safety
/// `length` bytes are readable at `from` and writable at `to`; `length` is below 32.
#[inline(always)]
unsafe fn short_move(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: each group of loads covers `length` from both ends, stays within it, and comes before
    // its stores.
    unsafe {
        match length {
            0 => {}
            1..=3 => {
                let three = [*from, *from.add(length / 2), *from.add(length - 1)];
                to.write(three[0]);
                to.add(length / 2).write(three[1]);
                to.add(length - 1).write(three[2]);
            }
            4..=7 => {
                let ends = [from, from.add(length - 4)].map(|at| at.cast::<u32>().read_unaligned());
                to.cast::<u32>().write_unaligned(ends[0]);
                to.add(length - 4).cast::<u32>().write_unaligned(ends[1]);
            }
            8..=16 => {
                let ends = [load::<Scalar>(from), load::<Scalar>(from.add(length - 8))];
                store(ends[0], to);
                store(ends[1], to.add(length - 8));
            }
            _ => {
                let places = [0, 8, length - 16, length - 8];
                let four = places.map(|at| load::<Scalar>(from.add(at)));
                for (at, word) in places.into_iter().zip(four) {
                    store(word, to.add(at));
                }
            }
        }
    }
}

/// # Safety
/// `lines` times 64 bytes from `from` are readable; the level of `V` is available.
#[inline(always)]
unsafe fn summed<V: Vector>(from: *const u8, lines: usize) -> u64 {
    // SAFETY: every load lies within the lines.
    unsafe {
        let mut sums = [V::splat(0); 8];
        let lanes = 64 / V::BYTES;
        for line in 0..lines {
            for (lane, sum) in sums[..lanes].iter_mut().enumerate() {
                *sum = sum.plus_words(load::<V>(from.add(64 * line + lane * V::BYTES)));
            }
        }
        let mut words = [0_u64; 8];
        for (lane, sum) in sums[..lanes].iter().enumerate() {
            sum.store(words.as_mut_ptr().cast::<u8>().add(lane * V::BYTES));
        }
        words.into_iter().fold(0, u64::wrapping_add)
    }
}

/// The same functions compiled for AVX2.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use fathom_machine::simd::Avx2;

    /// # Safety
    /// As [`super::filled`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn filled(to: *mut u8, length: usize, byte: u8) {
        // SAFETY: the caller's.
        unsafe { super::filled::<Avx2>(to, length, byte) }
    }

    /// # Safety
    /// As [`super::moved`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn moved(from: *const u8, to: *mut u8, length: usize) {
        // SAFETY: the caller's.
        unsafe { super::moved::<Avx2>(from, to, length) }
    }

    /// # Safety
    /// As [`super::summed`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn summed(from: *const u8, lines: usize) -> u64 {
        // SAFETY: the caller's.
        unsafe { super::summed::<Avx2>(from, lines) }
    }
}

/// String instructions. They run forwards; a move that must run backwards goes by registers.
#[cfg(target_arch = "x86_64")]
mod strings {
    use std::arch::asm;

    use fathom_machine::simd::Sse2;

    /// # Safety
    /// As [`super::filled`].
    #[inline(always)]
    pub(super) unsafe fn filled(to: *mut u8, length: usize, byte: u8) {
        // SAFETY: stores exactly `length` bytes from `to`; the direction flag is clear by the ABI.
        unsafe {
            asm!("rep stosb", inout("rcx") length => _, inout("rdi") to => _, in("al") byte,
                 options(nostack, preserves_flags));
        }
    }

    /// # Safety
    /// As [`super::moved`].
    #[inline(always)]
    pub(super) unsafe fn moved(from: *const u8, to: *mut u8, length: usize) {
        let is_forward = to.cast_const() <= from || to.cast_const() >= from.wrapping_add(length);
        // SAFETY: reads and writes exactly `length` bytes; the direction flag is clear by the ABI.
        unsafe {
            if !is_forward {
                return super::moved::<Sse2>(from, to, length);
            }
            asm!("rep movsb", inout("rcx") length => _, inout("rdi") to => _,
                 inout("rsi") from => _, options(nostack, preserves_flags));
        }
    }

    /// # Safety
    /// As [`super::summed`].
    pub(super) unsafe fn summed(from: *const u8, lines: usize) -> u64 {
        // SAFETY: the caller's. There is no string instruction that sums.
        unsafe { super::summed::<Sse2>(from, lines) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::random;

    const KINDS: &[Kind] = &[
        Kind::Scalar,
        #[cfg(target_arch = "x86_64")]
        Kind::Sse2,
        #[cfg(target_arch = "x86_64")]
        Kind::Avx2,
        #[cfg(target_arch = "x86_64")]
        Kind::Strings,
        #[cfg(target_arch = "aarch64")]
        Kind::Neon,
    ];

    #[test]
    fn every_length_and_distance_agrees_with_the_standard_library() {
        let original = random(1, 700);
        for &kind in KINDS.iter().filter(|kind| kind.is_available()) {
            for length in (0..140).chain([255, 256, 257, 300]) {
                for (from, to) in [(0, 300), (300, 0), (101, 100), (100, 101), (7, 40), (40, 7)] {
                    let (mut found, mut expected) = (original.clone(), original.clone());
                    move_within(kind, &mut found, from, to, length);
                    expected.copy_within(from..from + length, to);
                    assert_eq!(found, expected, "{kind:?} {from} to {to}, {length}");
                }
                let (mut found, mut expected) = (original.clone(), original.clone());
                fill(kind, &mut found[3..3 + length], 0xa5);
                expected[3..3 + length].fill(0xa5);
                assert_eq!(found, expected, "{kind:?} fill {length}");
                copy(kind, &original[..length], &mut found[..length]);
                assert_eq!(found[..length], original[..length], "{kind:?} copy {length}");
            }
        }
    }

    #[test]
    fn sums_are_of_words() {
        let bytes = random(2, 64 * 9 + 5);
        let words = bytes[..64 * 9].as_chunks::<8>().0;
        let expected =
            words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)));
        for &kind in KINDS.iter().filter(|kind| kind.is_available()) {
            assert_eq!(sum(kind, &bytes), expected, "{kind:?}");
        }
    }

    #[test]
    #[should_panic(expected = "fits")]
    fn a_move_beyond_the_end_is_refused() {
        move_within(Kind::Scalar, &mut [0; 10], 5, 0, 6);
    }
}
