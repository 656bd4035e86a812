//! The first screen: the questions most people have, a line each, against what most programs use.
//!
//! Which questions these are is a family's own fact.

use std::fmt::Write;

use fathom_measure::compare::{Verdict, judge};
use fathom_measure::contender::Path as Hardware;
use fathom_measure::facts::Common;
use fathom_measure::family::AnyFamily;
use fathom_measure::result::Case;
use fathom_measure::workload::Spec;
use fathom_report::number::times;
use fathom_report::view::{Line, lines, throughput};

/// The questions of these families, each with its family.
pub(super) fn questions(
    families: &[&'static dyn AnyFamily],
) -> impl Iterator<Item = (&'static dyn AnyFamily, &'static Common)> {
    families.iter().flat_map(|family| family.facts().common.iter().map(|common| (*family, common)))
}

/// Whether a contender answers any of the questions that are put to this case.
pub(super) fn takes_part(family: &dyn AnyFamily, spec: &Spec, id: &str) -> bool {
    let mut asked = family.facts().common.iter().filter(|common| is_put_to(common, spec));
    asked.any(|common| answers(common, id))
}

fn is_put_to(common: &Common, spec: &Spec) -> bool {
    let given = |(name, value): &(&str, &str)| spec.text(name) == *value;
    common.operation == spec.operation && common.parameters.iter().all(given)
}

fn answers(common: &Common, id: &str) -> bool {
    common.only.is_empty() || common.only.contains(&id)
}

/// A line per question.
pub(super) fn text(cases: &[Case], families: &[&'static dyn AnyFamily]) -> String {
    let mut text = String::from(
        "                   fastest here                    against the usual choice\n",
    );
    for (family, common) in questions(families) {
        let asked =
            |case: &&Case| case.family == family.name() && is_put_to(common, &case.workload);
        if let Some(case) = cases.iter().find(asked) {
            let line = answer(case, common);
            let _ = writeln!(text, "{:<18} {}", common.question, line.trim_end());
        }
    }
    text + "\n"
}

/// The fastest, its rate, how it compares with the usual choice, and its instructions.
fn answer(case: &Case, common: &Common) -> String {
    let here = lines(case);
    let here: Vec<&Line<'_>> = here.iter().filter(|line| answers(common, &line.row.id)).collect();
    let Some((first, summary)) = here.first().and_then(|line| Some((line, line.summary?))) else {
        return "nobody could be measured".to_owned();
    };
    let id = &first.row.id;
    let rate = throughput(case, summary.ns_median);
    let is_usual = |line: &&&Line<'_>| line.summary.is_some();
    let measured: Vec<&str> =
        here.iter().filter(is_usual).map(|line| line.row.id.as_str()).collect();
    let usual = common.usual.iter().find(|usual| measured.contains(usual));
    let against = match usual {
        _ if measured.len() == 1 => "no other here".to_owned(),
        Some(usual) if usual == id => "the usual choice".to_owned(),
        Some(usual) => factor(case, first.number, usual),
        None => String::new(),
    };
    let not_known = Hardware::NotKnown.to_string();
    let path = Some(&first.row.about.hardware).filter(|path| **path != not_known);
    let path = path.map_or("", |path| short(path));
    format!("{id:<15} {rate:>11}  {against:<21} {path}")
}

/// The last word of a path where the whole does not fit a narrow screen: `vpclmulqdq` of
/// `x86_64-avx512-vpclmulqdq`.
pub(super) fn short(path: &str) -> &str {
    const ROOM: usize = 10;
    let path = path.split(',').next().unwrap_or(path);
    if path.len() <= ROOM { path } else { path.rsplit('-').next().unwrap_or(path) }
}

/// `1.32x openssl`, or `= openssl` where this run cannot tell the two apart.
fn factor(case: &Case, winner: usize, usual: &str) -> String {
    let mut case = case.clone();
    let Some(at) = lines(&case).iter().find(|line| line.row.id == usual).map(|line| line.number)
    else {
        return String::new();
    };
    case.roles.baseline = at;
    let judged = judge(&case.measured, case.roles, &case.plan);
    let compared = judged.comparisons.iter().find(|comparison| comparison.contender == winner);
    match compared.map(|comparison| (&comparison.verdict, comparison.ratio)) {
        Some((Verdict::Faster, Some(ratio))) => format!("{} {usual}", times(1.0 / ratio)),
        Some((Verdict::Withheld { .. }, _)) => format!("? {usual}, disturbed"),
        _ => format!("= {usual}"),
    }
}
