//! What takes part in `fathom bench` besides contenders as they come: one with other choices, all
//! combinations of choices, outside programs. Which family has such things is told by its facts.

use std::fmt::Write;

use anyhow::{Context, anyhow, bail, ensure};
use fathom_measure::bench::Entrant;
use fathom_measure::facts::{self, Table};
use fathom_measure::family::AnyFamily;
use fathom_measure::result::{About, Case, Run};

use crate::{measuring, names};

/// What is varied.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Choices, of families that have them")]
pub(crate) struct Choices {
    /// A contender with choices takes part, only those that are named: `name` or
    /// `name,axis=value,…`; `fathom list FAMILY` says which choices there are
    #[arg(long, value_name = "NAME[,AXIS=VALUE…]", conflicts_with_all = ["axis", "only"])]
    strategy: Vec<String>,

    /// Vary a choice; several give every combination. The other choices are those of the one
    /// contender that --only names [default: the family's]
    #[arg(long, value_name = "AXIS=VALUE,…")]
    axis: Vec<String>,

    /// Numbers of threads; several give a case each and a table of how the times scale
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) threads: Vec<u16>,

    /// An outside program takes part, whatever --only says: `name=command`, where {file} stands for the
    /// file; what it prints must be the result, byte for byte (see `--set rounding=ceiling`)
    #[arg(long, value_name = "NAME=COMMAND")]
    with: Vec<String>,
}

/// Whether a contender takes part unasked.
pub(crate) fn is_shown(family: &dyn AnyFamily, id: &str) -> bool {
    family.facts().reference != facts::Timed::WhenNamed || id != family.reference()
}

/// The contenders with choices that `--strategy` names or `--axis` varies; none if neither was given.
///
/// # Errors
/// A family without choices, one that does not exist, and bases other than one contender.
pub(crate) fn chosen(
    options: &Choices,
    only: &[String],
    family: &dyn AnyFamily,
) -> anyhow::Result<Vec<Entrant>> {
    if options.axis.is_empty() && options.strategy.is_empty() {
        return Ok(Vec::new());
    }
    let Some(choices) = family.facts().choices else {
        bail!("contenders of {} take no choices: no --strategy, no --axis", family.name());
    };
    let checked = |text: &str| (choices.check)(text).map_err(|error| anyhow!(error));
    let mut found = Vec::new();
    for text in &options.strategy {
        match checked(text)? {
            None => found.push(varied(text, family)?),
            Some(why) => bail!(why),
        }
    }
    for text in combinations(&options.axis, only, choices.base)? {
        match checked(&text)? {
            None => found.push(varied(&text, family)?),
            Some(why) => say!("fathom: {text} takes no part: {why}"),
        }
    }
    ensure!(!found.is_empty(), "--axis: no combination takes part");
    Ok(found)
}

/// Every combination of `--axis`: `base,axis=value,…`.
fn combinations(axes: &[String], only: &[String], base: &str) -> anyhow::Result<Vec<String>> {
    let base = match only {
        [] => base,
        [one] => one,
        _ => bail!("--axis varies one preset: name one with --only"),
    };
    let mut points = vec![base.to_owned()];
    for axis in axes {
        let (name, values) =
            axis.split_once('=').with_context(|| format!("{axis:?} is no AXIS=VALUE"))?;
        let longer = |point: &String| -> Vec<String> {
            values.split(',').map(|value| format!("{point},{name}={value}")).collect()
        };
        points = points.iter().flat_map(longer).collect();
    }
    points.retain(|point| point.contains(','));
    Ok(points)
}

/// A contender, perhaps with choices, as its variant.
fn varied(text: &str, family: &dyn AnyFamily) -> anyhow::Result<Entrant> {
    let base = text.split(',').next().unwrap_or(text);
    let entry = family.entries().into_iter().find(|entry| entry.id == base);
    let meta = entry.ok_or_else(|| names::no_contender(base, family))?.meta;
    Ok(Entrant {
        id: text.to_owned(),
        contender: text.replacen(',', "+", 1),
        ..measuring::entrant(base, &meta)?
    })
}

/// The outside programs of `--with`.
///
/// # Errors
/// A family that runs none, a text without a name or a command.
pub(crate) fn outside(options: &Choices, family: &dyn AnyFamily) -> anyhow::Result<Vec<Entrant>> {
    let entrant = |text: &String| {
        let runner = family.facts().outside;
        let runner = runner.with_context(|| format!("{} takes no --with", family.name()))?;
        let (name, line) =
            text.split_once('=').with_context(|| format!("{text:?} is no NAME=COMMAND"))?;
        ensure!(!name.is_empty() && !line.is_empty(), "{text:?} is no NAME=COMMAND");
        Ok(Entrant {
            id: name.to_owned(),
            contender: format!("{runner}+{line}"),
            launch: measuring::worker(None)?,
            about: About {
                summary: line.to_owned(),
                caveat: "an outside program: its time includes its start".to_owned(),
                ..About::default()
            },
        })
    };
    options.with.iter().map(entrant).collect()
}

/// What the families of a run show beside its cases.
pub(crate) fn tables(run: &Run) -> String {
    let mut families: Vec<&str> = run.cases.iter().map(|case| case.family.as_str()).collect();
    families.dedup();
    let of_family = |name: &str| -> Vec<Table> {
        let cases: Vec<&Case> = run.cases.iter().filter(|case| case.family == name).collect();
        let family = fathom_contenders::family(name);
        family.map_or_else(Vec::new, |family| (family.facts().tables)(&cases))
    };
    let tables = families.into_iter().flat_map(of_family);
    tables.map(|table| format!("\n{}{}", aligned(&table.rows), table.below)).collect()
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let _ = if column == 0 {
                write!(line, "{cell:<width$}")
            } else {
                write!(line, "  {cell:>width$}")
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_multiply_and_leave_out_what_does_not_go_together() {
        let axis = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let both = axis(&["table=shared,perthread", "check=full,hash"]);
        let found = combinations(&both, &[], "final").unwrap();
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], "final,table=shared,check=hash");
        assert!(combinations(&axis(&["nothing"]), &[], "final").is_err());
        let family = fathom_contenders::family("aggregate").unwrap();
        let entrants = |axes: &[&str], only: &[String]| {
            chosen(&Choices { axis: axis(axes), ..Choices::default() }, only, family)
        };
        assert_eq!(entrants(&["check=full,hash"], &["old".to_owned()]).unwrap().len(), 1);
        assert!(entrants(&["colour=red"], &[]).is_err());
        let other = fathom_contenders::family("read").unwrap();
        let options = Choices { axis: axis(&["check=full"]), ..Choices::default() };
        assert!(chosen(&options, &[], other).is_err());
    }

    #[test]
    fn columns_line_up() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(aligned(&[row(["a", "long"]), row(["é", "1"])]), "a  long\né     1\n");
    }
}
