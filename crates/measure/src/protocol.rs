//! What conductor and worker say to each other: lines of JSON, one request, one reply. The words
//! only; `worker` answers, `conductor` asks. Described for other languages in `docs/protocol.md`.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::contender::Metric;
use crate::sample::Sample;
use crate::workload::{Spec, Work};

/// The version of the protocol. A worker that speaks another one is refused.
pub const VERSION: u32 = 1;

/// What the conductor asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// Who are you, and what have you got?
    Hello {
        /// [`VERSION`].
        protocol: u32,
    },
    /// Get a contender ready for a workload.
    Open {
        /// The family.
        family: String,
        /// The contender's id; `null` means the empty workload that does nothing.
        contender: Option<String>,
        /// The workload, every parameter present.
        workload: Spec,
        /// The bytes of the workload's file, or the prepared ones, in an inherited shared segment,
        /// if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<SharedData>,
        /// Event counters to read around each sample, by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<String>,
    },
    /// Run `warm` iterations untimed, then time `iterations`.
    Sample {
        /// Iterations in the timed region.
        iterations: u64,
        /// Iterations before it.
        warm: u64,
    },
    /// Numbers beside time, after the last sample.
    Metrics,
    /// The contender is no longer needed; another one may be opened.
    Close,
}

/// Where the bytes of the workload's file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedData {
    /// Descriptor number of a sealed memory file that the worker inherited.
    pub descriptor: i32,
    /// How many of its bytes are the data.
    pub bytes: usize,
    /// They are not the file's: see [`Workload::prepared`](crate::workload::Workload::prepared).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prepared: bool,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Hello`].
    Hello {
        /// The version of the protocol it speaks.
        protocol: u32,
        /// The worker's name and version, for the report.
        program: String,
        /// What it can open. The built-in worker leaves this out: its conductor knows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        contenders: Vec<Offered>,
    },
    /// To [`Request::Open`].
    Opened {
        /// What one iteration works through.
        #[serde(default)]
        work: Work,
        /// The workload uses threads, waits or sleeps.
        #[serde(default)]
        leaves_the_thread: bool,
        /// The events that are counted, in the order of the samples' counts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<String>,
        /// One line for each reason why an event is not counted.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
        /// Where the data is, in words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        data: String,
    },
    /// To [`Request::Open`]: the contender does not take part.
    Unsupported {
        /// Why not.
        reason: String,
    },
    /// To [`Request::Sample`].
    Sample(Sample),
    /// To [`Request::Metrics`].
    Metrics {
        /// The numbers.
        metrics: Vec<Metric>,
    },
    /// To [`Request::Close`].
    Closed,
    /// To anything: it could not be done.
    Error {
        /// What went wrong.
        message: String,
    },
}

impl Reply {
    /// What it is called on the wire.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Reply::Hello { .. } => "hello",
            Reply::Opened { .. } => "opened",
            Reply::Unsupported { .. } => "unsupported",
            Reply::Sample(_) => "sample",
            Reply::Metrics { .. } => "metrics",
            Reply::Closed => "closed",
            Reply::Error { .. } => "error",
        }
    }
}

/// A contender of an outside worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offered {
    /// The family it belongs to.
    pub family: String,
    /// Its name, unique in that worker's family.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// One sentence on what it is.
    #[serde(default)]
    pub summary: String,
    /// It wants its data as the family prepares it for others, instead of the file's bytes: see
    /// [`Workload::prepared`](crate::workload::Workload::prepared).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prepared: bool,
    /// How a program in its language writes it, lines with `K` and `V` for the types of keys and values;
    /// empty where nobody can have it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// A line that says what these need; empty where nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manifest: String,
}

/// Writes one message as one line and flushes.
///
/// # Errors
/// What the stream answers.
pub fn send<M: Serialize>(out: &mut impl Write, message: &M) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

/// Reads the next message; `None` at the end of the stream.
///
/// # Errors
/// `InvalidData` for a line that is no message, otherwise what the stream answers.
pub fn receive<M: for<'de> Deserialize<'de>>(input: &mut impl BufRead) -> io::Result<Option<M>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    match serde_json::from_str(&line) {
        Ok(message) => Ok(Some(message)),
        Err(error) => {
            let shown: String = line.trim_end().chars().take(200).collect();
            let what = format!("not a message of protocol {VERSION}: {shown:?} ({error})");
            Err(io::Error::new(io::ErrorKind::InvalidData, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    /// The examples of `docs/protocol.md` are messages, and messages look as they do there.
    #[test]
    fn the_documented_lines_are_the_protocol() {
        let document = include_str!("../../../docs/protocol.md");
        let (mut requests, mut replies) = (0, 0);
        for line in document.lines() {
            if let Some(text) = line.strip_prefix("→ ") {
                let request: Request = serde_json::from_str(text).expect(text);
                assert_eq!(serde_json::to_string(&request).unwrap(), text);
                requests += 1;
            } else if let Some(text) = line.strip_prefix("← ") {
                let reply: Reply = serde_json::from_str(text).expect(text);
                assert_eq!(serde_json::to_string(&reply).unwrap(), text);
                assert!(text.starts_with(&format!(r#"{{"answer":"{}""#, reply.name())), "{text}");
                replies += 1;
            }
        }
        assert!(requests >= 5 && replies >= 7, "{requests} {replies}");
    }

    #[test]
    fn a_minimal_sample_is_enough() {
        let text = r#"{"answer":"sample","wall_ns":12,"check":"00000000000000ff"}"#;
        let Reply::Sample(sample) = serde_json::from_str(text).unwrap() else { panic!() };
        assert_eq!(sample.wall_ns, 12);
        assert_eq!(sample.check, Some(Digest(255)));
        assert_eq!(sample.cpu_ns, None);
    }

    #[test]
    fn what_is_no_message_is_an_error_with_the_line() {
        let error = receive::<Request>(&mut &b"hello\n"[..]).unwrap_err();
        assert!(error.to_string().contains("hello"), "{error}");
        assert!(receive::<Request>(&mut &b""[..]).unwrap().is_none());
    }
}
