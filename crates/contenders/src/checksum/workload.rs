//! The workload of the family: buffers of seeded bytes, each summed from its first byte to its last.

use fathom_measure::contender::{Preparation, Unsupported};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::mix::{self, Mix, Output};

/// Buffers to sum and how.
pub struct Buffer {
    /// Which sum.
    pub operation: Operation,
    mix: Mix,
}

/// Which sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// CRC-32/ISCSI: Castagnoli's polynomial.
    Crc32c,
    /// CRC-32/ISO-HDLC: the one of Ethernet, gzip and PNG.
    Crc32,
    /// Adler-32 of RFC 1950, started at 1.
    Adler32,
    /// XXH32, seed 0.
    Xxhash32,
    /// The 64-bit XXH3, seed 0.
    Xxh3,
    /// mORMot's `Hash32`: two running sums.
    Hash32,
    /// mORMot's `AesNiHash64`: AES rounds over the last blocks, seed 0.
    AesNiHash,
}

const OPERATIONS: &[Offer] = &[
    Offer { name: "crc32c", default: "", doc: "CRC-32/ISCSI, Castagnoli's polynomial" },
    Offer { name: "crc32", default: "", doc: "CRC-32/ISO-HDLC, of Ethernet, gzip and PNG" },
    Offer { name: "adler32", default: "", doc: "Adler-32 of RFC 1950 (mORMot's row starts at 0)" },
    Offer { name: "xxhash32", default: "", doc: "XXH32, seed 0" },
    Offer { name: "xxh3", default: "", doc: "XXH3, 64 bits, seed 0" },
    Offer { name: "hash32", default: "", doc: "mORMot's two running sums; weak as a table hash" },
    Offer { name: "aesnihash", default: "", doc: "mORMot's hash of AES rounds, 64 bits, seed 0" },
];

/// In the order of `OPERATIONS`.
const EACH: [Operation; 7] = [
    Operation::Crc32c,
    Operation::Crc32,
    Operation::Adler32,
    Operation::Xxhash32,
    Operation::Xxh3,
    Operation::Hash32,
    Operation::AesNiHash,
];

impl Workload for Buffer {
    const OPERATIONS: &'static [Offer] = OPERATIONS;
    const PARAMETERS: &'static [Offer] = mix::PARAMETERS;

    fn load(spec: &Spec) -> Result<Buffer, SpecError> {
        let at = OPERATIONS.iter().position(|offer| offer.name == spec.operation);
        Ok(Buffer { operation: EACH[at.unwrap_or(0)], mix: Mix::load(spec)? })
    }

    fn work(&self) -> Work {
        self.mix.work()
    }

    fn cases() -> Vec<Spec> {
        mix::cases(OPERATIONS, &["mix", "8", "64", "1K", "64K", "1M"])
    }

    fn small_cases() -> Vec<Spec> {
        mix::cases(OPERATIONS, &["0", "1", "7", "31", "64", "129", "1000", "5K", "mix"])
    }
}

impl Buffer {
    /// A contender that sums each buffer with `sum`.
    pub(super) fn timed<'w, O: Output>(
        &'w self,
        sum: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Preparation<'w> {
        Ok(self.mix.timed(sum))
    }

    /// What a contender without this operation answers.
    pub(super) fn unsupported<'w>(&self) -> Preparation<'w> {
        let at = EACH.iter().position(|operation| *operation == self.operation).unwrap_or(0);
        Err(Unsupported::operation(OPERATIONS[at].name))
    }
}
