//! The crate `sha1` of RustCrypto: the SHA instructions where there are any, portable code elsewhere.

use fathom_measure::contender::{Meta, Simple};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Digest;

use super::workload::{Messages, Operation, SECRET};

pub(super) const SHA1: Simple<Messages> = Simple {
    meta: Meta::of_crate("sha1", "MIT OR Apache-2.0", include_str!("sha1.rs")),
    prepare: |workload| match workload.operation {
        Operation::Sha1 => workload.timed(|bytes| sha1::Sha1::digest(bytes).0),
        Operation::HmacSha1 => workload.timed(|bytes| {
            let mac = Hmac::<sha1::Sha1>::new_from_slice(SECRET).expect("any key is allowed");
            mac.chain_update(bytes).finalize().into_bytes().0
        }),
        _ => workload.operation.unsupported(),
    },
};
