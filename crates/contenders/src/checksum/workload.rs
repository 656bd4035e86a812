//! The workload of the family: buffers of seeded bytes, each summed from its first byte to its last.

use fathom_measure::contender::Preparation;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::mix::{self, Mix, Output};
use crate::tasks::tasks;
use crate::unit;

/// Buffers to sum and how.
pub struct Buffer {
    /// Which sum.
    pub operation: Operation,
    mix: Mix,
}

tasks! {
    /// Which sum.
    Operation {
        Crc32c "crc32c" "CRC-32/ISCSI, Castagnoli's polynomial", form: mix::FORM, best: unit::crc32c;
        Crc32 "crc32" "CRC-32/ISO-HDLC, of Ethernet, gzip and PNG", form: mix::FORM, best: unit::crc32;
        Adler32 "adler32" "Adler-32 of RFC 1950 (mORMot's row starts at 0)", form: mix::FORM, best: unit::vector;
        Xxhash32 "xxhash32" "XXH32, seed 0", form: mix::FORM;
        Xxh3 "xxh3" "XXH3, 64 bits, seed 0", form: mix::FORM, best: unit::vector;
        Hash32 "hash32" "mORMot's two running sums; weak as a table hash", form: mix::FORM, best: unit::vector, alone: OWN;
        AesNiHash "aesnihash" "mORMot's hash of AES rounds, 64 bits, seed 0", form: mix::FORM, best: unit::aes, alone: OWN;
    }
}

const OWN: &str = "the forebear's own; nobody else has it";

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("hash"),
    reference: Timed::AsOracle,
    tasks: Operation::TASKS,
    common: &[
        Common::of("CRC-32C", "crc32c", &["crc32c"]),
        Common::of("XXH3", "xxh3", &["xxhash-c", "xxhash-rust"]),
    ],
    ..Facts::NONE
};

impl Workload for Buffer {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = mix::PARAMETERS;

    fn load(spec: &Spec) -> Result<Buffer, SpecError> {
        Ok(Buffer { operation: Operation::of(spec), mix: Mix::load(spec)? })
    }

    fn work(&self) -> Work {
        self.mix.work()
    }

    fn cases() -> Vec<Spec> {
        mix::cases(Operation::OFFERS, &["mix", "8", "64", "1K", "64K", "1M"])
    }

    fn small_cases() -> Vec<Spec> {
        mix::cases(Operation::OFFERS, &["0", "1", "7", "31", "64", "129", "1000", "5K", "mix"])
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

    /// The same of a library in another language.
    pub(super) fn foreign<'w, O: Output>(
        &'w self,
        sum: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Preparation<'w> {
        Ok(self.mix.foreign(sum))
    }
}
