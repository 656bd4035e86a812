//! Lossless compression of short texts: executable code in 101 prefixes, as mORMot's table has it, or
//! generated JSON; or of a file: the whole of it up to a megabyte, eight pieces from its start to its end of
//! a larger one, 128 KiB each.
//!
//! One iteration compresses or decompresses every text. Compression writes mORMot's header (CRC-32C of
//! the plain text and of the payload; but for files, texts are stored when nothing is gained); decompression checks none of these CRCs, as
//! there. What a format has inside is checked: an Adler-32 in zlib's, a CRC-32 in xz's and bzip2's, nothing in the
//! others. Codecs trade size for time: read the ratio beside the speed.

use fathom_measure::family::Family;

use crate::library::CRATES;

mod brotli;
mod bzip2;
#[cfg(feature = "cpu")]
mod deflate;
mod libdeflate;
mod lizard;
mod lz4;
#[cfg(feature = "cpu")]
mod lz4_flex;
mod lzma;
mod reference;
#[cfg(feature = "cpu")]
mod ruzstd;
#[cfg(feature = "cpu")]
mod snap;
mod snappy;
pub mod synlz;
mod workload;
mod zlib;
mod zlib_ng;
#[cfg(feature = "cpu")]
mod zlib_rs;
mod zstd;

pub use workload::{Operation, Texts};

/// The family.
pub(crate) const FAMILY: Family<Texts> = Family {
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
        &deflate::DEFLATE,
        #[cfg(feature = "cpu")]
        &zlib_rs::ZLIB_RS,
        #[cfg(feature = "cpu")]
        &ruzstd::RUZSTD,
        &lz4::LZ4,
        &lizard::LIZARD,
        &snappy::SNAPPY,
        &zstd::ZSTD,
        &libdeflate::LIBDEFLATE,
        &zlib::ZLIB,
        &zlib_ng::ZLIB_NG,
        &brotli::BROTLI,
        &bzip2::BZIP2,
        &lzma::LZMA,
    ],
    absent: &[CRATES],
    facts: &workload::FACTS,
};
