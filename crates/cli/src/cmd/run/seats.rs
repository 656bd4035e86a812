//! Who takes part: commands, their names, what surrounds them, and the values of their parameters.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use fathom_measure::command::{Outside, Target, filled};
use fathom_measure::sample::Failure;
use fathom_measure::workload::Spec;

use super::Options;

/// A command that takes part.
#[derive(Clone, Debug, Default)]
pub(super) struct Seat {
    /// What it is shown as.
    pub(super) id: String,
    pub(super) outside: Outside,
    /// Run once before everything, and once after it.
    pub(super) setup: Option<String>,
    pub(super) cleanup: Option<String>,
    /// The values it stands for.
    pub(super) parameters: BTreeMap<String, String>,
    /// Why it cannot be measured.
    pub(super) failed: Option<Failure>,
}

type Values = BTreeMap<String, String>;

/// The cases, each with its contenders.
pub(super) fn planned(options: &Options) -> anyhow::Result<Vec<(Spec, Vec<Seat>)>> {
    ensure_names_apart(options)?;
    let with_seats = |spec| seats(options, &spec).map(|seats| (spec, seats));
    cases(options)?.into_iter().map(with_seats).collect()
}

/// A name has values in one place: others would be shown and never filled in.
fn ensure_names_apart(options: &Options) -> anyhow::Result<()> {
    let pairs = options.parameters.chunks_exact(2).chain(options.lists.chunks_exact(2));
    let mut seen = BTreeSet::new();
    for given in pairs.chain(options.scan.chunks_exact(3)) {
        ensure!(seen.insert(&given[0]), "the parameter {} is given twice", given[0]);
    }
    Ok(())
}

/// The cases: one per combination of the values of `--parameter`.
fn cases(options: &Options) -> anyhow::Result<Vec<Spec>> {
    let mut lists = Vec::new();
    for pair in options.parameters.chunks_exact(2) {
        lists.push((pair[0].clone(), values(&pair[1])?));
    }
    let spec = |parameters| Spec { file: options.input_file(), parameters, ..Spec::default() };
    Ok(combinations(options, lists)?.into_iter().map(spec).collect())
}

/// The contenders of a case: the reference, and each command with every combination of the values of `-L` and `-P`.
fn seats(options: &Options, spec: &Spec) -> anyhow::Result<Vec<Seat>> {
    let pairs = options.lists.chunks_exact(2);
    let mut lists: Vec<_> = pairs.map(|pair| (pair[0].clone(), listed(&pair[1]))).collect();
    for scan in options.scan.chunks_exact(3) {
        let step = options.step.as_deref().unwrap_or("1");
        lists.push((scan[0].clone(), scanned(&scan[1], &scan[2], step)?));
    }
    let all = combinations(options, lists)?;
    let lines = options.lines().count();
    let first = lines - options.commands.len();
    options.ensure_one_for_each(first + all.len() * options.commands.len())?;
    options.ensure_reference_without_values()?;
    // The reference is one command, as hyperfine has it.
    let mut seats: Vec<Seat> = Vec::new();
    for number in 0..first {
        seats.push(seat(options, spec, (number, seats.len()), Values::new())?);
    }
    for parameters in all {
        for number in first..lines {
            seats.push(seat(options, spec, (number, seats.len()), parameters.clone())?);
        }
    }
    Ok(seats)
}

/// A line at its place among all contenders.
fn seat(
    options: &Options,
    spec: &Spec,
    (number, place): (usize, usize),
    parameters: Values,
) -> anyhow::Result<Seat> {
    let line = options.lines().nth(number).cloned().unwrap_or_default();
    let mut all = spec.parameters.clone();
    all.extend(parameters.clone());
    let of = |given: &[String]| {
        let line = match given.len() {
            1 => given.first(),
            count if count == options.lines().count() => given.get(number),
            _ => given.get(place),
        };
        line.map(|line| filled(line, &all))
    };
    // By the command as it was given where cases differ: with the value in it, each case would have
    // contenders of its own, and nothing could be drawn or compared across cases.
    let nothing = "''".to_owned();
    let (name, is_own) = options.name(number, place);
    let name = name.unwrap_or(if line.is_empty() { &nothing } else { &line });
    // Nor are two of one name where a value stands elsewhere.
    let elsewhere = |of: &(&String, &String)| !is_own && !name.contains(&format!("{{{}}}", of.0));
    let rest = parameters.iter().filter(elsewhere);
    let id =
        rest.fold(filled(name, &parameters), |id, (name, value)| format!("{id} {name}={value}"));
    Ok(Seat {
        id,
        outside: Outside {
            line: filled(&line, &all),
            prepare: of(&options.prepare),
            conclude: of(&options.conclude),
            output: target(of(&options.command_output).as_deref(), options.show_output)?,
            ..Outside::default()
        },
        setup: of(&options.setup),
        cleanup: of(&options.cleanup),
        parameters,
        failed: None,
    })
}

fn target(given: Option<&str>, show: bool) -> anyhow::Result<Target> {
    Ok(match given {
        None if show => Target::Inherit,
        None | Some("null") => Target::Null,
        Some("pipe") => Target::Pipe,
        Some("inherit") => Target::Inherit,
        Some("") => anyhow::bail!("--output: null, pipe, inherit or a file"),
        Some(file) => Target::File(file.into()),
    })
}

/// One of each list, in all combinations; the first list changes fastest.
fn combinations(
    options: &Options,
    lists: Vec<(String, Vec<String>)>,
) -> anyhow::Result<Vec<Values>> {
    let mut all = vec![Values::new()];
    for (name, values) in lists.into_iter() {
        let used = format!("{{{name}}}");
        let mut lines = options.lines().chain(&options.prepare).chain(&options.conclude);
        let mut others =
            options.setup.iter().chain(&options.cleanup).chain(&options.command_output);
        let is_used = lines.any(|line| line.contains(&used)) || others.any(|l| l.contains(&used));
        ensure!(is_used, "no command contains {used}");
        let with = |value: &String, given: &Values| {
            let mut given = given.clone();
            given.insert(name.clone(), value.clone());
            given
        };
        ensure!(all.len() * values.len() <= MOST, "more than {MOST} combinations of values");
        all = values.iter().flat_map(|v| all.iter().map(move |given| with(v, given))).collect();
    }
    Ok(all)
}

/// More values than this are a mistake.
const MOST: usize = 10_000;

/// `1,2,4`, `1-8` or `0-100:25`, each value once.
fn values(text: &str) -> anyhow::Result<Vec<String>> {
    let range = || {
        let (range, step) = text.split_once(':').unwrap_or((text, "1"));
        let (from, to) = range.split_once('-')?;
        let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
        let step = step.parse::<usize>().ok()?;
        // One more than there may be tells that there are more.
        let range = (from..=to).step_by(step.max(1)).take(if step > 0 { MOST + 1 } else { 0 });
        Some(range.map(|value| value.to_string()).collect::<Vec<String>>())
    };
    let mut values = range().unwrap_or_else(|| listed(text));
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.clone()));
    ensure!(
        !values.is_empty() && values.len() <= MOST,
        "{text:?}: from 1 to 10,000 values; a range goes up, in steps of 1 and more"
    );
    Ok(values)
}

/// What commas separate; `\,` is a comma of a value and `\\` a backslash, as hyperfine has it.
fn listed(text: &str) -> Vec<String> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped = rest.next_if(|next| c == '\\' && matches!(next, ',' | '\\'));
        match escaped {
            None if c == ',' => values.push(std::mem::take(&mut value)),
            _ => value.push(escaped.unwrap_or(c)),
        }
    }
    values.push(value);
    values
}

/// From one decimal number to another in steps of a third, none of them rounded.
fn scanned(from: &str, to: &str, step: &str) -> anyhow::Result<Vec<String>> {
    let number = |text: &str| {
        let hint = "of -P NAME MIN MAX is no decimal number; for other values there is -L NAME A,B";
        decimal(text).with_context(|| format!("{text:?} {hint}"))
    };
    let (least, most, step) = (number(from)?, number(to)?, number(step)?);
    let places = [least, most, step].iter().map(|number| number.1).max().unwrap_or(0);
    let whole = |(digits, own): (i128, u32)| digits * 10_i128.pow(places - own);
    let shown = least.1.max(step.1);
    let (first, last, step) = (whole(least), whole(most), whole(step));
    ensure!(step > 0, "the step of -P must be above 0");
    ensure!(last >= first, "-P: {from} is more than {to}");
    ensure!((last - first) / step < MOST as i128, "-P: more than {MOST} values");
    let steps = (last - first) / step;
    let value = |n: i128| {
        let digits = (first + n * step) / 10_i128.pow(places - shown);
        let (sign, digits) = (if digits < 0 { "-" } else { "" }, digits.unsigned_abs());
        match shown {
            0 => format!("{sign}{digits}"),
            _ => {
                let unit = 10_u128.pow(shown);
                format!("{sign}{}.{:0width$}", digits / unit, digits % unit, width = shown as usize)
            }
        }
    };
    Ok((0..=steps).map(|n| if n == 0 { from.to_owned() } else { value(n) }).collect())
}

/// The digits of a decimal number and how many of them are behind the point.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let is_short = digits.len() <= 18 && !whole.is_empty() && !fraction.starts_with(['-', '+']);
    is_short.then(|| Some((digits.parse().ok()?, fraction.len() as u32)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_lists_or_ranges() {
        assert_eq!(values("1,2,x").unwrap(), ["1", "2", "x"]);
        assert_eq!(values("1-4").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(values("0-100:50").unwrap(), ["0", "50", "100"]);
        assert_eq!(values("a-b").unwrap(), ["a-b"]);
        assert_eq!(values(r"a\,b,c\\,\d,").unwrap(), ["a,b", r"c\", r"\d", ""]);
        assert_eq!(values("2,1,2").unwrap(), ["2", "1"]);
        let most = u64::MAX;
        assert_eq!(values(&format!("{}-{most}:2", most - 2)).unwrap().len(), 2);
        for many in ["1-99999", "1-1000000000000", &format!("0-{most}:3"), &format!("0-{most}")] {
            assert!(values(many).is_err(), "{many}");
        }
        assert!(values("5-1").is_err());
    }

    #[test]
    fn scans_step_in_decimals() {
        let scan = |from, to, step| scanned(from, to, step).map_err(|error| error.to_string());
        assert_eq!(scan("1", "3", "1").unwrap(), ["1", "2", "3"]);
        assert_eq!(scan("0.3", "0.7", "0.2").unwrap(), ["0.3", "0.5", "0.7"]);
        assert_eq!(scan("0", "1", "0.5").unwrap(), ["0", "0.5", "1.0"]);
        assert_eq!(scan("-1", "0.9", "1").unwrap(), ["-1", "0"]);
        assert_eq!(scan("-0.50", "0", "0.25").unwrap(), ["-0.50", "-0.25", "0.00"]);
        for (from, to, step) in [("1", "0", "1"), ("0", "1", "0"), ("a", "1", "1"), ("1", "", "1")]
        {
            assert!(scan(from, to, step).is_err(), "{from} {to} {step}");
        }
        assert!(scan("1,2", "cmd", "1").unwrap_err().contains("-L NAME A,B"));
        assert!(scan("0", "100000", "1").unwrap_err().contains("more than 10000"));
    }
}
