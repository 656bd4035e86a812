//! The crate `shake` of RustCrypto as a stream cipher: its output is xored to the bytes through a
//! buffer of one permutation.

use fathom_measure::contender::{Meta, Simple};
use shake::digest::{ExtendableOutput, Update, XofReader};
use shake::{Shake128, Shake256};

use super::workload::{Messages, Operation, SECRET};
use crate::library;

pub(super) const SHAKE: Simple<Messages> = Simple {
    meta: Meta {
        hardware: library::arm_alone,
        ..Meta::of_crate("shake", "MIT OR Apache-2.0", include_str!("shake.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Shake128 => workload.streamed(
            || Stream::<_, 168>::new(Shake128::default().chain(SECRET).finalize_xof()),
            Stream::apply,
        ),
        Operation::Shake256 => workload.streamed(
            || Stream::<_, 136>::new(Shake256::default().chain(SECRET).finalize_xof()),
            Stream::apply,
        ),
        _ => workload.operation.unsupported(),
    },
};

/// A key stream, read one permutation at a time.
struct Stream<R, const RATE: usize> {
    reader: R,
    block: [u8; RATE],
    used: usize,
}

impl<R: XofReader, const RATE: usize> Stream<R, RATE> {
    fn new(reader: R) -> Self {
        Stream { reader, block: [0; RATE], used: RATE }
    }

    fn apply(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            if self.used == RATE {
                self.reader.read(&mut self.block);
                self.used = 0;
            }
            let (now, later) = bytes.split_at_mut(bytes.len().min(RATE - self.used));
            now.iter_mut().zip(&self.block[self.used..]).for_each(|(byte, key)| *byte ^= key);
            self.used += now.len();
            bytes = later;
        }
    }
}
