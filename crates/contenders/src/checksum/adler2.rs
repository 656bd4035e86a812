//! The crate `adler2`: Adler-32 without vector code of its own, as `miniz_oxide` uses it.

use fathom_measure::contender::{Meta, Path, Simple};

use super::workload::{Buffer, Operation};

pub(super) const ADLER2: Simple<Buffer> = Simple {
    meta: Meta {
        hardware: Path::portable,
        ..Meta::of_crate("adler2", "0BSD OR MIT OR Apache-2.0", include_str!("adler2.rs"))
    },
    prepare: |workload| match workload.operation {
        Operation::Adler32 => workload.timed(adler2::adler32_slice),
        _ => workload.operation.unsupported(),
    },
};
