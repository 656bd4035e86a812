//! The crate `ring`: the assembly of BoringSSL behind a Rust interface. No MD5 and no SHA-3.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use ring::{digest, hmac};

use super::workload::{Messages, Operation, SECRET};
use crate::mix::Raw;
use crate::unit;

pub(super) struct Ring;

impl Contender<Messages> for Ring {
    fn meta(&self) -> Meta {
        Meta {
            name: "ring",
            origin: Origin::Crate("ring"),
            link: "https://crates.io/crates/ring",
            licence: "Apache-2.0 AND ISC",
            hardware: || "run-time assembly".into(),
            ..Meta::of(include_str!("ring.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        // Its SHA-1 is portable code, kept for old protocols only.
        match unit::of(operation) {
            _ if operation.ends_with("sha1") => "portable".into(),
            Some(unit) => unit.path("assembly"),
            None => "assembly".into(),
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        let digest = match workload.operation {
            Operation::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Operation::Sha256 => &digest::SHA256,
            Operation::Sha384 => &digest::SHA384,
            Operation::Sha512 => &digest::SHA512,
            _ => {
                let mac = match workload.operation {
                    Operation::HmacSha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                    Operation::HmacSha256 => hmac::HMAC_SHA256,
                    Operation::HmacSha384 => hmac::HMAC_SHA384,
                    Operation::HmacSha512 => hmac::HMAC_SHA512,
                    _ => return workload.unsupported(),
                };
                return workload
                    .timed(move |bytes| Raw(hmac::sign(&hmac::Key::new(mac, SECRET), bytes)));
            }
        };
        workload.timed(move |bytes| Raw(digest::digest(digest, bytes)))
    }
}
