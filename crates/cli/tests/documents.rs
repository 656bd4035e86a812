//! What the documents show is what the program does: every answer under a command is printed by it now, or
//! by `fathom report` from the saved run that is named, and the parser knows every command they name.
//!
//! A block marked `console` is a session: `$ command`, then its standard output (with what it says when
//! it fails). A page's sessions run one after another in one folder, in which the files of the cookbook
//! lie. `<!-- saved: FILE -->` above a block names the run under `record/` that the command saved.

// What they show is of a build that has all commands.
#![cfg(all(feature = "kv", feature = "cpu"))]

#[path = "documents/page.rs"]
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use page::{Page, commands, pages, root};
use serde_json::Value;

/// A folder as a reader has it who tries what a page says.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(root().join("testdata/cookbook")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder
}

/// What a command prints in `folder`, where `fathom` is the program that is tested.
fn answer(command: &str, folder: &Path) -> String {
    let fathom = Path::new(env!("CARGO_BIN_EXE_fathom"));
    let others = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        // The last digits of distances are those of any level with fused operations.
        .env("FATHOM_LEVEL", "scalar")
        .env("PATH", format!("{}:{others}", fathom.parent().unwrap().display()))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // Whoever could not be started or has crashed is no answer.
    let code = output.status.code().filter(|code| *code < 100);
    assert!(code.is_some(), "{command}: {}: {said}", output.status);
    let mut text = String::from_utf8(output.stdout).unwrap();
    if code != Some(0) {
        text += &said;
    }
    // Where the folder lies is of this run.
    let place = folder.canonicalize().unwrap();
    text.replace(&format!("{}/", place.display()), "…/")
}

/// What `fathom report` shows of a saved run, which `command` must have made.
fn report(saved: &str, command: &str) -> String {
    let file = root().join("record").join(saved);
    let run: Value = serde_json::from_slice(&fs::read(&file).expect(saved)).unwrap();
    let words: Vec<String> = serde_json::from_value(run["command"].clone()).unwrap();
    let mut words = words.into_iter();
    let mut made = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--save" => drop(words.next()),
            _ => made.push(word),
        }
    }
    let shown = shlex::split(&command.replace("\\\n", " ")).unwrap();
    assert_eq!(shown, made, "{saved} is of another command");
    let words = ["report".as_ref(), file.as_os_str()];
    let mut report = Command::new(env!("CARGO_BIN_EXE_fathom"));
    // As on a terminal of the usual width.
    let output = report.args(words).env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success(), "{saved}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn documents_show_what_their_commands_print() {
    let mut sessions = 0;
    for file in pages() {
        let page = Page::read(&file);
        let mut place = None;
        let current = page.rewritten(|saved, command| {
            sessions += 1;
            match saved {
                Some(saved) => report(saved, command),
                None => answer(command, place.get_or_insert_with(folder).path()),
            }
        });
        if std::env::var_os("FATHOM_BLESS").is_some() {
            fs::write(&file, &current).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap();
        let differs = || text.lines().zip(current.lines()).find(|(shown, now)| shown != now);
        assert!(
            text == current,
            "{}: {:?}; FATHOM_BLESS=1 cargo test -p fathom-cli --test documents",
            file.display(),
            differs()
        );
    }
    assert!(sessions >= 50, "{sessions} commands with their answers");
}

#[test]
fn pictures_are_small_come_in_both_schemes_and_are_shown() {
    let texts: String = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root().join("docs/pictures")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let bytes = entry.metadata().unwrap().len();
        assert!(bytes < 100_000, "{name}: {bytes} bytes");
        assert!(texts.contains(&format!("pictures/{name}\"")), "{name}: no document shows it");
        names.insert(name);
    }
    for name in &names {
        let other = name.replace("-light", "-other").replace("-dark", "-light");
        assert!(names.contains(&other.replace("-other", "-dark")), "{name}: one scheme only");
    }
    assert!(names.len() > 3, "{names:?}");
}

/// Why the parser refuses a command, if the reason is that there is no such thing.
fn unknown(words: &[String]) -> Option<String> {
    let fathom = Path::new(env!("CARGO_BIN_EXE_fathom"));
    // Help is asked for last: what stands before it has been parsed.
    let output = Command::new(fathom).args(words).arg("--help").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let reason = said.lines().next().unwrap_or_default().to_owned();
    let missing = ["unexpected argument", "unrecognized subcommand", "invalid value"];
    // A word in capitals stands for what the reader puts there.
    let stands_for = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || "_-…".contains(c));
    let named = reason.split('\'').nth(1).unwrap_or_default();
    let is_unknown = missing.iter().any(|words| reason.contains(words)) && !stands_for(named);
    is_unknown.then_some(reason)
}

#[test]
fn the_parser_knows_every_command_of_the_documents() {
    let mut files: BTreeSet<PathBuf> = pages().into_iter().collect();
    let others = ["CONTRIBUTING.md", "CHANGELOG.md", "python/README.md", "runners/cpp/README.md"];
    files.extend(others.map(|name| root().join(name)));
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in &files {
        for command in commands(&fs::read_to_string(file).unwrap()) {
            // `help` takes the names of commands, and no option.
            if seen.insert(command.clone()) && command[0] != "help" {
                let name = file.file_name().unwrap().display();
                let words = || command.join(" ");
                wrong.extend(unknown(&command).map(|why| format!("{name}: {}: {why}", words())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen.len() > 150, "{} commands", seen.len());
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for wrong in ["aggregate --keys a", "agregate x", "run -N --round 3", "bench mapp"] {
        assert!(unknown(&words(wrong)).is_some(), "{wrong} passes");
    }
}

#[test]
fn commands_are_found_in_blocks_lines_and_sentences() {
    let text = "Say `fathom list hash`, not `hash`.\n\n    fathom plan --states out a.txt | xargs -L 1 fathom merge\n\n\
                ```sh\nA=1 fathom run -N 'fathom aggregate x' \\\n    'true' > out  # two\n```\n";
    let found: Vec<String> = commands(text).iter().map(|words| words.join(" ")).collect();
    let expected =
        ["list hash", "plan --states out a.txt", "merge", "run -N fathom aggregate x true"];
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(expected));
}
