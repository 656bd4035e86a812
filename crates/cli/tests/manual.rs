//! `docs/cli.md` is what the parser says it is.

use std::process::Command;

#[test]
fn docs_cli_md_is_current() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_fathom")).args(["man", "--markdown"]).output().unwrap();
    let current = String::from_utf8(output.stdout).unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    if std::env::var_os("FATHOM_BLESS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == current,
        "docs/cli.md differs from the parser; run FATHOM_BLESS=1 cargo test -p fathom-cli manual"
    );
}
