//! The crate `adler2`: Adler-32 without vector code of its own, as `miniz_oxide` uses it.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};

use super::workload::{Buffer, Operation};

pub(super) struct Adler2;

impl Contender<Buffer> for Adler2 {
    fn meta(&self) -> Meta {
        Meta {
            name: "adler2",
            origin: Origin::Crate("adler2"),
            link: "https://crates.io/crates/adler2",
            licence: "0BSD OR MIT OR Apache-2.0",
            ..Meta::of(include_str!("adler2.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Buffer) -> Preparation<'w> {
        match workload.operation {
            Operation::Adler32 => workload.timed(adler2::adler32_slice),
            _ => workload.unsupported(),
        }
    }
}
