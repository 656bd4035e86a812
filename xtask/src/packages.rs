//! Debian packages: installed where programs must run here, or fetched and unpacked into the
//! project's own cache where only their files are wanted.
//!
//! Fetching uses a package index of its own under `target/xtask`, for any architecture, so the
//! machine's package system is neither changed nor asked for a foreign architecture. What was
//! unpacked once is not fetched again. Everything that fails for want of Debian, network or rights
//! is a [`skip`].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result};

use crate::skip;

/// The project's cache: `target/xtask`.
pub(crate) fn cache() -> PathBuf {
    root().join("target/xtask")
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask lies in the repository").to_owned()
}

/// The program as the tests of this machine build it, or the one that `FATHOM_PROGRAM` names.
pub(crate) fn host_fathom() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("FATHOM_PROGRAM") {
        return Ok(program.into());
    }
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.current_dir(root()).args(["build", "--locked", "--quiet", "--package", "fathom-cli"]);
    run(&mut build).context("building fathom for this machine")?;
    Ok(target().join("debug/fathom"))
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Makes sure that `packages` are installed on this machine, with apt-get if need be.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> =
        packages.iter().copied().filter(|package| !is_installed(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    eprintln!("installing {names}");
    let install = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["install", "--yes", "--no-install-recommends"]).args(&missing);
        command
    };
    if run(&mut install()).is_ok() {
        return Ok(());
    }
    // The index may be empty, as in a fresh container.
    run(Command::new("apt-get").arg("update"))
        .and_then(|_| run(&mut install()))
        .map_err(|error| skip(format!("cannot install {names}: {error:#}")))?;
    Ok(())
}

fn is_installed(package: &str) -> bool {
    let output = Command::new("dpkg-query").args(["-W", "-f=${Status}", package]).output();
    output.is_ok_and(|output| output.stdout.ends_with(b" installed"))
}

/// A package index of one architecture.
pub(crate) struct Index {
    folder: PathBuf,
    architecture: &'static str,
}

impl Index {
    /// The index of `architecture` (`arm64`, `amd64`), brought up to date.
    pub(crate) fn of(architecture: &'static str) -> Result<Index> {
        let folder = cache().join("apt").join(architecture);
        for part in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(part))?;
        }
        fs::write(folder.join("state/status"), "")?;
        let (state, cache) = (folder.join("state"), folder.join("cache"));
        let settings = format!(
            "Dir::State {state:?};\nDir::State::status \"{}/status\";\nDir::Cache {cache:?};\n\
             APT::Architecture \"{architecture}\";\nAPT::Architectures {{ \"{architecture}\"; }};\n\
             Acquire::Languages \"none\";\nAPT::Sandbox::User \"root\";\n",
            state.display()
        );
        fs::write(folder.join("apt.conf"), settings)?;
        let index = Index { folder, architecture };
        let wanted = format!("no package index of {architecture}");
        index.apt("apt-get", &["update"]).map_err(|error| skip(format!("{wanted}: {error:#}")))?;
        Ok(index)
    }

    /// The first direct dependency of `package` whose name starts with `prefix`.
    pub(crate) fn dependency(&self, package: &str, prefix: &str) -> Result<String> {
        let output = self
            .apt("apt-cache", &["depends", "--important", package])
            .map_err(|error| skip(format!("no package {package}: {error:#}")))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let found = names.map(str::to_owned).find(|name| name.starts_with(prefix));
        found.ok_or_else(|| skip(format!("package {package} depends on no {prefix}…")))
    }

    /// Fetches `packages` and unpacks them into `into`.
    pub(crate) fn unpack(&self, packages: &[&str], into: &Path) -> Result<()> {
        let names = packages.join(" ");
        eprintln!("fetching {names} ({})", self.architecture);
        let folder = self.folder.join("packages");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        fs::create_dir_all(into)?;
        let mut download = self.command("apt-get");
        download.arg("download").args(packages).current_dir(&folder);
        run(&mut download).map_err(|error| skip(format!("cannot fetch {names}: {error:#}")))?;
        for entry in fs::read_dir(&folder)? {
            run(Command::new("dpkg-deb").arg("-x").arg(entry?.path()).arg(into))?;
        }
        fs::remove_dir_all(&folder)?;
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("APT_CONFIG", self.folder.join("apt.conf"));
        command
    }

    fn apt(&self, program: &str, arguments: &[&str]) -> Result<Output> {
        run(self.command(program).args(arguments))
    }
}

/// The folder `name` of the cache, made by `fill` unless it is already there whole. What `fill`
/// leaves behind when it fails is thrown away.
pub(crate) fn once(name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = cache().join(name);
    if folder.exists() {
        return Ok(folder);
    }
    let partial = cache().join(format!("{name}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial)?;
    fill(&partial)?;
    fs::rename(&partial, &folder)?;
    Ok(folder)
}

/// Runs `command` to its end; what it said is in the error if it failed.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
        anyhow::bail!("{name} failed ({}): {last}", output.status);
    }
    Ok(output)
}
