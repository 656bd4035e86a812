//! `cargo xtask dist`: what a release consists of, for each machine it is made for.
//!
//! ```text
//!   TAG ─▶ its tree ─▶ static program ─┬─▶ fathom-VERSION-TARGET.tar.gz  program, manual, completions, licences
//!                      (its --version  ├─▶ fathom_VERSION_ARCH.deb       the same where Debian wants it
//!                       is asked)      └─▶ oci/ARCH/fathom               what release/Containerfile copies
//!   all of them ─▶ fathom.rb (Homebrew), SHA256SUMS
//! ```
//!
//! The same bytes come out of the same tree and compiler. Nothing is uploaded, and nothing is published: that
//! is for `.github/workflows/release.yml`, and for a person.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, install, root, run};

mod archive;
mod check;
mod deb;
mod formula;
mod linked;
mod program;
mod proof;

use archive::File;
pub(crate) use check::check;
use program::{Program, SHELLS, texts};

/// A machine releases are made for.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Machine {
    /// x86-64
    X86_64,
    /// AArch64: cross-built, and started under emulation
    Aarch64,
}

impl Machine {
    /// Whether it is the one this runs on, and programs for it start as they are.
    fn is_here(self) -> bool {
        match self {
            Machine::X86_64 => cfg!(target_arch = "x86_64"),
            Machine::Aarch64 => cfg!(target_arch = "aarch64"),
        }
    }
}

/// Makes everything for `machines` into `target/xtask/dist`; of a tag, whose name is `v` and the version.
pub(crate) fn run_all(tag: Option<&str>, machines: &[Machine], url: &str) -> Result<()> {
    let source = match tag {
        Some(tag) => tree(&root(), cache().join("dist-source"), tag)?,
        None => root(),
    };
    let out = cache().join("dist");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out)?;
    let mut version = String::new();
    for machine in machines {
        if !machine.is_here() {
            install(&["qemu-user"])?;
        }
        let program = started(*machine, linked::build(&source, *machine, tag.is_some())?)?;
        let is_of_tag = tag.is_none_or(|tag| tag == format!("v{}", program.version));
        ensure!(is_of_tag, "the program of this tag says that it is {}", program.version);
        pack(&program, &source, &out)?;
        version = program.version;
    }
    let sums = formula::sums(&out)?;
    fs::write(out.join("fathom.rb"), formula::formula(&version, url, &sums))?;
    let lines: String = sums.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    fs::write(out.join("SHA256SUMS"), lines)?;
    println!("{}", out.display());
    Ok(())
}

/// The files of a tag, as a working tree of its own, so that the program can name its commit.
fn tree(repository: &Path, folder: PathBuf, tag: &str) -> Result<PathBuf> {
    let worktree = |words: &[&str], more: &[&str]| {
        let mut git = Command::new("git");
        run(git.current_dir(repository).arg("worktree").args(words).arg(&folder).args(more))
    };
    if folder.exists() {
        worktree(&["remove", "--force"], &[])?;
    }
    // By force, because git goes on to know a folder that `cargo clean` removed.
    worktree(&["add", "--force", "--detach", "--quiet"], &[tag])
        .with_context(|| format!("the tree of {tag}"))?;
    Ok(folder)
}

/// The program for a machine, and what it says about itself, under emulation where need be.
fn started(machine: Machine, (target, path): (&'static str, PathBuf)) -> Result<Program> {
    let command = || match machine {
        Machine::Aarch64 if !machine.is_here() => {
            let mut emulator = Command::new("qemu-aarch64");
            emulator.arg(&path);
            emulator
        }
        Machine::X86_64 if !machine.is_here() => {
            let mut emulator = Command::new("qemu-x86_64");
            emulator.arg(&path);
            emulator
        }
        _ => Command::new(&path),
    };
    let said = |words: &[&str]| -> Result<Vec<u8>> { Ok(run(command().args(words))?.stdout) };
    let version = String::from_utf8(said(&["--version"])?)?;
    let version = version.split_whitespace().nth(1).context("fathom VERSION")?.to_owned();
    proof::works(&command).with_context(|| format!("the program for {target}"))?;
    if machine.is_here() {
        // An emulator starts no programs of another machine.
        let measured = said(&["run", "-N", "--runs", "2", "true"])?;
        let has_peak = String::from_utf8_lossy(&measured).contains(" peak ");
        ensure!(has_peak, "the program for {target} guards no commands: it has no warden");
    }
    let pages = cache().join("dist-pages");
    let _ = fs::remove_dir_all(&pages);
    said(&["man", "--folder", &pages.display().to_string()])?;
    let completions =
        SHELLS.iter().map(|(shell, ..)| said(&["completions", shell])).collect::<Result<_>>()?;
    let (target, bytes) = (target.to_owned(), fs::read(path)?);
    // The name of the section.
    ensure!(!bytes.windows(9).any(|name| name == b"\0.symtab\0"), "{target}: it is not stripped");
    Ok(Program { version, target, bytes, pages: read_all(&pages)?, completions })
}

/// The files of a folder, by name.
fn read_all(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        found.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    found.sort();
    Ok(found)
}

/// Writes the archives of a program of `source`.
fn pack(program: &Program, source: &Path, out: &Path) -> Result<()> {
    let Program { version, target, bytes, pages, completions } = program;
    let mut files = vec![File::program("fathom", &**bytes)];
    files.extend(texts(source)?);
    files.extend(pages.iter().map(|(name, page)| File::new(format!("man/{name}"), &**page)));
    let shells = SHELLS.iter().zip(completions);
    files.extend(
        shells.map(|((_, name, _), text)| File::new(format!("completions/{name}"), &**text)),
    );
    let name = format!("fathom-{version}-{target}");
    let archive = archive::gzip(&archive::tar(&format!("{name}/"), &files)?)?;
    fs::write(out.join(format!("{name}.tar.gz")), archive)?;
    let architecture = deb::architecture(target);
    let package = deb::package(program, source)?;
    fs::write(out.join(format!("fathom_{version}_{architecture}.deb")), package)?;
    let oci = out.join("oci").join(architecture);
    fs::create_dir_all(&oci)?;
    let copy = oci.join("fathom");
    fs::write(&copy, bytes)?;
    // An image takes the mode along.
    fs::set_permissions(&copy, Permissions::from_mode(0o755))?;
    // Docker looks for no other name.
    fs::copy(source.join("release/Containerfile"), out.join("oci/Dockerfile"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_a_tag_could_not_be_made_where_one_had_been_removed() {
        let repository = tempfile::tempdir().unwrap();
        let git = |words: &str| {
            run(Command::new("git").current_dir(&repository).args(words.split(' '))).unwrap();
        };
        git("init --quiet");
        git("-c user.name=n -c user.email=e commit --quiet --allow-empty --message m");
        git("tag v1");
        let made = || tree(repository.path(), repository.path().join("source"), "v1").unwrap();
        fs::remove_dir_all(made()).unwrap();
        made();
        made();
    }
}
