//! Tells the crate which compiler builds it, the version of what comes from `std`, at which level, and where the lock
//! file is, with the versions of all else: the workspace's, or the one beside the manifest of a published crate.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).expect("`rustc <version> …`");
    println!("cargo::rustc-env=FATHOM_RUSTC={version}");
    let optimised = env::var("OPT_LEVEL").expect("cargo sets OPT_LEVEL");
    println!("cargo::rustc-env=FATHOM_OPT_LEVEL={optimised}");
    let folder = env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let here = Path::new(&folder).join("Cargo.lock");
    let there = Path::new(&folder).join("../../Cargo.lock");
    let lock = if here.exists() { here } else { there };
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rustc-env=FATHOM_LOCK={}", lock.display());
}
