//! `cargo xtask mutants`: plants the mistakes of `xtask/mutants.txt` one at a time in a copy of the
//! sources, and runs the tests that are there to catch each.
//!
//! A mistake is caught when its tests fail or hang. One that does not build, or whose tests are none
//! or fail without it, proves nothing and is an error. `--check` builds nothing: it only says whether
//! every mistake still has exactly one place to be planted at.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{cache, root, run};

/// The list, in the form that its first lines describe.
const LIST: &str = "xtask/mutants.txt";
/// Fewer are no list.
const LEAST: usize = 60;
/// The share that has to be caught.
const CAUGHT: f64 = 0.95;
/// How long building may take.
const BUILDING: Duration = Duration::from_secs(30 * 60);

/// One planted mistake.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mutant {
    name: String,
    file: String,
    /// Arguments of `cargo test`.
    tests: String,
    /// Why no test catches it, where that is known.
    survives: Option<String>,
    old: String,
    new: String,
}

/// Plants everything whose name or file contains `only`; with `check`, only looks for the places.
/// The tests of one may take `limit`.
pub(crate) fn run_all(check: bool, only: &str, limit: Duration) -> Result<()> {
    let text = fs::read_to_string(root().join(LIST)).context(LIST)?;
    let all = parse(&text)?;
    ensure!(all.len() >= LEAST, "{} mistakes; {LEAST} are wanted", all.len());
    let names: BTreeSet<&str> = all.iter().map(|mutant| mutant.name.as_str()).collect();
    ensure!(names.len() == all.len(), "two mistakes of one name");
    let lost: Vec<String> =
        all.iter().filter_map(|mutant| planted(mutant, &root()).err()).collect();
    ensure!(lost.is_empty(), "{} of {} have no place:\n{}", lost.len(), all.len(), lost.join("\n"));
    println!("ok: {} mistakes have exactly one place each", all.len());
    if check {
        return Ok(());
    }
    let is_wanted = |mutant: &Mutant| mutant.name.contains(only) || mutant.file.contains(only);
    let wanted: Vec<Mutant> = all.into_iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "no mistake is called {only:?}");
    judge(&wanted, limit)
}

/// Runs the tests without and with each mistake, and says which passed all the same.
fn judge(mutants: &[Mutant], limit: Duration) -> Result<()> {
    let folder = cache().join("mutants");
    fs::create_dir_all(&folder)?;
    let lock = fs::File::create(folder.join("lock"))?;
    lock.try_lock().context("another run plants mistakes in the same copy")?;
    let copy = copied()?;
    // Whole, since many mistakes are for some tests each of the same programs.
    let whole = |mutant: &Mutant| stages(mutant.tests.split(" -- ").next().unwrap_or_default());
    let selections: BTreeSet<String> = mutants.iter().flat_map(whole).collect();
    for tests in selections {
        let outcome = staged(&copy, &tests, limit)?;
        ensure!(
            outcome == Outcome::Passed,
            "without a mistake: cargo test {tests}: {outcome:?}, see {}",
            folder.join("log").display()
        );
    }
    let (mut caught, mut unexplained) = (0, 0);
    for mutant in mutants {
        let start = Instant::now();
        let path = copy.join(&mutant.file);
        let whole = fs::read_to_string(&path)?;
        fs::write(&path, planted(mutant, &copy).map_err(anyhow::Error::msg)?)?;
        let outcome = tested(&copy, &mutant.tests, limit);
        fs::write(&path, whole)?;
        let outcome = outcome?;
        let word = match (&outcome, &mutant.survives) {
            (Outcome::Failed | Outcome::Hung, _) => {
                caught += 1;
                if outcome == Outcome::Hung { "hung" } else { "caught" }.to_owned()
            }
            (Outcome::Passed, Some(why)) => format!("survives: {why}"),
            (Outcome::Passed, None) => {
                unexplained += 1;
                "SURVIVES".to_owned()
            }
            _ => {
                unexplained += 1;
                format!("PROVES NOTHING: {outcome:?}")
            }
        };
        println!("{word:<9} {} ({:.0} s)", mutant.name, start.elapsed().as_secs_f64());
    }
    let share = f64::from(caught) / mutants.len() as f64;
    println!("{caught} of {} caught", mutants.len());
    ensure!(unexplained == 0, "{unexplained} survive without a reason, or prove nothing");
    ensure!(share >= CAUGHT, "{:.1} % caught", share * 100.0);
    Ok(())
}

/// What became of a run of tests.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Hung,
    Unbuilt,
    Empty,
}

/// The tests of a mistake, one stage after the other until one does not pass. Tests within a library come
/// before those beside it, each of which is a program to be built.
fn tested(copy: &Path, tests: &str, limit: Duration) -> Result<Outcome> {
    for stage in stages(tests) {
        let outcome = staged(copy, &stage, limit)?;
        if outcome != Outcome::Passed {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}

fn stages(tests: &str) -> Vec<String> {
    match tests.contains(BOTH) {
        true => ["--lib", "--test *"].map(|one| tests.replace(BOTH, one)).to_vec(),
        false => vec![tests.to_owned()],
    }
}

/// What stands for all tests of a package.
const BOTH: &str = "--lib --tests";

/// `cargo test` in the copy, with a build folder that all mistakes share.
fn staged(copy: &Path, tests: &str, limit: Duration) -> Result<Outcome> {
    let log = cache().join("mutants/log");
    let build = cache().join("mutants/build");
    // Tests that are killed leave what they have in it.
    let scratch = tempfile::tempdir()?;
    let cargo = |arguments: &[&str], limit| -> Result<End> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(copy).args(["test", "--locked"]).args(arguments);
        command.env("CARGO_TARGET_DIR", &build).env("PROPTEST_FAILURE_PERSISTENCE", "off");
        // A mistake changes one function: in many pieces, all but its own are there from before.
        command.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_DEV_LTO", "off");
        command.env("CARGO_PROFILE_DEV_CODEGEN_UNITS", "256");
        command.env("TMPDIR", scratch.path());
        command.stdin(Stdio::null());
        let output = fs::File::create(&log)?;
        command.stdout(output.try_clone()?).stderr(output);
        within(limit, &mut command, || has_failed(&log))
    };
    let (selection, filters) = match tests.split_once(" -- ") {
        Some((selection, filters)) => (words(selection), words(filters)),
        None => (words(tests), Vec::new()),
    };
    match cargo(&[&selection[..], &["--no-run"]].concat(), BUILDING)? {
        End::Exited(status) if status.success() => {}
        _ => return Ok(Outcome::Unbuilt),
    }
    let tests = [&selection[..], &["--"], &filters[..]].concat();
    let status = match cargo(&tests, limit)? {
        End::Exited(status) => status,
        End::Stopped => return Ok(Outcome::Failed),
        End::Late => return Ok(Outcome::Hung),
    };
    let ran = fs::read_to_string(&log)?
        .lines()
        .any(|line| line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed"));
    Ok(match (ran, status.success()) {
        // A program that is a test of its own may end before it says anything.
        (_, false) => Outcome::Failed,
        (true, true) => Outcome::Passed,
        (false, true) => Outcome::Empty,
    })
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Whether a test is among those that failed, by what is said of each as it ends.
fn has_failed(log: &Path) -> bool {
    let said = fs::read(log).unwrap_or_default();
    let mut lines = said.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b"test ") && line.ends_with(b" ... FAILED"))
}

/// How a command ended: by itself, by us because nothing was left to wait for, or because it took longer than it may.
enum End {
    Exited(ExitStatus),
    Stopped,
    Late,
}

/// Runs a command in a process group of its own, which ends as a whole: when it takes longer, or when `is_settled`.
fn within(limit: Duration, command: &mut Command, is_settled: impl Fn() -> bool) -> Result<End> {
    let mut child = command.process_group(0).spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status));
        }
        let (is_settled, is_late) = (is_settled(), start.elapsed() > limit);
        if is_settled || is_late {
            run(Command::new("kill").args(["-KILL", "--"]).arg(format!("-{}", child.id())))?;
            child.wait()?;
            return Ok(if is_settled { End::Stopped } else { End::Late });
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The repository's files as they are now, without what was built; what did not change since the
/// last copy keeps its time, so that cargo builds only what did.
fn copied() -> Result<PathBuf> {
    let copy = cache().join("mutants/tree");
    let list = run(Command::new("git").current_dir(root()).args(["ls-files", "-z"]))?;
    let mut wanted = BTreeSet::new();
    for name in String::from_utf8(list.stdout)?.split_terminator('\0') {
        let (from, to) = (root().join(name), copy.join(name));
        let Ok(now) = fs::read(&from) else { continue };
        if fs::read(&to).ok().as_ref() != Some(&now) {
            fs::create_dir_all(to.parent().expect("a file lies in a folder"))?;
            fs::write(&to, now)?;
        }
        wanted.insert(to);
    }
    prune(&copy, &wanted)?;
    Ok(copy)
}

/// Removes all that is in `folder` and not among `wanted`.
fn prune(folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            prune(&path, wanted)?;
            // Refused where something is left in it.
            let _ = fs::remove_dir(&path);
        } else if !wanted.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The file of `mutant` under `root` with the mistake in it.
fn planted(mutant: &Mutant, root: &Path) -> Result<String, String> {
    let text = fs::read_to_string(root.join(&mutant.file))
        .map_err(|error| format!("{}: {}: {error}", mutant.name, mutant.file))?;
    match text.matches(&mutant.old).count() {
        1 => Ok(text.replacen(&mutant.old, &mutant.new, 1)),
        times => Err(format!("{}: {times} places in {}", mutant.name, mutant.file)),
    }
}

/// Reads the list.
fn parse(text: &str) -> Result<Vec<Mutant>> {
    let mut all: Vec<Mutant> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("== ") {
            all.push(Mutant { name: name.to_owned(), ..Mutant::default() });
            continue;
        }
        let Some(mutant) = all.last_mut() else { continue };
        let (key, rest) = line.split_at(line.len().min(1));
        match key {
            "-" => mutant.old += &format!("{rest}\n"),
            "+" => mutant.new += &format!("{rest}\n"),
            "" => {}
            _ => match line.split_once(": ") {
                Some(("file", file)) => file.clone_into(&mut mutant.file),
                Some(("tests", tests)) => tests.clone_into(&mut mutant.tests),
                Some(("survives", why)) => mutant.survives = Some(why.to_owned()),
                _ => bail!("{}: cannot read {line:?}", mutant.name),
            },
        }
    }
    for mutant in &mut all {
        // A single line may be a part of one.
        for text in [&mut mutant.old, &mut mutant.new] {
            if text.matches('\n').count() == 1 {
                text.pop();
            }
        }
        let parts = [&mutant.file, &mutant.tests, &mutant.old];
        ensure!(parts.iter().all(|part| !part.is_empty()), "{}: a part is missing", mutant.name);
        ensure!(mutant.old != mutant.new, "{}: no change", mutant.name);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "A heading.\n== a name\nfile: a.rs\ntests: -p x -- y\n-one\n-two\n+three\n\n\
                       == other\nfile: b.rs\ntests: -p x\nsurvives: it is equal\n-part\n+\n";

    #[test]
    fn mistakes_are_read() {
        let [first, second] = &parse(TWO).unwrap()[..] else { panic!() };
        assert_eq!((first.old.as_str(), first.new.as_str()), ("one\ntwo\n", "three"));
        assert_eq!((second.old.as_str(), second.new.as_str()), ("part", ""));
        assert_eq!(second.survives.as_deref(), Some("it is equal"));
        assert!(parse("== a\nfile: b\ntests: c\n").is_err());
        assert!(parse("== a\nwhat is this\n").is_err());
    }

    #[test]
    fn a_place_is_found_once_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), "a b b").unwrap();
        let of = |old: &str| Mutant { file: "f".into(), old: old.into(), ..Mutant::default() };
        let found = ["a", "b", "c"].map(|old| planted(&of(old), folder.path()));
        assert_eq!(found[0].as_deref(), Ok(" b b"));
        assert!(found[1].is_err() && found[2].is_err());
    }

    #[test]
    fn a_copy_keeps_what_is_wanted_alone() {
        let folder = tempfile::tempdir().unwrap();
        let [kept, old, gone] = ["a/kept", "a/old", "b/gone"].map(|name| folder.path().join(name));
        for path in [&kept, &old, &gone] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        prune(folder.path(), &BTreeSet::from([kept.clone()])).unwrap();
        assert!(kept.exists() && !old.exists() && !folder.path().join("b").exists());
    }

    #[test]
    fn the_tests_within_a_library_come_first() {
        assert_eq!(stages("-p x --lib --tests -- y"), ["-p x --lib -- y", "-p x --test * -- y"]);
        assert_eq!(stages("-p x --test y"), ["-p x --test y"]);
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let ended = |limit: u64, program: &str, is_settled: bool| {
            let limit = Duration::from_millis(limit);
            within(limit, Command::new(program).arg("60"), || is_settled).unwrap()
        };
        assert!(matches!(ended(100, "sleep", false), End::Late));
        assert!(matches!(ended(60_000, "sleep", true), End::Stopped));
        assert!(matches!(ended(60_000, "true", false), End::Exited(status) if status.success()));
    }

    #[test]
    fn the_first_test_that_fails_is_enough() {
        let folder = tempfile::tempdir().unwrap();
        let said = |text: &str| {
            fs::write(folder.path().join("log"), text).unwrap();
            has_failed(&folder.path().join("log"))
        };
        assert!(!said("running 2 tests\ntest a ... ok\ntest b ... "));
        assert!(said("running 2 tests\ntest a ... ok\ntest b ... FAILED\n"));
    }
}
