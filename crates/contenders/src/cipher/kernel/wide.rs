//! The counter modes on four blocks per register: VAES, and mORMot's tag by carry-less multiplication.
//!
//! Feedback modes have nothing to widen: each block waits for the one before.
//!
//! ```text
//! for each 16 blocks (4 registers):
//!     state[0..4] = counters                             add and byte shuffle in registers
//!     for each round key: state[i] = round(state[i])     16 blocks per 4 instructions
//!     cipher[i] = plain[i] xor state[i]
//!     for plain and cipher:
//!         turn each register: its word i of blocks 0..4  becomes 128 bits of lane i
//!         sum = sum x^512 + t[0] x^384 + t[1] x^256 + t[2] x^128 + t[3]
//! ```
//!
//! A lane of the tag is the remainder of its words, taken as one polynomial, by that of CRC-32C.
//! Remainders may wait: the sum of a lane stays 128 bits wide, congruent to all words so far, and is
//! multiplied by x^128 = (two 32-bit constants) when 128 bits more come in (Gopal et al., *Fast CRC
//! computation using PCLMULQDQ*, 2009). One register holds the sums of all four lanes.
//!
//! Tried: the plain text's lanes by the CRC instruction, whose port wide code leaves idle, its words turned
//! by a store and loads, or a part of them straight from the text. Both took longer (0.60 and 0.66 us for
//! 8 KiB instead of 0.47), as loads had to wait for stores.

use std::arch::x86_64::{
    __m512i, _mm_crc32_u64, _mm_loadu_si128, _mm512_add_epi64, _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128, _mm512_broadcast_i32x4, _mm512_clmulepi64_epi128, _mm512_loadu_si512,
    _mm512_permutexvar_epi32, _mm512_set_epi32, _mm512_set_epi64, _mm512_setzero_si512,
    _mm512_shuffle_epi8, _mm512_storeu_si512, _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::x86_64;
use crate::cipher::container::Lanes;

/// Bytes in a register.
const WIDE: usize = 64;
/// Blocks in a register.
const BLOCKS: u64 = 4;
/// Registers in flight: the latency of an AES round, at one a cycle.
const REGISTERS: usize = 4;

/// Shorter texts are done sooner by the narrow code.
const LEAST_BYTES: usize = 2 * WIDE;

/// `ctr` and `ctc`, or `c64`: see the narrow function of this name, which does what is left at the end.
#[target_feature(enable = "avx512f,avx512bw,vaes,vpclmulqdq,aes,sse4.2,ssse3")]
pub(super) fn counter<const C64: bool, const TAG: bool>(
    keys: &[[u8; 16]],
    iv: &[u8; 16],
    bytes: &mut [u8],
    lanes: &mut Lanes,
) {
    if bytes.len() < LEAST_BYTES {
        return x86_64::counter::<C64, TAG>(keys, iv, bytes, lanes);
    }
    let (chunks, rest) = bytes.as_chunks_mut::<WIDE>();
    let mut counter = Counter::<C64>::start(iv);
    let mut sums = [Sum::start(lanes.plain), Sum::start(lanes.cipher)];
    let (groups, single) = chunks.as_chunks_mut::<REGISTERS>();
    let is_short = groups.is_empty();
    if let Some((first, groups)) = groups.split_first_mut() {
        step::<REGISTERS, C64, TAG, true>(keys, &mut counter, first, &mut sums);
        for group in groups {
            step::<REGISTERS, C64, TAG, false>(keys, &mut counter, group, &mut sums);
        }
    }
    // At most one of each is left; a short text has a pair.
    let (pairs, last) = single.as_chunks_mut::<2>();
    for pair in pairs {
        match is_short {
            true => step::<2, C64, TAG, true>(keys, &mut counter, pair, &mut sums),
            false => step::<2, C64, TAG, false>(keys, &mut counter, pair, &mut sums),
        }
    }
    for last in last {
        let last = std::array::from_mut(last);
        step::<1, C64, TAG, false>(keys, &mut counter, last, &mut sums);
    }
    let states = Lanes { plain: sums[0].lanes(), cipher: sums[1].lanes() };
    x86_64::put_states::<TAG>(lanes, states);
    if !rest.is_empty() {
        x86_64::counter::<C64, TAG>(keys, &counter.iv(), rest, lanes);
    }
}

/// N registers of text, the FIRST of it or not.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes,vpclmulqdq")]
fn step<const N: usize, const C64: bool, const TAG: bool, const FIRST: bool>(
    keys: &[[u8; 16]],
    counter: &mut Counter<C64>,
    text: &mut [[u8; WIDE]; N],
    sums: &mut [Sum; 2],
) {
    let stream = encrypted(keys, counter.next::<N>());
    let mut plain = stream;
    let mut cipher = stream;
    for at in 0..N {
        plain[at] = load(&text[at]);
        cipher[at] = _mm512_xor_si512(plain[at], stream[at]);
        store(&mut text[at], cipher[at]);
    }
    if TAG {
        sums[0].add::<N, FIRST>(plain);
        sums[1].add::<N, FIRST>(cipher);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; WIDE]) -> __m512i {
    // SAFETY: 64 readable bytes at any alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(bytes: &mut [u8; WIDE], register: __m512i) {
    // SAFETY: 64 writable bytes at any alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), register) }
}

/// The block four times.
#[inline]
#[target_feature(enable = "avx512f")]
fn four_times(block: &[u8; 16]) -> __m512i {
    // SAFETY: sixteen readable bytes at any alignment.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(block.as_ptr().cast()) })
}

x86_64::rounds! {
    "avx512f,vaes", __m512i, four_times, _mm512_xor_si512,
    _mm512_aesenc_epi128, _mm512_aesenclast_epi128
}

/// The counter block that comes next, as numbers and as a register of four with reversed bytes.
struct Counter<const C64: bool> {
    low: u64,
    high: u64,
    next: __m512i,
}

impl<const C64: bool> Counter<C64> {
    #[target_feature(enable = "avx512f")]
    fn start(iv: &[u8; 16]) -> Counter<C64> {
        let (low, high) = super::counter_of::<C64>(iv);
        Counter { low, high, next: four::<C64>(low, high) }
    }

    /// What the narrow code takes to go on.
    fn iv(&self) -> [u8; 16] {
        let (first, last) = match C64 {
            true => (self.low, self.high.swap_bytes()),
            false => (self.high, self.low),
        };
        (u128::from(first) << 64 | u128::from(last)).to_be_bytes()
    }

    /// The next 4 N blocks, in the order of bytes that is encrypted.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn next<const N: usize>(&mut self) -> [__m512i; N] {
        let mut blocks = [self.next; N];
        let (low, wrapped) = self.low.overflowing_add(BLOCKS * N as u64);
        if wrapped && !C64 {
            // The carry reaches the high half inside this group: rare, so anew from numbers.
            for (at, block) in blocks.iter_mut().enumerate() {
                let (low, carry) = self.low.overflowing_add(BLOCKS * at as u64);
                *block = four::<C64>(low, self.high.wrapping_add(carry.into()));
            }
            self.high = self.high.wrapping_add(1);
            self.next = four::<C64>(low, self.high);
        } else {
            for (at, block) in blocks.iter_mut().enumerate() {
                *block = _mm512_add_epi64(*block, low_halves(BLOCKS * at as u64));
            }
            self.next = _mm512_add_epi64(self.next, low_halves(BLOCKS * N as u64));
        }
        self.low = low;
        let [to_low, to_high] = super::order::<C64>().map(u64::cast_signed);
        let order =
            _mm512_set_epi64(to_high, to_low, to_high, to_low, to_high, to_low, to_high, to_low);
        for block in &mut blocks {
            *block = _mm512_shuffle_epi8(*block, order);
        }
        blocks
    }
}

/// Four counters from this one on.
#[inline]
#[target_feature(enable = "avx512f")]
fn four<const C64: bool>(low: u64, high: u64) -> __m512i {
    let [a, b, c, d] = std::array::from_fn(|at| {
        let (low, carry) = low.overflowing_add(at as u64);
        // The high half of c64 is no part of the counter.
        (low.cast_signed(), high.wrapping_add((carry && !C64).into()).cast_signed())
    });
    _mm512_set_epi64(d.1, d.0, c.1, c.0, b.1, b.0, a.1, a.0)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn low_halves(number: u64) -> __m512i {
    let number = number.cast_signed();
    _mm512_set_epi64(0, number, 0, number, 0, number, 0, number)
}

/// The four lanes of one text's tag.
struct Sum {
    /// The lanes' start, which is xored to the first words.
    start: __m512i,
    /// 128 bits per lane, congruent to the words so far.
    sum: __m512i,
}

impl Sum {
    #[target_feature(enable = "avx512f")]
    fn start(lanes: [u32; 4]) -> Sum {
        let [a, b, c, d] = lanes.map(i64::from);
        Sum { start: _mm512_set_epi64(0, d, 0, c, 0, b, 0, a), sum: _mm512_setzero_si512() }
    }

    /// Takes in N registers; all calls but the first are not FIRST.
    #[inline]
    #[target_feature(enable = "avx512f,vpclmulqdq")]
    fn add<const N: usize, const FIRST: bool>(&mut self, texts: [__m512i; N]) {
        let turn = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
        let mut words = texts.map(|text| _mm512_permutexvar_epi32(turn, text));
        if FIRST {
            words[0] = _mm512_xor_si512(words[0], self.start);
        }
        // From the last, which stays where it is; the sum, which others wait for, joins at the end.
        let mut sum = words[N - 1];
        for (at, words) in words.into_iter().enumerate().take(N - 1) {
            sum = shifted(words, N - 1 - at, sum);
        }
        if !FIRST {
            sum = shifted(self.sum, N, sum);
        }
        self.sum = sum;
    }

    /// The remainders: what the CRC instruction makes of 128 bits from a start of zero.
    #[target_feature(enable = "avx512f,sse4.2")]
    fn lanes(&self) -> [u32; 4] {
        let mut bytes = [0; WIDE];
        store(&mut bytes, self.sum);
        let (halves, _) = bytes.as_chunks::<8>();
        std::array::from_fn(|lane| {
            let half = |at: usize| u64::from_le_bytes(halves[2 * lane + at]);
            _mm_crc32_u64(_mm_crc32_u64(0, half(0)), half(1)) as u32
        })
    }
}

/// `words` times x^(128 `by`), and `other`.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn shifted(words: __m512i, by: usize, other: __m512i) -> __m512i {
    let [first, second] = SHIFTS[by];
    let by = _mm512_set_epi64(second, first, second, first, second, first, second, first);
    let first = _mm512_clmulepi64_epi128::<0x00>(words, by);
    let second = _mm512_clmulepi64_epi128::<0x11>(words, by);
    // The truth table of an exclusive or of three.
    _mm512_ternarylogic_epi64::<0x96>(first, second, other)
}

/// For shifts by 128 n bits, what the first and the second 64 bits are multiplied by.
const SHIFTS: [[i64; 2]; REGISTERS + 1] = {
    let mut all = [[0; 2]; REGISTERS + 1];
    let mut at = 1;
    while at < all.len() {
        all[at] = [power(128 * at + 32), power(128 * at - 32)];
        at += 1;
    }
    all
};

/// The remainder of x^n, bits reversed, as a factor: one place up, since a product of reversed numbers
/// comes out one place too low.
const fn power(n: usize) -> i64 {
    let (mut power, mut at) = (0x8000_0000_u32, 0);
    while at < n {
        power = power >> 1 ^ if power & 1 == 1 { 0x82f6_3b78 } else { 0 };
        at += 1;
    }
    (power as i64) << 1
}
