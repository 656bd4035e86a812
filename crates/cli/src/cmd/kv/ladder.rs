//! The way up: rungs of screening one after another, and who is seated at full size. Reads no time
//! itself.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::ensure;
use fathom_contenders::kv::{self, MEMBERS};
use fathom_report::number::plural;

use super::candidate::{self, Candidate};
use super::data::{Data, Prepared};
use super::explain::{self, Fate};
use super::key_types;
use super::screen::{self, Rung, Score, Screen, Why};
use super::{Options, SAMPLES};

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
/// So many at most are read once more at the end of the ladder.
const READ_AGAIN: usize = 24;
/// Who takes at most so many times the least time is read once more.
const AGAIN: f64 = 1.15;

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
    // Those who are near each other at its end are read once more: what a process adds to one reading
    // it adds to no other.
    data.push(data[data.len() - 1]);
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
        let is_again = number + 1 == data.len() && !options.exhaustive;
        if is_again {
            let is_lost = |score: &Score| {
                rung.out.iter().any(|out| out.0 == score.candidate && out.1 == Why::Failed)
            };
            scores.retain(|score| !is_lost(score));
            screen::lessen(&mut scores, &found);
            found = scores.clone();
            // They had their turn on the rung before.
            rung.unreached = 0;
        }
        let before = chosen.len();
        // Half of the logarithm: many combinations fall together, few one by one.
        let at_most = (before / 8).max(24);
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
        } else if number + 2 == data.len() && !options.exhaustive {
            chosen = screen::near(&scores, AGAIN, READ_AGAIN);
        }
    }
    let many = match options.all {
        true => usize::MAX,
        false => (options.budget.as_secs() as usize / 8).clamp(4, 16),
    };
    let finalists = match options.exhaustive {
        true => chosen,
        false => screen::finalists(&scores, screen.candidates, many, hopeless),
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
