//! The crate `ctr` of RustCrypto over its `aes`: several blocks in flight.

use aes::{Aes128, Aes256};
use ctr::cipher::{InnerIvInit, KeyInit, StreamCipher};
use ctr::{Ctr128BE, CtrCore};
use fathom_measure::contender::{Meta, Simple};

use super::workload::{Messages, Mode, Operation};

pub(super) const CTR: Simple<Messages> = Simple {
    meta: Meta::of_crate("ctr", "MIT OR Apache-2.0", include_str!("ctr.rs")),
    prepare: |workload| match workload.operation {
        Operation::Aes(128, Mode::Ctr) => {
            let key = Aes128::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                let core = CtrCore::inner_iv_init(&key, iv.into());
                Ctr128BE::from_core(core).apply_keystream(bytes);
            })
        }
        Operation::Aes(256, Mode::Ctr) => {
            let key = Aes256::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                let core = CtrCore::inner_iv_init(&key, iv.into());
                Ctr128BE::from_core(core).apply_keystream(bytes);
            })
        }
        _ => workload.operation.unsupported(),
    },
};
