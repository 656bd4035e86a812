//! The crate `aws-lc-rs`: AES-GCM and ChaCha20-Poly1305 as `ring` has them, with assembly of its own,
//! and AES in counter and cipher-feedback mode, which keys a new context per message.

use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::container::Tag;
use super::ring::by_ring;
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
        let Operation::Aes(bits, mode @ (Mode::Ctr | Mode::Cfb)) = workload.operation else {
            return sealed(workload);
        };
        let algorithm = if bits == 128 { &AES_128 } else { &AES_256 };
        let key = UnboundCipherKey::new(algorithm, workload.key()).expect("a key of its length");
        let key = match mode {
            Mode::Ctr => EncryptingKey::ctr(key),
            _ => EncryptingKey::cfb128(key),
        };
        let key = key.expect("a mode it has");
        workload.encrypted(move |iv, bytes| {
            let context = EncryptionContext::Iv128(FixedLength::from(iv));
            key.less_safe_encrypt(bytes, context).expect("any length");
        })
    }
}

by_ring! { aws_lc_rs }
