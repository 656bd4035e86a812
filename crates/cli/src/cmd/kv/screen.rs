//! Successive halving: every legal combination on few keys, the better ones on more, until so few
//! are left that they can be measured properly.
//!
//! Screening only chooses who is measured; no figure of it is reported as a result. Each reading is
//! the least of a few samples, which noise can only raise. A combination whose answer is wrong, that
//! crashes or hangs is out at once (K. Jamieson, A. Talwalkar, "Non-stochastic best arm
//! identification", 2016, is the idea; here time and memory are both kept in sight).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::Instant;

use fathom_contenders::alloc::SYSTEM;
use fathom_contenders::kv;
use fathom_measure::audition::{Audition, Piece};
use fathom_measure::conductor::Bounds;
use fathom_measure::contender::Metric;
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;
use fathom_random::Random;
use serde::{Deserialize, Serialize};

use super::advice;
use super::candidate::Candidate;
use super::data::{Data, Prepared};
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rung {
    /// Keys of the sample.
    pub(super) keys: usize,
    /// Combinations that were to be tried.
    pub(super) candidates: usize,
    /// They were measured in rounds, not read one by one.
    #[serde(default)]
    pub(super) in_rounds: bool,
    /// Of these, how many lack an operation.
    pub(super) unsupported: usize,
    /// Who was not scored: its number, and why.
    #[serde(skip)]
    pub(super) out: Vec<(usize, Why, String)>,
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

impl Rung {
    /// Whether the time was over before anybody was scored: the rung before decides then, and nobody is out.
    pub(super) fn reached_nobody(&self) -> bool {
        self.unreached > 0
            && self.unreached + self.unsupported + self.failures.len() == self.candidates
    }
}

/// Why a combination went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Why {
    /// It went all the way: measured at full size.
    Measured,
    /// Its structure had somebody faster, and faster ones had the places that were free.
    Behind,
    /// Its structure's best, but all places were taken.
    NoPlace,
    /// It takes more than so many times the least time.
    Hopeless,
    /// Tried on one allocator alone, and out there.
    OtherAllocator,
    /// The time was over: by chance.
    Unreached,
    /// It has not all operations.
    Lacks,
    /// Wrong, crashed or hung.
    Failed,
}

/// Runs single samples of many candidates: on each rung one worker process per allocator or outside
/// runner, a fresh one after a failure.
pub(super) struct Screen<'a> {
    pub(super) candidates: &'a [Candidate],
    pub(super) parts: &'a [Part],
    pub(super) seed: u64,
    /// Mean bytes of a key, which structures that borrow keys leave in the file.
    pub(super) key_bytes: f64,
    /// Whoever cannot be walked in order is out on the first rung that reaches anybody.
    pub(super) must_be_ordered: bool,
    /// Somebody could do what was asked: before that nobody is out for want of time.
    has_any: bool,
    audition: Audition<'static>,
    pub(super) bounds: Bounds,
}

/// A workload of the rung, ready to be tried.
struct Task {
    piece: Piece<'static>,
    /// Its share of the mix; 0 for what is only built to see how large it is.
    share: f64,
    /// Whether a contender opened on it can tell how large it is.
    shows_size: bool,
}

impl<'a> Screen<'a> {
    pub(super) fn new(
        candidates: &'a [Candidate],
        parts: &'a [Part],
        seed: u64,
        key_bytes: f64,
        bounds: Bounds,
    ) -> Screen<'a> {
        let audition = Audition::new(kv::family(), bounds.clone());
        Screen {
            candidates,
            parts,
            seed,
            key_bytes,
            must_be_ordered: false,
            has_any: false,
            audition,
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
        let tasks = self.tasks(data)?;
        let mut order = chosen.to_vec();
        // Whoever is not reached in time is so by chance.
        Random::stream(self.seed, data.keys as u64).shuffle(&mut order);
        let mut scores = Vec::new();
        for (done, &candidate) in order.iter().enumerate() {
            let interrupted = interrupt::measuring().load(Ordering::Relaxed);
            if (Instant::now() > deadline && self.has_any) || interrupted {
                rung.unreached = order.len() - done;
                let late = |&number: &usize| (number, Why::Unreached, String::new());
                rung.out.extend(order[done..].iter().map(late));
                break;
            }
            let begun = Instant::now();
            match self.score(candidate, &tasks) {
                Ok(score) => {
                    self.has_any = true;
                    scores.push(score);
                }
                Err(Failure::Unsupported { reason }) => {
                    rung.unsupported += 1;
                    let structure = &self.candidates[candidate].structure;
                    rung.out.push((candidate, Why::Lacks, format!("{structure} {reason}")));
                }
                Err(failure) => {
                    let id = self.candidates[candidate].id();
                    rung.failures.push((id, failure.to_string()));
                    rung.out.push((candidate, Why::Failed, failure.to_string()));
                    deadline += begun.elapsed();
                    rung.lost_seconds += begun.elapsed().as_secs_f64();
                }
            }
        }
        self.must_be_ordered &= scores.is_empty();
        rung.seconds = start.elapsed().as_secs_f64();
        Ok((scores, rung))
    }

    /// The operations of the mix on `data`; where none of them shows how large a structure is, one
    /// that does.
    fn tasks(&mut self, data: &Data) -> Result<Vec<Task>, Failure> {
        let (build, scan) = (Spec::new("build", &[]), Spec::new("scan", &[]));
        let mut wanted: Vec<(&Spec, f64)> =
            self.parts.iter().map(|part| (&part.workload, part.share)).collect();
        if !wanted.iter().any(|(spec, _)| shows_size(spec)) {
            wanted.push((&build, 0.0));
        }
        if self.must_be_ordered {
            wanted.push((&scan, 0.0));
        }
        // What begins empty comes first: whoever cannot insert is out before it has built anything,
        // which takes a static trie of long keys seconds.
        wanted.sort_by_key(|(spec, _)| spec.operation != "insert");
        let own = measuring::worker(None).map_err(|error| broken(&error))?;
        let specs = wanted.iter().map(|(spec, _)| data.spec(spec)).collect();
        let pieces = self.audition.pieces(specs, &own)?;
        let task = |(piece, (spec, share)): (Piece<'static>, (&Spec, f64))| Task {
            piece,
            share,
            shows_size: shows_size(spec),
        };
        Ok(pieces.into_iter().zip(wanted).map(task).collect())
    }

    fn score(&mut self, number: usize, tasks: &[Task]) -> Result<Score, Failure> {
        let candidate = &self.candidates[number];
        let contender = candidate.contender();
        let launch = candidate.launch().map_err(|error| broken(&error))?;
        let mut score = Score { candidate: number, cost_ns: 0.0, bytes: None };
        for Task { piece, share, shows_size } in tasks {
            let asked = (*share > 0.0, *shows_size);
            let (ns, metrics) = self.audition.reading(&launch, &contender, piece, asked)?;
            score.cost_ns += share * ns;
            score.bytes = held_bytes(&metrics).or(score.bytes);
        }
        // What is borrowed lies in the file, and must: it is part of the price.
        let key_bytes = if candidate.borrows() { self.key_bytes } else { 0.0 };
        score.bytes = score.bytes.map(|bytes| bytes + key_bytes);
        Ok(score)
    }
}

/// Refuses who cannot be walked in order, of those who are measured whatever the ladder says.
pub(super) fn ensure_ordered(
    asked: &[Candidate],
    prepared: &Prepared,
    bounds: Bounds,
) -> anyhow::Result<()> {
    let few = prepared.samples.first().unwrap_or(&prepared.full);
    let mut audition = Audition::new(kv::family(), bounds);
    let own = measuring::worker(None)?;
    let pieces = audition.pieces(vec![few.spec(&Spec::new("scan", &[]))], &own);
    let pieces = pieces.map_err(|failure| anyhow::Error::from(failure).context("the reference"))?;
    for candidate in asked {
        let (launch, contender) = (candidate.launch()?, candidate.contender());
        let reading = audition.reading(&launch, &contender, &pieces[0], (false, false));
        if let Err(Failure::Unsupported { reason }) = reading {
            anyhow::bail!("--ordered: {} {reason}", candidate.id());
        }
    }
    Ok(())
}

/// Whether a contender opened on it can tell how large it is.
fn shows_size(spec: &Spec) -> bool {
    matches!(spec.operation.as_str(), "insert" | "build" | "replay")
}

/// What it takes per entry: in memory, or where that cannot be counted in files.
fn held_bytes(metrics: &[Metric]) -> Option<f64> {
    let names = ["live_bytes_per_entry", "stored_bytes_per_entry"];
    let found = |name: &&str| metrics.iter().find(|metric| metric.name == *name);
    names.iter().find_map(found).map(|metric| metric.value)
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::Broken { what: format!("{error:#}") }
}

/// Each combination of structure and hash once: on the system's allocator, or the first it has.
pub(super) fn on_one_allocator(candidates: &[Candidate]) -> Vec<usize> {
    let mut found: HashMap<String, usize> = HashMap::new();
    for (number, candidate) in candidates.iter().enumerate() {
        let one = found.entry(candidate.contender()).or_insert(number);
        if candidate.allocator == SYSTEM {
            *one = number;
        }
    }
    let mut numbers: Vec<usize> = found.into_values().collect();
    numbers.sort_unstable();
    numbers
}

/// The combinations of structure and hash that are among `chosen`, on every allocator they have.
pub(super) fn on_all_allocators(chosen: &[usize], candidates: &[Candidate]) -> Vec<usize> {
    let names: HashSet<String> =
        chosen.iter().map(|&number| candidates[number].contender()).collect();
    let is_among = |number: &usize| names.contains(&candidates[*number].contender());
    (0..candidates.len()).filter(is_among).collect()
}

/// Who goes on: the best of each structure that is not hopeless, then of structures that are not far off those nearest to
/// their best, then the best of all, up to `at_most`. Hopeless is a structure that takes more than `hopeless` times the
/// least time, unless nobody faster is as small.
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
    let mut designs: Vec<&str> = Vec::new();
    let mut kept = Vec::new();
    for score in &sorted {
        let design = candidates[score.candidate].design();
        let bytes = score.bytes.unwrap_or(f64::INFINITY);
        let is_first = !designs.contains(&design);
        let is_small = bytes < smallest * 0.95;
        if is_first && (score.cost_ns <= best * hopeless || is_small) {
            kept.push(score.candidate);
        }
        if is_first {
            designs.push(design);
        }
        smallest = smallest.min(bytes);
    }
    let near = contested(scores, candidates, (IN_READINGS, f64::INFINITY), usize::MAX);
    for candidate in near.into_iter().chain(sorted.iter().map(|score| score.candidate)) {
        if kept.len() < at_most && !kept.contains(&candidate) {
            kept.push(candidate);
        }
    }
    kept
}

/// Times the least time within which a reading tells no winner among variants of one structure.
const NEAR: f64 = 1.1;
/// The same among structures, whose readings find the caches as they left them: on 50,000 words (EPYC, Zen 3)
/// the fastest in rounds had 1.28 times the least reading.
pub(super) const IN_READINGS: f64 = 1.4;
/// The same in few rounds.
pub(super) const IN_ROUNDS: f64 = 1.1;

/// Takes the least of both readings where there are two: noise can only raise one.
pub(super) fn lessen(scores: &mut [Score], before: &[Score]) {
    for score in scores {
        let own = before.iter().find(|other| other.candidate == score.candidate);
        score.cost_ns = own.map_or(score.cost_ns, |other| other.cost_ns.min(score.cost_ns));
    }
}

/// Puts what was `found` in rounds in the place of what was known. The others' times are made as much longer as those of
/// whoever was there `before`, in the middle: rounds meet colder caches; and no less than `behind` times the least time found.
pub(super) fn replace(scores: &mut Vec<Score>, found: &[Score], before: &[Score], behind: f64) {
    let of = |scores: &[Score], candidate: usize| {
        scores.iter().find(|score| score.candidate == candidate).map(|score| score.cost_ns)
    };
    let longer = before.iter().filter_map(|one| Some(of(found, one.candidate)? / one.cost_ns));
    let longer = fathom_measure::stats::median(&longer.collect::<Vec<f64>>()).unwrap_or(1.0);
    let least = found.iter().map(|score| score.cost_ns).fold(f64::INFINITY, f64::min);
    let floor = if found.is_empty() { 0.0 } else { least * behind };
    scores.retain(|score| of(found, score.candidate).is_none());
    scores.iter_mut().for_each(|score| score.cost_ns = (score.cost_ns * longer).max(floor));
    scores.extend_from_slice(found);
}

/// Of each combination of structure and hash the score on the allocator that it takes least on: under the name that is worth
/// most where one table has two.
pub(super) fn on_best_allocator(scores: &[Score], candidates: &[Candidate]) -> Vec<Score> {
    let table = |number: usize| (candidates[number].design(), candidates[number].hash.as_deref());
    let mut found: Vec<Score> = Vec::new();
    for score in scores {
        let known = found.iter_mut().find(|one| table(one.candidate) == table(score.candidate));
        match known {
            Some(best) if score.cost_ns < best.cost_ns => *best = *score,
            Some(_) => {}
            None => found.push(*score),
        }
    }
    for best in &mut found {
        let allocator = &candidates[best.candidate].allocator;
        let is_same = |&number: &usize| {
            table(number) == table(best.candidate) && candidates[number].allocator == *allocator
        };
        let names = scores.iter().map(|score| score.candidate).filter(is_same);
        let name = names.min_by_key(|&number| advice::worth(&candidates[number]));
        best.candidate = name.unwrap_or(best.candidate);
    }
    found
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

/// Who is measured at full size: the front of time against memory, then of the fastest's variants that are near it the
/// one that is worth most beside its time, and that of the same hash function, the best of other structures that may be as fast (at most `apart` times the least
/// time), variants that are nearest to the fastest, the best of yet other structures, and whoever else is fast, at most
/// `many`, in the order of their time. Who takes more than `hopeless` times the least time is not: one of them would leave
/// all others too few rounds.
pub(super) fn finalists(
    scores: &[Score],
    candidates: &[Candidate],
    many: usize,
    (hopeless, apart): (f64, f64),
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
    let best_of_others = |times: f64, chosen: &mut Vec<usize>| {
        for score in sorted.iter().filter(|score| score.cost_ns <= least * times) {
            let is_own =
                |other: &usize| candidates[*other].design() == candidates[score.candidate].design();
            if chosen.len() < many && !chosen.iter().any(is_own) {
                chosen.push(score.candidate);
            }
        }
    };
    // Of variants of one structure, a reading that is a few percent off tells no winner: the one that would be advised
    // if all were alike is asked every time, and the fastest with the allocator that needs least.
    let near = sorted.iter().take_while(|score| score.cost_ns <= least * NEAR);
    let near: Vec<usize> = near.map(|score| score.candidate).collect();
    let worth = |number: usize| (advice::worth(&candidates[number]), candidates[number].id());
    let simplest = |is_like: &dyn Fn(&Candidate) -> bool| {
        let alike = near.iter().copied().filter(|&number| is_like(&candidates[number]));
        alike.min_by_key(|&number| worth(number))
    };
    let fastest = near.first().map(|&number| &candidates[number]);
    let variants = [
        simplest(&|one| Some(one.design()) == fastest.map(Candidate::design)),
        simplest(&|one| Some(one.contender()) == fastest.map(Candidate::contender)),
    ];
    let add = |number: usize, chosen: &mut Vec<usize>| {
        if chosen.len() < many && !chosen.contains(&number) {
            chosen.push(number);
        }
    };
    if let Some(number) = variants[0] {
        add(number, &mut chosen);
    }
    // A place is kept for another structure.
    if let Some(number) = variants[1].filter(|_| chosen.len() + 1 < many) {
        add(number, &mut chosen);
    }
    best_of_others(apart, &mut chosen);
    near.into_iter().for_each(|number| add(number, &mut chosen));
    best_of_others(f64::INFINITY, &mut chosen);
    sorted.iter().for_each(|score| add(score.candidate, &mut chosen));
    let cost = |number: &usize| {
        let score = sorted.iter().find(|score| score.candidate == *number);
        score.map_or(f64::INFINITY, |score| score.cost_ns)
    };
    chosen.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    chosen
}

/// Who is worth rounds, at most `many`: whoever takes at most `apart` times the least time and at most `near` times that of
/// the fastest of its structure. The fastest of each structure come first, then those nearest to them, of structures that are
/// farther off later.
///
/// A reading compares variants of one structure. Between structures it is off by more: it finds the caches as
/// it left them, where in rounds the others have been. So what a structure is behind counts half (of the logarithm).
pub(super) fn contested(
    scores: &[Score],
    candidates: &[Candidate],
    (apart, near): (f64, f64),
    many: usize,
) -> Vec<usize> {
    let least = scores.iter().map(|score| score.cost_ns).fold(f64::INFINITY, f64::min);
    let mut own: HashMap<&str, f64> = HashMap::new();
    for score in scores {
        let design = candidates[score.candidate].design();
        let known = own.entry(design).or_insert(f64::INFINITY);
        *known = known.min(score.cost_ns);
    }
    let behind = |score: &Score| {
        let own = own[candidates[score.candidate].design()];
        let half = (own * least).sqrt();
        let is_near = own <= least * apart && score.cost_ns <= own * near;
        is_near.then_some((score.cost_ns > own, score.cost_ns / half))
    };
    let all = scores.iter().filter_map(|score| Some((behind(score)?, score.candidate)));
    let mut all: Vec<((bool, f64), usize)> = all.collect();
    all.sort_by(|a, b| a.0.0.cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1)));
    all.into_iter().take(many).map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::super::verdict::tests::candidates;
    use super::*;

    #[test]
    fn allocators_join_those_who_go_on() {
        let mut all = candidates(&["a", "a", "b", "c", "b"]);
        all[0].allocator = "jemalloc".to_owned();
        all[4].allocator = "jemalloc".to_owned();
        all[3].allocator = "jemalloc".to_owned();
        assert_eq!(on_one_allocator(&all), [1, 2, 3]);
        assert_eq!(on_all_allocators(&[2], &all), [2, 4]);
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

    /// Of 24 places ten went to variants of a structure that no rounds had among the first.
    #[test]
    fn those_nearest_to_the_best_of_their_structure_go_on_first() {
        let candidates = candidates(&["a", "a", "a", "b", "b", "c", "c"]);
        let figures = [
            (10.0, 0.0),
            (10.2, 0.0),
            (11.5, 0.0),
            (11.0, 0.0),
            (11.1, 0.0),
            (20.0, 0.0),
            (20.1, 0.0),
        ];
        assert_eq!(keep(&scores(&figures), &candidates, 6, 8.0), [0, 3, 5, 1, 4, 2]);
        assert_eq!(keep(&scores(&figures), &candidates, 9, 8.0), [0, 3, 5, 1, 4, 2, 6]);
    }

    /// A table that was read with warm caches was the fastest beside those whose times were of rounds.
    #[test]
    fn readings_beside_times_of_rounds_are_as_much_longer() {
        let mut all = scores(&[(10.0, 50.0), (20.0, 50.0), (30.0, 50.0), (40.0, 9.0)]);
        let before = all.clone();
        let found = [(2, 35.0), (0, 15.0), (1, 26.0)].map(|(candidate, cost_ns)| Score {
            candidate,
            cost_ns,
            bytes: Some(51.0),
        });
        replace(&mut all, &found, &before, 1.0);
        let times = all.iter().map(|score| (score.candidate, score.cost_ns, score.bytes.unwrap()));
        let expected = [(3, 52.0, 9.0), (2, 35.0, 51.0), (0, 15.0, 51.0), (1, 26.0, 51.0)];
        assert_eq!(times.collect::<Vec<_>>(), expected);
        replace(&mut all, &[], &before, 9.0);
        assert_eq!(all[0].cost_ns, 52.0);
        // Whoever was not read has its time, too; who was not measured before says nothing of the others.
        let more = [(3, 20.0), (9, 21.0), (1, 26.0)].map(|(candidate, cost_ns)| Score {
            candidate,
            cost_ns,
            bytes: None,
        });
        replace(&mut all, &more, &found, 1.1);
        let times: Vec<f64> = all.iter().map(|score| score.cost_ns).collect();
        assert_eq!(times, [35.0, 22.0, 20.0, 21.0, 26.0]);
    }

    #[test]
    fn of_each_structure_and_hash_the_best_allocator_counts() {
        let mut all = candidates(&["a", "a", "b", "a"]);
        all[1].allocator = "jemalloc".to_owned();
        all[3].allocator = "mimalloc".to_owned();
        let scores = scores(&[(12.0, 50.0), (10.0, 50.0), (30.0, 50.0), (11.0, 9.0)]);
        assert_eq!(on_best_allocator(&scores, &all), scores[1..3]);
    }

    /// Both had places, and a third was not tried on all allocators.
    #[test]
    fn a_table_of_two_names_has_one_seat() {
        let ids = ["hashbrown+ahash", "std+ahash", "hashbrown+foldhash", "std+ahash"];
        let mut all = ids.map(|id| super::super::candidate::named(id).unwrap());
        "jemalloc".clone_into(&mut all[3].allocator);
        let of = |costs: [f64; 4]| {
            let costs = costs.map(|cost| (cost, 50.0));
            let best = on_best_allocator(&scores(&costs), &all);
            best.iter().map(|score| (score.candidate, score.cost_ns)).collect::<Vec<_>>()
        };
        assert_eq!(of([10.0, 11.0, 12.0, 13.0]), [(1, 10.0), (2, 12.0)]);
        assert_eq!(of([10.0, 11.0, 12.0, 9.0]), [(3, 9.0), (2, 12.0)]);
    }

    #[test]
    fn the_least_of_two_readings_counts() {
        let mut found = scores(&[(12.0, 50.0), (10.0, 50.0), (11.0, 50.0)]);
        lessen(&mut found, &scores(&[(9.0, 0.0), (20.0, 0.0)]));
        assert_eq!(found, scores(&[(9.0, 50.0), (10.0, 50.0), (11.0, 50.0)]));
    }

    #[test]
    fn the_contested_are_near_the_best_of_their_structure_if_that_is_not_far_off() {
        let candidates = candidates(&["a", "a", "a", "b", "b", "c"]);
        let figures =
            [(10.0, 0.0), (10.8, 0.0), (12.0, 0.0), (15.0, 0.0), (15.3, 0.0), (40.0, 0.0)];
        let contested = |limits, many| contested(&scores(&figures), &candidates, limits, many);
        assert_eq!(contested((2.0, 1.1), 9), [0, 3, 1, 4]);
        assert_eq!(contested((2.0, 1.1), 3), [0, 3, 1]);
        assert_eq!(contested((2.0, 1.3), 4), [0, 3, 1, 2], "half of what it is behind");
        assert_eq!(contested((1.2, 1.3), 9), [0, 1, 2]);
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
        let finalists =
            |many, hopeless| finalists(&scores, &candidates, many, (hopeless, IN_READINGS));
        assert_eq!(finalists(4, 10.0), [0, 1, 2, 5]);
        // Half of the places are the front's: its fastest and its smallest always among them.
        assert_eq!(finalists(2, 10.0), [0, 5]);
        assert_eq!(finalists(9, 10.0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(finalists(9, 8.0), [0, 1, 2, 3, 4]);
    }

    /// Each of three runs advised another hash and allocator, told apart by noise, and `std` and `hashbrown`, which are one
    /// table, took two places.
    #[test]
    fn of_variants_that_are_near_the_one_that_needs_least_is_measured() {
        let ids = [
            "hashbrown+rustc-hash", "std+xxh3-64", "std+foldhash", "std+ahash", "std+siphash13",
            "hashbrown+foldhash", "indexmap+foldhash",
        ];
        let mut candidates = ids.map(|id| super::super::candidate::named(id).unwrap());
        "jemalloc".clone_into(&mut candidates[3].allocator);
        let of = |figures: [f64; 7], many| {
            let figures = figures.map(|ns| (ns, 50.0));
            finalists(&scores(&figures), &candidates, many, (8.0, IN_READINGS))
        };
        assert_eq!(of([10.0, 10.2, 10.4, 10.3, 12.0, 10.1, 13.0], 3), [0, 2, 6]);
        assert_eq!(of([10.0, 10.2, 10.4, 10.3, 12.0, 10.1, 13.0], 5), [0, 5, 1, 2, 6]);
        // Too slow to be as fast, or the fastest itself.
        assert_eq!(of([10.0, 10.2, 12.0, 12.0, 12.0, 12.0, 13.0], 3), [0, 1, 6]);
        assert_eq!(of([10.0, 10.2, 10.4, 10.3, 10.5, 10.1, 13.0], 3), [0, 4, 6]);
        assert_eq!(of([10.3, 10.2, 10.0, 10.3, 12.0, 10.1, 13.0], 2), [2, 6]);
        // The fastest's own hash on the system's allocator, too.
        "jemalloc".clone_into(&mut candidates[0].allocator);
        candidates[5] = super::super::candidate::named("hashbrown+rustc-hash").unwrap();
        let of = |figures: [f64; 7], many| {
            let figures = figures.map(|ns| (ns, 50.0));
            finalists(&scores(&figures), &candidates, many, (8.0, IN_READINGS))
        };
        assert_eq!(of([10.0, 10.2, 10.4, 10.3, 12.0, 10.6, 13.0], 4), [0, 2, 5, 6]);
        assert_eq!(of([10.0, 10.2, 10.4, 10.3, 12.0, 11.6, 13.0], 4), [0, 1, 2, 6]);
        let found = of([10.0, 10.2, 10.4, 10.3, 12.0, 10.6, 13.0], 3);
        assert_eq!(found, [0, 2, 6], "another structure");
        // Places that nobody else takes were left empty.
        assert_eq!(of([15.0, 16.0, 10.0, 16.0, 17.0, 14.0, 13.0], 4), [2, 6, 5, 0]);
    }
}
