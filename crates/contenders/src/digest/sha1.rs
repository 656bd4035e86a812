//! The crate `sha1` of RustCrypto: the SHA instructions where there are any, portable code elsewhere.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Digest;

use super::workload::{Messages, Operation, SECRET};
use crate::unit;

pub(super) struct Sha1;

impl Contender<Messages> for Sha1 {
    fn meta(&self) -> Meta {
        Meta {
            name: "sha1",
            origin: Origin::Crate("sha1"),
            link: "https://crates.io/crates/sha1",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::SHA1.path("soft"),
            ..Meta::of(include_str!("sha1.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
            Operation::Sha1 => workload.timed(|bytes| sha1::Sha1::digest(bytes).0),
            Operation::HmacSha1 => workload.timed(|bytes| {
                let mac = Hmac::<sha1::Sha1>::new_from_slice(SECRET).expect("any key is allowed");
                mac.chain_update(bytes).finalize().into_bytes().0
            }),
            _ => workload.unsupported(),
        }
    }
}
