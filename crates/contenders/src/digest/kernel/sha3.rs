//! SHA3-256, FIPS 202: Keccak-f[1600] over blocks of 136 bytes.

use fathom_machine::simd::{Vector, Words};

use super::{Blocks, WORDS};

pub(super) struct Sha3;

/// What ι adds to the first word in each round, 3.2.5.
const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
    0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
    0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
    0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
    0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
    0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
];

impl Blocks<25, 136> for Sha3 {
    type Word = u64;
    type Register<V: Vector> = V::Longs;

    const START: [u64; 25] = [0; 25];
    const IS_BIG_ENDIAN: bool = false;
    /// The two bits that tell SHA-3 from other uses of Keccak, and the first one of the padding.
    const MARK: u8 = 0x06;
    const LENGTH: usize = 0;

    /// The last bit of the padding, in the byte of the mark if that is the last.
    fn end(last: &mut [u8; 136], _: u64) {
        last[135] |= 0x80;
    }

    #[inline(always)]
    unsafe fn add<W: Words<u64>>(state: &mut [W; 25], block: [W; WORDS]) {
        let mut a = *state;
        // SAFETY: the caller vouches for the level.
        unsafe {
            for (word, more) in a.iter_mut().zip(block) {
                *word = word.xor(more);
            }
            for constant in ROUNDS {
                a = round(a);
                a[0] = a[0].xor(W::splat(constant));
            }
        }
        *state = a;
    }
}

/// FIPS 202, 3.2, without ι: word x, y stands at x + 5 y.
///
/// θ adds to each word the parities of two columns; ρ turns it, and π moves it from x, y to y, 2x + 3y. So row by
/// row of what π makes, five words are taken from where they were, and χ mixes them.
///
/// # Safety
/// The level of `W` is available.
#[inline(always)]
unsafe fn round<W: Words<u64>>(a: [W; 25]) -> [W; 25] {
    // SAFETY: the caller vouches for the level.
    unsafe {
        let mut columns = [a[0]; 5];
        for (x, column) in columns.iter_mut().enumerate() {
            *column = a[x].parity(a[x + 5], a[x + 10]).parity(a[x + 15], a[x + 20]);
        }
        let mut turned = columns;
        for word in &mut turned {
            *word = word.left(1);
        }
        let mut next = a;
        /// A row of what π makes: where its words were, and how far they turn.
        macro_rules! row {
            ($at:literal: $($from:literal by $bits:literal),*) => {
                let b = [$(
                    a[$from].parity(columns[($from + 4) % 5], turned[($from + 1) % 5]).left($bits),
                )*];
                for x in 0..5 {
                    next[$at + x] = b[x].xor_without(b[(x + 2) % 5], b[(x + 1) % 5]);
                }
            };
        }
        row!(0: 0 by 0, 6 by 44, 12 by 43, 18 by 21, 24 by 14);
        row!(5: 3 by 28, 9 by 20, 10 by 3, 16 by 45, 22 by 61);
        row!(10: 1 by 1, 7 by 6, 13 by 25, 19 by 8, 20 by 18);
        row!(15: 4 by 27, 5 by 36, 11 by 10, 17 by 15, 23 by 56);
        row!(20: 2 by 62, 8 by 55, 14 by 39, 15 by 41, 21 by 2);
        next
    }
}
