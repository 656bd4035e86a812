//! The crate `ring`: the assembly of BoringSSL behind a Rust interface. No MD5 and no SHA-3.

use fathom_measure::contender::{Meta, Preparation, Simple};

use super::workload::{Messages, Operation, SECRET};
use crate::library;
use crate::mix::Raw;

pub(super) const RING: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("ring.rs"), ..library::RING },
    prepare: |workload| prepared(workload),
};

/// Defines `prepared` for a library with the interface of `ring`, and what it has besides.
macro_rules! by_ring {
    ($library:ident $(, $operation:ident $algorithm:ident)*) => {
        fn prepared(workload: &Messages) -> Preparation<'_> {
            use $library::{digest, hmac};
            let digest = |algorithm| {
                workload.timed(move |bytes| Raw(digest::digest(algorithm, bytes)))
            };
            let mac = |algorithm| {
                workload.timed(move |bytes| {
                    Raw(hmac::sign(&hmac::Key::new(algorithm, SECRET), bytes))
                })
            };
            match workload.operation {
                Operation::Sha1 => digest(&digest::SHA1_FOR_LEGACY_USE_ONLY),
                Operation::Sha256 => digest(&digest::SHA256),
                Operation::Sha384 => digest(&digest::SHA384),
                Operation::Sha512 => digest(&digest::SHA512),
                $(Operation::$operation => digest(&digest::$algorithm),)*
                Operation::HmacSha1 => mac(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
                Operation::HmacSha256 => mac(hmac::HMAC_SHA256),
                Operation::HmacSha384 => mac(hmac::HMAC_SHA384),
                Operation::HmacSha512 => mac(hmac::HMAC_SHA512),
                _ => workload.operation.unsupported(),
            }
        }
    };
}
pub(super) use by_ring;

by_ring! { ring }
