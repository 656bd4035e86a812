//! MD5, RFC 1321: four rounds of sixteen steps.

use fathom_machine::simd::{Vector, Words};

use super::{Blocks, WORDS};

pub(super) struct Md5;

/// floor(2^32 |sin(i + 1)|), as in RFC 1321, 3.4.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
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
