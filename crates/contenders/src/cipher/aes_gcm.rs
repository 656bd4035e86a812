//! The crate `aes-gcm` of RustCrypto: `aes` in counter mode and GHASH on the carry-less multiplication,
//! one after the other.

use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes128Gcm, Aes256Gcm, KeyInit, Nonce};
use fathom_measure::contender::{Meta, Simple};

use super::reference::with_zeros;
use super::workload::{Messages, Mode, Operation};

pub(super) const AES_GCM: Simple<Messages> = Simple {
    meta: Meta::of_crate("aes-gcm", "Apache-2.0 OR MIT", include_str!("aes_gcm.rs")),
    prepare: |workload| match workload.operation {
        Operation::Aes(128, Mode::Gcm) => {
            let cipher = Aes128Gcm::new(&workload.key_array().into());
            workload.sealed(move |iv, _, bytes| sealed(&cipher, iv, bytes))
        }
        Operation::Aes(256, Mode::Gcm) => {
            let cipher = Aes256Gcm::new(&workload.key_array().into());
            workload.sealed(move |iv, _, bytes| sealed(&cipher, iv, bytes))
        }
        _ => workload.operation.unsupported(),
    },
};

fn sealed<C>(cipher: &C, iv: &[u8; 16], bytes: &mut [u8]) -> [u8; 32]
where
    C: AeadInOut<NonceSize = aes_gcm::aead::consts::U12, TagSize = aes_gcm::aead::consts::U16>,
{
    let nonce = Nonce::try_from(&iv[..12]).expect("twelve bytes");
    let tag = cipher.encrypt_inout_detached(&nonce, b"", bytes.into()).expect("short enough");
    with_zeros(tag.0)
}
