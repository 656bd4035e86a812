//! MD5, RFC 1321: four rounds of sixteen steps.

use fathom_machine::simd::{Vector, Words};

use super::{Blocks, WORDS};

pub(super) struct Md5;

/// floor(2^32 |sin(i + 1)|), as in RFC 1321, 3.4.
const SINES: [u32; 64] = [
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
];

impl Blocks<4, 64> for Md5 {
    type Word = u32;
    type Register<V: Vector> = V::Words;

    const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    const IS_BIG_ENDIAN: bool = false;
    const MARK: u8 = 0x80;
    const LENGTH: usize = 8;

    fn end(last: &mut [u8; 64], message_bytes: u64) {
        last[56..].copy_from_slice(&(8 * message_bytes).to_le_bytes());
    }

    #[inline(always)]
    unsafe fn add<W: Words<u32>>(state: &mut [W; 4], block: [W; WORDS]) {
        let [mut a, mut b, mut c, mut d] = *state;
        /// A step, whose letters the next one moves on by one, so that no register is. What is known early
        /// is added first: `b` is what the step before made.
        macro_rules! step {
            ($i:expr, $word:expr, $bits:literal, $mixed:expr, $a:ident $b:ident) => {
                let known = $a.plus(W::splat(SINES[$i])).plus(block[$word % 16]);
                $a = known.plus($mixed).left($bits).plus($b);
            };
        }
        // SAFETY: the caller vouches for the level.
        unsafe {
            for i in (0..16).step_by(4) {
                step!(i, i, 7, b.choose(c, d), a b);
                step!(i + 1, i + 1, 12, a.choose(b, c), d a);
                step!(i + 2, i + 2, 17, d.choose(a, b), c d);
                step!(i + 3, i + 3, 22, c.choose(d, a), b c);
            }
            for i in (16..32).step_by(4) {
                step!(i, 5 * i + 1, 5, d.choose(b, c), a b);
                step!(i + 1, 5 * i + 6, 9, c.choose(a, b), d a);
                step!(i + 2, 5 * i + 11, 14, b.choose(d, a), c d);
                step!(i + 3, 5 * i + 16, 20, a.choose(c, d), b c);
            }
            for i in (32..48).step_by(4) {
                step!(i, 3 * i + 5, 4, b.parity(c, d), a b);
                step!(i + 1, 3 * i + 8, 11, a.parity(b, c), d a);
                step!(i + 2, 3 * i + 11, 16, d.parity(a, b), c d);
                step!(i + 3, 3 * i + 14, 23, c.parity(d, a), b c);
            }
            for i in (48..64).step_by(4) {
                step!(i, 7 * i, 6, c.xor_or_not(b, d), a b);
                step!(i + 1, 7 * i + 7, 10, b.xor_or_not(a, c), d a);
                step!(i + 2, 7 * i + 14, 15, a.xor_or_not(d, b), c d);
                step!(i + 3, 7 * i + 21, 21, d.xor_or_not(c, a), b c);
            }
            for (word, more) in state.iter_mut().zip([a, b, c, d]) {
                *word = word.plus(more);
            }
        }
    }
}
