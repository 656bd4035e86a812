//! What several tests of the command start it with.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `fathom` with these words in a folder, `input` on its standard input.
pub(crate) fn piped<S: AsRef<OsStr>>(
    folder: &Path,
    words: impl IntoIterator<Item = S>,
    input: &[u8],
) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(words).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A child that fails early closes its end; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}
