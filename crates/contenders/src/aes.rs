//! AES as FIPS 197 reads, byte by byte: the oracle of every cipher and of `aesnihash`.
//!
//! Not meant for secrets: its table look-ups take a time that depends on them.

/// Bytes in a block.
pub(crate) const BLOCK: usize = 16;

/// The substitution box (FIPS 197, section 5.1.1): the inverse in GF(2^8), then an affine map.
pub(crate) const SBOX: [u8; 256] = sbox();

const fn sbox() -> [u8; 256] {
    let mut table = [0; 256];
    // p runs through all non-zero field elements as powers of 3, q through their inverses.
    let (mut p, mut q) = (1_u8, 1_u8);
    loop {
        p = p ^ doubled(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q & 0x80 != 0 {
            q ^= 0x09;
        }
        let affine = q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4);
        table[p as usize] = affine ^ 0x63;
        if p == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
}

/// Multiplication by x in GF(2^8).
const fn doubled(byte: u8) -> u8 {
    byte << 1 ^ if byte & 0x80 == 0 { 0 } else { 0x1b }
}

/// One encryption round: SubBytes, ShiftRows, MixColumns, AddRoundKey.
pub(crate) fn round(state: [u8; BLOCK], key: &[u8; BLOCK]) -> [u8; BLOCK] {
    let shifted = sub_and_shift(state);
    let mut mixed = [0; BLOCK];
    for column in 0..4 {
        let c: [u8; 4] = std::array::from_fn(|row| shifted[4 * column + row]);
        let all = c[0] ^ c[1] ^ c[2] ^ c[3];
        for row in 0..4 {
            mixed[4 * column + row] = c[row] ^ all ^ doubled(c[row] ^ c[(row + 1) % 4]);
        }
    }
    xor(mixed, key)
}

fn last_round(state: [u8; BLOCK], key: &[u8; BLOCK]) -> [u8; BLOCK] {
    xor(sub_and_shift(state), key)
}

fn sub_and_shift(state: [u8; BLOCK]) -> [u8; BLOCK] {
    std::array::from_fn(|at| SBOX[usize::from(state[(at + 4 * (at % 4)) % BLOCK])])
}

/// Byte by byte.
pub(crate) fn xor(a: [u8; BLOCK], b: &[u8; BLOCK]) -> [u8; BLOCK] {
    std::array::from_fn(|at| a[at] ^ b[at])
}

/// An expanded key.
#[derive(Clone)]
pub(crate) struct Key {
    rounds: Vec<[u8; BLOCK]>,
}

impl Key {
    /// Expands 16, 24 or 32 bytes (FIPS 197, section 5.2).
    pub(crate) fn new(key: &[u8]) -> Key {
        assert!([16, 24, 32].contains(&key.len()), "AES keys have 128, 192 or 256 bits");
        let words = key.len() / 4;
        let mut all: Vec<[u8; 4]> =
            key.chunks_exact(4).map(|word| word.try_into().expect("four bytes")).collect();
        let mut constant = 1;
        for at in words..4 * (words + 7) {
            let mut word = all[at - 1];
            if at % words == 0 {
                word.rotate_left(1);
                word = word.map(|byte| SBOX[usize::from(byte)]);
                word[0] ^= constant;
                constant = doubled(constant);
            } else if words > 6 && at % words == 4 {
                word = word.map(|byte| SBOX[usize::from(byte)]);
            }
            let before = all[at - words];
            all.push(std::array::from_fn(|i| word[i] ^ before[i]));
        }
        let rounds = all.chunks_exact(4);
        let rounds = rounds.map(|four| std::array::from_fn(|at| four[at / 4][at % 4]));
        Key { rounds: rounds.collect() }
    }

    /// The round keys, the first to be xored to the plain text.
    pub(crate) fn rounds(&self) -> &[[u8; BLOCK]] {
        &self.rounds
    }

    /// Encrypts a block.
    pub(crate) fn encrypt(&self, block: [u8; BLOCK]) -> [u8; BLOCK] {
        let (first, rest) = self.rounds.split_first().expect("never empty");
        let (last, middle) = rest.split_last().expect("never empty");
        let state = middle.iter().fold(xor(block, first), round);
        last_round(state, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fips_197_appendix_c() {
        let block: [u8; 16] = std::array::from_fn(|at| at as u8 * 0x11);
        for (bytes, first, last) in [(16, 0x69, 0x5a), (24, 0xdd, 0x91), (32, 0x8e, 0x89)] {
            let key: Vec<u8> = (0..bytes).collect();
            let found = Key::new(&key).encrypt(block);
            assert_eq!((found[0], found[15]), (first, last), "{} bits", 8 * bytes);
        }
        let expected = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        let key: Vec<u8> = (0..16).collect();
        assert_eq!(Key::new(&key).encrypt(block), expected);
    }
}
