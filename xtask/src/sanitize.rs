//! `cargo xtask sanitize`: the tests under tools that see what a test cannot: Miri (undefined
//! behaviour), the address sanitizer (memory) and the thread sanitizer (races).
//!
//! Needs a nightly toolchain with `miri` and `rust-src`; what it could not run it says, and fails.
//! Miri interprets, some thousand times slower than the processor, and knows no vector kernels: it
//! takes the portable paths of the crates, without their longest tests.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, root};
use crate::skip;

/// What is run where.
struct Session {
    tool: Tool,
    package: &'static str,
    /// Which targets, then which tests of them: arguments of `cargo test`.
    tests: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Tool {
    /// An interpreter that knows what is undefined
    Miri,
    /// Memory that is not there, or no longer
    Address,
    /// Threads that meet unprotected
    Thread,
}

/// What is not run, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("Miri on machine, measure", "system calls and processes, which it does not know"),
    ("Miri on contenders", "foreign code; own structures run under both sanitizers instead"),
    ("Miri on vector kernels", "it knows few of their instructions; levels are forced to scalar"),
    ("sanitizers on C and C++ contenders", "built by their own scripts, without instrumentation"),
];

const fn session(tool: Tool, package: &'static str, tests: &'static [&'static str]) -> Session {
    Session { tool, package, tests }
}

/// In the order they are run.
const SESSIONS: &[Session] = &[
    session(Tool::Miri, "fathom-random", &["--lib"]),
    session(Tool::Miri, "fathom-report", &["--lib"]),
    session(Tool::Miri, "fathom-keys", &["--lib"]),
    session(Tool::Miri, "fathom-json", &["--lib", "--", "reference", "number", "string", "float"]),
    session(Tool::Miri, "fathom-haversine", &["--lib", "--", "sum", "formula", "block"]),
    session(Tool::Miri, "fathom-aggregate", &["--lib", "--", "number", "merge", "format", "key"]),
    session(Tool::Address, "fathom-json", &["--lib", "--tests"]),
    session(Tool::Address, "fathom-keys", &["--lib", "--tests"]),
    session(Tool::Address, "fathom-haversine", &["--lib", "--tests"]),
    session(Tool::Address, "fathom-aggregate", &["--lib", "--tests"]),
    session(Tool::Address, "fathom-measure", &["--lib", "--tests"]),
    session(Tool::Address, "fathom-contenders", &["--lib", "--tests"]),
    session(Tool::Thread, "fathom-aggregate", &["--lib", "--tests"]),
    session(Tool::Thread, "fathom-haversine", &["--lib", "--tests"]),
    session(Tool::Thread, "fathom-measure", &["--lib", "--tests"]),
    session(Tool::Thread, "fathom-contenders", &["--lib", "--", "map::", "tree::", "trie::"]),
];

/// Runs the sessions of `tool`, or all, whose package contains `only`.
pub(crate) fn run_all(tool: Option<Tool>, only: &str) -> Result<()> {
    ensure_nightly()?;
    let is_wanted = |session: &&Session| {
        tool.is_none_or(|tool| tool == session.tool) && session.package.contains(only)
    };
    let sessions: Vec<&Session> = SESSIONS.iter().filter(is_wanted).collect();
    ensure!(!sessions.is_empty(), "nothing is called {only:?}");
    let mut failed = 0;
    for session in &sessions {
        let start = Instant::now();
        let status = command(session).status().context("cannot run cargo")?;
        let word = if status.success() { "ok" } else { "FAILED" };
        failed += usize::from(!status.success());
        println!(
            "{word}: {:?}: {} {} ({:.0} s)",
            session.tool,
            session.package,
            session.tests.join(" "),
            start.elapsed().as_secs_f64()
        );
    }
    for (what, why) in NOT_RUN {
        println!("not run: {what}: {why}");
    }
    ensure!(failed == 0, "{failed} of {} sessions failed", sessions.len());
    Ok(())
}

fn ensure_nightly() -> Result<()> {
    for tool in ["--version", "miri --version"] {
        let mut command = Command::new("cargo");
        command.arg("+nightly").args(tool.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
        if !command.status().is_ok_and(|status| status.success()) {
            return Err(skip(format!("no nightly toolchain with miri (cargo +nightly {tool})")));
        }
    }
    Ok(())
}

/// The command of a session; each tool has a build folder of its own.
fn command(session: &Session) -> Command {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let mut command = Command::new("cargo");
    command.current_dir(root()).arg("+nightly").env_remove("CARGO").env_remove("RUSTC");
    command.env_remove("RUSTUP_TOOLCHAIN");
    command.env("CARGO_TARGET_DIR", cache().join("sanitize").join(format!("{:?}", session.tool)));
    match session.tool {
        Tool::Miri => {
            command.arg("miri").env("FATHOM_LEVEL", "scalar").env("PROPTEST_CASES", "4");
            command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        }
        Tool::Address => {
            command.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0");
        }
        // The thread sanitizer has to see the standard library's own accesses.
        Tool::Thread => {
            command.env("RUSTFLAGS", "-Zsanitizer=thread");
        }
    }
    command.args(["test", "--locked", "--package", session.package]);
    if session.tool != Tool::Miri {
        command.args(["--target", TARGET]);
    }
    if session.tool == Tool::Thread {
        command.arg("-Zbuild-std");
    }
    command.args(session.tests);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_sessions_and_every_session_is_a_package_here() {
        for tool in [Tool::Miri, Tool::Address, Tool::Thread] {
            assert!(SESSIONS.iter().any(|session| session.tool == tool), "{tool:?}");
        }
        for session in SESSIONS {
            let folder = session.package.strip_prefix("fathom-").unwrap();
            assert!(root().join("crates").join(folder).is_dir(), "{}", session.package);
        }
    }
}
