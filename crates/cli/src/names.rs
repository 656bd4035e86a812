//! Names that users type: what is near one that does not exist.

use anyhow::{Context, anyhow};
use clap::builder::PossibleValuesParser;
use fathom_measure::family::AnyFamily;
use fathom_measure::worker::labelled;

/// `no family "chekcsum"; did you mean "checksum"?`, the question only where something is near.
pub(crate) fn unknown(kind: &str, name: &str, known: &[impl AsRef<str>]) -> String {
    format!("no {kind} {name:?}{}", hint(name, known))
}

/// `; did you mean "checksum"?`, or nothing.
pub(crate) fn hint(name: &str, known: &[impl AsRef<str>]) -> String {
    let typed = name.to_lowercase();
    let distance = |known: &&str| strsim::osa_distance(&typed, known);
    let nearest = known.iter().map(AsRef::as_ref).min_by_key(distance);
    let near = nearest.filter(|known| distance(known) <= 1 + name.len() / 4);
    near.map_or_else(String::new, |known| format!("; did you mean {known:?}?"))
}

/// The families, for the parser: shells complete them, and what is near a wrong name is told.
pub(crate) fn families() -> PossibleValuesParser {
    PossibleValuesParser::new(fathom_contenders::families().iter().map(|family| family.name()))
}

/// The family called `name`.
///
/// # Errors
/// There is none; the nearest name is told.
pub(crate) fn family(name: &str) -> anyhow::Result<&'static dyn AnyFamily> {
    let known: Vec<&str> =
        fathom_contenders::families().iter().map(|family| family.name()).collect();
    let words = || format!("{} (fathom list names them all)", unknown("family", name, &known));
    fathom_contenders::family(name).with_context(words)
}

/// Those that `wanted` names: a whole id, all variants of a name, or all that begin so before a `*`; those of other builds
/// as well.
pub(crate) fn is_named(id: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(beginning) => id.starts_with(beginning),
        None => {
            let (own, _) = labelled(id);
            [id, own].contains(&wanted) || own.split('+').next() == Some(wanted)
        }
    }
}

/// What there is to say about a contender that is not there: why it is absent, or what is near.
pub(crate) fn no_contender(wanted: &str, family: &dyn AnyFamily) -> anyhow::Error {
    if let Some(absent) = family.absent().iter().find(|absent| absent.name == wanted) {
        return anyhow!("{wanted} is not here: {}", absent.reason);
    }
    let names =
        family.entries().into_iter().flat_map(|entry| [entry.meta.name.to_owned(), entry.id]);
    let known: Vec<String> = names.collect();
    let (family, hint) = (family.name(), hint(wanted, &known));
    anyhow!("no contender {wanted:?} in {family}{hint} (fathom list {family} names them all)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_proposed() {
        let known = ["checksum", "digest"];
        let said = unknown("family", "chekcsum", &known);
        assert_eq!(said, "no family \"chekcsum\"; did you mean \"checksum\"?");
        assert_eq!(hint("weather", &known), "");
    }
}
