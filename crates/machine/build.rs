//! Compiles the warden (`src/warden/main.rs`), which `src/os/ward.rs` embeds: a program of a few
//! kilobytes without a library, for the processor we build for. Where it cannot be built the file is
//! empty, and programs are started without it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rerun-if-changed=src/warden/main.rs");
    let out = env::var("OUT_DIR").expect("cargo gives a folder");
    let file = Path::new(&out).join("warden");
    let target = env::var("TARGET").expect("cargo names the target");
    let known = ["x86_64-", "aarch64-"].iter().any(|processor| target.starts_with(processor));
    if !(known && target.contains("-linux-") && compile(&target, &file)) {
        println!("cargo::warning=no warden for {target}: peak memory of commands is unknown");
        fs::write(&file, []).expect("the folder can be written");
    }
}

fn compile(target: &str, file: &Path) -> bool {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "--crate-name", "warden", "--target", target]);
    for option in [
        "panic=abort", "opt-level=s", "strip=symbols", "relocation-model=static",
        "target-feature=+crt-static",
    ] {
        rustc.args(["-C", option]);
    }
    let linker = env::var("RUSTC_LINKER").unwrap_or_default();
    // A compiler links by default, and hands on what it does not know; a linker alone is told directly.
    let arguments = match linker.ends_with("lld") {
        true => "-static --build-id=none -z noseparate-code",
        false => "-nostartfiles -nostdlib -static -Wl,--build-id=none -Wl,-z,noseparate-code",
    };
    rustc.arg("-C").arg(format!("link-args={arguments}"));
    if target.ends_with("-musl") {
        // Else the compiler brings the beginning of a C program, and there are two.
        rustc.args(["-C", "link-self-contained=no"]);
    }
    if !linker.is_empty() {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    rustc.arg("-o").arg(file).arg("src/warden/main.rs").stdin(Stdio::null());
    rustc.status().is_ok_and(|status| status.success())
}
