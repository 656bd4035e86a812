//! A Rust compiler for AArch64 Linux, wherever it can be had.
//!
//! A target installed beside the toolchain in use is taken first; otherwise Debian's compiler and
//! the standard libraries of both architectures are unpacked into the project's cache. No toolchain
//! of this machine is changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::packages::{Index, install, once, root, run};

/// The target's name.
pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";

/// What links and, at run time, what stands for the target's libraries.
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// How far programs are optimised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speed {
    /// As tests are here: less to wait for.
    Tests,
    /// As they are published: for what counts instructions.
    Release,
}

/// A way to call cargo so that it builds for [`TARGET`].
pub(crate) struct Toolchain {
    /// Debian's compiler, where the toolchain in use has no such target.
    compiler: Option<PathBuf>,
}

impl Toolchain {
    /// Finds or fetches a compiler; installs the linker.
    pub(crate) fn find() -> Result<Toolchain> {
        install(&["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"])?;
        if has_target(TARGET) {
            return Ok(Toolchain { compiler: None });
        }
        let folder = once("rust", debian)?;
        Ok(Toolchain { compiler: Some(folder.join("rustc")) })
    }

    /// `cargo SUBCOMMAND` for the target, in the repository, linking statically and warning of nothing,
    /// with a build folder of its own: the two compilers do not share one.
    pub(crate) fn cargo(&self, subcommand: &str, speed: Speed) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(root()).args([subcommand, "--target", TARGET]);
        command
            .env("CARGO_TARGET_DIR", root().join("target/xtask/build"))
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
                "-C target-feature=+crt-static -D warnings",
            )
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", if speed == Speed::Release { "3" } else { "1" })
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo")
            .env("CC_aarch64_unknown_linux_gnu", LINKER)
            .env("CXX_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-g++")
            .env("AR_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-ar")
            .env_remove("RUSTC_WRAPPER");
        if let Some(compiler) = &self.compiler {
            command.env("RUSTC", compiler);
        }
        command
    }

    /// The binary `name` of `package`, optimised and without debugging information.
    pub(crate) fn build_static(&self, package: &str, name: &str, speed: Speed) -> Result<Vec<u8>> {
        let mut command = self.cargo("build", speed);
        command.args(["--release", "--locked", "--quiet", "--package", package, "--bin", name]);
        run(&mut command).with_context(|| format!("building {package} for {TARGET}"))?;
        let path = root().join("target/xtask/build").join(TARGET).join("release").join(name);
        std::fs::read(&path).with_context(|| path.display().to_string())
    }
}

/// Whether the toolchain in use has the standard library of a target.
pub(crate) fn has_target(target: &str) -> bool {
    let mut command = Command::new("rustc");
    command.current_dir(root()).args(["--print", "target-libdir", "--target", target]);
    let Ok(output) = run(&mut command) else { return false };
    Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
}

/// Debian's newest compiler, unpacked: it finds its libraries beside itself, except for those the
/// dynamic linker looks for, which a wrapper names.
fn debian(folder: &Path) -> Result<()> {
    let host = Index::of("amd64")?;
    let (compiler, library) = ("rustc-web", "libstd-rust-web-dev");
    let shared = host.dependency(library, "libstd-rust-web-")?;
    let llvm = host.dependency(&shared, "libllvm")?;
    host.unpack(&[compiler, library, &shared, &llvm], folder)?;
    Index::of("arm64")?.unpack(&[library], folder)?;
    for needless in ["usr/share", "usr/lib/debug"] {
        let _ = fs::remove_dir_all(folder.join(needless));
    }
    let wrapper = folder.join("rustc");
    fs::write(
        &wrapper,
        "#!/bin/sh\nhere=$(dirname \"$0\")\n\
         export LD_LIBRARY_PATH=\"$here/usr/lib/x86_64-linux-gnu\"\n\
         exec \"$here/usr/bin/rustc\" \"$@\"\n",
    )?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
