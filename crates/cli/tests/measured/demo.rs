//! The demo is what a newcomer runs first: it ends, it fits a screen or two, every act says something, and
//! nothing stays behind but the page.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::signals;

fn demo(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("demo").args(words).env("TMPDIR", folder).stdin(Stdio::null());
    command
}

fn shown(folder: &Path, words: &[&str]) -> (String, bool) {
    let output = demo(folder, words).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn five_acts_are_short_and_each_ends_with_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let (text, is_done) = shown(folder.path(), &[]);
    assert!(is_done, "{text}");
    assert!(text.lines().count() < 64, "{} lines:\n{text}", text.lines().count());
    let acts: Vec<&str> = text.split("== ").skip(1).collect();
    assert_eq!(acts.len(), 5, "{text}");
    assert!(acts[0].contains("second against first: ") || acts[0].contains("second is "), "{text}");
    assert!(acts[0].contains("times faster.\n"), "{text}");
    assert!(acts[1].contains("ten million rows in "), "{text}");
    let has_awk = acts[1].contains("awk -f extremes.awk");
    let is_compared = acts[1].contains("awk is ") || acts[1].contains("awk against fathom: ");
    assert!(!has_awk || is_compared, "{text}");
    assert!(!has_awk || acts[2].contains("hasty: wrong answer: "), "{text}");
    #[cfg(feature = "kv")]
    assert!(
        ["For these keys and 80 % finds", "pub type Map", "\n★ nobody measured is "]
            .iter()
            .all(|part| acts[3].contains(part)),
        "{text}"
    );
    let page = acts[4].lines().find_map(|line| line.strip_prefix("written: ")).expect(&text);
    assert!(std::fs::read_to_string(page).unwrap().to_lowercase().starts_with("<!doctype html>"));
    std::fs::remove_file(page).unwrap();
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "only the page stays");
}

#[test]
fn an_act_can_be_repeated_alone_and_one_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (text, is_done) = shown(folder.path(), &["--act", "5"]);
    assert!(is_done && text.starts_with("== 5 of 5") && text.contains("written: "), "{text}");
    let (text, is_done) = shown(folder.path(), &["--act", "6"]);
    assert!(!is_done && text.is_empty());
}

#[test]
fn a_rival_that_fails_ended_the_demo() {
    let folder = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    for name in ["awk", "mlr", "duckdb"] {
        std::os::unix::fs::symlink("/bin/false", programs.path().join(name)).unwrap();
    }
    let others = std::env::var("PATH").unwrap();
    let path = format!("{}:{others}", programs.path().display());
    for (act, said) in
        [("2", "runs here; awk fails; mlr fails; duckdb fails."), ("3", "an awk that works")]
    {
        let mut command = demo(folder.path(), &["--act", act]);
        let output = command.env("PATH", &path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let is_said = text.split_whitespace().collect::<Vec<_>>().join(" ").contains(said);
        assert!(output.status.success() && is_said, "{text}");
    }
}

#[test]
fn a_colon_in_the_temporary_folder_was_called_a_mistake_in_path() {
    let folder = tempfile::tempdir().unwrap();
    let colon = folder.path().join("co:lon");
    std::fs::create_dir(&colon).unwrap();
    let output = demo(&colon, &["--act", "3"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no programs can be found in the temporary folder"), "{said}");
    assert_eq!(output.status.code(), Some(4), "{said}");
}

#[test]
fn an_interrupt_left_the_folder_and_a_command_behind() {
    for signal in ["INT", "TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = demo(folder.path(), &["--act", "1"]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        while folder.path().read_dir().unwrap().count() == 0 {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        signals::send(signal, child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{signal}");
    }
}
