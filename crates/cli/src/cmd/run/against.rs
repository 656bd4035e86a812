//! `--against REV`: the same commands in two trees, another revision's and this one, and whether this
//! one is slower.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use fathom_measure::command::{House, TIME_TO_CLEAN};
use fathom_measure::compare::{Comparison, Verdict};
use fathom_measure::result::{Case, Run};
use fathom_measure::sample::Failure;
use fathom_measure::scratch;
use fathom_measure::workload::Spec;
use fathom_report::number::{percent, times};

use super::Options;
use super::seats::Seat;
use crate::interrupt;

/// What is not said of two revisions.
const OTHERS: [&str; 4] = ["reference", "reference_name", "names", "setup"];

/// Two revisions compared.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Against another revision")]
pub(super) struct Against {
    /// Measure each command in a worktree of this git revision, too, and end with code 1 if it is slower
    /// here; the worktree is removed afterwards
    #[arg(long = "against", value_name = "REV", conflicts_with_all = OTHERS)]
    pub(super) revision: Option<String>,

    /// Run once in each of the two trees before anything is measured
    #[arg(long, value_name = "COMMAND", requires = "revision", conflicts_with_all = OTHERS)]
    build: Option<String>,

    /// How much slower is no regression: the interval must lie beyond it
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, requires = "revision", conflicts_with_all = OTHERS,
          value_parser = crate::measuring::percent)]
    tolerance: f64,

    /// Keep the other revision, built, in this folder, and take it from there the next time
    #[arg(long, value_name = "FOLDER", requires = "revision", conflicts_with_all = OTHERS)]
    cache: Option<PathBuf>,
}

/// Measures every command in both trees; whether none is slower here and all was cleaned up.
pub(super) fn measured(
    options: &Options,
    revision: &str,
    cases: Vec<(Spec, Vec<Seat>)>,
    run: &mut Run,
) -> anyhow::Result<bool> {
    let mut there = Tree::of(revision, options.against.cache.as_deref())?;
    let stop = interrupt::measuring();
    let mut failures = [built(options, Some(&there))?, None];
    there.lock = None;
    if failures[0] != Some(Failure::Interrupted) {
        failures[1] = built(options, None)?;
    }
    let mut is_clean = true;
    for (spec, seats) in cases {
        for seat in seats {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
            let at = |id: String, folder, failed: &Option<Failure>| {
                let mut seat = Seat { id, failed: failed.clone(), ..seat.clone() };
                seat.outside.folder = folder;
                seat
            };
            let pair = vec![
                at(there.name.clone(), Some(there.place.clone()), &failures[0]),
                at("this tree".to_owned(), None, &failures[1]),
            ];
            let mut spec = spec.clone();
            spec.operation.clone_from(&seat.id);
            is_clean &= super::measured(options, spec, pair, run)?;
        }
    }
    let slower = slower(&run.cases, options.against.tolerance / 100.0);
    run.notes.push(summary(&run.cases, &slower, &there.name, options.against.tolerance));
    Ok(is_clean && slower.is_empty())
}

/// Builds a tree; why it cannot be measured, if so.
fn built(options: &Options, tree: Option<&Tree>) -> anyhow::Result<Option<Failure>> {
    let Some(build) = &options.against.build else { return Ok(None) };
    let (folder, name) = match tree {
        Some(tree) if tree.is_built(build) => return Ok(None),
        Some(tree) => (Some(tree.place.as_path()), tree.name.as_str()),
        None => (None, "this tree"),
    };
    // A build that does not come to its end leaves something, too.
    tree.map_or(Ok(()), Tree::unmark)?;
    say!("fathom: building {name}");
    // However long that takes: nothing of it is timed.
    let house = House { limit: Duration::MAX, ..options.house()? };
    let failure = house.aside(build, folder, "build", Duration::ZERO).err();
    if let (Some(tree), None) = (tree, &failure) {
        fs::write(tree.marker(), build).context("the cache")?;
    }
    Ok(failure)
}

/// The cases in which this tree is slower, by how much.
fn slower(cases: &[Case], tolerance: f64) -> Vec<(&Case, f64)> {
    let of = |case| {
        let slower = |c: &&Comparison| {
            let beyond = c.interval.is_some_and(|interval| interval.low > 1.0 + tolerance);
            c.verdict == Verdict::Slower && beyond
        };
        let case: &Case = case;
        let found = case.judged.comparisons.iter().find(slower)?;
        Some((case, found.ratio?))
    };
    cases.iter().filter_map(of).collect()
}

/// Whether it is not proved that this tree is no slower than that.
fn is_open(case: &Case, comparison: &Comparison, tolerance: f64) -> bool {
    // What identical code may differ by is not in the interval; who is called faster is so by more.
    let least = case.judged.floor.bar();
    match comparison.verdict {
        Verdict::Withheld { .. } => true,
        Verdict::Faster => false,
        _ => comparison.interval.is_none_or(|interval| interval.high + least > 1.0 + tolerance),
    }
}

fn summary(cases: &[Case], slower: &[(&Case, f64)], name: &str, tolerance: f64) -> String {
    let beyond = match tolerance {
        0.0 => String::new(),
        _ => format!(" by more than {}", percent(tolerance / 100.0)),
    };
    if cases.iter().all(|case| case.judged.comparisons.is_empty()) {
        return format!("nothing could be compared with {name}");
    }
    if slower.is_empty() {
        let failed = cases.iter().filter(|case| case.judged.comparisons.is_empty()).count();
        let is_open = |case: &&Case| {
            case.judged.comparisons.iter().any(|found| is_open(case, found, tolerance / 100.0))
        };
        let open = cases.iter().filter(is_open).count();
        let counts = [(open, "not resolved"), (failed, "not compared")];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let words = counts.map(|(count, what)| format!("{count} of {} {what}", cases.len()));
        let words: Vec<String> = words.collect();
        return match words.as_slice() {
            [] => format!("no command is slower than {name}{beyond}"),
            _ => format!("none proved slower than {name}{beyond}: {}", words.join(", ")),
        };
    }
    let words = |(case, ratio): &(&Case, f64)| format!("{} {}", case.workload, times(*ratio));
    let words: Vec<String> = slower.iter().map(words).collect();
    format!("REGRESSION: slower than {name}{beyond}: {}", words.join(", "))
}

/// Another revision, checked out.
struct Tree {
    /// Where commands run in it: the folder that corresponds to the current one.
    place: PathBuf,
    /// The revision as it was named, and its commit.
    name: String,
    root: PathBuf,
    /// Removed when this is dropped; `None` of a tree that is kept.
    scratch: Option<scratch::Folder>,
    /// Held while it is checked out and built: what another run makes at this moment is not what a killed one left.
    lock: Option<File>,
}

impl Tree {
    fn of(revision: &str, cache: Option<&Path>) -> anyhow::Result<Tree> {
        let prefix = git(&["rev-parse", "--show-prefix"])?;
        let wanted = format!("{revision}^{{commit}}");
        let commit = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted])
            .with_context(|| format!("--against: no commit {revision:?}"))?;
        let short = commit.get(..12).unwrap_or(&commit).to_owned();
        let name = if commit.starts_with(revision) {
            short.clone()
        } else {
            format!("{revision} ({short})")
        };
        let (root, scratch) = match cache {
            Some(cache) => {
                fs::create_dir_all(cache).with_context(|| cache.display().to_string())?;
                (fs::canonicalize(cache)?.join(&commit), None)
            }
            None => {
                let scratch = scratch::folder("against")?;
                (scratch.path().join("checkout"), Some(scratch))
            }
        };
        let lock = cache.map(|cache| locked(&cache.join("lock"))).transpose()?;
        let tree = Tree { place: root.join(prefix), name, root, scratch, lock };
        let begun = tree.root.with_extension("begun");
        if begun.exists() || !tree.root.exists() {
            // What a killed run left is half a tree, and what was built in one that is gone is gone.
            if tree.root.exists() {
                fs::remove_dir_all(&tree.root).context("the cache")?;
            }
            tree.unmark()?;
            git(&["worktree", "prune"])?;
            fs::write(&begun, "").context("the cache")?;
            tree.check_out(&commit)?;
            fs::remove_file(&begun).context("the cache")?;
        }
        ensure!(tree.place.is_dir(), "{}: has no folder {}", tree.name, tree.place.display());
        Ok(tree)
    }

    fn check_out(&self, commit: &str) -> anyhow::Result<()> {
        let root = self.root.to_str().context("a temporary folder whose name is not UTF-8")?;
        // Twice, since git keeps the lock of one whose making was interrupted.
        let add = ["git", "worktree", "add", "--quiet", "--force", "--force", "--detach"];
        let line = shlex::try_join(add.into_iter().chain([root, commit]))?;
        let house = House { limit: Duration::MAX, ..House::default() };
        house.aside(&line, None, "checkout", TIME_TO_CLEAN)?;
        Ok(())
    }

    /// The file that says what the tree was built by.
    fn marker(&self) -> PathBuf {
        self.root.with_extension("built")
    }

    fn is_built(&self, by: &str) -> bool {
        fs::read_to_string(self.marker()).is_ok_and(|marked| marked == by)
    }

    fn unmark(&self) -> anyhow::Result<()> {
        match fs::remove_file(self.marker()) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error).context("the cache"),
            _ => Ok(()),
        }
    }
}

/// A file that nobody else has locked any more.
fn locked(path: &Path) -> anyhow::Result<File> {
    let file = File::create(path).and_then(|file| file.lock().map(|()| file));
    file.with_context(|| path.display().to_string())
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.scratch.is_some() {
            let root = self.root.as_os_str();
            let remove = ["worktree", "remove", "--force"].map(std::ffi::OsStr::new);
            let mut command = Command::new("git");
            command.args(remove).arg(root).stdin(Stdio::null()).stdout(Stdio::null());
            // An interrupt of the terminal is not for it.
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let _ = command.stderr(Stdio::null()).status();
        }
    }
}

/// The line that git says; a name in it may begin and end with blanks.
fn git(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).output();
    let output = output.context("git")?;
    let words = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "git {}: {}: {}",
        arguments[0],
        output.status,
        words.trim_end()
    );
    let said = String::from_utf8(output.stdout).context("git")?;
    Ok(said.strip_suffix('\n').unwrap_or(&said).to_owned())
}

#[cfg(test)]
mod tests {
    use fathom_measure::compare::{Floor, Judged, Seen};
    use fathom_measure::stats::Interval;
    use fathom_measure::verdict::{Broken, Unresolved};
    use fathom_measure::workload::Spec;

    use super::*;

    fn case(verdict: Verdict, low: f64, high: f64) -> Case {
        let comparison = Comparison {
            contender: 1,
            pairs: 30,
            zero_readings: 0,
            exact_ties: 0,
            lag1: 0.0,
            block_rounds: 1,
            ratio: Some((low * high).sqrt()),
            interval: Some(Interval { low, high }),
            p_adjusted: 0.001,
            sets: 0,
            seen: Seen::of(&[0.1]),
            verdict,
        };
        let judged = Judged { comparisons: vec![comparison], ..Judged::default() };
        Case { workload: Spec::new("make", &[]), judged, ..Case::default() }
    }

    #[test]
    fn a_regression_is_one_whose_whole_interval_lies_beyond_the_tolerance() {
        let cases = [case(Verdict::Slower, 1.02, 1.08)];
        let found = |tolerance| slower(&cases, tolerance).len();
        assert_eq!([0.0, 0.019, 0.021, 0.05, 0.09].map(found), [1, 1, 0, 0, 0]);
        let line = summary(&cases, &slower(&cases, 0.01), "main", 1.0);
        assert!(line.starts_with("REGRESSION: slower than main by more than 1"), "{line}");
        assert!(line.ends_with(" %: make 1.050x"), "{line}");
        let faster = [case(Verdict::Faster, 0.5, 0.6)];
        let line = summary(&faster, &slower(&faster, 0.0), "main", 0.0);
        assert_eq!(line, "no command is slower than main");
    }

    /// They went for commands that are no slower.
    #[test]
    fn commands_that_were_not_compared_are_told() {
        let open = Verdict::NotResolved { why: Unresolved::ContainsOne, longer: None };
        let mut cases = [(Verdict::Faster, 0.6), (open, 1.4), (Verdict::Faster, 0.6)]
            .map(|(verdict, high)| case(verdict, 0.5, high));
        cases[2].judged.comparisons.clear();
        let said = "none proved slower than main: 1 of 3 not resolved, 1 of 3 not compared";
        assert_eq!(summary(&cases, &[], "main", 0.0), said);
    }

    /// The verdict decided, which is against 1.
    #[test]
    fn no_slower_than_the_tolerance_is_what_the_interval_proves() {
        let unresolved = |why| Verdict::NotResolved { why, longer: None };
        let (open, floor) = (Unresolved::ContainsOne, Unresolved::Floor { least: 0.05 });
        let differs =
            Floor { interval: Some(Interval { low: 1.01, high: 1.05 }), reach: Some(0.05) };
        let same = Floor::default();
        let withheld = Verdict::Withheld { why: Broken::Copy };
        for (verdict, low, high, floor, tolerance, is_proved) in [
            (Verdict::Slower, 1.20, 1.29, same, 21.0, false),
            (Verdict::Slower, 1.20, 1.29, same, 30.0, true),
            (unresolved(open), 0.61, 1.40, same, 50.0, true),
            (unresolved(open), 0.61, 1.40, same, 0.0, false),
            (unresolved(floor), 0.97, 0.99, differs, 0.0, false),
            (unresolved(floor), 0.97, 0.99, differs, 5.0, true),
            (unresolved(open), 0.99, 1.04, same, 4.0, true),
            (unresolved(open), 0.99, 1.04, differs, 4.0, false),
            (Verdict::Slower, 1.20, 1.29, differs, 30.0, false),
            (Verdict::Faster, 0.80, 0.97, differs, 0.0, true),
            (withheld, 0.5, 0.6, same, 0.0, false),
        ] {
            let mut cases = [case(verdict, low, high)];
            cases[0].judged.floor = floor;
            let said = summary(&cases, &slower(&cases, tolerance / 100.0), "main", tolerance);
            assert_eq!(said.starts_with("no command is slower than main"), is_proved, "{said}");
            assert_eq!(said.ends_with(": 1 of 1 not resolved"), !is_proved, "{said}");
        }
    }
}
