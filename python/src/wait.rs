//! Work on a thread of its own, while this one waits without Python's lock for its end or for Ctrl-C.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often signals are looked for and progress is told: well below the tenth of a second that
/// people notice.
const TICK: Duration = Duration::from_millis(20);

/// Runs `work`. A pending signal whose handler raises, and a callback that does, set `stop`, and
/// what was raised is returned once the work has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    (bytes, stop): (&AtomicU64, &AtomicBool),
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (tell, mut told) = channel();
    thread::scope(|scope| {
        let worker = scope.spawn(move || tell.send(work()));
        let mut raised = Ok(());
        loop {
            let end = &mut told;
            let end = py.detach(move || end.recv_timeout(TICK));
            if raised.is_ok() {
                let bytes = bytes.load(Ordering::Relaxed);
                raised = py
                    .check_signals()
                    .and_then(|()| callback.map_or(Ok(()), |call| call.call1((bytes,)).map(drop)));
                stop.fetch_or(raised.is_err(), Ordering::Relaxed);
            }
            match end {
                Ok(done) => return raised.map(|()| done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(worker.join().expect_err("it ended and told nothing"))
                }
            }
        }
    })
}
