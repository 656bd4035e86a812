//! SynLZ at speed. The departures from the definition:
//!
//! 1. Literals come in runs: the control word's trailing zeros count them, one or two wide copies
//!    move them, and their positions are entered afterwards; nobody looks into the table before the
//!    next match, so the order of entries is what counts, not their time.
//! 2. Copies are 16 bytes wide and may write beyond the item, never beyond the text: what ends close to
//!    its end is copied as it is. Matches less than 16 bytes back, where a wide copy would read what it has
//!    not written, go byte by byte.
//! 3. The table holds 32-bit positions plus one, so that zero means empty and clearing it is a fill.

use super::{LONGEST, SLOTS, SynLzError, TAIL, bound, check_end, length, push_length, slot};

/// Compresses; the same stream as the definition's.
///
/// # Errors
/// A text of 2 GiB and more.
pub fn compress(plain: &[u8]) -> Result<Vec<u8>, SynLzError> {
    let mut stream = Vec::with_capacity(bound(plain.len()) + 4);
    push_length(plain.len(), &mut stream)?;
    if plain.is_empty() {
        return Ok(stream);
    }
    // Position plus one, and the word there.
    let mut table = [(0_u32, 0_u32); SLOTS];
    let start = stream.len();
    stream.resize(start + bound(plain.len()), 0);
    let (mut at, mut to, mut control_at) = (0, start + 4, start);
    let (mut control, mut bit) = (0_u32, 1_u32);
    // SAFETY, for the blocks below: `at` + TAIL <= plain.len() keeps four bytes of plain readable;
    // `to` grows by at most 3 bytes per item and 4 per 32 items, an item covers at least one byte
    // of plain, and a match of 3 stream bytes covers at least 18, so `to` stays below bound().
    while at + TAIL <= plain.len() {
        // SAFETY: see above.
        let v = unsafe { plain.as_ptr().add(at).cast::<u32>().read_unaligned() }.to_le();
        let h = slot(v);
        let (old, remembered) = std::mem::replace(&mut table[h], (at as u32 + 1, v));
        let old = old as usize;
        // old is a position plus one: at - (old - 1) > 2.
        if (remembered ^ v) & 0xff_ffff == 0 && old != 0 && at + 1 - old > 2 {
            let most = LONGEST.min(plain.len() - at - 1);
            let count = matching(plain, old - 1, at, most);
            control |= bit;
            let short = if count <= 17 { count - 2 } else { 0 };
            let code = ((h << 4 | short) as u16).to_le_bytes();
            stream[to..to + 2].copy_from_slice(&code);
            to += 2;
            if short == 0 {
                stream[to] = (count - 18) as u8;
                to += 1;
            }
            at += count;
        } else {
            stream[to] = v as u8;
            to += 1;
            at += 1;
        }
        bit <<= 1;
        if bit == 0 {
            stream[control_at..control_at + 4].copy_from_slice(&control.to_le_bytes());
            (control_at, control, bit) = (to, 0, 1);
            to += 4;
        }
    }
    for &byte in &plain[at..] {
        stream[to] = byte;
        to += 1;
        bit <<= 1;
        if bit == 0 {
            stream[control_at..control_at + 4].copy_from_slice(&control.to_le_bytes());
            (control_at, control, bit) = (to, 0, 1);
            to += 4;
        }
    }
    stream[control_at..control_at + 4].copy_from_slice(&control.to_le_bytes());
    stream.truncate(to);
    Ok(stream)
}

/// How many bytes agree at `old` and `at`, from 3 to `most`.
#[inline]
fn matching(plain: &[u8], old: usize, at: usize, most: usize) -> usize {
    let mut count = 3;
    while count + 8 <= most {
        // SAFETY: at + most < plain.len() and old < at, so both words lie within the text.
        let (a, b) = unsafe {
            let word =
                |from: usize| plain.as_ptr().add(from + count).cast::<u64>().read_unaligned();
            (word(old), word(at))
        };
        let differ = (a ^ b).to_le();
        if differ != 0 {
            return count + differ.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    while count < most && plain[old + count] == plain[at + count] {
        count += 1;
    }
    count
}

/// Decompresses over an earlier text; the same answer as the definition's, errors included.
///
/// # Errors
/// Whatever makes no sense in the stream, with the offset; what `plain` holds then is no text.
///
/// # Panics
/// When `plain` is not as long as the stream announces.
pub fn decompress(stream: &[u8], plain: &mut [u8]) -> Result<(), SynLzError> {
    let (length, mut at) = length(stream)?;
    let truncated = Err(SynLzError::Truncated(stream.len()));
    assert_eq!(plain.len(), length, "the place of the text");
    let mut table = [0_u32; SLOTS];
    let (mut done, mut pending) = (0, 0);
    let (mut control, mut left) = (0_u64, 0_u32);
    while done < length {
        if left == 0 {
            let Some(word) = stream.get(at..).and_then(|rest| rest.first_chunk()) else {
                return truncated;
            };
            (control, left) = (u32::from_le_bytes(*word).into(), 32);
            at += 4;
        }
        // A run of literals, possibly empty.
        let run = (control.trailing_zeros().min(left) as usize).min(length - done);
        if run > 0 {
            if at + run > stream.len() {
                return truncated;
            }
            if at + 32 <= stream.len() && done + 32 <= length {
                // SAFETY: 32 bytes of the stream are readable and 32 from `done` writable, as just checked. A
                // run is at most 32 long.
                unsafe {
                    let (from, to) = (stream.as_ptr().add(at), plain.as_mut_ptr().add(done));
                    copy_16(from, to);
                    if run > 16 {
                        copy_16(from.add(16), to.add(16));
                    }
                }
            } else {
                plain[done..done + run].copy_from_slice(&stream[at..at + run]);
            }
            at += run;
            done += run;
            control >>= run;
            left -= run as u32;
            // At the end nobody looks into the table any more.
            if done == length {
                break;
            }
            while pending + 3 <= done {
                enter(&mut table, plain, pending);
                pending += 1;
            }
        }
        if left == 0 {
            continue;
        }
        // A match.
        let Some(code) = stream.get(at..).and_then(|rest| rest.first_chunk()) else {
            return truncated;
        };
        let (code, start) = (u16::from_le_bytes(*code), at);
        at += 2;
        let mut count = usize::from(code & 15) + 2;
        if count == 2 {
            let Some(&byte) = stream.get(at) else { return truncated };
            count = usize::from(byte) + 18;
            at += 1;
        }
        let old = table[usize::from(code >> 4)] as usize;
        if old == 0 {
            return Err(SynLzError::EmptySlot(start));
        }
        if done + count > length {
            return Err(SynLzError::TooFar(start));
        }
        copy_match(plain, old - 1, done, count);
        control >>= 1;
        left -= 1;
        if done + count == length {
            break;
        }
        while pending <= done {
            enter(&mut table, plain, pending);
            pending += 1;
        }
        done += count;
        pending = done;
    }
    check_end(stream, at, left == 0)
}

/// Enters a position whose three bytes are complete.
#[inline(always)]
fn enter(table: &mut [u32; SLOTS], plain: &[u8], at: usize) {
    debug_assert!(at + 4 <= plain.len());
    // SAFETY: as long as positions are entered the text goes on, after these three bytes.
    let word = unsafe { plain.as_ptr().add(at).cast::<u32>().read_unaligned() }.to_le();
    table[slot(word)] = at as u32 + 1;
}

/// Copies `count` bytes from `old` to `done`, as if one by one.
#[inline(always)]
fn copy_match(plain: &mut [u8], old: usize, done: usize, count: usize) {
    assert!(old < done && done + count <= plain.len());
    if done - old >= 16 && done + count + 15 <= plain.len() {
        let mut copied = 0;
        // SAFETY: the last wide copy ends at most 15 bytes after done + count, within the text; its
        // source lies 16 bytes before its target at least.
        unsafe {
            let (from, to) = (plain.as_ptr().add(old), plain.as_mut_ptr().add(done));
            while copied < count {
                copy_16(from.add(copied), to.add(copied));
                copied += 16;
            }
        }
    } else {
        for i in 0..count {
            plain[done + i] = plain[old + i];
        }
    }
}

/// # Safety
/// 16 bytes are readable at `from` and writable at `to`; they do not overlap.
#[inline(always)]
unsafe fn copy_16(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's.
    unsafe { to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()) }
}
