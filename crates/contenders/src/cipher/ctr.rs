//! The crate `ctr` of RustCrypto over its `aes`: several blocks in flight.

use aes::{Aes128, Aes256};
use ctr::cipher::{InnerIvInit, KeyInit, StreamCipher};
use ctr::{Ctr128BE, CtrCore};
use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Messages, Mode, Operation};
use crate::unit;

pub(super) struct Ctr;

impl Contender<Messages> for Ctr {
    fn meta(&self) -> Meta {
        Meta {
            name: "ctr",
            origin: Origin::Crate("ctr"),
            link: "https://crates.io/crates/ctr",
            licence: "MIT OR Apache-2.0",
            hardware: || unit::AES.path("soft"),
            ..Meta::of(include_str!("ctr.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        match workload.operation {
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
            _ => workload.unsupported(),
        }
    }
}
