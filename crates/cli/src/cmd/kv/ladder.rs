//! The way up: rungs of screening one after another, and who is seated at full size. Reads no time
//! itself.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fathom_contenders::kv::{self, MEMBERS};
use fathom_measure::rounds::{End, Plan, Stop};
use fathom_report::number::plural;

use super::candidate::{self, Candidate};
use super::data::{Data, Prepared};
use super::explain::{self, Fate};
use super::screen::{self, Rung, Score, Screen, Why};
use super::verdict::{self, Weighed};
use super::{Options, SAMPLES, full, key_types};

/// Share of the budget that screening may take.
const SCREENING_SHARE: f64 = 0.3;
/// Times the least time that nobody is worth.
const HOPELESS: f64 = 8.0;
/// With `--exhaustive` all rungs have all keys, and nobody is out before it takes more than so many times the
/// least time there, or of the time of its structure's best: of all on one allocator, of the others on
/// all, and of these once more.
const EXHAUSTIVE: [(f64, f64); 3] = [(3.0, 2.0), (2.0, 1.4), (2.0, 1.3)];
/// So many at most are then measured in rounds.
const CONTESTED: usize = 72;
/// So many at least go on from a rung, if there are as many.
const KEPT: usize = 32;
/// So many at most are measured in few rounds at the end of the ladder, and what share of the budget that takes.
const SEMIFINALISTS: usize = 24;
const SEMIFINAL_SHARE: f64 = 0.1;
/// Of a structure that is not far off, whoever takes at most so many times its least time is among them.
const CONTESTED_NEAR: f64 = 1.3;
/// With less there is no time for it.
const SEMIFINAL_FROM: Duration = Duration::from_secs(20);

/// What came of the ladder.
#[derive(Default)]
pub(super) struct Climb {
    /// Who is measured, in the order of their time.
    pub(super) finalists: Vec<usize>,
    /// What the rungs did.
    pub(super) rungs: Vec<Rung>,
    /// What became of each candidate, as far as it was decided here.
    pub(super) fates: Vec<Option<Fate>>,
}

/// The ladder: who is measured, and what became of the others.
pub(super) fn screened(
    options: &Options,
    prepared: &Prepared,
    screen: &mut Screen<'_>,
    start: &mut Instant,
) -> anyhow::Result<Climb> {
    let mut data: Vec<&Data> = prepared.samples.iter().collect();
    // All keys are the last rung unless they are many more than the largest sample.
    if prepared.full.keys <= 2 * SAMPLES[SAMPLES.len() - 1] {
        data.push(&prepared.full);
    }
    if data.len() == 1 {
        data.push(data[0]);
    }
    if options.exhaustive {
        data = vec![&prepared.full; EXHAUSTIVE.len()];
    }
    // On few keys the allocator decides nothing: each combination starts on one, and whoever goes on
    // goes on with all.
    let mut chosen: Vec<usize> = screen::on_one_allocator(screen.candidates);
    let patient = options.all || options.exhaustive;
    let hopeless = if options.all { f64::INFINITY } else { HOPELESS };
    let mut fates: Vec<Option<Fate>> = vec![None; screen.candidates.len()];
    let mut rungs = Vec::new();
    let mut scores: Vec<Score> = Vec::new();
    for (number, sample) in data.iter().enumerate() {
        let many = plural(chosen.len(), "combination");
        note(&format!("{many} on {}", plural(sample.keys, sample.unit())));
        // Whoever is not reached at first is out unseen; what a rung does not need is the next one's.
        let share = SCREENING_SHARE * ((number + 1) as f64 / data.len() as f64).sqrt();
        let deadline = match patient {
            true => *start + Duration::from_secs(86_400),
            false => *start + options.budget.mul_f64(share),
        };
        let (mut found, mut rung) = screen
            .rung(&chosen, sample, deadline)
            .map_err(|failure| anyhow::Error::from(failure).context("the reference"))?;
        // Nobody else pays for a hang.
        *start += Duration::from_secs_f64(rung.lost_seconds);
        let before = chosen.len();
        // Half of the logarithm: many combinations fall together, few one by one.
        let at_most = (before / 8).max(KEPT);
        let (kept, limit) = match options.exhaustive {
            true => {
                screen::lessen(&mut found, &scores);
                let limits = EXHAUSTIVE[number];
                let many = if number + 1 == data.len() { CONTESTED } else { usize::MAX };
                (screen::contested(&found, screen.candidates, limits, many), limits.0)
            }
            false => (screen::keep(&found, screen.candidates, at_most, hopeless), hopeless),
        };
        for (number, why, detail) in rung.out.drain(..) {
            let (id, keys) = (screen.candidates[number].id(), sample.keys);
            fates[number] = Some(Fate { id, why, keys, times: None, detail });
        }
        explain::leave(&mut fates, &found, &kept, screen.candidates, (sample.keys, limit));
        // A rung that reached nobody leaves the choice of the one before.
        if !found.is_empty() {
            (chosen, scores) = (kept, found);
        }
        rung.kept = chosen.len();
        rungs.push(rung);
        if number == 0 {
            chosen = screen::on_all_allocators(&chosen, screen.candidates);
        }
    }
    let many = match options.all {
        true => usize::MAX,
        false => (options.budget.as_secs() as usize / 8).clamp(4, 16),
    };
    let mut apart = screen::IN_READINGS;
    if !patient && options.budget >= SEMIFINAL_FROM {
        let limits = (apart, CONTESTED_NEAR);
        let seats = screen::contested(&scores, screen.candidates, limits, SEMIFINALISTS);
        note(&format!("{} in rounds", plural(seats.len(), "combination")));
        let sample = data[data.len() - 1];
        let (found, mut rung) = semifinal(options, sample, screen, &seats)?;
        for (number, why, detail) in rung.out.drain(..) {
            let (id, keys) = (screen.candidates[number].id(), sample.keys);
            fates[number] = Some(Fate { id, why, keys, times: None, detail });
            scores.retain(|score| score.candidate != number);
        }
        if !found.is_empty() {
            screen::replace(&mut scores, &found);
            apart = screen::IN_ROUNDS;
        }
        rungs.push(rung);
    }
    let finalists = match options.exhaustive {
        true => chosen,
        false => screen::finalists(&scores, screen.candidates, many, (hopeless, apart)),
    };
    let last = rungs.last().map_or(0, |rung| rung.keys);
    explain::leave(&mut fates, &scores, &finalists, screen.candidates, (last, hopeless));
    let lost = rungs.iter().flat_map(|rung| &rung.failures).map(|(id, why)| format!("{id} {why}"));
    let lacking = fates.iter().flatten().filter(|fate| fate.why == Why::Lacks);
    let lacking = lacking.map(|fate| fate.detail.clone());
    let why = lost.chain(lacking).next().map_or_else(String::new, |first| format!(": {first}"));
    ensure!(!finalists.is_empty(), "no combination could do what was asked{why}");
    if let Some(last) = rungs.last_mut() {
        last.kept = finalists.len();
        last.left_out = screen::small_but_slow(&scores, screen.candidates, hopeless);
    }
    Ok(Climb { finalists, rungs, fates })
}

/// Measures `seats` in few rounds on `data`: what a reading meets in the caches decides nothing there, because the others
/// have been. Nobody's score, if it was interrupted.
fn semifinal(
    options: &Options,
    data: &Data,
    screen: &Screen<'_>,
    seats: &[usize],
) -> anyhow::Result<(Vec<Score>, Rung)> {
    let start = Instant::now();
    let candidates: Vec<Candidate> =
        seats.iter().map(|&number| screen.candidates[number].clone()).collect();
    let parts = screen.parts;
    let whole: f64 = parts.iter().map(full::weight).sum();
    let limit = options.budget.mul_f64(SEMIFINAL_SHARE * full::ROUNDS_SHARE / whole);
    let mut rung = Rung { keys: data.keys, candidates: seats.len(), ..Rung::default() };
    let mut cases = Vec::new();
    for part in parts {
        let limit = limit.mul_f64(full::weight(part));
        let plan = full::plan(options, limit, seats.len(), parts.len(), data.keys);
        let plan = Plan { processes: 2, stop: Stop::Budget, ..plan };
        let case =
            full::measured(full::spec(data, part), &candidates, 0, plan, screen.bounds.clone())?;
        if case.measured.end == End::Interrupted {
            return Ok((Vec::new(), rung));
        }
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
        let is_oracle = found.structure == MEMBERS[0].reference && options.concurrent.is_some();
        ensure!(!is_oracle, "--concurrent: threads may not share {id}");
        found.launch().map(|_| found)
    };
    let types = key_types::ids(options);
    options.also.iter().chain(&options.exactly).chain(&types).map(one).collect()
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
