//! The crate `md-5` of RustCrypto: MD5 in portable code, since no processor has an instruction for it.

use fathom_measure::contender::{Meta, Path, Simple};
use hmac::{Hmac, KeyInit, Mac};
use md5::Digest;

use super::workload::{Messages, Operation, SECRET};

pub(super) const MD5: Simple<Messages> = Simple {
    meta: Meta {
        hardware: Path::portable,
        ..Meta::of_crate("md-5", "MIT OR Apache-2.0", include_str!("md5.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Md5 => workload.timed(|bytes| md5::Md5::digest(bytes).0),
        Operation::HmacMd5 => workload.timed(|bytes| {
            let mac = Hmac::<md5::Md5>::new_from_slice(SECRET).expect("any key is allowed");
            mac.chain_update(bytes).finalize().into_bytes().0
        }),
        _ => workload.operation.unsupported(),
    },
};
