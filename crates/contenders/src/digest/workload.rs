//! The workload of the family: buffers of seeded bytes, each digested as one message.

use fathom_measure::contender::{Preparation, timed};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::kernel::{MESSAGES, Together};
use crate::mix::{self, Mix, Output, Placed};
use crate::tasks::tasks;
use crate::unit;

/// The key of the HMAC rows.
pub(super) const SECRET: &[u8] = b"secret";

/// Messages to digest and how.
pub struct Messages {
    /// Which digest, for rows of many messages as well.
    pub operation: Operation,
    mix: Mix,
    /// Of a row of many messages: sixteen of each length.
    many: Vec<[Placed; MESSAGES]>,
}

tasks! {
    /// Which digest.
    Operation {
        Md5 "md5" "MD5, RFC 1321; broken, not for new use", form: mix::FORM;
        Md5Many "md5-many" "MD5 of sixteen messages of one length, which are there together";
        Sha1 "sha1" "SHA-1, FIPS 180-4; broken, not for new use", form: mix::FORM, best: unit::sha1;
        Sha256 "sha256" "SHA-256, FIPS 180-4", form: mix::FORM, best: unit::sha256;
        Sha256Many "sha256-many" "SHA-256 of sixteen messages of one length, which are there together";
        Sha384 "sha384" "SHA-384, FIPS 180-4: the core of SHA-512", form: mix::FORM, best: unit::sha512;
        Sha512 "sha512" "SHA-512, FIPS 180-4", form: mix::FORM, best: unit::sha512;
        Sha512Many "sha512-many" "SHA-512 of sixteen messages of one length, which are there together";
        Sha3_256 "sha3-256" "SHA3-256, FIPS 202", form: mix::FORM, forebear: "sha3_256", best: unit::sha3;
        Sha3_256Many "sha3-256-many" "SHA3-256 of sixteen messages of one length, which are there together";
        Sha3_512 "sha3-512" "SHA3-512, FIPS 202", form: mix::FORM, forebear: "sha3_512", best: unit::sha3;
        Blake3 "blake3" "BLAKE3, 32 bytes, one thread", form: mix::FORM, best: unit::vector,
            alone: "Debian 12 has no library of it, and the other crate is the oracle";
        HmacMd5 "hmac-md5" "HMAC (RFC 2104) of MD5; not for new use", form: mix::FORM, forebear: "hmacmd5";
        HmacSha1 "hmac-sha1" "HMAC of SHA-1", form: mix::FORM, forebear: "hmacsha1", best: unit::sha1;
        HmacSha256 "hmac-sha256" "HMAC of SHA-256", form: mix::FORM, forebear: "hmacsha256", best: unit::sha256;
        HmacSha384 "hmac-sha384" "HMAC of SHA-384", form: mix::FORM, forebear: "hmacsha384", best: unit::sha512;
        HmacSha512 "hmac-sha512" "HMAC of SHA-512", form: mix::FORM, forebear: "hmacsha512", best: unit::sha512;
    }
}

impl Operation {
    /// The digest, and whether sixteen messages are there together.
    fn split(self) -> (Operation, bool) {
        match self {
            Operation::Md5Many => (Operation::Md5, true),
            Operation::Sha256Many => (Operation::Sha256, true),
            Operation::Sha512Many => (Operation::Sha512, true),
            Operation::Sha3_256Many => (Operation::Sha3_256, true),
            one => (one, false),
        }
    }
}

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("hash"),
    reference: Timed::AsOracle,
    tasks: Operation::TASKS,
    common: &[Common::of("SHA-256", "sha256", &["openssl", "sha2"])],
    ..Facts::NONE
};

impl Workload for Messages {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = mix::PARAMETERS;

    fn load(spec: &Spec) -> Result<Messages, SpecError> {
        let ((operation, is_many), mix) = (Operation::of(spec).split(), Mix::load(spec)?);
        let mut many = Vec::new();
        if is_many {
            let first = spec.number("seed")?.wrapping_mul(MESSAGES as u64);
            for buffer in mix.buffers() {
                if buffer.len() > 16 << 20 {
                    return Err(spec.bad("size", "at most 16M, or `mix`"));
                }
                let message = |lane| {
                    let seed = first.wrapping_add(lane as u64);
                    Placed::of(&mix::printable(seed, buffer.len()))
                };
                many.push(std::array::from_fn(message));
            }
        }
        Ok(Messages { operation, mix, many })
    }

    fn work(&self) -> Work {
        if self.many.is_empty() {
            return self.mix.work();
        }
        let messages = self.many.iter().flatten();
        let (bytes, items) = messages.fold((0, 0), |(b, n), message| (b + message.len(), n + 1));
        Work { bytes: bytes as u64, items }
    }

    fn cases() -> Vec<Spec> {
        mix::cases(Operation::OFFERS, &["mix", "8", "64", "1K", "64K", "1M"])
    }

    fn small_cases() -> Vec<Spec> {
        mix::cases(Operation::OFFERS, &["0", "1", "55", "64", "111", "136", "1000", "5K", "mix"])
    }
}

impl Messages {
    /// A contender that digests each buffer with `digest`.
    pub(super) fn timed<'w, O: Output>(
        &'w self,
        digest: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Preparation<'w> {
        let (buffers, calls) = self.each();
        Ok(mix::called(buffers, calls, digest))
    }

    /// The messages, and how often an iteration digests each.
    fn each(&self) -> (Vec<&[u8]>, u64) {
        match self.many.is_empty() {
            true => (self.mix.buffers().collect(), self.mix.calls),
            false => (self.many.iter().flatten().map(|message| &message[..]).collect(), 1),
        }
    }

    /// A contender that digests sixteen messages at once, which only rows of many have.
    pub(super) fn together<const DIGEST: usize>(&self, form: Together<DIGEST>) -> Preparation<'_> {
        if self.many.is_empty() {
            return self.operation.unsupported();
        }
        let all = move |many: &Vec<[Placed; MESSAGES]>| -> Vec<[u8; DIGEST]> {
            let each =
                |set: &[Placed; MESSAGES]| form.digest(&set.each_ref().map(|message| &message[..]));
            many.iter().flat_map(each).collect()
        };
        let folded = |found: &Vec<[u8; DIGEST]>| {
            found.iter().fold(Digest::default(), |digest, output| output.add_to(digest))
        };
        Ok(timed(&self.many, all, folded))
    }

    /// The same, unless a library of this machine was built without it.
    pub(super) fn perhaps<'w, O: Output>(
        &'w self,
        digest: Option<impl FnMut(&'w [u8]) -> O + 'w>,
    ) -> Preparation<'w> {
        digest.map_or_else(|| self.operation.unsupported(), |digest| self.timed(digest))
    }
}

/// What a library does that calls its hashes alike in digests and in HMACs: by the values of an enumeration, `$md`,
/// or by these names, in these methods.
macro_rules! digests {
    ($library:ident, $workload:ident, $md:ident) => {
        $crate::digest::workload::digests! {
            $library, $workload, digest, hmac,
            [$md::Md5, $md::Sha1, $md::Sha256, $md::Sha384, $md::Sha512, $md::Sha3_256, $md::Sha3_512]
        }
    };
    (
        $library:ident, $workload:ident, $digest:ident, $hmac:ident,
        [$md5:expr, $sha1:expr, $sha256:expr, $sha384:expr, $sha512:expr, $sha3_256:expr, $sha3_512:expr]
    ) => {{
        use $crate::digest::workload::{Operation, SECRET};
        match $workload.operation {
            Operation::Md5 => $workload.perhaps($library.$digest::<16>($md5)),
            Operation::Sha1 => $workload.perhaps($library.$digest::<20>($sha1)),
            Operation::Sha256 => $workload.perhaps($library.$digest::<32>($sha256)),
            Operation::Sha384 => $workload.perhaps($library.$digest::<48>($sha384)),
            Operation::Sha512 => $workload.perhaps($library.$digest::<64>($sha512)),
            Operation::Sha3_256 => $workload.perhaps($library.$digest::<32>($sha3_256)),
            Operation::Sha3_512 => $workload.perhaps($library.$digest::<64>($sha3_512)),
            Operation::HmacMd5 => $workload.perhaps($library.$hmac::<16>($md5, SECRET)),
            Operation::HmacSha1 => $workload.perhaps($library.$hmac::<20>($sha1, SECRET)),
            Operation::HmacSha256 => $workload.perhaps($library.$hmac::<32>($sha256, SECRET)),
            Operation::HmacSha384 => $workload.perhaps($library.$hmac::<48>($sha384, SECRET)),
            Operation::HmacSha512 => $workload.perhaps($library.$hmac::<64>($sha512, SECRET)),
            _ => $workload.operation.unsupported(),
        }
    }};
}
pub(super) use digests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_many_messages_have_others_for_every_seed() {
        let many = |seed| {
            let parameters = [("size", "1000"), ("seed", seed)];
            let mut loaded = Messages::load(&Spec::new("md5-many", &parameters)).unwrap();
            loaded.many.remove(0).map(|message| message.to_vec())
        };
        let mut all = [many("1"), many("2")].concat();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 2 * MESSAGES);
    }
}
