//! Tells the crate which compiler builds it: the version of what comes from `std`.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.split_whitespace().nth(1).expect("`rustc <version> …`");
    println!("cargo::rustc-env=FATHOM_RUSTC={version}");
}
