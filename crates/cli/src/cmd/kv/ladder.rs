//! The way up: rungs of screening one after another, few rounds among those whom readings do not tell apart, and who is
//! seated at full size.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fathom_contenders::kv;
use fathom_measure::plan::{End, Plan, Stop};
use fathom_measure::sample::Failure;
use fathom_report::number::plural;

use super::candidate::{self, Candidate};
use super::data::{Data, Prepared};
use super::explain::{self, Fate};
use super::screen::{self, Rung, Score, Screen, Why};
use super::verdict::{self, Weighed};
use super::{Options, SAMPLES, full, key_types};

/// Share of the budget that screening may take.
const SCREENING_SHARE: f64 = 0.3;
/// See [`hopeless`].
const HOPELESS: f64 = 8.0;
/// So many at least go on from a rung, if there are as many.
const KEPT: usize = 32;
/// With `--exhaustive` all rungs have all keys, and nobody is out before it takes more than so many times the
/// least time there, or of the time of its structure's best: of all on one allocator, of the others on
/// all, and of these once more.
const EXHAUSTIVE: [(f64, f64); 3] = [(3.0, 2.0), (2.0, 1.4), (2.0, 1.3)];
/// So many at most are then measured in rounds.
const CONTESTED: usize = 72;

/// Of a structure that is not far off, whoever takes at most so many times its least time has a seat in the few rounds.
const NEAR: f64 = 1.3;
/// So many more seats than places at full size there are at most.
const SEATS: usize = 18;
/// So many combinations of structure and hash, the fastest in rounds, are then tried on every allocator.
const BEST: usize = 3;
/// What share of the budget rounds on one allocator may take, and then those on all. Half of it is for getting
/// everybody ready in so many sets of processes.
const SHARES: [f64; 2] = [0.14, 0.1];
/// Whoever was only read takes so many times the least time at least: it is not near the fastest, whatever was read.
const ONLY_READ: f64 = 1.15;
/// See [`SHARES`].
const SETS: u32 = 2;
/// With a smaller budget there is no time for it.
const ROUNDS_FROM: Duration = Duration::from_secs(20);

/// What came of the ladder.
#[derive(Default)]
pub(super) struct Climb {
    /// Who is measured, in the order of their time.
    pub(super) finalists: Vec<usize>,
    /// What the rungs did.
    pub(super) rungs: Vec<Rung>,
    /// What became of each candidate, as far as it was decided here.
    pub(super) fates: Vec<Option<Fate>>,
    /// Those who are left, by the last rung that reached anybody.
    scores: Vec<Score>,
    /// Its keys.
    keys: usize,
}

/// The ladder: who is measured, and what became of the others.
pub(super) fn screened(
    options: &Options,
    prepared: &Prepared,
    screen: &mut Screen<'_>,
    start: &mut Instant,
) -> anyhow::Result<Climb> {
    let candidates = screen.candidates;
    let hopeless = hopeless(options);
    let mut climb = Climb::begun(candidates.len());
    let samples = samples(options, prepared);
    let (sample, smaller) = samples.split_last().expect("all keys at least");
    let has_rounds = !is_patient(options) && (options.budget >= ROUNDS_FROM || options.planted);
    // Rounds on the last sample tell more than readings there, of which two on smaller ones have chosen.
    let read_on = if has_rounds && smaller.len() > 1 { smaller } else { &samples };
    let chosen = read(options, read_on, screen, start, &mut climb)?;
    let many = match options.all {
        true => usize::MAX,
        false => (options.budget.as_secs() as usize / 8).clamp(4, 16),
    };
    let seated = |climb: &Climb, apart| {
        screen::finalists(&climb.scores, candidates, many, (hopeless, apart))
    };
    let mut finalists = match options.exhaustive {
        true => chosen,
        false => seated(&climb, screen::IN_READINGS),
    };
    // Where all have a place there is nothing to decide.
    if has_rounds && finalists.len() < climb.scores.len() {
        // A trace may be short and on many keys.
        let is_whole = std::ptr::eq(*sample, &prepared.full);
        let size = if is_whole { prepared.size() } else { sample.keys };
        if contest(options, (sample, size), screen, many, start, &mut climb)? {
            finalists = seated(&climb, screen::IN_ROUNDS);
        }
    }
    let Climb { rungs, fates, scores, keys, .. } = &mut climb;
    explain::leave(fates, scores, &finalists, candidates, (*keys, hopeless));
    let lost = rungs.iter().flat_map(|rung| &rung.failures).map(|(id, why)| format!("{id} {why}"));
    let lacking = fates.iter().flatten().filter(|fate| fate.why == Why::Lacks);
    let lacking = lacking.map(|fate| fate.detail.clone());
    let why = lost.chain(lacking).next().map_or_else(String::new, |first| format!(": {first}"));
    ensure!(!finalists.is_empty(), "no combination could do what was asked{why}");
    if let Some(last) = rungs.last_mut() {
        last.kept = finalists.len();
        last.left_out = screen::small_but_slow(scores, candidates, hopeless);
    }
    climb.finalists = finalists;
    Ok(climb)
}

/// Times the least time that nobody is worth.
fn hopeless(options: &Options) -> f64 {
    if options.all { f64::INFINITY } else { HOPELESS }
}

/// Whether screening takes as long as it takes.
fn is_patient(options: &Options) -> bool {
    options.all || options.exhaustive
}

/// What the rungs are tried on.
fn samples<'a>(options: &Options, prepared: &'a Prepared) -> Vec<&'a Data> {
    if options.exhaustive {
        return vec![&prepared.full; EXHAUSTIVE.len()];
    }
    let mut samples: Vec<&Data> = prepared.samples.iter().collect();
    // All keys are the last rung unless they are many more than the largest sample.
    if prepared.size() <= 2 * SAMPLES[SAMPLES.len() - 1] || samples.is_empty() {
        samples.push(&prepared.full);
    }
    if samples.len() == 1 {
        samples.push(samples[0]);
    }
    samples
}

/// The rungs; who is left of the last one.
fn read(
    options: &Options,
    samples: &[&Data],
    screen: &mut Screen<'_>,
    start: &mut Instant,
    climb: &mut Climb,
) -> anyhow::Result<Vec<usize>> {
    // On few keys the allocator decides nothing: each combination starts on one, and whoever goes on
    // goes on with all.
    let mut chosen: Vec<usize> = screen::on_one_allocator(screen.candidates);
    let (patient, hopeless) = (is_patient(options), hopeless(options));
    for (number, sample) in samples.iter().enumerate() {
        let many = plural(chosen.len(), "combination");
        note(&format!("{many} on {}", plural(sample.keys, sample.unit())));
        // Whoever is not reached at first is out unseen; what a rung does not need is the next one's.
        let share = SCREENING_SHARE * ((number + 1) as f64 / samples.len() as f64).sqrt();
        let deadline = match patient {
            true => *start + Duration::from_secs(86_400),
            false => *start + options.budget.mul_f64(share),
        };
        let (mut found, mut rung) = screen
            .rung(&chosen, sample, deadline)
            .map_err(|failure| anyhow::Error::from(failure).context("the reference"))?;
        let before = chosen.len();
        // Half of the logarithm: many combinations fall together, few one by one.
        let at_most = (before / 8).max(KEPT);
        let (kept, limit) = match options.exhaustive {
            true => {
                screen::lessen(&mut found, &climb.scores);
                let limits = EXHAUSTIVE[number];
                let many = if number + 1 == samples.len() { CONTESTED } else { usize::MAX };
                (screen::contested(&found, screen.candidates, limits, many), limits.0)
            }
            false => (screen::keep(&found, screen.candidates, at_most, hopeless), hopeless),
        };
        explain::leave(&mut climb.fates, &found, &kept, screen.candidates, (sample.keys, limit));
        // A rung that reached nobody leaves the choice of the one before.
        if !found.is_empty() {
            (chosen, climb.scores, climb.keys) = (kept, found, sample.keys);
        }
        rung.kept = chosen.len();
        climb.end(rung, screen.candidates, start);
        if number == 0 {
            chosen = screen::on_all_allocators(&chosen, screen.candidates);
        }
    }
    Ok(chosen)
}

/// Measures in few rounds, on the sample of the last rung, whom readings do not tell apart: what a reading meets in the
/// caches decides nothing there, because the others have been. At first each combination of structure and hash is on the
/// allocator that it was read fastest on, then the fastest of these are on all. Whether anybody was measured.
fn contest(
    options: &Options,
    (data, size): (&Data, usize),
    screen: &Screen<'_>,
    places: usize,
    start: &mut Instant,
    climb: &mut Climb,
) -> anyhow::Result<bool> {
    let candidates = screen.candidates;
    // Getting one ready takes about what reading it took, and more on more keys.
    let Some(last) = climb.rungs.last() else { return Ok(false) };
    let tried = (last.candidates - last.unreached).max(1) as f64;
    let each = last.seconds / tried * (data.keys as f64 / last.keys as f64).max(1.0);
    let most = |share: f64| {
        let fitting = options.budget.as_secs_f64() * share / 2.0 / (f64::from(SETS) * each);
        let fitting = if options.planted { usize::MAX } else { fitting as usize };
        fitting.min(places + SEATS)
    };
    let on_one = screen::on_best_allocator(&climb.scores, candidates);
    let limits = (screen::IN_READINGS, NEAR);
    let seats = screen::contested(&on_one, candidates, limits, most(SHARES[0]));
    let mut measure = |seats: &[usize], share, before: &[Score], behind, climb: &mut Climb| {
        if seats.len() < 2 {
            return Ok(Vec::new());
        }
        let (found, rung) = in_rounds(options, (data, size), screen, (seats, share))?;
        climb.end(rung, candidates, start);
        if !found.is_empty() {
            climb.keys = data.keys;
            screen::replace(&mut climb.scores, &found, before, behind);
        }
        anyhow::Ok(found)
    };
    let read = climb.scores.clone();
    let found = measure(&seats, SHARES[0], &read, ONLY_READ, climb)?;
    let is_out = |number: usize| {
        let fate = climb.fates[number].as_ref();
        fate.is_some_and(|fate| [Why::Failed, Why::Lacks].contains(&fate.why))
    };
    let on_all = |best: usize| {
        let best: Vec<usize> = found.iter().take(best).map(|score| score.candidate).collect();
        let mut all = screen::on_all_allocators(&best, candidates);
        all.retain(|&number| !is_out(number));
        all
    };
    let most = most(SHARES[1]);
    let seats = (1..=BEST.min(found.len())).rev().map(on_all).find(|all| all.len() <= most);
    let seats = seats.unwrap_or_default();
    // Where there is one allocator all have been measured.
    if !seats.iter().all(|number| found.iter().any(|score| score.candidate == *number)) {
        measure(&seats, SHARES[1], &found, 1.0, climb)?;
    }
    Ok(!found.is_empty())
}

impl Climb {
    /// Nobody has been tried of so many.
    pub(super) fn begun(considered: usize) -> Climb {
        Climb { fates: vec![None; considered], ..Climb::default() }
    }

    /// Puts a rung to the others, and to those who were out what they were out for.
    fn end(&mut self, mut rung: Rung, candidates: &[Candidate], start: &mut Instant) {
        for (number, why, detail) in rung.out.drain(..) {
            let (id, keys) = (candidates[number].id(), rung.keys);
            self.fates[number] = Some(Fate { id, why, keys, times: None, detail });
            // Of whoever was not reached the rung before tells the time.
            self.scores.retain(|score| score.candidate != number || why != Why::Failed);
        }
        // Nobody else pays for a hang.
        *start += Duration::from_secs_f64(rung.lost_seconds);
        // Of the rung before those went on who were tried here.
        if let Some(before) = self.rungs.last_mut().filter(|_| rung.in_rounds) {
            before.kept = rung.candidates;
        }
        self.rungs.push(rung);
    }
}

/// Few rounds of all `seats`: the scores of those who did not fail, the fastest first. Nobody's if it was interrupted.
fn in_rounds(
    options: &Options,
    (data, size): (&Data, usize),
    screen: &Screen<'_>,
    (seats, share): (&[usize], f64),
) -> anyhow::Result<(Vec<Score>, Rung)> {
    let keys = plural(data.keys, data.unit());
    note(&format!("{} on {keys} in rounds", plural(seats.len(), "combination")));
    let start = Instant::now();
    let candidates: Vec<Candidate> =
        seats.iter().map(|&number| screen.candidates[number].clone()).collect();
    let parts = screen.parts;
    let whole: f64 = parts.iter().map(full::weight).sum();
    let limit = options.budget.mul_f64(share / 2.0 / whole);
    let mut rung =
        Rung { keys: data.keys, candidates: seats.len(), in_rounds: true, ..Rung::default() };
    let mut cases = Vec::new();
    for part in parts {
        let limit = limit.mul_f64(full::weight(part));
        let plan = full::plan(options, limit, seats.len(), parts.len(), size);
        let plan = Plan { processes: SETS, stop: Stop::Budget, ..plan };
        let case =
            full::measured(full::spec(data, part), &candidates, 0, plan, screen.bounds.clone())?;
        if case.measured.end == End::Interrupted {
            return Ok((Vec::new(), rung));
        }
        let hung = case.measured.failures.iter().flatten();
        rung.lost_seconds += hung
            .map(|failure| match failure {
                Failure::Hung { limit_ms } => *limit_ms as f64 / 1e3,
                _ => 0.0,
            })
            .sum::<f64>();
        cases.push(Weighed { case, share: part.share });
    }
    let rows = verdict::rows(&candidates, &cases, 0, screen.key_bytes);
    let mut scores = Vec::new();
    for (row, &candidate) in rows.into_iter().zip(seats) {
        match (row.cost_ns, row.failure) {
            (_, Some(why)) => {
                rung.out.push((candidate, Why::Failed, why.clone()));
                rung.failures.push((row.id, why));
            }
            (Some(cost_ns), None) => {
                scores.push(Score { candidate, cost_ns, bytes: row.bytes_per_entry });
            }
            (None, None) => {}
        }
    }
    scores.sort_by(|a, b| a.cost_ns.total_cmp(&b.cost_ns));
    rung.seconds = start.elapsed().as_secs_f64();
    Ok((scores, rung))
}

/// Those who are measured whatever the ladder says.
///
/// # Errors
/// A name that nothing in this build has, an allocator that is not here, one that no threads may share.
pub(super) fn also(options: &Options, candidates: &[Candidate]) -> anyhow::Result<Vec<Candidate>> {
    let one = |id: &String| {
        let found = candidates.iter().find(|candidate| candidate.id() == *id).cloned();
        let found = found.map_or_else(|| candidate::named(id), Ok)?;
        // It does the work of all threads on one.
        let is_oracle =
            found.structure == kv::members()[0].reference() && options.concurrent.is_some();
        ensure!(!is_oracle, "--concurrent: threads may not share {id}");
        found.launch().map(|_| found)
    };
    let types = key_types::ids(options);
    let mut all: Vec<Candidate> = Vec::new();
    for id in options.also.iter().chain(&options.exactly).chain(&types) {
        let found = one(id)?;
        if all.iter().all(|other| other.id() != found.id()) {
            all.push(found);
        }
    }
    Ok(all)
}

/// Those who are measured, and the number of the one all are compared with: what one takes without
/// thinking about it.
pub(super) fn seated(
    options: &Options,
    candidates: &[Candidate],
    chosen: &[usize],
    also: Vec<Candidate>,
    is_ordered: bool,
) -> anyhow::Result<(Vec<Candidate>, usize)> {
    let usual = candidate::named(kv::usual(is_ordered, options.concurrent.is_some()))?;
    let mut seated: Vec<Candidate> =
        chosen.iter().map(|&number| candidates[number].clone()).collect();
    for asked in also {
        if seated.iter().all(|other| other.id() != asked.id()) {
            seated.push(asked);
        }
    }
    let found = seated.iter().position(|candidate| candidate.id() == usual.id());
    let baseline = found.unwrap_or_else(|| {
        seated.push(usual);
        seated.len() - 1
    });
    Ok((seated, baseline))
}

fn note(text: &str) {
    if std::io::stderr().is_terminal() {
        say!("fathom kv: {text}");
    }
}
