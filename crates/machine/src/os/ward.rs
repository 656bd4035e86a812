//! Programs under guard: whatever a program starts ends with it, its peak memory is its own, and no
//! wait for it is without a limit.
//!
//! Between us and the program stands the *warden* (`warden/main.rs`), which the kernel gives every
//! orphan below it. Where it cannot run (another kind of processor, no procfs) the program is
//! started without: then only its process group is ended, and its peak memory is unknown.

use std::env;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::io::Errno;
use rustix::process::{Signal, kill_process};

use super::process::{kill_group_of, raw_id};
use super::usage::{self, Usage};
use crate::clock;

/// Set when the user wants everything to end: all waits here give up within a tenth of a second.
pub static STOP: AtomicBool = AtomicBool::new(false);
/// Whether somebody has seen [`STOP`] set, and is about to end.
pub static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether everything is to end; who asks is going to.
pub fn is_stopping() -> bool {
    let stop = STOP.load(Ordering::Relaxed);
    if stop {
        SEEN.store(true, Ordering::Relaxed);
    }
    stop
}

/// Between two looks at [`STOP`].
const LOOK: Duration = Duration::from_millis(100);
/// For what takes microseconds on a machine that is not overloaded.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program under guard. Dropped, it and everything it started ends.
#[derive(Debug)]
pub struct Ward {
    /// What writes to it, if it was asked for; nobody waits on these: see [`ready`].
    pub stdin: Option<ChildStdin>,
    /// What it writes.
    pub stdout: Option<ChildStdout>,
    /// What it complains.
    pub stderr: Option<ChildStderr>,
    /// `None` without one, and once it has ended.
    warden: Option<Child>,
    id: u32,
    records: PipeReader,
    end: Option<End>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Its exit code or signal.
    pub status: ExitStatus,
    /// What it, and the children it waited for, used.
    pub used: Usage,
    /// The most memory ever resident in it or in the largest child it waited for, in bytes; 0 when
    /// there was no warden to know.
    pub peak_bytes: u64,
    /// From just before its process was made until its end was seen, in nanoseconds.
    pub wall_ns: u64,
}

/// Whether there is a warden between us and a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// One that does not count what events count, but leaves processes in groups of their own.
    Group,
    /// One that knows everybody.
    Warden,
}

/// The words of a record: see `warden/main.rs`.
type Record = [u64; 21];
const STARTED: u64 = 1;
const REFUSED: u64 = 2;
const ENDED: u64 = 3;
const WANTS_TERMINAL: &str = "it wants the terminal, which nothing that is measured is given";

impl Ward {
    /// Starts the program of `command` with its arguments, environment and folder, as leader of a
    /// process group of its own, with these standard streams.
    ///
    /// # Errors
    /// What the operating system answers. That there is no such program may show only when it is
    /// waited for.
    pub fn start(command: &Command, streams: [Stdio; 3], guard: Guard) -> io::Result<Ward> {
        let (records, writer) = io::pipe()?;
        match (guard, warden()) {
            (Guard::Warden, Some(file)) => Ward::guarded(command, streams, file, records, writer),
            _ => Ward::alone(command, streams, records, writer),
        }
    }

    fn guarded(
        command: &Command,
        streams: [Stdio; 3],
        file: &OwnedFd,
        records: PipeReader,
        writer: PipeWriter,
    ) -> io::Result<Ward> {
        let mut warden = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        warden.arg(format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd()));
        warden.arg(found(command)?).arg(command.get_program()).args(command.get_args());
        let mut child = spawned(warden, command, streams)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let warden = Some(child);
        let mut ward = Ward { stdin, stdout, stderr, warden, id: 0, records, end: None };
        match ward.record(PATIENCE)? {
            Some([STARTED, id, ..]) => {
                ward.id = id as u32;
                // The only one left is the warden's: its end is the end of the stream.
                drop(writer);
                Ok(ward)
            }
            Some([REFUSED, error, ..]) => Err(io::Error::from_raw_os_error(error as i32)),
            _ => Err(io::Error::other("its process does not start")),
        }
    }

    fn alone(
        command: &Command,
        streams: [Stdio; 3],
        records: PipeReader,
        mut writer: PipeWriter,
    ) -> io::Result<Ward> {
        let mut program = Command::new(command.get_program());
        program.args(command.get_args());
        let begin_ns = clock::wall_ns();
        let mut child = spawned(program, command, streams)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let id = child.id();
        // Ends with the program, which `Ward::end` sees to.
        std::thread::Builder::new().spawn(move || {
            usage::until_ended(&child, |status| {
                let used = Usage::default();
                let _ = writer.write_all(&End { status, used, wall_ns: 0, peak_bytes: 0 }.record());
            });
            let wall_ns = clock::wall_ns() - begin_ns;
            // What it left behind. Its number is nobody else's until it is waited for.
            let _ = kill_group_of(id);
            let Ok((status, used)) = usage::wait(child) else { return };
            let _ = writer.write_all(&End { status, used, wall_ns, peak_bytes: 0 }.record());
        })?;
        Ok(Ward { stdin, stdout, stderr, warden: None, id, records, end: None })
    }

    /// The program's process number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Waits for the program, not for what it left behind, to end: how it did, or `None` when
    /// `limit` has passed or everything is to end ([`STOP`]).
    ///
    /// # Errors
    /// That it could not be started, wants the terminal, or was lost with its warden.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<End>> {
        while self.end.is_none() {
            match self.record(limit)? {
                None => return Ok(None),
                Some([REFUSED, error, ..]) => {
                    return Err(io::Error::from_raw_os_error(error as i32));
                }
                Some(record @ [ENDED, ..]) => match End::from(record) {
                    end if end.status.stopped_signal().is_some() => {
                        return Err(io::Error::other(WANTS_TERMINAL));
                    }
                    end => self.end = Some(end),
                },
                Some(_) => {}
            }
        }
        Ok(self.end)
    }

    /// The next record; `None` at the limit.
    fn record(&mut self, limit: Duration) -> io::Result<Option<Record>> {
        let begin = Instant::now();
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            if ready(&[self.records.as_fd()], None, left.min(LOOK))?[0] {
                break;
            }
            if left.is_zero() || is_stopping() {
                return Ok(None);
            }
            // Before it has opened the pipe, only this tells of its end.
            if let (0, Some(warden)) = (self.id, &mut self.warden)
                && warden.try_wait()?.is_some()
            {
                return Err(io::Error::other("its process did not start"));
            }
        }
        let mut bytes = [0; size_of::<Record>()];
        self.records.read_exact(&mut bytes).map_err(|_| io::Error::other("its warden was lost"))?;
        let mut record = [0; 21];
        for (word, bytes) in record.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        Ok(Some(record))
    }

    /// Ends the program and all it started: within milliseconds, but for processes of other users or stuck in the
    /// kernel, which are left to themselves after a second in which nobody ended, and all after some ten.
    pub fn end(&mut self) {
        /// More than a warden takes before it gives up.
        const LIMIT: Duration = Duration::from_secs(11);
        let Some(mut warden) = self.warden.take() else {
            (self.stdin, self.stdout, self.stderr) = (None, None, None);
            if self.end.is_none() {
                let _ = kill_group_of(self.id);
                self.until_closed(Duration::from_secs(2));
                self.end = Some(End::from([0; 21]));
            }
            return;
        };
        // The program's streams are closed once it is killed: at the end of its input it would begin to clean up, and
        // half of that is worse than none.
        if let Ok(id) = raw_id(warden.id()) {
            let _ = kill_process(id, Signal::TERM);
        }
        self.until_closed(LIMIT);
        if !matches!(warden.try_wait(), Ok(Some(_))) {
            let _ = warden.kill();
            let _ = warden.wait();
        }
        (self.stdin, self.stdout, self.stderr) = (None, None, None);
    }

    /// Waits until nobody holds the other end of the records.
    fn until_closed(&mut self, limit: Duration) {
        let begin = Instant::now();
        let mut bytes = [0; size_of::<Record>()];
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            match ready(&[self.records.as_fd()], None, left) {
                Ok(answer) if answer[0] => {}
                // A signal ends a wait before its time.
                Ok(_) if !left.is_zero() => continue,
                _ => return,
            }
            if !matches!(self.records.read(&mut bytes), Ok(1..)) {
                return;
            }
        }
    }
}

impl Drop for Ward {
    fn drop(&mut self) {
        self.end();
    }
}

impl AsFd for Ward {
    /// Can be read when [`Ward::wait`] has something to say.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }
}

impl End {
    fn record(&self) -> Vec<u8> {
        let mut words = [0; 21];
        words[..3].copy_from_slice(&[ENDED, self.status.into_raw() as u64, self.wall_ns]);
        let micros = |ns: u64| ns / 1_000;
        words[4] = micros(self.used.user_ns);
        words[6] = micros(self.used.system_ns);
        words[11] = self.used.minor_faults;
        words[12] = self.used.major_faults;
        words[19] = self.used.voluntary_switches;
        words[20] = self.used.involuntary_switches;
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

impl From<Record> for End {
    fn from(words: Record) -> End {
        let ns = |at: usize| words[at] * 1_000_000_000 + words[at + 1] * 1_000;
        End {
            status: ExitStatus::from_raw(words[1] as i32),
            wall_ns: words[2],
            peak_bytes: words[7] * 1024,
            used: Usage {
                user_ns: ns(3),
                system_ns: ns(5),
                minor_faults: words[11],
                major_faults: words[12],
                voluntary_switches: words[19],
                involuntary_switches: words[20],
            },
        }
    }
}

/// `program`, a group of its own, in the surroundings of `like`.
fn spawned(mut program: Command, like: &Command, streams: [Stdio; 3]) -> io::Result<Child> {
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    if let Some(folder) = like.get_current_dir() {
        program.current_dir(folder);
    }
    let [stdin, stdout, stderr] = streams;
    program.process_group(0).stdin(stdin).stdout(stdout).stderr(stderr).spawn()
}

/// The file of a program, which the shell's rules find on the search path.
fn found(command: &Command) -> io::Result<PathBuf> {
    let name = command.get_program();
    if name.as_encoded_bytes().contains(&b'/') {
        return Ok(name.into());
    }
    let given = command.get_envs().find(|(variable, _)| *variable == "PATH");
    let path = match given {
        Some((_, value)) => value.map(ToOwned::to_owned),
        None => env::var_os("PATH"),
    };
    let folders = path.unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut files = env::split_paths(&folders).map(|folder| folder.join(name));
    let runs = |file: &PathBuf| {
        file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
    };
    files.find(runs).ok_or_else(|| Errno::NOENT.into())
}

/// The warden as a file of memory that can be run; `None` where it cannot.
fn warden() -> Option<&'static OwnedFd> {
    static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/warden"));
    static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let make = || {
        let flags = MemfdFlags::CLOEXEC;
        // Kernels before 6.3 do not know the second flag; some after it refuse without.
        let file = memfd_create("warden", flags | MemfdFlags::EXEC)
            .or_else(|_| memfd_create("warden", flags))
            .ok()?;
        let mut file = File::from(file);
        file.write_all(PROGRAM).ok()?;
        // Without arguments it only says so.
        let trial = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .stdin(Stdio::null())
            .status();
        (trial.ok()?.code() == Some(2)).then(|| file.into())
    };
    FILE.get_or_init(make).as_ref()
}

/// Waits at most `limit` until one of `read` can be read without waiting or has ended, or `write`
/// can be written or has; says which, `write` last.
///
/// # Errors
/// What the operating system answers.
pub fn ready(
    read: &[BorrowedFd<'_>],
    write: Option<BorrowedFd<'_>>,
    limit: Duration,
) -> io::Result<Vec<bool>> {
    let mut all: Vec<PollFd<'_>> =
        read.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    all.extend(write.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 1 << 30, tv_nsec: 0 });
    match poll(&mut all, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(all.iter().map(|fd| !fd.revents().is_empty()).collect())
}

/// From now on reading and writing never wait, but fail with `WouldBlock`.
///
/// # Errors
/// What the operating system answers.
pub fn never_wait(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfl(&fd)?;
    Ok(fcntl_setfl(&fd, flags | OFlags::NONBLOCK)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> [Stdio; 3] {
        [Stdio::null(), Stdio::null(), Stdio::null()]
    }

    fn shell(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    const WARDEN: &str = "right to run a file in memory";

    fn peak_of(command: &Command) -> u64 {
        let mut ward = Ward::start(command, nothing(), Guard::Warden).unwrap();
        let end = ward.wait(PATIENCE).unwrap().unwrap();
        assert!(end.status.success(), "{end:?}");
        end.peak_bytes
    }

    /// The number of processes with these words in their command line.
    fn running(words: &str) -> usize {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines
            .filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(words))
            .count()
    }

    #[test]
    fn the_peak_of_a_program_is_not_that_of_who_started_it() {
        crate::needs!(WARDEN, warden().is_some());
        // What made every small command look as large as the program that measured it.
        let ours = std::hint::black_box(vec![1_u8; 64 << 20]);
        let small = peak_of(&Command::new("true"));
        assert!((100 << 10..4 << 20).contains(&small), "{small} of `true`");
        for megabytes in [10_u64, 100] {
            let mut dd = Command::new("dd");
            dd.args(["if=/dev/zero", "of=/dev/null", "count=1", &format!("bs={megabytes}M")]);
            let peak = peak_of(&dd);
            assert!((megabytes..megabytes + 4).contains(&(peak >> 20)), "{peak} of {megabytes} MB");
        }
        drop(ours);
    }

    #[test]
    fn groups_and_sessions_of_their_own_end_with_the_program() {
        crate::needs!(WARDEN, warden().is_some());
        let line =
            "sleep 7771 & setsid sleep 7771 & (setsid sh -c 'setsid sleep 7771 & sleep 7771' &)";
        for ends_itself in [true, false] {
            let line = format!("{line}{}", if ends_itself { "" } else { "; sleep 7771" });
            let mut ward = Ward::start(&shell(&line), nothing(), Guard::Warden).unwrap();
            let end = ward.wait(Duration::from_millis(500)).unwrap();
            assert_eq!(end.is_some(), ends_itself);
            // Whoever started them may have ended before they have become what they are called.
            let start = Instant::now();
            while running("sleep 7771") < 4 {
                assert!(start.elapsed() < PATIENCE, "they were never all there");
                std::thread::sleep(Duration::from_millis(5));
            }
            ward.end();
            assert_eq!(running("sleep 7771"), 0);
        }
    }

    #[test]
    fn what_a_program_did_is_said_with_and_without_a_warden() {
        for guard in [Guard::Warden, Guard::Group] {
            let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 7";
            let mut ward = Ward::start(&shell(busy), nothing(), guard).unwrap();
            let end = ward.wait(PATIENCE).unwrap().unwrap();
            assert_eq!(end.status.code(), Some(7), "{guard:?}");
            let cpu_ns = end.used.user_ns + end.used.system_ns;
            assert!(cpu_ns > 1_000_000 && end.wall_ns > 1_000_000, "{guard:?} {end:?}");
            assert!(end.used.minor_faults > 0, "{guard:?} {end:?}");
            let mut ward = Ward::start(&shell("kill -9 $$"), nothing(), guard).unwrap();
            assert_eq!(ward.wait(PATIENCE).unwrap().unwrap().status.signal(), Some(9));
        }
    }

    /// `fathom run 'sudo …'` was told to hang, after ten minutes. One that is stopped by somebody who lets it go on is
    /// waited for.
    #[test]
    fn a_program_that_wants_the_terminal_is_told_so() {
        for guard in [Guard::Warden, Guard::Group] {
            for signal in ["TTIN", "TTOU"] {
                let line = format!("kill -{signal} $$; sleep 7776");
                let mut ward = Ward::start(&shell(&line), nothing(), guard).unwrap();
                let error = ward.wait(PATIENCE).unwrap_err();
                assert_eq!(error.to_string(), WANTS_TERMINAL, "{guard:?} {signal}");
                drop(ward);
                assert_eq!(running("sleep 7776"), 0);
            }
            let line = "(sleep 0.1; kill -CONT $$) & kill -STOP $$; exit 3";
            let mut ward = Ward::start(&shell(line), nothing(), guard).unwrap();
            let end = ward.wait(PATIENCE).unwrap().unwrap();
            assert_eq!(end.status.code(), Some(3), "{guard:?}");
        }
    }

    /// They went on, and beside them the next sample.
    #[test]
    fn what_a_program_left_behind_ends_with_it() {
        for (guard, seconds) in [(Guard::Warden, "7774"), (Guard::Group, "7775")] {
            let left = format!("sleep {seconds}");
            let command = shell(&format!("{left} & sleep 0.05"));
            let mut ward = Ward::start(&command, nothing(), guard).unwrap();
            let end = ward.wait(PATIENCE).unwrap().unwrap();
            assert!(end.status.success(), "{guard:?}");
            drop(ward);
            let begin = Instant::now();
            while running(&left) > 0 {
                assert!(begin.elapsed() < PATIENCE, "{guard:?}");
            }
        }
    }

    #[test]
    fn no_such_program_is_an_error_in_time() {
        for guard in [Guard::Warden, Guard::Group] {
            for name in ["no-such-program", "/no/such/program"] {
                let ward = Ward::start(&Command::new(name), nothing(), guard);
                let error = ward.and_then(|mut ward| ward.wait(PATIENCE)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{guard:?} {name}");
            }
        }
    }

    #[test]
    fn a_lost_warden_is_an_error_and_takes_the_program_with_it() {
        crate::needs!(WARDEN, warden().is_some());
        let mut ward = Ward::start(&shell("exec sleep 7772"), nothing(), Guard::Warden).unwrap();
        ward.warden.as_mut().unwrap().kill().unwrap();
        let error = ward.wait(PATIENCE).unwrap_err();
        assert!(error.to_string().contains("warden was lost"), "{error}");
        let begin = Instant::now();
        while running("sleep 7772") > 0 {
            assert!(begin.elapsed() < PATIENCE);
        }
    }
}
