//! Outside commands as contenders: each sample is one run of a program, its children included.
//!
//! Runs programs and reads what the kernel says they used; compares outputs, not times. A command
//! that fails is reported and gets no figures: a failure is never averaged.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fathom_machine::clock;
use fathom_machine::counter::{Counters, Event, explain};
use fathom_machine::os::ward::{End, Guard, Ward, is_stopping};

use crate::conductor::weather;
use crate::digest::Digest;
use crate::rounds::{Executor, Weather};
use crate::sample::{Failure, Sample, Tags};
use crate::scratch;

/// A command as a contender.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// What is timed.
    pub line: String,
    /// Run before each timed run, not timed.
    pub prepare: Option<String>,
    /// Run after each timed run, not timed.
    pub conclude: Option<String>,
    /// Where they run; `None` is here.
    pub folder: Option<PathBuf>,
    /// Where what it prints goes, unless that is compared.
    pub output: Target,
    /// Whether it stands for the shell: what it prints, nothing, is compared with nobody.
    pub is_shell_alone: bool,
}

/// Where the standard output of a command goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// `/dev/null`, which some programs notice.
    #[default]
    Null,
    /// A pipe whose other end throws it away.
    Pipe,
    /// Where our own goes, and its errors where ours go.
    Inherit,
    /// This file, anew in each run.
    File(PathBuf),
}

/// What holds for all commands of a measurement.
#[derive(Clone, Debug)]
pub struct House {
    /// The shell that runs the lines, with its own arguments if need be; `None` splits them into words
    /// and starts the program itself.
    pub shell: Option<String>,
    /// Digest the standard output and compare it; otherwise it is thrown away.
    pub same_output: bool,
    /// What standard input reads; `None` reads nothing.
    pub input: Option<PathBuf>,
    /// How long one run may take.
    pub limit: Duration,
    /// Exit codes besides 0 that are no failure.
    pub accepted_codes: Vec<i32>,
    /// No exit code is a failure; a signal still is.
    pub any_code: bool,
}

impl Default for House {
    fn default() -> House {
        House {
            shell: Some("sh".to_owned()),
            same_output: false,
            input: None,
            limit: Duration::from_secs(600),
            accepted_codes: Vec::new(),
            any_code: false,
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

    /// Adds a command that was checked as another one; its number.
    pub fn add(&mut self, command: Outside) -> usize {
        self.commands.push(command);
        self.commands.len() - 1
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

    /// Runs every command once that has not failed before; the first output is the expected one from
    /// then on.
    pub fn check(&mut self, failures: Vec<Option<Failure>>) -> Vec<Option<Failure>> {
        let checked = |(number, failure): (usize, Option<Failure>)| {
            failure.or_else(|| self.sample(number, 1).err())
        };
        failures.into_iter().enumerate().map(checked).collect()
    }

    fn timed(&self, outside: &Outside) -> Result<Sample, Failure> {
        let line = &outside.line;
        let broken = |error: io::Error| Failure::Broken { what: format!("{line:?}: {error}") };
        let input = self.house.input()?;
        let command = self.house.command(line, outside.folder.as_deref())?;
        let output = match (self.house.same_output, &outside.output) {
            (true, _) | (_, Target::Pipe) => Stdio::piped(),
            (_, Target::Null) => Stdio::null(),
            (_, Target::Inherit) => Stdio::inherit(),
            (_, Target::File(path)) => {
                File::create(path).map_err(|error| unopened("output", path, &error))?.into()
            }
        };
        // A file rather than a pipe: a program left running in the background would keep a pipe open.
        let mut stderr = scratch::file().map_err(broken)?.into_file();
        let errors = match outside.output {
            Target::Inherit => Stdio::inherit(),
            _ => stderr.try_clone().map_err(broken)?.into(),
        };
        // A warden would be counted as well.
        let guard = if self.counted.is_empty() { Guard::Warden } else { Guard::Group };
        let counters = (!self.counted.is_empty()).then(|| Counters::of_next_command(&self.wanted));
        let before = counters.as_ref().map(Counters::now);
        let streams = [input, output, errors];
        let mut ward = Ward::start(&command, streams, guard)
            .map_err(|error| Failure::Broken { what: not_started(&command, &error) })?;
        let (sender, digest) = channel();
        if let Some(out) = ward.stdout.take() {
            // Nobody listens any more when it was ended.
            let digests = move || sender.send(digested(out)).unwrap_or_default();
            std::thread::Builder::new().spawn(digests).map_err(broken)?;
        }
        let End { status, used, wall_ns, peak_bytes } =
            ended(&mut ward, &command, self.house.limit)?;
        let counts = match (&counters, before) {
            (Some(counters), Some(before)) => {
                let counts = counters.since(&before);
                self.counted.iter().map(|event| counts.get(&event.name)).collect()
            }
            _ => Vec::new(),
        };
        // Whoever it left behind may hold its output open.
        ward.end();
        let check = match self.house.same_output {
            true => Some(digest.recv_timeout(TIME_TO_READ).map_err(|_| Failure::Broken {
                what: format!("{line:?}: another program holds its output open"),
            })?),
            false => None,
        };
        let code = status.code();
        if !self.house.accepts(status) {
            let how = match (status.signal(), code) {
                (Some(signal), _) => format!("signal {signal}"),
                (_, code) => format!("exit code {}", code.unwrap_or(-1)),
            };
            let words = ending(&mut stderr).unwrap_or_default();
            let how = if words.is_empty() { how } else { format!("{how}: {words}") };
            return Err(Failure::Crashed { how });
        }
        Ok(Sample {
            wall_ns,
            cpu_ns: Some(used.user_ns + used.system_ns),
            user_ns: Some(used.user_ns),
            exit_code: code.unwrap_or(0),
            check,
            tags: Tags {
                voluntary_switches: used.voluntary_switches,
                involuntary_switches: used.involuntary_switches,
                minor_faults: used.minor_faults,
                major_faults: used.major_faults,
                migrations: None,
            },
            peak_bytes,
            counts,
        })
    }
}

/// Waits for the program to end, at most until the limit.
fn ended(ward: &mut Ward, command: &Command, limit: Duration) -> Result<End, Failure> {
    match ward.wait(limit) {
        Ok(Some(end)) => Ok(end),
        Ok(None) if is_stopping() => Err(Failure::Interrupted),
        Ok(None) => Err(Failure::hung(limit)),
        // What has a slash in its name is looked for by the system, after its warden has begun.
        Err(error) if error.raw_os_error().is_some() => {
            Err(Failure::Broken { what: not_started(command, &error) })
        }
        Err(error) => Err(Failure::Broken { what: error.to_string() }),
    }
}

/// How long the last of a program's output may take to be read once it has ended.
const TIME_TO_READ: Duration = Duration::from_secs(10);
/// How long clean-up may take once the user has ended the measurement.
pub const TIME_TO_CLEAN: Duration = Duration::from_millis(500);

impl House {
    /// Runs a program once, untimed, on the input, for at most `times` as long as a run may take.
    ///
    /// # Errors
    /// Why it cannot be run, that it hung, or that the user ended it.
    pub fn run(&self, command: &Command, times: u32) -> Result<ExitStatus, Failure> {
        let streams = [self.input()?, Stdio::null(), Stdio::null()];
        let mut ward = Ward::start(command, streams, Guard::Warden)
            .map_err(|error| Failure::Broken { what: not_started(command, &error) })?;
        ended(&mut ward, command, self.limit.saturating_mul(times)).map(|end| end.status)
    }

    /// Whether a program that ended so did not fail.
    #[must_use]
    pub fn accepts(&self, status: ExitStatus) -> bool {
        let is_accepted = |code| self.any_code || self.accepted_codes.contains(&code);
        status.success() || status.code().is_some_and(is_accepted)
    }

    /// A run of a command, between what is run before and after each.
    ///
    /// # Errors
    /// That the user ended the measurement; what the run answers; else how what surrounds it failed.
    pub fn around<T>(
        &self,
        outside: &Outside,
        run: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if is_stopping() {
            return Err(Failure::Interrupted);
        }
        let aside = |line: &Option<String>, what, after_stop| {
            let aside = |line| self.aside(line, outside.folder.as_deref(), what, after_stop);
            line.as_deref().map(aside).transpose()
        };
        // A server that it leaves in the background is there until clean-up is done.
        let prepared = aside(&outside.prepare, "--prepare", Duration::ZERO)?;
        let done = run();
        let cleaned = aside(&outside.conclude, "--conclude", TIME_TO_CLEAN);
        drop(prepared);
        let (done, _) = (done?, cleaned?);
        Ok(done)
    }

    fn input(&self) -> Result<Stdio, Failure> {
        let Some(path) = &self.input else { return Ok(Stdio::null()) };
        File::open(path).map(Stdio::from).map_err(|error| unopened("input", path, &error))
    }

    /// Runs a line that is not timed, always by a shell. What it leaves running runs until it is
    /// dropped. From the moment the user ends the measurement it has `after_stop` left.
    ///
    /// # Errors
    /// [`Failure::Broken`]: how it failed, with `what` it was for.
    pub fn aside(
        &self,
        line: &str,
        folder: Option<&Path>,
        what: &str,
        after_stop: Duration,
    ) -> Result<Ward, Failure> {
        let broken = |how: String| Failure::Broken { what: format!("{what} {line:?}: {how}") };
        let cannot = |error: io::Error| broken(error.to_string());
        let shell = self.shell.as_deref().unwrap_or("sh");
        let command = in_folder(by_shell(shell, line)?, folder);
        let mut stderr = scratch::file().map_err(cannot)?.into_file();
        let errors = stderr.try_clone().map_err(cannot)?;
        let streams = [Stdio::null(), Stdio::null(), errors.into()];
        let mut ward = Ward::start(&command, streams, Guard::Warden)
            .map_err(|error| broken(not_started(&command, &error)))?;
        let mut since_stop = None;
        let end = loop {
            match ended(&mut ward, &command, self.limit) {
                Err(Failure::Interrupted)
                    if since_stop.get_or_insert_with(Instant::now).elapsed() < after_stop => {}
                Err(Failure::Broken { what }) => return Err(broken(what)),
                Err(Failure::Hung { limit_ms }) => {
                    return Err(broken(format!("hung: not done within {limit_ms} ms")));
                }
                end => break end?,
            }
        };
        if end.status.success() {
            return Ok(ward);
        }
        let words = ending(&mut stderr).unwrap_or_default();
        let colon = if words.is_empty() { "" } else { ": " };
        Err(broken(format!("{}{colon}{words}", end.status)))
    }

    /// The program that a line runs.
    ///
    /// # Errors
    /// [`Failure::Broken`]: without a shell, a line that cannot be split into words.
    pub fn command(&self, line: &str, folder: Option<&Path>) -> Result<Command, Failure> {
        let command = match &self.shell {
            Some(shell) => by_shell(shell, line)?,
            None => by_words(line)?,
        };
        Ok(in_folder(command, folder))
    }
}

/// A file of a command's that could not be opened; `what` it is.
fn unopened(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::Broken { what: format!("{what} {path:?}: {error}") }
}

/// A program that could not be started: a shell, or what a line without one names.
fn not_started(command: &Command, error: &io::Error) -> String {
    let program = command.get_program().display();
    let place = command.get_current_dir().map(|folder| format!(" in {}", folder.display()));
    let place = place.unwrap_or_default();
    format!("cannot start {program}{place}: {error}")
}

fn by_words(line: &str) -> Result<Command, Failure> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let what = match line.trim().is_empty() {
        true => "without a shell there is no empty command".to_owned(),
        false => format!("{line:?} cannot be split into words"),
    };
    let words = words.ok_or(Failure::Broken { what })?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Ok(command)
}

fn by_shell(shell: &str, line: &str) -> Result<Command, Failure> {
    let mut command = by_words(shell)?;
    command.args(["-c", line]);
    Ok(command)
}

fn in_folder(mut command: Command, folder: Option<&Path>) -> Command {
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command
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
        let command = &self.commands[contender];
        let sample = self.house.around(command, || self.timed(command))?;
        if !self.house.same_output || command.is_shell_alone {
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
        is_stopping() || self.stop.load(Ordering::Relaxed)
    }

    fn progress(&mut self, done: u32, planned: u32) {
        (self.progress)(done, planned);
    }
}

/// A line with the value of each parameter in the place of `{name}`, from left to right: braces of a value are its
/// own.
#[must_use]
pub fn filled(line: &str, parameters: &BTreeMap<String, String>) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('{') {
        let named = |(name, value): (&String, &String)| {
            let behind = after.strip_prefix(name.as_str())?.strip_prefix('}')?;
            Some((value.clone(), behind))
        };
        let (value, behind) =
            parameters.iter().find_map(named).unwrap_or_else(|| ("{".to_owned(), after));
        text += before;
        text += &value;
        rest = behind;
    }
    text + rest
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a value had in braces was replaced as well.
    #[test]
    fn parameters_are_filled_in_once() {
        let parameters = [("n", "3"), ("m", "{n},{m}")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let line = filled("head -{n} {m} {o} {{n} {n", &parameters.into());
        assert_eq!(line, "head -3 {n},{m} {o} {3 {n");
    }

    /// Commands that the user does not end.
    fn with<T>(
        commands: Vec<Outside>,
        house: House,
        act: impl FnOnce(&mut Commands<'_>) -> T,
    ) -> T {
        let stop = AtomicBool::new(false);
        let mut progress = |_: u32, _: u32| {};
        act(&mut Commands::new(commands, house, &[], &stop, &mut progress))
    }

    fn outside(line: &str) -> Outside {
        Outside { line: line.to_owned(), ..Outside::default() }
    }

    fn sample_of(line: &str, house: House) -> Result<Sample, Failure> {
        with(vec![outside(line)], house, |commands| commands.sample(0, 1))
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
        for program in ["no-such-program", "/no/such/program"] {
            let failure = sample_of(program, house.clone()).unwrap_err().to_string();
            assert!(failure.contains(&format!("cannot start {program}: ")), "{failure}");
        }
        // The shell, not the line that it would have run.
        for shell in ["no-such-shell", "/no/such/shell"] {
            let house = House { shell: Some(format!("{shell} -x")), ..House::default() };
            let failure = sample_of("true", house.clone()).unwrap_err().to_string();
            let why = format!("cannot start {shell}: ");
            assert!(failure.contains(&why), "{failure}");
            let failure = house.aside("true", None, "set-up", TIME_TO_CLEAN).unwrap_err();
            assert!(failure.to_string().contains(&format!("set-up \"true\": {why}")), "{failure}");
        }
        let house = House { shell: None, ..House::default() };
        assert!(matches!(sample_of("echo 'open", house), Err(Failure::Broken { .. })));
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_named() {
        let nowhere = PathBuf::from("/nowhere/at all");
        let house = House { input: Some(nowhere.clone()), ..House::default() };
        let what = |what: &str| Failure::Broken {
            what: format!("{what} \"/nowhere/at all\": No such file or directory (os error 2)"),
        };
        assert_eq!(sample_of("cat", house).unwrap_err(), what("input"));
        let command = Outside { output: Target::File(nowhere), ..outside("true") };
        let sample = with(vec![command], House::default(), |commands| commands.sample(0, 1));
        assert_eq!(sample.unwrap_err(), what("output"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let (_folder, file) = pids();
        // Long enough to have started them.
        let house = House { limit: Duration::from_secs(2), ..House::default() };
        let line = format!("sleep 100 & echo $! $$ >{}; sleep 100", file.display());
        let begin = Instant::now();
        let failure = sample_of(&line, house).unwrap_err();
        assert_eq!(failure, Failure::Hung { limit_ms: 2000 });
        assert!(begin.elapsed() < SOON);
        assert_gone(&file, 2);
    }

    /// Where a line writes the processes that it leaves.
    pub(crate) fn pids() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        (folder, file)
    }

    /// That many processes are named, and none of them is left; one that was ended and that nobody has
    /// waited for yet is none.
    pub(crate) fn assert_gone(pids: &Path, count: usize) {
        let pids = std::fs::read_to_string(pids).unwrap();
        assert_eq!(pids.split_whitespace().count(), count, "{pids:?}");
        let lives = |pid: &str| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        let begin = Instant::now();
        while pids.split_whitespace().any(lives) {
            assert!(begin.elapsed() < SOON, "{pids}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn sample_prepared(
        prepare: &str,
        conclude: Option<String>,
        limit: Duration,
    ) -> Result<Sample, Failure> {
        let prepare = Some(prepare.to_owned());
        let command = Outside { prepare, conclude, ..outside("true") };
        let house = House { limit, ..House::default() };
        with(vec![command], house, |commands| commands.sample(0, 1))
    }

    /// Far below what the sleepers sleep, far above what a loaded machine needs.
    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn set_up_that_leaves_a_program_in_the_background_is_not_waited_for() {
        for line in ["sleep 100 &", "setsid sleep 100 &"] {
            let (_folder, file) = pids();
            let pids = file.display();
            let begin = Instant::now();
            // It lives until its run has been concluded.
            let conclude = Some(format!("kill -0 $(cat {pids})"));
            let line = format!("{line} echo $! >{pids}");
            sample_prepared(&line, conclude, Duration::from_secs(60)).unwrap();
            assert!(begin.elapsed() < SOON, "{line}");
            assert_gone(&file, 1);
        }
    }

    #[test]
    fn set_up_that_hangs_is_ended_at_the_limit() {
        let begin = Instant::now();
        let failure = sample_prepared("sleep 100", None, Duration::from_millis(200)).unwrap_err();
        let what = "--prepare \"sleep 100\": hung: not done within 200 ms".to_owned();
        assert_eq!(failure, Failure::Broken { what });
        assert!(begin.elapsed() < SOON);
    }

    #[test]
    fn output_held_open_by_a_program_in_the_background_is_not_waited_for() {
        let house = || House { same_output: true, ..House::default() };
        for line in ["sleep 100 & echo x", "setsid sleep 100 & echo x"] {
            let (_folder, file) = pids();
            let line = format!("{line}; echo $! >{}", file.display());
            let begin = Instant::now();
            let sample = sample_of(&line, house()).unwrap();
            assert_eq!(sample.check, Some(Digest::of_bytes(b"x\n")), "{line}");
            assert!(begin.elapsed() < SOON, "{line}");
            assert_gone(&file, 1);
        }
    }

    #[test]
    fn outputs_are_compared_when_asked() {
        let commands = ["echo a", "echo a", "echo b"].map(outside).to_vec();
        let house = House { same_output: true, ..House::default() };
        let (failures, expected) =
            with(commands, house, |commands| (commands.check(vec![None; 3]), commands.expected()));
        assert_eq!(failures[..2], [None, None]);
        assert!(matches!(failures[2], Some(Failure::WrongAnswer { .. })), "{failures:?}");
        assert_eq!(expected, Some(Digest::of_bytes(b"a\n")));
    }

    #[test]
    fn set_up_and_clean_up_surround_each_run_and_input_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let shown = |name: &str| path(name).display().to_string();
        std::fs::write(path("in"), "42").unwrap();
        let command = Outside {
            prepare: Some(format!("printf p >> {}", shown("log"))),
            conclude: Some(format!("printf c >> {}", shown("log"))),
            ..outside(&format!("cat >> {}", shown("log")))
        };
        let house = House { input: Some(path("in")), ..House::default() };
        with(vec![command], house, |commands| {
            (0..2).for_each(|_| drop(commands.sample(0, 1).unwrap()));
        });
        assert_eq!(std::fs::read_to_string(path("log")).unwrap(), "p42cp42c");
    }
}
