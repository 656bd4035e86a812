//! Temporary files that are not left behind, whoever is killed.
//!
//! A file has no name from the start: its bytes go with the last process that has it open. A folder
//! must have a name; it holds a file that its owner has locked, and a folder whose lock can be had is
//! nobody's: the next one to look removes it.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

const PREFIX: &str = "fathom-";
/// The locked file in a folder.
const LOCK: &str = ".lock";
/// The same before it is locked.
const NEW: &str = "new";
/// Memory as a file system; folders are made here, too.
pub const MEMORY: &str = "/dev/shm";

/// Folders of this process, for an end without destructors.
static OWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary folder, removed when it is dropped or its owner dies.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    _lock: File,
}

/// A temporary file without a name.
#[derive(Debug)]
pub struct Unnamed {
    file: File,
}

/// A folder in the temporary one whose name shows what it is for.
///
/// # Errors
/// What the operating system answers.
pub fn folder(name: &str) -> io::Result<Folder> {
    folder_in(&env::temp_dir(), name)
}

/// As [`folder`], elsewhere.
///
/// # Errors
/// As [`folder`].
pub fn folder_in(place: &Path, name: &str) -> io::Result<Folder> {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(sweep);
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("no temporary folder in {}: {error}", place.display()))
    };
    let folder = tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{name}-"))
        .tempdir_in(place)
        .map_err(named)?;
    // Locked before it has the name others look for.
    let new = folder.path().join(NEW);
    let lock = File::create(&new)?;
    lock.try_lock()?;
    fs::rename(new, folder.path().join(LOCK))?;
    OWN.lock().unwrap_or_else(PoisonError::into_inner).push(folder.path().to_owned());
    Ok(Folder { folder, _lock: lock })
}

impl Folder {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|path| path != self.folder.path());
    }
}

/// A file without a name, in the temporary folder.
///
/// # Errors
/// What the operating system answers.
pub fn file() -> io::Result<Unnamed> {
    file_in(&env::temp_dir())
}

/// As [`file()`], elsewhere.
///
/// # Errors
/// As [`file()`].
pub fn file_in(place: &Path) -> io::Result<Unnamed> {
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("no temporary file in {}: {error}", place.display()))
    };
    Ok(Unnamed { file: tempfile::tempfile_in(place).map_err(named)? })
}

impl Unnamed {
    /// The file, to be filled.
    pub fn as_file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// The file, to be kept for as long as its bytes.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }

    /// Under this name this process and others can open it as long as it is not dropped.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd()).into()
    }
}

/// Removes the folders of processes that are gone.
pub fn sweep() {
    sweep_in(&env::temp_dir());
    sweep_in(Path::new(MEMORY));
}

fn sweep_in(place: &Path) {
    let own = fathom_machine::os::process::user();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == own);
        if !is_ours {
            continue;
        }
        // Whoever made it holds the lock as long as it lives.
        match File::open(entry.path().join(LOCK)) {
            Ok(lock) if lock.try_lock().is_ok() => {
                let _ = fs::remove_dir_all(entry.path());
            }
            // Killed when it had just made it, or all but removed it; if it has something it stays.
            Err(_) if is_old(&entry) => {
                let new = entry.path().join(NEW);
                if File::open(&new).is_ok_and(|lock| lock.try_lock().is_ok()) {
                    let _ = fs::remove_file(new);
                }
                let _ = fs::remove_dir(entry.path());
            }
            _ => {}
        }
    }
}

/// Whether it is longer there than it takes to lock a new one.
fn is_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|data| data.modified()).ok();
    changed
        .and_then(|changed| changed.elapsed().ok())
        .is_some_and(|age| age > Duration::from_secs(60))
}

/// Removes all folders of this process, which is about to end without destructors; none can be made
/// any more.
pub fn abandon() {
    let own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    for path in own.iter() {
        let _ = fs::remove_dir_all(path);
    }
    std::mem::forget(own);
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_folder_is_gone_with_its_owner_and_a_living_one_stays() {
        let place = tempfile::tempdir().unwrap();
        let names = || fs::read_dir(place.path()).unwrap().flatten().count();
        let living = folder_in(place.path(), "a").unwrap();
        fs::write(living.path().join("x"), "x").unwrap();
        // What a killed process leaves: a folder whose lock nobody holds.
        let dead = place.path().join("fathom-b-123");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("data"), "x").unwrap();
        // Of others, and not yet locked.
        fs::create_dir(place.path().join("other-b-123")).unwrap();
        fs::create_dir(place.path().join("fathom-c-123")).unwrap();
        // What a process leaves that was killed while it removed one, and what is no such thing.
        let [old, full] = ["fathom-d-123", "fathom-e-123"].map(|name| place.path().join(name));
        for old in [&old, &full] {
            fs::create_dir(old).unwrap();
        }
        fs::write(full.join("data"), "x").unwrap();
        fs::write(old.join(NEW), "").unwrap();
        let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
        for old in [&old, &full] {
            File::open(old).unwrap().set_modified(hour).unwrap();
        }
        sweep_in(place.path());
        assert!(!old.exists() && full.exists());
        fs::remove_dir_all(full).unwrap();
        assert!(!dead.exists() && living.path().join("x").exists());
        assert_eq!(names(), 3);
        drop(living);
        assert_eq!(names(), 2);
    }

    #[test]
    fn a_file_without_a_name_can_be_opened_by_others() {
        let mut unnamed = file().unwrap();
        unnamed.as_file_mut().write_all(b"bytes").unwrap();
        assert_eq!(fs::read(unnamed.path()).unwrap(), b"bytes");
        let shown = std::process::Command::new("cat").arg(unnamed.path()).output().unwrap();
        assert_eq!(shown.stdout, b"bytes");
        assert_eq!(fs::metadata(unnamed.path()).unwrap().nlink(), 0);
    }

    #[test]
    fn a_missing_temporary_folder_is_named() {
        let error = folder_in(Path::new("/no/such/place"), "x").unwrap_err();
        assert!(error.to_string().contains("/no/such/place"), "{error}");
    }
}
