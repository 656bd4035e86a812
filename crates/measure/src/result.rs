//! The schema of a saved run: everything needed to judge a number later. Described for other
//! programs in `docs/results.md`.
//!
//! One run is one JSON file. What follows a measurement (tables, plots, differences, history) is a
//! pure function of this. Readers of a version accept fields they do not know.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::compare::Judged;
use crate::contender::{Keeps, Metric};
use crate::digest::Digest;
use crate::rounds::{Measured, Plan, Roles};
use crate::stats::median;
use crate::workload::{Spec, Work};

/// The name of the schema, in every file.
pub const SCHEMA: &str = "fathom-run";
/// Its version. Raised when a reader of the old one would misread a new file.
pub const VERSION: u32 = 1;

/// A saved run of a measuring command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The machine, as `fathom machine --format json` describes it.
    #[serde(default)]
    pub machine: serde_json::Value,
    /// What was measured, in order.
    pub cases: Vec<Case>,
    /// What the user should know about the run as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One measurement: contenders on one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// What follows from it.
    pub judged: Judged,
    /// What the user should know about this measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A contender in a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id in the family, or the command.
    pub id: String,
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
    #[error("{path}: not a saved run: {error}")]
    Schema {
        /// The file.
        path: String,
        /// What is wrong where.
        error: serde_json::Error,
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

impl Run {
    /// Reads a saved run.
    ///
    /// # Errors
    /// A file that cannot be read, is no saved run, or one of a later version.
    pub fn read(path: &Path) -> Result<Run, ReadError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
            version: u32,
        }
        let shown = || path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|source| ReadError::Io { path: shown(), source })?;
        let wrong = |error| ReadError::Schema { path: shown(), error };
        let Head { schema, version } = serde_json::from_str(&text).map_err(wrong)?;
        if schema != SCHEMA || version > VERSION {
            return Err(ReadError::Version { path: shown(), schema, version });
        }
        serde_json::from_str(&text).map_err(wrong)
    }

    /// The run as JSON text, one line per sample set rather than one per number.
    ///
    /// # Errors
    /// None in practice: every field of the schema can be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

impl Case {
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

    /// Moves what is the same in every sample out of the samples: the check, the peaks, the counts.
    pub fn compact(&mut self) {
        for (number, row) in self.contenders.iter_mut().enumerate() {
            let mut counts: Vec<Vec<f64>> = vec![Vec::new(); row.counters.len()];
            for round in &mut self.measured.rounds {
                let Some(sample) = &mut round.samples[number] else { continue };
                row.peak_bytes = row.peak_bytes.max(std::mem::take(&mut sample.peak_bytes));
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
