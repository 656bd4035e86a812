//! The bytes that say where scalars stand in documents of a pattern: quotes, and what strings do not have that are plain
//! ASCII.
//!
//! Where each of them stands is found first, 64 bytes at a time. Then the first quote of what stands between two scalars, by
//! its number, says where that has to stand: nothing is looked for, and no place depends on the one before.

use std::ops::Range;

use fathom_machine::simd::{SURPLUS, Vector};

use super::{Gap, Kind, Scalar};
use crate::number;

/// Marks written without a branch for each.
const FIRST: usize = 8;

/// Whether a byte is marked.
fn is_marked(byte: u8) -> bool {
    !(b' '..=0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

/// What stands between two scalars, with the quotes of both, and has a mark.
#[derive(Clone, Debug)]
struct Joint {
    gap: Gap,
    /// The first of its marks, counted from the document's first one, and how many bytes of it are before that.
    mark: usize,
    before: usize,
    behind: Behind,
}

/// What is behind a joint, up to the next one.
#[derive(Clone, Debug)]
enum Behind {
    /// The inside of a string.
    Text,
    /// Numbers and words, with these between them.
    Bare(Vec<Gap>),
}

/// A document without the inside of its strings and without its other scalars.
#[derive(Clone, Debug)]
pub(crate) struct Joints {
    joints: Vec<Joint>,
    /// Behind the last scalar. It may have no marks.
    last: Gap,
    /// How many marks there are.
    pub(crate) marks: usize,
    scalars: Vec<Place>,
}

/// Where a scalar is: between two joints, or between gaps that are.
#[derive(Clone, Copy, Debug)]
struct Place {
    joint: usize,
    /// A mark before it, and how many bytes behind that the joint ends.
    mark: usize,
    after: usize,
    /// A mark behind it, if there is one, and how many bytes before that or the document's end the next joint starts.
    next: usize,
    before: usize,
    /// Which of the bare scalars between the joints it is; none of a string.
    bare: Option<usize>,
}

impl Joints {
    /// None where no mark stands before the first scalar.
    pub(crate) fn of(document: &[u8], scalars: &[Range<usize>]) -> Option<Joints> {
        let (mut at, mut marks, mut joints) = (0, 0, Vec::<Joint>::new());
        let mut places: Vec<Place> = Vec::with_capacity(scalars.len());
        let mut end_before = |places: &mut [Place], bytes: &[u8]| {
            let (mark, before) = (marks, bytes.iter().position(|&byte| is_marked(byte)));
            marks += bytes.iter().filter(|&&byte| is_marked(byte)).count();
            for place in places.iter_mut().rev().take_while(|place| place.next == usize::MAX) {
                (place.next, place.before) = (mark, before.unwrap_or(bytes.len()));
            }
            (mark, before)
        };
        for scalar in scalars {
            let quote = usize::from(document[scalar.start] == b'"');
            let inside = scalar.start + quote..scalar.end - quote;
            let bytes = &document[std::mem::replace(&mut at, inside.end)..inside.start];
            let gap = Gap::new(bytes);
            if !bytes.iter().any(|&byte| is_marked(byte)) {
                // A number or a word behind another one.
                let before = *places.last()?;
                let Behind::Bare(gaps) = &mut joints[before.joint].behind else { return None };
                gaps.push(gap);
                places.push(Place { bare: Some(gaps.len()), ..before });
                continue;
            }
            let (mark, before) = end_before(&mut places, bytes);
            let (before, joint) = (before?, joints.len());
            let (behind, bare) = match quote {
                0 => (Behind::Bare(Vec::new()), Some(0)),
                _ => (Behind::Text, None),
            };
            joints.push(Joint { gap, mark, before, behind });
            let (after, next) = (bytes.len() - before, usize::MAX);
            places.push(Place { joint, mark, after, next, before: 0, bare });
        }
        let last = &document[at..];
        end_before(&mut places, last);
        Some(Joints { joints, last: Gap::new(last), marks, scalars: places })
    }

    /// A scalar of a document that ends at `end` and [stands](stands_over).
    #[inline]
    pub(crate) fn scalar(&self, text: &[u8], number: usize, marks: &[u32], end: usize) -> Scalar {
        let Place { joint, mark, after, next, before, bare: place } = self.scalars[number];
        let start = marks[mark] as usize + after;
        let end = marks.get(next).map_or(end, |&mark| mark as usize) - before;
        let Some(place) = place else {
            let kind = Kind::String { has_escapes: false };
            return Scalar { start: start - 1, end: end + 1, kind };
        };
        let Behind::Bare(gaps) = &self.joints[joint].behind else {
            unreachable!("a string is no bare scalar")
        };
        bare(text, start..end, (gaps, place))
    }
}

/// One of the bare scalars in a range, with these gaps between them.
#[inline]
fn bare(text: &[u8], mut range: Range<usize>, (gaps, place): (&[Gap], usize)) -> Scalar {
    for gap in &gaps[..place] {
        range.start = bare_end(text, range.start).expect("it stands") + gap.len();
    }
    if place < gaps.len() {
        range.end = bare_end(text, range.start).expect("it stands");
    }
    Scalar { start: range.start, end: range.end, kind: bare_kind(text[range.start]) }
}

/// What a scalar without quotes is that begins with a byte, if it is one.
pub(crate) fn bare_kind(first: u8) -> Kind {
    match first {
        b't' => Kind::True,
        b'f' => Kind::False,
        b'n' => Kind::Null,
        _ => Kind::Number,
    }
}

/// Where a number or a word ends that starts at a place.
pub(crate) fn bare_end(text: &[u8], start: usize) -> Option<usize> {
    let word = match bare_kind(*text.get(start)?) {
        Kind::True => &b"true"[..],
        Kind::False => b"false",
        Kind::Null => b"null",
        _ => return number::find_end(text, start).ok(),
    };
    text[start..].starts_with(word).then_some(start + word.len())
}

/// Appends to `marks` where the marked bytes of a range of a text stand.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn marks_over<V: Vector>(text: &[u8], range: Range<usize>, marks: &mut Vec<u32>) {
    assert!(text.len() <= u32::MAX as usize, "places are 32-bit");
    let (text, mut last) = (&text[..range.end], [b' '; 64]);
    for at in range.step_by(64) {
        let block = match text[at..].first_chunk() {
            Some(block) => block,
            None => {
                last[..text.len() - at].copy_from_slice(&text[at..]);
                &last
            }
        };
        marks.reserve(64 + SURPLUS);
        // SAFETY: a block is 64 bytes; there is room for as many and a surplus, of which those that are set are written; the
        // caller vouches for the level.
        unsafe {
            let all = V::load_64(block.as_ptr());
            let find = |byte: u8| {
                let byte = V::splat(byte);
                V::bits_64(fathom_machine::each_64!(V, all, v => v.is(byte)))
            };
            let (least, most) = (V::splat(b' '), V::splat(0x7f - b' '));
            let plain =
                V::bits_64(fathom_machine::each_64!(V, all, v => v.less(least).is_at_most(most)));
            let bits = find(b'"') | find(b'\\') | !plain;
            let len = marks.len();
            V::write_positions::<FIRST>(bits, at as u32, marks.as_mut_ptr().add(len));
            marks.set_len(len + bits.count_ones() as usize);
        }
    }
}

/// Bytes behind a document that are looked at.
const BEHIND: usize = 64;

/// Whether all of a range of a text, which has these marks, is a document of these joints. False where it says nothing: where
/// less than [`BEHIND`] bytes follow.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn stands_over<V: Vector>(
    Joints { joints, last, marks: count, .. }: &Joints,
    text: &[u8],
    range: Range<usize>,
    marks: &[u32],
) -> bool {
    if marks.len() != *count || text.len() - range.end < BEHIND {
        return false;
    }
    let [first, others @ ..] = &joints[..] else { return false };
    // SAFETY: the number of a mark is less than their count.
    let start = |joint: &Joint| unsafe {
        debug_assert!(joint.mark < *count);
        (*marks.get_unchecked(joint.mark) as usize).wrapping_sub(joint.before)
    };
    let (mut joint, mut at) = (first, start(first));
    // SAFETY: BEHIND bytes follow the range, in which all places are where a gap stands; the caller vouches for the level.
    unsafe {
        if at != range.start || !first.gap.stands(text, at, &range) {
            return false;
        }
        for next in others {
            let inside = at + joint.gap.len();
            at = start(next);
            if !next.gap.stands(text, at, &range)
                || !is_behind_over::<V>(joint, text, inside..at, &range)
            {
                return false;
            }
            joint = next;
        }
        let inside = at + joint.gap.len();
        at = range.end.wrapping_sub(last.len());
        last.stands(text, at, &range) && is_behind_over::<V>(joint, text, inside..at, &range)
    }
}

/// Whether what is behind a joint is all of what stands between two places of a document.
///
/// # Safety
/// The first of them is in the document, or where it ends, and [`BEHIND`] bytes of the text follow it; the level of `V` is
/// available.
#[inline(always)]
unsafe fn is_behind_over<V: Vector>(
    joint: &Joint,
    text: &[u8],
    Range { start: mut at, end }: Range<usize>,
    document: &Range<usize>,
) -> bool {
    let Behind::Bare(gaps) = &joint.behind else { return true };
    for gap in gaps {
        match bare_end(text, at).and_then(|end| gap.end(text, end)) {
            Some(behind) if behind <= document.end => at = behind,
            _ => return false,
        }
    }
    // SAFETY: the place is in the document or where it ends.
    unsafe { is_bare_over::<V>(text, at, end) }
}

/// Whether what stands between two places is all of a number or a word.
///
/// # Safety
/// [`BEHIND`] bytes of the text follow the first place; the level of `V` is available.
#[inline(always)]
unsafe fn is_bare_over<V: Vector>(text: &[u8], start: usize, end: usize) -> bool {
    let bytes = end.wrapping_sub(start);
    if bytes.wrapping_sub(1) < V::BYTES - 1 {
        // SAFETY: a register is no more than BEHIND bytes; the caller vouches for them and the level.
        let (others, first) = unsafe {
            let from = text.as_ptr().add(start);
            (V::bits(V::load(from).is_no_digit()) & ((1 << bytes) - 1), *from)
        };
        if others == 0 {
            return first != b'0' || bytes == 1;
        }
        // A point, with digits on both sides.
        let integer_bytes = others.trailing_zeros() as usize;
        let is_one = others & (others - 1) == 0 && others & 1 == 0 && others >> (bytes - 1) == 0;
        if is_one && text[start + integer_bytes] == b'.' {
            return first != b'0' || integer_bytes == 1;
        }
    }
    bare_end(text, start) == Some(end)
}
