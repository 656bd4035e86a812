//! The program for a machine, linked with all it needs: with musl, where the toolchain has that target, else
//! with GNU's C library, which Debian has for both machines.
//!
//! A release is linked with musl, which every Linux starts alike. GNU's library looks names of hosts up by
//! opening libraries of the machine, of another version perhaps, so a program with it is made without objects of
//! stores; and whoever passes it on has to meet the LGPL. It is for those who want a program for another
//! machine now, and says what it is in the names of its archives.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Machine;
use crate::cross::{Speed, Toolchain, has_target};
use crate::packages::{cache, install, run};

/// The targets of a machine, with musl and with GNU's library, and its C compiler with Debian's package of it.
struct Names {
    musl: &'static str,
    gnu: &'static str,
    compiler: &'static str,
    package: &'static str,
}

const X86_64: Names = Names {
    musl: "x86_64-unknown-linux-musl",
    gnu: "x86_64-unknown-linux-gnu",
    compiler: "x86_64-linux-gnu-gcc",
    package: "gcc-x86-64-linux-gnu",
};
const AARCH64: Names = Names {
    musl: "aarch64-unknown-linux-musl",
    gnu: crate::cross::TARGET,
    compiler: "aarch64-linux-gnu-gcc",
    package: "gcc-aarch64-linux-gnu",
};

/// Builds the program of `source`; its target and its file.
pub(super) fn build(
    source: &Path,
    machine: Machine,
    is_release: bool,
) -> Result<(&'static str, PathBuf)> {
    let names = match machine {
        Machine::X86_64 => X86_64,
        Machine::Aarch64 => AARCH64,
    };
    if has_target(names.musl) {
        return with_musl(source, &names);
    }
    if is_release {
        bail!("a release is linked with musl: rustup target add {}", names.musl);
    }
    println!(
        "{}: not in the toolchain (rustup target add {0}). The program is linked with GNU's C library instead, \
         for {}, without objects of stores; a release is not",
        names.musl, names.gnu
    );
    with_gnu(machine, &names)
}

fn with_musl(source: &Path, names: &Names) -> Result<(&'static str, PathBuf)> {
    let Names { musl, compiler, package, .. } = names;
    if Command::new(compiler).arg("--version").output().is_err() {
        install(&[package])?;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--target", musl]).env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    // The linker of the toolchain knows all machines; what is C is the cryptography of TLS, which wants nothing of
    // a C library but what all have.
    cargo.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER", "rust-lld");
    cargo.env(format!("CC_{}", musl.replace('-', "_")), compiler);
    cargo.current_dir(source);
    made(cargo, musl, "more,remote,tables")
}

fn with_gnu(machine: Machine, names: &Names) -> Result<(&'static str, PathBuf)> {
    let gnu = names.gnu;
    let cargo = match machine {
        Machine::Aarch64 => Toolchain::find()?.cargo("build", Speed::Release),
        Machine::X86_64 if has_target(gnu) => {
            let mut cargo =
                Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            cargo.current_dir(crate::packages::root()).args(["build", "--target", gnu]);
            let flags = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
            cargo.env(flags, "-C target-feature=+crt-static");
            cargo
        }
        Machine::X86_64 => bail!("the toolchain has no target of it: rustup target add {gnu}"),
    };
    made(cargo, gnu, "more,tables")
}

/// What `cargo build` makes.
fn made(
    mut cargo: Command,
    target: &'static str,
    features: &str,
) -> Result<(&'static str, PathBuf)> {
    let folder = cache().join("dist-build");
    cargo.env("CARGO_TARGET_DIR", &folder).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    cargo.args(["--release", "--locked", "--quiet", "--package", "fathom-cli"]);
    // What `cargo build` leaves as it is, to be there sooner: with it commands begin a millisecond earlier.
    for package in ["clap_builder", "fathom-cli"] {
        cargo.args(["--config", &format!("profile.release.package.{package}.opt-level=1")]);
    }
    run(cargo.args(["--features", features])).with_context(|| format!("building for {target}"))?;
    Ok((target, folder.join(target).join("release/fathom")))
}
