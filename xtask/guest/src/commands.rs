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

/// Runs every line of `list`: assignments for the environment, a program, its arguments, separated
/// by blanks; single quotes keep blanks in a word. There is no shell.
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
    let mut words = words(line).into_iter().peekable();
    let mut environment = Vec::new();
    while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
        environment.push((name.to_owned(), value.to_owned()));
        words.next();
    }
    let mut command = Command::new(words.next().unwrap_or_default());
    let output = command.args(words).env("PATH", "/bin").envs(environment).output()?;
    std::io::stdout().write_all(&output.stdout)?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        println!("! {line}");
    }
    let status = output.status;
    Ok(status.code().map_or_else(|| status.to_string(), |code| code.to_string()))
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
