//! Successive halving: every legal combination on few keys, the better ones on more, until so few
//! are left that they can be measured properly.
//!
//! Screening only chooses who is measured; no figure of it is reported as a result. Each reading is
//! the least of a few samples, which noise can only raise. A combination whose answer is wrong, that
//! crashes or hangs is out at once (K. Jamieson, A. Talwalkar, "Non-stochastic best arm
//! identification", 2016, is the idea; here time and memory are both kept in sight).

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fathom_machine::os::memory::Pages;
use fathom_machine::os::shared::Segment;
use fathom_measure::conductor::{Bounds, Launch, Worker};
use fathom_measure::contender::Metric;
use fathom_measure::digest::Digest;
use fathom_measure::family::AnyFamily;
use fathom_measure::protocol::{Reply, Request, SharedData};
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;
use fathom_random::Random;
use serde::Serialize;

use super::bounds;
use super::candidate::{Candidate, SYSTEM};
use super::data::Data;
use super::mix::Part;
use crate::{interrupt, measuring};

/// A candidate's standing on one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// Its number.
    pub(super) candidate: usize,
    /// Nanoseconds per operation of the mix.
    pub(super) cost_ns: f64,
    /// Live bytes per entry, key bytes included; `None` where they could not be counted.
    pub(super) bytes: Option<f64>,
}

/// What a rung of the ladder did.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Rung {
    /// Keys of the sample.
    pub(super) keys: usize,
    /// Combinations that were to be tried.
    pub(super) candidates: usize,
    /// Of these, how many lack an operation.
    pub(super) unsupported: usize,
    /// How many were not reached in time.
    pub(super) unreached: usize,
    /// How many go on.
    pub(super) kept: usize,
    /// Wall time, in seconds.
    pub(super) seconds: f64,
    /// Wall time that failures took, a hang above all: it is given back to the others, in seconds.
    pub(super) lost_seconds: f64,
    /// Who failed and how.
    pub(super) failures: Vec<(String, String)>,
    /// Who was left out although nobody is as small, in a sentence.
    pub(super) left_out: Option<String>,
}

/// Runs single samples of many candidates: one worker process per allocator, a fresh one after a
/// failure.
pub(super) struct Screen<'a> {
    pub(super) candidates: &'a [Candidate],
    pub(super) parts: &'a [Part],
    pub(super) seed: u64,
    /// Mean bytes of a key, which structures that borrow keys leave in the file.
    pub(super) key_bytes: f64,
    workers: HashMap<String, Worker>,
    /// The data of outside workers, by what it was prepared for; of one sample at a time.
    prepared: Vec<(Spec, Segment)>,
    bounds: Bounds,
}

/// How many operations a reading covers at least, so that the clock does not matter.
const OPERATIONS: u64 = 1 << 14;
/// Samples of which the least counts.
const SAMPLES: u32 = 3;

impl<'a> Screen<'a> {
    pub(super) fn new(
        candidates: &'a [Candidate],
        parts: &'a [Part],
        seed: u64,
        key_bytes: f64,
        hang: Duration,
    ) -> Screen<'a> {
        let bounds = bounds(hang);
        Screen {
            candidates,
            parts,
            seed,
            key_bytes,
            workers: HashMap::new(),
            prepared: Vec::new(),
            bounds,
        }
    }

    /// Tries `chosen` on `data`, in random order, until `deadline`.
    ///
    /// # Errors
    /// The reference's failure: then nothing can be checked.
    pub(super) fn rung(
        &mut self,
        chosen: &[usize],
        data: &Data,
        mut deadline: Instant,
    ) -> Result<(Vec<Score>, Rung), Failure> {
        let start = Instant::now();
        let mut rung = Rung { keys: data.keys, candidates: chosen.len(), ..Rung::default() };
        let specs: Vec<Spec> = self.parts.iter().map(|p| data.spec(&p.workload)).collect();
        self.prepared.clear();
        let expected = self.expected(&specs)?;
        let mut order = chosen.to_vec();
        // Whoever is not reached in time is so by chance.
        Random::stream(self.seed, data.keys as u64).shuffle(&mut order);
        let mut scores = Vec::new();
        for (done, &candidate) in order.iter().enumerate() {
            let interrupted = interrupt::measuring().load(Ordering::Relaxed);
            if Instant::now() > deadline || interrupted {
                rung.unreached = order.len() - done;
                break;
            }
            let begun = Instant::now();
            match self.score(candidate, &specs, &expected) {
                Ok(score) => scores.push(score),
                Err(Failure::Unsupported { .. }) => rung.unsupported += 1,
                Err(failure) => {
                    let id = self.candidates[candidate].id();
                    rung.failures.push((id, failure.to_string()));
                    deadline += begun.elapsed();
                    rung.lost_seconds += begun.elapsed().as_secs_f64();
                }
            }
        }
        rung.seconds = start.elapsed().as_secs_f64();
        Ok((scores, rung))
    }

    /// What the reference answers.
    fn expected(&mut self, specs: &[Spec]) -> Result<Vec<Digest>, Failure> {
        let reference = fathom_contenders::kv::FAMILY.reference();
        let answer = |spec| {
            let mut digest = None;
            let mut once = |worker: &mut Worker, bounds: &Bounds| {
                let reply =
                    worker.ask(&Request::Sample { iterations: 1, warm: 0 }, bounds.sample)?;
                if let Reply::Sample(sample) = reply {
                    digest = sample.check;
                }
                Ok(())
            };
            self.opened(SYSTEM, reference, None, spec, &mut |worker, bounds, _| {
                once(worker, bounds)
            })?;
            digest.ok_or(Failure::Broken { what: "the reference gives no digest".to_owned() })
        };
        specs.iter().map(answer).collect()
    }

    fn score(
        &mut self,
        number: usize,
        specs: &[Spec],
        expected: &[Digest],
    ) -> Result<Score, Failure> {
        let candidate = &self.candidates[number];
        let (contender, allocator) = (candidate.contender(), candidate.allocator.clone());
        let runner = candidate.runner.as_ref();
        let mut score = Score { candidate: number, cost_ns: 0.0, bytes: None };
        let parts = self.parts;
        for ((spec, part), &digest) in specs.iter().zip(parts).zip(expected) {
            let mut measured = f64::INFINITY;
            let mut bytes = None;
            self.opened(&allocator, &contender, runner, spec, &mut |worker, bounds, items| {
                let items = items.max(1);
                let iterations = OPERATIONS.div_ceil(items);
                let request = Request::Sample { iterations, warm: 0 };
                for turn in 0..=SAMPLES {
                    let reply = worker.ask(&request, bounds.sample)?;
                    let Reply::Sample(sample) = reply else { return Err(unexpected(&reply)) };
                    if sample.check != Some(digest) {
                        let found = sample.check.map_or_else(String::new, |d| d.to_string());
                        let expected = digest.to_string();
                        return Err(Failure::WrongAnswer { expected, found });
                    }
                    let ns = sample.cpu_ns.filter(|&ns| ns > 0).unwrap_or(sample.wall_ns);
                    // The first one warms up, unless it took long: then it counts.
                    if turn > 0 || ns > 20_000_000 {
                        measured = measured.min(ns as f64 / (iterations * items) as f64);
                    }
                    if ns > 100_000_000 {
                        break;
                    }
                }
                if matches!(spec.operation.as_str(), "insert" | "build")
                    && let Reply::Metrics { metrics } =
                        worker.ask(&Request::Metrics, bounds.sample)?
                {
                    bytes = held_bytes(&metrics);
                }
                Ok(())
            })?;
            score.cost_ns += part.share * measured;
            score.bytes = bytes.or(score.bytes);
        }
        if score.bytes.is_none() {
            // A mix without inserts: built once for its memory alone.
            let spec = Spec { operation: "build".to_owned(), ..specs[0].clone() };
            self.opened(&allocator, &contender, runner, &spec, &mut |worker, bounds, _| {
                if let Reply::Metrics { metrics } = worker.ask(&Request::Metrics, bounds.sample)? {
                    score.bytes = held_bytes(&metrics);
                }
                Ok(())
            })?;
        }
        // What is borrowed lies in the file, and must: it is part of the price.
        let key_bytes = if candidate.borrows() { self.key_bytes } else { 0.0 };
        score.bytes = score.bytes.map(|bytes| bytes + key_bytes);
        Ok(score)
    }

    /// Opens a contender in the worker of its allocator, lets `then` use it, closes it. `then` gets
    /// the items of one iteration.
    fn opened(
        &mut self,
        allocator: &str,
        contender: &str,
        runner: Option<&Launch>,
        spec: &Spec,
        then: &mut dyn FnMut(&mut Worker, &Bounds, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(runner) = runner {
            return self.opened_outside(runner, contender, spec, then);
        }
        let mut worker = match self.workers.remove(allocator) {
            Some(worker) => worker,
            None => {
                let named = Some(allocator).filter(|name| *name != SYSTEM);
                let launch = measuring::worker(named)
                    .map_err(|error| Failure::Broken { what: format!("{error:#}") })?;
                Worker::start(&launch, &self.bounds)?
            }
        };
        let request = Request::Open {
            family: fathom_contenders::kv::FAMILY.name().to_owned(),
            contender: Some(contender.to_owned()),
            workload: spec.clone(),
            data: None,
            events: Vec::new(),
        };
        match worker.ask(&request, self.bounds.open)? {
            Reply::Opened { work, .. } => {
                // After a failure the worker is not used again: it is dropped, and ended, here.
                then(&mut worker, &self.bounds, work.items)?;
                worker.ask(&Request::Close, self.bounds.open)?;
            }
            Reply::Unsupported { reason } => {
                self.workers.insert(allocator.to_owned(), worker);
                return Err(Failure::Unsupported { reason });
            }
            other => return Err(unexpected(&other)),
        }
        self.workers.insert(allocator.to_owned(), worker);
        Ok(())
    }

    /// The same in an outside worker: a fresh one each time, because it inherits its data.
    fn opened_outside(
        &mut self,
        runner: &Launch,
        contender: &str,
        spec: &Spec,
        then: &mut dyn FnMut(&mut Worker, &Bounds, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let family = &fathom_contenders::kv::FAMILY;
        let broken = |what: String| Failure::Broken { what };
        let spec = family.completed(spec).map_err(|error| broken(error.to_string()))?;
        if !self.prepared.iter().any(|(known, _)| *known == spec) {
            let bytes = measuring::prepare(family, &spec)().map_err(broken)?;
            let segment = Segment::copy_of(&bytes, Pages::Transparent);
            self.prepared.push((spec.clone(), segment.map_err(|error| broken(error.to_string()))?));
        }
        let known = self.prepared.iter().find(|(known, _)| *known == spec);
        let Some((_, segment)) = known else { return Err(broken("no data".to_owned())) };
        let descriptor = segment.share().map_err(|error| broken(error.to_string()))?;
        let request = Request::Open {
            family: family.name().to_owned(),
            contender: Some(contender.to_owned()),
            workload: spec.clone(),
            data: Some(SharedData { descriptor, bytes: segment.len() }),
            events: Vec::new(),
        };
        let mut worker = Worker::start(runner, &self.bounds)?;
        match worker.ask(&request, self.bounds.open)? {
            Reply::Opened { work, .. } => then(&mut worker, &self.bounds, work.items),
            Reply::Unsupported { reason } => Err(Failure::Unsupported { reason }),
            other => Err(unexpected(&other)),
        }
    }
}

/// What it takes per entry: in memory, or where that cannot be counted in files.
fn held_bytes(metrics: &[Metric]) -> Option<f64> {
    let names = ["live_bytes_per_entry", "stored_bytes_per_entry"];
    let found = |name: &&str| metrics.iter().find(|metric| metric.name == *name);
    names.iter().find_map(found).map(|metric| metric.value)
}

fn unexpected(reply: &Reply) -> Failure {
    match reply {
        Reply::Error { message } => Failure::Broken { what: message.clone() },
        other => Failure::Broken { what: format!("answered {other:?}") },
    }
}

/// Who goes on: the best of each structure that is not hopeless, then the best of all up to
/// `at_most`. Hopeless is a structure that takes more than `hopeless` times the least time, unless
/// nobody faster is as small.
pub(super) fn keep(
    scores: &[Score],
    candidates: &[Candidate],
    at_most: usize,
    hopeless: f64,
) -> Vec<usize> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns));
    let Some(best) = sorted.first().map(|score| score.cost_ns) else { return Vec::new() };
    let mut smallest = f64::INFINITY;
    let mut structures: Vec<&str> = Vec::new();
    let (mut kept, mut others) = (Vec::new(), Vec::new());
    for score in &sorted {
        let structure = candidates[score.candidate].structure.as_str();
        let bytes = score.bytes.unwrap_or(f64::INFINITY);
        let is_first = !structures.contains(&structure);
        let is_small = bytes < smallest * 0.95;
        if is_first && (score.cost_ns <= best * hopeless || is_small) {
            kept.push(score.candidate);
        } else {
            others.push(score.candidate);
        }
        if is_first {
            structures.push(structure);
        }
        smallest = smallest.min(bytes);
    }
    let room = at_most.saturating_sub(kept.len());
    kept.extend(others.into_iter().take(room));
    kept
}

/// The smallest, in words, if it is too slow for [`finalists`].
pub(super) fn small_but_slow(
    scores: &[Score],
    candidates: &[Candidate],
    hopeless: f64,
) -> Option<String> {
    let by = |a: f64, b: f64| a.total_cmp(&b);
    let least = scores.iter().map(|score| score.cost_ns).min_by(|a, b| by(*a, *b))?;
    let sized = scores.iter().filter_map(|score| Some((score, score.bytes?)));
    let (score, bytes) = sized.min_by(|a, b| by(a.1, b.1))?;
    (score.cost_ns > least * hopeless).then(|| {
        format!(
            "{} is the smallest ({bytes:.1} bytes per entry on a sample) but takes {:.0} times the \
             least time there: not measured at full size without --all",
            candidates[score.candidate].words(),
            score.cost_ns / least
        )
    })
}

/// Who is measured at full size: the front of time against memory, then the fastest of the other
/// structures, at most `many`, in the order of their time. Who takes more than `hopeless` times
/// the least time is not: one of them would leave all others too few rounds.
pub(super) fn finalists(
    scores: &[Score],
    candidates: &[Candidate],
    many: usize,
    hopeless: f64,
) -> Vec<usize> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns));
    let least = sorted.first().map_or(0.0, |score| score.cost_ns);
    sorted.retain(|score| score.cost_ns <= least * hopeless);
    let mut smallest = f64::INFINITY;
    let mut front: Vec<Score> = Vec::new();
    for score in &sorted {
        let bytes = score.bytes.unwrap_or(f64::INFINITY);
        // A twentieth less memory is worth being looked at.
        if front.is_empty() || bytes < smallest * 0.95 {
            front.push(*score);
            smallest = smallest.min(bytes);
        }
    }
    // The smallest of all closes the front; what lies between gives way first.
    while front.len() > many.div_ceil(2).max(2) {
        front.remove(front.len() - 2);
    }
    let mut chosen: Vec<usize> = front.iter().map(|score| score.candidate).collect();
    let structure = |number: usize| candidates[number].structure.as_str();
    for score in &sorted {
        let is_new = !chosen.iter().any(|&other| structure(other) == structure(score.candidate));
        if chosen.len() < many && is_new {
            chosen.push(score.candidate);
        }
    }
    let cost = |number: &usize| {
        let score = sorted.iter().find(|score| score.candidate == *number);
        score.map_or(f64::INFINITY, |score| score.cost_ns)
    };
    chosen.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    chosen
}

#[cfg(test)]
mod tests {
    use fathom_measure::result::About;

    use super::*;

    fn candidates(names: &[&str]) -> Vec<Candidate> {
        let candidate = |name: &&str| Candidate {
            structure: (*name).to_owned(),
            hash: None,
            allocator: SYSTEM.to_owned(),
            about: About::default(),
            runner: None,
        };
        names.iter().map(candidate).collect()
    }

    fn scores(figures: &[(f64, f64)]) -> Vec<Score> {
        let score = |(candidate, &(cost_ns, bytes)): (usize, &(f64, f64))| Score {
            candidate,
            cost_ns,
            bytes: Some(bytes),
        };
        figures.iter().enumerate().map(score).collect()
    }

    #[test]
    fn each_structure_keeps_its_best_and_the_hopeless_go_unless_they_are_small() {
        let candidates = candidates(&["a", "a", "b", "c", "d"]);
        let scores =
            scores(&[(12.0, 50.0), (10.0, 50.0), (30.0, 50.0), (900.0, 60.0), (950.0, 9.0)]);
        assert_eq!(keep(&scores, &candidates, 0, 8.0), [1, 2, 4]);
        assert_eq!(keep(&scores, &candidates, 4, 8.0), [1, 2, 4, 0]);
        assert_eq!(keep(&[], &candidates, 4, 8.0), [0; 0]);
    }

    #[test]
    fn finalists_are_the_front_and_the_fastest_others() {
        let candidates = candidates(&["a", "a", "b", "c", "d", "e"]);
        let scores = scores(&[
            (10.0, 50.0),
            (11.0, 50.0),
            (12.0, 49.0),
            (20.0, 30.0),
            (25.0, 40.0),
            (90.0, 10.0),
        ]);
        let finalists = |many, hopeless| finalists(&scores, &candidates, many, hopeless);
        assert_eq!(finalists(4, 10.0), [0, 2, 3, 5]);
        // Half of the places are the front's: its fastest and its smallest always among them.
        assert_eq!(finalists(2, 10.0), [0, 5]);
        assert_eq!(finalists(9, 10.0), [0, 2, 3, 4, 5]);
        assert_eq!(finalists(9, 8.0), [0, 2, 3, 4]);
    }
}
