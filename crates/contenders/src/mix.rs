//! Buffers that are summed, digested or encrypted: of one length, or of the five lengths of the
//! "2500 calls" scheme.
//!
//! The scheme is that of mORMot's regression tests: lengths 8, 50, 100, 1000 and 10,000, 500 calls
//! each in that order, 5,579,000 bytes in all, of printable and a few other bytes (32 to 159). 89.6 %
//! of the bytes are in the longest buffer, so a row means "10 KB hot in the first cache, plus call
//! overhead". One iteration here makes [`CALLS`] calls per length, a 25th of the scheme.

use std::ops::{Deref, DerefMut};

use fathom_measure::contender::{self, Prepared};
use fathom_measure::digest::Digest;
use fathom_measure::facts::Form;
use fathom_measure::meter::Meter;
use fathom_measure::workload::{Offer, Spec, SpecError, Work};
pub(crate) use fathom_random::SplitMix;

use crate::tasks::{each, parameter};

/// The lengths of the scheme, in bytes.
pub const LENGTHS: [usize; 5] = [8, 50, 100, 1000, 10_000];

/// Calls per length and iteration; the whole scheme makes 500.
pub const CALLS: u64 = 20;

/// Iterations that make up the whole scheme of 2500 calls.
pub const ITERATIONS: u64 = 500 / CALLS;

/// How the forebear prints a row of calls.
pub(crate) const FORM: Form = Form::Calls { iterations: ITERATIONS };

/// The parameters of every workload built on [`Mix`].
pub(crate) const PARAMETERS: &[Offer] = &[
    parameter(
        "size",
        "mix",
        "bytes in the buffer, or `mix`: 20 calls each of 8, 50, 100, 1000 and 10,000 bytes",
    ),
    parameter("seed", "1", "seed of the bytes"),
];

/// The buffers.
pub struct Mix {
    buffers: Vec<Placed>,
    /// How many calls an iteration makes on each, at least one.
    pub(crate) calls: u64,
}

impl Mix {
    /// Reads `size` and `seed`.
    pub(crate) fn load(spec: &Spec) -> Result<Mix, SpecError> {
        let seed = spec.number("seed")?;
        if spec.text("size") == "mix" {
            let buffers =
                LENGTHS.map(|length| Placed::of(&printable(seed ^ length as u64, length)));
            return Ok(Mix { buffers: buffers.into(), calls: CALLS });
        }
        let size = usize::try_from(spec.number("size")?).ok().filter(|&size| size <= 1 << 32);
        let size = size.ok_or_else(|| spec.bad("size", "at most 4G, or `mix`"))?;
        Ok(Mix { buffers: vec![Placed::of(&printable(seed, size))], calls: 1 })
    }

    /// What one iteration works through; an item is a call.
    pub(crate) fn work(&self) -> Work {
        let bytes: usize = self.buffers.iter().map(|buffer| buffer.len()).sum();
        Work { bytes: bytes as u64 * self.calls, items: self.buffers.len() as u64 * self.calls }
    }

    /// The buffers.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = &[u8]> {
        self.buffers.iter().map(|buffer| &buffer[..])
    }

    /// The same of a contender in another language, whose vector registers are tidied up after each call.
    pub(crate) fn foreign<'w, O: Output>(
        &'w self,
        mut run: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Box<dyn Prepared + 'w> {
        self.timed(move |bytes| {
            let output = run(bytes);
            fathom_machine::clear_upper_halves();
            output
        })
    }

    /// A contender that calls `run` on every buffer as often as an iteration does.
    pub(crate) fn timed<'w, O: Output>(
        &'w self,
        run: impl FnMut(&'w [u8]) -> O + 'w,
    ) -> Box<dyn Prepared + 'w> {
        called(self.buffers().collect(), self.calls, run)
    }
}

/// A contender whose iterations call `run` on each of the buffers so many times, at least once. Checked is what it
/// returns last for each.
pub(crate) fn called<'w, O: Output>(
    buffers: Vec<&'w [u8]>,
    calls: u64,
    run: impl FnMut(&'w [u8]) -> O + 'w,
) -> Box<dyn Prepared + 'w> {
    let outputs = Vec::with_capacity(buffers.len());
    Box::new(Called { buffers, calls, run, outputs })
}

struct Called<'w, O, F> {
    buffers: Vec<&'w [u8]>,
    calls: u64,
    run: F,
    outputs: Vec<O>,
}

impl<'w, O: Output, F: FnMut(&'w [u8]) -> O> Prepared for Called<'w, O, F> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let Called { buffers, calls, run, outputs } = self;
        meter.start();
        for _ in 0..iterations.max(1) {
            outputs.clear();
            outputs.extend(buffers.iter().map(|&buffer| contender::called(*calls, buffer, run)));
        }
        meter.stop();
        outputs.iter().fold(Digest::default(), |digest, output| output.add_to(digest))
    }
}

/// Bytes at a place that each process draws: so far into a cache line, in steps of [`Placed::STEP`]. At
/// one and the same place a figure would be that of the place, which a kernel can like or not:
/// several processes tell how much.
#[derive(Default)]
pub(crate) struct Placed {
    held: Vec<u8>,
    start: usize,
}

impl Placed {
    const LINE: usize = 64;
    const STEP: usize = 16;

    /// So many zeros.
    pub(crate) fn zeros(len: usize) -> Placed {
        let held = vec![0; len + 2 * Placed::LINE];
        let steps = (Placed::LINE / Placed::STEP) as u64;
        let drawn = SplitMix(std::process::id().into()).word() % steps;
        let to_line = (held.as_ptr() as usize).wrapping_neg() % Placed::LINE;
        let mut placed = Placed { held, start: to_line + drawn as usize * Placed::STEP };
        placed.held.truncate(placed.start + len);
        placed
    }

    /// A copy of these.
    pub(crate) fn of(bytes: &[u8]) -> Placed {
        let mut placed = Placed::zeros(bytes.len());
        placed.copy_from_slice(bytes);
        placed
    }
}

impl Deref for Placed {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.held[self.start..]
    }
}

impl DerefMut for Placed {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.held[self.start..]
    }
}

/// What a call returns.
pub(crate) trait Output: 'static {
    /// The digest of everything so far and this.
    fn add_to(&self, digest: Digest) -> Digest;
}

impl Output for u32 {
    fn add_to(&self, digest: Digest) -> Digest {
        digest.with_u64((*self).into())
    }
}

impl Output for u64 {
    fn add_to(&self, digest: Digest) -> Digest {
        digest.with_u64(*self)
    }
}

impl<const N: usize> Output for [u8; N] {
    fn add_to(&self, digest: Digest) -> Digest {
        digest.with_bytes(self)
    }
}

/// What a library returns in a type of its own that gives out its bytes.
#[cfg(feature = "native")]
pub(crate) struct Raw<T>(pub(crate) T);

#[cfg(feature = "native")]
impl<T: AsRef<[u8]> + 'static> Output for Raw<T> {
    fn add_to(&self, digest: Digest) -> Digest {
        digest.with_bytes(self.0.as_ref())
    }
}

impl Output for Vec<u8> {
    fn add_to(&self, digest: Digest) -> Digest {
        digest.with_bytes(self)
    }
}

/// Each of the operations at each of the sizes.
pub(crate) fn cases(operations: &[Offer], sizes: &[&str]) -> Vec<Spec> {
    each(operations, "size", sizes)
}

/// `size` bytes from 32 to 159, of the SplitMix64 sequence of `seed`.
pub(crate) fn printable(seed: u64, size: usize) -> Vec<u8> {
    let mut bytes = random(seed, size);
    bytes.iter_mut().for_each(|byte| *byte = 32 + (*byte & 127));
    bytes
}

/// `size` bytes of the SplitMix64 sequence of `seed`.
pub(crate) fn random(seed: u64, size: usize) -> Vec<u8> {
    let mut state = SplitMix(seed);
    let mut bytes = Vec::with_capacity(size + 7);
    while bytes.len() < size {
        bytes.extend_from_slice(&state.word().to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

#[cfg(test)]
mod tests {
    use fathom_measure::meter::Untimed;

    use super::*;

    #[test]
    fn the_scheme_has_the_bytes_of_its_forebear() {
        let mut spec = Spec::new("", &[("size", "mix"), ("seed", "1")]);
        let work = Mix::load(&spec).unwrap().work();
        assert_eq!((work.items * ITERATIONS, work.bytes * ITERATIONS), (2500, 5_579_000));
        spec.parameters.insert("size".into(), "1K".into());
        assert_eq!(Mix::load(&spec).unwrap().work(), Work { bytes: 1024, items: 1 });
    }

    #[test]
    fn each_buffer_is_called_as_often_as_is_counted() {
        let mix = Mix::load(&Spec::new("", &[("size", "mix"), ("seed", "1")])).unwrap();
        let mut lengths = Vec::new();
        let mut prepared = mix.timed(|buffer| {
            lengths.push(buffer.len());
            buffer.len() as u64
        });
        let digest = prepared.sample(3, &mut Untimed);
        drop(prepared);
        assert_eq!(digest, LENGTHS.iter().fold(Digest::default(), |d, &l| d.with_u64(l as u64)));
        assert_eq!(lengths.len() as u64, 3 * mix.work().items);
        assert_eq!(lengths.iter().sum::<usize>() as u64, 3 * mix.work().bytes);
    }

    #[test]
    fn bytes_stand_where_the_process_has_drawn() {
        let places = [1, 64, 1000].map(|len| {
            let placed = Placed::of(&random(1, len));
            assert_eq!(placed[..], random(1, len));
            placed.as_ptr() as usize % Placed::LINE
        });
        assert!(places[0] % Placed::STEP == 0 && places == [places[0]; 3], "{places:?}");
    }

    #[test]
    fn bytes_are_in_the_scheme_s_range() {
        let bytes = printable(7, 10_000);
        assert!(bytes.iter().all(|byte| (32..160).contains(byte)));
        assert!(bytes.contains(&32) && bytes.contains(&159));
    }
}
