//! An outside program on the same file: a line for the shell, in which `{file}` stands for the path.
//!
//! Its time includes its start; its standard output must be the expected result, byte for byte.

use std::process::{Command, Stdio};

use fathom_measure::contender::{Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;

use super::workload::Text;

pub(super) fn prepared<'w>(line: &str, workload: &'w Text) -> Preparation<'w> {
    let path = workload.path.to_str();
    let path = path.ok_or_else(|| Unsupported("the file's name is no UTF-8".to_owned()))?;
    let quoted = format!("'{}'", path.replace('\'', "'\\''"));
    let line = line.replace("{file}", &quoted);
    run(&line).map_err(Unsupported)?;
    Ok(timed(
        workload,
        move |_| run(&line).expect("it could the first time"),
        |text| Digest::of_bytes(text),
    ))
}

fn run(line: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(format!("fails: {}: {}", output.status, words.lines().next().unwrap_or("no message")))
}
