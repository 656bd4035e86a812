//! The crate `ring`: AES-GCM with VAES and VPCLMULQDQ where there are any, and ChaCha20-Poly1305 on
//! AVX2 or NEON, both from BoringSSL. Authenticated ciphers only.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::container::Tag;
use super::workload::{Messages, Mode, Operation};
use crate::unit;

pub(super) struct Ring;

impl Contender<Messages> for Ring {
    fn meta(&self) -> Meta {
        Meta {
            name: "ring",
            origin: Origin::Crate("ring"),
            link: "https://crates.io/crates/ring",
            licence: "Apache-2.0 AND ISC",
            hardware: || unit::WIDE_AES.path("soft"),
            ..Meta::of(include_str!("ring.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            "chacha20-poly1305" => unit::VECTOR.path("soft"),
            _ => unit::WIDE_AES.path("soft"),
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        sealed(workload)
    }
}

/// Defines `sealed` for a library with the interface of `ring`: its authenticated ciphers.
macro_rules! by_ring {
    ($library:ident) => {
        fn sealed(workload: &Messages) -> Preparation<'_> {
            use $library::aead;
            let algorithm = match workload.operation {
                Operation::Aes(128, Mode::Gcm) => &aead::AES_128_GCM,
                Operation::Aes(256, Mode::Gcm) => &aead::AES_256_GCM,
                Operation::ChaCha20Poly1305 => &aead::CHACHA20_POLY1305,
                _ => return workload.unsupported(),
            };
            let key = aead::UnboundKey::new(algorithm, workload.key()).expect("its length");
            let key = aead::LessSafeKey::new(key);
            workload.sealed(move |iv, _, bytes| {
                let nonce = aead::Nonce::try_assume_unique_for_key(&iv[..12]).expect("12 bytes");
                let sealed = key.seal_in_place_separate_tag(nonce, aead::Aad::empty(), bytes);
                let mut tag: Tag = [0; 32];
                tag[..16].copy_from_slice(sealed.expect("short enough").as_ref());
                tag
            })
        }
    };
}
pub(super) use by_ring;

by_ring! { ring }
