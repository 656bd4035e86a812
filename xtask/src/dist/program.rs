//! A program that was built, and what every archive has beside it.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::archive::File;

/// The shells whose completions a release has, with the names their folders want.
pub(super) const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "fathom", "usr/share/bash-completion/completions"),
    ("zsh", "_fathom", "usr/share/zsh/vendor-completions"),
    ("fish", "fathom.fish", "usr/share/fish/vendor_completions.d"),
];

/// A program and what is said about it.
pub(super) struct Program {
    pub(super) version: String,
    pub(super) target: String,
    pub(super) bytes: Vec<u8>,
    /// Pages of the manual, by name: `fathom-run.1`.
    pub(super) pages: Vec<(String, Vec<u8>)>,
    /// Completions, by shell.
    pub(super) completions: Vec<Vec<u8>>,
}

/// The texts of `source` that every archive has.
pub(super) fn texts(source: &Path) -> Result<Vec<File>> {
    ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]
        .map(|name| Ok(File::new(name, fs::read(source.join(name))?)))
        .into_iter()
        .collect()
}
