//! A contender: one implementation in a family, what is known about it, and how it is sampled.
//!
//! Decides nothing about when or how often: that is `rounds`. Compares nothing: that is `compare`.
//!
//! A contender's file implements [`Contender`] for its family's workload and returns a [`Prepared`],
//! almost always through [`timed`] or [`timed_batch`], which compile the loop for that contender.

use std::fmt;
use std::hint::black_box;
use std::mem;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::meter::Meter;

/// What is known about a contender. Start from [`Meta::of`] and name what differs.
#[derive(Clone, Copy, Debug)]
pub struct Meta {
    /// Unique in its family, kebab-case. Combinations append `+choice` ([`Contender::variants`]).
    pub name: &'static str,
    /// Where the code comes from; also tells the version.
    pub origin: Origin,
    /// A page to read more; see [`Meta::link`].
    pub link: &'static str,
    /// Its modules of `pkg-config` or, where there are none, the flags that link it (`-l…`), for a library that C programs
    /// link; empty for others.
    pub pkg_config: &'static str,
    /// SPDX expression.
    pub licence: &'static str,
    /// The path an operation takes on this processor; of the main one where the name is empty.
    pub hardware: fn(&str) -> Path,
    /// What happens to the data it is given.
    pub keeps: Keeps,
    /// Where the comparison is unfair or the implementation unusual; empty when there is nothing.
    pub caveat: &'static str,
    /// How a Rust program writes it, crate and all; in it stand `K` and `V` for the types of keys and
    /// values, `S` for the hasher, `bytes` for what is hashed. Empty where no crate has it.
    pub code: &'static str,
    /// The feature of its crate that it takes, unless it is one of the usual ones.
    pub feature: &'static str,
    /// The source file of the contender; its `//!` comment is the page users read.
    pub source: &'static str,
}

/// The instructions a contender runs on, as it says itself. What a processor has tells nothing
/// about what a library makes of it: most choose in silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// It does not say.
    NotKnown,
    /// Nothing beyond what every processor of the architecture has; no vectors by design.
    Portable,
    /// What the library or the kernel says, or what it was compiled for.
    Takes(String),
}

impl Path {
    /// Of a contender that does not say.
    #[must_use]
    pub fn not_known(_: &str) -> Path {
        Path::NotKnown
    }

    /// Of portable code.
    #[must_use]
    pub fn portable(_: &str) -> Path {
        Path::Portable
    }

    /// By a name.
    #[must_use]
    pub fn takes(name: impl fmt::Display) -> Path {
        Path::Takes(name.to_string())
    }

    /// Of vectors that are chosen when the program is compiled, which is for every processor.
    #[must_use]
    pub fn compiled(_: &str) -> Path {
        Path::takes(if cfg!(target_arch = "x86_64") { "sse2" } else { "neon" })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Path::NotKnown => "not known",
            Path::Portable => "portable",
            Path::Takes(name) => name,
        })
    }
}

/// Where a contender's code comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// Written here.
    Own,
    /// A crate; its version is the one in the lock file of this build.
    Crate(&'static str),
    /// A library that tells its version when asked.
    Library(&'static str, fn() -> String),
}

/// What a contender does with the keys, values or buffers it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeps {
    /// Nobody has said.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// It keeps nothing.
    Nothing,
    /// It refers to the shared data.
    Borrowed,
    /// It copies what it keeps.
    Copied,
}

impl Keeps {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Keeps::Unknown => "",
            Keeps::Nothing => "nothing",
            Keeps::Borrowed => "borrowed",
            Keeps::Copied => "copied",
        }
    }
}

impl Meta {
    /// Our own implementation in the source file `source` (`include_str!` of itself), under the
    /// project's licence, portable code, keeping nothing. Name and exceptions follow by `..`.
    #[must_use]
    pub const fn of(source: &'static str) -> Meta {
        Meta {
            name: "",
            origin: Origin::Own,
            link: "",
            pkg_config: "",
            licence: "MIT OR Apache-2.0",
            hardware: Path::portable,
            keeps: Keeps::Nothing,
            caveat: "",
            code: "",
            feature: "",
            source,
        }
    }

    /// The crate `name` under its licence, in the source file `source`. It does not say which
    /// instructions it takes.
    #[must_use]
    pub const fn of_crate(name: &'static str, licence: &'static str, source: &'static str) -> Meta {
        let origin = Origin::Crate(name);
        Meta { name, origin, licence, hardware: Path::not_known, ..Meta::of(source) }
    }

    /// A page to read more: of a crate its own, unless there is a better one.
    #[must_use]
    pub fn link(&self) -> String {
        match (self.link, self.origin) {
            ("", Origin::Crate(name)) => format!("https://crates.io/crates/{name}"),
            (link, _) => link.to_owned(),
        }
    }

    /// The page users read: the `//!` comment that opens the contender's file.
    #[must_use]
    pub fn page(&self) -> String {
        page(self.source)
    }

    /// The first sentence of the page.
    #[must_use]
    pub fn summary(&self) -> String {
        summary(self.source)
    }
}

/// The `//!` comment that opens a source file, without its marks.
#[must_use]
pub fn page(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// The first paragraph of that comment up to its first full stop, on one line.
#[must_use]
pub fn summary(source: &str) -> String {
    let page = page(source);
    let paragraph = page.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match paragraph.find(". ") {
        Some(end) => paragraph[..=end].to_owned(),
        None => paragraph,
    }
}

/// Why a contender does not take part in a workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub String);

impl Unsupported {
    /// The contender has no such operation.
    #[must_use]
    pub fn operation(name: &str) -> Unsupported {
        Unsupported(format!("has no {name}"))
    }
}

/// A contender ready to be sampled, or the reason why it does not take part.
pub type Preparation<'w> = Result<Box<dyn Prepared + 'w>, Unsupported>;

/// One implementation in the family whose workload is `W`.
pub trait Contender<W>: Sync {
    /// What is known about it.
    fn meta(&self) -> Meta;

    /// Whether it is listed and chosen; what is not can still be asked for by its name.
    fn is_listed(&self) -> bool {
        true
    }

    /// Why it cannot take part on this machine although this build has it, if so: it is a library
    /// that is looked for when the program runs, or takes instructions that the processor lacks.
    fn absence(&self) -> Option<&'static str> {
        None
    }

    /// Whether it waits, for a disk say, or lets others do its work: as
    /// [`Workload::leaves_the_thread`](crate::workload::Workload::leaves_the_thread) says of all.
    fn leaves_the_thread(&self) -> bool {
        false
    }

    /// Gets ready for `workload`: builds what is not timed.
    ///
    /// # Errors
    /// The reason why this contender does not take part in this workload.
    fn prepare<'w>(&self, workload: &'w W) -> Preparation<'w>;

    /// The choices this contender can be combined with (hash functions, say), in order; each gives
    /// a contender of its own called `name+choice`. Without any there is just `name`.
    fn variants(&self) -> &'static [&'static str] {
        &[]
    }

    /// [`prepare`](Contender::prepare) with one of the [`variants`](Contender::variants).
    ///
    /// # Errors
    /// As [`prepare`](Contender::prepare), and a choice this contender does not offer.
    fn prepare_variant<'w>(&self, variant: &str, workload: &'w W) -> Preparation<'w> {
        let _ = workload;
        Err(Unsupported(format!("cannot be combined with {variant:?}")))
    }
}

/// A contender that is one function: most are.
pub struct Simple<W: 'static> {
    /// What is known about it.
    pub meta: Meta,
    /// See [`Contender::prepare`].
    pub prepare: for<'w> fn(&'w W) -> Preparation<'w>,
}

impl<W> Contender<W> for Simple<W> {
    fn meta(&self) -> Meta {
        self.meta
    }

    fn prepare<'w>(&self, workload: &'w W) -> Preparation<'w> {
        (self.prepare)(workload)
    }
}

/// A contender with its data, ready to be sampled.
pub trait Prepared {
    /// Runs `iterations` iterations, the timed region marked on `meter`, and returns the digest of
    /// the last iteration's answer. The digest does not depend on the number of iterations.
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest;

    /// Numbers beside time: bytes per entry, compression ratio, latency percentiles … Asked for
    /// once, after the last sample; may do work of its own, which is not timed.
    fn metrics(&mut self) -> Vec<Metric> {
        Vec::new()
    }
}

/// A number beside time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What it is; the unit comes last: `live_bytes_per_entry`, `latency_ns_p99`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Whether less is better; `None` where neither is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub less_is_better: Option<bool>,
}

/// A contender whose iterations share one input and need no set-up: `run(input)` is timed, and so is that
/// its outputs are dropped, once per iteration; `digest` of the last one is not.
///
/// The input is made opaque to the optimiser before each iteration and the output after it, so
/// that no iteration can be hoisted out of the loop or dropped.
pub fn timed<'w, I, O, R, D>(input: &'w I, run: R, digest: D) -> Box<dyn Prepared + 'w>
where
    I: ?Sized,
    R: FnMut(&'w I) -> O + 'w,
    D: FnMut(&O) -> Digest + 'w,
{
    Box::new(Timed { input, run, digest })
}

struct Timed<'w, I: ?Sized, R, D> {
    input: &'w I,
    run: R,
    digest: D,
}

impl<'w, I, O, R, D> Prepared for Timed<'w, I, R, D>
where
    I: ?Sized,
    R: FnMut(&'w I) -> O,
    D: FnMut(&O) -> Digest,
{
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        meter.start();
        let last = called(iterations, self.input, &mut self.run);
        meter.stop();
        let digest = (self.digest)(&last);
        // Else a sample of one iteration would have none of it. What needs no drop pays for no region.
        if mem::needs_drop::<O>() {
            meter.start();
            drop(last);
            meter.stop();
        }
        digest
    }
}

/// Calls `run` so many times, at least once, and returns what it returned last. Input and output are opaque to the
/// optimiser, as in [`timed`].
#[inline(always)]
pub fn called<I: Copy, O>(calls: u64, input: I, run: &mut impl FnMut(I) -> O) -> O {
    let mut left = calls.max(1);
    // One call in all, so that what is inlined is there once.
    loop {
        let output = black_box(run(black_box(input)));
        left -= 1;
        if left == 0 {
            return output;
        }
    }
}

/// A contender whose iterations each need something fresh: `setup` makes it, `run` consumes it;
/// only `run` is timed. `batch` iterations are set up together and their outputs are dropped
/// together, so that the clock is not read around each; choose it so that a batch fits in memory.
pub fn timed_batch<'w, S, O, P, R, D>(
    batch: u64,
    setup: P,
    run: R,
    digest: D,
) -> Box<dyn Prepared + 'w>
where
    S: 'w,
    O: 'w,
    P: FnMut() -> S + 'w,
    R: FnMut(S) -> O + 'w,
    D: FnMut(O) -> Digest + 'w,
{
    let (inputs, outputs) = (Vec::new(), Vec::new());
    Box::new(TimedBatch { batch: batch.max(1), setup, run, digest, inputs, outputs })
}

struct TimedBatch<S, O, P, R, D> {
    batch: u64,
    setup: P,
    run: R,
    digest: D,
    inputs: Vec<S>,
    outputs: Vec<O>,
}

impl<S, O, P, R, D> Prepared for TimedBatch<S, O, P, R, D>
where
    P: FnMut() -> S,
    R: FnMut(S) -> O,
    D: FnMut(O) -> Digest,
{
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        let mut left = iterations.max(1);
        loop {
            let now = left.min(self.batch);
            self.inputs.extend((0..now).map(|_| (self.setup)()));
            self.outputs.reserve(self.inputs.len());
            meter.start();
            for input in self.inputs.drain(..) {
                self.outputs.push(black_box((self.run)(black_box(input))));
            }
            meter.stop();
            left -= now;
            let last = self.outputs.pop();
            self.outputs.clear();
            if let (0, Some(last)) = (left, last) {
                return (self.digest)(last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::meter::Untimed;

    #[derive(Default)]
    struct Marks(u32, u32);

    impl Meter for Marks {
        fn start(&mut self) {
            self.0 += 1;
        }
        fn stop(&mut self) {
            self.1 += 1;
        }
    }

    #[test]
    fn timed_runs_exactly_the_iterations_it_was_asked_for_in_one_region() {
        let runs = Cell::new(0);
        let mut prepared = timed(
            &5_u64,
            |&five| {
                runs.set(runs.get() + 1);
                five
            },
            |five| Digest::of_u64(*five),
        );
        let mut marks = Marks::default();
        assert_eq!(prepared.sample(7, &mut marks), Digest::of_u64(5));
        assert_eq!((runs.get(), marks.0, marks.1), (7, 1, 1));
    }

    /// Of a sample of one iteration none was.
    #[test]
    fn every_output_is_dropped_inside_the_time() {
        struct Dropped<'a>(&'a Cell<bool>, &'a Cell<u64>);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.1.set(self.1.get() + u64::from(self.0.get()));
            }
        }
        struct Region<'a>(&'a Cell<bool>);
        impl Meter for Region<'_> {
            fn start(&mut self) {
                self.0.set(true);
            }
            fn stop(&mut self) {
                self.0.set(false);
            }
        }
        let (is_timed, drops) = (Cell::new(false), Cell::new(0));
        let digest = |_: &Dropped<'_>| Digest::of_u64(u64::from(is_timed.get()));
        let mut prepared = timed(&(), |()| Dropped(&is_timed, &drops), digest);
        for (iterations, expected) in [(1, 1), (3, 4)] {
            let untimed = prepared.sample(iterations, &mut Region(&is_timed));
            assert_eq!((untimed, drops.get()), (Digest::of_u64(0), expected));
        }
    }

    #[test]
    fn a_batch_is_set_up_once_per_iteration_and_timed_in_few_regions() {
        let (made, used) = (Cell::new(0_u64), Cell::new(0));
        let mut prepared = timed_batch(
            4,
            || {
                made.set(made.get() + 1);
                made.get()
            },
            |number| {
                used.set(used.get() + 1);
                number
            },
            |_| Digest::default(),
        );
        let mut marks = Marks::default();
        prepared.sample(10, &mut marks);
        assert_eq!((made.get(), used.get(), marks.0, marks.1), (10, 10, 3, 3));
        assert_eq!(prepared.sample(0, &mut Untimed), Digest::default());
        assert_eq!(used.get(), 11, "no iteration at all would leave nothing to check");
    }

    #[test]
    fn the_page_is_the_comment_that_opens_the_file() {
        let source =
            "//! One thing. And more\n//! of it.\n//!\n//! Caveat.\n\nuse x;\n//! not this";
        assert_eq!(page(source), "One thing. And more\nof it.\n\nCaveat.");
        assert_eq!(summary(source), "One thing.");
    }
}
