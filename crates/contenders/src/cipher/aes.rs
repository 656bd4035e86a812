//! The crate `aes` of RustCrypto in mORMot's `c64`: counter blocks through its block interface, 64 at a time,
//! the most that it encrypts at once. It finds the AES instructions when it runs and has constant-time code without them.

use aes::cipher::{Block, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
use fathom_measure::contender::{Meta, Simple};

use super::workload::{Messages, Mode, Operation};

pub(super) const AES: Simple<Messages> = Simple {
    meta: Meta::of_crate("aes", "MIT OR Apache-2.0", include_str!("aes.rs")),
    prepare: |workload| match workload.operation {
        Operation::Aes(128, Mode::C64) => {
            let cipher = Aes128::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| c64(&cipher, iv, bytes))
        }
        Operation::Aes(256, Mode::C64) => {
            let cipher = Aes256::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| c64(&cipher, iv, bytes))
        }
        _ => workload.operation.unsupported(),
    },
};

fn c64<C: BlockCipherEncrypt>(cipher: &C, iv: &[u8; 16], bytes: &mut [u8]) {
    let (counter, nonce) = iv.split_at(8);
    let mut counter = u64::from_be_bytes(counter.try_into().expect("eight bytes"));
    for group in bytes.chunks_mut(64 * 16) {
        let mut stream: [Block<C>; 64] = std::array::from_fn(|_| Block::<C>::default());
        for block in &mut stream {
            block[..8].copy_from_slice(&counter.to_be_bytes());
            block[8..].copy_from_slice(nonce);
            counter = counter.wrapping_add(1);
        }
        let used = group.len().div_ceil(16);
        cipher.encrypt_blocks(&mut stream[..used]);
        for (bytes, stream) in group.chunks_mut(16).zip(&stream) {
            bytes.iter_mut().zip(stream).for_each(|(byte, stream)| *byte ^= stream);
        }
    }
}
