//! Signals to what the tests start.

use std::process::{Command, Stdio};

/// Sends a signal, `INT` or another, to a process.
pub(crate) fn send(name: &str, id: u32) {
    assert!(has_sent(name, id), "{name} {id}");
}

/// Whether there was a process to send it to.
pub(crate) fn has_sent(name: &str, id: u32) -> bool {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &id.to_string()]).stderr(Stdio::null());
    kill.status().unwrap().success()
}
