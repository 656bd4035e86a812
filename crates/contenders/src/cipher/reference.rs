//! Modes of AES as their definitions read, block by block, and RC4: the oracle of the others. For SHAKE and
//! the ciphers with a tag stands the crate `cryptoxide`, which shares no code with any contender.
//!
//! Also opens mORMot's containers, so that what is sealed here is known to be readable again.

use cryptoxide::hashing::shake::{Shake128, Shake256};
use cryptoxide::hashing::shake128;
use cryptoxide::{aes_gcm, chacha20poly1305};
use fathom_measure::contender::{Meta, Simple};

use super::container::{ContainerError, Lanes, Tag, parts, unpadded};
use super::workload::{Messages, Mode, Operation, SECRET};
use crate::aes::{BLOCK, Key};

pub(super) const PLAIN: Simple<Messages> = Simple {
    meta: Meta {
        name: "plain",
        caveat: "its time depends on the key: never for secrets",
        ..Meta::of(include_str!("reference.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Rc4 => workload.streamed(Rc4::of_secret, |rc4, bytes| {
            bytes.iter_mut().for_each(|byte| *byte ^= rc4.next());
        }),
        Operation::Shake128 => workload.streamed(
            || Shake128::new().update(SECRET).finalize_xof(),
            |stream, bytes| xored(bytes, |key| stream.fill(key)),
        ),
        Operation::Shake256 => workload.streamed(
            || Shake256::new().update(SECRET).finalize_xof(),
            |stream, bytes| xored(bytes, |key| stream.fill(key)),
        ),
        Operation::ChaCha20Poly1305 => workload
            .sealed_whole(|iv, _, bytes| with_zeros(chacha20_poly1305(workload.key(), iv, bytes))),
        Operation::Aes(_, Mode::Gcm) => {
            workload.sealed_whole(|iv, _, bytes| with_zeros(gcm(workload.key(), iv, bytes)))
        }
        Operation::Aes(_, mode @ (Mode::Cfc | Mode::Ofc | Mode::Ctc)) => {
            let key = Key::new(workload.key());
            workload.sealed_whole(move |iv, nonce, bytes| {
                let mut lanes = Lanes::start(nonce, None);
                encrypt(&key, mode, *iv, bytes, Some(&mut lanes));
                lanes.tag(&key)
            })
        }
        Operation::Aes(_, mode) => {
            let key = Key::new(workload.key());
            workload.sealed_whole(move |iv, _, bytes| {
                encrypt(&key, mode, *iv, bytes, None);
                [0; 32]
            })
        }
    },
};

pub(super) fn with_zeros(tag: [u8; 16]) -> Tag {
    let mut long = [0; 32];
    long[..16].copy_from_slice(&tag);
    long
}

/// Encrypts in place; `lanes`, if any, take both texts.
pub(super) fn encrypt(
    key: &Key,
    mode: Mode,
    iv: [u8; BLOCK],
    bytes: &mut [u8],
    lanes: Option<&mut Lanes>,
) {
    run(key, mode, iv, bytes, lanes, true);
}

/// Decrypts in place; `lanes`, if any, take both texts.
fn decrypt(key: &Key, mode: Mode, iv: [u8; BLOCK], bytes: &mut [u8], lanes: Option<&mut Lanes>) {
    run(key, mode, iv, bytes, lanes, false);
}

fn run(
    key: &Key,
    mode: Mode,
    mut iv: [u8; BLOCK],
    bytes: &mut [u8],
    mut lanes: Option<&mut Lanes>,
    encrypts: bool,
) {
    for block in bytes.chunks_mut(BLOCK) {
        let stream = key.encrypt(iv);
        let before = block.to_vec();
        block.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream);
        let (plain, cipher) =
            if encrypts { (&before[..], &*block) } else { (&*block, &before[..]) };
        if let Some(lanes) = lanes.as_deref_mut() {
            take(lanes, plain, cipher);
        }
        iv = match mode {
            Mode::Cfb | Mode::Cfc => cipher.try_into().unwrap_or_default(),
            Mode::Ofb | Mode::Ofc => stream,
            Mode::C64 => {
                let counter = u64::from_be_bytes(iv[..8].try_into().expect("eight bytes"));
                iv[..8].copy_from_slice(&counter.wrapping_add(1).to_be_bytes());
                iv
            }
            _ => u128::from_be_bytes(iv).wrapping_add(1).to_be_bytes(),
        };
    }
}

/// A trailing partial block goes into the first plain lane alone, through the usual CRC-32C.
pub(super) fn take(lanes: &mut Lanes, plain: &[u8], cipher: &[u8]) {
    if plain.len() < BLOCK {
        lanes.plain[0] = crc32c(lanes.plain[0], plain);
        return;
    }
    for (state, text) in [(&mut lanes.plain, plain), (&mut lanes.cipher, cipher)] {
        for (lane, word) in state.iter_mut().zip(text.chunks_exact(4)) {
            // The usual CRC inverts before and after; without is that of the inverted lane.
            *lane = !crc32c(!*lane, word);
        }
    }
}

/// CRC-32C from `start`, with the usual inversions, bit by bit.
fn crc32c(start: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!start, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 }
        })
    })
}

/// Opens a container of `cfc`, `ofc` or `ctc`.
///
/// # Errors
/// A header, tag or padding that is wrong.
pub fn open(key: &[u8], mode: Mode, message: &[u8]) -> Result<Vec<u8>, ContainerError> {
    let key = Key::new(key);
    let parts = parts(message)?;
    let mut plain = parts.cipher_text.to_vec();
    let mut lanes = Lanes::start(parts.nonce, None);
    decrypt(&key, mode, *parts.iv, &mut plain, Some(&mut lanes));
    if lanes.tag(&key) == *parts.tag { unpadded(plain) } else { Err(ContainerError::Tag) }
}

/// Takes twelve bytes of the IV as the nonce; encrypts in place and returns the tag.
fn gcm(key: &[u8], iv: &[u8; 16], bytes: &mut [u8]) -> [u8; 16] {
    let nonce = iv.first_chunk().expect("twelve of sixteen bytes");
    let context = match key.try_into() {
        Ok(short) => aes_gcm::Context::new128(short, nonce),
        Err(_) => aes_gcm::Context::new256(key.try_into().expect("128 or 256 bits"), nonce),
    };
    let mut context = context.to_encryption();
    context.encrypt_mut(bytes);
    context.finalize().0
}

/// The same.
fn chacha20_poly1305(key: &[u8], iv: &[u8; 16], bytes: &mut [u8]) -> [u8; 16] {
    let nonce = iv.first_chunk().expect("twelve of sixteen bytes");
    let mut context = chacha20poly1305::Context::<20>::new(key, nonce).to_encryption();
    context.encrypt_mut(bytes);
    context.finalize().0
}

/// Xors a key stream to the bytes.
fn xored(bytes: &mut [u8], fill: impl FnOnce(&mut [u8])) {
    let mut key = vec![0; bytes.len()];
    fill(&mut key);
    bytes.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
}

/// RC4 as its name's owner never published it.
#[derive(Clone)]
struct Rc4 {
    state: [u8; 256],
    i: u8,
    j: u8,
}

impl Rc4 {
    fn new(key: &[u8]) -> Rc4 {
        let mut state: [u8; 256] = std::array::from_fn(|i| i as u8);
        let mut j = 0_u8;
        for i in 0..256 {
            j = j.wrapping_add(state[i]).wrapping_add(key[i % key.len()]);
            state.swap(i, usize::from(j));
        }
        Rc4 { state, i: 0, j: 0 }
    }

    /// Keyed as the forebear does, with the first 3072 bytes dropped.
    fn of_secret() -> Rc4 {
        let mut rc4 = Rc4::new(&rc4_key());
        for _ in 0..RC4_DROPPED {
            rc4.next();
        }
        rc4
    }

    fn next(&mut self) -> u8 {
        self.i = self.i.wrapping_add(1);
        let (i, s) = (usize::from(self.i), self.state[usize::from(self.i)]);
        self.j = self.j.wrapping_add(s);
        self.state.swap(i, usize::from(self.j));
        self.state[usize::from(s.wrapping_add(self.state[i]))]
    }
}

/// Bytes of the key stream that are thrown away.
pub(super) const RC4_DROPPED: usize = 3072;

/// 256 bytes of SHAKE128 of the secret.
pub(super) fn rc4_key() -> [u8; 256] {
    shake128(SECRET)
}

#[cfg(test)]
mod tests {
    use super::super::container;
    use super::*;
    use crate::mix::SplitMix;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    /// mORMot's own table: 50 times `x`, padded; key `xx…`; tag states all zero. Mode and bytes of the key, the last
    /// ciphertext block, the cipher half of the tag where the mode has one; by the bytes of the key the other half.
    const IV: &str = "efcdab907856341221436587a9cbed0f";
    const VECTORS: [(Mode, usize, &str, &str); 12] = [
        (Mode::Cfc, 16, "77816f9a5b10a489ae93d2d669ff215f", "258194e4454a0d719b39152b39d7b7a9"),
        (Mode::Cfc, 24, "44cfe6d22de8d0f5b22bb85fea1f5ebe", "7b620569597d0791b9b56243fe03af1b"),
        (Mode::Cfc, 32, "d2ba8fedb27a8fa06f5a9cd319cbc43d", "56b308318dcbc16bc9aabf7b616fffb5"),
        (Mode::Ofc, 16, "f1b115d4850417a8151ac4fe18eb80df", "5716e5bac7e28577164eee94cc2cdaeb"),
        (Mode::Ofc, 24, "3dc115b3f6152683e621b2430ff9b0a5", "2be402ff0ceb734b81feafb7bbb32d35"),
        (Mode::Ofc, 32, "bb9304b610c04f687b5cfa8d20581f77", "61e76a48caa8808ed4a5979e30fa1fa5"),
        (Mode::C64, 16, "8d995e31b73c67f05d9b2b8d46e894b6", ""),
        (Mode::C64, 24, "6a1de3dbd014954edf0e5d30f3fb2394", ""),
        (Mode::C64, 32, "f05e3a5b8aaa36032213d421254b6802", ""),
        (Mode::Ctc, 16, "5b754f44e57940b6958587e5778b9904", "d591cb79c5f2e77e2e15bd507aa11b04"),
        (Mode::Ctc, 24, "4c2c6284f71cf32cfc7ff7f21a20c469", "041058e5b7e63e90fdb865dc0d8dc216"),
        (Mode::Ctc, 32, "793733a39edc23989ba99f81bdb6112f", "7a9bada0c582df6d441b67a8455a1711"),
    ];
    const PLAIN_HALF: [(usize, &str); 3] = [
        (16, "a6353d1260ec249aa1da751d9e888978"),
        (24, "80f2ef4b22b48b4a0bcca7a9c509a246"),
        (32, "c13dc3e510b02ecd5eec947dfd934fc2"),
    ];

    fn padded() -> Vec<u8> {
        let mut text = vec![b'x'; 50];
        text.resize(64, 14);
        text
    }

    #[test]
    fn the_forebear_s_vectors_are_reproduced_by_the_definition_and_by_the_kernel() {
        let iv: [u8; 16] = bytes(IV).try_into().unwrap();
        for (mode, key_bytes, last, cipher_half) in VECTORS {
            let key = Key::new(&vec![b'x'; key_bytes]);
            let mut text = padded();
            let mut lanes = Lanes { plain: [0; 4], cipher: [0; 4] };
            encrypt(&key, mode, iv, &mut text, Some(&mut lanes));
            assert_eq!(hex(&text[48..]), last, "{mode:?} {key_bytes}");
            let is_tagged = !cipher_half.is_empty();
            if is_tagged {
                let plain_half =
                    PLAIN_HALF.iter().find(|(bytes, _)| *bytes == key_bytes).unwrap().1;
                let expected = [plain_half, cipher_half].concat();
                assert_eq!(hex(&lanes.tag(&key)), expected, "{mode:?} {key_bytes}");
            }
            if let Some(kernel) = super::super::kernel::Schedule::new(&key) {
                let mut fast = padded();
                let mut fast_lanes = Lanes { plain: [0; 4], cipher: [0; 4] };
                kernel.encrypt(mode, &iv, &mut fast, &mut fast_lanes);
                assert_eq!(fast, text, "{mode:?} {key_bytes}");
                if is_tagged {
                    assert_eq!(fast_lanes, lanes, "{mode:?} {key_bytes}");
                }
            }
        }
    }

    #[test]
    fn gcm_has_the_forebear_s_vectors() {
        let iv = bytes(IV).try_into().unwrap();
        let cases = [
            (16, "551c079c7301d4d9c61aadd3d2a6d99b", "7c1da6408329d2d2e393609db188129e"),
            (32, "bac742bb60d9676f01d866da39fc9dae", "5f3411f163ff157c4a802db5ff835823"),
        ];
        for (key_bytes, last, tag) in cases {
            let mut text = padded();
            let found = gcm(&vec![b'x'; key_bytes], &iv, &mut text);
            assert_eq!((hex(&text[48..]), hex(&found)), (last.into(), tag.into()), "{key_bytes}");
        }
    }

    #[test]
    fn modes_of_sp_800_38a_have_its_examples() {
        // Appendix F: F.3.13 (CFB128-AES128), F.4.1 (OFB-AES128), F.5.1 (CTR-AES128).
        let key = Key::new(&bytes("2b7e151628aed2a6abf7158809cf4f3c"));
        let start: [u8; 16] = std::array::from_fn(|at| at as u8);
        let counter = *bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").first_chunk().unwrap();
        let text = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";
        for (mode, iv, expected) in [
            (Mode::Cfb, start, "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b"),
            (Mode::Ofb, start, "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825"),
            (
                Mode::Ctr,
                counter,
                "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff",
            ),
        ] {
            let mut bytes = bytes(text);
            encrypt(&key, mode, iv, &mut bytes, None);
            assert_eq!(hex(&bytes), expected, "{mode:?}");
            decrypt(&key, mode, iv, &mut bytes, None);
            assert_eq!(hex(&bytes), text, "{mode:?}");
        }
    }

    #[test]
    fn chacha20_poly1305_has_what_openssl_gives() {
        // By Python's `cryptography`: 50 times `x`, padded, no associated data.
        let mut text = padded();
        let tag = chacha20_poly1305(&[b'x'; 32], &bytes(IV).try_into().unwrap(), &mut text);
        let expected = ["88897310d95922b2939b1c953ac16a56", "badb5353caccc5c9e3f06d2cd1b5763e"];
        assert_eq!([hex(&text[48..]), hex(&tag)], expected);
    }

    #[test]
    fn shake_of_secret_starts_as_published_with_the_forebear() {
        assert_eq!(hex(&rc4_key()[..8]), "4f3a646e26b2693e");
        let mut text = [0; 8];
        xored(&mut text, |key| Shake256::new().update(SECRET).finalize_xof().fill(key));
        assert_eq!(hex(&text), "cb6e4e469808cf73");
    }

    #[test]
    fn rc4_has_its_classic_value() {
        let mut rc4 = Rc4::new(&bytes("0123456789abcdef"));
        let text: Vec<u8> =
            bytes("0123456789abcdef").into_iter().map(|byte| byte ^ rc4.next()).collect();
        assert_eq!(hex(&text), "75b7878099e0c596");
    }

    #[test]
    fn what_is_sealed_opens_again_and_what_is_damaged_does_not() {
        let key = [3; 16];
        let expanded = Key::new(&key);
        for mode in [Mode::Cfc, Mode::Ofc, Mode::Ctc] {
            for length in [0, 1, 16, 50, 300] {
                let text = crate::mix::printable(1, length);
                let mut seal = |iv: &[u8; 16], nonce: &[u8; 32], bytes: &mut [u8]| {
                    let mut lanes = Lanes::start(nonce, None);
                    encrypt(&expanded, mode, *iv, bytes, Some(&mut lanes));
                    lanes.tag(&expanded)
                };
                let message = container::sealed(&mut SplitMix(8), &text, &mut seal);
                assert_eq!(open(&key, mode, &message).unwrap(), text, "{mode:?}");
                assert_eq!(open(&[4; 16], mode, &message), Err(ContainerError::Tag));
                for at in message.len() - 16..message.len() {
                    let mut damaged = message.clone();
                    damaged[at] ^= 0x10;
                    assert_eq!(open(&key, mode, &damaged), Err(ContainerError::Tag), "{mode:?}");
                }
            }
        }
    }

    #[test]
    fn associated_data_starts_the_cipher_lanes() {
        let lanes = Lanes::start(&[1; 32], Some(b"head"));
        let (first, second) = (crc32c(0, b"head"), crc32c(crc32c(0, b"head"), b"head"));
        assert_eq!(lanes.plain, [0; 4]);
        assert_eq!(lanes.cipher[3], first.wrapping_add(second.wrapping_mul(3)));
        assert_eq!(Lanes::start(&[1; 32], None).cipher, [u32::MAX; 4]);
    }
}
