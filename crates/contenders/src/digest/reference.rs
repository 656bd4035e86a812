//! Every digest as its standard reads, block by block: the oracle of the others.
//!
//! Constants are computed where their standard derives them (square and cube roots of primes, sines,
//! the LFSR of Keccak) with integer arithmetic only.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Messages, Operation, SECRET};

pub(super) static PLAIN: Simple<Messages> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("reference.rs")) },
    prepare: |workload| {
        let whole: fn(&[u8]) -> Vec<u8> = match workload.operation {
            Operation::Md5 => md5,
            Operation::Sha1 => sha1,
            Operation::Sha256 => sha256,
            Operation::Sha384 => sha384,
            Operation::Sha512 => sha512,
            Operation::Sha3_256 => |bytes| sha3(bytes, 32),
            Operation::Sha3_512 => |bytes| sha3(bytes, 64),
            Operation::Blake3 => blake3,
            Operation::HmacMd5 => |bytes| hmac(md5, 64, SECRET, bytes),
            Operation::HmacSha1 => |bytes| hmac(sha1, 64, SECRET, bytes),
            Operation::HmacSha256 => |bytes| hmac(sha256, 64, SECRET, bytes),
            Operation::HmacSha384 => |bytes| hmac(sha384, 128, SECRET, bytes),
            Operation::HmacSha512 => |bytes| hmac(sha512, 128, SECRET, bytes),
        };
        workload.timed(whole)
    },
};

/// RFC 2104, for keys up to a block.
fn hmac(digest: fn(&[u8]) -> Vec<u8>, block: usize, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let padded = |pad: u8| {
        let mut text = vec![pad; block];
        text.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        text
    };
    let inner = digest(&[&padded(0x36)[..], bytes].concat());
    digest(&[&padded(0x5c)[..], &inner].concat())
}

/// The message, a one bit, zeros, and its length in bits in the last `length_bytes` of a block.
fn padded(bytes: &[u8], block: usize, length: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    text.push(0x80);
    while text.len() % block != block - length.len() {
        text.push(0);
    }
    text.extend_from_slice(length);
    text
}

/// RFC 1321.
fn md5(bytes: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    // floor(2^32 |sin(i + 1)|): the only constants here that need real numbers; 53 bits suffice.
    let sines: [u32; 64] =
        std::array::from_fn(|i| ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32);
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let text = padded(bytes, 64, &(8 * bytes.len() as u64).to_le_bytes());
    for block in text.chunks_exact(64) {
        let words: Vec<u32> =
            block.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let [mut a, mut b, mut c, mut d] = state;
        for i in 0..64 {
            let (mixed, at) = match i / 16 {
                0 => (b & c | !b & d, i),
                1 => (d & b | !d & c, (5 * i + 1) % 16),
                2 => (b ^ c ^ d, (3 * i + 5) % 16),
                _ => (c ^ (b | !d), 7 * i % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(sines[i]).wrapping_add(words[at]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[i / 16][i % 4]));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// FIPS 180-4, section 6.1.
fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let text = padded(bytes, 64, &(8 * bytes.len() as u64).to_be_bytes());
    for block in text.chunks_exact(64) {
        let mut w: Vec<u32> =
            block.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
        for t in 16..80 {
            w.push((w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (t, word) in w.into_iter().enumerate() {
            let (mixed, constant) = match t / 20 {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6_u32),
            };
            let sum =
                [mixed, e, constant, word].into_iter().fold(a.rotate_left(5), u32::wrapping_add);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
            *word = word.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The first primes; FIPS 180-4 takes its constants from their roots.
fn primes(count: usize) -> Vec<u64> {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2..).filter(is_prime).take(count).collect()
}

/// The first 64 bits of the fraction of the `degree`-th root of `n`, 2 or 3.
fn root_fraction(n: u64, degree: u32) -> u64 {
    // The largest r with r^degree <= n 2^(64 degree), bit by bit; r has at most 69 bits, and its
    // powers are compared in four 64-bit limbs.
    let mut root = 0_u128;
    for bit in (0..69).rev() {
        let tried = root | 1 << bit;
        if power(tried, degree) <= shifted(n, degree) {
            root = tried;
        }
    }
    root as u64
}

/// `root` to the power of `degree`, limbs from most to least significant.
fn power(root: u128, degree: u32) -> [u64; 4] {
    let mut product = [0, 0, 0, 1];
    for _ in 0..degree {
        let mut next = [0_u64; 4];
        for (shift, part) in [(0, root as u64), (1, (root >> 64) as u64)] {
            let mut carry = 0_u128;
            for at in (shift..4).rev() {
                let place = at - shift;
                let sum =
                    u128::from(product[at]) * u128::from(part) + u128::from(next[place]) + carry;
                next[place] = sum as u64;
                carry = sum >> 64;
            }
        }
        product = next;
    }
    product
}

/// `n` 2^(64 degree).
fn shifted(n: u64, degree: u32) -> [u64; 4] {
    let mut limbs = [0; 4];
    limbs[3 - degree as usize] = n;
    limbs
}

/// The constants of SHA-2: 64-bit start values and round constants; SHA-256 has their upper halves.
fn sha2_constants() -> &'static ([u64; 8], [u64; 80]) {
    static CONSTANTS: std::sync::OnceLock<([u64; 8], [u64; 80])> = std::sync::OnceLock::new();
    CONSTANTS.get_or_init(|| {
        let primes = primes(80);
        let start = std::array::from_fn(|i| root_fraction(primes[i], 2));
        (start, std::array::from_fn(|i| root_fraction(primes[i], 3)))
    })
}

/// FIPS 180-4, section 6.2.
fn sha256(bytes: &[u8]) -> Vec<u8> {
    let (start, rounds) = sha2_constants();
    let mut state = start.map(|value| (value >> 32) as u32);
    let text = padded(bytes, 64, &(8 * bytes.len() as u64).to_be_bytes());
    for block in text.chunks_exact(64) {
        let mut w: Vec<u32> =
            block.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
        for t in 16..64 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for t in 0..64 {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let constant = (rounds[t] >> 32) as u32;
            let t1 = [s1, e & f ^ !e & g, constant, w[t]].into_iter().fold(h, u32::wrapping_add);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let t2 = s0.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn sha512(bytes: &[u8]) -> Vec<u8> {
    sha512_from(sha2_constants().0, bytes)
}

/// FIPS 180-4, section 5.3.4: other start values, from the 9th to 16th prime; 48 bytes.
fn sha384(bytes: &[u8]) -> Vec<u8> {
    let primes = primes(16);
    let start = std::array::from_fn(|i| root_fraction(primes[8 + i], 2));
    let mut digest = sha512_from(start, bytes);
    digest.truncate(48);
    digest
}

/// FIPS 180-4, section 6.4.
fn sha512_from(start: [u64; 8], bytes: &[u8]) -> Vec<u8> {
    let rounds = &sha2_constants().1;
    let mut state = start;
    let text = padded(bytes, 128, &(8 * bytes.len() as u128).to_be_bytes());
    for block in text.chunks_exact(128) {
        let mut w: Vec<u64> =
            block.as_chunks::<8>().0.iter().map(|word| u64::from_be_bytes(*word)).collect();
        for t in 16..80 {
            let (a, b) = (w[t - 15], w[t - 2]);
            let s0 = a.rotate_right(1) ^ a.rotate_right(8) ^ (a >> 7);
            let s1 = b.rotate_right(19) ^ b.rotate_right(61) ^ (b >> 6);
            w.push(w[t - 16].wrapping_add(s0).wrapping_add(w[t - 7]).wrapping_add(s1));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for t in 0..80 {
            let s1 = e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41);
            let t1 = [s1, e & f ^ !e & g, rounds[t], w[t]].into_iter().fold(h, u64::wrapping_add);
            let s0 = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
            let t2 = s0.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e) = (g, f, e, d.wrapping_add(t1));
            (d, c, b, a) = (c, b, a, t1.wrapping_add(t2));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// FIPS 202, section 6.1, for digests of 32 or 64 bytes.
fn sha3(bytes: &[u8], digest: usize) -> Vec<u8> {
    let mut sponge = Keccak::absorbed(bytes, 200 - 2 * digest, 0x06);
    (0..digest).map(|_| sponge.squeeze()).collect()
}

/// The sponge over Keccak-f[1600] (FIPS 202, sections 3 and 4), squeezed byte by byte.
#[derive(Clone)]
pub(crate) struct Keccak {
    state: [u64; 25],
    rate: usize,
    at: usize,
}

impl Keccak {
    /// Absorbs all of `bytes` at `rate` bytes per permutation; `suffix` tells SHA-3 (0x06) from
    /// SHAKE (0x1f).
    pub(crate) fn absorbed(bytes: &[u8], rate: usize, suffix: u8) -> Keccak {
        let mut sponge = Keccak { state: [0; 25], rate, at: 0 };
        let mut text = bytes.to_vec();
        text.push(suffix);
        text.resize(text.len().next_multiple_of(rate), 0);
        if let Some(last) = text.last_mut() {
            *last |= 0x80;
        }
        for block in text.chunks_exact(rate) {
            for (lane, word) in sponge.state.iter_mut().zip(block.as_chunks::<8>().0) {
                *lane ^= u64::from_le_bytes(*word);
            }
            sponge.permute();
        }
        sponge
    }

    /// The next byte of output.
    pub(crate) fn squeeze(&mut self) -> u8 {
        if self.at == self.rate {
            self.permute();
            self.at = 0;
        }
        self.at += 1;
        self.state[(self.at - 1) / 8].to_le_bytes()[(self.at - 1) % 8]
    }

    fn permute(&mut self) {
        let state = &mut self.state;
        let mut lfsr = 1_u8;
        for _ in 0..24 {
            // theta
            let parity: [u64; 5] =
                std::array::from_fn(|x| (0..5).fold(0, |sum, y| sum ^ state[x + 5 * y]));
            for (at, lane) in state.iter_mut().enumerate() {
                *lane ^= parity[(at + 4) % 5] ^ parity[(at + 1) % 5].rotate_left(1);
            }
            // rho and pi: follow one lane's path through all positions
            let (mut x, mut y, mut moving) = (1, 0, state[1]);
            for t in 0..24 {
                (x, y) = (y, (2 * x + 3 * y) % 5);
                let turned = moving.rotate_left((t + 1) * (t + 2) / 2 % 64);
                moving = std::mem::replace(&mut state[x + 5 * y], turned);
            }
            // chi
            for row in state.chunks_exact_mut(5) {
                let old: [u64; 5] = std::array::from_fn(|x| row[x]);
                for x in 0..5 {
                    row[x] = old[x] ^ !old[(x + 1) % 5] & old[(x + 2) % 5];
                }
            }
            // iota: bits 2^j - 1 of the round constant come from an LFSR
            for j in 0..7 {
                if lfsr & 1 == 1 {
                    state[0] ^= 1 << ((1_u32 << j) - 1);
                }
                lfsr = lfsr << 1 ^ if lfsr & 0x80 == 0 { 0 } else { 0x71 };
            }
        }
    }
}

/// The BLAKE3 paper, sections 2.1 to 2.5: chunks of 1024 bytes are the leaves of a binary tree whose
/// left subtrees are complete.
fn blake3(bytes: &[u8]) -> Vec<u8> {
    let words = blake3_node(bytes, 0, true);
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

fn blake3_start() -> [u32; 8] {
    sha2_constants().0.map(|value| (value >> 32) as u32)
}

/// The chaining value of the subtree over `bytes`, whose first chunk has number `chunk`.
fn blake3_node(bytes: &[u8], chunk: u64, root: bool) -> [u32; 8] {
    let root_flag = if root { ROOT } else { 0 };
    if bytes.len() <= 1024 {
        let mut value = blake3_start();
        let blocks: Vec<&[u8]> =
            if bytes.is_empty() { vec![&[]] } else { bytes.chunks(64).collect() };
        for (number, block) in blocks.iter().enumerate() {
            let mut flags = if number == 0 { CHUNK_START } else { 0 };
            if number + 1 == blocks.len() {
                flags |= CHUNK_END | root_flag;
            }
            let mut text = [0; 64];
            text[..block.len()].copy_from_slice(block);
            value = blake3_compress(&value, &text, chunk, block.len() as u32, flags);
        }
        return value;
    }
    let chunks = bytes.len().div_ceil(1024);
    let left = chunks.next_power_of_two() / 2;
    let (first, second) = bytes.split_at(1024 * left);
    let mut text = [0; 64];
    let values =
        [blake3_node(first, chunk, false), blake3_node(second, chunk + left as u64, false)];
    for (place, word) in text.as_chunks_mut::<4>().0.iter_mut().zip(values.as_flattened()) {
        *place = word.to_le_bytes();
    }
    blake3_compress(&blake3_start(), &text, 0, 64, PARENT | root_flag)
}

fn blake3_compress(
    value: &[u32; 8],
    block: &[u8; 64],
    counter: u64,
    length: u32,
    flags: u32,
) -> [u32; 8] {
    const ORDER: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    let (words, _) = block.as_chunks::<4>();
    let mut m: [u32; 16] = std::array::from_fn(|i| u32::from_le_bytes(words[i]));
    let mut v = [0; 16];
    v[..8].copy_from_slice(value);
    v[8..12].copy_from_slice(&blake3_start()[..4]);
    v[12..].copy_from_slice(&[counter as u32, (counter >> 32) as u32, length, flags]);
    for _ in 0..7 {
        for i in 0..4 {
            quarter(&mut v, [i, 4 + i, 8 + i, 12 + i], m[2 * i], m[2 * i + 1]);
        }
        for i in 0..4 {
            let diagonal = [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4];
            quarter(&mut v, diagonal, m[8 + 2 * i], m[9 + 2 * i]);
        }
        m = ORDER.map(|from| m[from]);
    }
    std::array::from_fn(|i| v[i] ^ v[i + 8])
}

fn quarter(v: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    for (word, (first, second)) in [(x, (16, 12)), (y, (8, 7))] {
        v[a] = v[a].wrapping_add(v[b]).wrapping_add(word);
        v[d] = (v[d] ^ v[a]).rotate_right(first);
        v[c] = v[c].wrapping_add(v[d]);
        v[b] = (v[b] ^ v[c]).rotate_right(second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn abc_has_the_digests_of_the_standards() {
        // RFC 1321, FIPS 180-4 and 202 (their examples), the BLAKE3 repository's test vectors.
        let cases: [(Vec<u8>, &str); 7] = [
            (md5(b"abc"), "900150983cd24fb0d6963f7d28e17f72"),
            (sha1(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                sha384(b"abc"),
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                sha512(b"abc"),
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (sha3(b"abc", 32), "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (
                sha3(b"abc", 64),
                "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
                 10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(hex(&found), expected);
        }
        assert_eq!(
            hex(&blake3(b"")),
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
        );
    }

    #[test]
    fn hmacs_have_the_second_test_case_of_their_rfcs() {
        // RFC 2202 and RFC 4231, test case 2.
        let (key, text) = (b"Jefe", b"what do ya want for nothing?");
        let found = hex(&hmac(md5, 64, key, text));
        assert_eq!(found, "750c783e6ab0b503eaa86e310a5db738");
        let found = hex(&hmac(sha1, 64, key, text));
        assert_eq!(found, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
        let found = hex(&hmac(sha256, 64, key, text));
        assert_eq!(found, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let found = hex(&hmac(sha384, 128, key, text));
        assert!(found.starts_with("af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47"));
        let found = hex(&hmac(sha512, 128, key, text));
        assert!(found.starts_with("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd6"));
    }

    #[test]
    fn shake_of_secret_starts_as_published_with_the_forebear() {
        for (rate, expected) in [(168, "4f3a646e26b2693e"), (136, "cb6e4e469808cf73")] {
            let mut sponge = Keccak::absorbed(b"secret", rate, 0x1f);
            let bytes: Vec<u8> = (0..8).map(|_| sponge.squeeze()).collect();
            assert_eq!(hex(&bytes), expected);
        }
    }
}
