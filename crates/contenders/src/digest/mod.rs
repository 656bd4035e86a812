//! Cryptographic digests of buffers, and HMACs with a short key.
//!
//! One call is what an application does for a message: start, feed, finish. MD5 and SHA-1 are broken
//! as digests and are here because protocols and files still carry them; HMACs recompute their key
//! pads in every call, with the six-byte key `secret`, as mORMot's table does. Rows that end with `-many`,
//! which that table does not have, digest sixteen messages that are there together.

use fathom_measure::family::Family;

use crate::library::{CRATES, native};

#[cfg(feature = "native")]
mod aws_lc;
#[cfg(feature = "cpu")]
mod blake3;
mod blake3_c;
mod botan;
mod gcrypt;
#[allow(unsafe_code)] // registers of many messages; every block says what makes it sound
mod kernel;
mod lanes;
#[cfg(feature = "cpu")]
mod md5;
mod openssl;
mod openssl_fetched;
mod reference;
#[cfg(feature = "native")]
mod ring;
#[cfg(feature = "cpu")]
mod sha1;
#[cfg(feature = "cpu")]
mod sha2;
#[cfg(feature = "cpu")]
mod sha3;
mod sodium;
mod wolfssl;
mod workload;

pub use workload::{Messages, Operation};

/// The family.
pub(crate) const FAMILY: Family<Messages> = Family {
    name: "digest",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        #[cfg(feature = "cpu")]
        &md5::MD5,
        #[cfg(feature = "cpu")]
        &sha1::SHA1,
        #[cfg(feature = "cpu")]
        &sha2::SHA2,
        #[cfg(feature = "cpu")]
        &sha3::SHA3,
        #[cfg(feature = "cpu")]
        &blake3::BLAKE3,
        &lanes::LANES,
        &openssl::OPEN_SSL,
        &openssl_fetched::OPEN_SSL_FETCHED,
        &gcrypt::GCRYPT,
        &botan::BOTAN,
        &sodium::SODIUM,
        &wolfssl::WOLF_SSL,
        &blake3_c::BLAKE3_C,
        #[cfg(feature = "native")]
        &ring::RING,
        #[cfg(feature = "native")]
        &aws_lc::AWS_LC,
    ],
    absent: &[CRATES, native("ring"), native("aws-lc")],
    facts: &workload::FACTS,
};
