//! The definition of mORMot's `AesNiHash`, and the keys it depends on.

use crate::aes::{BLOCK, round, xor};
use crate::mix::random;

/// The eight keys of a process.
#[derive(Clone, Debug)]
pub(crate) struct Keys(pub(crate) [[u8; BLOCK]; 8]);

impl Keys {
    /// Keys drawn from a seed.
    pub(crate) fn of_seed(seed: u64) -> Keys {
        let bytes = random(seed, 8 * BLOCK);
        let (keys, _) = bytes.as_chunks::<BLOCK>();
        Keys(keys.try_into().expect("eight keys"))
    }
}

/// The definition. s has the seed in its low half and the length modulo 2^16 in each of the four
/// words of its high half; x0 = s xor k0, and one round of itself. With R(x, k) = one AES encryption
/// round:
///
/// * no bytes: the seed;
/// * up to 16: one lane, the bytes filled up with zeros, R(d, x0), then two R(h, h);
/// * up to 32, 64, 128: two, four, eight lanes, the first and the last half of the lanes from the
///   two ends (they overlap). Lane i has the start xi = R(t xor ki) with t = the last 16 bytes; up
///   to 64 bytes R(block, xi) and two R(h, h), up to 128 block xor xi and three R(h, h);
/// * longer: eight lanes of the last 128 bytes, xored to xi; for each 128-byte chunk from the start
///   that does not reach the end, R(h, h) and R(h, block); at the end two R(h, h).
///
/// Lanes are folded by xor; the result is the low half.
pub(crate) fn plain_hash(keys: &Keys, seed: u64, bytes: &[u8]) -> u64 {
    let length = bytes.len();
    if length == 0 {
        return seed;
    }
    let twice = |h| round_of(round_of(h));
    let low = |h: [u8; BLOCK]| u64::from_le_bytes(h[..8].try_into().expect("eight bytes"));
    let x0 = round_of(xor(start(seed, length), &keys.0[0]));
    if length <= 16 {
        let mut block = [0; BLOCK];
        block[..length].copy_from_slice(bytes);
        return low(twice(round(block, &x0)));
    }
    let lanes = (length.next_power_of_two() / 16).min(8);
    let last = block_at(bytes, length - 16);
    let key = |lane: usize| if lane == 0 { x0 } else { round_of(xor(last, &keys.0[lane])) };
    // Where lane's block lies: the first half of the lanes at the front, the second at the back.
    let place = |lane: usize| match lane < lanes / 2 && length <= 128 {
        true => 16 * lane,
        false => length - 16 * (lanes - lane),
    };
    let mut folded = [0; BLOCK];
    for lane in 0..lanes {
        let block = block_at(bytes, place(lane));
        let mut h = if length <= 64 { round(block, &key(lane)) } else { xor(block, &key(lane)) };
        if length > 128 {
            for chunk in 0..(length - 1) / 128 {
                h = round(round_of(h), &block_at(bytes, 128 * chunk + 16 * lane));
            }
        } else if length > 64 {
            h = round_of(h);
        }
        folded = xor(folded, &twice(h));
    }
    low(folded)
}

fn start(seed: u64, length: usize) -> [u8; BLOCK] {
    let length = (length as u16).to_le_bytes();
    let seed = seed.to_le_bytes();
    std::array::from_fn(|at| if at < 8 { seed[at] } else { length[at % 2] })
}

fn round_of(h: [u8; BLOCK]) -> [u8; BLOCK] {
    round(h, &h)
}

fn block_at(bytes: &[u8], at: usize) -> [u8; BLOCK] {
    bytes[at..at + BLOCK].try_into().expect("sixteen bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_bit_and_the_length_matter() {
        let keys = Keys::of_seed(9);
        let mut seen = std::collections::BTreeSet::new();
        for length in [1, 15, 16, 17, 32, 33, 64, 65, 128, 129, 256, 300] {
            let mut bytes = random(2, length);
            assert!(seen.insert(plain_hash(&keys, 0, &bytes)), "{length}");
            assert_ne!(plain_hash(&keys, 0, &bytes), plain_hash(&keys, 1, &bytes));
            for bit in 0..8 * length {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(seen.insert(plain_hash(&keys, 0, &bytes)), "{length} bytes, bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        assert_eq!(plain_hash(&keys, 77, b""), 77);
    }
}
