//! Where results go: stdout, or a file that appears whole or not at all.
//!
//! A file is written under another name in its folder and renamed when it is complete; an error,
//! a panic, Ctrl-C or a request to terminate removes it. Links are followed, also to files that do
//! not exist yet; a file that is replaced hands on its permissions. What is already there and is no
//! regular file (a terminal, a pipe, `/dev/null`) is written to directly, since a rename would replace it; and so
//! is what is open already (`/dev/stdout`, `/proc/self/fd/3`), where it is, whatever file is behind it.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use anyhow::{Context, ensure};
use fathom_machine::os::file;
use fathom_measure::scratch;
use fathom_report::wrap;
use tempfile::NamedTempFile;

use crate::{input, interrupt};

/// Characters in a line of the terminal that is written to, if it is one; of a pipe what `COLUMNS` says.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = console::Term::stdout().size_checked();
    let said = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0);
    size.map(|(_, columns)| usize::from(columns)).or_else(said)
}

/// The same; the usual number where it is none.
#[cfg(feature = "kv")]
pub(crate) fn width() -> usize {
    terminal_width().unwrap_or(wrap::USUAL)
}

/// Whether stdout has colours; a variable that is empty says nothing.
pub(crate) fn is_coloured() -> bool {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if said("NO_COLOR").is_some() {
        return false;
    }
    if said("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let is_off = said("CLICOLOR").is_some_and(|value| value == "0");
    let is_dumb = said("TERM").is_none_or(|terminal| terminal == "dumb");
    io::stdout().is_terminal() && !is_off && !is_dumb
}

/// Characters of a label of the [description](fathom_machine::describe::Machine::text) of a machine, and the blanks
/// behind it.
pub(crate) const LABEL: usize = 13;

/// Lines as they fit the terminal, if there is one: what does not goes on below, behind so many blanks.
pub(crate) fn fitted(text: &str, indent: usize) -> String {
    let Some(width) = terminal_width() else { return text.to_owned() };
    text.lines().map(|line| wrap::wrapped(line, width, indent) + "\n").collect()
}

/// Prose as it fits the terminal, if there is one.
pub(crate) fn filled(prose: &str) -> String {
    terminal_width().map_or_else(|| prose.to_owned(), |width| wrap::filled(prose, width))
}

/// Writes to stdout, at once, unless its [reader has gone](unless_closed).
///
/// # Errors
/// When that fails; says that it was stdout.
pub(crate) fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    write(text.as_ref(), Path::new("-"))
}

/// Writes to stdout for `-`, otherwise to the file; the same of a pipe.
///
/// # Errors
/// When that fails.
pub(crate) fn write(content: &[u8], path: &Path) -> anyhow::Result<()> {
    let mut output = Output::create(path)?;
    let written = output.write_all(content).map_err(Into::into);
    unless_closed(written.and_then(|()| output.finish())).map(drop)
}

/// What came of writing a result, or None: a reader that closed the pipe, as `head` does, has no part in how the run ends.
///
/// # Errors
/// All others.
pub(crate) fn unless_closed<T>(written: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match written {
        Err(error) if is_broken_pipe(&error) => {
            CLOSED.store(true, Ordering::Relaxed);
            Ok(None)
        }
        written => written.map(Some),
    }
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether a reader has gone, for those who write to nobody else.
pub(crate) fn is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

static CLOSED: AtomicBool = AtomicBool::new(false);

/// The error of a temporary file without its name, for which nobody asked.
pub(crate) fn nameless(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((said, _)) => io::Error::new(error.kind(), said),
        None => error,
    }
}

/// Makes a folder for outputs, if it is not there.
///
/// # Errors
/// When it cannot be made; names it.
pub(crate) fn made(folder: &Path) -> anyhow::Result<()> {
    input::ensure_local(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// An output that was opened; nothing counts until [`Output::finish`].
pub(crate) struct Output {
    writer: BufWriter<File>,
    /// The file in the making, when there is one to rename.
    pending: Option<Pending>,
    /// What messages call it.
    pub(crate) name: String,
}

struct Pending {
    // Dropped first: removes the file if it was not persisted.
    file: Option<NamedTempFile>,
    target: PathBuf,
    entry: PathBuf,
}

impl Output {
    /// Opens stdout for `-`, otherwise the file.
    ///
    /// # Errors
    /// When the file or its folder cannot be written.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Output> {
        if path == Path::new("-") {
            let stdout = io::stdout().as_fd().try_clone_to_owned().context("stdout")?;
            return Ok(Output::direct(File::from(stdout), "stdout".into()));
        }
        input::ensure_local(path)?;
        let name = path.display().to_string();
        if path.as_os_str().as_bytes().ends_with(b"/") {
            // A folder: one that is missing, or a file, is told as what it is.
            fs::metadata(path).with_context(|| format!("cannot create {name}"))?;
        }
        if let Some(number) = descriptor(path) {
            let file = file::opened(number).with_context(|| format!("cannot write {name}"))?;
            return Ok(Output::direct(File::from(file), name));
        }
        let target = followed(path).with_context(|| format!("cannot create {name}"))?;
        // A name that is too long, say, would be refused when all is written.
        let existing = match fs::metadata(&target) {
            Err(none) if none.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.with_context(|| format!("cannot create {name}"))?),
        };
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = File::options().write(true).open(&target);
            return Ok(Output::direct(file.with_context(|| format!("cannot write {name}"))?, name));
        }
        let permissions = existing.map(|existing| existing.permissions());
        let pending = Pending::create(target, permissions)
            .with_context(|| format!("cannot create {name}"))?;
        let file = pending.file.as_ref().expect("just created").as_file().try_clone()?;
        Ok(Output { writer: buffered(file), pending: Some(pending), name })
    }

    fn direct(file: File, name: String) -> Output {
        Output { writer: buffered(file), pending: None, name }
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// When either fails; the file is gone then.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.finish_by(Pending::persist)
    }

    /// The same, but nothing is replaced: where a file has the name, this one gets the next that is free,
    /// `run_2.json` for `run.json`.
    ///
    /// # Errors
    /// As [`finish`](Output::finish).
    pub(crate) fn finish_new(self) -> anyhow::Result<()> {
        self.finish_by(Pending::persist_new)
    }

    fn finish_by(mut self, persist: fn(Pending) -> io::Result<()>) -> anyhow::Result<()> {
        self.flush()?;
        let name = &self.name;
        if let Some(pending) = self.pending.take() {
            persist(pending).with_context(|| format!("cannot create {name}"))?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| named(&self.name, &error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes).map_err(|error| named(&self.name, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| named(&self.name, &error))
    }
}

/// The error with the name of what could not be written.
fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {name}: {error}"))
}

/// As many as Linux follows.
const MOST_LINKS: usize = 40;

/// The descriptor of this process that a path is, or leads to: that of `-` and `/dev/stdout` is 1.
fn descriptor(path: &Path) -> Option<i32> {
    if path == Path::new("-") {
        return Some(1);
    }
    let own = fs::canonicalize("/proc/self").ok()?;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = fs::canonicalize(folder_of(&path)).ok()?;
        if folder.starts_with(&own) && folder.ends_with("fd") {
            return path.file_name()?.to_str()?.parse().ok();
        }
        path = folder.join(fs::read_link(&path).ok()?);
    }
    None
}

/// Where a path leads through links, the last of which may lead to a file that does not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // The links of another process lead to its pipes by names that are none.
    if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
        return Ok(path);
    }
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            // It is no link, or is not there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Where a path leads, however it is spelled.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Standard output, where it is no regular file.
    Standard,
    /// Device and number of a regular file.
    File(u64, u64),
    /// A file that could be made.
    New(PathBuf),
}

impl Place {
    /// None of devices, pipes, addresses and what cannot be.
    pub(crate) fn of(path: &Path) -> Option<Place> {
        let descriptor = descriptor(path);
        let target = match descriptor {
            Some(number) => PathBuf::from(format!("/proc/self/fd/{number}")),
            None => followed(path).ok()?,
        };
        match fs::metadata(&target) {
            Ok(there) if there.is_file() => return Some(Place::File(there.dev(), there.ino())),
            _ if descriptor == Some(1) => return Some(Place::Standard),
            Ok(_) => return None,
            Err(_) => {}
        }
        let folder = fs::canonicalize(folder_of(&target)).ok()?;
        Some(Place::New(folder.join(target.file_name()?)))
    }
}

/// Whether writing to one would replace the other: the same file, or the same place for a new one.
/// Devices and pipes are never replaced.
fn is_same_file(one: &Path, other: &Path) -> bool {
    Place::of(one).is_some_and(|one| Some(one) == Place::of(other))
}

/// Refuses outputs that would replace one another or an input, each named by its option.
///
/// # Errors
/// The two that are the same file.
pub(crate) fn ensure_apart(outputs: &[(&str, &Path)], inputs: &[&Path]) -> anyhow::Result<()> {
    for (number, (option, path)) in outputs.iter().enumerate() {
        for (other, earlier) in &outputs[..number] {
            ensure!(!is_same_file(earlier, path), "{option} and {other} are the same file");
        }
        for input in inputs.iter().filter(|input| **input != Path::new("-")) {
            let is_kept = !is_same_file(input, path);
            ensure!(is_kept, "{option} would replace the input {}", input.display());
        }
    }
    Ok(())
}

/// The same of files that may be left out, and of which `-` is none.
///
/// # Errors
/// The two that are the same file.
pub(crate) fn ensure_files_apart(
    outputs: &[(&str, Option<&Path>)],
    inputs: &[&Path],
) -> anyhow::Result<()> {
    let files = outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?)));
    let files: Vec<(&str, &Path)> = files.filter(|(_, path)| *path != Path::new("-")).collect();
    ensure_apart(&files, inputs)
}

/// Refuses an output that would fail when its content is there: a folder, a file in none.
///
/// # Errors
/// As [`Output::create`].
pub(crate) fn ensure_writable(path: &Path) -> anyhow::Result<()> {
    // Opening a pipe is writing to it.
    let is_special = fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if path == Path::new("-") || is_special { Ok(()) } else { Output::create(path).map(drop) }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

fn buffered(file: File) -> BufWriter<File> {
    BufWriter::with_capacity(1 << 16, file)
}

impl Pending {
    fn create(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Pending> {
        handle_interrupts();
        // One lock from creation to entry in the list: an interrupt finds neither or both.
        let mut list = list();
        let mut options = File::options();
        options.read(true).write(true).create_new(true).mode(0o666);
        // By a function of our own: an error says nothing of a name that nobody asked for.
        let file = tempfile::Builder::new()
            .prefix(".fathom-")
            .suffix(".part")
            .make_in(folder_of(&target), |path| options.open(path))?;
        let entry = file.path().to_owned();
        // The mask of the process is for new files only.
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        list.push(entry.clone());
        Ok(Pending { file: Some(file), target, entry })
    }

    fn persist(mut self) -> io::Result<()> {
        let _list = list();
        let file = self.file.take().expect("persisted once");
        file.persist(&self.target).map(drop).map_err(|error| error.error)
    }

    /// Under the first name that is free when it is taken, whoever else takes names meanwhile.
    fn persist_new(mut self) -> io::Result<()> {
        let _list = list();
        let mut file = self.file.take().expect("persisted once");
        let mut name = self.target.clone();
        for next in 2u64.. {
            match file.persist_noclobber(&name) {
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    file = error.file;
                }
                end => return end.map(drop).map_err(|error| error.error),
            }
            name = numbered(&self.target, next);
        }
        unreachable!("there are more names than files")
    }
}

/// `run_2.json` of `run.json`, which is behind it in the order of names.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("_{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

impl Drop for Pending {
    fn drop(&mut self) {
        drop(self.file.take());
        list().retain(|entry| *entry != self.entry);
    }
}

/// The files an interrupt must remove.
static LIST: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn list() -> MutexGuard<'static, Vec<PathBuf>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what is unfinished and ends the process with code 130. The list stays locked until the
/// end, so that nothing is added meanwhile.
pub(crate) fn abandon() -> ! {
    let list = list();
    for path in list.iter() {
        let _ = fs::remove_file(path);
    }
    scratch::abandon();
    std::process::exit(130)
}

/// From now on SIGINT, SIGTERM and SIGHUP [`abandon`], unless a measurement takes the first one.
pub(crate) fn handle_interrupts() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        let outcome = ctrlc::set_handler(|| {
            if !interrupt::is_taken() {
                abandon();
            }
        });
        if let Err(error) = outcome {
            say!("fathom: an interrupt may leave a .part file behind ({error})");
        }
    });
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn entries(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_finished_file_has_its_name_and_an_abandoned_one_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(output);
        assert!(entries(folder.path()).is_empty());

        let mut output = Output::create(&path).unwrap();
        output.write_all(b"whole").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(entries(folder.path()), ["result"]);
        assert!(!list().iter().any(|entry| entry.starts_with(folder.path())));
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        // More than any mask leaves, and less.
        for mode in [0o666, 0o640] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            write(&link, "new");
            assert_eq!(fs::read(&file).unwrap(), b"new");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, mode);
        }
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        write(&folder.path().join("fresh"), "");
        let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode("fresh"), mode("plain"), "new files are as the process's mask says");
    }

    #[test]
    fn a_link_to_nothing_stays_a_link_and_its_file_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let round = folder.path().join("round");
        std::os::unix::fs::symlink("round", &round).unwrap();
        let error = Output::create(&round).err().unwrap();
        assert!(format!("{error:#}").contains("too many links"), "{error:#}");
    }

    #[test]
    fn files_of_one_name_are_kept_apart_whoever_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.5-run.json");
        let outputs = ["a", "b", "c"].map(|text| {
            let mut output = Output::create(&path).unwrap();
            output.write_all(text.as_bytes()).unwrap();
            output
        });
        std::thread::scope(|scope| {
            for output in outputs {
                scope.spawn(|| output.finish_new().unwrap());
            }
        });
        let mut names = entries(folder.path());
        names.sort();
        assert_eq!(names, ["1.5-run.json", "1.5-run_2.json", "1.5-run_3.json"]);
        let read = |name: &String| fs::read_to_string(folder.path().join(name)).unwrap();
        let mut texts: Vec<String> = names.iter().map(read).collect();
        texts.sort();
        assert_eq!(texts, ["a", "b", "c"]);
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_name() {
        let mut output = Output::create(Path::new("/dev/full")).unwrap();
        output.write_all(b"x").unwrap();
        let error = output.finish().unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot write /dev/full: "), "{error:#}");
    }

    #[test]
    fn the_same_file_is_known_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "").unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        std::os::unix::fs::symlink("a", at("soft")).unwrap();
        std::os::unix::fs::symlink("new", at("to-new")).unwrap();
        fs::write(at("b"), "").unwrap();
        for same in ["a", "hard", "soft", "./a"] {
            assert!(is_same_file(&at("a"), &at(same)), "{same}");
        }
        assert!(is_same_file(&at("new"), &at("to-new")) && is_same_file(&at("new"), &at("./new")));
        assert!(!is_same_file(&at("a"), &at("b")) && !is_same_file(&at("a"), &at("new")));
        let open = File::open(at("a")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        assert!(is_same_file(&at("a"), Path::new(&format!("/dev/fd/{number}"))), "it is open");
        let null = Path::new("/dev/null");
        assert!(!is_same_file(null, null), "a device loses nothing");
        assert!(is_same_file(Path::new("-"), Path::new("-")));
    }

    fn write(path: &Path, text: &str) {
        let mut output = Output::create(path).unwrap();
        output.write_all(text.as_bytes()).unwrap();
        output.finish().unwrap();
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        assert!(output.pending.is_none());
        output.write_all(b"x").unwrap();
        output.finish().unwrap();
    }

    #[test]
    fn what_is_open_is_written_to_where_it_is_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "before, ").unwrap();
        let mut open = File::options().append(true).open(&path).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        std::os::unix::fs::symlink("/dev/fd", folder.path().join("fd")).unwrap();
        for name in ["/proc/self/fd", "/dev/fd", folder.path().join("fd").to_str().unwrap()] {
            write(Path::new(&format!("{name}/{number}")), "written, ");
        }
        open.write_all(b"after").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "before, written, written, written, after");
        let error = Output::create(Path::new("/dev/fd/1000000")).err().unwrap();
        assert!(format!("{error:#}").starts_with("cannot write /dev/fd/1000000: "), "{error:#}");
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error_with_the_name() {
        let error = Output::create(Path::new("/nowhere/at/all")).err().unwrap();
        let said = "cannot create /nowhere/at/all: No such file or directory (os error 2)";
        assert_eq!(format!("{error:#}"), said);
    }

    #[test]
    fn what_cannot_be_written_is_known_before_and_looking_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for impossible in ["", "none/file", "new/"] {
            assert!(ensure_writable(&at(impossible)).is_err(), "{impossible:?}");
        }
        fs::write(at("old"), "kept").unwrap();
        for possible in [at("new"), at("old"), "-".into(), "/dev/null".into()] {
            ensure_writable(&possible).unwrap();
        }
        assert_eq!(entries(folder.path()), ["old"]);
        assert_eq!(fs::read(at("old")).unwrap(), b"kept");
    }
}
