//! The conductor's side: worker processes as contenders. Starts them, pins them, asks them, and
//! turns whatever goes wrong in one of them into that contender's [`Failure`].
//!
//! Decides nothing about order or number of samples: it is an [`Executor`] for
//! [`rounds`](crate::rounds).

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_machine::clock;
use fathom_machine::os::process;
use fathom_machine::os::usage;

use crate::contender::Metric;
use crate::digest::Digest;
use crate::protocol::{Offered, Reply, Request, SharedData, VERSION, send};
use crate::provision::Provision;
use crate::rounds::{Executor, Weather};
use crate::sample::{Failure, Sample};
use crate::simulated::{Scope, Simulated, Simulation};
use crate::workload::{Spec, Work};

/// How a worker process is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Private memory that it reserves at its start and mostly leaves untouched, in bytes: allowed
    /// beyond [`Bounds::memory_bytes`].
    pub reserved_bytes: u64,
}

impl Launch {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// What every worker process may do.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The processor it is pinned to, unless its workload uses threads; `None` leaves the choice to
    /// the kernel.
    pub cpu: Option<usize>,
    /// The private memory it may have, in bytes; `None` for no limit.
    pub memory_bytes: Option<u64>,
    /// How long it may take to get ready.
    pub open: Duration,
    /// How long it may take for a sample.
    pub sample: Duration,
}

impl Default for Bounds {
    /// Not pinned, three quarters of the memory that is free now, ten minutes to get ready, two for
    /// a sample.
    fn default() -> Bounds {
        Bounds {
            cpu: None,
            memory_bytes: process::available_bytes().map(|bytes| bytes / 4 * 3),
            open: Duration::from_secs(600),
            sample: Duration::from_secs(120),
        }
    }
}

/// A running worker process.
pub struct Worker {
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
    last_words: Arc<Mutex<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
    /// What it said about itself.
    pub program: String,
    /// What it offers, if it is an outside worker.
    pub offered: Vec<Offered>,
}

/// This much of a worker's standard error is kept.
const LAST_WORDS: usize = 4096;

impl Worker {
    /// Starts a worker and shakes hands.
    ///
    /// # Errors
    /// The failure of a program that cannot be started or speaks another protocol.
    pub fn start(launch: &Launch, bounds: &Bounds) -> Result<Worker, Failure> {
        let memory_bytes = bounds.memory_bytes.map(|bytes| bytes + launch.reserved_bytes);
        Worker::from_command(launch.command(), &Bounds { memory_bytes, ..bounds.clone() })
    }

    fn from_command(mut command: Command, bounds: &Bounds) -> Result<Worker, Failure> {
        let broken = |what: String| Failure::Broken { what };
        let name = command.get_program().to_string_lossy().into_owned();
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| broken(format!("{name}: {error}")))?;
        if let Some(bytes) = bounds.memory_bytes {
            let _ = process::limit_memory(&child, bytes);
        }
        let (sender, lines) = channel();
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines() {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            }));
        }
        if let Some(stderr) = child.stderr.take() {
            let kept = Arc::clone(&last_words);
            readers.push(std::thread::spawn(move || keep_last_words(stderr, &kept)));
        }
        let stdin = child.stdin.take();
        let (program, offered) = (String::new(), Vec::new());
        let child = Some(child);
        let mut worker = Worker { child, stdin, lines, last_words, readers, program, offered };
        match worker.ask(&Request::Hello { protocol: VERSION }, bounds.open)? {
            Reply::Hello { protocol: VERSION, program, contenders } => {
                (worker.program, worker.offered) = (program, contenders);
                Ok(worker)
            }
            other => Err(broken(format!("no greeting of protocol {VERSION}, but {other:?}"))),
        }
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// A worker that died, hung or said something that is no reply. It is not to be asked again.
    pub fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Failure> {
        let sent = self.stdin.as_mut().map(|stdin| send(stdin, request));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.autopsy());
        }
        match self.lines.recv_timeout(limit) {
            Ok(Ok(line)) => serde_json::from_str(&line).map_err(|error| {
                let shown: String = line.chars().take(200).collect();
                Failure::Broken { what: format!("not a reply: {shown:?} ({error})") }
            }),
            Ok(Err(error)) => Err(Failure::Broken { what: error.to_string() }),
            Err(RecvTimeoutError::Disconnected) => Err(self.autopsy()),
            Err(RecvTimeoutError::Timeout) => {
                self.end();
                Err(Failure::Hung { limit_ms: limit.as_millis() as u64 })
            }
        }
    }

    /// Opens `contender` of `family` on a workload, or the empty one, with the data and the events to
    /// count there are.
    ///
    /// # Errors
    /// See [`Worker::ask`]; and whatever the worker says against it. One that only does not support
    /// the workload may be asked again.
    pub fn open(
        &mut self,
        (family, contender): (&str, Option<&str>),
        workload: &Spec,
        data: Option<SharedData>,
        events: &[String],
        limit: Duration,
    ) -> Result<Ready, Failure> {
        let request = Request::Open {
            family: family.to_owned(),
            contender: contender.map(str::to_owned),
            workload: workload.clone(),
            data,
            events: events.to_vec(),
        };
        match self.ask(&request, limit)? {
            Reply::Opened { work, leaves_the_thread, events, missing, data } => {
                let program = self.program.clone();
                Ok(Ready { program, work, leaves_the_thread, events, missing, data })
            }
            Reply::Unsupported { reason } => Err(Failure::Unsupported { reason }),
            Reply::Error { message } => Err(Failure::Broken { what: message }),
            other => Err(Failure::Broken { what: format!("opened with {other:?}") }),
        }
    }

    /// One sample of what is open, after `warm` untimed iterations.
    ///
    /// # Errors
    /// See [`Worker::ask`]; and whatever the worker says against it.
    pub fn sample(
        &mut self,
        iterations: u64,
        warm: u64,
        limit: Duration,
    ) -> Result<Sample, Failure> {
        match self.ask(&Request::Sample { iterations, warm }, limit)? {
            Reply::Sample(sample) => Ok(sample),
            Reply::Error { message } => Err(Failure::Broken { what: message }),
            other => Err(Failure::Broken { what: format!("sampled with {other:?}") }),
        }
    }

    /// The numbers beside time of what is open.
    ///
    /// # Errors
    /// See [`Worker::ask`]; and whatever the worker says against it.
    pub fn metrics(&mut self, limit: Duration) -> Result<Vec<Metric>, Failure> {
        match self.ask(&Request::Metrics, limit)? {
            Reply::Metrics { metrics } => Ok(metrics),
            Reply::Error { message } => Err(Failure::Broken { what: message }),
            other => Err(Failure::Broken { what: format!("told {other:?}") }),
        }
    }

    /// Pins it to a processor. That the processor is gone is no reason to measure nothing.
    fn pin(&self, cpu: usize) {
        if let Some(child) = &self.child {
            let _ = process::pin(child, cpu);
        }
    }

    /// What a worker that closed its streams died of.
    fn autopsy(&mut self) -> Failure {
        self.stdin = None;
        let status = self.child.take().map(usage::wait);
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
        let words = self.last_words.lock().map(|words| telling_line(&words)).unwrap_or_default();
        let how = match status {
            Some(Ok((status, _))) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("signal {signal} ({})", signal_name(signal)),
                (_, Some(0)) => "ended without an answer".to_owned(),
                (_, code) => format!("exit code {}", code.unwrap_or(-1)),
            },
            Some(Err(error)) => error.to_string(),
            None => "already ended".to_owned(),
        };
        let killed = how.starts_with("signal 9");
        let how = if words.is_empty() { how } else { format!("{how}: {words}") };
        // Nobody but the kernel, short of memory, kills a worker that was not ended by us.
        if killed || is_about_memory(&words) {
            Failure::OutOfMemory { how }
        } else {
            Failure::Crashed { how }
        }
    }

    /// Lets it end by itself: closes its input and waits.
    fn finish(mut self) {
        self.stdin = None;
        if let Some(child) = self.child.take() {
            let _ = usage::wait(child);
        }
    }

    /// Ends the process and its children.
    fn end(&mut self) {
        self.stdin = None;
        if let Some(mut child) = self.child.take() {
            let _ = process::kill_group(&child);
            let _ = child.wait();
        }
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

fn keep_last_words(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        let Ok(mut kept) = kept.lock() else { return };
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}

/// The line of a worker's standard error that most likely says what happened: one about memory, or
/// the last one that is not a note about backtraces.
fn telling_line(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines()
        .find(|line| is_about_memory(line))
        .or_else(|| lines().rfind(|line| !line.starts_with("note:")));
    line.unwrap_or_default().chars().take(300).collect()
}

/// The words of Rust, C++, Python and the C library.
fn is_about_memory(line: &str) -> bool {
    let signs = ["memory allocation of", "bad_alloc", "MemoryError", "Cannot allocate memory"];
    signs.iter().any(|sign| line.contains(sign))
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => "illegal instruction",
        6 => "abort",
        7 => "bus error",
        8 => "arithmetic error",
        9 => "killed",
        11 => "segmentation fault",
        15 => "terminated",
        _ => "see signal(7)",
    }
}

/// A place in the orchestra: who sits there and what they play.
#[derive(Clone, Debug)]
pub struct Seat {
    /// How its worker is started.
    pub launch: Launch,
    /// The family, as the worker knows it.
    pub family: String,
    /// The contender's id; `None` for the one that does nothing.
    pub contender: Option<String>,
}

/// What a worker said when it opened its contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ready {
    /// The worker's name and version.
    pub program: String,
    /// What one iteration works through.
    pub work: Work,
    /// Only the wall clock counts.
    pub leaves_the_thread: bool,
    /// The events that are counted.
    pub events: Vec<String>,
    /// Why others are not.
    pub missing: Vec<String>,
    /// Where the data is.
    pub data: String,
}

/// All workers of a measurement.
pub struct Conductor<'a> {
    seats: Vec<Seat>,
    workers: Vec<Option<Worker>>,
    /// By seat: what was said at the opening.
    pub ready: Vec<Ready>,
    workload: Spec,
    provision: Provision<'a>,
    events: Vec<String>,
    bounds: Bounds,
    expected: Option<Digest>,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u32, u32),
}

/// What a measurement is about, besides who takes part.
pub struct Piece<'a> {
    /// The workload, every parameter present.
    pub workload: Spec,
    /// Its data.
    pub provision: Provision<'a>,
    /// Event counters to read.
    pub events: Vec<String>,
    /// What workers may do.
    pub bounds: Bounds,
    /// Set when the user wants it to end.
    pub stop: &'a AtomicBool,
    /// Told after each round.
    pub progress: &'a mut dyn FnMut(u32, u32),
}

impl<'a> Conductor<'a> {
    /// A conductor with empty seats.
    #[must_use]
    pub fn new(seats: Vec<Seat>, piece: Piece<'a>) -> Conductor<'a> {
        let Piece { workload, provision, events, bounds, stop, progress } = piece;
        let workers = seats.iter().map(|_| None).collect();
        let ready = vec![Ready::default(); seats.len()];
        let expected = None;
        Conductor {
            seats,
            workers,
            ready,
            workload,
            provision,
            events,
            bounds,
            expected,
            stop,
            progress,
        }
    }

    /// Lets the contender in `reference`, which need not have a seat, do the workload once: its
    /// digest is the expected one from now on.
    ///
    /// # Errors
    /// Its failure. Without a reference nothing can be checked.
    pub fn expect(&mut self, reference: &Seat) -> Result<Digest, Failure> {
        let (mut worker, _) = self.opened(reference)?;
        let sample = worker.sample(1, 0, self.bounds.open)?;
        let what = "the reference gives no digest".to_owned();
        let digest = sample.check.ok_or(Failure::Broken { what })?;
        self.expected = Some(digest);
        Ok(digest)
    }

    /// Opens every seat and checks its first answer; by seat number, the failures.
    pub fn open(&mut self) -> Vec<Option<Failure>> {
        (0..self.seats.len()).map(|seat| self.open_seat(seat).err()).collect()
    }

    /// Adds a seat, opens it and checks its first answer.
    pub fn add(&mut self, seat: Seat) -> Option<Failure> {
        self.seats.push(seat);
        self.workers.push(None);
        self.ready.push(Ready::default());
        self.open_seat(self.seats.len() - 1).err()
    }

    fn open_seat(&mut self, seat: usize) -> Result<(), Failure> {
        self.workers[seat] = None;
        let (worker, ready) = self.opened(&self.seats[seat])?;
        self.workers[seat] = Some(worker);
        self.ready[seat] = ready;
        let first = self.ask_for_sample(seat, 1, 0, self.bounds.open);
        if first.is_err() {
            self.workers[seat] = None;
        }
        first.map(|_| ())
    }

    fn opened(&self, seat: &Seat) -> Result<(Worker, Ready), Failure> {
        let contender = seat.contender.as_deref();
        let (mut worker, data) = self.provision.start(&seat.launch, contender, &self.bounds)?;
        let what = (seat.family.as_str(), contender);
        let (limit, events) = (self.bounds.open, &self.events);
        let ready = worker.open(what, &self.workload, data, events, limit)?;
        if let (false, Some(cpu)) = (ready.leaves_the_thread, self.bounds.cpu) {
            worker.pin(cpu);
        }
        Ok((worker, ready))
    }

    fn ask_for_sample(
        &mut self,
        seat: usize,
        iterations: u64,
        warm: u64,
        limit: Duration,
    ) -> Result<Sample, Failure> {
        let worker = self.workers[seat].as_mut();
        let worker = worker.ok_or(Failure::Broken { what: "not running".to_owned() })?;
        let sample = worker.sample(iterations, warm, limit)?;
        let checked = self.seats[seat].contender.is_some();
        match (self.expected, sample.check) {
            (Some(expected), found) if checked && found != Some(expected) => {
                let found = found.map_or_else(|| "missing".to_owned(), |d| d.to_string());
                Err(Failure::WrongAnswer { expected: expected.to_string(), found })
            }
            _ => Ok(sample),
        }
    }

    /// Ends all workers until the next [`Executor::refresh`].
    pub fn rest(&mut self) {
        self.workers.fill_with(|| None);
    }

    /// The data of its workload.
    #[must_use]
    pub fn provision(&self) -> &Provision<'a> {
        &self.provision
    }

    /// The numbers beside time of a seat that is still there.
    pub fn metrics(&mut self, seat: usize) -> Vec<Metric> {
        let Some(worker) = self.workers[seat].as_mut() else { return Vec::new() };
        worker.metrics(self.bounds.open).unwrap_or_default()
    }
}

impl Executor for Conductor<'_> {
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure> {
        // The others have been in the caches meanwhile: a sixteenth of the work brings back what
        // the contender would have there if it ran alone.
        let sample =
            self.ask_for_sample(contender, iterations, iterations / 16, self.bounds.sample);
        if sample.is_err() {
            self.workers[contender] = None;
        }
        sample
    }

    fn refresh(&mut self, seats: &[usize]) -> Vec<(usize, Failure)> {
        let opened = |&seat: &usize| Some((seat, self.open_seat(seat).err()?));
        seats.iter().filter_map(opened).collect()
    }

    fn now_ns(&mut self) -> u64 {
        clock::wall_ns()
    }

    fn weather(&mut self) -> Weather {
        weather()
    }

    fn interrupted(&mut self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn progress(&mut self, done: u32, planned: u32) {
        (self.progress)(done, planned);
    }
}

/// Runs a contender once under the simulator: `iterations` counted iterations after as many that only
/// warm the modelled caches.
///
/// # Errors
/// In words, why there are no counts.
pub fn simulate(
    seat: &Seat,
    workload: &Spec,
    provision: &Provision<'_>,
    iterations: u64,
    bounds: &Bounds,
) -> Result<Simulated, String> {
    let words = |failure: Failure| failure.to_string();
    let simulation = Simulation::new(Scope::Regions).map_err(|error| error.to_string())?;
    // The simulator needs memory and time of its own.
    let bounds = Bounds { memory_bytes: None, open: Duration::from_secs(900), ..bounds.clone() };
    let command = simulation.wrap(&seat.launch.command());
    let mut worker = Worker::from_command(command, &bounds).map_err(words)?;
    // What the other workers had, this one inherited.
    let data = provision.of(&worker, seat.contender.as_deref()).map_err(words)?;
    let what = (seat.family.as_str(), seat.contender.as_deref());
    worker.open(what, workload, data, &[], bounds.open).map_err(words)?;
    worker.sample(iterations, iterations, bounds.open).map_err(words)?;
    worker.finish();
    simulation.counts().map_err(|error| error.to_string())
}

/// What the machine did up to now.
#[must_use]
pub fn weather() -> Weather {
    match usage::disturbance() {
        Some(now) => Weather { steal_ticks: Some(now.steal_ticks), pressure_us: now.pressure_us },
        None => Weather::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_what_happened() {
        let words = b"thread 'main' panicked at x:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n\n";
        assert_eq!(telling_line(words), "index out of bounds");
        assert_eq!(telling_line(b""), "");
        let words = b"memory allocation of 9 bytes failed\nskipping backtrace\n";
        assert_eq!(telling_line(words), "memory allocation of 9 bytes failed");
    }

    #[test]
    fn a_program_that_does_not_exist_is_broken() {
        let launch = Launch { program: "no-such-program".into(), ..Launch::default() };
        let failure = Worker::start(&launch, &Bounds::default()).err().unwrap();
        assert!(matches!(failure, Failure::Broken { .. }), "{failure:?}");
    }

    #[test]
    fn a_program_that_says_nothing_useful_is_broken_or_crashed() {
        let launch = |script: &str| Launch {
            program: "sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            ..Launch::default()
        };
        let fail = |script: &str| Worker::start(&launch(script), &Bounds::default()).err().unwrap();
        assert!(matches!(fail("read x; echo hello"), Failure::Broken { .. }));
        let Failure::Crashed { how } = fail("read x; echo oh no >&2; exit 3") else { panic!() };
        assert_eq!(how, "exit code 3: oh no");
        let Failure::Crashed { how } = fail("read x; kill -SEGV $$") else { panic!() };
        assert!(how.contains("segmentation fault"), "{how}");
    }
}
