//! One line per task: what to use on this processor, what is as good, what loses how much, and the
//! sizes at which that changes.

use std::collections::BTreeMap;
use std::fmt::Write;

use fathom_contenders::{beside, version};
use fathom_measure::compare::{Comparison, Verdict};
use fathom_measure::contender::{Meta, Origin, Path as Hardware};
use fathom_measure::family::AnyFamily;
use fathom_measure::result::Case;
use fathom_measure::worker::labelled;
use fathom_report::view::{Line, lines};

use super::winners::{Task, ids, joined, size, stretches, tasks};
use crate::measuring::manifest;

/// Losses below this share are not worth a word.
const WORTH_A_WORD: f64 = 0.10;

/// A line per operation, in the order they were measured; then the lines that add the fastest of each.
pub(super) fn text(cases: &[Case], families: &[&'static dyn AnyFamily]) -> String {
    let mut text = String::new();
    // What adds a library → the operations it is the fastest for.
    let mut added: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for task in tasks(cases) {
        let _ = writeln!(text, "{}: {}", task.operation, advice(&task));
        let Some((meta, build)) = overall(&task).and_then(|case| fastest(case, families)) else {
            continue;
        };
        let of = |build| format!("{} (as built in {build})", task.operation);
        let what = build.map_or_else(|| task.operation.to_owned(), of);
        for line in adds(&meta, task.operation) {
            added.entry(line).or_default().push(what.clone());
        }
    }
    if !added.is_empty() {
        text += "\nto add the fastest of each\n";
    }
    for (line, operations) in added {
        let _ = writeln!(text, "  {line}\n      # {}", operations.join(", "));
    }
    text + "\n"
}

/// What is known of the fastest, and which other build it is of.
fn fastest<'c>(
    case: &'c Case,
    families: &[&'static dyn AnyFamily],
) -> Option<(Meta, Option<&'c str>)> {
    let family = families.iter().find(|family| family.name() == case.family)?;
    let ids = ids(case);
    // Of those that tie one that is built as usual.
    let is_usual = |id: &&&str| labelled(id).1.is_none();
    let (own, build) = labelled(ids.iter().find(is_usual).or(ids.first())?);
    let entry = family.entries().into_iter().find(|entry| entry.id == own)?;
    Some((entry.meta, build))
}

/// The lines that add it: of `Cargo.toml`, or the flags of a compiler; nothing for what is part of a
/// language or of this program.
fn adds(meta: &Meta, operation: &str) -> Vec<String> {
    match (meta.origin, meta.pkg_config) {
        (Origin::Crate(_), _) => {
            let beside = beside(meta.origin, operation).iter().map(|&(name, feature)| {
                manifest(&Meta { feature, ..Meta::of_crate(name, "", "") })
            });
            std::iter::once(manifest(meta)).chain(beside).collect()
        }
        (_, "") => Vec::new(),
        // Debian has no module of it.
        (_, flags) if flags.starts_with('-') => vec![format!("cc … {flags}")],
        (_, modules) => {
            let version = version(meta.origin);
            let major = version.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty());
            let modules = modules.replace("{major}", major.unwrap_or_default());
            vec![format!("cc … $(pkg-config --cflags --libs {modules})")]
        }
    }
}

/// The case that stands for a task: without a mix, the one with the largest calls.
fn overall<'c>(task: &Task<'c>) -> Option<&'c Case> {
    task.mix.or_else(|| task.sizes.last().copied())
}

fn advice(task: &Task<'_>) -> String {
    let Some(overall) = overall(task) else {
        return "nothing measured".to_owned();
    };
    let mut words = vec![winners(overall)];
    let best = ids(overall);
    for stretch in stretches(&task.sizes) {
        // Another winner only counts where those of the whole task are really beaten.
        if !stretch.ids.iter().any(|id| best.contains(id)) {
            let names = names(&task.sizes);
            let at: Vec<bool> = names.iter().map(|size| stretch.sizes.contains(size)).collect();
            words.push(format!("{}: {}", extent(&at, &names), joined(&stretch.ids)));
        }
    }
    words.extend(losses(overall, &task.sizes, &best));
    words.join("; ")
}

/// The winner, those that tie with it, and their instructions.
fn winners(case: &Case) -> String {
    let ids = ids(case);
    let lines = lines(case);
    let best = lines.iter().filter(|line| ids.contains(&line.row.id.as_str()));
    let paths: Vec<&str> = best.map(|line| line.row.about.hardware.as_str()).collect();
    with_paths(&ids, &paths)
}

/// Each with its path; nothing of these where none is known.
fn with_paths(ids: &[&str], of_each: &[&str]) -> String {
    let not_known = Hardware::NotKnown.to_string();
    let mut paths: Vec<&str> = Vec::new();
    for path in of_each {
        let path = if path.is_empty() { &not_known } else { *path };
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths == [&*not_known] {
        paths.clear();
    }
    match (ids, &paths[..]) {
        ([], _) | (_, []) => joined(ids),
        ([_, _], [path]) => format!("{} (both {path})", joined(ids)),
        ([_, _, _, ..], [path]) => format!("{} (all {path})", joined(ids)),
        (_, paths) => format!("{} ({})", joined(ids), paths.join(", ")),
    }
}

/// Who loses how much, and at which sizes.
fn losses(overall: &Case, sizes: &[&Case], best: &[&str]) -> Vec<String> {
    let lines = lines(overall);
    let measured = lines.iter().filter(|line| line.summary.is_some());
    let said = measured.filter_map(|line| {
        let id = line.row.id.as_str();
        let at_size: Vec<f64> = sizes.iter().map(|case| loss_of(case, id)).collect();
        let lost = lost((loss(line), best.contains(&id)), &at_size, &names(sizes))?;
        Some(format!("{id} loses {lost}"))
    });
    said.collect()
}

/// How much, of what is lost in the whole task, by one of its winners or not, and at each size: from the least to the most
/// of those it is lost at.
fn lost((share, is_best): (f64, bool), at_size: &[f64], sizes: &[&str]) -> Option<String> {
    let loses: Vec<bool> = at_size.iter().map(|share| *share >= WORTH_A_WORD).collect();
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let lost = at_size.iter().copied().filter(|share| *share >= WORTH_A_WORD);
    let ends = [lost.clone().fold(1.0, f64::min), lost.fold(0.0, f64::max)];
    let at = match ends.map(percent) {
        [least, most] if least == most => format!("{most} % {}", extent(&loses, sizes)),
        [least, most] => format!("{least} to {most} % {}", extent(&loses, sizes)),
    };
    let is_never_fastest = !is_best && at_size.iter().all(|share| *share > 0.0);
    if share >= WORTH_A_WORD && (loses.iter().all(|loses| *loses) || is_never_fastest) {
        let is_other = ends.iter().any(|end| (end - share).abs() >= WORTH_A_WORD);
        let by_size = (loses.contains(&true) && is_other).then(|| format!(" ({at})"));
        return Some(format!("{} %{}", percent(share), by_size.unwrap_or_default()));
    }
    loses.contains(&true).then_some(at)
}

fn names<'c>(sizes: &[&'c Case]) -> Vec<&'c str> {
    sizes.iter().map(|case| size(case)).collect()
}

/// The sizes marked: `below 1 KiB`, `from 64 KiB on`, `at 64 bytes, 1 KiB`.
fn extent(marked: &[bool], sizes: &[&str]) -> String {
    let name = |at: usize| spelled(sizes[at]);
    let count = marked.iter().filter(|marked| **marked).count();
    let rest = marked.len() - count;
    if rest == 0 {
        "at every size".to_owned()
    } else if marked[..count].iter().all(|marked| *marked) {
        format!("below {}", name(count))
    } else if marked[rest..].iter().all(|marked| *marked) {
        format!("from {} on", name(rest))
    } else {
        let names: Vec<String> = (0..marked.len()).filter(|&at| marked[at]).map(name).collect();
        format!("at {}", names.join(", "))
    }
}

/// `64` as `64 bytes`, `1K` as `1 KiB`; cache levels as they are.
fn spelled(size: &str) -> String {
    let units = [('K', "KiB"), ('M', "MiB"), ('G', "GiB")];
    let unit = units.iter().find_map(|(letter, unit)| Some((size.strip_suffix(*letter)?, unit)));
    match unit {
        Some((number, unit)) => format!("{number} {unit}"),
        None if size == "1" => "1 byte".to_owned(),
        None if size.ends_with(|last: char| last.is_ascii_digit()) && !size.starts_with('l') => {
            format!("{size} bytes")
        }
        None => size.to_owned(),
    }
}

fn loss_of(case: &Case, id: &str) -> f64 {
    lines(case).iter().find(|line| line.row.id == id).map_or(0.0, loss)
}

/// The share of the winner's speed that is lost, if that is certain; else 0.
fn loss(line: &Line<'_>) -> f64 {
    let is_certain = |comparison: &&Comparison| matches!(comparison.verdict, Verdict::Slower);
    let comparison = line.comparison.filter(is_certain);
    comparison.and_then(|comparison| comparison.ratio).map_or(0.0, |ratio| 1.0 - 1.0 / ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_of_one_is_not_said_of_both() {
        for (paths, expected) in [
            (["portable", "portable"], "a or b (both portable)"),
            (["portable", "not known"], "a or b (portable, not known)"),
            (["", "avx2"], "a or b (not known, avx2)"),
            (["not known", ""], "a or b"),
        ] {
            assert_eq!(with_paths(&["a", "b"], &paths), expected);
        }
        assert_eq!(with_paths(&["a"], &["avx2"]), "a (avx2)");
        assert_eq!(with_paths(&["a", "b", "c"], &["sse2"; 3]), "a or b or c (all sse2)");
    }

    /// Who is the fastest at one size lost without a word on where, and at all sizes what it lost at the worst.
    #[test]
    fn who_wins_somewhere_loses_where_it_loses() {
        for (whole, at_size, expected) in [
            ((0.5, false), [0.45, 0.55], Some("50 %")),
            ((0.5, false), [0.25, 0.5], Some("50 % (25 to 50 % at every size)")),
            ((0.5, false), [0.0, 0.5], Some("50 % from 1 KiB on")),
            ((0.5, false), [0.01, 0.75], Some("50 % (75 % from 1 KiB on)")),
            ((0.0, true), [0.25, 0.0], Some("25 % below 1 KiB")),
            ((0.0, true), [0.25, 0.75], Some("25 to 75 % at every size")),
            ((0.0, true), [0.0, 0.0], None),
        ] {
            assert_eq!(lost(whole, &at_size, &["64", "1K"]).as_deref(), expected);
        }
    }

    /// The lines of HMACs lacked `hmac`, of records in JSON `serde`, of BLAKE3 its feature, of Botan 3 they were
    /// those of Botan 2, and bzip2 has no module in Debian.
    #[test]
    fn the_lines_have_all_that_is_called_and_are_of_the_version_that_is_here() {
        let names = |name: &'static str, operation| -> Vec<String> {
            let lines = adds(&Meta::of_crate(name, "", ""), operation);
            lines.iter().map(|line| line.split_once(" = ").unwrap().0.to_owned()).collect()
        };
        assert_eq!(names("sha2", "sha256"), ["sha2"]);
        assert_eq!(names("sha2", "hmac-sha256"), ["sha2", "hmac"]);
        assert_eq!(names("ctr", "aes-128-ctr"), ["ctr", "aes"]);
        assert_eq!(names("sonic-rs", "dom"), ["sonic-rs"]);
        let json = adds(&Meta::of_crate("serde_json", "", ""), "records");
        assert!(json[1].starts_with("serde = ") && json[1].ends_with("features = [\"derive\"] }"));
        let blake3 = Meta { feature: "pure", ..Meta::of_crate("blake3", "", "") };
        assert!(adds(&blake3, "blake3")[0].ends_with("features = [\"pure\"] }"));
        let origin = Origin::Library("Botan", || "3.7.1".to_owned());
        let botan = Meta { origin, pkg_config: "botan-{major}", ..Meta::of_crate("", "", "") };
        assert_eq!(adds(&botan, "sha256"), ["cc … $(pkg-config --cflags --libs botan-3)"]);
        let bzip2 = Meta { pkg_config: "-lbz2", ..botan };
        assert_eq!(adds(&bzip2, "compress"), ["cc … -lbz2"]);
    }

    #[test]
    fn sizes_are_told_by_where_something_begins_or_ends() {
        let sizes = ["64", "1K", "64K", "1M"];
        for (marked, expected) in [
            ([true, true, true, true], "at every size"),
            ([true, false, false, false], "below 1 KiB"),
            ([true, true, false, false], "below 64 KiB"),
            ([false, false, true, true], "from 64 KiB on"),
            ([false, false, false, true], "from 1 MiB on"),
            ([false, true, false, false], "at 1 KiB"),
            ([true, false, true, false], "at 64 bytes, 64 KiB"),
        ] {
            assert_eq!(extent(&marked, &sizes), expected);
        }
        assert_eq!(extent(&[false, true], &["l1", "l2"]), "from l2 on");
    }
}
