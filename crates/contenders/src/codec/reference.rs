//! No compression: the texts are stored. What copying alone costs, and the oracle of what must come
//! back.

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Codec, Texts};

pub(super) struct Stored;

pub(super) const STORED: Simple<Texts> = Simple {
    meta: Meta {
        name: "stored",
        caveat: "compresses nothing",
        ..Meta::of(include_str!("reference.rs"))
    },
    prepare: |workload| workload.coded(Stored),
};

impl Codec for Stored {
    fn compress(&mut self, plain: &[u8], payload: &mut Vec<u8>) {
        payload.extend_from_slice(plain);
    }

    fn decompress(&mut self, payload: &[u8], plain: &mut [u8]) -> bool {
        plain.copy_from_slice(payload);
        true
    }
}
