//! Short readings of many contenders, one after another in few processes: who is worth being measured
//! properly. Chooses nobody; no figure of it is a result.

use crate::conductor::{Bounds, Launch, Worker};
use crate::contender::Metric;
use crate::digest::Digest;
use crate::family::AnyFamily;
use crate::protocol::Request;
use crate::provision::{Prepare, Provision};
use crate::sample::Failure;
use crate::workload::Spec;

/// How many operations a reading covers, or how long it takes if that is less: either way the clock
/// does not matter.
const OPERATIONS: u64 = 1 << 14;
/// See [`OPERATIONS`].
const READING_NS: u64 = 1_000_000;
/// Samples of which the least counts.
const SAMPLES: u32 = 3;

/// One worker process per launch, a fresh one after a failure.
pub struct Audition<'a> {
    family: &'a dyn AnyFamily,
    bounds: Bounds,
    workers: Vec<(Launch, Worker)>,
}

/// A workload with its data, which all workers share, and the right answer.
pub struct Piece<'a> {
    spec: Spec,
    provision: Provision<'a>,
    expected: Digest,
}

impl<'a> Audition<'a> {
    /// For contenders of `family`; nobody is started yet.
    #[must_use]
    pub fn new(family: &'a dyn AnyFamily, bounds: Bounds) -> Audition<'a> {
        Audition { family, bounds, workers: Vec::new() }
    }

    /// Gets workloads ready, the reference's answers by `own` included. Workers inherit data when they
    /// start, so that all begin anew.
    ///
    /// # Errors
    /// A spec that makes no sense, data that cannot be used, the reference's failure.
    pub fn pieces(&mut self, specs: Vec<Spec>, own: &Launch) -> Result<Vec<Piece<'a>>, Failure> {
        self.workers.clear();
        let family = self.family;
        let piece = |spec: Spec| {
            let spec = family
                .completed(&spec)
                .map_err(|error| Failure::Broken { what: error.to_string() })?;
            let provision = Provision::new(None, Some(Prepare::new(family, &spec)));
            provision.prepare()?;
            Ok(Piece { spec, provision, expected: Digest::default() })
        };
        let mut pieces: Vec<Piece<'a>> =
            specs.into_iter().map(piece).collect::<Result<_, Failure>>()?;
        for piece in &mut pieces {
            let mut answer = None;
            self.opened(own, family.reference(), piece, &mut |worker, bounds, _| {
                answer = worker.sample(1, 0, bounds.sample)?.check;
                Ok(())
            })?;
            let missing = || Failure::Broken { what: "the reference gives no digest".to_owned() };
            piece.expected = answer.ok_or_else(missing)?;
        }
        Ok(pieces)
    }

    /// Nanoseconds per item, unless `timed` is false, and its metrics if they are wanted.
    ///
    /// # Errors
    /// Whatever the contender fails at, a wrong answer included.
    pub fn reading(
        &mut self,
        launch: &Launch,
        contender: &str,
        piece: &Piece<'_>,
        (timed, weighed): (bool, bool),
    ) -> Result<(f64, Vec<Metric>), Failure> {
        let (mut ns, mut metrics) = (0.0, Vec::new());
        self.opened(launch, contender, piece, &mut |worker, bounds, items| {
            if timed {
                ns = least(worker, bounds, items, piece.expected)?;
            }
            if weighed {
                metrics = worker.metrics(bounds.sample)?;
            }
            Ok(())
        })?;
        Ok((ns, metrics))
    }

    /// Opens a contender in its worker, lets `then` use it, closes it. `then` gets the items of one
    /// iteration.
    fn opened(
        &mut self,
        launch: &Launch,
        contender: &str,
        piece: &Piece<'_>,
        then: &mut dyn FnMut(&mut Worker, &Bounds, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let idle = self.workers.iter().position(|(other, _)| other == launch);
        let mut worker = match idle {
            Some(at) => self.workers.swap_remove(at).1,
            None => Worker::start(launch, &self.bounds)?,
        };
        let what = (self.family.name(), Some(contender));
        let data = piece.provision.of(&worker, what)?;
        let opened = match worker.open(what, &piece.spec, data, &[], self.bounds.open) {
            // After any other failure the worker is not used again: it is dropped, and ended, here.
            Err(failure) if !matches!(failure, Failure::Unsupported { .. }) => return Err(failure),
            Err(unsupported) => Err(unsupported),
            Ok(ready) => {
                then(&mut worker, &self.bounds, ready.work.items)?;
                worker.ask(&Request::Close, self.bounds.open)?;
                Ok(())
            }
        };
        self.workers.push((launch.clone(), worker));
        opened
    }
}

/// Nanoseconds per item: the least of a few samples, each with the right answer.
fn least(
    worker: &mut Worker,
    bounds: &Bounds,
    items: u64,
    expected: Digest,
) -> Result<f64, Failure> {
    let items = items.max(1);
    let mut iterations = 1;
    let mut least = f64::INFINITY;
    for turn in 0..=SAMPLES {
        let sample = worker.sample(iterations, 0, bounds.sample)?;
        if sample.check != Some(expected) {
            let found = sample.check.map_or_else(String::new, |digest| digest.to_string());
            return Err(Failure::WrongAnswer { expected: expected.to_string(), found });
        }
        let ns = sample.cpu_ns.filter(|&ns| ns > 0).unwrap_or(sample.wall_ns);
        // The first one warms up, unless it took long: then it counts.
        if turn > 0 || ns > 20_000_000 {
            least = least.min(ns as f64 / (iterations * items) as f64);
        }
        if ns > 100_000_000 {
            break;
        }
        if turn == 0 {
            iterations = (READING_NS / ns.max(1)).clamp(1, OPERATIONS.div_ceil(items));
        }
    }
    Ok(least)
}
