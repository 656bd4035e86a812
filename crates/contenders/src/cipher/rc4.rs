//! The crate `rc4` of RustCrypto: portable code, one byte after the other. RC4 is broken.

use fathom_measure::contender::{Meta, Path, Simple};
use rc4::{KeyInit, StreamCipher};

use super::reference::{RC4_DROPPED, rc4_key};
use super::workload::{Messages, Operation};

pub(super) const RC4: Simple<Messages> = Simple {
    meta: Meta {
        caveat: "RC4 is broken: not for new use",
        hardware: Path::portable,
        ..Meta::of_crate("rc4", "MIT OR Apache-2.0", include_str!("rc4.rs"))
    },
    prepare: |workload| {
        if workload.operation != Operation::Rc4 {
            return workload.operation.unsupported();
        }
        let key = rc4_key();
        let fresh = move || {
            let mut rc4 = rc4::Rc4::new_from_slice(&key).expect("256 bytes are allowed");
            rc4.apply_keystream(&mut [0; RC4_DROPPED]);
            rc4
        };
        workload.streamed(fresh, |rc4, bytes| rc4.apply_keystream(bytes))
    },
};
