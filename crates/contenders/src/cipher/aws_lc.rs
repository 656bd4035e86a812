//! The crate `aws-lc-rs`: AES-GCM and ChaCha20-Poly1305 as `ring` has them, with assembly of its own,
//! and AES in counter and cipher-feedback mode, which keys a new context per message.

use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::container::Tag;
use super::workload::{Messages, Mode, Operation};
use crate::unit;

pub(super) struct AwsLc;

impl Contender<Messages> for AwsLc {
    fn meta(&self) -> Meta {
        Meta {
            name: "aws-lc",
            origin: Origin::Crate("aws-lc-rs"),
            link: "https://crates.io/crates/aws-lc-rs",
            licence: "ISC AND (Apache-2.0 OR ISC)",
            hardware: || unit::WIDE_AES.path("soft"),
            caveat: "ctr and cfb expand the key for every message",
            ..Meta::of(include_str!("aws_lc.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            "chacha20-poly1305" => unit::VECTOR.path("soft"),
            _ => unit::WIDE_AES.path("soft"),
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        let algorithm = match workload.operation {
            Operation::Aes(128, Mode::Gcm) => &AES_128_GCM,
            Operation::Aes(256, Mode::Gcm) => &AES_256_GCM,
            Operation::ChaCha20Poly1305 => &CHACHA20_POLY1305,
            Operation::Aes(bits, mode @ (Mode::Ctr | Mode::Cfb)) => {
                let algorithm = if bits == 128 { &AES_128 } else { &AES_256 };
                let key = UnboundCipherKey::new(algorithm, workload.key()).expect("its length");
                let key = match mode {
                    Mode::Ctr => EncryptingKey::ctr(key),
                    _ => EncryptingKey::cfb128(key),
                };
                let key = key.expect("a mode it has");
                return workload.encrypted(move |iv, bytes| {
                    let context = EncryptionContext::Iv128(FixedLength::from(iv));
                    key.less_safe_encrypt(bytes, context).expect("any length");
                });
            }
            _ => return workload.unsupported(),
        };
        let key = UnboundKey::new(algorithm, workload.key()).expect("a key of its length");
        let key = LessSafeKey::new(key);
        workload.sealed(move |iv, _, bytes| {
            let nonce = Nonce::try_assume_unique_for_key(&iv[..12]).expect("twelve bytes");
            let sealed = key.seal_in_place_separate_tag(nonce, Aad::empty(), bytes);
            let mut tag: Tag = [0; 32];
            tag[..16].copy_from_slice(sealed.expect("short enough").as_ref());
            tag
        })
    }
}
