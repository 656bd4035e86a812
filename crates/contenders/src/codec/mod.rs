//! Lossless compression of short texts: executable code in 101 prefixes, as mORMot's table has it, or
//! generated JSON, or a file.
//!
//! One iteration compresses or decompresses every prefix. Compression writes mORMot's header (CRC-32C of
//! the plain text and of the payload, stored when nothing is gained); decompression checks no CRC, as
//! there. Codecs trade size for time: read the ratio beside the speed.

use fathom_measure::family::{Absent, Family};

use crate::library::{CRATES, native};

#[cfg(feature = "cpu")]
mod deflate;
#[cfg(feature = "native")]
mod libdeflate;
#[cfg(feature = "native")]
mod lz4;
#[cfg(feature = "cpu")]
mod lz4_flex;
mod reference;
#[cfg(feature = "cpu")]
mod ruzstd;
#[cfg(feature = "cpu")]
mod snap;
pub mod synlz;
mod workload;
#[cfg(feature = "cpu")]
mod zlib_rs;
#[cfg(feature = "native")]
mod zstd;

pub use workload::{Operation, Texts};

/// The family.
pub static FAMILY: Family<Texts> = Family {
    name: "codec",
    source: include_str!("mod.rs"),
    reference: "stored",
    contenders: contenders![
        &reference::STORED,
        &synlz::SYN_LZ,
        #[cfg(feature = "cpu")]
        &lz4_flex::LZ4_FLEX,
        #[cfg(feature = "cpu")]
        &snap::SNAP,
        #[cfg(feature = "cpu")]
        &deflate::Deflate,
        #[cfg(feature = "cpu")]
        &zlib_rs::ZlibRs,
        #[cfg(feature = "cpu")]
        &ruzstd::RUZSTD,
        #[cfg(feature = "native")]
        &lz4::LZ4,
        #[cfg(feature = "native")]
        &zstd::Zstd,
        #[cfg(feature = "native")]
        &libdeflate::Libdeflate,
    ],
    absent: &[
        CRATES,
        native("lz4"),
        native("zstd"),
        native("libdeflate"),
        Absent::left_out("lizard", LIZARD),
        Absent::left_out("lizard-fast", "level 10 of lizard; see there"),
        Absent::left_out("lizard-huffman", "level 41 of lizard; see there"),
    ],
    facts: &workload::FACTS,
};

const LIZARD: &str = "mORMot's Lizard is level 17 of a C library that no crate and no Debian package \
                      builds; nor are streams published that a decoder of our own could be checked with";
