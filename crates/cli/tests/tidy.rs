//! The habits of the house, as a test: a remark made twice in review becomes a rule here.
//!
//! Reads the sources as text; runs none of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of our crates each crate may name: the arrows of `docs/design.md`, and nothing else.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("machine", &[]),
    ("measure", &["machine", "random"]),
    ("random", &[]),
    ("input", &["machine"]),
    ("aggregate", &["machine", "measure", "random", "json"]),
    ("json", &["machine", "measure"]),
    ("haversine", &["machine", "measure", "json"]),
    ("keys", &["random", "json"]),
    ("contenders", &["machine", "measure", "aggregate", "json", "haversine", "random", "keys"]),
    ("report", &["measure"]),
    ("bench", &["machine", "measure", "report", "json", "random", "keys"]),
    (
        "cli",
        &[
            "machine", "measure", "aggregate", "json", "haversine", "contenders", "report",
            "random", "input", "keys",
        ],
    ),
    ("xtask", &["guest"]),
    ("guest", &["machine"]),
];

/// The folders of our crates: all under `crates/`, and the checks on other machines.
fn crate_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.extend(["xtask", "xtask/guest"].map(|folder| root().join(folder)));
    folders
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let made = ["target", "corpus", "runners/cpp/build"];
            if !made.iter().any(|made| path.ends_with(made)) {
                files(&path, ending, found);
            }
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

fn rust_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "fuzz", "python", "xtask"] {
        files(&root().join(folder), "rs", &mut found);
    }
    assert!(found.len() > 10, "tidy looks in the wrong place");
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn crates_depend_only_along_the_arrows() {
    for path in crate_folders() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let allowed = DEPENDENCIES
            .iter()
            .find(|(crate_name, _)| *crate_name == name)
            .unwrap_or_else(|| panic!("crate {name} is not in the dependency table of tidy.rs"))
            .1;
        let package = format!("name = \"fathom-{name}\"");
        assert!(manifest.contains(&package), "{name}: the package is fathom-<folder>");
        let has_lints = manifest.contains("[lints]\nworkspace = true");
        assert!(has_lints, "{name}: lints are the workspace's");
        for line in manifest.lines().filter_map(|line| line.strip_prefix("fathom-")) {
            let other: String =
                line.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            assert!(allowed.contains(&other.as_str()), "{name} must not depend on {other}");
        }
    }
}

#[test]
fn every_external_dependency_states_its_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap();
    let section = section.split("\n[").next().unwrap();
    let mut reasoned = false;
    for line in section.lines() {
        match line {
            _ if line.starts_with('#') => reasoned = true,
            _ if line.is_empty() => reasoned = false,
            _ if line.starts_with("fathom-") => {}
            _ => assert!(reasoned, "Cargo.toml: no reason above `{line}`"),
        }
    }
    for path in {
        let mut found = Vec::new();
        files(&root().join("crates"), "toml", &mut found);
        files(&root().join("xtask"), "toml", &mut found);
        found
    } {
        let text = fs::read_to_string(&path).unwrap();
        let mut in_dependencies = false;
        for line in text.lines() {
            if line.starts_with('[') {
                in_dependencies = line.contains("dependencies");
            } else if in_dependencies && line.contains('=') {
                let workspace = line.contains("workspace = true");
                assert!(workspace, "{}: `{line}` names no workspace dependency", shown(&path));
            }
        }
    }
}

/// The section of a manifest under `heading`, without comments.
fn section<'t>(manifest: &'t str, heading: &str) -> Vec<&'t str> {
    let after =
        manifest.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("{heading}")).1;
    let lines = after.lines().take_while(|line| !line.starts_with('['));
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn the_python_package_is_built_for_development_as_the_workspace_is() {
    let [ours, theirs, locked] = ["Cargo.toml", "python/Cargo.toml", "python/Cargo.lock"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap());
    let heading = "[profile.dev]";
    assert_eq!(section(&ours, heading), section(&theirs, heading), "{heading}");
    for line in section(&ours, "[profile.dev.package]") {
        let package = line.split(' ').next().unwrap();
        assert!(!locked.contains(&format!("name = \"{package}\"")), "python/Cargo.toml: {line}");
    }
}

#[test]
fn every_source_file_says_what_it_is_and_is_part_of_a_crate() {
    for path in rust_files() {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().find(|l| !l.starts_with("#!")).unwrap_or("");
        assert!(first.starts_with("//!"), "{}: starts without a sentence on its job", shown(&path));
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap();
        let is_root = ["lib", "main", "build"].contains(&stem)
            || folder.ends_with("tests")
            || folder.ends_with("examples")
            || folder.ends_with("benches")
            || folder.ends_with("fuzz_targets");
        if is_root {
            continue;
        }
        let (name, parent) = if stem == "mod" {
            (folder.file_name().unwrap().to_str().unwrap(), folder.parent().unwrap())
        } else {
            (stem, folder)
        };
        let candidates = [
            parent.join("mod.rs"),
            parent.join("lib.rs"),
            parent.join("main.rs"),
            parent.with_extension("rs"),
        ];
        let declared = candidates
            .iter()
            .filter_map(|candidate| fs::read_to_string(candidate).ok())
            .any(|text| text.contains(&format!("mod {name};")));
        // Helpers shared by integration tests are declared by the tests themselves.
        let in_tests = path.components().any(|c| c.as_os_str() == "tests");
        assert!(declared || in_tests, "{}: no parent declares it", shown(&path));
    }
}

/// Contenders that call a foreign function, and what the function wants promised.
const FOREIGN: &[&str] = &[
    "haversine/stages/strtod.rs",
    // A file that is mapped while others write to it.
    "read/mmap.rs", // Buffers that the kernel writes to meanwhile.
    "read/ring.rs", "store/lmdb.rs",
];

#[test]
fn unsafe_code_stays_in_its_rooms() {
    for path in rust_files() {
        let name = shown(&path);
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().map(|line| line.split("//").next().unwrap());
        let has_unsafe = code.clone().any(|line| {
            line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
        });
        let room = name.starts_with("crates/machine/src/")
            || name.contains("/kernel")
            || name.starts_with("crates/contenders/src/system/")
            || name.starts_with("python/src/arrow/")
            || name.contains("/tests/")
            || name.starts_with("crates/cli/tests/")
            || FOREIGN.iter().any(|file| name.ends_with(file));
        assert!(
            !has_unsafe || room,
            "{name}: unsafe outside machine, kernels and foreign interfaces"
        );
    }
    for name in ["measure", "report", "input", "cli"] {
        for file in ["lib.rs", "main.rs"] {
            let path = root().join("crates").join(name).join("src").join(file);
            if let Ok(text) = fs::read_to_string(&path) {
                assert!(text.contains("#![forbid(unsafe_code)]"), "{}", shown(&path));
            }
        }
    }
}

/// Where the command line may name a family's folder or say its name, and why.
const FAMILIES_NAMED: &[(&str, &[&str], &str)] = &[
    ("cmd/kv", &["kv", "alloc", "hash"], "the command of the hidden family `kv`, and its parts"),
    ("cmd/haversine/stages.rs", &["haversine"], "the command of a hidden family, its ladder"),
    ("cmd/selftest", &["planted"], "the command of the hidden family it audits the method with"),
    ("cmd/noise.rs", &["planted"], "the same"),
    ("args.rs", &["kv"], "the command is called so, too"),
    ("cmd/aggregate", &["aggregate", "text"], "the command and an option are called so, too"),
];

#[test]
fn the_command_line_names_no_family() {
    let contenders = root().join("crates/contenders/src");
    let families: Vec<String> = fs::read_dir(&contenders)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let text = fs::read_to_string(path.join("mod.rs")).unwrap_or_default();
            text.contains("pub(crate) const FAMILY")
        })
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(families.len() > 15, "families are looked for in the wrong place: {families:?}");
    let mut paths = Vec::new();
    files(&root().join("crates/cli/src"), "rs", &mut paths);
    for path in paths {
        let name = shown(&path).replace("crates/cli/src/", "");
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
        let allowed = |family: &str| {
            let of_file = FAMILIES_NAMED.iter().filter(|(place, ..)| name.starts_with(place));
            of_file.flat_map(|(_, names, _)| *names).any(|allowed| *allowed == family)
        };
        for line in code.lines().filter(|line| !line.contains("cfg(")) {
            let line = line.split("//").next().unwrap();
            let names_it = |family: &&String| {
                let in_group = line.contains("use fathom_contenders::{")
                    && line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == *family);
                let path = format!("fathom_contenders::{family}");
                let ends =
                    |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '(');
                let in_path = line.split(&path).skip(1).any(ends);
                line.contains(&format!("\"{family}\"")) || in_group || in_path
            };
            let found = families.iter().filter(|family| !allowed(family)).find(names_it);
            assert!(found.is_none(), "{name} names {found:?}: ask its facts instead: `{line}`");
        }
    }
}

#[test]
fn test_data_is_referenced() {
    let texts: String = rust_files().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for entry in fs::read_dir(root().join("testdata")).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(texts.contains(&name), "testdata/{name} is used by no test");
    }
}

#[test]
fn nothing_names_the_machine_it_was_written_on() {
    let mut paths = rust_files();
    for ending in ["md", "toml", "json", "sh", "txt", "csv", "cpp", "hpp"] {
        files(&root(), ending, &mut paths);
    }
    // Built from pieces so that this file does not find itself.
    let home = ["/ro", "ot/"].concat();
    let work = ["/wo", "rk/"].concat();
    for path in paths {
        if path.components().any(|c| c.as_os_str() == "target") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let leaks = line.contains(&home) || line.contains(&work);
            assert!(!leaks, "{}:{}: a path of one machine", shown(&path), number + 1);
        }
    }
}

/// Lines of code: no comments, blank lines or lone brackets.
fn code_lines(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().map(str::trim).enumerate();
    let is_code = |line: &str| line.contains(char::is_alphanumeric) && !line.starts_with("//");
    lines.filter(|(_, line)| is_code(line)).map(|(at, line)| (at + 1, line)).collect()
}

/// Files that hold one contender each, with the code before their tests.
fn contenders() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root().join("crates/contenders/src"), "rs", &mut found);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("\n#[cfg(test)]").next().unwrap().to_owned();
        (path, code)
    };
    let is_one = |(path, code): &(PathBuf, String)| {
        let named =
            code.contains("Meta::of") || code.contains("library!(") || code.contains("library::");
        named && !path.ends_with("mod.rs") && !path.ends_with("library.rs")
    };
    found.into_iter().map(read).filter(is_one).collect()
}

#[test]
fn half_of_the_contenders_take_thirty_lines() {
    let mut lines: Vec<usize> = contenders().iter().map(|(_, c)| code_lines(c).len()).collect();
    lines.sort_unstable();
    assert!(lines.len() > 120, "{} contenders seen", lines.len());
    let median = lines[lines.len() / 2];
    assert!(median <= 30, "half of {} contenders take more than {median} lines", lines.len());
}

/// Lines of code that are the same in two places, `RUN` or more on end: each such run once, by the two
/// places where it starts.
fn repeated(texts: &[(String, String)]) -> Vec<String> {
    const RUN: usize = 6;
    let code = |text| -> Vec<(usize, &str)> {
        let is_use = |line: &str| line.contains("use ") && line.ends_with([';', '{']);
        code_lines(text).into_iter().filter(|(_, line)| !is_use(line)).collect()
    };
    let texts: Vec<_> = texts.iter().map(|(name, text)| (name, code(text))).collect();
    let (mut first, mut runs) = (BTreeMap::new(), Vec::new());
    for (file, (name, lines)) in texts.iter().enumerate() {
        let mut before = None;
        for (at, window) in lines.windows(RUN).enumerate() {
            let words: Vec<&str> = window.iter().map(|(_, line)| *line).collect();
            let seen = *first.entry(words).or_insert((file, at));
            // The window itself, or one that it overlaps.
            let is_other = seen.0 != file || seen.1 + RUN <= at;
            if is_other && before != seen.1.checked_sub(1).map(|at| (seen.0, at)) {
                let (other, place) = (texts[seen.0].0, texts[seen.0].1[seen.1].0);
                runs.push(format!("{name}:{} and {other}:{place}", window[0].0));
            }
            before = is_other.then_some(seen);
        }
    }
    runs
}

#[test]
fn no_more_than_thirty_runs_of_lines_stand_twice() {
    let texts = rust_files().into_iter();
    let texts = texts.map(|path| (shown(&path), fs::read_to_string(path).unwrap()));
    let runs = repeated(&texts.collect::<Vec<_>>());
    assert!(runs.len() <= 30, "write once what is the same:\n{}", runs.join("\n"));
}

#[test]
fn a_run_that_stands_twice_is_seen_once() {
    let run = "let a = 1;\n// why\nb(a);\n}\nlet c = 2;\nd(c);\ne();\nf();\ng();\n";
    let text = |text: String| ("x.rs".to_owned(), text);
    let twice = [text(format!("one();\n{run}")), text(format!("two();\n{run}three();"))];
    assert_eq!(repeated(&twice), ["x.rs:2 and x.rs:2"]);
    let short: String = run.lines().take(7).map(|line| format!("{line}\n")).collect();
    assert_eq!(repeated(&[text(short.clone()), text(short)]), [""; 0]);
}

/// Contenders of the key-value families that take more than thirty lines of code, and why.
const LONG_CONTENDERS: &[(&str, &str)] = &[
    ("map/held.rs", "one map with five types of keys, and keys of a type of their own"),
    ("map/ptr_hash.rs", "a perfect hash function knows no keys: the entries lie beside it"),
    ("tree/intrusive.rs", "the node is the user's own type"),
    ("tree/scc.rs", "what was there must be looked for first, and it is read under a guard"),
    ("tree/sorted_vec.rs", "entries are ordered by their key alone, which takes a type"),
    (
        "trie/cedarwood.rs",
        "values of 31 bits: the values, and places that became free, lie beside it",
    ),
    ("trie/congee.rs", "it does not count its entries"),
    ("trie/crawdad.rs", "bytes become characters, and the values lie beside it"),
    ("trie/yada.rs", "the values lie beside it"),
];

#[test]
fn a_contender_is_one_file_of_thirty_lines() {
    let folder = root().join("crates/contenders/src");
    let mut excused: BTreeSet<&str> = LONG_CONTENDERS.iter().map(|(name, _)| *name).collect();
    let mut seen = 0;
    for family in ["map", "tree", "trie", "hash", "alloc"] {
        for entry in fs::read_dir(folder.join(family)).unwrap() {
            let path = entry.unwrap().path();
            let Ok(text) = fs::read_to_string(&path) else { continue };
            // Our own structures, in folders, are as long as they must be.
            if !text.contains("Meta::of(include_str!(") && !text.contains("library!(") {
                continue;
            }
            let text = text.split("\n#[cfg(test)]").next().unwrap();
            seen += 1;
            let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
            let lines = text.lines().filter(is_code).count();
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap();
            let is_excused = excused.remove(name);
            assert_eq!(lines > 30, is_excused, "{name}: {lines} lines of code");
        }
    }
    assert!(seen > 50, "{seen} contenders seen");
    assert!(excused.is_empty(), "no such contenders: {excused:?}");
}

/// What somebody who takes `fathom-bench` for benches of their own gets along with it.
#[test]
fn the_crates_that_benches_bring_along_are_counted() {
    let words = ["tree", "--locked", "--package", "fathom-bench", "--edges", "normal"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(words).args(["--prefix", "none", "--target", "x86_64-unknown-linux-gnu"]);
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let all: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    let (own, others): (Vec<&str>, Vec<&str>) =
        all.into_iter().partition(|name| name.starts_with("fathom-"));
    let said = format!("{} crates of ours and {} of others", own.len(), others.len());
    let page = fs::read_to_string(root().join("docs/bench.md")).unwrap();
    assert!(page.contains(&said), "docs/bench.md: {said}: {others:?}");
}

/// The body of each test in `text`: the lines after its attribute up to the brace that ends it.
fn tests_in(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = (0..lines.len()).filter(|&at| lines[at].trim() == "#[test]").collect::<Vec<_>>();
    starts.into_iter().map(move |at| {
        let end = format!("{}}}", lines[at].split('#').next().unwrap_or_default());
        lines[at..].iter().copied().take_while(|line| *line != end).collect()
    })
}

/// A test that ends early when something is absent has passed and shown nothing: it is ignored by name and
/// `.ci/run` asks for it, or it fails, or (processor and kernel alone) `machine::needs` says so.
#[test]
fn no_test_skips_itself_in_silence() {
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    let lines_with = |words: &str| {
        let lines: Vec<&str> = ci.lines().filter(|line| line.contains(words)).collect();
        lines.join(" ")
    };
    let (installed, asked) = (lines_with("wanted"), lines_with("-- --ignored"));
    let (_, words) = asked.split_once(" --ignored ").unwrap();
    let words = words.split(" 2>").next().unwrap();
    let early = ["return;", "return }", "return eprintln", "\"skipped: "];
    let mut needy = 0;
    for path in rust_files().iter().filter(|path| !path.ends_with("tests/tidy.rs")) {
        let text = fs::read_to_string(path).unwrap();
        for test in tests_in(&text) {
            let name = test.iter().find(|line| line.contains("fn ")).unwrap().trim();
            let skip = test.iter().find(|line| early.iter().any(|words| line.contains(words)));
            assert_eq!(skip, None, "{}: {name} ends early: ignore it, or fail", shown(path));
            let reason = test.iter().find_map(|line| line.split_once("ignore = \"needs "));
            // Data that we may not hand out is for who has it.
            let Some((_, needs)) = reason.filter(|(_, needs)| !needs.contains("FATHOM_")) else {
                continue;
            };
            let is_asked = words.split(' ').any(|word| name.contains(word));
            assert!(is_asked, "{name}: one of {words} in its name, or .ci/run leaves it out");
            if let Some((program, _)) = needs.split_once(": cargo") {
                let found = [&installed, words, name].iter().all(|text| text.contains(program));
                assert!(found, "{name}: {program} in its name, and in .ci/run twice");
            }
            needy += 1;
        }
    }
    assert!(needy > 10, "{needy} tests that need a program");
}
