//! Lossless compression of short texts: executable code in 101 prefixes, as mORMot's table has it, or
//! generated JSON, or a file.
//!
//! One iteration compresses or decompresses every prefix. Compression writes mORMot's header (CRC-32C of
//! the plain text and of the payload, stored when nothing is gained); decompression checks no CRC, as
//! there. Codecs trade size for time: read the ratio beside the speed.

use fathom_measure::family::{Absent, Family};

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
    contenders: &[
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
        #[cfg(not(feature = "cpu"))]
        Absent { name: "crates", reason: "the crates need --features cpu (on by default)" },
        #[cfg(not(feature = "native"))]
        Absent { name: "lz4", reason: "C library: build with --features native" },
        #[cfg(not(feature = "native"))]
        Absent { name: "zstd", reason: "C library: build with --features native" },
        #[cfg(not(feature = "native"))]
        Absent { name: "libdeflate", reason: "C library: build with --features native" },
        Absent { name: "lizard", reason: LIZARD },
        Absent { name: "lizard-fast", reason: "level 10 of lizard; see there" },
        Absent { name: "lizard-huffman", reason: "level 41 of lizard; see there" },
    ],
    facts: &workload::FACTS,
};

const LIZARD: &str = "mORMot's Lizard is level 17 of a C library that no crate and no Debian package \
                      builds; nor are streams published that a decoder of our own could be checked with";
