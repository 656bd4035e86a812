//! `docs/cli.md` is what the parser says it is, and there is a manual page for each command.

use std::process::Command;

fn printed(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_fathom")).args(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[cfg_attr(not(feature = "kv"), ignore = "this build has no kv")]
fn docs_cli_md_is_current() {
    let current = printed(&["man", "--markdown"]);
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

/// Long ones were wrapped, and remarks stood behind them as if they were files.
#[test]
fn examples_of_help_are_commands_that_can_be_pasted_at_80_columns() {
    let manual = include_str!("../../../docs/cli.md");
    let mut examples = 0;
    for section in manual.split("```") {
        let Some((_, lines)) = section.split_once("\nExamples:\n") else { continue };
        let mut goes_on = false;
        for line in lines.lines() {
            examples += 1;
            assert!(line.chars().count() < 80, "{line}");
            let program = line.split_whitespace().next().unwrap_or_default();
            let is_begun = ["fathom", "seq", "ssh", "zcat"].contains(&program);
            assert!(if goes_on { line.starts_with("    ") } else { is_begun }, "{line}");
            let command = line.split(" # ").next().unwrap_or_default().trim();
            assert!(!command.contains("   "), "a remark without its sign: {line}");
            goes_on = line.ends_with(['\\', '|']);
        }
        assert!(!goes_on);
    }
    assert!(examples > 20);
}

#[test]
fn there_is_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("of/pages");
    let man = |folder: &std::path::Path| {
        let arguments = ["man".as_ref(), "--folder".as_ref(), folder.as_os_str()];
        Command::new(env!("CARGO_BIN_EXE_fathom")).args(arguments).output().unwrap()
    };
    assert!(man(&pages).status.success());
    for name in ["fathom", "fathom-aggregate", "fathom-generate-measurements", "fathom-man"] {
        let page = std::fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{name}");
        let foot = concat!("\"fathom ", env!("CARGO_PKG_VERSION"), "\"");
        assert!(page.lines().any(|line| line.starts_with(".TH ") && line.contains(foot)), "{page}");
    }
    assert!(!pages.join("fathom-worker.1").exists(), "a command for programs");
    let page = |words: &[&str]| printed(&[&["man"][..], words].concat());
    assert!(!page(&["generate"]).contains("generate\\-help"), "there is no such page");
    assert_eq!(page(&["generate measurements"]), page(&["generate", "measurements"]));
    assert!(page(&["generate measurements"]).contains("fathom-generate-measurements"));
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = man(&file);
    assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
fn completions_offer_nothing_that_help_hides() {
    // Of what one command takes and another hides, in bash in a list and by itself.
    for (shell, lines) in [("bash", 2), ("zsh", 1), ("fish", 1), ("elvish", 1), ("powershell", 1)] {
        let script = printed(&["completions", shell]);
        let offers = |option: &str| script.lines().filter(|line| line.contains(option)).count();
        assert_eq!((offers("null-values"), offers("--planted")), (lines, 0), "{shell}");
    }
}

/// Without a hint bash offers the words of a name, unquoted, and names of files where numbers are wanted.
#[test]
fn completions_know_files_from_other_values() {
    let script = |shell: &str| printed(&["completions", shell]);
    let (bash, zsh) = (script("bash"), script("zsh"));
    let of_bash = |option: &str| {
        let (_, rest) = bash.split_once(&format!(" {option})\n")).expect(option);
        rest.split_once(";;").unwrap().0
    };
    for option in ["--rejects", "--save", "--stations"] {
        assert!(of_bash(option).contains("compopt -o filenames"), "{option}: {}", of_bash(option));
        assert!(zsh.contains(&format!("{option}=[")), "{option}");
    }
    for option in ["--where", "--limit"] {
        assert!(!of_bash(option).contains("compgen"), "{option}: {}", of_bash(option));
    }
    assert!(!bash.contains("COMPREPLY=($(compgen -f \"${cur}\"))\n                    return"));
}
