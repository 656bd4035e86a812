//! Every row of `fathom cpu` is contested: at least two implementations that share no code, or a reason why
//! nobody else has it.

use std::collections::BTreeSet;

use fathom_contenders::FAMILIES;
use fathom_measure::contender::Origin;
use fathom_measure::facts::Timed;
use fathom_measure::family::{AnyFamily, Entry, Reason};

/// Who wrote the code of an entry: contenders of one library are one.
fn author(entry: &Entry) -> &'static str {
    match entry.meta.origin {
        Origin::Own => entry.meta.name,
        Origin::Crate(name) | Origin::Library(name, _) => name,
    }
}

/// The authors of those who take part in an operation, oracles left out.
fn authors(family: &dyn AnyFamily, operation: &str) -> BTreeSet<&'static str> {
    let cases = family.small_cases();
    let spec = cases.iter().find(|spec| spec.operation == operation).expect("each has one");
    let spec = family.completed(spec).unwrap();
    let is_oracle =
        |id: &str| family.facts().reference != Timed::Always && id == family.reference();
    let entries = family.entries().into_iter().filter(|entry| !is_oracle(&entry.id));
    let takes_part = |entry: &Entry| family.open(&entry.id, &spec, &mut |_| ()).is_ok();
    entries.filter(takes_part).map(|entry| author(&entry)).collect()
}

#[test]
fn every_row_is_contested_or_says_why_not() {
    let (mut alone, mut wrong) = (Vec::new(), Vec::new());
    for family in FAMILIES.iter().filter(|family| family.facts().part.is_some()) {
        // Lizard is in no distribution; all others are in the usual packages.
        let is_missing = |reason: Reason| matches!(reason, Reason::Machine(_));
        let absent = family.absent();
        let missing: Vec<&str> = absent
            .iter()
            .filter(|absent| is_missing(absent.reason) && absent.name != "lizard")
            .map(|absent| absent.name)
            .collect();
        for offer in family.operations() {
            let (authors, task) = (authors(*family, offer.name), family.facts().task(offer.name));
            let row = format!("{} {}: {authors:?}", family.name(), offer.name);
            if authors.len() < 2 {
                alone.push(row.clone());
            }
            if authors.len() > 1 && !task.alone.is_empty() {
                wrong.push(format!("{row} are several"));
            }
            if missing.is_empty() && authors.len() < 2 && task.alone.is_empty() {
                wrong.push(format!("{row} is alone for no reason"));
            }
        }
    }
    println!("{} rows alone:\n{}", alone.len(), alone.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
