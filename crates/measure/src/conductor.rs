//! The conductor's side: worker processes as contenders. Starts them, pins them, asks them, and
//! turns whatever goes wrong in one of them into that contender's [`Failure`].
//!
//! Decides nothing about order or number of samples: it is an [`Executor`] for
//! [`rounds`](crate::rounds).

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_machine::clock;
use fathom_machine::os::process;
use fathom_machine::os::usage;
use fathom_machine::os::ward::{End, Guard, Ward, is_stopping, never_wait, ready};

use crate::contender::Metric;
use crate::digest::Digest;
use crate::protocol::{Offered, Reply, Request, SharedData, VERSION, send};
use crate::provision::Provision;
use crate::rounds::{Executor, Weather};
use crate::sample::{Failure, Sample};
use crate::scratch;
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
    ward: Ward,
    /// What it was started as.
    name: String,
    /// What it said behind the last answer.
    heard: Vec<u8>,
    last_words: Vec<u8>,
    /// What it said about itself.
    pub program: String,
    /// What it offers, if it is an outside worker.
    pub offered: Vec<Offered>,
    /// Whether the processor time of what is open is that of one thread.
    is_one_thread: bool,
}

/// This much of a worker's standard error is kept.
const LAST_WORDS: usize = 4096;
/// An answer longer than this is none: the greeting of all built-in contenders has a fiftieth.
const LONGEST_ANSWER: usize = 4 << 20;
/// How long a worker that closed its output may take to end.
const TIME_TO_DIE: Duration = Duration::from_secs(1);
/// Between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(100);

impl Worker {
    /// Starts a worker and shakes hands.
    ///
    /// # Errors
    /// The failure of a program that cannot be started or speaks another protocol.
    pub fn start(launch: &Launch, bounds: &Bounds) -> Result<Worker, Failure> {
        let memory_bytes =
            bounds.memory_bytes.map(|bytes| bytes.saturating_add(launch.reserved_bytes));
        Worker::from_command(&launch.command(), &Bounds { memory_bytes, ..bounds.clone() })
    }

    fn from_command(command: &Command, bounds: &Bounds) -> Result<Worker, Failure> {
        let name = command.get_program().to_string_lossy().into_owned();
        let broken = |error: std::io::Error| Failure::Broken { what: format!("{name}: {error}") };
        let streams = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
        let ward = Ward::start(command, streams, Guard::Warden).map_err(broken)?;
        if let Some(bytes) = bounds.memory_bytes {
            let _ = process::limit_memory(ward.id(), bytes);
        }
        let streams = [
            ward.stdin.as_ref().map(AsFd::as_fd),
            ward.stdout.as_ref().map(AsFd::as_fd),
            ward.stderr.as_ref().map(AsFd::as_fd),
        ];
        for stream in streams.into_iter().flatten() {
            never_wait(stream).map_err(broken)?;
        }
        let (heard, last_words) = (Vec::new(), Vec::new());
        let (program, offered) = (String::new(), Vec::new());
        let mut worker =
            Worker { ward, name, heard, last_words, program, offered, is_one_thread: false };
        let what = match worker.ask(&Request::Hello { protocol: VERSION }, bounds.open)? {
            Reply::Hello { protocol: VERSION, program, contenders } => {
                ensure_named(&contenders)?;
                (worker.program, worker.offered) = (program, contenders);
                return Ok(worker);
            }
            Reply::Hello { protocol, .. } => format!("speaks protocol {protocol}, not {VERSION}"),
            Reply::Error { message } => format!("asked for protocol {VERSION}, it said {message}"),
            other => format!("replied {:?} to a greeting", other.name()),
        };
        Err(Failure::Broken { what })
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// A worker that died, hung or said something that is no reply. It is not to be asked again.
    pub fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, Failure> {
        // How it ended, if it did, is told below.
        let _ = self.hear();
        if !self.heard.is_empty() {
            let what = format!("spoke without being asked: {}", quoted(&self.heard));
            return Err(Failure::Broken { what });
        }
        let mut message = Vec::new();
        send(&mut message, request).map_err(|e| Failure::Broken { what: e.to_string() })?;
        let line = self.exchange(&message, limit)?;
        serde_json::from_slice(&line).map_err(|error| Failure::Broken {
            what: format!("not a reply: {} ({error})", quoted(&line)),
        })
    }

    /// Writes `message` and reads a line, both as far as the worker lets us, until `limit`.
    fn exchange(&mut self, mut message: &[u8], limit: Duration) -> Result<Vec<u8>, Failure> {
        let begin = Instant::now();
        loop {
            if is_stopping() {
                return Err(Failure::Interrupted);
            }
            let left = limit.saturating_sub(begin.elapsed());
            let is_gone = self.turn(&mut message, left.min(LOOK))?;
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let rest = self.heard.split_off(end + 1);
                return Ok(std::mem::replace(&mut self.heard, rest));
            }
            if self.heard.len() > LONGEST_ANSWER {
                let what = format!("an answer of more than {LONGEST_ANSWER} bytes");
                return Err(Failure::Broken { what });
            }
            if is_gone {
                return Err(self.autopsy());
            }
            if left.is_zero() {
                self.ward.end();
                return Err(Failure::hung(limit));
            }
        }
    }

    /// Waits for any of the worker's streams and serves those that are ready; whether no answer can
    /// come any more.
    fn turn(&mut self, message: &mut &[u8], limit: Duration) -> Result<bool, Failure> {
        let fds = |ward: &Ward| -> Option<std::io::Result<Vec<bool>>> {
            let out = ward.stdout.as_ref()?.as_fd();
            let words = ward.stderr.as_ref().map_or(out, AsFd::as_fd);
            let stdin = ward.stdin.as_ref().map(AsFd::as_fd).filter(|_| !message.is_empty());
            Some(ready(&[ward.as_fd(), out, words], stdin, limit))
        };
        let Some(answer) = fds(&self.ward) else { return Ok(true) };
        let answer = answer.map_err(|error| Failure::Broken { what: error.to_string() })?;
        if answer.get(3) == Some(&true)
            && let Some(stdin) = &mut self.ward.stdin
        {
            match stdin.write(message) {
                Ok(count) => *message = &message[count..],
                Err(error) if is_for_later(&error) => {}
                // It may have said why before it went.
                Err(_) => self.ward.stdin = None,
            }
        }
        if answer[2] {
            self.keep_last_words();
        }
        let mut is_closed = self.ward.stdin.is_none();
        match self.hear() {
            Ok(0) => is_closed = true,
            Ok(_) => return Ok(false),
            // All that an ended worker has said has been read.
            Err(error) if is_for_later(&error) => is_closed |= answer[0],
            Err(_) => is_closed = true,
        }
        Ok(is_closed)
    }

    /// Takes some of what there is of standard output: how many bytes, none behind its last.
    fn hear(&mut self) -> std::io::Result<usize> {
        let Some(stdout) = &mut self.ward.stdout else { return Ok(0) };
        let mut buffer = [0; 1 << 14];
        let count = stdout.read(&mut buffer)?;
        self.heard.extend_from_slice(&buffer[..count]);
        Ok(count)
    }

    /// Takes what there is of standard error, at most a few times what is kept.
    fn keep_last_words(&mut self) {
        let mut buffer = [0; LAST_WORDS];
        for _ in 0..16 {
            let Some(stderr) = &mut self.ward.stderr else { return };
            match stderr.read(&mut buffer) {
                Ok(count @ 1..) => {
                    self.last_words.extend_from_slice(&buffer[..count]);
                    let surplus = self.last_words.len().saturating_sub(LAST_WORDS);
                    self.last_words.drain(..surplus);
                }
                Err(error) if is_for_later(&error) => return,
                _ => self.ward.stderr = None,
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
        let (family, contender) = (family.to_owned(), contender.map(str::to_owned));
        let (workload, events) = (workload.clone(), events.to_vec());
        let request = Request::Open { family, contender, workload, data, events };
        match self.ask(&request, limit)? {
            Reply::Opened { work, leaves_the_thread, events, missing, data } => {
                let program = self.program.clone();
                self.is_one_thread = !leaves_the_thread;
                Ok(Ready { program, work, leaves_the_thread, events, missing, data })
            }
            Reply::Unsupported { reason } => Err(Failure::Unsupported { reason }),
            Reply::Error { message } => Err(Failure::Broken { what: message }),
            other => Err(odd(&other)),
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
        let begin = Instant::now();
        match self.ask(&Request::Sample { iterations, warm }, limit)? {
            Reply::Sample(sample) => {
                // Clocks go at slightly different rates, and nobody waits less than was worked.
                let waited_ns = begin.elapsed().as_nanos() as u64;
                let cpu_ns = sample.cpu_ns.filter(|_| self.is_one_thread);
                let said_ns = sample.wall_ns.max(cpu_ns.unwrap_or(0));
                if said_ns > waited_ns + waited_ns / 16 + 1_000_000 {
                    let what = format!("says {said_ns} ns of a sample that took {waited_ns} ns");
                    return Err(Failure::Broken { what });
                }
                // Some processor clocks tick a hundred times a second.
                let wall_ns = sample.wall_ns;
                if let Some(cpu_ns) = cpu_ns
                    && cpu_ns > wall_ns + wall_ns / 16 + 20_000_000
                {
                    let what = format!(
                        "says {cpu_ns} ns of one processor in a sample of {wall_ns} ns of wall time"
                    );
                    return Err(Failure::Broken { what });
                }
                Ok(sample)
            }
            Reply::Error { message } => Err(Failure::Broken { what: message }),
            other => Err(odd(&other)),
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
            other => Err(odd(&other)),
        }
    }

    /// Pins it to a processor. That the processor is gone is no reason to measure nothing.
    fn pin(&self, cpu: usize) {
        let _ = process::pin(self.ward.id(), cpu);
    }

    /// What a worker that closed its streams died of.
    fn autopsy(&mut self) -> Failure {
        self.ward.stdin = None;
        let end = self.ward.wait(TIME_TO_DIE);
        self.keep_last_words();
        self.ward.end();
        let words = telling_line(&self.last_words);
        let with_words = |how: String| match words.is_empty() {
            true => how,
            false => format!("{how}: {words}"),
        };
        let status = match end {
            Ok(Some(End { status, .. })) => status,
            Ok(None) if is_stopping() => return Failure::Interrupted,
            Ok(None) => {
                let what = with_words("closed its streams and went on".to_owned());
                return Failure::Broken { what };
            }
            Err(error) => return Failure::Broken { what: format!("{}: {error}", self.name) },
        };
        let how = match (status.signal(), status.code()) {
            (Some(signal), _) => format!("signal {signal} ({})", signal_name(signal)),
            (_, Some(0)) => "ended without an answer".to_owned(),
            (_, code) => format!("exit code {}", code.unwrap_or(-1)),
        };
        // Nobody but the kernel, short of memory, kills a worker that was not ended by us.
        if how.starts_with("signal 9") || is_about_memory(&words) {
            Failure::OutOfMemory { how: with_words(how) }
        } else {
            Failure::Crashed { how: with_words(how) }
        }
    }

    /// Lets it end by itself: closes its input and waits.
    fn finish(mut self, limit: Duration) {
        self.ward.stdin = None;
        let _ = self.ward.wait(limit);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.ward.end();
        // It had no chance to remove its files itself.
        scratch::sweep();
    }
}

/// A reply to something else.
fn odd(reply: &Reply) -> Failure {
    Failure::Broken { what: format!("replied {:?} to what it was asked", reply.name()) }
}

/// Rows go by names: one of each in a family.
fn ensure_named(offered: &[Offered]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    for Offered { family, name, .. } in offered {
        let what = match name.trim() {
            "" => format!("offers something without a name in {family:?}"),
            _ if !seen.insert((family, name)) => format!("offers {family}/{name} twice"),
            _ => continue,
        };
        return Err(Failure::Broken { what });
    }
    Ok(())
}

fn is_for_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The beginning of something that is no answer.
fn quoted(bytes: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(800)]);
    format!("{:?}", shown.chars().take(200).collect::<String>())
}

/// The line of a worker's standard error that most likely says what happened: one about memory, or
/// the last one that is not a note about backtraces, or of one, whose beginning may be lost.
fn telling_line(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_frame(line));
    let line = lines()
        .find(|line| is_about_memory(line))
        .or_else(|| lines().rfind(|line| !line.starts_with("note:")));
    line.unwrap_or_default().chars().take(300).collect()
}

/// Whether a line is of a backtrace: `3: core::panicking::panic`, `4:     0x55d0 - main`, or `at ./lib.rs:3:5`.
fn is_frame(line: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(place) = line.strip_prefix("at ") {
        return place.rsplit_once(':').is_some_and(|(_, number)| is_number(number));
    }
    let is_name = |name: &str| {
        let name = name.trim_start();
        name.contains("::")
            || name.starts_with("0x")
            || name.starts_with("operator ")
            || !name.contains(' ')
    };
    let parts = line.split_once(": ");
    let is_around = line == "stack backtrace:" || line.starts_with("[... omitted ");
    is_around || parts.is_some_and(|(n, name)| is_number(n) && is_name(name))
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
    pub(crate) piece: Piece<'a>,
    expected: Option<Digest>,
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
    pub progress: Box<dyn FnMut(u32, u32) + 'a>,
}

impl<'a> Conductor<'a> {
    /// A conductor with empty seats.
    #[must_use]
    pub fn new(seats: Vec<Seat>, piece: Piece<'a>) -> Conductor<'a> {
        let workers = seats.iter().map(|_| None).collect();
        let ready = vec![Ready::default(); seats.len()];
        Conductor { seats, workers, ready, piece, expected: None }
    }

    /// Lets the contender in `reference`, which need not have a seat, do the workload once: its
    /// digest is the expected one from now on.
    ///
    /// # Errors
    /// Its failure. Without a reference nothing can be checked.
    pub fn expect(&mut self, reference: &Seat) -> Result<Digest, Failure> {
        let (mut worker, _) = self.opened(reference)?;
        let sample = worker.sample(1, 0, self.piece.bounds.open)?;
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
        let first = self.ask_for_sample(seat, 1, 0, self.piece.bounds.open);
        first.map(|_| ()).inspect_err(|_| self.workers[seat] = None)
    }

    fn opened(&self, seat: &Seat) -> Result<(Worker, Ready), Failure> {
        let what = (seat.family.as_str(), seat.contender.as_deref());
        let Piece { workload, provision, events, bounds, .. } = &self.piece;
        let (mut worker, data) = provision.start(&seat.launch, what, bounds)?;
        let ready = worker.open(what, workload, data, events, bounds.open)?;
        if let (false, Some(cpu)) = (ready.leaves_the_thread, bounds.cpu) {
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
        // Whose last sample was cut short by the user has no worker either.
        let is_stopped = self.interrupted();
        let worker = self.workers[seat].as_mut().ok_or_else(|| match is_stopped {
            true => Failure::Interrupted,
            false => Failure::Broken { what: "not running".to_owned() },
        })?;
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

    /// The numbers beside time of a seat that is still there.
    ///
    /// # Errors
    /// A worker that says none, or none of this protocol; it is ended.
    pub fn metrics(&mut self, seat: usize) -> Result<Vec<Metric>, Failure> {
        let Some(worker) = self.workers[seat].as_mut() else { return Ok(Vec::new()) };
        let metrics = worker.metrics(self.piece.bounds.open);
        metrics.inspect_err(|_| self.workers[seat] = None)
    }
}

impl Executor for Conductor<'_> {
    fn sample(&mut self, contender: usize, iterations: u64) -> Result<Sample, Failure> {
        // The others have been in the caches meanwhile: a sixteenth of the work brings back what
        // the contender would have there if it ran alone. Of fewer than 16 iterations that is none.
        let limit = self.piece.bounds.sample;
        let sample = self.ask_for_sample(contender, iterations, iterations / 16, limit);
        sample.inspect_err(|_| self.workers[contender] = None)
    }

    fn refresh(&mut self, seats: &[usize]) -> Vec<(usize, Failure)> {
        seats.iter().for_each(|&seat| self.workers[seat] = None);
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
        is_stopping() || self.piece.stop.load(Ordering::Relaxed)
    }

    fn progress(&mut self, done: u32, planned: u32) {
        (self.piece.progress)(done, planned);
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
    let mut worker = Worker::from_command(&command, &bounds).map_err(words)?;
    // What the other workers had, this one inherited.
    let what = (seat.family.as_str(), seat.contender.as_deref());
    let data = provision.of(&worker, what).map_err(words)?;
    worker.open(what, workload, data, &[], bounds.open).map_err(words)?;
    worker.sample(iterations, iterations, bounds.open).map_err(words)?;
    worker.finish(bounds.open);
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
    use crate::command::tests::{assert_gone, pids};

    #[test]
    fn the_last_words_are_what_happened() {
        let words = b"thread 'main' panicked at x:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`\n\n";
        assert_eq!(telling_line(words), "index out of bounds");
        assert_eq!(telling_line(b""), "");
        let frames =
            b"   3: core::panicking::panic\n             at ./lib.rs:3:5\n      [... omitted 9 frames ...]\n   \
            5: operator new(unsigned long)\n             at ./x86_64/clone.S:95\nnote: Some details\n";
        assert_eq!(telling_line(frames), "", "the tail of a backtrace");
        let whole = [b"index out of bounds\nstack backtrace:\n", &frames[..]].concat();
        assert_eq!(telling_line(&whole), "index out of bounds");
        let memory = "memory allocation of 9 bytes failed";
        let words = b"memory allocation of 9 bytes failed\nskipping backtrace\n";
        assert_eq!(telling_line(words), memory);
        assert_eq!(telling_line(&[&whole[..], memory.as_bytes()].concat()), memory);
        for words in ["at least two keys are needed", "404: not found", ": no such file"] {
            assert_eq!(telling_line(words.as_bytes()), words);
        }
    }

    #[test]
    fn a_program_that_does_not_exist_is_broken() {
        let launch = Launch { program: "no-such-program".into(), ..Launch::default() };
        let failure = Worker::start(&launch, &Bounds::default()).err().unwrap();
        assert!(matches!(failure, Failure::Broken { .. }), "{failure:?}");
    }

    #[test]
    fn a_program_that_says_nothing_useful_is_broken_or_crashed() {
        let fail = |script: &str| Worker::start(&sh(script), &Bounds::default()).err().unwrap();
        assert!(matches!(fail("read x; echo hello"), Failure::Broken { .. }));
        let Failure::Crashed { how } = fail("read x; echo oh no >&2; exit 3") else { panic!() };
        assert_eq!(how, "exit code 3: oh no");
        let Failure::Crashed { how } = fail("read x; kill -SEGV $$") else { panic!() };
        assert!(how.contains("segmentation fault"), "{how}");
    }

    /// A worker in shell.
    fn sh(script: &str) -> Launch {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        Launch { program: "sh".into(), arguments, ..Launch::default() }
    }

    /// A worker in shell whose `hello` is right and that then does `after` for each request.
    fn hostile(after: &str) -> Launch {
        let hello = r#"{"answer":"hello","protocol":1,"program":"x"}"#;
        sh(&format!("read x; echo '{hello}'; {after}"))
    }

    /// No work.
    fn piece(stop: &AtomicBool) -> Piece<'_> {
        let (workload, bounds) = (Spec::default(), Bounds::default());
        let (provision, events) = (Provision::new(None, None), Vec::new());
        Piece { workload, provision, events, bounds, stop, progress: Box::new(|_, _| ()) }
    }

    /// The first of its name decided for all families.
    #[test]
    fn a_name_in_two_families_has_the_form_of_each() {
        let offers = r#"{"family":"checksum","name":"x"},{"family":"map","name":"x","prepared":true},{"family":"map","name":"y","prepared":true}"#;
        let hello =
            format!(r#"{{"answer":"hello","protocol":1,"program":"x","contenders":[{offers}]}}"#);
        let launch = sh(&format!("read x; echo '{hello}'; read x"));
        let worker = Worker::start(&launch, &Bounds::default()).unwrap();
        let provision = Provision::new(None, None);
        let of = |family, name| provision.of(&worker, (family, Some(name)));
        // None is prepared here: whoever wants it hears of it.
        assert!(of("checksum", "x").is_ok());
        assert!(of("map", "x").is_err());
        // Of `kv` it got none, and took no part.
        assert!(of("kv", "y").is_err());
    }

    fn answer_of(after: &str, limit: Duration) -> (Failure, Duration) {
        let mut worker = Worker::start(&hostile(after), &Bounds::default()).unwrap();
        let begin = Instant::now();
        let failure = worker.ask(&Request::Close, limit).unwrap_err();
        drop(worker);
        (failure, begin.elapsed())
    }

    const LONG: Duration = Duration::from_secs(60);
    /// Far below what the sleepers sleep, far above what a loaded machine needs.
    const SOON: Duration = Duration::from_secs(20);

    /// It was believed: sums of such times overflowed, and everybody's measurement ended.
    #[test]
    fn a_worker_that_says_more_time_than_passed_is_broken() {
        let said = r#"{"answer":"sample","wall_ns":9223372036854775807}"#;
        let launch = hostile(&format!("read x; echo '{said}'; read x"));
        let mut worker = Worker::start(&launch, &Bounds::default()).unwrap();
        let Failure::Broken { what } = worker.sample(1, 0, LONG).unwrap_err() else { panic!() };
        assert!(what.starts_with("says 9223372036854775807 ns of a sample that took "), "{what}");
        // Processor time, which decides as often, was not looked at. Several threads may take more.
        let said = r#"{"answer":"sample","wall_ns":1,"cpu_ns":60000000000}"#;
        let twice = format!("read x; echo '{said}'; read x; echo '{said}'; read x");
        let mut worker = Worker::start(&hostile(&twice), &Bounds::default()).unwrap();
        assert_eq!(worker.sample(1, 0, LONG).unwrap().cpu_ns, Some(60_000_000_000));
        worker.is_one_thread = true;
        let Failure::Broken { what } = worker.sample(1, 0, LONG).unwrap_err() else { panic!() };
        assert!(what.starts_with("says 60000000000 ns of a sample that took "), "{what}");
        // Of the smaller clock, which stands still, a sample never has enough.
        let said = r#"{"answer":"sample","wall_ns":0,"cpu_ns":30000000}"#;
        let launch = hostile(&format!("read x; sleep 0.05; echo '{said}'; read x"));
        let mut worker = Worker::start(&launch, &Bounds::default()).unwrap();
        worker.is_one_thread = true;
        let Failure::Broken { what } = worker.sample(1, 0, LONG).unwrap_err() else { panic!() };
        let expected = "says 30000000 ns of one processor in a sample of 0 ns of wall time";
        assert_eq!(what, expected);
    }

    #[test]
    fn a_worker_that_closes_its_output_and_lives_on_is_ended() {
        let (failure, took) = answer_of("read x; exec >&-; sleep 100", LONG);
        let Failure::Broken { what } = failure else { panic!("{failure}") };
        assert!(what.starts_with("closed its streams and went on"), "{what}");
        assert!(took < SOON, "{took:?}");
    }

    #[test]
    fn a_dead_worker_whose_children_hold_its_streams_is_not_waited_for() {
        let (_folder, file) = pids();
        let pid = format!("echo $! >{}", file.display());
        for child in [
            format!("sleep 100 & {pid};"),
            format!("setsid sleep 100 & {pid};"),
            format!("(setsid sleep 100 >&2 & {pid});"),
        ] {
            let (failure, took) = answer_of(&format!("read x; {child} echo oh >&2; exit 3"), LONG);
            assert_eq!(failure, Failure::Crashed { how: "exit code 3: oh".to_owned() }, "{child}");
            assert!(took < SOON, "{child} {took:?}");
            assert_gone(&file, 1);
        }
    }

    #[test]
    fn a_worker_that_writes_without_end_is_cut_off() {
        let (failure, _) = answer_of("read x; exec cat /dev/zero", LONG);
        let what = "an answer of more than 4194304 bytes".to_owned();
        assert_eq!(failure, Failure::Broken { what });
        let mut worker = Worker::start(&hostile("cat /dev/zero >&2"), &Bounds::default()).unwrap();
        let begin = Instant::now();
        let failure = worker.ask(&Request::Close, Duration::from_millis(500)).unwrap_err();
        assert_eq!(failure, Failure::Hung { limit_ms: 500 });
        assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
        assert!(worker.last_words.len() <= LAST_WORDS, "{}", worker.last_words.len());
    }

    #[test]
    fn who_is_not_running_because_the_user_stopped_it_is_not_broken() {
        for (is_stopped, failure) in [
            (true, Failure::Interrupted),
            (false, Failure::Broken { what: "not running".to_owned() }),
        ] {
            let stop = AtomicBool::new(is_stopped);
            let (launch, family) = (hostile("sleep 100"), "x".to_owned());
            let seat = Seat { launch, family, contender: None };
            let mut conductor = Conductor::new(vec![seat], piece(&stop));
            assert_eq!(Executor::sample(&mut conductor, 0, 1), Err(failure));
        }
    }

    #[test]
    fn a_worker_that_never_reads_is_hung() {
        let mut worker = Worker::start(&hostile("sleep 100"), &Bounds::default()).unwrap();
        let request = Request::Open {
            family: "x".repeat(1 << 20),
            contender: None,
            workload: Spec::default(),
            data: None,
            events: Vec::new(),
        };
        let limit = Duration::from_millis(300);
        assert_eq!(worker.ask(&request, limit).unwrap_err(), Failure::Hung { limit_ms: 300 });
    }

    #[test]
    fn an_answer_nobody_asked_for_is_not_taken_for_the_next_one() {
        for pause in ["", "sleep 0.2;"] {
            let closed = r#"echo '{"answer":"closed"}'"#;
            let after =
                format!("read x; {closed}; {pause} {closed}; while read x; do {closed}; done");
            let mut worker = Worker::start(&hostile(&after), &Bounds::default()).unwrap();
            assert_eq!(worker.ask(&Request::Close, LONG), Ok(Reply::Closed));
            if worker.heard.is_empty() {
                let stdout = worker.ward.stdout.as_ref().unwrap().as_fd();
                assert_eq!(ready(&[stdout], None, LONG).unwrap(), [true]);
            }
            let failure = worker.ask(&Request::Close, LONG);
            let Err(Failure::Broken { what }) = failure else { panic!("{pause}: {failure:?}") };
            assert!(what.starts_with("spoke without being asked"), "{what}");
        }
    }

    /// A worker that starts while another lives does not get what that one leaves; one that starts when only
    /// its own predecessor has ended gets just that.
    #[test]
    fn all_workers_have_ended_before_the_first_fresh_one_starts() {
        let folder = scratch::folder("conductor").unwrap();
        let (started, met) = (folder.path().join("started"), folder.path().join("met"));
        let script = format!(
            r#"touch {started} {met}
            for other in $(cat {started}); do kill -0 $other 2>/dev/null && echo $other >>{met}; done
            echo $$ >>{started}
            read x; echo '{{"answer":"hello","protocol":1,"program":"x"}}'
            read x; echo '{{"answer":"opened"}}'
            while read x; do echo '{{"answer":"sample","wall_ns":1,"cpu_ns":1}}'; done"#,
            started = started.display(),
            met = met.display(),
        );
        let (launch, x) = (sh(&script), "x".to_owned());
        let seat = Seat { launch, family: x.clone(), contender: Some(x) };
        let never = AtomicBool::new(false);
        let mut conductor = Conductor::new(vec![seat.clone(), seat], piece(&never));
        assert_eq!(conductor.open(), [None, None]);
        assert_eq!(conductor.refresh(&[1, 0]), []);
        let lines = |path: &PathBuf| -> Vec<String> {
            std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
        };
        let (started, met) = (lines(&started), lines(&met));
        assert_eq!(started.len(), 4);
        // The second of each set met the first of it, and nobody met anybody else.
        assert_eq!(met, [&*started[0], &started[2]]);
    }
}
