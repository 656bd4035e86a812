//! Opening inputs, with the name of the file in what is said when that fails.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_input::remote;
pub(crate) use fathom_input::remote::canonical;
use fathom_input::table;
pub(crate) use fathom_input::table::{Columns, Table};
pub(crate) use fathom_input::{
    Forward, Input, Lines, ZSTANDARD, decoded, foreign, identity, is_remote, no_json, told_apart,
    utf_16,
};
use fathom_machine::os::read_at::ReadAt;

/// Refuses an address where only files of this machine will do.
///
/// # Errors
/// The address.
pub(crate) fn ensure_local(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(!is_remote(path), "{}: this has to be a local file", path.display());
    Ok(())
}

/// Refuses objects of stores in a build without, and with settings that are none.
fn ensure_remote() -> anyhow::Result<()> {
    remote::mistake().map_or(Ok(()), |mistake| Err(anyhow::anyhow!(mistake)))
}

/// Opens a file, standard input for `-`, or an object of a store; what is compressed is decoded by so many threads.
///
/// # Errors
/// As [`fathom_input::open`]; names the file.
pub(crate) fn open(path: &Path, threads: usize) -> anyhow::Result<Input> {
    if is_remote(path) {
        ensure_remote()?;
    }
    fathom_input::open(path, threads).with_context(|| format!("cannot read {}", path.display()))
}

/// The same; a table that comes from no file is kept in one.
///
/// # Errors
/// As [`open`] and [`fathom_input::table::kept`]; names the file.
pub(crate) fn open_kept(path: &Path, threads: usize) -> anyhow::Result<Input> {
    match open(path, threads)? {
        Input::Stream(reader) => {
            table::kept(reader).with_context(|| format!("cannot read {}", path.display()))
        }
        file => Ok(file),
    }
}

/// The table in an open file, which builds with the feature `tables` read; any other file comes back.
///
/// # Errors
/// As [`fathom_input::table::of`]; names the file.
pub(crate) fn table(
    path: &Path,
    file: Box<dyn ReadAt>,
    size: u64,
) -> anyhow::Result<Result<Table, Box<dyn ReadAt>>> {
    table::of(file, size).with_context(|| format!("cannot read {}", path.display()))
}

/// What is wrong with reading these files, or standard input without any, called so on the command line.
pub(crate) fn mistake(files: &[PathBuf], name: &str) -> Option<String> {
    if files.is_empty() && std::io::stdin().is_terminal() {
        let said = "was named, and standard input is a terminal (- insists on it)";
        return Some(format!("no {name} {said}"));
    }
    let standard = files.iter().filter(|file| **file == Path::new("-")).count();
    (standard > 1).then(|| "standard input can be read only once".to_owned())
}

/// The files that are meant: those in a folder, and those whose names a pattern fits, in the order
/// of their names, also of objects; anything else as it is.
///
/// # Errors
/// Folders that cannot be read, and folders and patterns without a file.
pub(crate) fn files_of(named: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in named {
        let pattern = path.file_name().and_then(|name| name.to_str());
        let pattern = pattern.filter(|name| name.contains(['*', '?']) && !path.exists());
        if is_remote(path) {
            files.extend(objects_of(path)?);
        } else if path.is_dir() && path.as_os_str() != "-" {
            files.extend(files_in(path, "*")?);
        } else if let (Some(pattern), Some(folder)) = (pattern, path.parent()) {
            files.extend(files_in(folder, pattern)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

/// Whether it is an address in a store that lists what is there, as web servers do not.
pub(crate) fn may_be_pattern(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.get(..4));
    is_remote(path) && !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"))
}

/// The same of an address in a store. What is known of the objects is asked for later, of all at once.
fn objects_of(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    ensure_remote()?;
    let text = path.to_str().unwrap_or_default();
    let (folder, name) = text.split_at(text.rfind('/').map_or(0, |slash| slash + 1));
    let pattern = if name.is_empty() { "*" } else { name };
    if !pattern.contains(['*', '?']) || !may_be_pattern(path) {
        return Ok(vec![path.to_owned()]);
    }
    let listed = remote::folder(Path::new(folder));
    let listed = listed.with_context(|| format!("cannot list {folder}"))?;
    let name = |url: &String| url[url.rfind('/').map_or(0, |slash| slash + 1)..].to_owned();
    let is_wanted = |url: &String| !name(url).starts_with('.') && fits(&name(url), pattern);
    let found: Vec<_> = listed.into_iter().filter(is_wanted).map(PathBuf::from).collect();
    if found.is_empty() { Err(none_called(folder, pattern)) } else { Ok(found) }
}

/// `folder` ends with what stands between it and a name.
fn none_called(folder: &str, pattern: &str) -> anyhow::Error {
    let said = match pattern {
        "*" => format!("no file is in {folder}"),
        _ => format!("no file is called {folder}{pattern}"),
    };
    std::io::Error::new(std::io::ErrorKind::NotFound, said).into()
}

/// Asks for all objects among the files at once, where each alone would take its time.
///
/// # Errors
/// What is wrong with the first that cannot be opened; names it.
pub(crate) fn prepare(files: &[PathBuf]) -> anyhow::Result<()> {
    let named = |(place, error)| {
        let files: &[PathBuf] = files;
        let place: usize = place;
        anyhow::Error::from(error).context(format!("cannot read {}", files[place].display()))
    };
    remote::prepare(files).map_err(named)
}

fn files_in(folder: &Path, pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let shown = || format!("cannot read {}", folder.display());
    let is_here = folder == Path::new("");
    let entries = if is_here { Path::new(".").read_dir() } else { folder.read_dir() };
    let mut files = Vec::new();
    for entry in entries.with_context(shown)? {
        let name = entry.with_context(shown)?.file_name();
        let is_hidden = name.as_encoded_bytes().starts_with(b".");
        // By its bare name it would be standard input.
        let path = if is_here && name == "-" { PathBuf::from("./-") } else { folder.join(&name) };
        // What is no text in it is a U+FFFD, for which `*` and `?` stand.
        if !is_hidden && fits(&name.to_string_lossy(), pattern) && !path.is_dir() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(none_called(&folder.join("").display().to_string(), pattern));
    }
    files.sort_unstable_by(|one, other| one.file_name().cmp(&other.file_name()));
    Ok(files)
}

/// Whether a name is what a pattern says, in which `*` is any text and `?` any character.
fn fits(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut of) = (0, 0);
    // Where to go on if the text of the last star must be longer.
    let mut star = None;
    while at < name.len() {
        match pattern.get(of) {
            Some('*') => {
                star = Some((at, of));
                of += 1;
            }
            Some(&c) if c == '?' || c == name[at] => (at, of) = (at + 1, of + 1),
            _ => {
                let Some((from, place)) = star else { return false };
                star = Some((from + 1, place));
                (at, of) = (from + 1, place + 1);
            }
        }
    }
    pattern[of..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// They were left out in silence.
    #[test]
    fn patterns_fit_names_that_are_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(b"a\xff.csv"));
        std::fs::write(&path, "").unwrap();
        for pattern in ["*", "*.csv", "a?.csv"] {
            let found = files_in(folder.path(), pattern).unwrap();
            assert_eq!(found, std::slice::from_ref(&path), "{pattern}");
        }
    }

    #[test]
    fn patterns_fit_names() {
        for (name, pattern, is_fit) in [
            ("a.csv", "*.csv", true),
            ("a.csv.gz", "*.csv", false),
            ("a.csv.csv", "*.csv", true),
            ("2026-11-22.log", "2026-??-*.log", true),
            ("2026-1-22.log", "2026-??-*.log", false),
            ("ä", "?", true),
            ("", "*", true),
            ("aab", "*a*b", true),
            ("aac", "*a*b", false),
        ] {
            assert_eq!(fits(name, pattern), is_fit, "{name} {pattern}");
        }
    }
}
