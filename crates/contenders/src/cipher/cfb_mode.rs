//! The crate `cfb-mode` of RustCrypto over its `aes`: one block after the other, as the mode demands.

use aes::{Aes128, Aes256};
use cfb_mode::Encryptor;
use cfb_mode::cipher::{InnerIvInit, KeyInit};
use fathom_measure::contender::{Meta, Simple};

use super::workload::{Messages, Mode, Operation};

pub(super) const CFB_MODE: Simple<Messages> = Simple {
    meta: Meta::of_crate("cfb-mode", "MIT OR Apache-2.0", include_str!("cfb_mode.rs")),
    prepare: |workload| match workload.operation {
        Operation::Aes(128, Mode::Cfb) => {
            let key = Aes128::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                Encryptor::<&Aes128>::inner_iv_init(&key, iv.into()).encrypt(bytes);
            })
        }
        Operation::Aes(256, Mode::Cfb) => {
            let key = Aes256::new(&workload.key_array().into());
            workload.encrypted(move |iv, bytes| {
                Encryptor::<&Aes256>::inner_iv_init(&key, iv.into()).encrypt(bytes);
            })
        }
        _ => workload.operation.unsupported(),
    },
};
