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

/// The combinations that are asked for, after the one that refers to its keys; on each allocator that is named.
pub(super) fn ids(options: &Options) -> Vec<String> {
    let is_asked = |name: &&str| options.key_as.iter().any(|asked| asked == ALL || asked == name);
    let types: Vec<&str> = held::TYPES.into_iter().filter(is_asked).collect();
    if types.is_empty() {
        return Vec::new();
    }
    let named = options.choice.allocators();
    let allocators = if named.is_empty() { &[SYSTEM.to_owned()] } else { named };
    let id = |held: Option<&str>, allocator: &str| match allocator {
        SYSTEM => held::id(held),
        other => format!("{}@{other}", held::id(held)),
    };
    let on = |allocator: &String| {
        let held = std::iter::once(None).chain(types.iter().copied().map(Some));
        held.map(|held| id(held, allocator)).collect::<Vec<_>>()
    };
    allocators.iter().flat_map(on).collect()
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

/// How each type stands against references to keys that lie elsewhere, on the same allocator.
pub(super) fn sentences(
    options: &Options,
    rows: &[Row],
    candidates: &[Candidate],
    cases: &[Weighed],
) -> Vec<String> {
    let ids = ids(options);
    let number = |id: &str| rows.iter().position(|row| row.id == id);
    let of = |all: &[String]| {
        let (borrowed, held) = all.split_first()?;
        let borrowed = number(borrowed)?;
        let against = compounds(rows, cases, borrowed, true);
        let ratio = |number: usize| against.iter().find(|(other, _)| *other == number);
        let held = held.iter().filter_map(|id| ratio(number(id)?));
        let said = held.map(|&(number, ratio)| {
            said(&candidates[number].words(), &rows[number], ratio, &rows[borrowed])
        });
        Some(said.collect::<Vec<_>>())
    };
    let each = ids.chunk_by(|_, next| !next.starts_with(&held::id(None)));
    each.filter_map(of).flatten().collect()
}

/// How a type stands.
fn said(name: &str, own: &Row, ratio: Compound, borrowed: &Row) -> String {
    let Compound { ratio: times, low, high, .. } = ratio;
    let bytes = own.bytes_per_entry.zip(borrowed.bytes_per_entry);
    let memory = bytes.map_or_else(String::new, |(own, borrowed)| {
        format!("; {own:.1} bytes per entry against {borrowed:.1}, keys counted")
    });
    let end = match ratio.standing() {
        Standing::Resolved => "",
        Standing::Open | Standing::Unproved => ", not resolved",
        Standing::Unknown => ", too few rounds to tell",
    };
    format!(
        "{name}: {times:.2} times the time of {} that refers to its keys (99 % interval {low:.2} to \
         {high:.2}{end}){memory}.",
        borrowed.structure
    )
}
