//! The workload of the family: buffers of seeded bytes, each sealed as one message.

use std::hint::black_box;

use fathom_measure::contender::{Preparation, Prepared};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::container::{self, Tag};
use crate::mix::{self, LENGTHS, Mix, SplitMix, random};
use crate::tasks::listed;
use crate::unit;

/// What RC4 and SHAKE are keyed with in the forebear's rows.
pub(super) const SECRET: &[u8] = b"secret";

/// Messages to seal and how.
pub struct Messages {
    /// Which cipher.
    pub operation: Operation,
    key: Vec<u8>,
    form: Form,
    mix: Mix,
}

/// How much of a message's surroundings a call has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Random IV, padding, allocated output.
    Message,
    /// In place with a fixed IV.
    Bare,
    /// In place; a message goes on from call to call.
    Stream,
    /// In place; the key is set anew for each message.
    Keyed,
}

/// Which cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// RC4, keyed once, its stream continuing over the calls.
    Rc4,
    /// SHAKE128 of `secret` as a key stream, continuing over the calls.
    Shake128,
    /// SHAKE256 likewise.
    Shake256,
    /// AES with a key of this many bits.
    Aes(u32, Mode),
    /// RFC 8439.
    ChaCha20Poly1305,
}

/// A mode of AES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// SP 800-38A, 128-bit cipher feedback.
    Cfb,
    /// SP 800-38A, output feedback.
    Ofb,
    /// mORMot's: the counter is the first eight bytes of the IV.
    C64,
    /// SP 800-38A, 128-bit big-endian counter.
    Ctr,
    /// Cipher feedback with mORMot's tag.
    Cfc,
    /// Output feedback with mORMot's tag.
    Ofc,
    /// Counter with mORMot's tag.
    Ctc,
    /// SP 800-38D.
    Gcm,
}

listed! {
    Operation {
        (Operation::Aes(128, Mode::Cfb)) "aes-128-cfb" "cipher feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-128-cfb", best: unit::aes;
        (Operation::Aes(128, Mode::Ofb)) "aes-128-ofb" "output feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-128-ofb", best: unit::aes;
        (Operation::Aes(128, Mode::C64)) "aes-128-c64" "mORMot's counter in the first eight bytes",
            form: mix::FORM, forebear: "{} aes-128-c64", best: unit::aes;
        (Operation::Aes(128, Mode::Ctr)) "aes-128-ctr" "counter, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-128-ctr", best: unit::aes;
        (Operation::Aes(128, Mode::Cfc)) "aes-128-cfc" "cfb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-cfc", best: unit::aes, alone: OWN;
        (Operation::Aes(128, Mode::Ofc)) "aes-128-ofc" "ofb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-ofc", best: unit::aes, alone: OWN;
        (Operation::Aes(128, Mode::Ctc)) "aes-128-ctc" "ctr with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-ctc", best: unit::aes, alone: OWN;
        (Operation::Aes(128, Mode::Gcm)) "aes-128-gcm" "Galois/counter, SP 800-38D, authenticated",
            form: mix::FORM, forebear: "{} aes-128-gcm", best: unit::aes;
        (Operation::Aes(256, Mode::Cfb)) "aes-256-cfb" "cipher feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-cfb", best: unit::aes;
        (Operation::Aes(256, Mode::Ofb)) "aes-256-ofb" "output feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-ofb", best: unit::aes;
        (Operation::Aes(256, Mode::C64)) "aes-256-c64" "mORMot's counter in the first eight bytes",
            form: mix::FORM, forebear: "{} aes-256-c64", best: unit::aes;
        (Operation::Aes(256, Mode::Ctr)) "aes-256-ctr" "counter, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-ctr", best: unit::aes;
        (Operation::Aes(256, Mode::Cfc)) "aes-256-cfc" "cfb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-256-cfc", best: unit::aes, alone: OWN;
        (Operation::Aes(256, Mode::Ofc)) "aes-256-ofc" "ofb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-256-ofc", best: unit::aes, alone: OWN;
        (Operation::Aes(256, Mode::Ctc)) "aes-256-ctc" "ctr with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-256-ctc", best: unit::aes, alone: OWN;
        (Operation::Aes(256, Mode::Gcm)) "aes-256-gcm" "Galois/counter, SP 800-38D, authenticated",
            form: mix::FORM, forebear: "{} aes-256-gcm", best: unit::aes;
        (Operation::ChaCha20Poly1305) "chacha20-poly1305" "RFC 8439, authenticated",
            form: mix::FORM, best: unit::vector;
        (Operation::Rc4) "rc4" "RC4, its first 3072 bytes dropped; broken, not for new use", form: mix::FORM;
        (Operation::Shake128) "shake128" "SHAKE128 as a stream cipher, 168 bytes per permutation",
            form: mix::FORM, best: unit::sha3;
        (Operation::Shake256) "shake256" "SHAKE256 as a stream cipher, 136 bytes per permutation",
            form: mix::FORM, best: unit::sha3;
    }
}

const OWN: &str = "the forebear's own mode; nobody else has it";

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    part: Some("cipher"),
    reference: Timed::AsOracle,
    tasks: Operation::TASKS,
    common: &[
        Common {
            question: "AES-128-GCM",
            operation: "aes-128-gcm",
            parameters: &[],
            only: &[],
            usual: &["openssl", "aes-gcm"],
        },
        Common {
            question: "ChaCha20-Poly1305",
            operation: "chacha20-poly1305",
            parameters: &[],
            only: &[],
            usual: &["openssl", "chacha20poly1305"],
        },
    ],
    ..Facts::NONE
};

impl Workload for Messages {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[
        mix::PARAMETERS[0],
        mix::PARAMETERS[1],
        Offer {
            name: "form",
            default: "message",
            doc: "`message`: random IV, padding, allocated output; `bare`: in place, fixed IV; \
                  of openssl alone (of others the same as `bare`) `stream`, one message that goes on \
                  from call to call, and `keyed`, the key set for each message: what `openssl speed` \
                  does, the latter for gcm",
        },
    ];

    fn load(spec: &Spec) -> Result<Messages, SpecError> {
        let form = match spec.text("form") {
            "message" => Form::Message,
            "bare" => Form::Bare,
            "stream" => Form::Stream,
            "keyed" => Form::Keyed,
            _ => return Err(spec.bad("form", "message, bare, stream or keyed")),
        };
        let operation = Operation::of(spec);
        let key = match operation {
            Operation::Aes(bits, _) => random(0xae5, bits as usize / 8),
            _ => random(0xae5, 32),
        };
        Ok(Messages { operation, key, form, mix: Mix::load(spec)? })
    }

    fn work(&self) -> Work {
        self.mix.work()
    }

    fn cases() -> Vec<Spec> {
        mix::cases(Operation::OFFERS, &["mix", "64", "1K", "64K", "1M"])
    }

    fn small_cases() -> Vec<Spec> {
        let mut cases = mix::cases(Operation::OFFERS, &["0", "1", "16", "50", "1000", "5K", "mix"]);
        let not_empty: Vec<Spec> =
            cases.iter().filter(|spec| spec.text("size") != "0").cloned().collect();
        for form in ["bare", "stream", "keyed"] {
            cases.extend(not_empty.iter().cloned().map(|mut spec| {
                spec.parameters.insert("form".into(), form.into());
                spec
            }));
        }
        cases
    }
}

impl Messages {
    /// The key: 16 or 32 bytes.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The key as an array.
    pub(super) fn key_array<const N: usize>(&self) -> [u8; N] {
        self.key[..].try_into().expect("the operation's key length")
    }

    /// A contender that encrypts the bytes in place from an IV.
    pub(super) fn encrypted<'w>(
        &'w self,
        mut encrypt: impl FnMut(&[u8; 16], &mut [u8]) + 'w,
    ) -> Preparation<'w> {
        self.sealed(move |iv, _, bytes| {
            encrypt(iv, bytes);
            [0; 32]
        })
    }

    /// A contender that encrypts the bytes in place from an IV and a nonce and returns the tag.
    pub(super) fn sealed<'w>(
        &'w self,
        seal: impl FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag + 'w,
    ) -> Preparation<'w> {
        self.sealed_or_gone_on(seal, None)
    }

    /// The same by a contender that can also go on with a message, or begin one with its key, for the
    /// forms that want it.
    pub(super) fn sealed_in_any_form<'w>(
        &'w self,
        seal: impl FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag + 'w,
        go_on: impl FnMut(&mut [u8]) + 'w,
        begin: impl FnMut(&mut [u8]) + 'w,
    ) -> Preparation<'w> {
        let other: Option<Box<GoOn<'w>>> = match self.form {
            Form::Stream => Some(Box::new(go_on)),
            Form::Keyed => Some(Box::new(begin)),
            Form::Message | Form::Bare => None,
        };
        self.sealed_or_gone_on(seal, other)
    }

    fn sealed_or_gone_on<'w>(
        &'w self,
        seal: impl FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag + 'w,
        go_on: Option<Box<GoOn<'w>>>,
    ) -> Preparation<'w> {
        let authenticated = matches!(
            self.operation,
            Operation::Aes(_, Mode::Cfc | Mode::Ofc | Mode::Ctc | Mode::Gcm)
                | Operation::ChaCha20Poly1305
        );
        let scratch: Vec<Vec<u8>> = match self.form {
            Form::Bare | Form::Stream | Form::Keyed => {
                self.mix.buffers().map(<[u8]>::to_vec).collect()
            }
            Form::Message => Vec::new(),
        };
        Ok(Box::new(Sealed { mix: &self.mix, authenticated, scratch, seal, go_on }))
    }

    /// A contender with a key stream that continues over the calls of an iteration: `fresh` makes
    /// the stream, which is not timed, `apply` xors it to the bytes.
    pub(super) fn streamed<'w, S: 'w>(
        &'w self,
        fresh: impl Fn() -> S + 'w,
        apply: impl FnMut(&mut S, &mut [u8]) + 'w,
    ) -> Preparation<'w> {
        Ok(Box::new(Streamed { mix: &self.mix, fresh, apply }))
    }
}

pub(super) static FIXED_IV: [u8; 16] = [7; 16];
const FIXED_NONCE: [u8; 32] = [9; 32];

/// Encrypts in place what comes next in a message, or a whole one.
type GoOn<'w> = dyn FnMut(&mut [u8]) + 'w;

struct Sealed<'w, F> {
    mix: &'w Mix,
    authenticated: bool,
    /// Buffers to work on in place; empty in the form of messages.
    scratch: Vec<Vec<u8>>,
    seal: F,
    go_on: Option<Box<GoOn<'w>>>,
}

impl<F: FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag> Sealed<'_, F> {
    fn messages(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut outputs: [Vec<u8>; LENGTHS.len()] = std::array::from_fn(|_| Vec::new());
        let mix = self.mix;
        meter.start();
        for _ in 0..iterations.max(1) {
            let mut random = SplitMix(1);
            for (buffer, output) in mix.buffers().zip(&mut outputs) {
                for _ in 0..mix.calls {
                    let buffer = black_box(buffer);
                    let message = match self.authenticated {
                        true => container::sealed(&mut random, buffer, &mut self.seal),
                        false => container::encrypted(&mut random, buffer, &mut self.seal),
                    };
                    *output = black_box(message);
                }
            }
        }
        meter.stop();
        outputs.iter().fold(Digest::default(), |digest, output| digest.with_bytes(output))
    }

    /// In place, so what is encrypted changes from call to call; the digest comes from one more
    /// call on the original bytes, which is not timed.
    fn bare(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mix = self.mix;
        let mut scratch = std::mem::take(&mut self.scratch);
        meter.start();
        for _ in 0..iterations.max(1) {
            for bytes in &mut scratch {
                match &mut self.go_on {
                    Some(go_on) => (0..mix.calls).for_each(|_| go_on(black_box(&mut bytes[..]))),
                    None => (0..mix.calls).for_each(|_| {
                        black_box((self.seal)(&FIXED_IV, &FIXED_NONCE, black_box(&mut bytes[..])));
                    }),
                }
            }
        }
        meter.stop();
        let mut digest = Digest::default();
        for (buffer, bytes) in mix.buffers().zip(&mut scratch) {
            bytes.copy_from_slice(buffer);
            let tag = (self.seal)(&FIXED_IV, &FIXED_NONCE, bytes);
            digest = digest.with_bytes(bytes).with_bytes(&tag);
        }
        self.scratch = scratch;
        digest
    }
}

impl<F: FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag> Prepared for Sealed<'_, F> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        match self.scratch.is_empty() {
            true => self.messages(iterations, meter),
            false => self.bare(iterations, meter),
        }
    }
}

struct Streamed<'w, N, A> {
    mix: &'w Mix,
    fresh: N,
    apply: A,
}

impl<S, N: Fn() -> S, A: FnMut(&mut S, &mut [u8])> Prepared for Streamed<'_, N, A> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut scratch: Vec<Vec<u8>> = self.mix.buffers().map(<[u8]>::to_vec).collect();
        let mut digest = Digest::default();
        for iteration in 0..iterations.max(1) {
            for (buffer, bytes) in self.mix.buffers().zip(&mut scratch) {
                bytes.copy_from_slice(buffer);
            }
            let mut stream = (self.fresh)();
            meter.start();
            for bytes in &mut scratch {
                for _ in 0..self.mix.calls {
                    (self.apply)(&mut stream, black_box(&mut bytes[..]));
                }
            }
            meter.stop();
            if iteration + 1 == iterations.max(1) {
                digest = scratch.iter().fold(digest, |digest, bytes| digest.with_bytes(bytes));
            }
        }
        digest
    }
}
