//! Ciphers over messages: AES in eight modes, ChaCha20-Poly1305, and the stream ciphers RC4 and SHAKE.
//!
//! One call seals one message the way mORMot's table does: it draws a random 16-byte IV and writes it
//! first, pads after PKCS #7, and allocates its output; the authenticated modes also draw a 32-byte
//! nonce and write a header with the tag. So the rows contain a random generator and an allocation,
//! the same for every contender; `form=bare` leaves both out and works in place. RC4 and SHAKE are streams
//! that go on from call to call, in place, whatever the form.
//!
//! `c64`, `cfc`, `ofc` and `ctc` are mORMot's own: a counter in the first eight bytes, and `cfb`,
//! `ofb`, `ctr` with a 256-bit tag made of CRCs. That tag is an *integrity tag in mORMot's format*,
//! here to be measured; a CRC resists nobody who forges on purpose. RC4 is broken.

use fathom_measure::family::Family;

use crate::library::{CRATES, native};

#[cfg(feature = "cpu")]
mod aes;
#[cfg(feature = "cpu")]
mod aes_gcm;
#[cfg(feature = "native")]
mod aws_lc;
#[cfg(feature = "cpu")]
mod cfb_mode;
#[cfg(feature = "cpu")]
mod chacha20poly1305;
pub mod container;
#[cfg(feature = "cpu")]
mod ctr;
mod fathom;
mod gcrypt;
#[allow(unsafe_code)] // AES and CRC instructions; every block says what makes it sound
mod kernel;
#[cfg(feature = "cpu")]
mod ofb;
mod openssl;
#[cfg(feature = "cpu")]
mod rc4;
mod reference;
#[cfg(feature = "native")]
mod ring;
#[cfg(feature = "cpu")]
mod shake;
mod sodium;
mod wolfssl;
mod workload;

pub use reference::open;
pub use workload::{Messages, Mode, Operation};

/// The family.
pub(crate) const FAMILY: Family<Messages> = Family {
    name: "cipher",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        &fathom::FATHOM,
        #[cfg(feature = "cpu")]
        &aes::AES,
        #[cfg(feature = "cpu")]
        &ctr::CTR,
        #[cfg(feature = "cpu")]
        &cfb_mode::CFB_MODE,
        #[cfg(feature = "cpu")]
        &ofb::OFB,
        #[cfg(feature = "cpu")]
        &aes_gcm::AES_GCM,
        #[cfg(feature = "cpu")]
        &chacha20poly1305::CHA_CHA20_POLY1305,
        #[cfg(feature = "cpu")]
        &rc4::RC4,
        #[cfg(feature = "cpu")]
        &shake::SHAKE,
        &openssl::OPEN_SSL,
        &gcrypt::GCRYPT,
        &sodium::SODIUM,
        &wolfssl::WOLF_SSL,
        #[cfg(feature = "native")]
        &ring::RING,
        #[cfg(feature = "native")]
        &aws_lc::AWS_LC,
    ],
    absent: &[CRATES, native("ring"), native("aws-lc")],
    facts: &workload::FACTS,
};
