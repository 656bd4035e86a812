//! UTF-8, 64 bytes at a time.

use super::Vector;

/// Whether the 64 bytes at `from` go on as UTF-8 after the four bytes `before`, the first of them
/// lowest, which the block before them ends in (or zeros, which end any character). A character
/// that the block's end cuts is no fault of this block.
///
/// # Safety
/// 64 bytes from `from` on are readable, and the level of `V` is available.
#[inline(always)]
pub unsafe fn is_utf8_64<V: Vector>(from: *const u8, before: u32) -> bool {
    // SAFETY: the caller vouches for the bytes and the level.
    unsafe {
        if !V::LOOKS_UP {
            return is_utf8_by_std(from, before);
        }
        let (mut before, mut faults) = (V::last_four(before), V::splat(0));
        for at in (0..64).step_by(V::BYTES) {
            let here = V::load(from.add(at));
            faults = faults.or(faults_of(here, before));
            before = here;
        }
        !faults.differs(V::splat(0), V::splat(0xff))
    }
}

/// Bytes of `here` that do not go on as UTF-8 after the ones before them.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
unsafe fn faults_of<V: Vector>(here: V, before: V) -> V {
    // SAFETY: the caller vouches for the level.
    unsafe {
        let [one, two, three] = here.earlier(before);
        let first = one.upper().lookup(&UTF8.first_high);
        let first = first.and(one.and(V::splat(0x0f)).lookup(&UTF8.first_low));
        let pair = first.and(here.upper().lookup(&UTF8.second_high));
        // The top bit where a lead of three stands two before, or a lead of four three before.
        let third = two.over(V::splat(0xe0 - 0x80));
        let fourth = three.over(V::splat(0xf0 - 0x80));
        pair.xor(third.or(fourth).and(V::splat(TWO_CONTINUATIONS)))
    }
}

/// [`is_utf8_64`] by the standard library, for levels without a table lookup.
///
/// # Safety
/// 64 bytes from `from` on are readable.
unsafe fn is_utf8_by_std(from: *const u8, before: u32) -> bool {
    let before = before.to_le_bytes();
    // The bytes of a character that the last block's end has cut: it had no other fault.
    let pending = match before {
        [.., 0xc0..=0xff] => 1,
        [_, _, 0xe0..=0xff, _] => 2,
        [_, 0xf0..=0xff, _, _] => 3,
        _ => 0,
    };
    let mut bytes = [0; 4 + 64];
    bytes[..4].copy_from_slice(&before);
    // SAFETY: the caller vouches for the bytes of the block.
    bytes[4..].copy_from_slice(unsafe { std::slice::from_raw_parts(from, 64) });
    match std::str::from_utf8(&bytes[4 - pending..]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

/// What can be wrong with two neighbouring bytes, by Keiser and Lemire ("Validating UTF-8 in less
/// than one instruction per byte", 2021): each fault is a product of three sets, of the first
/// byte's high half, of its low half and of the second byte's high half. A bit each; a pair has the
/// faults whose bits all three tables have. [`TWO_CONTINUATIONS`] is one only where no longer
/// character reaches.
struct Utf8Tables {
    first_high: [u8; 16],
    first_low: [u8; 16],
    second_high: [u8; 16],
}

/// The byte that white space with each low half would be, for tables that are looked up by it; where
/// there is none, one that equals no byte looked up.
#[cfg(target_arch = "x86_64")]
pub(super) const SPACES: [u8; 16] = {
    let mut spaces = [0x80; 16];
    spaces[0x0] = b' ';
    spaces[0x9] = b'\t';
    spaces[0xa] = b'\n';
    spaces[0xd] = b'\r';
    spaces
};

/// The pair's bit that the third and fourth bytes of a character must have.
const TWO_CONTINUATIONS: u8 = 0x80;

const UTF8: Utf8Tables = {
    /// The halves from `low` to `high`, as a set.
    const fn range(low: u32, high: u32) -> u16 {
        ((1_u32 << (high + 1)) - (1 << low)) as u16
    }
    const ANY: u16 = 0xffff;
    const CONTINUATION: u16 = range(0x8, 0xb);
    let faults: [(u16, u16, u16); 8] = [
        // A lead byte and no continuation.
        (range(0xc, 0xf), ANY, !CONTINUATION),
        // ASCII and a continuation.
        (range(0x0, 0x7), ANY, CONTINUATION),
        // Two bytes for what fits into one: C0, C1.
        (range(0xc, 0xc), range(0x0, 0x1), CONTINUATION),
        // Three for what fits into two: E0 80 to E0 9F.
        (range(0xe, 0xe), range(0x0, 0x0), range(0x8, 0x9)),
        // Halves of surrogate pairs: ED A0 to ED BF.
        (range(0xe, 0xe), range(0xd, 0xd), range(0xa, 0xb)),
        // Beyond U+10FFFF: F4 90 and above.
        (range(0xf, 0xf), range(0x4, 0xf), range(0x9, 0xb)),
        // Four for what fits into three, F0 80; and F5 80 and above, beyond U+10FFFF.
        (range(0xf, 0xf), range(0x0, 0x0) | range(0x5, 0xf), range(0x8, 0x8)),
        // TWO_CONTINUATIONS.
        (CONTINUATION, ANY, CONTINUATION),
    ];
    let mut tables = Utf8Tables { first_high: [0; 16], first_low: [0; 16], second_high: [0; 16] };
    let mut fault = 0;
    while fault < 8 {
        let (high, low, second) = faults[fault];
        let mut half = 0;
        while half < 16 {
            tables.first_high[half] |= ((high >> half & 1) as u8) << fault;
            tables.first_low[half] |= ((low >> half & 1) as u8) << fault;
            tables.second_high[half] |= ((second >> half & 1) as u8) << fault;
            half += 1;
        }
        fault += 1;
    }
    tables
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    type IsUtf8 = unsafe fn(*const u8, u32) -> bool;

    crate::compile! {
        fn compiled(from: *const u8, before: u32) -> bool = is_utf8_64<V>;
        scalar, sse2, avx2, avx512, neon
    }

    /// What `check` says of a text block by block, spaces after it.
    fn says(check: IsUtf8, text: &[u8]) -> bool {
        let mut padded = text.to_vec();
        padded.resize(text.len().next_multiple_of(64) + 64, b' ');
        let mut before = [0; 4];
        padded.chunks(64).all(|block| {
            // SAFETY: the block has 64 bytes; the level was found available.
            let right = unsafe { check(block.as_ptr(), u32::from_le_bytes(before)) };
            before.copy_from_slice(&block[64 - 4..]);
            right
        })
    }

    #[test]
    fn every_sequence_of_the_bytes_that_matter_at_every_place() {
        let bytes = [
            0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
            0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff,
        ];
        for level in Level::available() {
            let check = compiled(level).run;
            let mut place = 0;
            for a in bytes {
                for b in bytes {
                    for c in bytes {
                        for d in [b'x', 0x80, 0xbf, 0xc2, 0xf0] {
                            // No divisor of how many bytes are tried: each gets to each place.
                            place = (place + 1) % 67;
                            let mut text = vec![b'x'; 100];
                            text[place..place + 4].copy_from_slice(&[a, b, c, d]);
                            let expected = std::str::from_utf8(&text).is_ok();
                            let said = says(check, &text);
                            assert_eq!(said, expected, "{level} {:x?} at {place}", [a, b, c, d]);
                        }
                    }
                }
            }
        }
    }
}
