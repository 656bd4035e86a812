//! Checksums: a few bytes that change when the data changes by accident.
//!
//! None of them resists anybody who changes the data on purpose. One iteration sums one buffer.

use fathom_measure::family::Family;

mod crc32c;
mod crc_fast;
mod reference;
mod workload;

pub use workload::{Buffer, Operation};

/// The family.
pub static FAMILY: Family<Buffer> = Family {
    name: "checksum",
    source: include_str!("mod.rs"),
    reference: "table",
    contenders: &[&reference::Table, &crc32c::Crc32c, &crc_fast::CrcFast],
    absent: &[],
};
