//! One timing and everything that was seen around it; and the ways in which a contender can fail to
//! give one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// One timing of some iterations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Monotonic clock over the timed regions, in nanoseconds.
    pub wall_ns: u64,
    /// Processor time over the same regions, in nanoseconds: of the thread, of the process when the
    /// workload uses threads, of the child and its children for a command. `None` where the worker
    /// cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The part of `cpu_ns` outside of the kernel, for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ns: Option<u64>,
    /// What a command ended with, where that was accepted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exit_code: i32,
    /// The check of the last timed iteration; `None` for a command whose output is not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Digest>,
    /// What disturbed it.
    #[serde(default, skip_serializing_if = "Tags::is_calm")]
    pub tags: Tags,
    /// The most memory ever resident in the process up to now, in bytes; 0 when unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub peak_bytes: u64,
    /// Event counts over the timed regions, in the order the worker announced them; `None` for an
    /// event that did not count this time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<Option<f64>>,
}

/// What disturbed a sample. Tags explain and stratify; no single sample is ever dropped for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tags {
    /// The processor was given up.
    pub voluntary_switches: u64,
    /// The processor was taken away.
    pub involuntary_switches: u64,
    /// Page faults served without a device.
    pub minor_faults: u64,
    /// Page faults that waited for a device.
    pub major_faults: u64,
    /// Moves to another processor; `None` when unknown, as for commands, whose ends the kernel
    /// reports without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrations: Option<u64>,
}

impl Tags {
    /// Whether nothing at all was seen.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        let migrations = self.migrations.filter(|moves| *moves > 0);
        Tags { migrations, ..*self } == Tags::default()
    }
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// Why a contender has no timing. It costs the contender its row and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Failure {
    /// It ended by itself when it should have answered.
    #[error("crashed: {how}")]
    Crashed {
        /// Signal or exit code, and the last words on its standard error.
        how: String,
    },
    /// It did not answer in time and was ended.
    #[error("hung: no answer within {limit_ms} ms")]
    Hung {
        /// How long it was given, in milliseconds.
        limit_ms: u64,
    },
    /// It asked for more memory than it was allowed.
    #[error("out of memory: {how}")]
    OutOfMemory {
        /// What was seen.
        how: String,
    },
    /// Its digest is not the reference's.
    #[error("wrong answer: its digest is {found}, the reference's {expected}")]
    WrongAnswer {
        /// The reference's digest.
        expected: String,
        /// The contender's.
        found: String,
    },
    /// It does not take part in this workload.
    #[error("does not take part: {reason}")]
    Unsupported {
        /// Its own words.
        reason: String,
    },
    /// The user ended the measurement before it answered.
    #[error("interrupted")]
    Interrupted,
    /// It could not be started, or said something that is not in the protocol.
    #[error("broken: {what}")]
    Broken {
        /// What was wrong.
        what: String,
    },
}

impl Failure {
    /// That it did not answer within `limit`, which is rounded up to milliseconds.
    pub(crate) fn hung(limit: Duration) -> Failure {
        Failure::Hung { limit_ms: limit.as_nanos().div_ceil(1_000_000) as u64 }
    }

    /// What happened in few words, with which the whole begins.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Crashed { .. } => "crashed",
            Failure::Hung { .. } => "hung",
            Failure::OutOfMemory { .. } => "out of memory",
            Failure::WrongAnswer { .. } => "wrong answer",
            Failure::Unsupported { .. } => "does not take part",
            Failure::Interrupted => "interrupted",
            Failure::Broken { .. } => "broken",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_below_a_millisecond_is_not_said_to_be_zero() {
        for (limit_us, limit_ms) in [(500, 1), (1000, 1), (1001, 2)] {
            assert_eq!(Failure::hung(Duration::from_micros(limit_us)), Failure::Hung { limit_ms });
        }
    }

    #[test]
    fn a_failure_begins_with_its_kind() {
        let how = || "so".to_owned();
        let all = [
            Failure::Crashed { how: how() },
            Failure::Hung { limit_ms: 1 },
            Failure::OutOfMemory { how: how() },
            Failure::WrongAnswer { expected: how(), found: how() },
            Failure::Unsupported { reason: how() },
            Failure::Interrupted,
            Failure::Broken { what: how() },
        ];
        for failure in all {
            assert!(failure.to_string().starts_with(failure.kind()), "{failure}");
        }
    }
}
