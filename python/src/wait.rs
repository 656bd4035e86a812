//! Work on a thread of its own, while the one that called waits without Python's lock for its end or for Ctrl-C, and
//! reads objects of Python's for it: that is where signals interrupt a read that waits.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fathom_aggregate::Progress;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

/// How often signals are looked for and progress is told: well below the tenth of a second that
/// people notice.
const TICK: Duration = Duration::from_millis(20);

/// How long work that was told to stop may take for it, which is half of the tenth of a second.
const GRACE: Duration = Duration::from_millis(50);

/// What work and the thread that waits for it tell each other.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) progress: Progress,
    /// Whether the work holds what is Python's to give back, which must not outlive Python.
    pub(crate) holds: AtomicBool,
}

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
/// what was raised is returned once the work has ended, or [a moment](GRACE) later. Putting millions of keys in order or giving back their memory
/// cannot be stopped: such work is left alone, and what it makes is thrown away.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    told: &Arc<Told>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Caller, &Told) -> T + Send + 'static,
) -> PyResult<T> {
    let made = Arc::new(Mutex::new(None));
    let (into, told_too) = (Arc::clone(&made), Arc::clone(told));
    let work = move |caller: &Caller| {
        let done = work(caller, &told_too);
        *into.lock().expect("nobody panics while holding it") = Some(done);
    };
    wait(py, told, callback, Box::new(work))?;
    let done = made.lock().expect("nobody panics while holding it").take();
    Ok(done.expect("work that has ended has made something"))
}

/// The same of any work, once for all that it may make.
fn wait(
    py: Python<'_>,
    told: &Told,
    callback: Option<&Bound<'_, PyAny>>,
    work: Box<dyn FnOnce(&Caller) + Send>,
) -> PyResult<()> {
    let (ask, mut asked) = channel();
    // When it ends, nobody is left who asks.
    let worker = thread::Builder::new().spawn(move || work(&Caller(ask)))?;
    let (mut raised, mut ticked, mut told_at) = (Ok(()), Instant::now(), None);
    loop {
        let next = &mut asked;
        let next = py.detach(move || next.recv_timeout(TICK));
        let has_ended = matches!(next, Err(RecvTimeoutError::Disconnected));
        if raised.is_ok() && (has_ended || ticked.elapsed() >= TICK) {
            ticked = Instant::now();
            let bytes = told.progress.bytes.load(Ordering::Relaxed);
            raised = py
                .check_signals()
                .and_then(|()| callback.map_or(Ok(()), |call| call.call1((bytes,)).map(drop)));
        }
        // What is asked after something was raised is not answered.
        if let (Ok(request), true) = (next, raised.is_ok()) {
            raised = request.serve(py);
        }
        if raised.is_err() {
            told.progress.stop.store(true, Ordering::Relaxed);
            told_at.get_or_insert_with(Instant::now);
        }
        if has_ended {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            return raised;
        }
        let is_late = told_at.is_some_and(|at| at.elapsed() >= GRACE);
        if is_late && !told.holds.load(Ordering::Acquire) {
            return raised;
        }
    }
}
