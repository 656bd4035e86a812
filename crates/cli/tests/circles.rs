//! No circle between the files of a crate: whoever reads one file can stop where its arrows end.
//!
//! Arrows are the `use` paths outside tests, followed through re-exports to the file that has the
//! thing. A file and the folder it heads are one room: paths between them do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Circles that are still there, by crate and files, and why. A new one fails, and so does one that is gone.
const KNOWN: &[(&str, &[&str], &str)] = &[
    (
        "aggregate",
        &["table::kernel", "table::long"],
        "the loop of a table's search, in the room for it",
    ),
    (
        "contenders",
        &["cipher::container", "cipher::kernel", "cipher::workload"],
        "CRCs fill the lanes of a container, and the kernel fills them while it encrypts",
    ),
    (
        "haversine",
        &["alike", "engine", "kernel", "session", "template"],
        "cursors and templates are read by the kernel's loop, which their owners call",
    ),
    ("measure", &["conductor", "provision"], "a conductor gets workers that it has to define"),
];

/// A path from the root of its crate.
type Module = Vec<String>;

#[test]
fn files_of_a_crate_have_no_circles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut known: BTreeSet<(&str, Vec<String>)> = KNOWN
        .iter()
        .map(|(name, files, _)| (*name, files.iter().map(|f| (*f).to_owned()).collect()))
        .collect();
    let mut seen = 0;
    for folder in fs::read_dir(crates).unwrap().map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files = BTreeMap::new();
        read(&folder.join("src"), &Vec::new(), &mut files);
        seen += files.len();
        for circle in circles(&files) {
            let is_known = known.iter().find(|k| k.0 == name && k.1 == circle).cloned();
            let known_one = is_known.unwrap_or_else(|| panic!("{name}: a circle of {circle:?}"));
            known.remove(&known_one);
        }
    }
    assert!(seen > 300, "only {seen} files were seen");
    assert!(known.is_empty(), "gone, and to be struck from the list: {known:?}");
}

#[test]
fn circles_are_seen_through_groups_and_re_exports() {
    let file = |path: &str, text: &str| (module(path), uses(&module(path), text));
    let two = [
        file("a", "use std::fs;\nuse crate::{\n    b::c::Thing,\n    d,\n};"),
        file("b", "pub use self::c::Thing;"),
        file("b::c", "use super::super::d::Other;"),
        file("d", "pub(crate) use crate::a::Third;\n#[cfg(test)]\nmod tests { use crate::b; }"),
    ];
    let found = circles(&two.into_iter().collect());
    assert_eq!(found, [["a", "b::c", "d"].map(str::to_owned).to_vec()]);
}

fn module(path: &str) -> Module {
    path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A `use`: where it points, and whether it passes on what it found.
type Use = (Module, bool);

fn read(folder: &Path, at: &[String], files: &mut BTreeMap<Module, Vec<Use>>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let here = [at, std::slice::from_ref(&stem)].concat();
        if path.is_dir() {
            read(&path, &here, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let is_head = ["lib", "main", "mod"].contains(&stem.as_str());
            let here = if is_head { at.to_vec() } else { here };
            files.insert(here.clone(), uses(&here, &fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Every path a file uses outside its tests, absolute.
fn uses(here: &[String], text: &str) -> Vec<Use> {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap()).collect();
    let mut found = Vec::new();
    for statement in code.join("\n").split(';') {
        let Some(at) = statement.find("use ").filter(|_| statement.contains("::")) else {
            continue;
        };
        let before = statement[..at].lines().last().unwrap_or("").trim();
        if !before.is_empty() && !before.starts_with("pub") {
            continue;
        }
        for path in expanded(&statement[at + 4..]) {
            found.push((absolute(here, module(&path)), !before.is_empty()));
        }
    }
    found
}

/// A path as seen from the root. Paths into other crates lead to no file and count for nothing.
fn absolute(here: &[String], path: Module) -> Module {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path[0].as_str() {
        "crate" => path[1..].to_vec(),
        "self" => [here, &path[1..]].concat(),
        _ => [&here[..here.len().saturating_sub(ups)], &path[ups..]].concat(),
    }
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`.
fn expanded(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap();
        return vec![path.split_whitespace().collect()];
    };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in inner.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(c),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{before}{part}"))).collect()
}

/// The file that has what a path names: the longest part of it that is a file, re-exports followed.
fn file_of<'f>(files: &'f BTreeMap<Module, Vec<Use>>, path: &[String], steps: u32) -> &'f Module {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length]));
    let (file, passed) = files.get_key_value(&path[..length.unwrap_or(0)]).unwrap();
    let name = path.get(file.len());
    let further = passed.iter().find(|(to, passes)| *passes && name.is_some() && to.last() == name);
    match further {
        Some((to, _)) if steps > 0 && to != path => file_of(files, to, steps - 1),
        _ => file,
    }
}

/// Files that reach each other, as groups in order.
fn circles(files: &BTreeMap<Module, Vec<Use>>) -> Vec<Vec<String>> {
    let arrows = |file: &Module| -> BTreeSet<&Module> {
        let ends = files[file].iter().map(|(path, _)| file_of(files, path, 8));
        ends.filter(|end| !end.starts_with(file) && !file.starts_with(end)).collect()
    };
    let arrows: BTreeMap<&Module, BTreeSet<&Module>> =
        files.keys().map(|file| (file, arrows(file))).collect();
    let reached = |from: &Module| {
        let mut found: BTreeSet<&Module> = BTreeSet::new();
        let mut open: Vec<&Module> = arrows[from].iter().copied().collect();
        while let Some(file) = open.pop() {
            if found.insert(file) {
                open.extend(&arrows[file]);
            }
        }
        found
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        files.keys().map(|file| (file, reached(file))).collect();
    let circle = |file: &Module| -> Vec<String> {
        let all = reached[file].iter().filter(|other| reached[*other].contains(file));
        all.map(|other| other.join("::")).collect()
    };
    let found: BTreeSet<Vec<String>> = files.keys().map(circle).collect();
    found.into_iter().filter(|circle| circle.len() > 1).collect()
}
