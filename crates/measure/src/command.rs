//! Outside commands as contenders: each sample is one run of a program, its children included.
//!
//! Runs programs and reads what the kernel says they used; compares outputs, not times. A command
//! that fails is reported and gets no figures: a failure is never averaged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fathom_machine::clock;
use fathom_machine::counter::{Counters, Event, explain};
use fathom_machine::os::{process, usage};

use crate::conductor::weather;
use crate::digest::Digest;
use crate::rounds::{Executor, Weather};
use crate::sample::{Failure, Sample, Tags};

/// A command as a contender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// What is timed.
    pub line: String,
    /// Run before each timed run, not timed.
    pub prepare: Option<String>,
    /// Run after each timed run, not timed.
    pub cleanup: Option<String>,
}

/// What holds for all commands of a measurement.
#[derive(Clone, Debug)]
pub struct House {
    /// The shell that runs the lines; `None` splits them into words and starts the program itself.
    pub shell: Option<String>,
    /// Digest the standard output and compare it; otherwise it is thrown away.
    pub same_output: bool,
    /// What standard input reads; `None` reads nothing.
    pub input: Option<PathBuf>,
    /// How long one run may take.
    pub limit: Duration,
    /// Exit codes besides 0 that are no failure.
    pub accepted_codes: Vec<i32>,
}

impl Default for House {
    fn default() -> House {
        House {
            shell: Some("sh".to_owned()),
            same_output: false,
            input: None,
            limit: Duration::from_secs(600),
            accepted_codes: Vec::new(),
        }
    }
}

/// Commands in the same rounds.
pub struct Commands<'a> {
    commands: Vec<Outside>,
    house: House,
    /// What to count, and what of it can be counted here.
    wanted: Vec<Event>,
    counted: Vec<Event>,
    missing: Vec<String>,
    expected: Option<Digest>,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u32, u32),
}

impl<'a> Commands<'a> {
    /// Commands that count `events` where there are any.
    pub fn new(
        commands: Vec<Outside>,
        house: House,
        events: &[Event],
        stop: &'a AtomicBool,
        progress: &'a mut dyn FnMut(u32, u32),
    ) -> Commands<'a> {
        let trial = (!events.is_empty()).then(|| Counters::of_next_command(events));
        let counted = trial.iter().flat_map(Counters::events).cloned().collect();
        let missing = explain(trial.as_ref().map_or(&[][..], Counters::missing));
        let wanted = events.to_vec();
        Commands { commands, house, wanted, counted, missing, expected: None, stop, progress }
    }

    /// The names of the events that are counted, in the order of [`Sample::counts`].
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        self.counted.iter().map(|event| event.name.to_string()).collect()
    }

    /// One line for each reason why an event is not counted.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.missing.clone()
    }

    /// The digest all outputs agree on, once a first one is known.
    #[must_use]
    pub fn expected(&self) -> Option<Digest> {
        self.expected
    }

    /// Runs every command once; the first output is the expected one from then on.
    pub fn check(&mut self) -> Vec<Option<Failure>> {
        (0..self.commands.len()).map(|number| self.sample(number, 1).err()).collect()
    }

    fn command(&self, line: &str) -> Result<Command, Failure> {
        let mut command = match &self.house.shell {
            Some(shell) => {
                let mut command = Command::new(shell);
                command.args(["-c", line]);
                command
            }
            None => {
                let words = shlex::split(line).filter(|words| !words.is_empty());
                let what = format!("{line:?} cannot be split into words");
                let words = words.ok_or(Failure::Broken { what })?;
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                command
            }
        };
        command.process_group(0);
        Ok(command)
    }

    /// A line that is not timed: set-up or clean-up, always by a shell.
    fn aside(&self, line: Option<&String>, what: &str) -> Result<(), Failure> {
        let Some(line) = line else { return Ok(()) };
        let shell = self.house.shell.as_deref().unwrap_or("sh");
        let output = Command::new(shell).args(["-c", line]).stdin(Stdio::null()).output();
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => {
                let words = String::from_utf8_lossy(&output.stderr);
                let what = format!("{what} {line:?}: {}: {}", output.status, words.trim());
                Err(Failure::Broken { what })
            }
            Err(error) => Err(Failure::Broken { what: format!("{what} {line:?}: {error}") }),
        }
    }

    fn timed(&mut self, line: &str) -> Result<Sample, Failure> {
        let broken = |error: io::Error| Failure::Broken { what: format!("{line:?}: {error}") };
        let input = match &self.house.input {
            Some(path) => Stdio::from(File::open(path).map_err(broken)?),
            None => Stdio::null(),
        };
        let mut command = self.command(line)?;
        let output = if self.house.same_output { Stdio::piped() } else { Stdio::null() };
        // A file rather than a pipe: a program left running in the background would keep a pipe open.
        let mut stderr = tempfile::tempfile().map_err(broken)?;
        let errors = stderr.try_clone().map_err(broken)?;
        command.stdin(input).stdout(output).stderr(errors);
        let counters = (!self.counted.is_empty()).then(|| Counters::of_next_command(&self.wanted));
        let before = counters.as_ref().map(Counters::now);
        let begin_ns = clock::wall_ns();
        let mut child = command.spawn().map_err(broken)?;
        let stdout = child.stdout.take().map(|out| std::thread::spawn(move || digested(out)));
        let (status, used, end_ns) = self.waited(child)?;
        let counts = match (&counters, before) {
            (Some(counters), Some(before)) => {
                let counts = counters.since(&before);
                self.counted.iter().map(|event| counts.get(&event.name)).collect()
            }
            _ => Vec::new(),
        };
        let check = stdout.and_then(|thread| thread.join().ok());
        let code = status.code();
        let accepted = code.is_some_and(|code| self.house.accepted_codes.contains(&code));
        if !status.success() && !accepted {
            let how = match (status.signal(), code) {
                (Some(signal), _) => format!("signal {signal}"),
                (_, code) => format!("exit code {}", code.unwrap_or(-1)),
            };
            let words = ending(&mut stderr).unwrap_or_default();
            let how = if words.is_empty() { how } else { format!("{how}: {words}") };
            return Err(Failure::Crashed { how });
        }
        Ok(Sample {
            wall_ns: end_ns - begin_ns,
            cpu_ns: Some(used.user_ns + used.system_ns),
            check,
            tags: Tags {
                voluntary_switches: used.voluntary_switches,
                involuntary_switches: used.involuntary_switches,
                minor_faults: used.minor_faults,
                major_faults: used.major_faults,
                migrations: None,
            },
            peak_bytes: used.peak_bytes,
            counts,
        })
    }

    /// Waits for the child to its end or to the limit, when its whole group is ended.
    fn waited(
        &self,
        child: Child,
    ) -> Result<(std::process::ExitStatus, usage::Usage, u64), Failure> {
        let (sender, receiver) = channel::<()>();
        let limit = self.house.limit;
        let id = child.id();
        let watch = std::thread::spawn(move || {
            let late = receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            // Unless it ended within this very microsecond nobody has waited for it yet.
            if late {
                let _ = process::kill_group_of(id);
            }
            late
        });
        let waited = usage::wait(child);
        let end_ns = clock::wall_ns();
        drop(sender);
        if watch.join().unwrap_or(false) {
            return Err(Failure::Hung { limit_ms: limit.as_millis() as u64 });
        }
        match waited {
            Ok((status, used)) => Ok((status, used, end_ns)),
            Err(error) => Err(Failure::Broken { what: error.to_string() }),
        }
    }
}

/// The digest of everything a program writes.
fn digested(mut out: impl Read) -> Digest {
    let mut digest = Digest::default();
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = out.read(&mut buffer) {
        digest = digest.with_bytes(&buffer[..count]);
    }
    digest
}

/// The last line a program wrote, shortened.
fn ending(file: &mut File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(1 << 12)))?;
    let mut kept = Vec::new();
    file.read_to_end(&mut kept)?;
    let text = String::from_utf8_lossy(&kept);
    let line = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(line.trim().chars().take(300).collect())
}

impl Executor for Commands<'_> {
    fn sample(&mut self, contender: usize, _iterations: u64) -> Result<Sample, Failure> {
        let command = self.commands[contender].clone();
        self.aside(command.prepare.as_ref(), "set-up")?;
        let sample = self.timed(&command.line);
        self.aside(command.cleanup.as_ref(), "clean-up")?;
        let sample = sample?;
        // The empty command stands for the shell; what it prints, nothing, is compared with nobody.
        if !self.house.same_output || command.line.is_empty() {
            return Ok(sample);
        }
        match (self.expected, sample.check) {
            (None, found) => self.expected = found,
            (Some(expected), Some(found)) if expected == found => {}
            (Some(expected), found) => {
                let found = found.map_or_else(|| "missing".to_owned(), |d| d.to_string());
                return Err(Failure::WrongAnswer { expected: expected.to_string(), found });
            }
        }
        Ok(sample)
    }

    fn refresh(&mut self, _: &[usize]) -> Vec<(usize, Failure)> {
        // Every run is a fresh process already.
        Vec::new()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_of(line: &str, house: House) -> Result<Sample, Failure> {
        let stop = AtomicBool::new(false);
        let mut progress = |_: u32, _: u32| {};
        let command = Outside { line: line.to_owned(), ..Outside::default() };
        Commands::new(vec![command], house, &[], &stop, &mut progress).sample(0, 1)
    }

    #[test]
    fn a_run_counts_its_children_too() {
        let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let sample = sample_of(&format!("sh -c '{busy}'; true"), House::default()).unwrap();
        assert!(sample.cpu_ns.unwrap() > 1_000_000, "{sample:?}");
        assert!(sample.peak_bytes > 0 && sample.wall_ns > 0);
    }

    #[test]
    fn failing_commands_are_reported_with_their_words() {
        let failure = sample_of("echo broken pipe organ >&2; exit 3", House::default());
        let how = "exit code 3: broken pipe organ".to_owned();
        assert_eq!(failure.unwrap_err(), Failure::Crashed { how });
        let house = House { accepted_codes: vec![3], ..House::default() };
        assert!(sample_of("exit 3", house).is_ok());
        let house = House { shell: None, ..House::default() };
        assert!(matches!(sample_of("no-such-program", house), Err(Failure::Broken { .. })));
        let house = House { shell: None, ..House::default() };
        assert!(matches!(sample_of("echo 'open", house), Err(Failure::Broken { .. })));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let house = House { limit: Duration::from_millis(200), ..House::default() };
        let failure = sample_of("sleep 100 & sleep 100", house).unwrap_err();
        assert_eq!(failure, Failure::Hung { limit_ms: 200 });
    }

    #[test]
    fn outputs_are_compared_when_asked() {
        let stop = AtomicBool::new(false);
        let mut progress = |_: u32, _: u32| {};
        let commands = ["echo a", "echo a", "echo b"];
        let commands = commands.map(|l| Outside { line: l.to_owned(), ..Outside::default() });
        let house = House { same_output: true, ..House::default() };
        let mut commands = Commands::new(commands.to_vec(), house, &[], &stop, &mut progress);
        let failures = commands.check();
        assert_eq!(failures[..2], [None, None]);
        assert!(matches!(failures[2], Some(Failure::WrongAnswer { .. })), "{failures:?}");
        assert_eq!(commands.expected(), Some(Digest::of_bytes(b"a\n")));
    }

    #[test]
    fn set_up_and_clean_up_surround_each_run_and_input_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let shown = |name: &str| path(name).display().to_string();
        std::fs::write(path("in"), "42").unwrap();
        let stop = AtomicBool::new(false);
        let mut progress = |_: u32, _: u32| {};
        let command = Outside {
            line: format!("cat >> {}", shown("log")),
            prepare: Some(format!("printf p >> {}", shown("log"))),
            cleanup: Some(format!("printf c >> {}", shown("log"))),
        };
        let house = House { input: Some(path("in")), ..House::default() };
        let mut commands = Commands::new(vec![command], house, &[], &stop, &mut progress);
        commands.sample(0, 1).unwrap();
        commands.sample(0, 1).unwrap();
        assert_eq!(std::fs::read_to_string(path("log")).unwrap(), "p42cp42c");
    }
}
