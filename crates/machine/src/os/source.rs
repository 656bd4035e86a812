//! The small text files in which Linux describes itself, behind a door that tests can replace.
//!
//! Every answer is optional: containers hide files, kernels leave them out, boards never had them.
//! Nothing is interpreted here.

use std::fs;
use std::path::PathBuf;

/// Files by absolute path without the first slash (`proc/cpuinfo`).
pub(crate) trait Source {
    /// A file's text without trailing white space and NULs; `None` when it is absent, unreadable,
    /// or empty.
    fn text(&self, path: &str) -> Option<String>;

    /// The names in a folder, sorted; none when it is absent.
    fn entries(&self, folder: &str) -> Vec<String>;

    /// Whether there is such a file or folder.
    fn has(&self, path: &str) -> bool;
}

/// The files of this computer.
pub(crate) struct Here;

impl Source for Here {
    fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(absolute(path)).ok()?;
        tidy(&String::from_utf8_lossy(&bytes))
    }

    fn entries(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(absolute(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn has(&self, path: &str) -> bool {
        absolute(path).exists()
    }
}

fn absolute(path: &str) -> PathBuf {
    PathBuf::from("/").join(path)
}

fn tidy(text: &str) -> Option<String> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// Files of another computer, for tests.
#[cfg(test)]
pub(crate) struct Captured(std::collections::BTreeMap<String, String>);

#[cfg(test)]
impl Captured {
    /// Reads `== path` lines, each followed by that file's text.
    pub(crate) fn new(text: &str) -> Captured {
        let mut files = std::collections::BTreeMap::new();
        let mut path = "";
        for line in text.lines() {
            match line.strip_prefix("== ") {
                Some(next) => {
                    path = next;
                    files.entry(path.to_owned()).or_default();
                }
                None if path.is_empty() => assert!(line.is_empty(), "text before the first path"),
                None => {
                    let file: &mut String = files.get_mut(path).expect("entered above");
                    file.push_str(line);
                    file.push('\n');
                }
            }
        }
        Captured(files)
    }

    /// Adds a file.
    pub(crate) fn with(mut self, path: &str, text: &str) -> Captured {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }
}

#[cfg(test)]
impl Source for Captured {
    fn text(&self, path: &str) -> Option<String> {
        tidy(self.0.get(path)?)
    }

    fn entries(&self, folder: &str) -> Vec<String> {
        let prefix = format!("{folder}/");
        let inside = self.0.keys().filter_map(|path| path.strip_prefix(&prefix));
        let first = |rest: &str| rest.split('/').next().unwrap_or(rest).to_owned();
        let mut names: Vec<String> = inside.map(first).collect();
        names.dedup();
        names
    }

    fn has(&self, path: &str) -> bool {
        self.0.contains_key(path) || !self.entries(path).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_computer_has_a_proc_and_no_such_file() {
        assert!(Here.text("proc/self/status").is_some());
        assert!(Here.entries("proc/self").contains(&"status".to_owned()));
        assert!(!Here.has("no/such/file"));
        assert_eq!(Here.text("no/such/file"), None);
        assert!(Here.entries("no/such/folder").is_empty());
    }

    #[test]
    fn captured_files_are_found_by_path_and_folder() {
        let source = Captured::new("== a/b/c\none\ntwo\n== a/b/d\n\n== a/e/f\nx\n");
        assert_eq!(source.text("a/b/c").as_deref(), Some("one\ntwo"));
        assert_eq!(source.text("a/b/d"), None);
        assert_eq!(source.entries("a"), ["b", "e"]);
        assert_eq!(source.entries("a/b"), ["c", "d"]);
        assert!(source.has("a/b") && !source.has("a/c"));
    }
}
