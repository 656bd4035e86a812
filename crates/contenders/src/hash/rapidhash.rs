//! rapidhash V3 with its default seed, in the crate of the same name: the successor of wyhash,
//! one wide multiplication per 16 bytes.
//!
//! Its authors publish no vectors for version 3; the crate tests itself against their C code.

use super::methods::function;

function! {
    RapidHash, library!("rapidhash", "rapidhash", "MIT OR Apache-2.0", "rapidhash.rs");
    bytes(bytes) => rapidhash::v3::rapidhash_v3(bytes),
    vectors []
}

#[cfg(test)]
mod tests {
    use super::RapidHash;
    use crate::hash::HashFunction;

    /// `rapidhash.h` of version 3 for keys of at most 16 bytes, written down once more.
    fn plain(key: &[u8]) -> u64 {
        const SECRETS: [u64; 3] =
            [0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3, 0xaaaa_aaaa_aaaa_aaaa];
        let mum = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let mix = |a: u64, b: u64| (mum(a, b) >> 64) as u64 ^ mum(a, b) as u64;
        let word = |at: usize, count: usize| {
            let bytes = key[at..at + count].iter().rev();
            bytes.fold(0_u64, |word, &byte| word << 8 | u64::from(byte))
        };
        let len = key.len();
        let mut seed = mix(SECRETS[1], SECRETS[0]);
        let (a, b) = match len {
            8.. => (word(0, 8), word(len - 8, 8)),
            4.. => (word(0, 4), word(len - 4, 4)),
            1.. => (word(0, 1) << 45 | word(len - 1, 1), word(len / 2, 1)),
            0 => (0, 0),
        };
        seed ^= if len >= 4 { len as u64 } else { 0 };
        let both = mum(a ^ SECRETS[0], b ^ seed);
        mix(both as u64 ^ SECRETS[2], (both >> 64) as u64 ^ SECRETS[0] ^ len as u64)
    }

    #[test]
    fn short_keys_have_the_hashes_of_the_c_header() {
        let bytes: Vec<u8> = (0..16_u32).map(|at| (at * 37 + 5) as u8).collect();
        for len in 0..=16 {
            let found = RapidHash.bytes(&bytes[..len]);
            assert_eq!(found, plain(&bytes[..len]), "{len} bytes");
        }
    }
}
