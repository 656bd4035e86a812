//! The crate `aws-lc-rs`: Amazon's fork of BoringSSL, with assembly of its own, behind the interface of
//! `ring`. No MD5 in that interface.

use aws_lc_rs::{digest, hmac};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Messages, Operation, SECRET};
use crate::mix::Raw;
use crate::unit;

pub(super) struct AwsLc;

impl Contender<Messages> for AwsLc {
    fn meta(&self) -> Meta {
        Meta {
            name: "aws-lc",
            origin: Origin::Crate("aws-lc-rs"),
            link: "https://crates.io/crates/aws-lc-rs",
            licence: "ISC AND (Apache-2.0 OR ISC)",
            hardware: || "run-time assembly".into(),
            ..Meta::of(include_str!("aws_lc.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match unit::of(operation) {
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
            Operation::Sha3_256 => &digest::SHA3_256,
            Operation::Sha3_512 => &digest::SHA3_512,
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
