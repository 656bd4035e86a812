//! `fathom selftest --full FILE`: what the method promises, proved on this machine in as many sittings
//! as it takes. The file has every finding and is the record; what is in it is not measured again.
//!
//! Says what is to be measured, keeps what was found and judges it. How each is measured is `subjects`'
//! business.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{Context, ensure};
use fathom_measure::result::Build;
use fathom_measure::stats::median;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};

/// The name of the file's form.
const SCHEMA: &str = "fathom-selftest-full";
/// Its version.
const VERSION: u32 = 2;
/// A difference as large as this is to be called by `fathom cpu`, in percent.
const UNSAID: f64 = 15.0;

/// How much is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Comparisons of identical code, over all subjects.
    pub(super) comparisons: u32,
    /// Comparisons for each planted difference.
    pub(super) slowdowns: u32,
    /// Default runs of `fathom cpu`.
    pub(super) cpu_runs: u32,
}

/// One thing to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "proof", rename_all = "snake_case")]
pub(super) enum Unit {
    /// Identical code, in every other comparison under load.
    Same { subject: String, loaded: bool, number: u32 },
    /// So much more work than the other one does.
    Slower { planted: Planted, number: u32 },
    /// A default run of `fathom cpu`.
    Cpu { number: u32 },
}

/// A planted difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Planted {
    /// A planted kernel or a family.
    pub(super) subject: String,
    /// So much more work, in percent.
    pub(super) percent: u64,
    /// In how many of a hundred comparisons it is to be found; 0 where nothing is promised but the
    /// right direction.
    pub(super) least: usize,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Found {
    pub(super) case: String,
    pub(super) contender: String,
    pub(super) baseline: String,
    pub(super) ratio: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
    /// The verdict's word.
    pub(super) verdict: String,
}

impl Found {
    fn is_called(&self) -> bool {
        self.verdict == "faster" || self.verdict == "slower"
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Finding {
    unit: Unit,
    found: Vec<Found>,
}

/// A promise, and what was seen of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Proof {
    what: String,
    bound: String,
    seen: String,
    /// Of how many units.
    done: usize,
    asked: usize,
    holds: bool,
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Book {
    schema: String,
    version: u32,
    command: Vec<String>,
    started: String,
    build: Build,
    #[serde(default)]
    level: String,
    machine: String,
    proofs: Vec<Proof>,
    findings: Vec<Finding>,
}

impl Book {
    /// An empty one.
    pub(super) fn new(
        command: Vec<String>,
        started: String,
        build: Build,
        level: String,
        machine: String,
    ) -> Book {
        let (proofs, findings) = (Vec::new(), Vec::new());
        let schema = SCHEMA.to_owned();
        Book { schema, version: VERSION, command, started, build, level, machine, proofs, findings }
    }

    /// This one, with what an earlier sitting wrote, if any did: `mktemp` makes an empty file.
    pub(super) fn resumed(mut self, text: &[u8]) -> anyhow::Result<Book> {
        if text.trim_ascii().is_empty() {
            return Ok(self);
        }
        let old = Book::read(text).context("no file of findings, as --full keeps them")?;
        ensure!(old.machine == self.machine, "measured on another machine: {}", old.machine);
        ensure!(old.build == self.build, "measured by another build: {}", old.build);
        ensure!(old.level == self.level, "measured at another level: {:?}", old.level);
        self.findings = old.findings;
        self.started = old.started;
        Ok(self)
    }

    /// Of other schemas and versions the name is told, not what they lack.
    fn read(text: &[u8]) -> serde_json::Result<Book> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object with `schema` and `version`")]
        struct Head {
            schema: String,
            version: u32,
        }
        let Head { schema, version } = serde_json::from_slice(text)?;
        match schema == SCHEMA && version == VERSION {
            true => serde_json::from_slice(text),
            false => Err(serde_json::Error::custom(format!("{schema} version {version}"))),
        }
    }

    /// Measures what is missing while there is time, and saves after each.
    pub(super) fn fill(
        &mut self,
        units: &[Unit],
        is_time_left: &dyn Fn() -> bool,
        measure: &mut dyn FnMut(&Unit) -> anyhow::Result<Vec<Found>>,
        save: &mut dyn FnMut(&Book) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for unit in units {
            if self.findings.iter().any(|finding| finding.unit == *unit) {
                continue;
            }
            if !is_time_left() {
                break;
            }
            let found = measure(unit)?;
            self.findings.push(Finding { unit: unit.clone(), found });
            self.proofs = proofs(&self.findings, units);
            save(self)?;
        }
        // Of a file that had everything, too.
        self.proofs = proofs(&self.findings, units);
        save(self)
    }

    /// Whether everything was measured and every bound holds.
    pub(super) fn is_proved(&self) -> bool {
        self.proofs.iter().all(|proof| proof.holds && proof.done >= proof.asked)
    }

    /// A line for each promise.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{}; {}\n", self.machine, self.build);
        for Proof { what, bound, seen, done, asked, holds } in &self.proofs {
            let word = match (holds, done >= asked) {
                (false, _) => "BROKEN",
                (true, true) => "holds",
                (true, false) => "so far",
            };
            let _ = writeln!(text, "{word:<6}  {what}: {seen} ({bound}); {done} of {asked} done");
        }
        if self.proofs.iter().any(|proof| proof.done < proof.asked) {
            text += "not finished: the same command goes on from here\n";
        }
        text
    }
}

/// Everything that is asked for, each kind spread evenly over the whole so that a sitting that ends early
/// has some of each.
pub(super) fn units(asked: Asked, subjects: &[String], planted: &[Planted]) -> Vec<Unit> {
    let mut all: Vec<(f64, Unit)> = Vec::new();
    let place = |number: u32, of: u32| (f64::from(number) + 0.5) / f64::from(of);
    for number in 0..asked.comparisons {
        let turn = number as usize / subjects.len();
        let subject = subjects[number as usize % subjects.len()].clone();
        let unit = Unit::Same { subject, loaded: turn % 2 == 1, number };
        all.push((place(number, asked.comparisons), unit));
    }
    for planted in planted {
        let unit = |number| Unit::Slower { planted: planted.clone(), number };
        all.extend((0..asked.slowdowns).map(|n| (place(n, asked.slowdowns), unit(n))));
    }
    let runs = (0..asked.cpu_runs).map(|n| (place(n, asked.cpu_runs), Unit::Cpu { number: n }));
    all.extend(runs);
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, unit)| unit).collect()
}

/// What the findings say about each promise of which something was asked for.
fn proofs(findings: &[Finding], units: &[Unit]) -> Vec<Proof> {
    let mut proofs = Vec::new();
    let planted = |unit: &Unit| match unit {
        Unit::Slower { planted, .. } => Some(planted.clone()),
        _ => None,
    };
    let kinds: BTreeSet<Planted> = units.iter().filter_map(planted).collect();
    let all = |is_one: &dyn Fn(&Unit) -> bool| {
        let own = findings.iter().filter(|finding| is_one(&finding.unit));
        (own.collect::<Vec<&Finding>>(), units.iter().filter(|unit| is_one(unit)).count())
    };
    let (same, asked) = all(&|unit| matches!(unit, Unit::Same { .. }));
    if asked > 0 {
        let wrong = same.iter().filter(|one| one.found.iter().any(Found::is_called)).count();
        proofs.push(Proof {
            what: "identical code".to_owned(),
            bound: "called different at most once in a hundred".to_owned(),
            seen: format!("called different {wrong} times"),
            done: same.len(),
            asked,
            // Until all is done: whether it still can.
            holds: wrong * 100 <= same.len().max(asked),
        });
    }
    for kind in kinds {
        let (own, asked) = all(&|unit| planted(unit).as_ref() == Some(&kind));
        let count = |word: &str| {
            own.iter().flat_map(|one| &one.found).filter(|found| found.verdict == word).count()
        };
        let (slower, faster) = (count("slower"), count("faster"));
        proofs.push(Proof {
            what: format!("{}, {} % slower", kind.subject, kind.percent),
            bound: match kind.least {
                0 => "never called faster".to_owned(),
                least => format!("found in at least {least} %, never called faster"),
            },
            seen: format!("found {slower} times, called faster {faster} times"),
            done: own.len(),
            asked,
            holds: (slower + asked.saturating_sub(own.len())) * 100
                >= own.len().max(asked) * kind.least
                && faster == 0,
        });
    }
    let (runs, asked) = all(&|unit| matches!(unit, Unit::Cpu { .. }));
    if asked > 0 {
        let runs: Vec<&[Found]> = runs.iter().map(|run| &run.found[..]).collect();
        proofs.push(unsaid(&runs, asked));
        proofs.push(repeated(&runs, asked));
    }
    proofs
}

fn unsaid(runs: &[&[Found]], asked: usize) -> Proof {
    let large = |found: &&Found| {
        let least = (1.0 + UNSAID / 100.0_f64).ln();
        !found.is_called() && found.ratio.is_some_and(|ratio| ratio.ln().abs() > least)
    };
    let unsaid = runs.iter().flat_map(|run| run.iter()).filter(large).count();
    Proof {
        what: "fathom cpu says what differs".to_owned(),
        bound: format!("no difference above {UNSAID} % is left open"),
        seen: format!("{unsaid} left open"),
        done: runs.len(),
        asked,
        holds: unsaid == 0,
    }
}

/// Five runs are needed to say anything of it; until then it holds.
fn repeated(runs: &[&[Found]], asked: usize) -> Proof {
    let mut rows: BTreeMap<[&str; 3], Vec<(f64, [f64; 2])>> = BTreeMap::new();
    for found in runs.iter().flat_map(|run| run.iter()) {
        let key = [&found.case, &found.contender, &found.baseline].map(String::as_str);
        if let (Some(ratio), Some(interval)) = (found.ratio, found.interval) {
            rows.entry(key).or_default().push((ratio, interval));
        }
    }
    let (mut held, mut total) = (0_usize, 0_usize);
    for row in rows.values().filter(|row| row.len() >= 5) {
        for (own, (_, [low, high])) in row.iter().enumerate() {
            let others = row.iter().enumerate().filter(|(other, _)| *other != own);
            let middle = median(&others.map(|(_, (ratio, _))| *ratio).collect::<Vec<f64>>());
            total += 1;
            held += usize::from(middle.is_some_and(|middle| (*low..=*high).contains(&middle)));
        }
    }
    Proof {
        what: "one run of fathom cpu tells of the others".to_owned(),
        bound: "at least 98 % of intervals hold the median of the other runs".to_owned(),
        seen: format!("{held} of {total} hold it"),
        done: runs.len(),
        asked,
        holds: held * 100 >= total * 98,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const ASKED: Asked = Asked { comparisons: 200, slowdowns: 10, cpu_runs: 5 };

    fn book() -> Book {
        let [started, level, machine] = ["2026-01-01", "scalar", "here"].map(str::to_owned);
        Book::new(vec!["fathom".to_owned()], started, Build::default(), level, machine)
    }

    fn all() -> Vec<Unit> {
        let subjects = ["a", "b", "c"].map(str::to_owned);
        let planted = [("registers", 1, 90), ("memory", 5, 0)];
        let planted = planted.map(|(subject, percent, least)| {
            let subject = subject.to_owned();
            Planted { subject, percent, least }
        });
        units(ASKED, &subjects, &planted)
    }

    fn found(verdict: &str, ratio: f64) -> Vec<Found> {
        let interval = Some([ratio * 0.99, ratio * 1.01]);
        let [case, contender, baseline] = ["case", "b", "a"].map(str::to_owned);
        let verdict = verdict.to_owned();
        vec![Found { case, contender, baseline, ratio: Some(ratio), interval, verdict }]
    }

    /// As a machine would on which everything is right.
    fn right(unit: &Unit) -> Vec<Found> {
        match unit {
            Unit::Same { .. } => found("not resolved", 1.0),
            Unit::Slower { planted, .. } => found("slower", 1.0 + planted.percent as f64 / 100.0),
            Unit::Cpu { number } => found("slower", 2.0 + f64::from(*number) / 1000.0),
        }
    }

    fn filled(mut measure: impl FnMut(&Unit) -> Vec<Found>) -> Book {
        let mut book = book();
        book.fill(&all(), &|| true, &mut |unit| Ok(measure(unit)), &mut |_| Ok(())).unwrap();
        book
    }

    #[test]
    fn half_of_each_subject_is_under_load_and_an_early_end_has_some_of_each() {
        let units = all();
        assert_eq!(units.len(), 200 + 2 * 10 + 5);
        for subject in ["a", "b", "c"] {
            let of = |under: bool| {
                let is_one = |unit: &&Unit| matches!(unit, Unit::Same { subject: s, loaded, .. } if s == subject && *loaded == under);
                units.iter().filter(is_one).count()
            };
            assert!(of(true).abs_diff(of(false)) <= 1, "{subject}: {} {}", of(true), of(false));
        }
        let early = &units[..units.len() / 2];
        let slower = early.iter().filter(|unit| matches!(unit, Unit::Slower { .. })).count();
        let cpu = early.iter().filter(|unit| matches!(unit, Unit::Cpu { .. })).count();
        assert!((9..=11).contains(&slower) && (2..=3).contains(&cpu), "{slower} {cpu}");
    }

    #[test]
    fn a_sitting_ends_with_its_budget_and_the_next_one_measures_the_rest_only() {
        let left = Cell::new(60);
        let is_time_left = || left.replace(left.get() - 1) > 0;
        let mut saved = String::new();
        let mut save = |book: &Book| {
            saved = serde_json::to_string(book)?;
            Ok(())
        };
        let mut first = book();
        first.fill(&all(), &is_time_left, &mut |unit| Ok(right(unit)), &mut save).unwrap();
        assert_eq!(first.findings.len(), 60);
        assert!(!first.is_proved() && first.text().contains("so far"), "{}", first.text());
        assert!(first.text().ends_with("not finished: the same command goes on from here\n"));
        let mut second = book().resumed(saved.as_bytes()).unwrap();
        let mut measured = 0;
        let mut measure = |unit: &Unit| {
            measured += 1;
            Ok(right(unit))
        };
        second.fill(&all(), &|| true, &mut measure, &mut |_| Ok(())).unwrap();
        assert_eq!((measured, second.findings.len()), (165, 225));
        assert!(second.is_proved() && !second.text().contains("BROKEN"), "{}", second.text());
        // And what is complete is only shown.
        let whole = serde_json::to_vec(&second).unwrap();
        let mut third = book().resumed(&whole).unwrap();
        let mut nothing = |_: &Unit| panic!("measured again");
        third.fill(&all(), &|| true, &mut nothing, &mut |_| Ok(())).unwrap();
        assert_eq!(third, second);
        // Less is asked for than there is.
        third.fill(&all()[..2], &|| true, &mut nothing, &mut |_| Ok(())).unwrap();
        assert!(third.is_proved() && !third.text().contains("so far"), "{}", third.text());
    }

    #[test]
    fn an_error_loses_nothing_that_was_found() {
        let (mut book, mut saves) = (book(), 0);
        let mut left = 7;
        let mut measure = |unit: &Unit| {
            left -= 1;
            ensure!(left > 0, "lost");
            Ok(right(unit))
        };
        let mut save = |book: &Book| {
            saves = book.findings.len();
            Ok(())
        };
        assert!(book.fill(&all(), &|| true, &mut measure, &mut save).is_err());
        assert_eq!(saves, 6);
    }

    #[test]
    fn another_machine_build_level_and_file_are_not_gone_on_with() {
        let refused = |change: &dyn Fn(&mut Book)| {
            let mut other = book();
            change(&mut other);
            format!("{:#}", book().resumed(&serde_json::to_vec(&other).unwrap()).unwrap_err())
        };
        assert!(refused(&|b| b.machine = "there".to_owned()).contains("another machine: there"));
        assert!(refused(&|b| b.build.commit = "1234".to_owned()).contains("another build"));
        assert!(refused(&|b| b.level = "neon".to_owned()).contains("another level: \"neon\""));
        let other = "no file of findings, as --full keeps them: fathom-selftest-full version 1";
        assert_eq!(refused(&|b| b.version = 1), other);
        // They were an unexpected end, or lacked a field.
        for (text, why) in [
            (&b"foreign"[..], "expected ident at line 1 column 2"),
            (b"\xff\xfe", "expected value at line 1 column 1"),
            (b"{}", "missing field `schema` at line 1 column 2"),
            (b"{\"schema\": \"fathom-run\", \"version\": 1}", "fathom-run version 1"),
        ] {
            let error = book().resumed(text).unwrap_err();
            let said = format!("no file of findings, as --full keeps them: {why}");
            assert_eq!(format!("{error:#}"), said);
            assert!(error.chain().any(|cause| cause.is::<serde_json::Error>()), "no bad data");
        }
        for empty in [&b""[..], b"\n"] {
            assert_eq!(book().resumed(empty).unwrap(), book());
        }
    }

    #[test]
    fn each_bound_is_broken_by_what_it_forbids_and_by_nothing_less() {
        assert!(filled(right).is_proved());
        // So many false verdicts of 200, so many of ten not found, a wrong direction, so many left open.
        let wrong = |most: u32, kind: fn(&Unit) -> bool, other: fn() -> Vec<Found>| {
            let mut left = most;
            filled(|unit| match kind(unit) && left > 0 {
                true => {
                    left -= 1;
                    other()
                }
                false => right(unit),
            })
        };
        let same = |unit: &Unit| matches!(unit, Unit::Same { .. });
        fn of(unit: &Unit, name: &str) -> bool {
            matches!(unit, Unit::Slower { planted, .. } if planted.subject == name)
        }
        let (registers, memory) =
            (|unit: &Unit| of(unit, "registers"), |unit: &Unit| of(unit, "memory"));
        let cpu = |unit: &Unit| matches!(unit, Unit::Cpu { .. });
        let cases = [
            (wrong(2, same, || found("faster", 0.9)), true),
            (wrong(3, same, || found("slower", 1.1)), false),
            (wrong(1, registers, || found("not resolved", 1.01)), true),
            (wrong(2, registers, || found("not resolved", 1.01)), false),
            (wrong(10, memory, || found("not resolved", 1.05)), true),
            (wrong(1, memory, || found("faster", 0.97)), false),
            (wrong(1, cpu, || found("not resolved", 1.14)), false),
            (wrong(5, cpu, || found("not resolved", 1.14)), true),
            (wrong(1, cpu, || found("not resolved", 2.0)), false),
            (wrong(1, cpu, || found("slower", 2.1)), false),
        ];
        for (number, (book, holds)) in cases.into_iter().enumerate() {
            assert_eq!(book.is_proved(), holds, "{number}: {}", book.text());
            assert_eq!(book.text().contains("BROKEN"), !holds, "{number}: {}", book.text());
        }
        // What the first do wrong may be all that is: one of ten, but not two.
        for (most, is_broken) in [(1, false), (2, true)] {
            let (mut early, missed) = (book(), Cell::new(0));
            let mut measure = |unit: &Unit| match registers(unit) {
                true => {
                    missed.set(missed.get() + 1);
                    Ok(found("not resolved", 1.01))
                }
                false => Ok(right(unit)),
            };
            early.fill(&all(), &|| missed.get() < most, &mut measure, &mut |_| Ok(())).unwrap();
            assert_eq!(early.text().contains("BROKEN"), is_broken, "{}", early.text());
            assert!(early.text().contains("so far"), "{}", early.text());
        }
    }
}
