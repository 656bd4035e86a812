//! Every answer of docs/cookbook.md is what its command prints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a command of the page prints, in the folder of its files.
fn answer(command: &str) -> String {
    let fathom = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let others = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root().join("testdata/cookbook"))
        .env("PATH", format!("{}:{others}", fathom.parent().unwrap().display()))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.is_empty(), "{command}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_cookbook_shows_what_its_commands_print() {
    const BLOCK: &str = "```console\n";
    let page = root().join("docs/cookbook.md");
    let text = fs::read_to_string(&page).unwrap();
    let mut blocks = text.split(BLOCK);
    let mut current = blocks.next().unwrap().to_owned();
    let mut questions = 0;
    for block in blocks {
        let (shown, rest) = block.split_once("```\n").unwrap();
        let command = shown.lines().next().unwrap();
        let program = command.strip_prefix("$ ").unwrap();
        current += &format!("{BLOCK}{command}\n{}```\n{rest}", answer(program));
        questions += 1;
    }
    if std::env::var_os("FATHOM_BLESS").is_some() {
        fs::write(&page, &current).unwrap();
    }
    assert!(questions >= 25, "{questions} questions");
    let text = fs::read_to_string(&page).unwrap();
    let differs = || text.lines().zip(current.lines()).find(|(shown, now)| shown != now);
    assert!(
        text == current,
        "docs/cookbook.md: {:?}; FATHOM_BLESS=1 cargo test -p fathom-cli --test cookbook",
        differs()
    );
}
