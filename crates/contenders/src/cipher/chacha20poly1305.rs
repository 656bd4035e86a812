//! The crate `chacha20poly1305` of RustCrypto: ChaCha20 and Poly1305 on AVX2 or SSE2, or NEON.

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::{KeyInit, Nonce};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::reference::with_zeros;
use super::workload::{Messages, Operation};
use crate::unit;

pub(super) struct ChaCha20Poly1305;

impl Contender<Messages> for ChaCha20Poly1305 {
    fn meta(&self) -> Meta {
        Meta {
            name: "chacha20poly1305",
            origin: Origin::Crate("chacha20poly1305"),
            link: "https://crates.io/crates/chacha20poly1305",
            licence: "Apache-2.0 OR MIT",
            hardware: || unit::VECTOR.path("portable"),
            ..Meta::of(include_str!("chacha20poly1305.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        if workload.operation != Operation::ChaCha20Poly1305 {
            return workload.unsupported();
        }
        let cipher = chacha20poly1305::ChaCha20Poly1305::new(&workload.key_array().into());
        workload.sealed(move |iv, _, bytes| {
            let nonce = Nonce::try_from(&iv[..12]).expect("twelve bytes");
            let tag = cipher.encrypt_inout_detached(&nonce, b"", bytes.into());
            with_zeros(tag.expect("short enough").0)
        })
    }
}
