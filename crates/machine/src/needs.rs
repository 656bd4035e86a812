//! What a test needs of the machine and cannot make itself: where it is lacking the test ends, and says
//! so past the harness, which hides what tests that pass print. Programs and files are no such need:
//! a test that starts one is ignored by name, or fails.

use std::io::Write;

/// Leaves the test, and says so on stderr, unless `there`: `needs!("AES instructions", is_available())`.
#[macro_export]
macro_rules! needs {
    ($what:expr, $there:expr) => {
        if !$there {
            $crate::needs::not_run($what);
            return;
        }
    };
}

/// Says that this test, or this part of it, was not run.
pub fn not_run(what: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // `eprintln!` would be captured.
    let _ = writeln!(std::io::stderr(), "not run: {test}: this machine has no {what}");
}
