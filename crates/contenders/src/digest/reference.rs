//! The oracle of the others: the crate `cryptoxide`, which shares no code with any of them, and MD5, which
//! it leaves out, as its standard reads. Published vectors judge the oracle.

use cryptoxide::hashing::sha1::Sha1;
use cryptoxide::hashing::{blake3_256, sha1, sha2, sha3_256, sha3_512, sha256, sha384, sha512};
use cryptoxide::hmac::hmac;
use fathom_measure::contender::{Meta, Simple};

use super::workload::{Messages, Operation, SECRET};

pub(super) const PLAIN: Simple<Messages> = Simple {
    meta: Meta {
        name: "plain",
        ..Meta::of_crate("cryptoxide", "MIT OR Apache-2.0", include_str!("reference.rs"))
    },
    prepare: |workload| workload.timed(|bytes| digest(workload.operation, bytes)),
};

pub(super) fn digest(operation: Operation, bytes: &[u8]) -> Vec<u8> {
    match operation {
        Operation::Md5 | Operation::Md5Many => md5(bytes),
        Operation::Sha1 => sha1(bytes).to_vec(),
        Operation::Sha256 | Operation::Sha256Many => sha256(bytes).to_vec(),
        Operation::Sha384 => sha384(bytes).to_vec(),
        Operation::Sha512 | Operation::Sha512Many => sha512(bytes).to_vec(),
        Operation::Sha3_256 | Operation::Sha3_256Many => sha3_256(bytes).to_vec(),
        Operation::Sha3_512 => sha3_512(bytes).to_vec(),
        Operation::Blake3 => blake3_256(bytes).to_vec(),
        Operation::HmacMd5 => hmac_md5(bytes),
        Operation::HmacSha1 => hmac::<Sha1>(SECRET, bytes).0.to_vec(),
        Operation::HmacSha256 => hmac::<sha2::Sha256>(SECRET, bytes).0.to_vec(),
        Operation::HmacSha384 => hmac::<sha2::Sha384>(SECRET, bytes).0.to_vec(),
        Operation::HmacSha512 => hmac::<sha2::Sha512>(SECRET, bytes).0.to_vec(),
    }
}

/// RFC 2104.
fn hmac_md5(bytes: &[u8]) -> Vec<u8> {
    let padded = |pad: u8| {
        let mut text = vec![pad; 64];
        text.iter_mut().zip(SECRET).for_each(|(byte, key)| *byte ^= key);
        text
    };
    let inner = md5(&[&padded(0x36)[..], bytes].concat());
    md5(&[&padded(0x5c)[..], &inner].concat())
}

/// RFC 1321.
fn md5(bytes: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] =
        [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    // floor(2^32 |sin(i + 1)|): the only constants here that need real numbers; 53 bits suffice.
    let sines: [u32; 64] =
        std::array::from_fn(|i| ((i as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32);
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut text = [bytes, &[0x80]].concat();
    text.resize((bytes.len() + 9).next_multiple_of(64) - 8, 0);
    text.extend((8 * bytes.len() as u64).to_le_bytes());
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

#[cfg(test)]
mod tests {
    use Operation::{
        Blake3, HmacMd5, HmacSha1, HmacSha256, HmacSha384, HmacSha512, Md5, Sha1, Sha3_256,
        Sha3_512, Sha256, Sha384, Sha512,
    };

    use super::*;

    /// 448 bits: with what ends it two blocks of 64 bytes. Of NIST's examples for FIPS 180 and 202.
    const TWO_BLOCKS: &str = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

    /// 896 bits: two of 128 bytes, of SHA-3's 136 one. Of the same.
    const TWO_LONG_BLOCKS: &str = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn\
                                   hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

    fn holds(operation: Operation, message: &str, expected: &str) {
        let found = digest(operation, message.as_bytes());
        let found: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, expected, "{operation:?} of {message:?}");
    }

    #[test]
    fn no_byte_and_more_than_one_block_have_the_digests_of_the_standards() {
        // Of RFC 1321; the longer text's is by Python's `hashlib`.
        let (digits, more) = ("1234567890".repeat(8), "1234567890".repeat(20));
        for (operation, message, expected) in [
            (Md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (Md5, &digits, "57edf4a22be3c955ac49da2e2107b67a"),
            (Sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (
                Sha256,
                TWO_BLOCKS,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (
                Sha512,
                "",
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
                 47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            ),
            (
                Sha512,
                TWO_LONG_BLOCKS,
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018\
                 501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
            ),
            (Sha3_256, "", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
            (
                Sha3_256,
                TWO_LONG_BLOCKS,
                "916f6061fe879741ca6469b43971dfdb28b1a32dc36cb3254e812be27aad1d18",
            ),
            (Sha3_256, &more, "adc79e9c23050eac4f9d761b08ad918d89f20315497b8232c40689d2fcbdcb40"),
        ] {
            holds(operation, message, expected);
        }
    }

    #[test]
    fn abc_has_the_digests_of_the_standards() {
        // RFC 1321, FIPS 180-4 and 202 (their examples), BLAKE3's `b3sum`; HMACs by Python's `hmac`.
        for (operation, expected) in [
            (Md5, "900150983cd24fb0d6963f7d28e17f72"),
            (Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                Sha384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                Sha512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (Sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (
                Sha3_512,
                "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
                 10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
            ),
            (Blake3, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
            (HmacMd5, "d9bf7c3a63eae7031c4e6d7c9b78ba93"),
            (HmacSha1, "694abd10842d161ddbc54df8a0d57cf64d0dbcc9"),
            (HmacSha256, "9946dad4e00e913fc8be8e5d3f7e110a4a9e832f83fb09c345285d78638d8a0e"),
            (
                HmacSha384,
                "6990e733fc90a053499f07eaac2d082b9218862226d3ff8f1a72df2b9e5abdda\
                 ad80c4a2fe2ad5b3e56cab3c5d7adec1",
            ),
            (
                HmacSha512,
                "18c4d2edb7dc012d4ade387e587ab7c52f50a384529f3e368392a1b0b16183f4\
                 0a62fe814cba2a049d9b0e72b7aac932006a2f6d77fa7b76aede1bd63d888241",
            ),
        ] {
            holds(operation, "abc", expected);
        }
    }
}
