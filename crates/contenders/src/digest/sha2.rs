//! The crate `sha2` of RustCrypto: SHA-256 on the SHA instructions, SHA-384 and SHA-512 on AVX2 or
//! the SHA-512 instructions of ARMv8.2, portable code elsewhere.

use fathom_measure::contender::{Meta, Simple};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::workload::{Messages, Operation, SECRET};

pub(super) const SHA2: Simple<Messages> = Simple {
    meta: Meta::of_crate("sha2", "MIT OR Apache-2.0", include_str!("sha2.rs")),
    prepare: |workload| match workload.operation {
        Operation::Sha256 => workload.timed(|bytes| Sha256::digest(bytes).0),
        Operation::Sha384 => workload.timed(|bytes| Sha384::digest(bytes).0),
        Operation::Sha512 => workload.timed(|bytes| Sha512::digest(bytes).0),
        Operation::HmacSha256 => workload.timed(|bytes| {
            let mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("any key is allowed");
            mac.chain_update(bytes).finalize().into_bytes().0
        }),
        Operation::HmacSha384 => workload.timed(|bytes| {
            let mac = Hmac::<Sha384>::new_from_slice(SECRET).expect("any key is allowed");
            mac.chain_update(bytes).finalize().into_bytes().0
        }),
        Operation::HmacSha512 => workload.timed(|bytes| {
            let mac = Hmac::<Sha512>::new_from_slice(SECRET).expect("any key is allowed");
            mac.chain_update(bytes).finalize().into_bytes().0
        }),
        _ => workload.operation.unsupported(),
    },
};
