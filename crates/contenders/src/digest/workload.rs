//! The workload of the family: buffers of seeded bytes, each digested as one message.

use fathom_measure::contender::{Preparation, Unsupported};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::mix::{self, Mix, Output};

/// The key of the HMAC rows.
pub(super) const SECRET: &[u8] = b"secret";

/// Messages to digest and how.
pub struct Messages {
    /// Which digest.
    pub operation: Operation,
    mix: Mix,
}

/// Which digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // their standards' names
pub enum Operation {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
    Sha3_256,
    Sha3_512,
    Blake3,
    HmacMd5,
    HmacSha1,
    HmacSha256,
    HmacSha384,
    HmacSha512,
}

const OPERATIONS: &[Offer] = &[
    Offer { name: "md5", default: "", doc: "MD5, RFC 1321; broken, not for new use" },
    Offer { name: "sha1", default: "", doc: "SHA-1, FIPS 180-4; broken, not for new use" },
    Offer { name: "sha256", default: "", doc: "SHA-256, FIPS 180-4" },
    Offer { name: "sha384", default: "", doc: "SHA-384, FIPS 180-4: the core of SHA-512" },
    Offer { name: "sha512", default: "", doc: "SHA-512, FIPS 180-4" },
    Offer { name: "sha3-256", default: "", doc: "SHA3-256, FIPS 202" },
    Offer { name: "sha3-512", default: "", doc: "SHA3-512, FIPS 202" },
    Offer { name: "blake3", default: "", doc: "BLAKE3, 32 bytes, one thread" },
    Offer { name: "hmac-md5", default: "", doc: "HMAC (RFC 2104) of MD5; not for new use" },
    Offer { name: "hmac-sha1", default: "", doc: "HMAC of SHA-1" },
    Offer { name: "hmac-sha256", default: "", doc: "HMAC of SHA-256" },
    Offer { name: "hmac-sha384", default: "", doc: "HMAC of SHA-384" },
    Offer { name: "hmac-sha512", default: "", doc: "HMAC of SHA-512" },
];

/// In the order of `OPERATIONS`.
const EACH: [Operation; 13] = [
    Operation::Md5,
    Operation::Sha1,
    Operation::Sha256,
    Operation::Sha384,
    Operation::Sha512,
    Operation::Sha3_256,
    Operation::Sha3_512,
    Operation::Blake3,
    Operation::HmacMd5,
    Operation::HmacSha1,
    Operation::HmacSha256,
    Operation::HmacSha384,
    Operation::HmacSha512,
];

impl Workload for Messages {
    const OPERATIONS: &'static [Offer] = OPERATIONS;
    const PARAMETERS: &'static [Offer] = mix::PARAMETERS;

    fn load(spec: &Spec) -> Result<Messages, SpecError> {
        let at = OPERATIONS.iter().position(|offer| offer.name == spec.operation);
        Ok(Messages { operation: EACH[at.unwrap_or(0)], mix: Mix::load(spec)? })
    }

    fn work(&self) -> Work {
        self.mix.work()
    }

    fn cases() -> Vec<Spec> {
        mix::cases(OPERATIONS, &["mix", "8", "64", "1K", "64K", "1M"])
    }

    fn small_cases() -> Vec<Spec> {
        mix::cases(OPERATIONS, &["0", "1", "55", "64", "111", "136", "1000", "5K", "mix"])
    }
}

impl Messages {
    /// A contender that digests each buffer with `digest`.
    pub(super) fn timed<'w, O: Output>(
        &'w self,
        digest: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Preparation<'w> {
        Ok(self.mix.timed(digest))
    }

    #[cfg_attr(not(any(feature = "cpu", feature = "native")), allow(dead_code))]
    /// What a contender without this operation answers.
    pub(super) fn unsupported<'w>(&self) -> Preparation<'w> {
        let at = EACH.iter().position(|operation| *operation == self.operation).unwrap_or(0);
        Err(Unsupported::operation(OPERATIONS[at].name))
    }
}
