//! The crate `chacha20poly1305` of RustCrypto: ChaCha20 on AVX2, SSE2 or NEON, Poly1305 on AVX2 or
//! portable.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, Nonce};
use fathom_measure::contender::{Meta, Simple};

use super::reference::with_zeros;
use super::workload::{Messages, Operation};

pub(super) const CHA_CHA20_POLY1305: Simple<Messages> = Simple {
    meta: Meta::of_crate(
        "chacha20poly1305",
        "Apache-2.0 OR MIT",
        include_str!("chacha20poly1305.rs"),
    ),
    prepare: |workload| {
        if workload.operation != Operation::ChaCha20Poly1305 {
            return workload.operation.unsupported();
        }
        let cipher = chacha20poly1305::ChaCha20Poly1305::new(&workload.key_array().into());
        workload.sealed(move |iv, _, bytes| {
            let nonce = Nonce::try_from(&iv[..12]).expect("twelve bytes");
            let tag = cipher.encrypt_inout_detached(&nonce, b"", bytes.into());
            with_zeros(tag.expect("short enough").0)
        })
    },
};
