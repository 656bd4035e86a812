//! Values from -99.9 to 99.9 with one decimal, in tenths: with branches and without.
//!
//! Both say of any other text that it is bad, and both read no more than eight bytes.

/// How a value becomes a number.
pub(super) trait Number {
    /// The value that starts at `at` and ends with a newline.
    ///
    /// # Safety
    /// Eight bytes from `at` on are readable.
    unsafe fn forward(at: *const u8) -> Found;

    /// The value that ends before the newline at `end`, and its delimiter.
    ///
    /// # Safety
    /// Eight bytes before `end` are readable.
    unsafe fn backward(end: *const u8) -> Found;
}

/// A value, the bytes it takes with the newline after or the delimiter before it, and whether there
/// is something else than a value (then the rest means nothing, but `bytes` is 2 to 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) tenths: i32,
    pub(super) bytes: usize,
    pub(super) bad: bool,
}

/// A branch on the sign and one on the number of digits.
pub(super) struct Branches;

/// Shifts, masks and one multiplication.
pub(super) struct Branchless;

fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

fn found(magnitude: u32, negative: bool, bytes: usize, good: bool) -> Found {
    let magnitude = magnitude as i32;
    Found { tenths: if negative { -magnitude } else { magnitude }, bytes, bad: !good }
}

impl Number for Branches {
    #[inline(always)]
    unsafe fn forward(at: *const u8) -> Found {
        // SAFETY: six of the eight readable bytes.
        let byte = |i: usize| unsafe { *at.add(i) };
        let negative = byte(0) == b'-';
        let sign = usize::from(negative);
        let first = digit(byte(sign));
        if byte(sign + 1) == b'.' {
            let last = digit(byte(sign + 2));
            let good = (first < 10) & (last < 10) & (byte(sign + 3) == b'\n');
            found(first.wrapping_mul(10).wrapping_add(last), negative, sign + 4, good)
        } else {
            let (second, last) = (digit(byte(sign + 1)), digit(byte(sign + 3)));
            let dotted = (byte(sign + 2) == b'.') & (byte(sign + 4) == b'\n');
            let good = (first < 10) & (second < 10) & (last < 10) & dotted;
            let magnitude = first.wrapping_mul(100).wrapping_add(second.wrapping_mul(10));
            found(magnitude.wrapping_add(last), negative, sign + 5, good)
        }
    }

    #[inline(always)]
    unsafe fn backward(end: *const u8) -> Found {
        // SAFETY: six of the eight readable bytes.
        let byte = |back: usize| unsafe { *end.sub(back) };
        let (ones, last) = (digit(byte(3)), digit(byte(1)));
        let good = (ones < 10) & (last < 10) & (byte(2) == b'.');
        let magnitude = ones.wrapping_mul(10).wrapping_add(last);
        match byte(4) {
            b';' => found(magnitude, false, 4, good),
            b'-' => found(magnitude, true, 5, good & (byte(5) == b';')),
            tens => {
                let tens = digit(tens);
                let negative = byte(5) == b'-';
                let delimiter = byte(5 + usize::from(negative));
                let good = good & (tens < 10) & (delimiter == b';');
                let magnitude = tens.wrapping_mul(100).wrapping_add(magnitude);
                found(magnitude, negative, 5 + usize::from(negative), good)
            }
        }
    }
}

/// `d d . d` in the low four bytes of `word`, the first perhaps zero, as tenths; anything else, or
/// another fifth byte than `fifth`, is bad.
///
/// The digits stand in bytes 0, 1 and 3. Multiplied by 1 + 10 * 2^16 + 100 * 2^24, their weighted sum
/// gathers from bit 24 on: digit 3 * 2^24, digit 1 * 2^8 * 10 * 2^16, digit 0 * 100 * 2^24.
#[inline(always)]
fn four(word: u64, fifth: u8) -> (u32, bool) {
    const DIGITS: u64 = 0x0f00_0f0f;
    let magnitude = (((word & DIGITS) * (1 + (10 << 16) + (100 << 24))) >> 24) & 1023;
    // What is left of a digit after its zero is taken off is at most nine, what is left of the dot
    // and the fifth byte is nothing; nine and six more do not reach the next nibble.
    let rest = word ^ (0x302e_3030 | (u64::from(fifth) << 32));
    let bad = (rest | (rest & 0xff_ff_ff_ff_ff).wrapping_add(0x0600_0606)) & 0xff_f0_ff_f0_f0;
    (magnitude as u32, bad == 0)
}

impl Number for Branchless {
    #[inline(always)]
    unsafe fn forward(at: *const u8) -> Found {
        // SAFETY: eight bytes from `at` on are readable.
        let word = u64::from_le(unsafe { at.cast::<u64>().read_unaligned() });
        let negative = u64::from(word as u8 == b'-');
        let word = word >> (negative * 8);
        // A dot is the only one of digits and dots without this bit.
        let short = !(word >> 12) & 1;
        let word = (word << (short * 8)) | (short * u64::from(b'0'));
        let (magnitude, good) = four(word, b'\n');
        let sign = negative as i32;
        let tenths = (magnitude as i32 ^ -sign) + sign;
        Found { tenths, bytes: (5 + negative - short) as usize, bad: !good }
    }

    #[inline(always)]
    unsafe fn backward(end: *const u8) -> Found {
        // SAFETY: eight bytes before `end` are readable.
        let word = u64::from_le(unsafe { end.sub(8).cast::<u64>().read_unaligned() });
        let byte = |back: u32| (word >> (64 - 8 * back)) as u8;
        let (delimiter_4, minus_4) = (byte(4) == b';', byte(4) == b'-');
        let minus_5 = (byte(5) == b'-') & !delimiter_4 & !minus_4;
        let short = u64::from(delimiter_4 | minus_4);
        let negative = u64::from(minus_4 | minus_5);
        // The four bytes before the newline, a missing first digit as a zero, and no fifth.
        let last = word >> 32;
        let last = if short == 1 { last & !0xff | u64::from(b'0') } else { last };
        let (magnitude, good) = four(last, 0);
        let bytes = 5 + negative - short;
        let delimited = (word >> (64 - 8 * bytes)) as u8 == b';';
        let sign = negative as i32;
        let tenths = (magnitude as i32 ^ -sign) + sign;
        Found { tenths, bytes: bytes as usize, bad: !(good & delimited) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways<N: Number>(text: &str) -> [Found; 2] {
        let forward = format!("{text}\nxxxxxxxxxx");
        let backward = format!("xxxxxxxx;{text}\n");
        // SAFETY: eight bytes follow the text, and stand before its end.
        unsafe {
            let end = backward.as_ptr().add(backward.len() - 1);
            [N::forward(forward.as_ptr()), N::backward(end)]
        }
    }

    fn all(text: &str) -> Vec<Found> {
        [both_ways::<Branches>(text), both_ways::<Branchless>(text)].concat()
    }

    #[test]
    fn every_value_is_itself_both_ways() {
        for tenths in -999..=999_i32 {
            let sign = if tenths < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10);
            let expected = Found { tenths, bytes: text.len() + 1, bad: false };
            assert_eq!(all(&text), [expected; 4], "{text}");
        }
        assert_eq!(all("-0.0"), [Found { tenths: 0, bytes: 5, bad: false }; 4]);
        assert_eq!(all("07.5"), [Found { tenths: 75, bytes: 5, bad: false }; 4]);
    }

    #[test]
    fn everything_else_is_bad_both_ways() {
        let is_value = |text: &str| match text.strip_prefix('-').unwrap_or(text).as_bytes() {
            [a, b'.', b] => a.is_ascii_digit() && b.is_ascii_digit(),
            [a, b, b'.', c] => [a, b, c].iter().all(|d| d.is_ascii_digit()),
            _ => false,
        };
        // Every text of up to five bytes over an alphabet of what could be mistaken.
        let alphabet = b"05:9.-;/ ";
        let mut texts = vec![String::new()];
        for _ in 0..5 {
            let longer: Vec<String> = texts
                .iter()
                .flat_map(|text| alphabet.iter().map(move |&b| format!("{text}{}", b as char)))
                .collect();
            for text in &longer {
                let [forward, backward] = both_ways::<Branches>(text);
                assert_eq!(forward.bad, !is_value(text), "{text:?}");
                let [forward_2, backward_2] = both_ways::<Branchless>(text);
                assert_eq!(forward_2.bad, !is_value(text), "{text:?}");
                // Backwards a value may follow another delimiter: "5;1.0" ends in one.
                let is_bad = !is_value(text.rsplit(';').next().unwrap());
                assert_eq!((backward.bad, backward_2.bad), (is_bad, is_bad), "{text:?}");
                for found in [forward, backward, forward_2, backward_2] {
                    assert!((2..=6).contains(&found.bytes), "{text:?}");
                }
            }
            texts = longer;
        }
        for text in ["1.5\r", "+1.5", "é.0", "1\u{0}.0", "\u{10}.0"] {
            assert!(all(text).iter().all(|found| found.bad), "{text:?}");
        }
    }
}
