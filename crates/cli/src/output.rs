//! Where results go: stdout, or a file that appears whole or not at all.
//!
//! A file is written under another name in its folder and renamed when it is complete; an error,
//! a panic, Ctrl-C or a request to terminate removes it. What is already there and is no regular
//! file (a terminal, a pipe, `/dev/null`) is written to directly, since a rename would replace it.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use anyhow::Context;
use fathom_measure::scratch;
use tempfile::NamedTempFile;

use crate::interrupt;

/// An output that was opened; nothing counts until [`Output::finish`].
pub(crate) struct Output {
    writer: BufWriter<File>,
    /// The file in the making, when there is one to rename.
    pending: Option<Pending>,
    name: String,
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
        let name = path.display().to_string();
        // The file behind a link is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            let file = File::options().write(true).open(&target);
            return Ok(Output::direct(file.with_context(|| format!("cannot write {name}"))?, name));
        }
        let mode = existing.map_or(0o666, |existing| existing.permissions().mode() & 0o7777);
        let pending =
            Pending::create(target, mode).with_context(|| format!("cannot create {name}"))?;
        let file = pending.file.as_ref().expect("just created").as_file().try_clone()?;
        Ok(Output { writer: buffered(file), pending: Some(pending), name })
    }

    fn direct(file: File, name: String) -> Output {
        Output { writer: buffered(file), pending: None, name }
    }

    /// What messages call this output.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes what is buffered and gives the file its name.
    ///
    /// # Errors
    /// When either fails; the file is gone then.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let name = &self.name;
        self.writer.flush().with_context(|| format!("cannot write {name}"))?;
        if let Some(pending) = self.pending.take() {
            pending.persist().with_context(|| format!("cannot create {name}"))?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn buffered(file: File) -> BufWriter<File> {
    BufWriter::with_capacity(1 << 16, file)
}

impl Pending {
    fn create(target: PathBuf, mode: u32) -> io::Result<Pending> {
        handle_interrupts();
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        // One lock from creation to entry in the list: an interrupt finds neither or both.
        let mut list = list();
        let file = tempfile::Builder::new()
            .prefix(".fathom-")
            .suffix(".part")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        let entry = file.path().to_owned();
        list.push(entry.clone());
        Ok(Pending { file: Some(file), target, entry })
    }

    fn persist(mut self) -> io::Result<()> {
        let _list = list();
        let file = self.file.take().expect("persisted once");
        file.persist(&self.target).map(drop).map_err(|error| error.error)
    }
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
            eprintln!("fathom: an interrupt may leave a .part file behind ({error})");
        }
    });
}

#[cfg(test)]
mod tests {
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
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let mut output = Output::create(Path::new("/dev/null")).unwrap();
        assert!(output.pending.is_none());
        output.write_all(b"x").unwrap();
        output.finish().unwrap();
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error_with_the_name() {
        let error = Output::create(Path::new("/nowhere/at/all")).err().unwrap();
        assert!(format!("{error:#}").starts_with("cannot create /nowhere/at/all: "));
    }
}
