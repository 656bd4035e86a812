//! The crate `ofb` of RustCrypto over its `aes`: one block after the other, as the mode demands.

use aes::{Aes128, Aes256};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use ofb::cipher::{InnerIvInit, KeyInit, StreamCipher};
use ofb::{Ofb as OfbMode, OfbCore};

use super::workload::{Messages, Mode, Operation};
use crate::unit;

pub(super) struct Ofb;

impl Contender<Messages> for Ofb {
    fn meta(&self) -> Meta {
        Meta {
            name: "ofb",
            origin: Origin::Crate("ofb"),
            link: "https://crates.io/crates/ofb",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::AES.path("soft"),
            ..Meta::of(include_str!("ofb.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
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
            _ => workload.unsupported(),
        }
    }
}
