//! Work on a thread of its own, while this one waits without Python's lock for its end or for Ctrl-C.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    let waiting = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let done = work();
            waiting.unpark();
            done
        });
        let mut raised = Ok(());
        while !worker.is_finished() {
            py.detach(|| thread::park_timeout(TICK));
            if raised.is_ok() {
                let told = bytes.load(Ordering::Relaxed);
                raised = py
                    .check_signals()
                    .and_then(|()| callback.map_or(Ok(()), |call| call.call1((told,)).map(drop)));
                stop.fetch_or(raised.is_err(), Ordering::Relaxed);
            }
        }
        let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        raised.map(|()| done)
    })
}
