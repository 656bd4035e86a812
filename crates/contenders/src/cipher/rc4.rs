//! The crate `rc4` of RustCrypto: portable code, one byte after the other. RC4 is broken.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use rc4::{KeyInit, StreamCipher};

use super::reference::{RC4_DROPPED, rc4_key};
use super::workload::{Messages, Operation};

pub(super) struct Rc4;

impl Contender<Messages> for Rc4 {
    fn meta(&self) -> Meta {
        Meta {
            name: "rc4",
            origin: Origin::Crate("rc4"),
            link: "https://crates.io/crates/rc4",
            licence: "MIT OR Apache-2.0",
            caveat: "RC4 is broken: not for new use",
            ..Meta::of(include_str!("rc4.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        if workload.operation != Operation::Rc4 {
            return workload.unsupported();
        }
        let key = rc4_key();
        let fresh = move || {
            let mut rc4 = rc4::Rc4::new_from_slice(&key).expect("256 bytes are allowed");
            rc4.apply_keystream(&mut [0; RC4_DROPPED]);
            rc4
        };
        workload.streamed(fresh, |rc4, bytes| rc4.apply_keystream(bytes))
    }
}
