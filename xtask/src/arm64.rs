//! `cargo xtask arm64`: the project on AArch64, emulated, on processors with and without optional
//! features.
//!
//! Test suites run under QEMU's user emulation, on this machine's files; commands run on a booted
//! machine, where they start their workers as anywhere else, and must answer what the same commands
//! answer here. What this proves is that results are right and that features are found at run time;
//! it says nothing about speed. Instructions, though, are counted exactly: a vector level of a kernel
//! must not need more of them than the scalar one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use fathom_guest::Line;

use crate::cpio;
use crate::cross::{Speed, Toolchain};
use crate::emulator::{Machine, boot, kernel};
use crate::packages::{cache, host_fathom, install};

/// What runs where: packages, and the level to force.
struct Suite {
    processor: &'static str,
    level: Option<&'static str>,
    packages: &'static [&'static str],
}

/// The engines, whose kernels differ by level.
const ENGINES: &[&str] = &["fathom-aggregate", "fathom-json", "fathom-haversine"];

/// `max` has every feature, the Neoverse N1 those of the forebear's machine, the Cortex-A53 neither
/// atomics nor dot products nor SHA-3 and SHA-512.
const SUITES: &[Suite] = &[
    Suite {
        processor: "max",
        level: None,
        packages: &[
            "fathom-machine", "fathom-aggregate", "fathom-json", "fathom-haversine", "fathom-keys",
            "fathom-random", "fathom-report", "fathom-contenders",
        ],
    },
    Suite { processor: "max", level: Some("scalar"), packages: ENGINES },
    Suite { processor: "neoverse-n1", level: None, packages: &["fathom-contenders"] },
    Suite { processor: "cortex-a53", level: None, packages: &["fathom-contenders"] },
];

/// Tests that user emulation cannot run, with the reason.
const NOT_EMULATED: &[(&str, &str)] = &[
    ("touched_memory", "residency of pages is the host's"),
    ("what_was_just_written_is_cached", "the same"),
    ("limits_and_places_are_accepted", "a limited child would be a program of the host"),
    ("signals_of_others_do_what_they_did", "a child would be a program of the host"),
    ("a_memory_limit_bounds_the_peak", "the same, where the host does not know the emulator"),
    ("a_group_ends_as_one", "a child that is killed is a program of the host"),
    ("no_such_program_is_an_error", "what a child says of it stays in the child's memory"),
];

/// The processors of the booted machines.
const PROCESSORS: [&str; 3] = ["max", "neoverse-n1", "cortex-a53"];

/// What both machines answer alike: commands without clocks in their answers.
const ANSWERS: &[&str] = &[
    "fathom generate measurements --rows 50k -o rows.txt",
    "fathom aggregate rows.txt",
    "FATHOM_LEVEL=scalar fathom aggregate rows.txt",
    "fathom bench aggregate --strategy fullcheck --test rows.txt",
    "fathom generate measurements --preset 10k --rows 20k -o long.txt",
    "fathom aggregate --format json long.txt",
    "fathom generate pairs --method cluster --count 5000 --seed 3 -o pairs.json --answers pairs.f64",
    "fathom haversine --format json pairs.json pairs.f64",
    "FATHOM_LEVEL=scalar fathom haversine --format json pairs.json pairs.f64",
];

/// What must succeed on the other machine, whatever it prints.
const SUCCESSES: &[&str] = &["fathom machine", "fathom bench digest --test"];

/// Half of the check.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Test suites, under user emulation
    Suites,
    /// Commands, on booted machines
    Commands,
}

/// What is prepared where instructions are counted, and the commands whose kernels have levels.
const DATA: &[&str] = &[
    "fathom generate measurements --rows 1M -o rows.txt",
    "fathom generate pairs --count 100k -o pairs.json",
];
const KERNELS: &[&str] =
    &["fathom aggregate --threads 1 rows.txt", "fathom haversine --threads 1 pairs.json"];

/// One piece of the check, which needs nothing of the others.
#[derive(Clone, Copy)]
enum Piece {
    Suite(&'static Suite),
    Processor(&'static str),
    Instructions,
}

/// Everything, or `part` of it, or the piece whose turn it is.
pub(crate) fn run_all(part: Option<Part>, turn: Option<usize>) -> Result<()> {
    let suites = SUITES.iter().map(Piece::Suite).filter(|_| part != Some(Part::Commands));
    let commands = PROCESSORS.iter().map(|processor| Piece::Processor(processor));
    let commands = commands.chain([Piece::Instructions]).filter(|_| part != Some(Part::Suites));
    let mut pieces: Vec<Piece> = suites.chain(commands).collect();
    if let Some(turn) = turn {
        println!("piece {} of {}", turn % pieces.len() + 1, pieces.len());
        pieces = vec![pieces[turn % pieces.len()]];
    }
    let toolchain = Toolchain::find()?;
    pieces.into_iter().try_for_each(|piece| match piece {
        Piece::Suite(suite) => {
            install(&["qemu-user"])?;
            test(&toolchain, suite)
        }
        Piece::Processor(processor) => {
            let (kernel, guest, fathom) = images(&toolchain, Speed::Tests)?;
            answers_there(processor, &kernel, &guest, &fathom, &answers_here()?)
        }
        Piece::Instructions => {
            let (kernel, guest, fathom) = images(&toolchain, Speed::Release)?;
            instructions(&kernel, &guest, &fathom)
        }
    })
}

/// What a machine boots: the kernel, its first program, and ours.
fn images(toolchain: &Toolchain, speed: Speed) -> Result<(PathBuf, Vec<u8>, Vec<u8>)> {
    let guest = toolchain.build_static("fathom-guest", "fathom-guest", Speed::Release)?;
    Ok((kernel()?, guest, toolchain.build_static("fathom-cli", "fathom", speed)?))
}

/// Counts what each level needs; the vector level must not need more than the scalar one.
fn instructions(kernel: &Path, guest: &[u8], fathom: &[u8]) -> Result<()> {
    let counted = KERNELS.iter().flat_map(|kernel| {
        ["scalar", "neon"].map(|level| {
            format!(
                "FATHOM_LEVEL={level} fathom run --no-shell --rounds 1 --warmup 0 \
                 --counters hardware --format json '{kernel}'"
            )
        })
    });
    let list: Vec<String> = DATA.iter().map(|line| (*line).to_owned()).chain(counted).collect();
    let machine = Machine { processor: "max", icount_shift: Some(0), memory_mib: 2048 };
    let there = boot_with(machine, kernel, guest, fathom, &list)?;
    let mut counts = Vec::new();
    for Answer { command, printed, complaints, ended } in &there {
        ensure!(ended == "0", "{command}: {ended}\n{printed}{complaints}");
        if command.starts_with("FATHOM_LEVEL") {
            let count = after(printed, r#""event":"instructions","per_iteration":"#);
            counts.push(count.with_context(|| format!("{command}: no count\n{printed}"))?);
        }
    }
    ensure!(counts.len() == 2 * KERNELS.len(), "{counts:?}");
    for (kernel, pair) in KERNELS.iter().zip(counts.chunks(2)) {
        let [scalar, neon] = pair else { bail!("{pair:?}") };
        // Where a level has no kernel of its own, both run the same code; the rest is timing.
        let is_no_more = *neon <= 1.002 * scalar;
        ensure!(is_no_more, "{kernel}: {neon} instructions with NEON, {scalar} without");
        println!("ok: {kernel}: {neon:.0} instructions with NEON, {scalar:.0} without");
    }
    Ok(())
}

/// The number that follows `key` in a text of JSON.
fn after(text: &str, key: &str) -> Option<f64> {
    let rest = &text[text.find(key)? + key.len()..];
    let end = rest.find([',', '}'])?;
    rest[..end].trim().parse().ok()
}

/// Runs one suite under user emulation; every test passes.
fn test(toolchain: &Toolchain, suite: &Suite) -> Result<()> {
    let start = Instant::now();
    let mut command = toolchain.cargo("test", Speed::Tests);
    command.args(["--release", "--locked", "--quiet", "--lib", "--tests", "--no-fail-fast"]);
    for package in suite.packages {
        command.args(["--package", package]);
    }
    command.arg("--");
    for (name, _) in NOT_EMULATED {
        command.args(["--skip", name]);
    }
    let emulator = format!("qemu-aarch64 -cpu {}", suite.processor);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", emulator);
    if let Some(level) = suite.level {
        command.env("FATHOM_LEVEL", level);
    }
    let name = format!("{}, level {}", suite.processor, suite.level.unwrap_or("by itself"));
    let output = command.output().context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let (passed, failed) = counts(&text);
    if !output.status.success() || failed > 0 || passed == 0 {
        std::io::stderr().write_all(&output.stdout)?;
        std::io::stderr().write_all(&output.stderr)?;
        bail!("tests on {name}: {passed} passed, {failed} failed ({})", output.status);
    }
    println!("ok: {passed} tests passed on {name} ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(())
}

/// Tests passed and failed, added up over the binaries.
fn counts(text: &str) -> (u64, u64) {
    let mut sums = (0, 0);
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |name: &str| -> u64 {
            let at = words.iter().position(|word| word.trim_end_matches(';') == name);
            at.and_then(|at| words[at.checked_sub(1)?].parse().ok()).unwrap_or(0)
        };
        sums = (sums.0 + before("passed"), sums.1 + before("failed"));
    }
    sums
}

/// The answers of this machine, by the program that its tests have built.
fn answers_here() -> Result<Vec<Answer>> {
    let fathom = host_fathom()?;
    let folder = cache().join("answers");
    std::fs::create_dir_all(&folder)?;
    let answer = |line: &&str| -> Result<Answer> {
        let Line { environment, arguments, .. } = Line::read(line);
        let mut command = Command::new(&fathom);
        command.current_dir(&folder).envs(environment).args(arguments);
        let output =
            command.output().with_context(|| format!("cannot run {}", fathom.display()))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let (command, ended) = ((*line).to_owned(), "0".to_owned());
        Ok(Answer { command, printed, ended, ..Answer::default() })
    };
    let answers = ANSWERS.iter().map(answer).collect();
    std::fs::remove_dir_all(&folder)?;
    answers
}

/// What a command printed, and how it ended.
#[derive(Debug, Default)]
struct Answer {
    command: String,
    /// On its standard output.
    printed: String,
    /// On its standard error; not compared.
    complaints: String,
    ended: String,
}

/// Boots a machine with `processor` and compares.
fn answers_there(
    processor: &'static str,
    kernel: &Path,
    guest: &[u8],
    fathom: &[u8],
    here: &[Answer],
) -> Result<()> {
    let start = Instant::now();
    let list: Vec<String> = [ANSWERS, SUCCESSES].concat().iter().map(|&l| l.to_owned()).collect();
    let machine = Machine { processor, icount_shift: None, memory_mib: 2048 };
    let there = boot_with(machine, kernel, guest, fathom, &list)?;
    ensure!(there.len() == list.len(), "{processor}: {} answers", there.len());
    for (here, there) in here.iter().zip(&there) {
        let [own, other] = [here, there].map(|one| (&one.command, &one.printed, &one.ended));
        if own != other {
            bail!("{processor} differs from here:\n{}", difference(here, there));
        }
    }
    for answer in &there[ANSWERS.len()..] {
        let Answer { command, printed, complaints, ended } = answer;
        ensure!(ended == "0", "{command}: {ended}\n{printed}{complaints}");
    }
    println!(
        "ok: {} commands answer alike and {} succeed on {processor} ({:.0} s)",
        ANSWERS.len(),
        SUCCESSES.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Boots a machine that runs the commands of `list`, one after the other.
fn boot_with(
    machine: Machine,
    kernel: &Path,
    guest: &[u8],
    fathom: &[u8],
    list: &[String],
) -> Result<Vec<Answer>> {
    let list = list.join("\n");
    let files: [(&str, &[u8]); 3] =
        [("init", guest), ("bin/fathom", fathom), ("commands", list.as_bytes())];
    let ramdisk = cache().join("commands.cpio");
    std::fs::write(&ramdisk, cpio::archive(&["proc", "sys", "dev", "tmp", "bin"], &files))?;
    Ok(answers(&boot(machine, kernel, &ramdisk)?))
}

/// The answers in what the guest printed.
fn answers(text: &str) -> Vec<Answer> {
    let mut found: Vec<Answer> = Vec::new();
    for line in text.lines().map(|line| line.trim_end_matches('\r')) {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Answer { command: command.to_owned(), ..Answer::default() });
        } else if let Some(answer) = found.last_mut().filter(|answer| answer.ended.is_empty()) {
            if let Some(ended) = line.strip_prefix("= ") {
                answer.ended = ended.to_owned();
            } else if let Some(complaint) = line.strip_prefix("! ") {
                answer.complaints += &format!("{complaint}\n");
            } else {
                answer.printed += &format!("{line}\n");
            }
        }
    }
    found
}

/// Where two answers part, in a few lines.
fn difference(here: &Answer, there: &Answer) -> String {
    let mut lines = here.printed.lines().zip(there.printed.lines());
    let apart = lines.find(|(left, right)| left != right);
    let (left, right) = apart.unwrap_or(("(one is the beginning of the other)", ""));
    let shown = |text: &str| text.chars().take(400).collect::<String>();
    format!(
        "$ {}\nhere ended {}, {} bytes; there ended {}, {} bytes\n- {}\n+ {}\n{}",
        here.command,
        here.ended,
        here.printed.len(),
        there.ended,
        there.printed.len(),
        shown(left),
        shown(right),
        there.complaints
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_cut_out_of_the_console() {
        let text =
            "boot\r\n$ a b\r\nx\r\n! oh\r\ny\r\n= 0\r\nnoise\r\n$ c\r\n= signal: 9\r\ndone\r\n";
        let found = answers(text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].printed.as_str(), found[0].ended.as_str()), ("x\ny\n", "0"));
        assert_eq!((found[1].command.as_str(), found[1].ended.as_str()), ("c", "signal: 9"));
    }

    #[test]
    fn test_counts_add_up() {
        let text = "test result: ok. 3 passed; 0 failed; 1 ignored\n\
                    test result: FAILED. 2 passed; 1 failed; 0 ignored\n";
        assert_eq!(counts(text), (5, 1));
    }
}
