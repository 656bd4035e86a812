//! From rows to advice: which one to take, and why, in plain sentences. Measures and judges nothing.

use fathom_contenders::alloc;
use fathom_contenders::hash::Flooding;
use fathom_contenders::kv::{self, special::NAME};
use fathom_keys::Portrait;
use fathom_report::number::factor_digits;
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::paste::{self, Paste};
use super::verdict::{Compound, Row, Standing, Weighed, compounds, fastest};

/// What to take.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Advice {
    /// The id of the row that is taken; none if nothing could be measured.
    pub(super) choice: Option<String>,
    /// How a program takes it or, where that cannot be pasted, the fastest that can.
    pub(super) paste: Option<Paste>,
    /// In sentences, the choice first.
    #[serde(rename = "advice")]
    pub(super) sentences: Vec<String>,
    /// Those of them without which the choice or the code would mislead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) beside: Vec<String>,
}

/// Who differs by no more than this, and not provably, is as good: 3 %.
const TIE: f64 = 1.03;

/// What to do, in plain sentences, the choice first.
pub(super) fn advice(
    rows: &[Row],
    candidates: &[Candidate],
    cases: &[Weighed],
    baseline: usize,
    mix: &str,
    portrait: &Portrait,
) -> Advice {
    let Some(quickest) = fastest(rows) else {
        let sentences = vec!["Nothing could be measured; the reasons are below.".to_owned()];
        return Advice { choice: None, paste: None, sentences, beside: Vec::new() };
    };
    let best = preferred(rows, candidates, quickest);
    let words = |number: usize| candidates[number].words();
    let mut sentences = vec![choice(rows, candidates, best, baseline, mix)];
    if best != quickest {
        sentences.push(instead(rows, candidates, best, quickest));
    }
    let Candidate { structure, about, .. } = &candidates[best];
    if !about.caveat.is_empty() {
        sentences.push(format!("Know of {structure}: {}.", about.caveat));
    }
    sentences.extend(undecided(rows, &words, (best, quickest, baseline)));
    sentences.extend(smaller(rows, &words, cases, best));
    sentences.extend(spikes(rows, candidates, best));
    if portrait.duplicate_share() > 0.01 {
        sentences.push(format!(
            "{:.0} % of the keys repeat an earlier one: that share of the inserts are updates.",
            portrait.duplicate_share() * 100.0
        ));
    }
    let integers = portrait.range.is_some();
    let mut beside: Vec<String> = paste::lacking(&candidates[best]).into_iter().collect();
    let mut pasted = Some(best);
    if !beside.is_empty() {
        pasted = next_best(rows, candidates);
        beside.extend(pasted.and_then(|next| had(rows, &words, next, quickest)));
    }
    beside.extend(pasted.and_then(|number| paste::unbrought(&candidates[number])));
    // Of the lines that are pasted.
    sentences.extend(paste::warning(&candidates[pasted.unwrap_or(best)]));
    sentences.extend_from_slice(&beside);
    let paste = pasted.and_then(|number| paste::paste(&candidates[number], integers));
    Advice { choice: Some(rows[best].id.clone()), paste, sentences, beside }
}

/// Of all who are as fast as the fastest: who can be had, then the safer, the simpler, the smaller.
fn preferred(rows: &[Row], candidates: &[Candidate], quickest: usize) -> usize {
    let ties = |row: &Row| {
        let near = |ratio: Compound| ratio.standing() == Standing::Open && ratio.ratio <= TIE;
        row.cost_ns.is_some() && row.against_fastest.is_some_and(near)
    };
    let bytes = |number: usize| rows[number].bytes_per_entry.unwrap_or(f64::INFINITY);
    let better = |&a: &usize, &b: &usize| {
        let quicker = (b == quickest).cmp(&(a == quickest));
        let smaller = bytes(a).total_cmp(&bytes(b));
        worth(&candidates[a]).cmp(&worth(&candidates[b])).then(smaller).then(quicker)
    };
    let tied = (0..rows.len()).filter(|&number| number == quickest || ties(&rows[number]));
    tied.min_by(better).unwrap_or(quickest)
}

/// What a candidate is worth beside its time, the best least: whether it can be had, how safe it is, and what it needs.
pub(super) fn worth(candidate: &Candidate) -> (bool, Flooding, bool, usize) {
    let flooding = paste::flooding(candidate).unwrap_or(Flooding::Seeded);
    // Each crate is something more to trust, and so are a library that is loaded before and another language; the
    // standard library is none.
    let crates = paste::paste(candidate, false).map(|paste| paste.manifest.len());
    let loaded = usize::from(paste::unbrought(candidate).is_some());
    (crates.is_none(), flooding, candidate.runner.is_some(), crates.unwrap_or(0) + loaded)
}

/// Why the fastest as measured is not the one that is advised.
fn instead(rows: &[Row], candidates: &[Candidate], best: usize, quickest: usize) -> String {
    let Compound { ratio, low, high, .. } = rows[best].against_fastest.unwrap_or(Compound::NONE);
    let (this, other) = (&candidates[best], &candidates[quickest]);
    let (safe, open) = (paste::flooding(this), paste::flooding(other));
    let why = if paste::is_had(this) && !paste::is_had(other) {
        match (alloc::is_for_measuring(&other.allocator).is_some(), paste::is_of_library(other)) {
            (true, _) => "the allocator of the former is for measuring only",
            (false, true) => "it can be pasted",
            (false, false) => "a library has it",
        }
    } else if safe < open {
        "it is safer where strangers choose the keys"
    } else {
        "it needs less"
    };
    format!(
        "{} was measured as fast ({} takes {ratio:.2} times its time, 99 % interval {low:.2} to {high:.2}); \
         the latter is advised because {why}.",
        other.words(),
        this.words()
    )
}

/// Who may be as fast, or faster, as far as this run can tell.
fn undecided(
    rows: &[Row],
    words: &dyn Fn(usize) -> String,
    (best, quickest, baseline): (usize, usize, usize),
) -> Vec<String> {
    let name = words(quickest);
    // What the first sentence tells as proved is not open again because all pairs have wider intervals.
    let told = rows[best].against_baseline.filter(|_| best == quickest);
    let is_told = told.is_some_and(|ratio| ratio.standing() == Standing::Resolved);
    let all = || {
        let ratios = rows.iter().enumerate().filter_map(|(n, row)| Some((n, row.against_fastest?)));
        ratios.filter(|(number, _)| *number != best && !(is_told && *number == baseline))
    };
    let of = |standing: Standing| -> Vec<String> {
        let said = |(number, ratio): (usize, Compound)| {
            format!("{} ({} times its time)", words(number), ratio.ends())
        };
        all().filter(|(_, ratio)| ratio.standing() == standing).map(said).collect()
    };
    let mut sentences = Vec::new();
    if all().any(|(_, ratio)| ratio.standing() == Standing::Unknown) {
        sentences.push(
            "Not all ratios have an interval that tells anything: times are medians without proof; a \
             longer --budget may tell more."
                .to_owned(),
        );
    }
    let open = of(Standing::Open);
    if !open.is_empty() {
        sentences.push(format!(
            "Not resolved, either may be faster than {name}: {}. A longer --budget tells more.",
            listed(&open)
        ));
    }
    let unproved = of(Standing::Unproved);
    if !unproved.is_empty() {
        sentences.push(format!(
            "Slower than {name} as measured, but not proved, because copies of the same code differed in \
             this run: {}.",
            listed(&unproved)
        ));
    }
    sentences
}

fn choice(
    rows: &[Row],
    candidates: &[Candidate],
    best: usize,
    baseline: usize,
    mix: &str,
) -> String {
    let cost = rows[best].cost_ns.unwrap_or(f64::NAN);
    let words = |number: usize| candidates[number].words();
    let name = words(best);
    // Nobody is told to use what no lines bring.
    let said =
        match paste::is_had(&candidates[best]) || candidates[best].structure.starts_with(NAME) {
            true => format!("use {name}"),
            false => format!("{name} did best"),
        };
    let opening = format!("For these keys and {mix}, {said}: {cost:.1} ns per operation");
    if best == baseline {
        let is_quicker = |row: &Row| row.cost_ns.is_some_and(|ns| ns < cost);
        let is_unknown = |row: &Row| {
            row.against_baseline.is_some_and(|ratio| ratio.standing() == Standing::Unknown)
        };
        let are_others =
            rows.iter().enumerate().any(|(at, row)| at != best && row.cost_ns.is_some());
        return match rows.iter().any(|row| is_quicker(row) || is_unknown(row)) {
            true => format!("{opening}: what one takes anyway."),
            false if are_others => format!("{opening}. Nothing else here was measured faster."),
            false => format!("{opening}. Nothing else was measured."),
        };
    }
    // What is not resolved is no advice.
    let measured = || {
        let is = match fastest(rows) == Some(best) {
            true => "was measured fastest",
            false => "is not provably slower than the fastest",
        };
        format!("For these keys and {mix}, {name} {is}: {cost:.1} ns per operation")
    };
    match rows[best].against_baseline {
        Some(compound @ Compound { ratio, resolved: true, .. }) => {
            let (ratio, other, bracket) =
                (factor_digits(ratio), words(baseline), compound.bracket());
            format!("{opening}, {ratio} times what {other} takes{bracket}.")
        }
        Some(compound) => unresolved(&measured(), compound, &words(baseline)),
        None => format!("{opening}."),
    }
}

/// The choice where the difference to what one would have taken anyway is not proved.
fn unresolved(opening: &str, compound: Compound, other: &str) -> String {
    let Compound { ratio, low, high, .. } = compound;
    match compound.standing() {
        Standing::Open => format!(
            "{opening}. Whether that is less than {other} takes is not resolved (ratio {ratio:.2}, \
             99 % interval {low:.2} to {high:.2}): a longer --budget tells more."
        ),
        Standing::Unknown => format!(
            "{opening}, {ratio:.2} times what {other} takes by the medians, without an interval."
        ),
        Standing::Unproved | Standing::Resolved => format!(
            "{opening}, {ratio:.2} times what {other} takes as measured (99 % interval {low:.2} to \
             {high:.2}). That is not proved: copies of the same code differed in this run. Measure \
             again on a quieter machine or with a longer --budget."
        ),
    }
}

/// The fastest that can be pasted.
fn next_best(rows: &[Row], candidates: &[Candidate]) -> Option<usize> {
    let had = |&number: &usize| paste::is_had(&candidates[number]);
    let costs = (0..rows.len()).filter(had).filter_map(|n| Some((n, rows[n].cost_ns?)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number)
}

/// What it costs to take it instead of the fastest, which cannot.
fn had(
    rows: &[Row],
    words: &dyn Fn(usize) -> String,
    next: usize,
    quickest: usize,
) -> Option<String> {
    let compound = rows[next].against_fastest?;
    Some(format!(
        "Of what can be pasted, {} was measured fastest: {} times the time of {}{}.",
        words(next),
        factor_digits(compound.ratio),
        words(quickest),
        compound.bracket()
    ))
}

/// Who on the front saves memory, and what it costs: both against the one that is advised.
fn smaller(
    rows: &[Row],
    words: &dyn Fn(usize) -> String,
    cases: &[Weighed],
    best: usize,
) -> Vec<String> {
    let against = compounds(rows, cases, best, true);
    let Some(bytes) = rows[best].bytes_per_entry else { return Vec::new() };
    let mut found: Vec<(usize, f64)> = (0..rows.len())
        .filter(|&number| number != best && rows[number].on_the_front)
        .filter_map(|number| Some((number, rows[number].bytes_per_entry?)))
        .filter(|&(_, other)| other < bytes * 0.95)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sentence = |(number, other): (usize, f64)| {
        let saved = (1.0 - other / bytes) * 100.0;
        let (_, Compound { ratio, low, high, resolved }) =
            *against.iter().find(|(other, _)| *other == number)?;
        let price = match resolved {
            true if ratio > 1.0 => format!(
                "for {:.0} % more time (99 % interval {:.0} to {:.0} %)",
                (ratio - 1.0) * 100.0,
                (low - 1.0) * 100.0,
                (high - 1.0) * 100.0
            ),
            true => {
                format!("and takes {ratio:.2} times the time (99 % interval {low:.2} to {high:.2})")
            }
            false => "at a price in time that is not resolved".to_owned(),
        };
        let (name, than) = (words(number), words(best));
        Some(format!(
            "{name} saves {saved:.0} % of the memory of {than} ({other:.1} against {bytes:.1} bytes per entry) {price}."
        ))
    };
    found.into_iter().filter_map(sentence).collect()
}

/// Whether single inserts stall, and who does not.
fn spikes(rows: &[Row], candidates: &[Candidate], best: usize) -> Option<String> {
    const STALL_NS: f64 = 1e6;
    let worst = rows[best].insert_ns_max.filter(|&ns| ns > STALL_NS)?;
    let calm = (0..rows.len())
        .filter_map(|number| Some((number, rows[number].insert_ns_max?)))
        .filter(|&(_, ns)| ns < worst / 10.0)
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let opening = format!(
        "While it grows, a single insert into {} took up to {:.1} ms",
        candidates[best].words(),
        worst / 1e6
    );
    Some(match calm {
        Some((number, ns)) => {
            format!("{opening}; into {} at most {:.2} ms.", candidates[number].words(), ns / 1e6)
        }
        None if kv::makes_room(&candidates[best].structure, candidates[best].hash.is_some()) => {
            format!("{opening}; reserve room beforehand if that matters.")
        }
        None => format!("{opening}."),
    })
}

pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::named;
    use super::super::verdict::rows;
    use super::super::verdict::tests::{candidates, weighed};
    use super::*;

    #[test]
    fn what_is_not_resolved_is_never_called_equal_nor_a_reason_to_stay() {
        let of = |ratio, low, high| Compound { ratio, low, high, resolved: false };
        let proofless = unresolved("use x", of(0.34, 0.33, 0.34), "std");
        assert!(proofless.contains("0.34 times what std takes as measured"), "{proofless}");
        assert!(proofless.contains("copies of the same code differed"), "{proofless}");
        let open = unresolved("use x", of(0.98, 0.9, 1.1), "std");
        assert!(open.contains("not resolved (ratio 0.98, 99 % interval 0.90 to 1.10)"), "{open}");
        for text in [proofless, open] {
            assert!(!text.contains("as fast") && !text.contains("no reason"), "{text}");
        }
    }

    /// One round only, and "nothing else here was measured faster".
    #[test]
    fn nothing_is_said_of_others_that_were_not_measured_enough() {
        let cases = [weighed("insert", 1.0, &[500, 1000], &[40.0; 2])];
        let candidates = candidates(&["base", "other"]);
        let mut rows = rows(&candidates, &cases, 0, 0.0);
        let said = choice(&rows, &candidates, 0, 0, "inserts");
        assert!(said.ends_with("Nothing else here was measured faster."), "{said}");
        rows[1].against_baseline = Some(Compound { ratio: 2.0, ..Compound::NONE });
        let said = choice(&rows, &candidates, 0, 0, "inserts");
        assert!(said.ends_with("what one takes anyway."), "{said}");
    }

    /// Of ties the safer or simpler one is taken, and it was called the fastest as measured.
    #[test]
    fn only_the_fastest_is_called_so() {
        let cases = [weighed("insert", 1.0, &[1000, 990, 985], &[40.0; 3])];
        let candidates = candidates(&["base", "near", "quick"]);
        let mut rows = rows(&candidates, &cases, 0, 0.0);
        let open = Compound { ratio: 0.99, low: 0.9, high: 1.1, resolved: false };
        for (best, words) in [(1, "not provably slower than the fastest"), (2, "measured fastest")]
        {
            rows[best].against_baseline = Some(open);
            let said = choice(&rows, &candidates, best, 0, "inserts");
            assert!(said.contains(words) && said.contains("is not resolved"), "{said}");
        }
    }

    #[test]
    fn room_is_to_be_reserved_only_where_it_can_be() {
        let cases = [weighed("insert", 1.0, &[1000], &[40.0])];
        let mut rows = rows(&candidates(&["base"]), &cases, 0, 0.0);
        rows[0].insert_ns_max = Some(3e6);
        for (id, is_table) in [("std+siphash13", true), ("intmap", true), ("btreemap", false)] {
            let said = spikes(&rows, &[named(id).unwrap()], 0).unwrap();
            assert!(said.contains("took up to 3.0 ms"), "{said}");
            assert_eq!(said.contains("reserve room"), is_table, "{said}");
        }
    }

    #[test]
    fn advice_names_the_choice_the_price_and_what_is_not_resolved() {
        let cases = [weighed("insert", 1.0, &[1000, 500, 500, 800], &[40.0, 50.0, 50.0, 20.0])];
        let mut candidates = candidates(&["base", "quick", "equal", "small"]);
        for number in [1, 2] {
            candidates[number].about.caveat = "built once".to_owned();
        }
        let rows = rows(&candidates, &cases, 0, 0.0);
        let keys = fathom_keys::read(b"a a b", &fathom_keys::Format::Words).unwrap();
        let Advice { sentences, .. } =
            advice(&rows, &candidates, &cases, 0, "inserts", &Portrait::of(&keys));
        let all = sentences.join("\n");
        assert!(all.starts_with("For these keys and inserts, quick did best: "), "{all}");
        assert!(all.contains("0.50 times what base takes (99 % interval 0.50 to 0.50)"), "{all}");
        assert!(all.contains("Not resolved, either may be faster than "), "{all}");
        assert!(all.contains(": built once."), "{all}");
        assert!(
            all.contains(
                "small saves 60 % of the memory of quick (20.0 against 50.0 bytes per entry) for 60 % more"
            ),
            "{all}"
        );
        assert!(all.contains("33 % of the keys repeat"), "{all}");
    }

    #[test]
    fn memory_and_time_that_are_weighed_are_of_one_other_which_is_named() {
        let cases = [weighed("insert", 1.0, &[1000, 500, 510, 800], &[60.0, 40.0, 50.0, 20.0])];
        let names = ["base", "quick", "near", "small"];
        let candidates = candidates(&names);
        let rows = rows(&candidates, &cases, 0, 0.0);
        let words = |number: usize| names[number].to_owned();
        let of = |best: usize| smaller(&rows, &words, &cases, best);
        let near = of(2);
        assert!(near[0].starts_with("quick saves 20 % of the memory of near (40.0 "), "{near:?}");
        assert!(near[0].contains("and takes 0.98 times the time"), "{near:?}");
        assert!(near[1].starts_with("small saves 60 % of the memory of near (20.0 "), "{near:?}");
        assert!(near[1].contains("for 57 % more time ("), "{near:?}");
        assert!(of(1)[0].contains("50 % of the memory of quick"), "{:?}", of(1));
        assert!(of(1)[0].contains("for 60 % more time ("), "{:?}", of(1));
    }

    #[test]
    fn an_allocator_for_measuring_is_not_advised() {
        let cases = [weighed("insert", 1.0, &[1000, 500], &[40.0; 2])];
        let mut candidates =
            ["std+siphash13", "hashbrown+foldhash"].map(|name| named(name).unwrap());
        "counting".clone_into(&mut candidates[1].allocator);
        let rows = rows(&candidates, &cases, 0, 0.0);
        let keys = fathom_keys::read(b"a b", &fathom_keys::Format::Words).unwrap();
        let said = advice(&rows, &candidates, &cases, 0, "inserts", &Portrait::of(&keys));
        assert!(said.sentences[0].contains("allocator counting did best: "), "{said:?}");
        assert!(said.beside[0].starts_with("Allocator counting is for measuring only"), "{said:?}");
        assert!(said.beside[1].contains("std with hash siphash13"), "{said:?}");
        assert!(said.paste.unwrap().code[0].contains("std::collections::HashMap"));
    }

    #[test]
    fn of_equals_the_one_that_can_be_had_then_the_safer_then_the_simpler_is_advised() {
        let cases = [weighed("insert", 1.0, &[1000, 500, 500, 500, 500], &[40.0; 5])];
        let names = [
            "std+siphash13", "f14-value+foldhash", "hashbrown+rustc-hash", "hashbrown+foldhash",
            "std+foldhash",
        ];
        let candidates = names.map(|name| named(name).unwrap());
        let rows = rows(&candidates, &cases, 0, 12.0);
        let keys = fathom_keys::read(b"a b", &fathom_keys::Format::Words).unwrap();
        let of = |up_to: usize| {
            advice(&rows[..up_to], &candidates[..up_to], &cases, 0, "inserts", &Portrait::of(&keys))
        };
        assert_eq!(of(5).choice.as_deref(), Some("std+foldhash"));
        assert_eq!(of(4).choice.as_deref(), Some("hashbrown+foldhash"));
        assert_eq!(of(3).choice.as_deref(), Some("hashbrown+rustc-hash"));
        let own = of(2);
        assert_eq!(own.choice.as_deref(), Some("f14-value+foldhash"));
        assert_eq!(own.paste.unwrap().manifest, Vec::<String>::new(), "that of std+siphash13");
        let [lacking, next] = &own.beside[..] else { panic!("{:?}", own.beside) };
        assert!(lacking.starts_with("No library has f14-value"), "{lacking}");
        assert!(next.contains("std with hash siphash13 was measured fastest"), "{next}");
        assert!(own.sentences.ends_with(&own.beside), "{:?}", own.sentences);
        let all = of(3).sentences.join("\n");
        assert!(all.contains("because a library has it"), "{all}");
        let strangers = "strangers who choose the keys can make every operation slow";
        assert!(all.contains(strangers), "{all}");
        assert!(of(4).sentences.join("\n").contains("because a library has it"));
    }

    /// The sentence was of the one that cannot be pasted.
    #[test]
    fn what_strangers_could_do_is_said_of_the_lines_that_are_pasted() {
        let cases = [weighed("insert", 1.0, &[1000, 400, 500], &[40.0; 3])];
        let names = ["std+siphash13", "f14-value+foldhash", "hashbrown+rustc-hash"];
        let candidates = names.map(|name| named(name).unwrap());
        let rows = rows(&candidates, &cases, 0, 12.0);
        let keys = fathom_keys::read(b"a b", &fathom_keys::Format::Words).unwrap();
        let said = advice(&rows, &candidates, &cases, 0, "inserts", &Portrait::of(&keys));
        assert_eq!(said.choice.as_deref(), Some("f14-value+foldhash"));
        let all = said.sentences.join("\n");
        assert!(all.contains("rustc-hash has no seed") && !all.contains("seeds itself"), "{all}");
    }

    /// All pairs have wider intervals than those with the usual choice.
    #[test]
    fn what_is_proved_in_the_first_sentence_is_not_open_in_the_next() {
        let cases = [weighed("insert", 1.0, &[1000, 500, 510], &[40.0; 3])];
        let names = ["std+siphash13", "hashbrown+rustc-hash", "hashbrown+foldhash"];
        let candidates = names.map(|name| named(name).unwrap());
        let mut rows = rows(&candidates, &cases, 0, 12.0);
        let words = |number: usize| names[number].to_owned();
        let wide = Compound { ratio: 1.3, low: 0.9, high: 1.7, resolved: false };
        (rows[0].against_fastest, rows[2].against_fastest) = (Some(wide), Some(wide));
        let said = undecided(&rows, &words, (1, 1, 0)).concat();
        assert!(said.contains("than hashbrown+rustc-hash: hashbrown+foldhash (0.90"), "{said}");
        assert!(!said.contains("std+siphash13"), "{said}");
        rows[1].against_baseline = Some(wide);
        let said = undecided(&rows, &words, (1, 1, 0)).concat();
        assert!(said.contains("std+siphash13 (0.90"), "{said}");
    }
}
