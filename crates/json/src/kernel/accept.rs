//! A yes to valid documents in one pass over a text in memory, token by token: for levels that have no
//! vectors and for texts of a few blocks, where the grammar by bits does not pay.
//!
//! Says nothing but yes or no: what is wrong where, the lexer says, which is asked after a no.
//! Chunks, events and numbers' values are the lexer's business too.
//!
//! In plain words: a loop that expects a value; after a value, a loop that closes containers until a
//! comma leads to the next value. What makes it fast is what it leaves out: no state but the place
//! in the code, no event, no offset. Outside strings the grammar admits ASCII only; a string with
//! other bytes is checked for UTF-8 as a whole. A number's digits are found in one register, whose
//! length few numbers exceed, and a short string's end in one integer.

use fathom_machine::simd::{Scalar, Vector};

use super::{is_space, number_over, space_over, special_over};
use crate::lexer::Limits;
use crate::number::find_end;

const DEPTH: usize = Limits::DEFAULT.depth;
const TOKEN_BYTES: usize = Limits::DEFAULT.token_bytes;

/// Texts shorter than this are copied, unless they are shorter than that.
const SHORT_BYTES: usize = 96;
const TINY_BYTES: usize = 32;

/// The open containers, a bit each, set for an object.
struct Nest {
    bits: [u64; DEPTH / 64],
    depth: usize,
    is_object: bool,
}

impl Nest {
    #[inline(always)]
    fn open(&mut self, is_object: bool) -> Option<()> {
        if self.depth == DEPTH {
            return None;
        }
        let (word, bit) = (self.depth / 64 % (DEPTH / 64), self.depth % 64);
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(is_object) << bit;
        self.depth += 1;
        self.is_object = is_object;
        Some(())
    }

    #[inline(always)]
    fn close(&mut self) {
        self.depth -= 1;
        let top = self.depth.wrapping_sub(1);
        self.is_object = self.bits[top / 64 % (DEPTH / 64)] >> (top % 64) & 1 == 1;
    }
}

/// See [`super::Judge::accepts`].
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn accepts_over<V: Vector>(text: &[u8]) -> bool {
    // SAFETY: the caller vouches for the level; the scalar one is always available.
    unsafe {
        match text.len() {
            0..TINY_BYTES => document::<Scalar>(text, text.len()),
            TINY_BYTES..SHORT_BYTES => document::<V>(&padded(text), text.len()),
            _ => document::<V>(text, text.len()),
        }
    }
    .is_some()
}

/// A copy with zeros behind it, which the grammar admits nowhere: registers may be loaded up to the
/// text's end, where otherwise every token would be walked over byte by byte.
#[inline(always)]
fn padded(text: &[u8]) -> [u8; SHORT_BYTES + 32] {
    let mut padded = [0; SHORT_BYTES + 32];
    padded[..text.len()].copy_from_slice(text);
    padded
}

/// Whether the first `end` bytes of `text` are a document; behind them there is nothing or a zero.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn document<V: Vector>(text: &[u8], end: usize) -> Option<()> {
    let mut nest = Nest { bits: [0; DEPTH / 64], depth: 0, is_object: false };
    // SAFETY: all four need the level only, which the caller vouches for.
    let (space, string, key, number) = unsafe {
        (
            |at| space::<V>(text, at),
            |at| string::<V>(text, at),
            |at| key::<V>(text, at),
            |at| number::<V>(text, at),
        )
    };
    let mut at = space(0);
    loop {
        at = match *text.get(at)? {
            b'"' => string(at + 1)?,
            b'-' | b'0'..=b'9' => number(at)?,
            b'{' => {
                nest.open(true)?;
                at = space(at + 1);
                if text.get(at) != Some(&b'}') {
                    at = key(at)?;
                    continue;
                }
                nest.close();
                at + 1
            }
            b'[' => {
                nest.open(false)?;
                at = space(at + 1);
                if text.get(at) != Some(&b']') {
                    continue;
                }
                nest.close();
                at + 1
            }
            b't' => word(text, at, b"true")?,
            b'f' => word(text, at, b"false")?,
            b'n' => word(text, at, b"null")?,
            _ => return None,
        };
        loop {
            at = space(at);
            if nest.depth == 0 {
                return (at == end).then_some(());
            }
            match (*text.get(at)?, nest.is_object) {
                (b',', true) => {
                    at = key(space(at + 1))?;
                    break;
                }
                (b',', false) => {
                    at = space(at + 1);
                    break;
                }
                (b'}', true) | (b']', false) => nest.close(),
                _ => return None,
            }
            at += 1;
        }
    }
}

fn word(text: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    text[at..].starts_with(word).then_some(at + word.len())
}

/// From a key's opening quote to the beginning of its value.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn key<V: Vector>(text: &[u8], at: usize) -> Option<usize> {
    if *text.get(at)? != b'"' {
        return None;
    }
    // SAFETY: the caller vouches for the level.
    unsafe {
        let colon = space::<V>(text, string::<V>(text, at + 1)?);
        (*text.get(colon)? == b':').then(|| space::<V>(text, colon + 1))
    }
}

/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn space<V: Vector>(text: &[u8], at: usize) -> usize {
    // Bytes above a blank are none; one blank is the usual amount, more are an indentation.
    if text.get(at).is_none_or(|&byte| byte > b' ') {
        return at;
    }
    if is_space(text[at]) && text.get(at + 1).is_none_or(|&byte| byte > b' ') {
        return at + 1;
    }
    // SAFETY: the caller vouches for the level.
    unsafe { space_over::<V>(text, at) }
}

/// Behind the closing quote of the string whose inside begins at `from`.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn string<V: Vector>(text: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut is_ascii) = (from, true);
    loop {
        // SAFETY: the caller vouches for the level.
        let (stop, ascii_here) = unsafe { special_over::<V>(text, at) };
        is_ascii &= ascii_here;
        match *text.get(stop)? {
            b'"' => {
                let is_text = is_ascii || std::str::from_utf8(&text[from..stop]).is_ok();
                return (is_text && stop - from <= TOKEN_BYTES).then_some(stop + 1);
            }
            b'\\' => at = escape(text, stop + 1)?,
            _ => return None,
        }
    }
}

/// Behind the escape whose backslash stands before `at`.
fn escape(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = text.get(at + 1..at + 5)?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
        }
        _ => None,
    }
}

/// Behind the number that begins at `at`, a minus sign or digit.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn number<V: Vector>(text: &[u8], at: usize) -> Option<usize> {
    // SAFETY: the caller vouches for the level.
    match unsafe { number_over::<V>(text, at) } {
        Some(plain) => Some(at + usize::from(plain.bytes.get())),
        None => long_number(text, at),
    }
}

/// The same a few bytes at a time, for any number.
#[cold]
fn long_number(text: &[u8], at: usize) -> Option<usize> {
    let end = find_end(text, at).ok()?;
    (end - at <= TOKEN_BYTES).then_some(end)
}
