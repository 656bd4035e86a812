//! Short readings of many contenders, one after another in few processes: who is worth being measured
//! properly. Chooses nobody; no figure of it is a result.

use crate::conductor::{Bounds, Launch, Ready, Worker};
use crate::contender::Metric;
use crate::digest::Digest;
use crate::family::AnyFamily;
use crate::protocol::Request;
use crate::provision::{Prepare, Provision};
use crate::sample::{Failure, Sample};
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
        self.opened(launch, contender, piece, &mut |worker, bounds, ready| {
            if timed {
                ns = least(worker, bounds, ready, piece.expected)?;
            }
            if weighed {
                metrics = worker.metrics(bounds.sample)?;
            }
            Ok(())
        })?;
        Ok((ns, metrics))
    }

    /// Opens a contender in its worker, lets `then` use it, closes it.
    fn opened(
        &mut self,
        launch: &Launch,
        contender: &str,
        piece: &Piece<'_>,
        then: &mut dyn FnMut(&mut Worker, &Bounds, &Ready) -> Result<(), Failure>,
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
                then(&mut worker, &self.bounds, &ready)?;
                worker.ask(&Request::Close, self.bounds.open)?;
                Ok(())
            }
        };
        self.workers.push((launch.clone(), worker));
        opened
    }
}

/// What a sample took, in nanoseconds. Where threads or disks take part it is wall time, as for the verdict: processor time is that
/// of all threads, and does not see who waits.
fn taken(sample: &Sample, leaves_the_thread: bool) -> u64 {
    let cpu_ns = sample.cpu_ns.filter(|&ns| ns > 0 && !leaves_the_thread);
    cpu_ns.unwrap_or(sample.wall_ns)
}

/// Nanoseconds per item: the least of a few samples, each with the right answer.
fn least(
    worker: &mut Worker,
    bounds: &Bounds,
    ready: &Ready,
    expected: Digest,
) -> Result<f64, Failure> {
    let items = ready.work.items.max(1);
    let mut iterations = 1;
    let mut least = f64::INFINITY;
    for turn in 0..=SAMPLES {
        let sample = worker.sample(iterations, 0, bounds.sample)?;
        if sample.check != Some(expected) {
            let found = sample.check.map_or_else(String::new, |digest| digest.to_string());
            return Err(Failure::WrongAnswer { expected: expected.to_string(), found });
        }
        let ns = taken(&sample, ready.leaves_the_thread);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Those whose threads slept on a lock were read as the fastest, and stores as if they waited for no disk.
    #[test]
    fn who_leaves_the_thread_is_read_by_the_wall_clock() {
        let sample = Sample { wall_ns: 5000, cpu_ns: Some(700), ..Sample::default() };
        assert_eq!([taken(&sample, false), taken(&sample, true)], [700, 5000]);
        let unknown = Sample { wall_ns: 5000, cpu_ns: Some(0), ..Sample::default() };
        assert_eq!(taken(&unknown, false), 5000);
    }
}
