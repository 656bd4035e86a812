//! Counts from a simulator, for machines whose processor shows none: one run under Callgrind.
//!
//! ```text
//!   conductor                                   worker, under valgrind
//!   Simulation::new ─▶ wrap(worker command) ──▶ sample_simulated(prepared): warm, then counted
//!   counts() ◀────────── output files ────────┘
//! ```
//!
//! The counts are of a model: two cache levels and a simple branch predictor, user mode only, one
//! thread at a time. They are exact and repeatable about instructions, loads and stores; about
//! misses they say what the model does, which is not this processor; about time they say nothing.
//! Show them beside time, labelled [`LABEL`]. Callgrind rather than Cachegrind, whose regions need
//! Valgrind 3.22 and later.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use fathom_machine::os::ward::{Guard, Ward};
use fathom_machine::valgrind;
use serde::{Deserialize, Serialize};

use crate::contender::Prepared;
use crate::digest::Digest;
use crate::meter::{Meter, Untimed};
use crate::scratch::{self, Folder};

/// The word that stands beside every number from here.
pub const LABEL: &str = "simulated";

/// Callgrind's names for its events, ours, and what is counted.
const EVENTS: [(&str, &str, &str); 13] = [
    ("Ir", "instructions", "instructions executed"),
    ("Dr", "loads", "data reads"),
    ("Dw", "stores", "data writes"),
    ("I1mr", "l1i-misses", "instruction reads not found in the modelled first level"),
    ("D1mr", "l1d-load-misses", "data reads not found in the modelled first level"),
    ("D1mw", "l1d-store-misses", "data writes not found in the modelled first level"),
    ("ILmr", "llc-instruction-misses", "instruction reads not found in the modelled last level"),
    ("DLmr", "llc-load-misses", "data reads not found in the modelled last level"),
    ("DLmw", "llc-store-misses", "data writes not found in the modelled last level"),
    ("Bc", "conditional-branches", "conditional branches executed"),
    ("Bcm", "conditional-branch-misses", "of these, predicted wrongly by the model"),
    ("Bi", "indirect-branches", "indirect branches executed"),
    ("Bim", "indirect-branch-misses", "of these, predicted wrongly by the model"),
];

/// What is counted of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the program marks itself ([`sample_simulated`]): our own workers.
    Regions,
    /// Everything, and the programs it starts: outside commands.
    Whole,
}

/// A run under Valgrind in preparation or done.
#[derive(Debug)]
pub struct Simulation {
    folder: Folder,
    scope: Scope,
    version: String,
}

/// Simulated counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulated {
    /// Which simulator, as it names itself.
    pub simulator: String,
    /// The counts, by event name.
    pub counts: Vec<SimulatedCount>,
}

/// One simulated count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedCount {
    /// The event; named as its hardware sibling where there is one.
    pub event: String,
    /// How often it happened.
    pub count: u64,
}

/// Why there are no simulated counts.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// There is no `valgrind` to be run.
    #[error(
        "simulated counters need valgrind, which is not installed or not in PATH \
         (Debian and Ubuntu: apt install valgrind; Fedora: dnf install valgrind)"
    )]
    NoValgrind,
    /// It ran but left nothing to read.
    #[error("valgrind left no counts{}", if .0.is_empty() { String::new() } else { format!(": {}", .0) })]
    NoCounts(String),
    /// Its output is not what Callgrind writes.
    #[error("{file}:{line}: {what}")]
    Output {
        /// Which file.
        file: String,
        /// Which line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// Files could not be written or read.
    #[error("simulated counters: {0}")]
    Io(#[from] io::Error),
}

impl Simulation {
    /// Looks for Valgrind and makes room for its output.
    ///
    /// # Errors
    /// [`SimulationError::NoValgrind`] where there is none, and failures of the file system.
    pub fn new(scope: Scope) -> Result<Simulation, SimulationError> {
        Simulation::with(scope, "valgrind", Duration::from_secs(30))
    }

    fn with(scope: Scope, program: &str, limit: Duration) -> Result<Simulation, SimulationError> {
        let folder = scratch::folder("simulated")?;
        let path = folder.path().join("version");
        let mut command = Command::new(program);
        command.arg("--version");
        // To a file: a pipe could be held open by what it has started.
        let streams = [Stdio::null(), fs::File::create(&path)?.into(), Stdio::null()];
        let mut ward = Ward::start(&command, streams, Guard::Group)
            .map_err(|_| SimulationError::NoValgrind)?;
        match ward.wait(limit) {
            Ok(Some(end)) if end.status.success() => {}
            Ok(None) => {
                let what = format!("`{program} --version` gives no answer within {limit:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, what).into());
            }
            _ => return Err(SimulationError::NoValgrind),
        }
        let version = String::from_utf8_lossy(&fs::read(&path)?).trim().to_owned();
        Ok(Simulation { folder, scope, version })
    }

    /// `command` under Valgrind: program, arguments, environment changes and folder are taken over,
    /// the standard streams are the caller's to set again.
    pub fn wrap(&self, command: &Command) -> Command {
        let file = |prefix: &str, name: &str| {
            let mut option = OsString::from(prefix);
            option.push(self.folder.path());
            option.push(name);
            option
        };
        let mut wrapped = Command::new("valgrind");
        wrapped
            .args(["--tool=callgrind", "--quiet", "--trace-children=yes"])
            .args(["--cache-sim=yes", "--branch-sim=yes"])
            .arg(file("--callgrind-out-file=", "/out.%p"))
            .arg(file("--log-file=", "/log.%p"));
        if self.scope == Scope::Regions {
            wrapped.args(["--instr-atstart=no", "--collect-atstart=no"]);
        }
        wrapped.arg("--").arg(command.get_program()).args(command.get_args());
        if let Some(folder) = command.get_current_dir() {
            wrapped.current_dir(folder);
        }
        for (key, value) in command.get_envs() {
            match value {
                Some(value) => wrapped.env(key, value),
                None => wrapped.env_remove(key),
            };
        }
        wrapped
    }

    /// The counts, after the wrapped command has ended; of all its processes together.
    ///
    /// # Errors
    /// When Valgrind left nothing, or something that cannot be read.
    pub fn counts(self) -> Result<Simulated, SimulationError> {
        let mut total: Option<Vec<SimulatedCount>> = None;
        for path in self.files("out.")? {
            let text = fs::read_to_string(&path)?;
            let counts = parse(&text).map_err(|(line, what)| SimulationError::Output {
                file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                line,
                what,
            })?;
            total = Some(match total {
                None => counts,
                Some(before) => sum(before, &counts),
            });
        }
        let counts = total.ok_or_else(|| SimulationError::NoCounts(self.log()))?;
        Ok(Simulated { simulator: format!("callgrind ({})", self.version), counts })
    }

    fn files(&self, prefix: &str) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder.path())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
        }
        found.sort();
        Ok(found)
    }

    /// The last words of Valgrind's log.
    fn log(&self) -> String {
        let files = self.files("log.").unwrap_or_default();
        let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
        let last = texts.filter_map(|text| text.lines().last().map(str::to_owned)).next_back();
        last.unwrap_or_default()
    }
}

impl Simulated {
    /// The count of the event of this name.
    pub fn get(&self, event: &str) -> Option<u64> {
        self.counts.iter().find(|count| count.event == event).map(|count| count.count)
    }
}

/// What is counted under an event name of [`Simulated`], in words.
pub fn meaning(event: &str) -> Option<&'static str> {
    EVENTS.iter().find(|(_, name, _)| *name == event).map(|(_, _, meaning)| *meaning)
}

/// In a worker under Valgrind: samples `warm` iterations uncounted, since the modelled caches start
/// cold, then `iterations` counted, timed regions only. Returns the digest of the counted sample.
pub fn sample_simulated(prepared: &mut dyn Prepared, warm: u64, iterations: u64) -> Digest {
    valgrind::simulate();
    prepared.sample(warm, &mut Untimed);
    let digest = prepared.sample(iterations, &mut Counting);
    valgrind::stop_simulating();
    digest
}

/// Marks timed regions for the simulator.
struct Counting;

impl Meter for Counting {
    fn start(&mut self) {
        valgrind::toggle_counting();
    }
    fn stop(&mut self) {
        valgrind::toggle_counting();
    }
}

/// Callgrind's output: the line of event names and the line of totals.
fn parse(text: &str) -> Result<Vec<SimulatedCount>, (usize, String)> {
    let mut names: Option<Vec<&str>> = None;
    let mut totals: Option<(usize, Vec<u64>)> = None;
    for (index, line) in text.lines().enumerate() {
        let fail = |what: String| (index + 1, what);
        if let Some(rest) = line.strip_prefix("events:") {
            names = Some(rest.split_whitespace().collect());
        } else if let Some(rest) = line.strip_prefix("totals:") {
            let numbers: Result<Vec<u64>, _> = rest.split_whitespace().map(str::parse).collect();
            totals = Some((index, numbers.map_err(|e| fail(format!("totals: {e}")))?));
        }
    }
    let names = names.ok_or((1, "no line of event names".to_owned()))?;
    // Nothing was counted: callgrind then writes no totals, or fewer than there are events.
    let (line, totals) = totals.unwrap_or((0, Vec::new()));
    if totals.len() > names.len() {
        return Err((line + 1, format!("{} totals of {} events", totals.len(), names.len())));
    }
    let ours = |theirs: &str| {
        let known = EVENTS.iter().find(|(name, _, _)| *name == theirs);
        known.map_or(theirs, |(_, name, _)| name).to_owned()
    };
    let counts = names.iter().enumerate().map(|(at, name)| SimulatedCount {
        event: ours(name),
        count: totals.get(at).copied().unwrap_or(0),
    });
    Ok(counts.collect())
}

fn sum(mut to: Vec<SimulatedCount>, more: &[SimulatedCount]) -> Vec<SimulatedCount> {
    for count in more {
        match to.iter_mut().find(|other| other.event == count.event) {
            Some(other) => other.count += count.count,
            None => to.push(count.clone()),
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::tests::{assert_gone, pids};

    fn count(event: &str, count: u64) -> SimulatedCount {
        SimulatedCount { event: event.to_owned(), count }
    }

    #[test]
    fn a_simulator_that_does_not_answer_is_not_waited_for() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("valgrind");
        let (_folder, file) = pids();
        let script = format!("#!/bin/sh\nsleep 7004 & echo $! $$ >{}\nwait\n", file.display());
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let limit = Duration::from_secs(2);
        let error = Simulation::with(Scope::Whole, program.to_str().unwrap(), limit).unwrap_err();
        assert!(error.to_string().contains("no answer within 2s"), "{error}");
        assert_gone(&file, 2);
    }

    #[test]
    fn totals_are_read_by_the_names_of_their_events() {
        let text = "version: 1\nevents: Ir Dr Bcm Xyz\nfn=(1) f\n1 2 3\ntotals: 850048 100009 10\n";
        let counts = parse(text).unwrap();
        let expected = [
            count("instructions", 850_048),
            count("loads", 100_009),
            count("conditional-branch-misses", 10),
            count("Xyz", 0), // trailing zeros are left out
        ];
        assert_eq!(counts, expected);
    }

    #[test]
    fn output_that_makes_no_sense_is_named_by_line() {
        assert_eq!(parse("").unwrap_err().0, 1);
        assert_eq!(parse("events: Ir\n\ntotals: 12x\n").unwrap_err().0, 3);
        assert_eq!(parse("events: Ir\ntotals: 1 2\n").unwrap_err().0, 2);
    }

    #[test]
    fn processes_add_up() {
        let total = sum(vec![count("loads", 3)], &[count("loads", 4), count("stores", 1)]);
        assert_eq!(total, [count("loads", 7), count("stores", 1)]);
    }

    #[test]
    fn absence_is_said_with_the_remedy() {
        let error = Simulation::with(Scope::Whole, "no-such-valgrind", Duration::MAX).unwrap_err();
        assert!(error.to_string().contains("apt install valgrind"), "{error}");
    }

    #[test]
    fn each_event_has_one_name_and_a_meaning() {
        for (i, (theirs, ours, _)) in EVENTS.iter().enumerate() {
            assert!(EVENTS[..i].iter().all(|(t, o, _)| t != theirs && o != ours));
            assert!(meaning(ours).is_some());
        }
    }
}
