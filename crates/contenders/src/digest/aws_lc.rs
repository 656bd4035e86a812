//! The crate `aws-lc-rs`: Amazon's fork of BoringSSL, with assembly of its own, behind the interface of
//! `ring`. No MD5 in that interface.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::ring::by_ring;
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
        prepared(workload)
    }
}

by_ring! { aws_lc_rs, Sha3_256 SHA3_256, Sha3_512 SHA3_512 }
