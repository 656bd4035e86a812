//! The crate `md-5` of RustCrypto: MD5 in portable code, since no processor has an instruction for it.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use hmac::{Hmac, KeyInit, Mac};
use md5::Digest;

use super::workload::{Messages, Operation, SECRET};

pub(super) struct Md5;

impl Contender<Messages> for Md5 {
    fn meta(&self) -> Meta {
        Meta {
            name: "md-5",
            origin: Origin::Crate("md-5"),
            link: "https://crates.io/crates/md-5",
            licence: "MIT OR Apache-2.0",
            ..Meta::of(include_str!("md5.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
            Operation::Md5 => workload.timed(|bytes| md5::Md5::digest(bytes).0),
            Operation::HmacMd5 => workload.timed(|bytes| {
                let mac = Hmac::<md5::Md5>::new_from_slice(SECRET).expect("any key is allowed");
                mac.chain_update(bytes).finalize().into_bytes().0
            }),
            _ => workload.unsupported(),
        }
    }
}
