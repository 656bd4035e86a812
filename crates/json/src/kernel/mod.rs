//! The searches a JSON text spends its bytes in: the end of a string's plain part, of white space, of
//! a number. One body over [`Vector`], compiled once per level.
//!
//! Finds positions only; what stands there is the lexer's business.
//!
//! In plain words: `special` walks forward while bytes are neither a quote, a backslash nor a
//! control character, and notes whether it met a byte above 0x7f. The departures from that loop:
//! 1. strings that end within eight bytes, as most keys do, are found in one integer before;
//! 2. whole registers are tested, three comparisons each, and the first set bit is the answer;
//! 3. bytes after the last whole register are walked one at a time, so nothing is read outside the
//!    slice.

mod accept;
mod grammar;
mod wide;

use std::num::NonZeroU8;

use fathom_machine::level::Level;
use fathom_machine::vector::Vector;

pub(crate) use grammar::{BEHIND_BYTES, SHORT_BYTES, State};
pub(crate) use wide::BLOCK_BYTES;

/// Below this many bytes, walking over the tokens takes less time than clearing rows of masks.
const LEAST_BYTES: usize = 96;

/// The searches of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    special: fn(&[u8], usize) -> (usize, bool),
    space: fn(&[u8], usize) -> usize,
    number: fn(&[u8], usize) -> Option<Plain>,
    accepts: fn(&[u8]) -> bool,
    blocks: Option<Blocks>,
}

/// The grammar by bits of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) read: ReadBlocks,
    pub(crate) accepts_short: fn(&[u8]) -> bool,
}

/// The lengths of a number of digits, perhaps a point and a leading minus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) bytes: NonZeroU8,
    /// Up to the point, or all.
    pub(crate) integer_bytes: u8,
}

/// See [`Kernel::read_blocks`].
pub(crate) type ReadBlocks = fn(&mut State, &[u8], usize) -> Option<usize>;

impl Kernel {
    /// The kernels of `level`, or of the scalar level where it is not available.
    pub(crate) fn of(level: Level) -> Kernel {
        Kernel::new(level).unwrap_or(scalar::KERNEL)
    }

    /// The kernels of `level`, if it is available here.
    pub(crate) fn new(level: Level) -> Option<Kernel> {
        if !level.is_available() {
            return None;
        }
        Some(match level {
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => sse2::KERNEL,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if wide::Avx512::is_available() => {
                Kernel { blocks: Some(blocks_avx512::BLOCKS), ..avx2::KERNEL }
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2::KERNEL,
            #[cfg(target_arch = "aarch64")]
            Level::Neon => neon::KERNEL,
            _ => scalar::KERNEL,
        })
    }

    /// The first index from `from` on that holds `"`, `\` or a byte below 0x20, else the length;
    /// and whether all bytes before it are ASCII.
    #[inline]
    pub(crate) fn special(self, bytes: &[u8], from: usize) -> (usize, bool) {
        (self.special)(bytes, from)
    }

    /// The number that begins at `at`, if it is a plain one: see [`number_over`].
    #[inline]
    pub(crate) fn number(self, bytes: &[u8], at: usize) -> Option<Plain> {
        (self.number)(bytes, at)
    }

    /// Reads some blocks of a text from an index on, while [`BEHIND_BYTES`] more follow them: where the
    /// next one begins, or `None` when one is not valid. Levels without vectors have none.
    pub(crate) fn read_blocks(self) -> Option<ReadBlocks> {
        self.blocks.map(|blocks| blocks.read)
    }

    /// Whether `bytes` is one JSON document no deeper than the default limit. A no says nothing
    /// about what is wrong; a document with a token beyond the default limit gets one as well.
    /// For levels without blocks, and texts of at most [`SHORT_BYTES`].
    pub(crate) fn accepts(self, bytes: &[u8]) -> bool {
        match self.blocks {
            Some(blocks) if (LEAST_BYTES..=SHORT_BYTES).contains(&bytes.len()) => {
                (blocks.accepts_short)(bytes)
            }
            _ => (self.accepts)(bytes),
        }
    }

    /// The first index from `from` on that holds no JSON white space, else the length.
    #[inline]
    pub(crate) fn space(self, bytes: &[u8], from: usize) -> usize {
        // Bytes above a blank are none; one blank is the usual amount, more are an indentation.
        if bytes.get(from).is_none_or(|&byte| byte > b' ') {
            return from;
        }
        if bytes[from] == b' ' && bytes.get(from + 1).is_some_and(|&byte| byte > b' ') {
            return from + 1;
        }
        (self.space)(bytes, from)
    }
}

/// The closing quote of a string of less than eight bytes, all of them plain ASCII, as most keys are.
#[inline(always)]
pub(crate) fn short_text_end(bytes: &[u8], from: usize) -> Option<usize> {
    let word = u64::from_le_bytes(*bytes.get(from..)?.first_chunk()?);
    let specials = specials(word);
    let before = (specials & specials.wrapping_neg()).wrapping_sub(1); // up to the first
    let end = from + (specials.trailing_zeros() / 8) as usize;
    (specials != 0 && word & HIGHS & before == 0 && bytes[end] == b'"').then_some(end)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The highest bit of each of eight bytes that is special. Above the first of them there may be
/// bits too many: a borrow out of a special byte disturbs later ones.
#[inline]
fn specials(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let byte = |byte: u8| ONES * u64::from(byte);
    let quotes = zeros(word ^ byte(b'"')) | zeros(word ^ byte(b'\\'));
    (controls | quotes) & HIGHS
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn special_over<V: Vector>(bytes: &[u8], from: usize) -> (usize, bool) {
    let (mut at, mut is_ascii) = (from, true);
    while at + V::BYTES <= bytes.len() {
        // SAFETY: the loop's condition leaves BYTES bytes from `at` on; the caller vouches for the
        // level.
        let (stops, ascii) = unsafe {
            let v = V::load(bytes.as_ptr().add(at));
            let quotes = v.equal(V::splat(b'"')) | v.equal(V::splat(b'\\'));
            (quotes | v.below::<0x20>(), v.below::<0x80>())
        };
        if stops != 0 {
            let first = stops.trailing_zeros();
            let before = (1u64 << first) - 1;
            return (at + first as usize, is_ascii && ascii & before == before);
        }
        is_ascii &= ascii.count_ones() as usize == V::BYTES;
        at += V::BYTES;
    }
    while let Some(&byte) = bytes.get(at).filter(|&&byte| !is_special(byte)) {
        is_ascii &= byte.is_ascii();
        at += 1;
    }
    (at, is_ascii)
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn space_over<V: Vector>(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while at + V::BYTES <= bytes.len() {
        // SAFETY: as in `special_over`.
        let spaces = unsafe {
            let v = V::load(bytes.as_ptr().add(at));
            let lines = v.equal(V::splat(b'\n')) | v.equal(V::splat(b'\r'));
            lines | v.equal(V::splat(b' ')) | v.equal(V::splat(b'\t'))
        };
        let run = spaces.trailing_ones() as usize;
        at += run;
        if run != V::BYTES {
            return at;
        }
    }
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// Bytes looked at for a number: it and the byte behind it.
const NUMBER_BYTES: usize = 32;

/// A plain number at `at`: without exponent, and shorter than [`NUMBER_BYTES`], so that the byte behind
/// it is seen. `None` for any other, and for what is no number.
///
/// The end is where neither digit, point nor leading minus stands; that these make a number is
/// tested beside, so that whoever goes on from the end need not wait for it.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn number_over<V: Vector>(bytes: &[u8], at: usize) -> Option<Plain> {
    let window: &[u8; NUMBER_BYTES] = bytes.get(at..)?.first_chunk()?;
    let (mut digits, mut points) = (0, 0);
    for from in (0..NUMBER_BYTES).step_by(V::BYTES) {
        // SAFETY: NUMBER_BYTES is a multiple of every BYTES, so a register from `from` on lies within
        // the window; the caller vouches for the level.
        unsafe {
            let v = V::load(window.as_ptr().add(from));
            digits |= (v.below::<{ b'9' + 1 }>() & !v.below::<b'0'>()) << from;
            points |= v.equal(V::splat(b'.')) << from;
        }
    }
    let minus = u64::from(window[0] == b'-');
    let length = (digits | points | minus).trailing_ones() as usize;
    if length >= NUMBER_BYTES {
        return None;
    }
    let points = points & ((1 << length) - 1);
    let starts = 1 << minus; // the first digit's bit
    // One point at most, a digit before it or the end, a digit after it, no zero before a digit.
    let is_one = points & points.wrapping_sub(1) == 0;
    let has_digits = digits & starts != 0 && digits >> (length - 1) & 1 == 1;
    let has_zero = window[minus as usize] == b'0' && digits & starts << 1 != 0;
    let has_exponent = matches!(window[length], b'e' | b'E');
    if !is_one || !has_digits || has_zero || has_exponent {
        return None;
    }
    let integer_bytes = (points | 1 << length).trailing_zeros() as u8;
    Some(Plain { bytes: NonZeroU8::new(length as u8)?, integer_bytes })
}

/// The bodies under the name and the target features of one level.
macro_rules! level {
    ($level:ident, $vector:ident, $blocks:expr $(, $feature:literal)?) => {
        mod $level {
            use fathom_machine::vector::$vector;

            use super::*;

            $(#[target_feature(enable = $feature)])?
            fn special_here(bytes: &[u8], from: usize) -> (usize, bool) {
                // SAFETY: `Kernel::new` hands these functions out only where the level is
                // available.
                unsafe { special_over::<$vector>(bytes, from) }
            }

            $(#[target_feature(enable = $feature)])?
            fn space_here(bytes: &[u8], from: usize) -> usize {
                // SAFETY: as above.
                unsafe { space_over::<$vector>(bytes, from) }
            }

            $(#[target_feature(enable = $feature)])?
            fn number_here(bytes: &[u8], at: usize) -> Option<Plain> {
                // SAFETY: as above.
                unsafe { number_over::<$vector>(bytes, at) }
            }

            $(#[target_feature(enable = $feature)])?
            fn accepts_here(bytes: &[u8]) -> bool {
                // SAFETY: as above.
                unsafe { accept::accepts_over::<$vector>(bytes) }
            }

            pub(super) const KERNEL: Kernel = Kernel {
                special,
                space,
                number,
                accepts,
                blocks: $blocks,
            };

            fn accepts(bytes: &[u8]) -> bool {
                #[allow(unused_unsafe)]
                // SAFETY: as above.
                unsafe {
                    accepts_here(bytes)
                }
            }

            fn number(bytes: &[u8], at: usize) -> Option<Plain> {
                #[allow(unused_unsafe)]
                // SAFETY: as above.
                unsafe {
                    number_here(bytes, at)
                }
            }

            fn special(bytes: &[u8], from: usize) -> (usize, bool) {
                #[allow(unused_unsafe)] // safe at the scalar level, which needs no feature
                // SAFETY: as above.
                unsafe {
                    special_here(bytes, from)
                }
            }

            fn space(bytes: &[u8], from: usize) -> usize {
                #[allow(unused_unsafe)]
                // SAFETY: as above.
                unsafe {
                    space_here(bytes, from)
                }
            }
        }
    };
}

level!(scalar, Scalar, None);
#[cfg(target_arch = "x86_64")]
level!(sse2, Sse2, Some(blocks_sse2::BLOCKS), "sse2");
#[cfg(target_arch = "x86_64")]
level!(avx2, Avx2, Some(blocks_avx2::BLOCKS), "avx2,bmi1,lzcnt,popcnt");
#[cfg(target_arch = "aarch64")]
level!(neon, Neon, Some(blocks_neon::BLOCKS), "neon");

/// [`grammar::read_blocks`] under the name and the target features of one level.
macro_rules! blocks {
    ($level:ident, $wide:ident, $feature:literal) => {
        mod $level {
            use super::{Blocks, State, grammar, wide};

            pub(super) const BLOCKS: Blocks = Blocks { read, accepts_short };

            #[target_feature(enable = $feature)]
            fn read_here(state: &mut State, text: &[u8], from: usize) -> Option<usize> {
                // SAFETY: `Kernel::new` hands these functions out only where the level is
                // available.
                unsafe { grammar::read_blocks::<wide::$wide, _>(state, text, from) }
            }

            pub(super) fn read(state: &mut State, text: &[u8], from: usize) -> Option<usize> {
                // SAFETY: as above.
                unsafe { read_here(state, text, from) }
            }

            #[target_feature(enable = $feature)]
            fn accepts_here(text: &[u8]) -> bool {
                // SAFETY: as above.
                unsafe { grammar::accepts_short::<wide::$wide>(text) }
            }

            fn accepts_short(text: &[u8]) -> bool {
                // SAFETY: as above.
                unsafe { accepts_here(text) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
blocks!(blocks_sse2, Sse2, "sse2");
#[cfg(target_arch = "x86_64")]
blocks!(blocks_avx2, Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq");
#[cfg(target_arch = "x86_64")]
blocks!(blocks_avx512, Avx512, "avx512f,avx512bw,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq");
#[cfg(target_arch = "aarch64")]
blocks!(blocks_neon, Neon, "neon");

/// Every way to read blocks that this processor has, and the verdict on short texts by it.
#[cfg(test)]
pub(crate) fn all_blocks() -> Vec<(Level, Blocks)> {
    let all: &[(bool, Level, Blocks)] = &[
        #[cfg(target_arch = "x86_64")]
        (true, Level::Sse2, blocks_sse2::BLOCKS),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2.is_available(), Level::Avx2, blocks_avx2::BLOCKS),
        #[cfg(target_arch = "x86_64")]
        (
            Level::Avx2.is_available() && wide::Avx512::is_available(),
            Level::Avx2,
            blocks_avx512::BLOCKS,
        ),
        #[cfg(target_arch = "aarch64")]
        (true, Level::Neon, blocks_neon::BLOCKS),
    ];
    let here = all.iter().filter(|(is_here, ..)| *is_here);
    here.map(|&(_, level, blocks)| (level, blocks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_finds_every_byte_at_every_position() {
        for level in Level::available() {
            let kernel = Kernel::new(level).unwrap();
            for at in 0..100 {
                for byte in [b'"', b'\\', 0, 0x1f] {
                    let mut text = vec![b'x'; 100];
                    text[at] = byte;
                    for from in 0..=at {
                        assert_eq!(kernel.special(&text, from), (at, true), "{level} {from} {at}");
                    }
                }
                let mut spaces: Vec<u8> = b" \n\r\t".iter().copied().cycle().take(100).collect();
                spaces[at] = b'\x0b';
                for from in 0..=at {
                    assert_eq!(kernel.space(&spaces, from), at, "{level} {from} {at}");
                }
            }
            assert_eq!(kernel.special(&[b'y'; 77], 3), (77, true), "{level}");
            assert_eq!(kernel.space(&[b' '; 77], 3), 77, "{level}");
        }
    }

    #[test]
    fn every_level_notices_a_byte_beyond_ascii_before_the_stop_only() {
        for level in Level::available() {
            let kernel = Kernel::new(level).unwrap();
            for high in 0..80 {
                let mut text = vec![b'x'; 80];
                text[high] = 0xc3;
                for stop in (0..80).filter(|&stop| stop != high) {
                    let mut text = text.clone();
                    text[stop] = b'"';
                    let expected = (stop, high > stop);
                    assert_eq!(kernel.special(&text, 0), expected, "{level} {high} {stop}");
                }
            }
        }
    }
}
