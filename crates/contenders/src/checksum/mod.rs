//! Checksums and fast hashes of buffers: a few bytes that change when the data changes by accident.
//!
//! None of them resists anybody who changes the data on purpose. One call sums one buffer. The rows
//! are those of mORMot's table: CRC-32C, CRC-32, Adler-32, XXH32, its own `hash32` and `aesnihash`,
//! and XXH3 beside them.

use fathom_measure::family::Family;

use crate::library::CRATES;

#[cfg(feature = "cpu")]
mod adler2;
mod aesnihash;
#[cfg(feature = "cpu")]
mod crc32c;
#[cfg(feature = "cpu")]
mod crc32fast;
#[cfg(feature = "cpu")]
mod crc_fast;
mod hash32;
mod isal;
#[allow(unsafe_code)] // vector code and AES rounds; every block says what makes it sound
mod kernel;
mod libdeflate;
mod plain_aesnihash;
mod reference;
#[cfg(feature = "cpu")]
mod simd_adler32;
#[cfg(feature = "cpu")]
mod twox_hash;
mod workload;
mod xxh3;
mod xxhash_c;
#[cfg(feature = "cpu")]
mod xxhash_rust;
mod zlib;
mod zlib_ng;
#[cfg(feature = "cpu")]
mod zlib_rs;

pub(crate) use reference::CRC32C;
pub use workload::{Buffer, Operation};

/// CRC-32C of the headers that other families write.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    #[cfg(feature = "cpu")]
    return ::crc32c::crc32c(bytes);
    #[cfg(not(feature = "cpu"))]
    reference::crc32c(bytes)
}

/// `Hash32` at the best level: the digest of large buffers in other families.
pub(crate) fn fast_sum(bytes: &[u8]) -> u32 {
    (kernel::hash32::form(fathom_machine::level::Level::best()).run)(bytes)
}

/// The family.
pub(crate) const FAMILY: Family<Buffer> = Family {
    name: "checksum",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        &hash32::HASH32,
        &aesnihash::AES_NI_HASH,
        #[cfg(feature = "cpu")]
        &crc32c::CRC32C,
        #[cfg(feature = "cpu")]
        &crc_fast::CRC_FAST,
        #[cfg(feature = "cpu")]
        &crc32fast::CRC32_FAST,
        #[cfg(feature = "cpu")]
        &zlib_rs::ZLIB_RS,
        #[cfg(feature = "cpu")]
        &simd_adler32::SIMD_ADLER32,
        #[cfg(feature = "cpu")]
        &adler2::ADLER2,
        #[cfg(feature = "cpu")]
        &twox_hash::TWOX_HASH,
        #[cfg(feature = "cpu")]
        &xxhash_rust::XXHASH_RUST,
        &libdeflate::LIBDEFLATE,
        &isal::ISA_L,
        &zlib::ZLIB,
        &zlib_ng::ZLIB_NG,
        &xxhash_c::XXHASH_C,
    ],
    absent: &[CRATES],
    facts: &workload::FACTS,
};
