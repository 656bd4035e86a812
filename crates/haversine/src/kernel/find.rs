//! Where the numbers of elements alike are: cursors that take turns, over one level's look at a number.
//!
//! Finds places only; whether there is a number, [`convert`](super::convert) says.
//!
//! Finding and converting are two loops. Finding is a chain, each number's start being the last one's
//! end; several cursors take turns, number by number, so that their chains overlap. Converting has no
//! chain. In one loop they would compete for the same scheduler, and did.

use fathom_machine::simd::Vector;

use super::Extent;
use crate::alike::{CURSORS, Cursor};
use crate::block::{Block, MARGIN_BYTES};
use crate::template::{SEPARATOR_BYTES, Separator, Template};

/// How far behind a pair's first number a step may look: each number's end is found within 32
/// bytes, separators have at most 32, and the last load begins at most at the last end.
const REACH_BYTES: usize = 4 * (32 + SEPARATOR_BYTES) + 32;
const _: () = assert!(REACH_BYTES <= MARGIN_BYTES);

/// A bit for each of 32 bytes that is no digit.
///
/// # Safety
/// 32 bytes from `from` on are readable, and the level of `V` is available.
#[inline(always)]
unsafe fn others<V: Vector>(from: *const u8) -> u32 {
    // SAFETY: the caller vouches for the bytes and the level.
    let part = |at: usize| unsafe { V::bits(V::load(from.add(at)).is_no_digit()) } << at;
    (0..32).step_by(V::BYTES).fold(0, |all, at| all | part(at)) as u32
}

/// Whether a separator stands here: register by register, as far as it reaches.
///
/// # Safety
/// As for [`others`].
#[inline(always)]
unsafe fn is_at<V: Vector>(separator: &Separator, from: *const u8) -> bool {
    let (expected, mask) = (separator.bytes.as_ptr(), separator.mask.as_ptr());
    // SAFETY: a separator has 32 bytes and as many of mask; the caller vouches for the rest.
    let differs = |at: usize| unsafe {
        V::load(from.add(at)).differs(V::load(expected.add(at)), V::load(mask.add(at)))
    };
    (0..32).step_by(V::BYTES).all(|at| at != 0 && separator.len <= at || !differs(at))
}

/// Finds the parts of the number at `text[at]` by its non-digits and writes them to `out`; where
/// the number after it begins, if `separator` follows. `None` where it does not.
///
/// # Safety
/// 96 bytes from `text[at]` on are readable, `out` is writable, and the level is available.
#[inline(always)]
unsafe fn number<V: Vector>(
    text: *const u8,
    at: usize,
    separator: &Separator,
    out: *mut Extent,
) -> Option<usize> {
    // SAFETY: reads 32 bytes at `at` and 32 behind a number of at most 32, of the 96 there are; the
    // caller vouches for the rest.
    unsafe {
        let from = text.add(at);
        // A first byte that is neither a digit nor a minus sign stays set, becomes the point, and
        // makes conversion refuse the number.
        let inside = others::<V>(from) ^ u32::from(from.read() == b'-');
        let point = inside.trailing_zeros();
        let len = (inside & inside.wrapping_sub(1)).trailing_zeros();
        if !is_at::<V>(separator, from.add(len as usize)) {
            return None;
        }
        *out = Extent::new(at, point, len);
        Some(at + len as usize + separator.len)
    }
}

/// See [`super::find_numbers`].
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn find_numbers_over<V: Vector>(
    block: &Block,
    template: &Template,
    cursors: &mut [Cursor; CURSORS],
) {
    let data = block.bytes().len();
    assert!(u32::try_from(data).is_ok(), "offsets have 32 bits");
    cursors.iter_mut().for_each(|cursor| cursor.end = cursor.end.min(data));
    let text = block.with_margins()[MARGIN_BYTES..].as_ptr();
    let separators = template.separators();
    // SAFETY: `text` has `data` bytes before its margin, which no cursor's end exceeds; the caller
    // vouches for the level.
    unsafe {
        if !find::<V, CURSORS>(text, separators, cursors.each_mut()) {
            for cursor in cursors {
                find::<V, 1>(text, separators, [cursor]);
            }
        }
    }
}

/// Moves `N` cursors over as many elements each, until one is at its end or full, or meets an
/// element not taken here; true in the last case.
///
/// # Safety
/// From `text` on, bytes up to the cursors' ends and REACH_BYTES more are readable; the level is
/// available.
#[inline(always)]
unsafe fn find<V: Vector, const N: usize>(
    text: *const u8,
    separators: &[Separator; 4],
    cursors: [&mut Cursor; N],
) -> bool {
    let mut at = cursors.each_ref().map(|cursor| cursor.at);
    let ends = cursors.each_ref().map(|cursor| cursor.end);
    let room = cursors.iter().map(|c| c.found.capacity() - c.found.len()).min().unwrap_or(0);
    let mut outs: [*mut Extent; N] = std::array::from_fn(|k| {
        let found = &cursors[k].found;
        // SAFETY: within the vector's capacity.
        unsafe { found.as_ptr().add(found.len()).cast::<Extent>().cast_mut() }
    });
    let (mut done, mut is_stopped) = (0, false);
    'elements: while done < room && (0..N).all(|k| at[k] < ends[k]) {
        let mut next = at;
        for (i, separator) in separators.iter().enumerate() {
            for k in 0..N {
                // SAFETY: the element begins before the cursor's end, and this number not more
                // than i times 64 bytes later; there is room for one more element. The caller
                // vouches for the text and the level.
                let found = unsafe { number::<V>(text, next[k], separator, outs[k].add(i)) };
                let Some(following) = found else {
                    is_stopped = true;
                    break 'elements;
                };
                next[k] = following;
            }
        }
        at = next;
        done += 1;
        // SAFETY: one past the element just written, at most the end of the capacity.
        outs = outs.map(|out| unsafe { out.add(4) });
    }
    for (cursor, at) in cursors.into_iter().zip(at) {
        cursor.at = at;
        // SAFETY: so many elements were written behind the length, within the capacity.
        unsafe { cursor.found.set_len(cursor.found.len() + done) };
    }
    is_stopped
}
