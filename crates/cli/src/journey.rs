//! `fathom bench aggregate`: which strategies take part, and the forebear's tables of what they took.
//!
//! Measures nothing: entrants go to the rounds like those of any family, and the tables are made of
//! the finished run.

use std::fmt::Write;

use anyhow::{Context, bail, ensure};
use fathom_contenders::aggregate::journey::{Check, Input, Parse, Strategy, Table};
use fathom_measure::bench::Entrant;
use fathom_measure::family::AnyFamily;
use fathom_measure::result::{About, Case, Run};

use crate::measuring;

mod by_buffer;

/// Choices of this family only.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Family aggregate")]
pub(crate) struct Choices {
    /// A strategy takes part, only those that are named: a preset of the journey (fathom list
    /// aggregate), or a preset with other choices such as `final,check=full`
    ///
    /// Choices: entry=inline|compact|fathom, table=perthread|shared, check=full|hash,
    /// parse=branches|branchless, scan=row|twostage, input=pread|whole|whole-populate|chunk|
    /// chunk-populate, affinity=on|off, chunk=SIZE, threads=N. With --test each is checked against
    /// the plain program's result and not timed.
    ///
    /// Strategies other than fathom take values from -99.9 to 99.9 of one decimal, up to 65,535
    /// keys (old: of 51 bytes at most) and sums of 32 bits; what exceeds this takes no part. Files
    /// that they map must not change meanwhile: a file that is cut short ends the worker with a
    /// signal. sharedht, perthreadht and final trust 32-bit hashes without a seed: "aaaa" and
    /// "aaaaa" are one key to them.
    #[arg(long, value_name = "NAME[,AXIS=VALUE…]", conflicts_with = "axis")]
    strategy: Vec<Strategy>,

    /// Vary a choice of the strategy; several give every combination. The other choices are those
    /// of the one preset that --only names [default: final]
    #[arg(long, value_name = "AXIS=VALUE,…")]
    axis: Vec<String>,

    /// Numbers of threads; several give a case each and a table of how the times scale
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) threads: Vec<u16>,

    /// An outside program takes part: `name=command`, where {file} stands for the file; what it
    /// prints must be the result, byte for byte (see `--set rounding=ceiling`)
    #[arg(long, value_name = "NAME=COMMAND")]
    with: Vec<String>,
}

impl Choices {
    /// Refuses them for other families.
    pub(crate) fn check(&self, family: &dyn AnyFamily) -> anyhow::Result<()> {
        let named = self.axis.is_empty() && self.strategy.is_empty();
        let none = named && self.threads.is_empty() && self.with.is_empty();
        let name = family.name();
        ensure!(
            none || name == "aggregate",
            "--strategy, --axis, --threads and --with belong to the family aggregate, not to {name}"
        );
        Ok(())
    }
}

/// Whether a contender takes part unasked: the plain program would take most of the time.
pub(crate) fn is_shown(family: &dyn AnyFamily, name: &str) -> bool {
    family.name() != "aggregate" || name != family.reference()
}

/// The strategies that `--strategy` names or `--axis` varies; none if neither was given.
///
/// # Errors
/// An axis or value that does not exist, and bases other than one preset.
pub(crate) fn stations(
    options: &Choices,
    only: &[String],
    family: &dyn AnyFamily,
) -> anyhow::Result<Vec<Entrant>> {
    if options.axis.is_empty() {
        let texts = options.strategy.iter().map(Strategy::to_string);
        return texts.map(|text| station(&text, family)).collect();
    }
    varied(options, only, family)
}

/// A preset, perhaps with other choices, as a contender's variant.
fn station(text: &str, family: &dyn AnyFamily) -> anyhow::Result<Entrant> {
    let base = text.split(',').next().unwrap_or(text);
    let entry = family.entries().into_iter().find(|entry| entry.id == base);
    let meta = entry.with_context(|| format!("no contender {base:?}"))?.meta;
    Ok(Entrant {
        id: text.to_owned(),
        contender: text.replacen(',', "+", 1),
        ..measuring::entrant(base, &meta)?
    })
}

/// The combinations of `--axis`, and the choices that do not go together.
///
/// # Errors
/// An axis or value that does not exist, and bases other than one preset.
fn varied(
    options: &Choices,
    only: &[String],
    family: &dyn AnyFamily,
) -> anyhow::Result<Vec<Entrant>> {
    let base = match only {
        [] => "final",
        [one] => one,
        _ => bail!("--axis varies one preset: name one with --only"),
    };
    let strategy = Strategy::named(base)?;
    let mut points: Vec<Vec<&str>> = vec![Vec::new()];
    let mut axes = Vec::new();
    for axis in &options.axis {
        let (name, values) =
            axis.split_once('=').with_context(|| format!("{axis:?} is no AXIS=VALUE"))?;
        axes.push((name, values));
        let mut longer = Vec::new();
        for point in &points {
            longer.extend(values.split(',').map(|value| [&point[..], &[value]].concat()));
        }
        points = longer;
    }
    let mut entrants = Vec::new();
    for point in points {
        let words = axes.iter().zip(point).map(|((name, _), value)| (*name, value));
        let varied = words.clone().try_fold(strategy, |s, (name, value)| s.with(name, value))?;
        let words: Vec<String> = words.map(|(name, value)| format!("{name}={value}")).collect();
        let choices = words.join(",");
        if let Err(error) = varied.checked() {
            eprintln!("fathom: {choices} takes no part: {error}");
            continue;
        }
        entrants.push(station(&format!("{base},{choices}"), family)?);
    }
    Ok(entrants)
}

/// The outside programs of `--with`.
///
/// # Errors
/// A text without a name or a command.
pub(crate) fn outside(options: &Choices, family: &dyn AnyFamily) -> anyhow::Result<Vec<Entrant>> {
    let entrant = |text: &String| {
        let (name, line) =
            text.split_once('=').with_context(|| format!("{text:?} is no NAME=COMMAND"))?;
        ensure!(!name.is_empty() && !line.is_empty(), "{text:?} is no NAME=COMMAND");
        Ok(Entrant {
            id: name.to_owned(),
            contender: format!("{}+{line}", family.reference()),
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

/// What a family shows beside its cases: of `aggregate` the forebear's matrix, and how the times
/// scale if there are several numbers of threads; of `read` the speeds by size of the buffer.
pub(crate) fn tables(run: &Run) -> String {
    by_buffer::table(&run.cases) + &strategies(run)
}

fn strategies(run: &Run) -> String {
    let cases: Vec<&Case> = run.cases.iter().filter(|case| case.family == "aggregate").collect();
    if cases.is_empty() {
        return String::new();
    }
    let mut text = matrix(&cases);
    let mut files: Vec<String> = cases.iter().map(|case| data(case)).collect();
    files.dedup();
    for file in files {
        let same: Vec<&Case> = cases.iter().copied().filter(|case| data(case) == file).collect();
        if same.len() > 1 {
            text += &scaling(&file, &same);
        }
    }
    text
}

/// What a case is about, without its threads.
fn data(case: &Case) -> String {
    match &case.workload.file {
        Some(file) => file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned(),
        None => format!("{} keys", case.workload.text("keys")),
    }
}

/// Median milliseconds of a contender, if it has any.
fn milliseconds(case: &Case, id: &str) -> Option<f64> {
    let number = case.contenders.iter().position(|row| row.id == id)?;
    Some(case.judged.summaries.get(number)?.as_ref()?.ns_median / 1e6)
}

fn ids(cases: &[&Case]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for row in cases.iter().flat_map(|case| &case.contenders) {
        // The twin and the empty contender are in brackets.
        if !row.id.starts_with('(') && !ids.contains(&row.id) {
            ids.push(row.id.clone());
        }
    }
    ids
}

fn matrix(cases: &[&Case]) -> String {
    let threads: Vec<&str> = cases.iter().map(|case| case.workload.text("threads")).collect();
    let several = threads.iter().any(|n| *n != threads[0]);
    let head = |case: &&Case| match case.workload.text("threads") {
        threads if several => format!("{} -t {threads}", data(case)),
        _ => data(case),
    };
    let mut rows =
        vec![["project", "shared", "full", "nobranch", "submap"].map(str::to_owned).to_vec()];
    rows[0].extend(cases.iter().map(head));
    for id in ids(cases) {
        let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
        let mut row = vec![id.clone()];
        match id.parse::<Strategy>() {
            Ok(strategy) => row.extend([
                yes(strategy.table == Table::Shared),
                yes(strategy.check == Check::Full),
                yes(strategy.parse == Parse::Branchless),
                match strategy.input {
                    Input::Chunk | Input::ChunkPopulate => "yes",
                    Input::Whole | Input::WholePopulate => "no",
                    Input::Pread => "pread",
                }
                .to_owned(),
            ]),
            Err(_) => row.extend(std::iter::repeat_n("?".to_owned(), 4)),
        }
        row.extend(cases.iter().map(|case| match milliseconds(case, &id) {
            Some(ms) => format!("{ms:.0} ms"),
            None => "-".to_owned(),
        }));
        rows.push(row);
    }
    aligned(&rows)
}

/// Speed over the fewest threads, beside the ideal.
fn scaling(file: &str, cases: &[&Case]) -> String {
    let count = |case: &Case| -> f64 { case.workload.text("threads").parse().unwrap_or(0.0) };
    let mut cases = cases.to_vec();
    cases.sort_by(|a, b| count(a).total_cmp(&count(b)));
    // Zero threads means all processors, which is no number to scale by.
    cases.retain(|case| count(case) > 0.0);
    let Some(first) = cases.first() else { return String::new() };
    let mut rows = vec![vec![format!("{file}, threads")]];
    rows[0].extend(cases.iter().map(|case| case.workload.text("threads").to_owned()));
    let mut ideal = vec!["ideal".to_owned()];
    ideal.extend(cases.iter().map(|case| format!("{:.2}x", count(case) / count(first))));
    for id in ids(&cases) {
        let Some(base) = milliseconds(first, &id) else { continue };
        let mut row = vec![id.clone()];
        row.extend(cases.iter().map(|case| match milliseconds(case, &id) {
            Some(ms) => format!("{:.2}x", base / ms),
            None => "-".to_owned(),
        }));
        rows.push(row);
    }
    rows.push(ideal);
    format!("\n{}", aligned(&rows))
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

/// Presets and the engine are contenders under the same names.
#[cfg(test)]
mod tests {
    use fathom_contenders::aggregate::journey::{Entry, PRESETS};

    use super::*;

    #[test]
    fn every_preset_is_a_contender_and_the_engine_is_one() {
        let family = fathom_contenders::family("aggregate").unwrap();
        let ids: Vec<String> = family.entries().into_iter().map(|entry| entry.id).collect();
        for preset in PRESETS {
            assert!(ids.iter().any(|id| id == preset.name), "{}", preset.name);
            assert!(is_shown(family, preset.name));
        }
        assert!(!is_shown(family, "plain"));
        assert_eq!(Strategy::named("fathom").unwrap().entry, Entry::Fathom);
    }

    #[test]
    fn axes_multiply_and_leave_out_what_is_not_built() {
        let family = fathom_contenders::family("aggregate").unwrap();
        let axis = |words: &[&str]| Choices {
            axis: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Choices::default()
        };
        let options = axis(&["table=shared,perthread", "check=full,hash"]);
        let entrants = varied(&options, &[], family).unwrap();
        let ids: Vec<&str> = entrants.iter().map(|entrant| entrant.id.as_str()).collect();
        assert_eq!(ids.len(), 4);
        assert_eq!(ids[1], "final,table=shared,check=hash");
        assert!(ids.iter().all(|id| id.parse::<Strategy>().is_ok()));
        let old = varied(&axis(&["check=full,hash"]), &["old".to_owned()], family).unwrap();
        assert_eq!(old.len(), 1);
        assert!(varied(&axis(&["colour=red"]), &[], family).is_err());
    }

    #[test]
    fn columns_line_up() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(aligned(&[row(["a", "long"]), row(["é", "1"])]), "a  long\né     1\n");
    }
}
