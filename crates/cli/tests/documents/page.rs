//! A document as text: its sessions, and the commands it names. Runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README and all of `docs/` but what the parser itself writes.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    for folder in ["docs", "docs/questions"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        found.extend(entries.map(|entry| entry.unwrap().path()));
    }
    found.retain(|path| path.extension().is_some_and(|e| e == "md") && !path.ends_with("cli.md"));
    found.sort();
    found
}

/// A document's text.
pub(crate) struct Page(String);

const SESSION: &str = "```console\n";
const SAVED: &str = "<!-- saved: ";

impl Page {
    pub(crate) fn read(path: &Path) -> Page {
        Page(fs::read_to_string(path).unwrap())
    }

    /// The text with the answer of each command that is shown: `answer` gets the name of the saved run, if
    /// there is one, and the command.
    pub(crate) fn rewritten(&self, mut answer: impl FnMut(Option<&str>, &str) -> String) -> String {
        let mut parts = self.0.split(SESSION);
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let saved = text.trim_end().lines().next_back().unwrap_or_default().to_owned();
            let saved = saved.strip_prefix(SAVED).and_then(|rest| rest.strip_suffix(" -->"));
            let (session, rest) = part.split_once("```\n").expect("a block ends");
            text += SESSION;
            for command in shown_commands(session) {
                let answer = answer(saved, command.strip_prefix("$ ").unwrap());
                let end = if answer.is_empty() { "" } else { "\n" };
                text += &format!("{command}\n{}{end}", answer.trim_end());
            }
            text += &format!("```\n{rest}");
        }
        text
    }
}

/// The commands of a session with their `$`, those of several lines whole.
fn shown_commands(session: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in session.lines() {
        match found.last_mut() {
            Some(last) if last.ends_with('\\') => *last = format!("{last}\n{line}"),
            _ if line.starts_with("$ ") => found.push(line.to_owned()),
            last => assert!(last.is_some(), "a session starts with a command: {line}"),
        }
    }
    found
}

/// The words behind each `fathom` in code: blocks of commands, indented lines, and between backticks.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut blocks = text.split("```");
    while let Some(prose) = blocks.next() {
        let (code, prose): (Vec<&str>, Vec<&str>) =
            prose.lines().partition(|line| line.starts_with("    "));
        code.iter().for_each(|line| found.extend(commands_in(line.trim())));
        let prose = prose.join(" ");
        let spans = prose.split('`').skip(1).step_by(2);
        spans.filter(|span| span.starts_with("fathom ")).for_each(|s| found.extend(commands_in(s)));
        let block = blocks.next().unwrap_or_default();
        let (kind, block) = block.split_once('\n').unwrap_or_default();
        let lines = match kind {
            "console" => shown_commands(block).join("\n").replace("$ ", ""),
            "sh" => block.to_owned(),
            _ => String::new(),
        };
        lines.replace("\\\n", " ").lines().for_each(|line| found.extend(commands_in(line)));
    }
    found
}

/// The words behind each word `fathom` of a line, up to what ends a command in a shell.
fn commands_in(line: &str) -> Vec<Vec<String>> {
    let Some(words) = shlex::split(line) else { return Vec::new() };
    let is_end =
        |word: &String| ["|", "||", "&&", ";", ">", "<", "2>", "→"].contains(&word.as_str());
    let mut found = Vec::new();
    for part in words.split(is_end) {
        // `NAME=value fathom …`, `xargs -L 1 fathom …`: not a file that is called so.
        if let Some(at) = part.iter().position(|word| word == "fathom") {
            let behind = part[at + 1..].iter().filter(|word| !word.contains('…'));
            found.push(behind.cloned().collect());
        }
    }
    found.retain(|words: &Vec<String>| !words.is_empty());
    found
}
