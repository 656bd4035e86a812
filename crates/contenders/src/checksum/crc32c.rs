//! The crate `crc32c`: the processor's CRC instruction over three interleaved streams, which hide
//! its latency; a slicing table where the processor has none. CRC-32/ISCSI only.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation, Unsupported};

use super::workload::{Buffer, Operation};

pub(super) struct Crc32c;

impl Contender<Buffer> for Crc32c {
    fn meta(&self) -> Meta {
        Meta {
            name: "crc32c",
            origin: Origin::Crate("crc32c"),
            link: "https://crates.io/crates/crc32c",
            licence: "Apache-2.0 OR MIT",
            hardware,
            ..Meta::of(include_str!("crc32c.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Crc32c => workload.timed(crc32c::crc32c),
            Operation::Crc32 => Err(Unsupported::operation("crc32")),
        }
    }
}

/// The same question the crate asks.
fn hardware() -> String {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        return "sse4.2".into();
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("crc") {
        return "crc".into();
    }
    "table".into()
}
