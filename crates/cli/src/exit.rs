//! How a run ends: the exit code and the last words on stderr.

use std::io::{self, Write};
use std::process::ExitCode;

use fathom_aggregate::{self as aggregate, generate::GenerateError, state::StateError};
use fathom_haversine as haversine;
use fathom_keys::WriteError;
use fathom_machine::counter::metric::GroupError;
use fathom_measure::bench::BenchError;
use fathom_measure::result::ReadError;
use fathom_measure::sample::Failure;
use fathom_measure::workload::SpecError;
use fathom_report::import::ImportError;

use crate::cmd::aggregate::NotThere;
use crate::interrupt;
use crate::key_file::BadKeys;
use crate::measuring::TooFew;
use crate::output::is_broken_pipe;

/// A run that did what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All of it.
    Done,
    /// All that could be done: something was skipped or differed, or a gate found something slower.
    Incomplete,
}

/// Turns the end of a run into the exit code of the process, after saying on stderr what went
/// wrong. A reader that closed the pipe is no error: the run ends quietly.
pub(crate) fn report(end: anyhow::Result<Exit>) -> ExitCode {
    let error = match end {
        // What there was by then has been shown.
        Ok(_) if interrupt::happened() => return ExitCode::from(130),
        Err(_) if interrupt::happened() => {
            say!("fathom: interrupted");
            return ExitCode::from(130);
        }
        Ok(Exit::Done) => return ExitCode::SUCCESS,
        Ok(Exit::Incomplete) => return ExitCode::from(1),
        Err(error) => error,
    };
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Help and version arrive here too; clap knows which stream and code each wants.
        let printed = usage.print().and_then(|()| io::stdout().flush());
        return match printed {
            Err(error) if !usage.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
                say!("fathom: cannot write stdout: {error}");
                ExitCode::from(4)
            }
            _ => ExitCode::from(usage.exit_code().try_into().unwrap_or(2)),
        };
    }
    if is_broken_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    // Files, programs and workers are quoted in it.
    say!("fathom: {}", fathom_report::escape::lines(&words(&error)));
    ExitCode::from(code(&error))
}

/// The error and its causes, each said once: some messages end with their cause.
fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(|cause| cause.to_string()) {
        if words.is_empty() {
            words = cause;
        } else if !words.ends_with(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

fn code(error: &anyhow::Error) -> u8 {
    if let Some(aggregate::Error::Interrupted) = error.downcast_ref() {
        130
    } else if error.is::<TooFew>() {
        1
    } else if error.chain().any(|cause| is_failed_io(cause) || is_failed_program(cause)) {
        4
    } else if error.chain().any(is_bad_data) {
        3
    } else {
        2
    }
}

/// Whether something could not be read or written. What was read and is damaged is bad data.
fn is_failed_io(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error: Option<&io::Error> = cause.downcast_ref();
    error.is_some_and(|error| error.kind() != io::ErrorKind::InvalidData)
}

/// Whether who should have answered did not, as for want of descriptors; where a file or a parameter is why, the error is
/// that of the file or the parameter.
fn is_failed_program(cause: &(dyn std::error::Error + 'static)) -> bool {
    let failure = match cause.downcast_ref() {
        Some(BenchError::Reference { failure, .. }) => Some(failure),
        _ => cause.downcast_ref(),
    };
    failure.is_some_and(|failure| !matches!(failure, Failure::Unsupported { .. }))
}

fn is_bad_data(cause: &(dyn std::error::Error + 'static)) -> bool {
    let aggregated: Option<&aggregate::Error> = cause.downcast_ref();
    // Reading and writing fail as I/O errors, which were looked for before: those that are left are of damaged input.
    cause.is::<io::Error>()
        || cause.is::<haversine::Error>()
        || cause.is::<StateError>()
        || cause.is::<GroupError>()
        || cause.is::<BadKeys>()
        || cause.is::<NotThere>()
        || cause.is::<serde_json::Error>()
        || cause.is::<ReadError>()
        || cause.is::<ImportError>()
        || aggregated.is_some_and(|error| !matches!(error, aggregate::Error::Interrupted))
        || matches!(cause.downcast_ref(), Some(SpecError::File { .. }))
        || matches!(cause.downcast_ref(), Some(WriteError::Key { .. }))
        || matches!(
            cause.downcast_ref(),
            Some(
                GenerateError::NoName { .. }
                    | GenerateError::NotATemperature { .. }
                    | GenerateError::EmptyList
            )
        )
}
