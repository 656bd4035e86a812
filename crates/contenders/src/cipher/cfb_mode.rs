//! The crate `cfb-mode` of RustCrypto over its `aes`: one block after the other, as the mode demands.

use aes::{Aes128, Aes256};
use cfb_mode::Encryptor;
use cfb_mode::cipher::{InnerIvInit, KeyInit};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Messages, Mode, Operation};
use crate::unit;

pub(super) struct CfbMode;

impl Contender<Messages> for CfbMode {
    fn meta(&self) -> Meta {
        Meta {
            name: "cfb-mode",
            origin: Origin::Crate("cfb-mode"),
            link: "https://crates.io/crates/cfb-mode",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::AES.path("soft"),
            ..Meta::of(include_str!("cfb_mode.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
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
            _ => workload.unsupported(),
        }
    }
}
