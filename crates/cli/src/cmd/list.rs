//! `fathom list`: every family, or every contender of one, in a line each.

use std::fmt::Write as _;

use clap::ValueEnum;
use fathom_contenders::version;
use fathom_measure::contender::{Keeps, Meta, Origin, page, summary};
use fathom_measure::family::{AnyFamily, Entry};

use crate::exit::Exit;
use crate::measuring::Libraries;
use crate::names;
use crate::output;

/// List the families, the contenders of one, or all that is known about a single contender
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The family; without it, all families
    #[arg(value_parser = names::families())]
    family: Option<String>,

    /// A contender of the family: print its page; `name` stands for all its variants, `na*` for all
    /// that begin so
    contender: Option<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    libraries: Libraries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for a person
    Text,
    /// Names only, one per line
    Names,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    options.libraries.take()?;
    let Some(name) = &options.family else {
        output::print(families(options.format))?;
        return Ok(Exit::Done);
    };
    let family = names::family(name)?;
    let text = match &options.contender {
        None => contenders(family, options.format),
        Some(wanted) => {
            let mut found = family.entries();
            found.retain(|entry| names::is_named(&entry.id, wanted));
            match &found[..] {
                [] => return Err(names::no_contender(wanted, family)),
                found if options.format == Format::Names => ids(found),
                // Variants have one page.
                [entry, ..] if found.iter().all(|other| other.meta.name == entry.meta.name) => {
                    card(family, &found)
                }
                several => several.iter().map(|e| card(family, std::slice::from_ref(e))).collect(),
            }
        }
    };
    output::print(text)?;
    Ok(Exit::Done)
}

fn families(format: Format) -> String {
    let mut text = String::new();
    for family in fathom_contenders::families() {
        let _ = match format {
            Format::Names => writeln!(text, "{}", family.name()),
            Format::Text => writeln!(
                text,
                "{:<12} {:>4}  {}",
                family.name(),
                family.entries().len(),
                summary(family.source())
            ),
        };
    }
    output::fitted(&text, 19)
}

fn ids(entries: &[Entry]) -> String {
    entries.iter().map(|entry| format!("{}\n", entry.id)).collect()
}

fn contenders(family: &dyn AnyFamily, format: Format) -> String {
    let mut text = String::new();
    let entries = family.entries();
    if format == Format::Names {
        return ids(&entries);
    }
    for (title, offers) in
        [("operations", family.operations()), ("parameters", family.parameters())]
    {
        let _ = writeln!(text, "{title}:");
        for offer in offers {
            let name = match offer.default {
                "" => offer.name.to_owned(),
                default => format!("{}={default}", offer.name),
            };
            let _ = writeln!(text, "  {name:<16} {}", offer.doc);
        }
    }
    let opening = output::filled(&page(family.source()));
    let offers = output::fitted(&std::mem::take(&mut text), 19);
    let width = entries.iter().map(|entry| entry.id.len()).max().unwrap_or(0);
    let _ = writeln!(text, "contenders:");
    for Entry { id, meta } in &entries {
        let mark = if *id == family.reference() { " (reference)" } else { "" };
        let (version, path) = (version(meta.origin), (meta.hardware)("").to_string());
        let summary = meta.summary();
        let _ = writeln!(text, "  {id:<width$}  {version:<8} {path:<16} {summary}{mark}");
    }
    // Names, versions and what processors have to have come before the sentences.
    let contenders = output::fitted(&text, width + 30);
    let mut text = String::new();
    for absent in family.absent() {
        let _ = writeln!(text, "  {:<width$}  absent: {}", absent.name, absent.reason);
    }
    if let Some(others) = family.facts().others {
        let all = (others.all)();
        let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "{}:", others.what);
        for (name, words) in all {
            let _ = writeln!(text, "  {name:<width$}  {words}");
        }
    }
    format!("{opening}\n\n{offers}{contenders}{}", output::fitted(&text, width + 4))
}

/// What is known about a contender, once for all its variants.
fn card(family: &dyn AnyFamily, variants: &[Entry]) -> String {
    let meta = variants[0].meta;
    let Meta { origin, licence, hardware, keeps, caveat, .. } = meta;
    let ids: Vec<&str> = variants.iter().map(|entry| entry.id.as_str()).collect();
    let title = output::fitted(&format!("{}/{}\n", family.name(), ids.join(", ")), 4);
    let mut text = String::new();
    let source = match origin {
        Origin::Own => "fathom".to_owned(),
        Origin::Crate(name) => format!("crate {name}"),
        Origin::Library(name, _) => format!("library {name}"),
    };
    let keeps = match keeps {
        Keeps::Borrowed => "references to the shared data",
        Keeps::Copied => "copies",
        other => other.word(),
    };
    let lines = [
        ("source", format!("{source} {}", version(origin))),
        ("link", meta.link()),
        ("licence", licence.to_owned()),
        ("hardware", hardware("").to_string()),
        ("keeps", keeps.to_owned()),
        ("caveat", caveat.to_owned()),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "{name:<9} {value}");
    }
    format!("{title}\n{}\n\n{}", output::filled(&meta.page()), output::fitted(&text, 10))
}
