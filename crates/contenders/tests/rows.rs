//! Every row of `fathom cpu` is contested: at least two implementations that share no code, or a reason why
//! nobody else has it; and the page says which rows these are, and how many.

use std::collections::BTreeSet;

use fathom_measure::contender::Origin;
use fathom_measure::facts::Timed;
use fathom_measure::family::{AnyFamily, Entry, Reason};

/// Libraries that no package of Debian 12 brings: a row is not contested by them alone.
const RARE: &[&str] = &["blake3-c", "lizard", "zlib-ng"];

/// Who wrote the code of an entry: contenders of one library are one.
fn author(entry: &Entry) -> &'static str {
    match entry.meta.origin {
        Origin::Own => entry.meta.name,
        Origin::Crate(name) | Origin::Library(name, _) => name,
    }
}

/// The authors of those who take part in an operation, oracles and rare libraries left out.
fn authors(family: &dyn AnyFamily, operation: &str) -> BTreeSet<&'static str> {
    let cases = family.small_cases();
    let spec = cases.iter().find(|spec| spec.operation == operation).expect("each has one");
    let spec = family.completed(spec).unwrap();
    let is_oracle =
        |id: &str| family.facts().reference != Timed::Always && id == family.reference();
    let is_rare = |entry: &Entry| RARE.contains(&entry.meta.name);
    let entries = family.entries().into_iter();
    let entries = entries.filter(|entry| !is_oracle(&entry.id) && !is_rare(entry));
    let takes_part = |entry: &Entry| family.open(&entry.id, &spec, &mut |_| ()).is_ok();
    entries.filter(takes_part).map(|entry| author(&entry)).collect()
}

/// The families of `fathom cpu`.
fn families() -> impl Iterator<Item = &'static &'static dyn AnyFamily> {
    fathom_contenders::families().iter().filter(|family| family.facts().part.is_some())
}

#[test]
fn every_row_is_contested_or_says_why_not() {
    let mut wrong = Vec::new();
    for family in families() {
        let absent = family.absent();
        let is_missing = |reason: Reason| matches!(reason, Reason::Machine(_));
        let missing: Vec<&str> = absent
            .iter()
            .filter(|absent| is_missing(absent.reason) && !RARE.contains(&absent.name))
            .map(|absent| absent.name)
            .collect();
        for offer in family.operations() {
            let (authors, task) = (authors(*family, offer.name), family.facts().task(offer.name));
            let row = format!("{} {}: {authors:?}", family.name(), offer.name);
            println!("{:2} {row}", authors.len());
            if authors.len() > 1 && !task.alone.is_empty() {
                wrong.push(format!("{row} are several"));
            }
            if missing.is_empty() && authors.len() < 2 && task.alone.is_empty() {
                wrong.push(format!("{row} is alone for no reason"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The table of rows that are alone, a line per reason, and the sentence that counts them.
#[test]
fn the_page_lists_the_rows_that_are_alone() {
    let (mut kinds, mut rows, mut alone) = (0, 0, 0);
    let mut table = Vec::<(&str, Vec<String>)>::new();
    for family in families() {
        for offer in family.operations() {
            let task = family.facts().task(offer.name);
            let why = task.alone;
            kinds += 1;
            rows += task.quick.len().max(1);
            if why.is_empty() {
                continue;
            }
            alone += 1;
            let row = format!("`{} {}`", family.name(), offer.name);
            match table.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, rows)) => rows.push(row),
                None => table.push((why, vec![row])),
            }
        }
    }
    let count = format!("Of {kinds} kinds of rows, {rows} rows in all, {alone} have one contender");
    let lines = table.iter().map(|(why, rows)| format!("| {} | {why} |\n", rows.join(", ")));
    let table =
        format!("| rows with one contender | why |\n|---|---|\n{}", lines.collect::<String>());
    let page = include_str!("../../../docs/cpu.md");
    assert!(page.contains(&table), "docs/cpu.md lacks this table:\n{table}");
    assert!(page.contains(&count), "docs/cpu.md does not say: {count}");
}
