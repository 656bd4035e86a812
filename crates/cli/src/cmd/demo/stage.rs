//! Where the acts are played: a folder that goes away, in which `fathom` is this program.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use fathom_machine::os::ward::{Guard, Ward, is_stopping};
use fathom_measure::result::Run;
use fathom_measure::scratch;

use crate::output;

/// A hundred times what the longest command takes.
const LIMIT: Duration = Duration::from_secs(600);

pub(super) struct Stage {
    folder: scratch::Folder,
    /// Where programs are looked for: the folder first.
    path: OsString,
}

impl Stage {
    /// # Errors
    /// When there is no temporary folder.
    pub(super) fn new() -> anyhow::Result<Stage> {
        let folder = scratch::folder("demo")?;
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        symlink(&program, folder.path().join("fathom")).context("cannot name this program")?;
        let mut places = vec![folder.path().to_path_buf()];
        places.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
        // What stands in PATH has no colon.
        let path =
            std::env::join_paths(places).map_err(std::io::Error::other).with_context(|| {
                format!(
                    "no programs can be found in the temporary folder {}",
                    folder.path().display()
                )
            })?;
        Ok(Stage { folder, path })
    }

    /// A file of the stage.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether a program of this name is found.
    pub(super) fn has(&self, name: &str) -> bool {
        std::env::split_paths(&self.path).any(|place| is_program(&place.join(name)))
    }

    /// Shows `fathom` with these words and runs it.
    ///
    /// # Errors
    /// When it fails; that somebody was left out because of a wrong answer is no failure.
    pub(super) fn fathom(&self, words: &[&str]) -> anyhow::Result<()> {
        output::print(format!("$ fathom {}\n", shown(words)))?;
        self.quietly(words)
    }

    /// Runs `fathom` with these words.
    ///
    /// # Errors
    /// As [`Stage::fathom`].
    pub(super) fn quietly(&self, words: &[&str]) -> anyhow::Result<()> {
        self.run(words, Stdio::inherit())
    }

    /// Runs `fathom` with the words for each budget in turn, until what it saved as `saved` is a verdict: how
    /// long that takes depends on the machine. Shows the last of them.
    ///
    /// # Errors
    /// As [`Stage::fathom`], and when it saved nothing that can be read.
    pub(super) fn decided<'a>(
        &self,
        budgets: &[&'a str],
        words: impl Fn(&'a str) -> Vec<&'a str>,
        saved: &str,
        is_decided: impl Fn(&Run) -> bool,
    ) -> anyhow::Result<()> {
        let path = self.file("said.txt");
        for (left, budget) in (0..budgets.len()).rev().zip(budgets) {
            let words = words(budget);
            self.run(&words, fs::File::create(&path)?.into())?;
            if left == 0 || is_decided(&Run::read(&self.file(saved))?) {
                let said = fs::read_to_string(&path)?;
                output::print(format!("$ fathom {}\n{said}", shown(&words)))?;
                break;
            }
        }
        Ok(())
    }

    fn run(&self, words: &[&str], output: Stdio) -> anyhow::Result<()> {
        let mut command = self.command("fathom");
        // What is kept to be shown later is made for where it will be shown.
        if let Some(width) = output::terminal_width() {
            command.env("COLUMNS", width.to_string());
        }
        if output::is_coloured() {
            command.env("CLICOLOR_FORCE", "1");
        }
        let status = ended(command.args(words), output).context("cannot run fathom")?;
        // 1: somebody was left out.
        let fine = matches!(status.code(), Some(0 | 1));
        anyhow::ensure!(fine, "`fathom {}` ended with {status}", shown(words));
        Ok(())
    }

    /// Seconds that a shell's line takes, its output thrown away.
    ///
    /// # Errors
    /// When it fails.
    pub(super) fn timed(&self, line: &str) -> anyhow::Result<f64> {
        let start = Instant::now();
        let status = ended(self.command("sh").args(["-c", line]), Stdio::null());
        let status = status.context("cannot run sh")?;
        anyhow::ensure!(status.success(), "`{line}` ended with {status}");
        Ok(start.elapsed().as_secs_f64())
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("PATH", &self.path).current_dir(self.folder.path());
        // What a command that is interrupted leaves there goes with the folder.
        command.env("TMPDIR", self.folder.path());
        command
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Words as one would type them.
fn shown(words: &[&str]) -> String {
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

/// How a command ends, with all that it started.
fn ended(command: &Command, output: Stdio) -> anyhow::Result<ExitStatus> {
    let mut ward = Ward::start(command, [Stdio::null(), output, Stdio::inherit()], Guard::Warden)?;
    match ward.wait(LIMIT)? {
        Some(end) => Ok(end.status),
        None if is_stopping() => anyhow::bail!("interrupted"),
        None => anyhow::bail!("a command did not end within {LIMIT:?}"),
    }
}
