//! The crate `ring`: AES-GCM with VAES and VPCLMULQDQ where there are any, and ChaCha20-Poly1305 on
//! AVX2 or NEON, both from BoringSSL. Authenticated ciphers only.

use fathom_measure::contender::{Meta, Preparation, Simple};

use super::container::Tag;
use super::workload::{Messages, Mode, Operation};
use crate::library;

pub(super) const RING: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("ring.rs"), ..library::RING },
    prepare: |workload| sealed(workload),
};

/// Defines `sealed` for a library with the interface of `ring`: its authenticated ciphers.
macro_rules! by_ring {
    ($library:ident) => {
        fn sealed(workload: &Messages) -> Preparation<'_> {
            use $library::aead;
            let algorithm = match workload.operation {
                Operation::Aes(128, Mode::Gcm) => &aead::AES_128_GCM,
                Operation::Aes(256, Mode::Gcm) => &aead::AES_256_GCM,
                Operation::ChaCha20Poly1305 => &aead::CHACHA20_POLY1305,
                _ => return workload.operation.unsupported(),
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
