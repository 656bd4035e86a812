//! The crate `crc32c`: the processor's CRC instruction over three interleaved streams, which hide
//! its latency; a slicing table where the processor has none. CRC-32/ISCSI only.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};
use crate::unit;

pub(super) struct Crc32c;

impl Contender<Buffer> for Crc32c {
    fn meta(&self) -> Meta {
        Meta {
            name: "crc32c",
            origin: Origin::Crate("crc32c"),
            link: "https://crates.io/crates/crc32c",
            licence: "Apache-2.0 OR MIT",
            hardware: || unit::CRC32C.path("table"),
            ..Meta::of(include_str!("crc32c.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32c => workload.timed(crc32c::crc32c),
            _ => workload.unsupported(),
        }
    }
}
