//! Waiting for what the tests start, but not for ever.

use std::process::Child;
use std::time::{Duration, Instant};

/// The exit code of a process that ends within 15 s; another is ended, and the test fails.
pub(crate) fn soon(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(15) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
