//! Work on a thread of its own, while the one that called waits without Python's lock for its end or for Ctrl-C, and
//! reads objects of Python's for it: that is where signals interrupt a read that waits.

use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// How often signals are looked for and progress is told: well below the tenth of a second that
/// people notice.
const TICK: Duration = Duration::from_millis(20);

/// The thread that called, which reads for others.
#[derive(Clone)]
pub(crate) struct Caller(Sender<Request>);

/// A call of an object's `read`.
struct Request {
    object: Arc<Py<PyAny>>,
    bytes: usize,
    answer: Sender<io::Result<PyBackedBytes>>,
}

impl Caller {
    /// What the object's `read` returns when asked for so many bytes.
    pub(crate) fn read(&self, object: &Arc<Py<PyAny>>, bytes: usize) -> io::Result<PyBackedBytes> {
        let (answer, answered) = channel();
        let request = Request { object: Arc::clone(object), bytes, answer };
        let _ = self.0.send(request);
        answered.recv().unwrap_or_else(|_| Err(io::Error::other("interrupted")))
    }
}

impl Request {
    fn serve(self, py: Python<'_>) -> PyResult<()> {
        let read = self.object.call_method1(py, "read", (self.bytes,))?;
        let bytes = read.extract(py).map_err(|_| match read.is_none(py) {
            true => io::Error::new(
                io::ErrorKind::WouldBlock,
                "read() has nothing yet, and does not wait",
            ),
            false => {
                let said = "read() must return bytes: open it as binary";
                io::Error::new(io::ErrorKind::InvalidInput, said)
            }
        });
        let _ = self.answer.send(bytes);
        Ok(())
    }
}

/// Runs `work`. A pending signal whose handler raises, and a callback or a `read` that does, set `stop`, and
/// what was raised is returned once the work has ended.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    (bytes, stop): (&AtomicU64, &AtomicBool),
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Caller) -> T + Send,
) -> PyResult<T> {
    let (ask, mut asked) = channel();
    thread::scope(|scope| {
        // When it ends, nobody is left who asks.
        let worker = scope.spawn(move || work(&Caller(ask)));
        let (mut raised, mut ticked) = (Ok(()), Instant::now());
        loop {
            let next = &mut asked;
            let next = py.detach(move || next.recv_timeout(TICK));
            let has_ended = matches!(next, Err(RecvTimeoutError::Disconnected));
            if raised.is_ok() && (has_ended || ticked.elapsed() >= TICK) {
                ticked = Instant::now();
                let bytes = bytes.load(Ordering::Relaxed);
                raised = py
                    .check_signals()
                    .and_then(|()| callback.map_or(Ok(()), |call| call.call1((bytes,)).map(drop)));
            }
            // What is asked after something was raised is not answered.
            if let (Ok(request), true) = (next, raised.is_ok()) {
                raised = request.serve(py);
            }
            stop.fetch_or(raised.is_err(), Ordering::Relaxed);
            if has_ended {
                let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
                return raised.map(|()| done);
            }
        }
    })
}
