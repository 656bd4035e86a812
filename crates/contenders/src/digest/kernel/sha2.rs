//! SHA-256 and SHA-512, FIPS 180-4: one function of words of 32 or 64 bits, with rotations and constants of
//! their own.

use fathom_machine::simd::{Vector, Words};

use super::{Blocks, WORDS};

pub(super) struct Sha256;

pub(super) struct Sha512;

/// Bits to the right of the standard's functions, 4.1.2 and 4.1.3: three rotations each of Σ0 and Σ1; of σ0
/// and σ1 two and a shift.
struct Turns {
    sums: [[u32; 3]; 2],
    schedule: [[u32; 3]; 2],
}

/// FIPS 180-4, 4.2.2: the first bits of the cube roots of the first 64 primes.
const ROUNDS_256: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// FIPS 180-4, 4.2.3: of the first 80.
const ROUNDS_512: [u64; 80] = [
    0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
    0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
    0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
    0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
    0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
    0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
    0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
    0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
    0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
    0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
    0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
    0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
    0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
    0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
    0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
    0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
    0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
    0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
    0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
    0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
];

impl Blocks<8, 64> for Sha256 {
    type Word = u32;
    type Register<V: Vector> = V::Words;

    /// FIPS 180-4, 5.3.3.
    const START: [u32; 8] = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19,
    ];
    const IS_BIG_ENDIAN: bool = true;
    const MARK: u8 = 0x80;
    const LENGTH: usize = 8;

    fn end(last: &mut [u8; 64], message_bytes: u64) {
        last[56..].copy_from_slice(&(8 * message_bytes).to_be_bytes());
    }

    #[inline(always)]
    unsafe fn add<W: Words<u32>>(state: &mut [W; 8], block: [W; WORDS]) {
        const TURNS: Turns =
            Turns { sums: [[2, 13, 22], [6, 11, 25]], schedule: [[7, 18, 3], [17, 19, 10]] };
        // SAFETY: the caller vouches for the level.
        unsafe { add(state, block, &ROUNDS_256, &TURNS) }
    }
}

impl Blocks<8, 128> for Sha512 {
    type Word = u64;
    type Register<V: Vector> = V::Longs;

    /// FIPS 180-4, 5.3.5.
    const START: [u64; 8] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ];
    const IS_BIG_ENDIAN: bool = true;
    const MARK: u8 = 0x80;
    const LENGTH: usize = 16;

    fn end(last: &mut [u8; 128], message_bytes: u64) {
        last[112..].copy_from_slice(&(8 * u128::from(message_bytes)).to_be_bytes());
    }

    #[inline(always)]
    unsafe fn add<W: Words<u64>>(state: &mut [W; 8], block: [W; WORDS]) {
        const TURNS: Turns =
            Turns { sums: [[28, 34, 39], [14, 18, 41]], schedule: [[1, 8, 7], [19, 61, 6]] };
        // SAFETY: the caller vouches for the level.
        unsafe { add(state, block, &ROUNDS_512, &TURNS) }
    }
}

/// FIPS 180-4, 6.2.2 and 6.4.2, for a block of each message.
///
/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn add<T: Copy, W: Words<T>, const ROUNDS: usize>(
    state: &mut [W; 8],
    mut block: [W; WORDS],
    constants: &[T; ROUNDS],
    turns: &Turns,
) {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    /// A round, whose letters the next one moves on by one, so that no register is.
    macro_rules! round {
        ($t:expr, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
            let mixed = $e.choose($f, $g).plus(rotated($e, turns.sums[1]));
            let word = scheduled(&mut block, $t, turns);
            let first = $h.plus(W::splat(constants[$t])).plus(word).plus(mixed);
            $d = $d.plus(first);
            $h = first.plus(rotated($a, turns.sums[0])).plus($a.majority($b, $c));
        };
    }
    // SAFETY: the caller vouches for the level.
    unsafe {
        for t in (0..ROUNDS).step_by(8) {
            round!(t, a b c d e f g h);
            round!(t + 1, h a b c d e f g);
            round!(t + 2, g h a b c d e f);
            round!(t + 3, f g h a b c d e);
            round!(t + 4, e f g h a b c d);
            round!(t + 5, d e f g h a b c);
            round!(t + 6, c d e f g h a b);
            round!(t + 7, b c d e f g h a);
        }
        for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.plus(more);
        }
    }
}

/// Word `t` of the schedule; `w` holds the last sixteen.
///
/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn scheduled<T: Copy, W: Words<T>>(w: &mut [W; WORDS], t: usize, turns: &Turns) -> W {
    if t >= 16 {
        let (early, late) = (w[(t + 1) % 16], w[(t + 14) % 16]);
        let [[a, b, down_early], [c, d, down_late]] = turns.schedule;
        // SAFETY: as the caller says.
        unsafe {
            let early = early.right(a).parity(early.right(b), early.down(down_early));
            let late = late.right(c).parity(late.right(d), late.down(down_late));
            w[t % 16] = w[t % 16].plus(early).plus(w[(t + 9) % 16]).plus(late);
        }
    }
    w[t % 16]
}

/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn rotated<T: Copy, W: Words<T>>(word: W, [a, b, c]: [u32; 3]) -> W {
    // SAFETY: as the caller says.
    unsafe { word.right(a).parity(word.right(b), word.right(c)) }
}
