//! `cargo xtask sanitize`: the tests under tools that see what a test cannot: Miri (undefined
//! behaviour), the address sanitizer (memory) and the thread sanitizer (races).
//!
//! The address sanitizer runs with whatever toolchain there is: its library comes with every one, and a stable one
//! may use unstable flags here. The others need more ([`absent`]); what cannot run is said, and is an error in the end.
//! Miri interprets, some thousand times slower than the processor, and knows no vector kernels: it
//! takes the portable paths of the crates, without their longest tests.

use std::path::Path;
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
    tests: &'static str,
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
    ("Miri on bench, cli, input, keys, measure, random, report", "the compiler knows them safe"),
    ("Miri on contenders", "foreign code; own structures run under both sanitizers instead"),
    ("Miri on machine and vector kernels", "it knows few calls and few instructions"),
    (
        "threads on machine",
        "its handler puts zeros where others read: what it is for is a race to the tool",
    ),
    ("sanitizers on C and C++ contenders", "built by their own scripts, without instrumentation"),
];

const fn session(tool: Tool, package: &'static str, tests: &'static str) -> Session {
    Session { tool, package, tests }
}

/// All but what counts the process's memory: most of it would be the sanitizer's.
const UNCOUNTED: &str = "--lib --tests -- --skip a_memory_limit_bounds_the_peak --skip a_mapped_file_takes_little_memory";

/// Tests of the tables and of the loops over them which take seconds.
const SMALL: &str = "--lib -- kernel::plain kernel::fields kernel::tests::the key:: pool:: shard::tests::the \
    table::long::tests::folding differ_in_the_middle all_collide kilobyte table::tests waiting::";

/// In the order they are run.
const SESSIONS: &[Session] = &[
    session(Tool::Miri, "fathom-json", "--lib -- float number::tests::w pattern string"),
    session(Tool::Miri, "fathom-haversine", "--lib -- alike engine pairs:: session sum::"),
    session(Tool::Miri, "fathom-aggregate", SMALL),
    session(Tool::Address, "fathom-json", "--lib --tests"),
    session(Tool::Address, "fathom-keys", "--lib --tests"),
    session(Tool::Address, "fathom-input", "--lib --features tables"),
    session(Tool::Address, "fathom-haversine", "--lib --tests"),
    session(Tool::Address, "fathom-aggregate", UNCOUNTED),
    session(Tool::Address, "fathom-measure", "--lib --tests"),
    session(Tool::Address, "fathom-contenders", "--lib --tests"),
    session(Tool::Thread, "fathom-json", "--lib --tests"),
    session(Tool::Thread, "fathom-input", "--lib --features tables,remote"),
    session(Tool::Thread, "fathom-aggregate", UNCOUNTED),
    session(Tool::Thread, "fathom-haversine", "--lib --tests"),
    session(Tool::Thread, "fathom-measure", "--lib --tests"),
    session(Tool::Thread, "fathom-contenders", "--lib"),
];

/// Runs the sessions of `tool`, or all, whose package contains `only`.
pub(crate) fn run_all(tool: Option<Tool>, only: &str) -> Result<()> {
    let is_wanted = |session: &&Session| {
        tool.is_none_or(|tool| tool == session.tool) && session.package.contains(only)
    };
    let sessions: Vec<&Session> = SESSIONS.iter().filter(is_wanted).collect();
    ensure!(!sessions.is_empty(), "nothing is called {only:?}");
    let is_asked = |tool: &Tool| sessions.iter().any(|session| session.tool == *tool);
    let tools = [Tool::Miri, Tool::Address, Tool::Thread].into_iter().filter(is_asked);
    let absences: Vec<_> = tools.filter_map(|tool| Some((tool, absent(tool)?))).collect();
    let can_run = |session: &&&Session| absences.iter().all(|(tool, _)| *tool != session.tool);
    let mut failed = 0;
    for session in sessions.iter().filter(can_run) {
        let start = Instant::now();
        let status = command(session).status().context("cannot run cargo")?;
        let word = if status.success() { "ok" } else { "FAILED" };
        failed += usize::from(!status.success());
        let Session { tool, package, tests } = session;
        let seconds = start.elapsed().as_secs_f64();
        println!("{word}: {tool:?}: {package} {tests} ({seconds:.0} s)");
    }
    for (what, why) in NOT_RUN {
        println!("not run: {what}: {why}");
    }
    for (tool, why) in &absences {
        println!("not run: {tool:?}: {why}");
    }
    ensure!(failed == 0, "{failed} of {} sessions failed", sessions.len());
    match absences.first() {
        None => Ok(()),
        Some((tool, why)) => Err(skip(format!("{tool:?} cannot run here: {why}"))),
    }
}

/// Why a tool cannot run here.
fn absent(tool: Tool) -> Option<&'static str> {
    let succeeds = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    match tool {
        Tool::Address => None,
        Tool::Miri => (!succeeds("cargo", &["+nightly", "miri", "--version"]))
            .then_some("no nightly toolchain with miri (rustup component add miri rust-src)"),
        // Without its accesses and locks half of what is seen is false alarms.
        Tool::Thread => (!has_sources()).then_some(
            "no sources of the standard library, which it has to see, too (rustup component add rust-src)",
        ),
    }
}

/// Whether the toolchain that runs this has the sources of its standard library.
fn has_sources() -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    sysroot.is_ok_and(|sysroot| {
        Path::new(&sysroot).join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file()
    })
}

/// The command of a session; each tool has a build folder of its own.
fn command(session: &Session) -> Command {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let mut command = Command::new("cargo");
    command.current_dir(root());
    if session.tool == Tool::Miri {
        command.arg("+nightly").env_remove("CARGO").env_remove("RUSTC");
        command.env_remove("RUSTUP_TOOLCHAIN");
    } else {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.env("CARGO_TARGET_DIR", cache().join("sanitize").join(format!("{:?}", session.tool)));
    match session.tool {
        Tool::Miri => {
            command.arg("miri").env("FATHOM_LEVEL", "scalar").env("PROPTEST_CASES", "4");
            command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        }
        Tool::Address => {
            command.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=0");
        }
        // The thread sanitizer has to see the standard library's own accesses, and which memory the kernel gives and
        // takes back: what one thread returned and another one got was a race.
        Tool::Thread => {
            command.env("RUSTFLAGS", "-Zsanitizer=thread --cfg=rustix_use_libc");
        }
    }
    command.args(["test", "--locked", "--package", session.package]);
    if session.tool != Tool::Miri {
        command.args(["--target", TARGET]);
    }
    if session.tool == Tool::Thread {
        command.arg("-Zbuild-std");
    }
    command.args(session.tests.split_ascii_whitespace());
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
