//! An AArch64 machine in QEMU: boots a kernel with one program, gives back what it printed.
//!
//! The serial console is the only way out, so a machine that prints no last line has failed,
//! whatever its exit status.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::packages::{Index, install, once};

/// How the machine is set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// The processor model and its options.
    pub(crate) processor: &'static str,
    /// With it, time is counted in instructions: each takes 2^shift nanoseconds. Without it time
    /// is the host's, and QEMU counts no instructions.
    pub(crate) icount_shift: Option<u32>,
    /// Memory, its files included, in MiB.
    pub(crate) memory_mib: u32,
}

/// Debian's kernel for AArch64 clouds, and the emulator that boots it: small, and its counters
/// driver is built in.
pub(crate) fn kernel() -> Result<PathBuf> {
    install(&["qemu-system-arm"])?;
    Ok(once("kernel", fetch)?.join("vmlinuz"))
}

fn fetch(folder: &Path) -> Result<()> {
    let index = Index::of("arm64")?;
    let package = index.dependency("linux-image-cloud-arm64", "linux-image-")?;
    let unpacked = folder.join("unpacked");
    index.unpack(&[&package], &unpacked)?;
    let version = package.trim_start_matches("linux-image-");
    let image = unpacked.join("boot").join(format!("vmlinuz-{version}"));
    std::fs::copy(image, folder.join("vmlinuz"))?;
    std::fs::remove_dir_all(unpacked)?;
    Ok(())
}

/// How long a machine may run: several times what the slowest takes on two busy cores.
const LIMIT: Duration = Duration::from_secs(900);

/// Boots `kernel` with the file system `ramdisk`, whose `/init` runs first and powers the machine
/// off; what it printed.
pub(crate) fn boot(machine: Machine, kernel: &Path, ramdisk: &Path) -> Result<String> {
    let mut command = Command::new("qemu-system-aarch64");
    command
        .args(["-machine", "virt,gic-version=3", "-cpu", machine.processor])
        .args(["-m", &machine.memory_mib.to_string(), "-nographic", "-no-reboot", "-nic", "none"])
        .arg("-kernel")
        .arg(kernel)
        .arg("-initrd")
        .arg(ramdisk)
        .args(["-append", "console=ttyAMA0 quiet panic=-1 rdinit=/init"]);
    if let Some(shift) = machine.icount_shift {
        command.args(["-icount", &format!("shift={shift}")]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot run qemu-system-aarch64")?;
    // Both at once: who fills a pipe that nobody reads stands still.
    let output = read(child.stdout.take().expect("the output is piped"));
    let errors = read(child.stderr.take().expect("the errors are piped"));
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            let errors = errors.join().expect("the reader does not panic")?;
            bail!("{machine:?} did not power off within {} s: {errors}", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let errors = errors.join().expect("the reader does not panic")?;
    let text = output.join().expect("the reader does not panic")?;
    if text.contains("Kernel panic") || !text.lines().any(|line| line.trim() == "done") {
        let tail: Vec<&str> = text.lines().rev().take(12).collect();
        let tail = tail.into_iter().rev().collect::<Vec<_>>().join("\n");
        bail!("{machine:?} died before it was done: {errors}\n{tail}");
    }
    Ok(text)
}

/// All that comes, as text, on a thread of its own.
fn read(mut from: impl Read + Send + 'static) -> JoinHandle<io::Result<String>> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        from.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
    })
}
