//! AES in the modes of mORMot on AES and CRC instructions: those that no library has (`c64`, `cfc`,
//! `ofc`, `ctc`), and `cfb`, `ofb`, `ctr` of the same making, to compare them with.
//!
//! One 128-bit block per register, eight in flight in the counter modes; with VAES, AVX-512 and
//! VPCLMULQDQ four per register, and the tag by carry-less multiplication. No GCM: libraries do it well.

use fathom_measure::contender::{Meta, Path, Simple, Unsupported};

use super::container::Lanes;
use super::kernel::{Schedule, is_wide};
use super::workload::{Messages, Mode, Operation};
use crate::aes::Key;

pub(super) const FATHOM: Simple<Messages> = Simple {
    meta: Meta {
        name: "fathom",
        caveat: "the tags of cfc, ofc and ctc are CRCs: they find accidents, not forgers",
        hardware: |operation| {
            let is_counter = ["-c64", "-ctr", "-ctc"].iter().any(|mode| operation.ends_with(mode));
            Path::takes(if is_counter && is_wide() { "vaes-avx512" } else { "aes" })
        },
        ..Meta::of(include_str!("fathom.rs"))
    },
    prepare: |workload| {
        let Operation::Aes(_, mode) = workload.operation else {
            return workload.operation.unsupported();
        };
        if mode == Mode::Gcm {
            return workload.operation.unsupported();
        }
        let schedule = Schedule::new(&Key::new(workload.key()))
            .ok_or_else(|| Unsupported("needs AES and CRC instructions".into()))?;
        let mut unused = Lanes { plain: [0; 4], cipher: [0; 4] };
        match mode {
            Mode::Cfc | Mode::Ofc | Mode::Ctc => workload.sealed(move |iv, nonce, bytes| {
                let mut lanes = Lanes::start(nonce, None);
                schedule.encrypt(mode, iv, bytes, &mut lanes);
                lanes.tag_of(schedule.block(lanes.plain_halves()))
            }),
            _ => workload.encrypted(move |iv, bytes| {
                schedule.encrypt(mode, iv, bytes, &mut unused);
            }),
        }
    },
};
