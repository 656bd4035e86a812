//! The crate `aws-lc-rs`: AES-GCM and ChaCha20-Poly1305 as `ring` has them, with assembly of its own,
//! and AES in counter and cipher-feedback mode, which keys a new context per message.

use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::iv::FixedLength;
use fathom_measure::contender::{Meta, Preparation, Simple};

use super::container::Tag;
use super::ring::by_ring;
use super::workload::{Messages, Mode, Operation};
use crate::library;

pub(super) const AWS_LC: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("aws_lc.rs"), ..library::AWS_LC },
    prepare: |workload| {
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
    },
};

by_ring! { aws_lc_rs }
