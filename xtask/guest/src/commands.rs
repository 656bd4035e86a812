//! Runs a list of commands, one after the other, from `/bin`, and says how each ended.
//!
//! ```text
//! $ NAME=VALUE… PROGRAM ARGUMENT…
//! what the program wrote to its standard output, unchanged
//! ! what it wrote to its standard error, line by line
//! = CODE | = SIGNAL or why not at all
//! ```

use std::io::Write;
use std::process::Command;

use fathom_guest::Line;

/// Runs every line of `list`.
pub(crate) fn run_all(list: &str) {
    for line in list.lines().filter(|line| !line.trim().is_empty()) {
        println!("$ {line}");
        match run(line) {
            Ok(ended) => println!("= {ended}"),
            Err(error) => println!("= not run: {error}"),
        }
    }
}

fn run(line: &str) -> std::io::Result<String> {
    let Line { environment, program, arguments } = Line::read(line);
    let mut command = Command::new(program);
    let output = command.args(arguments).env("PATH", "/bin").envs(environment).output()?;
    std::io::stdout().write_all(&output.stdout)?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        println!("! {line}");
    }
    let status = output.status;
    Ok(status.code().map_or_else(|| status.to_string(), |code| code.to_string()))
}
