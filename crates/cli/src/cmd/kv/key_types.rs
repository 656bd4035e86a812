//! `--key-as`: the keys as types of strings that a program would have them in, beside the finalists. Times nothing.

use anyhow::ensure;
use clap::builder::PossibleValuesParser;
use fathom_contenders::alloc::SYSTEM;
use fathom_contenders::kv::held;

use super::Options;
use super::candidate::Candidate;
use super::data::Prepared;
use super::verdict::{Compound, Row, Standing, Weighed, compounds};

/// All types.
const ALL: &str = "all";

/// What may be asked for.
pub(super) fn parser() -> PossibleValuesParser {
    PossibleValuesParser::new(held::TYPES.into_iter().chain([ALL]))
}

/// The combinations that are asked for, and the one that refers to its keys; on each allocator that is named.
pub(super) fn ids(options: &Options) -> Vec<String> {
    let is_asked = |name: &&str| options.key_as.iter().any(|asked| asked == ALL || asked == name);
    let types: Vec<&str> = held::TYPES.into_iter().filter(is_asked).collect();
    if types.is_empty() {
        return Vec::new();
    }
    let allocators = match options.choice.allocators() {
        [] => vec![SYSTEM],
        named => named.iter().map(String::as_str).collect(),
    };
    let on = |allocator| {
        let held = std::iter::once(None).chain(types.iter().copied().map(Some));
        held.map(move |held| format!("{}@{allocator}", held::id(held)))
    };
    allocators.into_iter().flat_map(on).collect()
}

/// Refuses keys that are no strings.
///
/// # Errors
/// Where they are integers.
pub(super) fn check(options: &Options, prepared: &Prepared) -> anyhow::Result<()> {
    ensure!(
        options.key_as.is_empty() || prepared.portrait.range.is_none(),
        "--key-as: these keys are integers, which lie in the table itself; -F lines takes them for strings"
    );
    Ok(())
}

/// How each type that was measured stands against references to keys that lie elsewhere, on the same allocator.
pub(super) fn sentences(rows: &[Row], candidates: &[Candidate], cases: &[Weighed]) -> Vec<String> {
    let mut sentences = Vec::new();
    let all = candidates.iter().enumerate();
    for (number, borrowed) in all.filter(|(_, one)| one.contender() == held::id(None)) {
        let is_held = |other: &Candidate| {
            other.structure.starts_with(held::PREFIX) && other.allocator == borrowed.allocator
        };
        if !candidates.iter().any(is_held) {
            continue;
        }
        for (own, ratio) in compounds(rows, cases, number, true) {
            if is_held(&candidates[own]) {
                let name = candidates[own].words();
                sentences.push(said(&name, &rows[own], ratio, &rows[number]));
            }
        }
    }
    sentences
}

/// How a type stands.
fn said(name: &str, own: &Row, ratio: Compound, borrowed: &Row) -> String {
    let times = ratio.ratio;
    let bytes = own.bytes_per_entry.zip(borrowed.bytes_per_entry);
    let memory = bytes.map_or_else(String::new, |(own, borrowed)| {
        format!("; {own:.1} bytes per entry against {borrowed:.1}, keys counted")
    });
    let end = match ratio.standing() {
        Standing::Resolved => "",
        Standing::Open | Standing::Unproved => ", not resolved",
        Standing::Unknown => ", without an interval",
    };
    format!(
        "{name}: {times:.2} times the time of {} that refers to its keys{}{end}{memory}.",
        borrowed.structure,
        ratio.bracket()
    )
}
