//! The searches a JSON text spends its bytes in: the end of a string's plain part, of white space, of
//! a number. One body over [`Vector`], compiled once per level.
//!
//! Finds positions only; what stands there is the lexer's business.
//!
//! In plain words: `special` walks forward while bytes are neither a quote, a backslash nor a
//! control character, and notes whether it met a byte above 0x7f. The departures from that loop:
//! 1. the first eight bytes are tested as one integer, since most keys end there;
//! 2. then whole registers are tested, three comparisons each, and the first set bit is the answer;
//! 3. bytes after the last whole register are walked one at a time, so nothing is read outside the
//!    slice.

mod accept;
mod grammar;
mod wide;

use fathom_machine::level::Level;
use fathom_machine::vector::Vector;

pub(crate) use grammar::{BEHIND_BYTES, State};
pub(crate) use wide::BLOCK_BYTES;

/// The searches of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    special: fn(&[u8], usize) -> (usize, bool),
    space: fn(&[u8], usize) -> usize,
    number: fn(&[u8], usize) -> Option<usize>,
    read_blocks: Option<ReadBlocks>,
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
                Kernel { read_blocks: Some(blocks_avx512::read), ..avx2::KERNEL }
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
        if let Some(eight) = bytes.get(from..from + 8) {
            let word = u64::from_le_bytes(eight.try_into().unwrap_or_default());
            let specials = specials(word);
            if specials != 0 {
                let before = specials & specials.wrapping_neg();
                let is_ascii = word & HIGHS & before.wrapping_sub(1) == 0;
                return (from + (specials.trailing_zeros() / 8) as usize, is_ascii);
            }
        }
        (self.special)(bytes, from)
    }

    /// The end of the number that begins at `at`, if it is a plain one: see [`number_over`].
    #[inline]
    pub(crate) fn number(self, bytes: &[u8], at: usize) -> Option<usize> {
        (self.number)(bytes, at)
    }

    /// Reads some blocks of a text from an index on, while [`BEHIND_BYTES`] more follow them: where the
    /// next one begins, or `None` when one is not valid. Levels without vectors have none.
    pub(crate) fn read_blocks(self) -> Option<ReadBlocks> {
        self.read_blocks
    }

    /// Whether `bytes` is one JSON document no deeper than the default limit. A no says nothing
    /// about what is wrong; a document with a token beyond the default limit gets one as well.
    /// For levels without blocks, and texts of few.
    pub(crate) fn accepts(self, bytes: &[u8]) -> bool {
        accept::accepts(bytes)
    }

    /// The first index from `from` on that holds no JSON white space, else the length.
    #[inline]
    pub(crate) fn space(self, bytes: &[u8], from: usize) -> usize {
        match bytes.get(from) {
            Some(&byte) if !is_space(byte) => from,
            None => from,
            // One space is the usual amount; more is an indentation.
            _ => match bytes.get(from + 1) {
                Some(&byte) if !is_space(byte) => from + 1,
                _ => (self.space)(bytes, from + 1),
            },
        }
    }
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

/// The end of a plain number at `at`: without exponent, and shorter than a register, so that the byte
/// behind it is seen. `None` for any other, and for what is no number.
///
/// The end is where neither digit, point nor leading minus stands; that these make a number is
/// tested beside, so that whoever goes on from the end need not wait for it.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn number_over<V: Vector>(bytes: &[u8], at: usize) -> Option<usize> {
    if at + V::BYTES > bytes.len() {
        return None;
    }
    // SAFETY: BYTES bytes from `at` on are within the slice, by the line above; the caller vouches
    // for the level.
    let (digits, points, minus) = unsafe {
        let v = V::load(bytes.as_ptr().add(at));
        let digits = v.below::<{ b'9' + 1 }>() & !v.below::<b'0'>();
        (digits, v.equal(V::splat(b'.')), v.equal(V::splat(b'-')) & 1)
    };
    let length = (digits | points | minus).trailing_ones() as usize;
    if length >= V::BYTES {
        return None;
    }
    let points = points & ((1 << length) - 1);
    let starts = 1 << minus; // the first digit's bit
    // One point at most, a digit before it or the end, a digit after it, no zero before a digit.
    let is_one = points & points.wrapping_sub(1) == 0;
    let has_digits = digits & starts != 0 && digits >> (length - 1) & 1 == 1;
    let has_zero = bytes[at + minus as usize] == b'0' && digits & starts << 1 != 0;
    let has_exponent = matches!(bytes[at + length], b'e' | b'E');
    (is_one && has_digits && !has_zero && !has_exponent).then_some(at + length)
}

/// The bodies under the name and the target features of one level.
macro_rules! level {
    ($level:ident, $vector:ident, $read_blocks:expr $(, $feature:literal)?) => {
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
            fn number_here(bytes: &[u8], at: usize) -> Option<usize> {
                // SAFETY: as above.
                unsafe { number_over::<$vector>(bytes, at) }
            }

            pub(super) const KERNEL: Kernel = Kernel {
                special,
                space,
                number,
                read_blocks: $read_blocks,
            };

            fn number(bytes: &[u8], at: usize) -> Option<usize> {
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
level!(sse2, Sse2, Some(blocks_sse2::read), "sse2");
#[cfg(target_arch = "x86_64")]
level!(avx2, Avx2, Some(blocks_avx2::read), "avx2,bmi1,lzcnt,popcnt");
#[cfg(target_arch = "aarch64")]
level!(neon, Neon, Some(blocks_neon::read), "neon");

/// [`grammar::read_blocks`] under the name and the target features of one level.
macro_rules! blocks {
    ($level:ident, $wide:ident, $feature:literal) => {
        mod $level {
            use super::{State, grammar, wide};

            #[target_feature(enable = $feature)]
            fn read_here(state: &mut State, text: &[u8], from: usize) -> Option<usize> {
                // SAFETY: `Kernel::new` hands these functions out only where the level is
                // available.
                unsafe { grammar::read_blocks::<wide::$wide>(state, text, from) }
            }

            pub(super) fn read(state: &mut State, text: &[u8], from: usize) -> Option<usize> {
                // SAFETY: as above.
                unsafe { read_here(state, text, from) }
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

/// Every way to read blocks that this processor has.
#[cfg(test)]
pub(crate) fn block_readers() -> Vec<(Level, ReadBlocks)> {
    let all: &[(bool, Level, ReadBlocks)] = &[
        #[cfg(target_arch = "x86_64")]
        (true, Level::Sse2, blocks_sse2::read),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2.is_available(), Level::Avx2, blocks_avx2::read),
        #[cfg(target_arch = "x86_64")]
        (
            Level::Avx2.is_available() && wide::Avx512::is_available(),
            Level::Avx2,
            blocks_avx512::read,
        ),
        #[cfg(target_arch = "aarch64")]
        (true, Level::Neon, blocks_neon::read),
    ];
    all.iter().filter(|(is_here, ..)| *is_here).map(|&(_, level, read)| (level, read)).collect()
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
