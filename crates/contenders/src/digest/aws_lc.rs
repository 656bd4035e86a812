//! The crate `aws-lc-rs`: Amazon's fork of BoringSSL, with assembly of its own, behind the interface of
//! `ring`. No MD5 in that interface.

use fathom_measure::contender::{Meta, Preparation, Simple};

use super::ring::by_ring;
use super::workload::{Messages, Operation, SECRET};
use crate::library;
use crate::mix::Raw;

pub(super) const AWS_LC: Simple<Messages> = Simple {
    meta: Meta { source: include_str!("aws_lc.rs"), ..library::AWS_LC },
    prepare: |workload| prepared(workload),
};

by_ring! { aws_lc_rs, Sha3_256 SHA3_256, Sha3_512 SHA3_512 }
