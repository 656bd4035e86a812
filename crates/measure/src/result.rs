//! The schema of a saved run: everything needed to judge a number later. Described for other
//! programs in `docs/results.md`.
//!
//! One run is one JSON file. What follows a measurement (tables, plots, differences, history) is a
//! pure function of this. Readers of a version accept fields they do not know.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::compare::{Judged, judge};
use crate::contender::{Keeps, Metric};
use crate::digest::Digest;
use crate::plan::{Measured, Plan, Roles};
use crate::stats::median;
use crate::workload::{Spec, Work};

/// The name of the schema, in every file.
pub const SCHEMA: &str = "fathom-run";
/// Its version. Raised when a reader of the old one would misread a new file.
pub const VERSION: u32 = 1;

/// A saved run of a measuring command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
    /// The command, from its name on, as it was typed.
    pub command: Vec<String>,
    /// When it started: RFC 3339, UTC.
    pub started: String,
    /// Name and version of the program that measured.
    pub program: String,
    /// How that program was built.
    #[serde(default)]
    pub build: Build,
    /// The instruction level its own kernels ran at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub level: String,
    /// The machine, as `fathom machine --format json` describes it.
    #[serde(default)]
    pub machine: serde_json::Value,
    /// What was measured, in order.
    pub cases: Vec<Case>,
    /// What the user should know about the run as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What a command concluded beside the verdicts, in a form of its own that names itself by `schema`:
    /// `fathom-kv` has portrait, rows and advice. Null where there is nothing.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub answer: serde_json::Value,
}

/// What a program was built from. Empty where that was not known, as in older files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Build {
    /// The commit, in full.
    pub commit: String,
    /// Whether a source differed from that commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Cargo features.
    pub features: Vec<String>,
    /// Cargo profile and level of optimisation.
    pub profile: String,
    /// Target triple.
    pub target: String,
    /// `rustc --version`.
    pub rustc: String,
}

impl fmt::Display for Build {
    /// One line; nothing where nothing is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Build::default() {
            return Ok(());
        }
        let commit = self.commit.get(..12).unwrap_or("not known");
        let changed = if self.dirty == Some(true) { " with changes" } else { "" };
        let features = if self.features.is_empty() { "none" } else { &self.features.join(", ") };
        write!(f, "commit {commit}{changed}, {}, features {features}, ", self.profile)?;
        write!(f, "{}, {}", self.rustc, self.target)
    }
}

/// One measurement: contenders on one workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The family, or `commands`.
    pub family: String,
    /// The workload, every parameter present. For commands: the parameters of the scan.
    pub workload: Spec,
    /// What one iteration works through.
    #[serde(default)]
    pub work: Work,
    /// The digest all contenders agreed on; `None` where nothing was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Digest>,
    /// All contenders by number, the twin and the empty one included.
    pub contenders: Vec<Row>,
    /// Which of them plays which part.
    pub roles: Roles,
    /// The settings.
    pub plan: Plan,
    /// What happened.
    pub measured: Measured,
    /// What follows from it: written for other programs; whoever reads a run judges it again.
    #[serde(skip_deserializing)]
    pub judged: Judged,
    /// Whose measurement it is, if not ours; nothing in it was interleaved then.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// What the user should know about this measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A contender in a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id in the family, or the command.
    pub id: String,
    /// The values of parameters it stands for, among contenders that differ by them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// What is known about it.
    #[serde(default)]
    pub about: About,
    /// The worker that ran it, by its own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub worker: String,
    /// Where the data was, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub data: String,
    /// The most memory ever resident in its process, in bytes; 0 when unknown.
    #[serde(default)]
    pub peak_bytes: u64,
    /// Numbers beside time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Event counts per iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counter>,
    /// One line for each reason why an event was not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters_missing: Vec<String>,
}

/// What is known about a contender besides its figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// Its version.
    pub version: String,
    /// One sentence on what it is.
    pub summary: String,
    /// Where to read more.
    pub link: String,
    /// SPDX expression.
    pub licence: String,
    /// The hardware path it takes here.
    pub hardware: String,
    /// What it does with the data.
    pub keeps: Keeps,
    /// Where the comparison is unfair.
    pub caveat: String,
    /// How a program writes it: see [`Meta::code`](crate::contender::Meta::code).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The line of `Cargo.toml` that brings it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manifest: String,
}

/// An event's count per iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Which event.
    pub event: String,
    /// Median over the samples, or the one count of a simulation.
    pub per_iteration: f64,
    /// Where it comes from: `hardware`, `software` or `simulated`.
    pub source: String,
}

/// What is wrong with JSON, for who says where it is before it.
#[must_use]
pub fn without_place(error: &serde_json::Error) -> String {
    let mut words = error.to_string();
    words.truncate(words.rfind(" at line ").unwrap_or(words.len()));
    words
}

/// A file that is no run this version can read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot read {path}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is not JSON of this schema.
    #[error("{path}:{}:{}: not a saved run: {}", error.line(), error.column().max(1), without_place(error))]
    Schema {
        /// The file.
        path: String,
        /// What is wrong where.
        error: serde_json::Error,
    },
    /// Its parts contradict each other.
    #[error("{path}: not a saved run: case {case}: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// Which case, from 1.
        case: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// It is of another schema or a later version.
    #[error("{path}: {schema} version {version}; this program reads {SCHEMA} up to {VERSION}")]
    Version {
        /// The file.
        path: String,
        /// The schema it names.
        schema: String,
        /// The version it names.
        version: u32,
    },
}

/// The command line of this process, for [`Run::command`]; what of it is no Unicode, of which only files have names, is
/// shown as near as it can be.
#[must_use]
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

impl Run {
    /// Reads a saved run, be it behind a byte order mark, and judges it: verdicts are functions of the samples, by the present method,
    /// whichever version measured.
    ///
    /// # Errors
    /// A file that cannot be read, is no saved run, or one of a later version.
    pub fn read(path: &Path) -> Result<Run, ReadError> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object with `schema` and `version`")]
        struct Head {
            schema: String,
            version: u32,
        }
        let shown = || path.display().to_string();
        let text = fs::read(path).map_err(|source| ReadError::Io { path: shown(), source })?;
        let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
        let wrong = |error| ReadError::Schema { path: shown(), error };
        let Head { schema, version } = serde_json::from_slice(text).map_err(wrong)?;
        if schema != SCHEMA || version > VERSION {
            return Err(ReadError::Version { path: shown(), schema, version });
        }
        let mut run: Run = serde_json::from_slice(text).map_err(wrong)?;
        for (number, case) in run.cases.iter_mut().enumerate() {
            let damaged = |what| ReadError::Damaged { path: shown(), case: number + 1, what };
            case.consistent().map_err(damaged)?;
            // Before commands were marked, the family told them.
            case.plan.fresh |= case.family == "commands";
            case.judge();
        }
        Ok(run)
    }

    /// The run as JSON text, in one line.
    ///
    /// # Errors
    /// None in practice: every field of the schema can be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

impl Case {
    /// Judges it by its samples. Of what another harness measured nobody counted more than time.
    pub fn judge(&mut self) {
        self.judged = judge(&self.measured, self.roles, &self.plan);
        if !self.source.is_empty() {
            self.judged.usage.fill(None);
        }
    }

    /// The contenders users asked for, by number: neither twin nor empty one.
    pub fn entrants(&self) -> impl Iterator<Item = (usize, &Row)> {
        let hidden = [self.roles.twin, self.roles.empty];
        self.contenders.iter().enumerate().filter(move |(i, _)| !hidden.contains(&Some(*i)))
    }

    /// The workload as a title: `checksum crc32c size=64K`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.family, self.workload).trim().to_owned()
    }

    /// Whether all parts speak of the same contenders.
    fn consistent(&self) -> Result<(), &'static str> {
        let count = self.contenders.len();
        let Roles { baseline, twin, twin_of, empty, .. } = self.roles;
        let roles = [Some(baseline), twin, Some(twin_of), empty];
        if roles.iter().flatten().any(|&role| role >= count) {
            return Err("a role of a contender that is not there");
        }
        if [twin, empty].contains(&Some(baseline)) {
            return Err("a baseline that is not shown");
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !self.family.chars().all(is_name) {
            return Err("a family that is no name");
        }
        if self.measured.failures.len() != count {
            return Err("not as many outcomes as contenders");
        }
        if self.measured.iterations == 0 {
            return Err("samples of no iteration");
        }
        let rounds = &self.measured.rounds;
        if rounds.iter().any(|round| round.samples.len() != count) {
            return Err("a round with more or fewer samples than contenders");
        }
        if rounds.iter().any(|round| round.process as usize >= rounds.len()) {
            return Err("more sets of processes than rounds");
        }
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        let shares = [self.plan.alpha, self.measured.alpha_share];
        if self.plan.alpha >= 1.0 || !shares.into_iter().all(is_share) {
            return Err("an error budget that is no share");
        }
        Ok(())
    }

    /// Moves what is the same in every sample out of the samples: the check, the peaks, the counts.
    pub fn compact(&mut self) {
        for (number, row) in self.contenders.iter_mut().enumerate() {
            let mut counts: Vec<Vec<f64>> = vec![Vec::new(); row.counters.len()];
            for round in &mut self.measured.rounds {
                let Some(sample) = &mut round.samples[number] else { continue };
                row.peak_bytes = row.peak_bytes.max(sample.peak_bytes);
                // A worker's only grows; each run of a command has its own.
                if !self.plan.fresh {
                    sample.peak_bytes = 0;
                }
                sample.check = None;
                for (all, count) in counts.iter_mut().zip(std::mem::take(&mut sample.counts)) {
                    all.extend(count);
                }
            }
            let iterations = self.measured.iterations.max(1) as f64;
            for (counter, all) in row.counters.iter_mut().zip(counts) {
                counter.per_iteration = median(&all).map_or(f64::NAN, |n| n / iterations);
            }
            row.counters.retain(|counter| counter.per_iteration.is_finite());
        }
    }
}
