//! The crate `ofb` of RustCrypto over its `aes`: one block after the other, as the mode demands.

use aes::{Aes128, Aes256};
use fathom_measure::contender::{Meta, Simple};
use ofb::cipher::{InnerIvInit, KeyInit, StreamCipher};
use ofb::{Ofb as OfbMode, OfbCore};

use super::workload::{Messages, Mode, Operation};

pub(super) const OFB: Simple<Messages> = Simple {
    meta: Meta::of_crate("ofb", "MIT OR Apache-2.0", include_str!("ofb.rs")),
    prepare: |workload| match workload.operation {
        Operation::Aes(128, Mode::Ofb) => {
            let key = Aes128::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                let core = OfbCore::inner_iv_init(&key, iv.into());
                OfbMode::from_core(core).apply_keystream(bytes);
            })
        }
        Operation::Aes(256, Mode::Ofb) => {
            let key = Aes256::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                let core = OfbCore::inner_iv_init(&key, iv.into());
                OfbMode::from_core(core).apply_keystream(bytes);
            })
        }
        _ => workload.operation.unsupported(),
    },
};
