//! The workload of the family: buffers of seeded bytes, each sealed as one message.

use std::hint::black_box;

use fathom_measure::contender::{Preparation, Prepared, Unsupported};
use fathom_measure::digest::Digest;
use fathom_measure::facts::{Common, Facts, Timed};
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::container::{self, Tag};
use crate::mix::{self, LENGTHS, Mix, SplitMix, random};
use crate::tasks::{listed, parameter};
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
            form: mix::FORM, forebear: "{} aes-128-cfb", best: unit::aes_in_turn;
        (Operation::Aes(128, Mode::Ofb)) "aes-128-ofb" "output feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-128-ofb", best: unit::aes_in_turn;
        (Operation::Aes(128, Mode::C64)) "aes-128-c64" "mORMot's counter in the first eight bytes",
            form: mix::FORM, forebear: "{} aes-128-c64", best: unit::aes;
        (Operation::Aes(128, Mode::Ctr)) "aes-128-ctr" "counter, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-128-ctr", best: unit::aes;
        (Operation::Aes(128, Mode::Cfc)) "aes-128-cfc" "cfb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-cfc", best: unit::aes_in_turn, alone: OWN;
        (Operation::Aes(128, Mode::Ofc)) "aes-128-ofc" "ofb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-ofc", best: unit::aes_in_turn, alone: OWN;
        (Operation::Aes(128, Mode::Ctc)) "aes-128-ctc" "ctr with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-128-ctc", best: unit::aes, alone: OWN;
        (Operation::Aes(128, Mode::Gcm)) "aes-128-gcm" "Galois/counter, SP 800-38D, authenticated",
            form: mix::FORM, forebear: "{} aes-128-gcm", best: unit::aes;
        (Operation::Aes(256, Mode::Cfb)) "aes-256-cfb" "cipher feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-cfb", best: unit::aes_in_turn;
        (Operation::Aes(256, Mode::Ofb)) "aes-256-ofb" "output feedback, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-ofb", best: unit::aes_in_turn;
        (Operation::Aes(256, Mode::C64)) "aes-256-c64" "mORMot's counter in the first eight bytes",
            form: mix::FORM, forebear: "{} aes-256-c64", best: unit::aes;
        (Operation::Aes(256, Mode::Ctr)) "aes-256-ctr" "counter, SP 800-38A",
            form: mix::FORM, forebear: "{} aes-256-ctr", best: unit::aes;
        (Operation::Aes(256, Mode::Cfc)) "aes-256-cfc" "cfb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-256-cfc", best: unit::aes_in_turn, alone: OWN;
        (Operation::Aes(256, Mode::Ofc)) "aes-256-ofc" "ofb with mORMot's CRC-based integrity tag",
            form: mix::FORM, forebear: "{} aes-256-ofc", best: unit::aes_in_turn, alone: OWN;
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
        Common::of("AES-128-GCM", "aes-128-gcm", &["openssl", "aes-gcm"]),
        Common::of("ChaCha20-Poly1305", "chacha20-poly1305", &["openssl", "chacha20poly1305"]),
    ],
    ..Facts::NONE
};

impl Workload for Messages {
    const OPERATIONS: &'static [Offer] = Operation::OFFERS;
    const PARAMETERS: &'static [Offer] = &[
        mix::PARAMETERS[0],
        mix::PARAMETERS[1],
        parameter(
            "form",
            "message",
            "`message`: random IV, padding, allocated output; `bare`: in place, fixed IV; \
                  of openssl alone `stream`, one message that goes on from call to call, and \
                  `keyed`, the key set for each message: what `openssl speed` does, the latter \
                  for gcm; rc4 and shake are streams in place whatever is said",
        ),
    ];

    fn takes(spec: &Spec, parameter: &str) -> bool {
        let is_stream = ["rc4", "shake128", "shake256"].contains(&&*spec.operation);
        parameter != "form" || !is_stream
    }

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
        let has_forms = |spec: &&Spec| spec.text("size") != "0" && Messages::takes(spec, "form");
        let not_empty: Vec<Spec> = cases.iter().filter(has_forms).cloned().collect();
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

    /// Bytes of the longest buffer.
    pub(super) fn longest(&self) -> usize {
        self.mix.buffers().map(<[u8]>::len).max().unwrap_or(0)
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
        match self.form {
            Form::Message | Form::Bare => self.sealed_whole(seal),
            Form::Stream | Form::Keyed => {
                Err(Unsupported("has only the forms message and bare".into()))
            }
        }
    }

    /// The same, which begins a message in each call whatever the form is.
    pub(super) fn sealed_whole<'w>(
        &'w self,
        seal: impl FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag + 'w,
    ) -> Preparation<'w> {
        let authenticated = matches!(
            self.operation,
            Operation::Aes(_, Mode::Cfc | Mode::Ofc | Mode::Ctc | Mode::Gcm)
                | Operation::ChaCha20Poly1305
        );
        let scratch = match self.form {
            Form::Bare | Form::Stream | Form::Keyed => self.scratch(),
            Form::Message => Vec::new(),
        };
        Ok(Box::new(Sealed { mix: &self.mix, authenticated, scratch, seal }))
    }

    /// The same by a contender that can also go on with a message, or begin one with its key, for the
    /// forms that want it.
    pub(super) fn sealed_in_any_form<'w>(
        &'w self,
        mut pieces: impl Pieces + 'w,
        keyed: impl FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag + 'w,
    ) -> Preparation<'w> {
        match self.form {
            Form::Stream => {
                Ok(Box::new(GoneOn { mix: &self.mix, scratch: self.scratch(), pieces }))
            }
            Form::Keyed => self.sealed_whole(keyed),
            Form::Message | Form::Bare => self.sealed(move |iv, _, bytes| pieces.whole(iv, bytes)),
        }
    }

    /// Buffers to work on in place.
    fn scratch(&self) -> Vec<Vec<u8>> {
        self.mix.buffers().map(<[u8]>::to_vec).collect()
    }

    /// A contender with a key stream that continues over the calls of an iteration: `fresh` makes
    /// the stream, the same each time, which is not timed; `apply` xors it to the bytes.
    pub(super) fn streamed<'w, S: 'w>(
        &'w self,
        fresh: impl Fn() -> S + 'w,
        apply: impl FnMut(&mut S, &mut [u8]) + 'w,
    ) -> Preparation<'w> {
        Ok(Box::new(Streamed { mix: &self.mix, scratch: self.scratch(), fresh, apply }))
    }
}

static FIXED_IV: [u8; 16] = [7; 16];
const FIXED_NONCE: [u8; 32] = [9; 32];

/// Encrypts a message in place, piece by piece.
pub(super) trait Pieces {
    /// Begins a message, wherever the one before was.
    fn begin(&mut self, iv: &[u8; 16]);
    /// Encrypts what comes next.
    fn go_on(&mut self, bytes: &mut [u8]);
    /// Ends the message: its tag, or zeros.
    fn end(&mut self) -> Tag;

    /// A message of one piece.
    fn whole(&mut self, iv: &[u8; 16], bytes: &mut [u8]) -> Tag {
        self.begin(iv);
        self.go_on(bytes);
        self.end()
    }
}

struct Sealed<'w, F> {
    mix: &'w Mix,
    authenticated: bool,
    /// Buffers to work on in place; empty in the form of messages.
    scratch: Vec<Vec<u8>>,
    seal: F,
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
                for _ in 0..mix.calls {
                    black_box((self.seal)(&FIXED_IV, &FIXED_NONCE, black_box(&mut bytes[..])));
                }
            }
        }
        meter.stop();
        let digest =
            once_more(mix, &mut scratch, |bytes| (self.seal)(&FIXED_IV, &FIXED_NONCE, bytes));
        self.scratch = scratch;
        digest
    }
}

/// What one more call gives of the original bytes.
fn once_more(mix: &Mix, scratch: &mut [Vec<u8>], mut seal: impl FnMut(&mut [u8]) -> Tag) -> Digest {
    let mut digest = Digest::default();
    for (buffer, bytes) in mix.buffers().zip(scratch) {
        bytes.copy_from_slice(buffer);
        let tag = seal(bytes);
        digest = digest.with_bytes(bytes).with_bytes(&tag);
    }
    digest
}

impl<F: FnMut(&[u8; 16], &[u8; 32], &mut [u8]) -> Tag> Prepared for Sealed<'_, F> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        match self.scratch.is_empty() {
            true => self.messages(iterations, meter),
            false => self.bare(iterations, meter),
        }
    }
}

/// One message, which goes on through all calls of a sample.
struct GoneOn<'w, P> {
    mix: &'w Mix,
    scratch: Vec<Vec<u8>>,
    pieces: P,
}

impl<P: Pieces> Prepared for GoneOn<'_, P> {
    /// The digest is that of [`Sealed::bare`].
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let GoneOn { mix, scratch, pieces } = self;
        // GCM ends at 64 GiB.
        pieces.begin(&FIXED_IV);
        meter.start();
        for _ in 0..iterations.max(1) {
            for bytes in &mut *scratch {
                (0..mix.calls).for_each(|_| pieces.go_on(black_box(&mut bytes[..])));
            }
        }
        meter.stop();
        once_more(mix, scratch, |bytes| pieces.whole(&FIXED_IV, bytes))
    }
}

/// Bytes that streams made beforehand encrypt.
const READY_BYTES: u64 = 1 << 18;

struct Streamed<'w, N, A> {
    mix: &'w Mix,
    scratch: Vec<Vec<u8>>,
    fresh: N,
    apply: A,
}

impl<S, N: Fn() -> S, A: FnMut(&mut S, &mut [u8])> Prepared for Streamed<'_, N, A> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let Streamed { mix, scratch, fresh, apply } = self;
        // Many streams for short buffers, so that the clock is not read around each iteration.
        let batch = (READY_BYTES / mix.work().bytes.max(1)).clamp(1, 64);
        let mut left = iterations.max(1);
        while left > 0 {
            // After an odd number of the same streams the bytes are encrypted, after an even one plain.
            let now = left.min(batch);
            let now = now - u64::from(now.is_multiple_of(2));
            for (buffer, bytes) in mix.buffers().zip(&mut *scratch) {
                bytes.copy_from_slice(buffer);
            }
            let mut streams: Vec<S> = (0..now).map(|_| fresh()).collect();
            meter.start();
            for stream in &mut streams {
                for bytes in &mut *scratch {
                    for _ in 0..mix.calls {
                        apply(stream, black_box(&mut bytes[..]));
                    }
                }
            }
            meter.stop();
            left -= now;
        }
        scratch.iter().fold(Digest::default(), |digest, bytes| digest.with_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::meter::Untimed;

    use super::*;

    /// Xors a byte, where it does anything at all.
    struct Xor(u8);

    impl Pieces for Xor {
        fn begin(&mut self, _: &[u8; 16]) {}

        fn go_on(&mut self, bytes: &mut [u8]) {
            bytes.iter_mut().for_each(|byte| *byte ^= self.0);
        }

        fn end(&mut self) -> Tag {
            [self.0; 32]
        }
    }

    fn load(parameters: &[(&str, &str)]) -> Messages {
        let spec = Spec::new("aes-128-ctr", parameters).completed::<Messages>().unwrap();
        Messages::load(&spec).unwrap()
    }

    #[test]
    fn what_is_timed_is_checked_in_every_form() {
        for form in ["message", "bare", "stream", "keyed"] {
            let messages = load(&[("form", form)]);
            let digest = |pieces: Xor, mut keyed: Xor| {
                let keyed = move |iv: &_, _: &_, bytes: &mut _| keyed.whole(iv, bytes);
                let prepared = messages.sealed_in_any_form(pieces, keyed);
                prepared.unwrap().sample(2, &mut Untimed)
            };
            let right = digest(Xor(1), Xor(1));
            let is_keyed = form == "keyed";
            assert_eq!(digest(Xor(1), Xor(0)) == right, !is_keyed, "{form}");
            assert_eq!(digest(Xor(0), Xor(1)) == right, is_keyed, "{form}");
        }
    }

    /// They did what they do in `bare`, and were compared with what openssl does in the form.
    #[test]
    fn who_has_not_a_form_takes_no_part_in_it() {
        for (form, takes_part) in
            [("message", true), ("bare", true), ("stream", false), ("keyed", false)]
        {
            let messages = load(&[("form", form)]);
            assert_eq!(messages.encrypted(|_, _| ()).is_ok(), takes_part, "{form}");
            assert!(messages.sealed_whole(|_, _, _| [0; 32]).is_ok(), "{form}: the oracle");
        }
    }

    /// Each block of a feedback waits for the one before, so that none has a use for wide registers.
    #[test]
    fn feedback_wants_no_wide_rounds_and_a_stream_has_one_form() {
        for mode in ["cfb", "ofb", "cfc", "ofc"] {
            let best = FACTS.task(&format!("aes-128-{mode}")).best;
            // The names differ only on a processor that has wide rounds.
            let in_turn = unit::aes_in_turn as fn() -> Option<&'static str>;
            assert!(std::ptr::fn_addr_eq(best, in_turn), "{mode}");
        }
        let takes = |operation| Messages::takes(&Spec::new(operation, &[]), "form");
        assert!(takes("aes-128-ctr") && !takes("rc4") && !takes("shake256"));
    }

    #[test]
    fn streams_are_begun_anew_in_each_iteration_and_timed_together() {
        #[derive(Default)]
        struct Regions(u64);
        impl Meter for Regions {
            fn start(&mut self) {
                self.0 += 1;
            }
            fn stop(&mut self) {}
        }
        let messages = load(&[("size", "100")]);
        // A stream that says where it is.
        let apply = |at: &mut u8, bytes: &mut [u8]| {
            for byte in bytes {
                *byte ^= *at;
                *at += 1;
            }
        };
        let digest = |iterations, apply: fn(&mut u8, &mut [u8])| {
            let mut regions = Regions::default();
            let mut prepared = messages.streamed(|| 1, apply).unwrap();
            (prepared.sample(iterations, &mut regions), regions.0)
        };
        let right = digest(1, apply).0;
        for iterations in [2, 3, 64, 65, 1000] {
            let (found, regions) = digest(iterations, apply);
            assert!(found == right && regions <= 3 + iterations / 63, "{iterations}: {regions}");
            assert_ne!(digest(iterations, |_, _| ()).0, right);
        }
    }
}
