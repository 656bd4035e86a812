//! The workload of the family: one buffer of seeded bytes, summed from its first byte to its last.

use fathom_measure::contender::{Preparation, timed};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

/// Bytes to sum and how.
pub struct Buffer {
    /// Which sum.
    pub operation: Operation,
    bytes: Vec<u8>,
}

/// Which sum. The names are those of the catalogue of parametrised CRC algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// CRC-32/ISCSI: Castagnoli's polynomial.
    Crc32c,
    /// CRC-32/ISO-HDLC: the one of Ethernet, gzip and PNG.
    Crc32,
}

impl Workload for Buffer {
    const OPERATIONS: &'static [Offer] = &[
        Offer { name: "crc32c", default: "", doc: "CRC-32/ISCSI, Castagnoli's polynomial" },
        Offer { name: "crc32", default: "", doc: "CRC-32/ISO-HDLC, of Ethernet, gzip and PNG" },
    ];
    const PARAMETERS: &'static [Offer] = &[
        Offer { name: "size", default: "64K", doc: "bytes in the buffer" },
        Offer { name: "seed", default: "1", doc: "seed of the bytes" },
    ];

    fn load(spec: &Spec) -> Result<Buffer, SpecError> {
        let operation =
            if spec.operation == "crc32" { Operation::Crc32 } else { Operation::Crc32c };
        let size = usize::try_from(spec.number("size")?).ok().filter(|&size| size <= 1 << 32);
        let size = size.ok_or_else(|| spec.bad("size", "at most 4G"))?;
        Ok(Buffer { operation, bytes: seeded_bytes(spec.number("seed")?, size) })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes.len() as u64, items: 1 }
    }

    fn cases() -> Vec<Spec> {
        let sizes = ["64", "1K", "64K", "1M"];
        let operations = ["crc32c", "crc32"];
        let case = |operation| sizes.map(|size| Spec::new(operation, &[("size", size)]));
        operations.into_iter().flat_map(case).collect()
    }

    fn small_cases() -> Vec<Spec> {
        let sizes = ["0", "1", "7", "64", "1000", "5K"];
        let operations = ["crc32c", "crc32"];
        let case = |operation| sizes.map(|size| Spec::new(operation, &[("size", size)]));
        operations.into_iter().flat_map(case).collect()
    }
}

impl Buffer {
    /// A contender that sums the buffer with `sum`.
    pub(super) fn timed(&self, sum: impl FnMut(&[u8]) -> u32 + 'static) -> Preparation<'_> {
        Ok(timed(&self.bytes[..], sum, |sum| Digest::of_u64(sum.into())))
    }
}

/// `size` bytes of the SplitMix64 sequence of `seed`.
fn seeded_bytes(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(size + 7);
    while bytes.len() < size {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(z ^ (z >> 31)).to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}
