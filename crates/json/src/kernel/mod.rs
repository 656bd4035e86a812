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
mod marks;
mod scalars;

use std::num::NonZeroU8;
use std::ops::Range;

use fathom_machine::level::{Form, Level};
use fathom_machine::simd::Vector;

use accept::accepts_over;
pub(crate) use grammar::{BEHIND_BYTES, BLOCK_BYTES, SHORT_BYTES, State};
use grammar::{accepts_short, read_blocks};
pub(crate) use marks::{Joints, bare_end, bare_kind};
use marks::{marks_over, stands_over};
pub(crate) use scalars::Gap;
use scalars::scalars_over;
pub use scalars::{Kind, Scalar};

/// Below this many bytes, walking over the tokens takes less time than clearing rows of masks.
const LEAST_BYTES: usize = 96;

/// The searches of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    special: unsafe fn(&[u8], usize) -> (usize, bool),
    space: unsafe fn(&[u8], usize) -> usize,
    number: unsafe fn(&[u8], usize) -> Option<Plain>,
    scalars: Scalars,
    marks: Marks,
    stands: Stands,
    level: Level,
}

/// The verdicts of one level; apart from the searches, so that who validates nothing has none of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    accepts: unsafe fn(&[u8]) -> bool,
    level: Level,
    /// The grammar by bits, which the scalar level is better off without.
    blocks: Option<Blocks>,
}

/// See [`Kernel::scalars`].
type Scalars = unsafe fn(&[Gap], &[u8], usize, &mut [Scalar]) -> (usize, usize);

/// See [`Kernel::marks`].
type Marks = unsafe fn(&[u8], Range<usize>, &mut Vec<u32>);

/// See [`Kernel::stands`].
type Stands = unsafe fn(&Joints, &[u8], Range<usize>, &[u32]) -> bool;

/// The grammar by bits of one level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    read: unsafe fn(&mut State, &[u8], usize) -> Option<usize>,
    accepts: unsafe fn(&[u8]) -> bool,
    pub(crate) level: Level,
}

impl Blocks {
    pub(crate) fn of(level: Level) -> Blocks {
        let Form { level: own, run: read } = blocks(level);
        Blocks { read, accepts: accepts_blocks(level).run, level: own }
    }

    /// Reads some blocks of a text from an index on, while [`BEHIND_BYTES`] more follow them: where the
    /// next one begins, or `None` when one is not valid.
    pub(crate) fn read(self, state: &mut State, text: &[u8], from: usize) -> Option<usize> {
        // SAFETY: the level of a form is available; so in all that follow.
        unsafe { (self.read)(state, text, from) }
    }

    /// Whether a text of at most [`SHORT_BYTES`] is a document, as [`Judge::accepts`] has it.
    pub(crate) fn accepts_short(self, text: &[u8]) -> bool {
        // SAFETY: as above.
        unsafe { (self.accepts)(text) }
    }
}

/// The lengths of a number of digits, perhaps a point and a leading minus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(crate) bytes: NonZeroU8,
    /// Up to the point, or all.
    pub(crate) integer_bytes: u8,
}

impl Kernel {
    /// The kernels of `level`, or of the scalar level where it is not available.
    pub(crate) fn of(level: Level) -> Kernel {
        let Form { level: own, run: special } = special(level);
        Kernel {
            special,
            space: space(level).run,
            number: number(level).run,
            scalars: scalars(level).run,
            marks: marks(level).run,
            stands: stands(level).run,
            level: own,
        }
    }

    /// The level events are found at.
    pub(crate) fn level(self) -> Level {
        self.level
    }

    /// The first index from `from` on that holds `"`, `\` or a byte below 0x20, else the length;
    /// and whether all bytes before it are ASCII.
    #[inline]
    pub(crate) fn special(self, bytes: &[u8], from: usize) -> (usize, bool) {
        // SAFETY: as above.
        unsafe { (self.special)(bytes, from) }
    }

    /// The number that begins at `at`, if it is a plain one: see [`number_over`].
    #[inline]
    pub(crate) fn number(self, bytes: &[u8], at: usize) -> Option<Plain> {
        // SAFETY: as above.
        unsafe { (self.number)(bytes, at) }
    }

    /// Plain scalars from an index on, each behind its gap: how many, and where the last one ends.
    #[inline]
    pub(crate) fn scalars(
        self,
        gaps: &[Gap],
        text: &[u8],
        at: usize,
        scalars: &mut [Scalar],
    ) -> (usize, usize) {
        // SAFETY: as above.
        unsafe { (self.scalars)(gaps, text, at, scalars) }
    }

    /// Appends where the bytes of a range of a text stand that are quotes or what strings do not have that are plain ASCII.
    pub(crate) fn marks(self, text: &[u8], range: Range<usize>, marks: &mut Vec<u32>) {
        // SAFETY: as above.
        unsafe { (self.marks)(text, range, marks) }
    }

    /// Whether all of a range of a text, which has these marks, is a document of these joints.
    #[inline]
    pub(crate) fn stands(
        self,
        joints: &Joints,
        text: &[u8],
        range: Range<usize>,
        marks: &[u32],
    ) -> bool {
        // SAFETY: as above.
        unsafe { (self.stands)(joints, text, range, marks) }
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
        // SAFETY: as above.
        unsafe { (self.space)(bytes, from) }
    }
}

impl Judge {
    /// The verdicts of `level`, or of the scalar level where it is not available.
    pub(crate) fn of(level: Level) -> Judge {
        let Form { level: own, run: accepts } = accepts(level);
        Judge { accepts, level: own, blocks: (own != Level::Scalar).then(|| Blocks::of(level)) }
    }

    /// The level of the verdict on a text longer than a few blocks.
    pub(crate) fn level(self) -> Level {
        self.blocks.map_or(self.level, |blocks| blocks.level)
    }

    /// The grammar by bits, if it is better than the walk over the tokens.
    pub(crate) fn blocks(self) -> Option<Blocks> {
        self.blocks
    }

    /// Whether `bytes` is one JSON document no deeper than the default limit. A no says nothing
    /// about what is wrong; a document with a token beyond the default limit gets one as well.
    /// For levels without blocks, and texts of at most [`SHORT_BYTES`].
    pub(crate) fn accepts(self, bytes: &[u8]) -> bool {
        match self.blocks {
            Some(blocks) if (LEAST_BYTES..=SHORT_BYTES).contains(&bytes.len()) => {
                blocks.accepts_short(bytes)
            }
            // SAFETY: as above.
            _ => unsafe { (self.accepts)(bytes) },
        }
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

fathom_machine::compile! {
    fn special(bytes: &[u8], from: usize) -> (usize, bool) = special_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn space(bytes: &[u8], from: usize) -> usize = space_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn number(bytes: &[u8], at: usize) -> Option<Plain> = number_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn accepts(bytes: &[u8]) -> bool = accepts_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn scalars(gaps: &[Gap], text: &[u8], at: usize, scalars: &mut [Scalar]) -> (usize, usize) = scalars_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn marks(text: &[u8], range: Range<usize>, marks: &mut Vec<u32>) = marks_over<V>;
    scalar, sse2, avx2, avx512 with "avx512vbmi2", neon
}
fathom_machine::compile! {
    fn stands(joints: &Joints, text: &[u8], range: Range<usize>, marks: &[u32]) -> bool = stands_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}
fathom_machine::compile! {
    fn blocks(state: &mut State, text: &[u8], from: usize) -> Option<usize> = read_blocks<V, _>;
    scalar, sse2, avx2, avx512, neon
}
fathom_machine::compile! {
    fn accepts_blocks(text: &[u8]) -> bool = accepts_short<V>;
    scalar, sse2, avx2, avx512, neon
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_finds_every_byte_at_every_position() {
        for level in Level::available() {
            let kernel = Kernel::of(level);
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
            let kernel = Kernel::of(level);
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
