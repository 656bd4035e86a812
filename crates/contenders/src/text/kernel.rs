//! Masks over 64 bytes at a time: where a zero is, where lines end, and how many members a JSON array or
//! object has.
//!
//! Counting, in pseudo-code:
//!
//! ```text
//! for each 64 bytes:
//!     quote, backslash, open, close, comma, other = one bit per byte that is such a character
//!     quote &= not escaped; inside = parity of the quotes up to each bit
//!     open, close, comma &= not inside
//!     for each bracket in order: commas since the last one count if the depth is 1
//! ```
//!
//! Nothing is validated: for a text that is no JSON the count means nothing, but it never reads beyond
//! the text and never fails. Brackets come rarely, so the inner loop runs a few times per 64 bytes.

use fathom_machine::level::Level;
use fathom_machine::simd::{Vector, positions_64};

/// Where the first zero byte is.
pub(super) fn zero(level: Level, text: &[u8]) -> Option<usize> {
    // SAFETY: a form's level is available.
    unsafe { (zero_form(level).run)(text) }
}

/// Appends where the lines end: the first stage of the aggregator's kernel, here on its own.
pub(super) fn line_ends(level: Level, text: &[u8], ends: &mut Vec<u32>) {
    // SAFETY: a form's level is available.
    unsafe { (line_ends_form(level).run)(text, ends) }
}

/// The members of the array or object that `text` starts with; 0 unless it opens with `open`.
pub(crate) fn count(level: Level, text: &[u8], open: u8) -> u64 {
    count_so_far(level, text, open).try_into().unwrap_or(0)
}

/// The same; of a text that ends before they do, those ended by a comma, as a negative number.
pub(super) fn count_so_far(level: Level, text: &[u8], open: u8) -> i64 {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if text.get(start) != Some(&open) {
        return 0;
    }
    // SAFETY: a form's level is available.
    unsafe { (members_form(level).run)(&text[start..]) }
}

/// The level these loops run at, if `level` is asked for.
pub(crate) fn level_of(level: Level) -> Level {
    zero_form(level).level
}

fathom_machine::compile! {
    fn zero_form(text: &[u8]) -> Option<usize> = find_zero<V>;
    scalar, sse2, avx2, avx512, neon
}
fathom_machine::compile! {
    fn line_ends_form(text: &[u8], ends: &mut Vec<u32>) = list_ends<V>;
    scalar, sse2, avx2, avx512, neon
}
fathom_machine::compile! {
    fn members_form(text: &[u8]) -> i64 = members<V>;
    scalar, sse2, avx2, avx512, neon
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn find_zero<V: Vector>(text: &[u8]) -> Option<usize> {
    let (blocks, rest) = text.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        // SAFETY: a block has 64 bytes; the caller vouches for the level.
        let zeros = unsafe { positions_64::<V>(block.as_ptr(), 0) };
        if zeros != 0 {
            return Some(64 * number + zeros.trailing_zeros() as usize);
        }
    }
    let tail = rest.iter().position(|&byte| byte == 0)?;
    Some(text.len() - rest.len() + tail)
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn list_ends<V: Vector>(text: &[u8], ends: &mut Vec<u32>) {
    let (blocks, rest) = text.as_chunks::<64>();
    for (number, block) in blocks.iter().enumerate() {
        // SAFETY: a block has 64 bytes; the caller vouches for the level.
        let mut mask = unsafe { positions_64::<V>(block.as_ptr(), b'\n') };
        let (at, found) = (64 * number as u32, mask.count_ones() as usize);
        ends.reserve(64);
        let into = ends.spare_capacity_mut();
        // Six whether they exist or not: lines are rarely shorter than ten bytes, so that the branch
        // of the second loop is rarely taken.
        for place in &mut into[..6] {
            place.write(at.wrapping_add(mask.trailing_zeros()));
            mask &= mask.wrapping_sub(1);
        }
        for place in &mut into[6..found.max(6)] {
            place.write(at + mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        // SAFETY: as many as were found have just been written.
        unsafe { ends.set_len(ends.len() + found) };
    }
    let start = text.len() - rest.len();
    ends.extend((start..text.len()).filter(|&at| text[at] == b'\n').map(|at| at as u32));
}

/// What carries over from block to block.
#[derive(Default)]
struct State {
    /// All ones inside a string.
    inside: u64,
    /// 1 when the first byte of the next block is escaped.
    escaped: u64,
    depth: i64,
    commas: i64,
    is_filled: bool,
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn members<V: Vector>(text: &[u8]) -> i64 {
    let mut state = State::default();
    let (blocks, rest) = text.as_chunks::<64>();
    for block in blocks {
        // SAFETY: the caller vouches for the level.
        if let Some(count) = unsafe { taken::<V>(&mut state, block) } {
            return count;
        }
    }
    let mut last = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    // SAFETY: the caller vouches for the level.
    unsafe { taken::<V>(&mut state, &last) }.unwrap_or(-state.commas)
}

/// Takes a block; the count once the outermost bracket is closed.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn taken<V: Vector>(state: &mut State, block: &[u8; 64]) -> Option<i64> {
    // SAFETY: a block has 64 bytes; the caller vouches for the level.
    let at = |byte| unsafe { positions_64::<V>(block.as_ptr(), byte) };
    let backslashes = at(b'\\');
    let escaped = escaped(backslashes, &mut state.escaped);
    let quotes = at(b'"') & !escaped;
    // SAFETY: the caller vouches for the level.
    let inside = unsafe { V::parities(quotes) } ^ state.inside;
    state.inside = ((inside.cast_signed()) >> 63).cast_unsigned();
    // The closing quote itself counts as outside; the opening one as inside. Neither is a bracket.
    let open = (at(b'{') | at(b'[')) & !inside;
    let close = (at(b'}') | at(b']')) & !inside;
    let commas = at(b',') & !inside;
    if !state.is_filled {
        // Anything but white space and the closing bracket, inside the outermost one.
        let blank = at(b' ') | at(b'\t') | at(b'\r') | at(b'\n');
        let opening = u64::from(state.depth == 0);
        let until = if close == 0 { u64::MAX } else { (close & close.wrapping_neg()) - 1 };
        state.is_filled = !blank & until & !opening != 0;
    }
    let mut brackets = open | close;
    let mut seen = 0_u64;
    while brackets != 0 {
        let bit = brackets & brackets.wrapping_neg();
        if state.depth == 1 {
            state.commas += i64::from((commas & (bit - 1) & !seen).count_ones());
        }
        seen = bit | (bit - 1);
        if open & bit != 0 {
            state.depth += 1;
        } else {
            state.depth -= 1;
            if state.depth == 0 {
                return Some(if state.is_filled { state.commas + 1 } else { 0 });
            }
        }
        brackets ^= bit;
    }
    if state.depth == 1 {
        state.commas += i64::from((commas & !seen).count_ones());
    }
    None
}

/// Which bytes follow an odd run of backslashes; `carry` says that the first one does. Backslashes
/// come rarely, so each run's start is walked.
#[inline(always)]
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    let mut escaped = *carry;
    *carry = 0;
    let mut left = backslashes & !escaped;
    while left != 0 {
        let bit = left & left.wrapping_neg();
        if bit >> 63 == 1 {
            *carry = 1;
        }
        escaped |= bit << 1;
        left &= !(bit | bit << 1);
    }
    escaped
}

/// The C library's `strlen`.
///
/// # Panics
/// When there is no zero byte.
pub(super) fn c_length(text: &[u8]) -> usize {
    assert_eq!(text.last(), Some(&0), "no zero byte at the end");
    // SAFETY: a zero byte ends the slice at the latest; `from_ptr` calls the C library's strlen.
    unsafe { std::ffi::CStr::from_ptr(text.as_ptr().cast()) }.count_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reference;
    use super::*;

    fn check(text: &[u8]) {
        for level in Level::available() {
            let expected = text.iter().position(|&byte| byte == 0);
            assert_eq!(zero(level, text), expected, "{level}");
            for open in [b'[', b'{'] {
                for text in [text, &text[..text.len() / 2]] {
                    let expected = reference::count_so_far(text, 1, open);
                    let shown = String::from_utf8_lossy(text);
                    assert_eq!(count_so_far(level, text, open), expected, "{level} {shown}");
                }
            }
        }
    }

    #[test]
    fn counts_agree_at_every_place_of_a_block() {
        for text in ["[]", "[ ]", "[1]", "[[],{},3]", "[\",]\\\"\",\"\\\\\",[1,[2,3]]]"] {
            for spaces in 0..140 {
                let inner = format!("[{}{}", " ".repeat(spaces), &text[1..]);
                check(inner.as_bytes());
                check(format!("[\"{}\\\\\",{text}]", "x".repeat(spaces)).as_bytes());
                check(format!("{{\"{}\\\"\":{text}}}", "x".repeat(spaces)).as_bytes());
            }
        }
    }

    #[test]
    fn line_ends_agree_at_every_place_of_a_block() {
        let mut texts: Vec<Vec<u8>> = (0..200).map(|length| vec![b'\n'; length]).collect();
        texts.extend(
            (1..80).map(|apart| {
                (0..333).map(|at| if at % apart == 0 { b'\n' } else { b'x' }).collect()
            }),
        );
        for text in texts {
            let expected: Vec<u32> =
                (0..text.len()).filter(|&at| text[at] == b'\n').map(|at| at as u32).collect();
            for level in Level::available() {
                let mut ends = Vec::new();
                line_ends(level, &text, &mut ends);
                assert_eq!(ends, expected, "{level} {text:?}");
            }
        }
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("1".to_owned()),
            Just("null".to_owned()),
            "[a-z,{}\\[\\] ]{0,40}".prop_map(|text| format!("\"{text}\"")),
            "(\\\\\\\\|\\\\\"|x){0,70}".prop_map(|text| format!("\"{text}\"")),
        ];
        leaf.prop_recursive(4, 60, 8, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8)
                    .prop_map(|items| format!("[{}]", items.join(", "))),
                proptest::collection::vec(inner, 0..8).prop_map(|items| {
                    let members: Vec<String> =
                        items.iter().map(|item| format!("\"k\" : {item}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]

        #[test]
        fn counts_agree_on_any_json(text in value()) {
            check(text.as_bytes());
        }
    }
}
