//! What `selftest` compares: planted contenders, a family's reference with itself, a command with itself, and
//! whole runs of `fathom cpu`. Judges nothing.

use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use anyhow::{Context, ensure};
use fathom_contenders::{families, planted};
use fathom_measure::bench::Bench;
use fathom_measure::compare::Comparison;
use fathom_measure::conductor::Bounds;
use fathom_measure::family::{AnyFamily, Opened};
use fathom_measure::provision::Prepare;
use fathom_measure::result::{Case, Run};
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::scratch;
use fathom_measure::workload::Spec;
use fathom_report::view::{named, titled};

use super::full::{Found, Planted, Unit};
use super::load::Load;
use crate::cmd::worker;
use crate::measuring::{self, bounds, entrant};

/// What precedes a planted kernel's name, since a family may be called so, too.
const OWN: &str = "planted ";
/// The subject that is no family.
const COMMANDS: &str = "commands";
/// The difference that is planted in families, in percent.
const FAMILIES_PERCENT: u64 = 3;

/// What is compared with itself: planted kernels, commands, and the families that bring their own data.
pub(super) fn names() -> Vec<String> {
    let kernels = [planted::REGISTERS, planted::MEMORY].map(|kernel| format!("{OWN}{kernel}"));
    let others = [COMMANDS].into_iter().chain(own_families().map(AnyFamily::name));
    kernels.into_iter().chain(others.map(str::to_owned)).collect()
}

/// Planted differences: in kernels of known length, and in every family, whose reference is called so much
/// more often. What is found of that through memory depends on the neighbours.
pub(super) fn differences() -> Vec<Planted> {
    let kernel = |kernel: &str, percent, least| {
        let subject = format!("{OWN}{kernel}");
        Planted { subject, percent, least }
    };
    let kernels = [kernel(planted::REGISTERS, 1, 90), kernel(planted::MEMORY, 5, 0)];
    let family = |family: &'static dyn AnyFamily| {
        let subject = family.name().to_owned();
        Planted { subject, percent: FAMILIES_PERCENT, least: 90 }
    };
    own_families().map(family).chain(kernels).collect()
}

fn own_families() -> impl Iterator<Item = &'static dyn AnyFamily> {
    families().iter().copied().filter(|family| spec(*family).is_some())
}

fn has_wall_time_only(family: &dyn AnyFamily) -> bool {
    let mut leaves = false;
    let mut see = |opened: Opened<'_>| leaves = opened.leaves_the_thread;
    if let Some(spec) = spec(family).and_then(|spec| family.completed(&spec).ok()) {
        // Who cannot be opened says so when it is measured.
        let _ = family.open(family.reference(), &spec, &mut see);
    }
    leaves
}

/// The last of a family's small cases, the largest as a rule, that needs no file.
fn spec(family: &dyn AnyFamily) -> Option<Spec> {
    family.small_cases().into_iter().rfind(|spec| spec.file.is_none())
}

pub(super) fn measured(unit: &Unit) -> anyhow::Result<Vec<Found>> {
    match unit {
        Unit::Same { subject, loaded, number } => {
            let threads = available_parallelism().map_or(1, |threads| threads.get() as u32);
            let _load = Load::start(if *loaded { threads } else { 0 })?;
            same(subject, *number).with_context(|| subject.clone())
        }
        Unit::Slower { planted: Planted { subject, percent, .. }, number } => {
            let plan = Plan { seed: u64::from(*number) + 1, ..Plan::default() };
            let Some(kernel) = subject.strip_prefix(OWN) else {
                let family = fathom_contenders::family(subject).context("no such family")?;
                // As `cpu` does: a quarter of the sets, and more where they leave it open. On the wall clock
                // alone the neighbours are in every sample: four times as many.
                let times = if has_wall_time_only(family) { 8 } else { 2 };
                let budget_ns = times * plan.budget_ns;
                let stop = Stop::Said { above: 0.0 };
                let plan = Plan { stop, budget_ns, processes: 32, ..plan };
                return found(&with_more(family, plan, *percent)?);
            };
            let name = format!("slower-{percent}");
            found(&planted_pair(kernel, &["steady", &name], &plan, bounds(None))?)
        }
        Unit::Cpu { .. } => {
            let run = ran(&["cpu"])?;
            Ok(titled(&run).into_iter().flat_map(|(n, title)| all(&run.cases[n], &title)).collect())
        }
    }
}

fn same(subject: &str, number: u32) -> anyhow::Result<Vec<Found>> {
    let plan = Plan {
        seed: u64::from(number) + 1,
        budget_ns: 100_000_000,
        sample_ns: 2_000_000,
        stop: Stop::Budget,
        ..Plan::default()
    };
    if let Some(kernel) = subject.strip_prefix(OWN) {
        return found(&planted_pair(kernel, &["steady", "steady-too"], &plan, bounds(None))?);
    }
    if subject == COMMANDS {
        let program = worker::own()?;
        let line =
            shlex::try_join([program.to_str().context("a name that is not UTF-8")?, "list"])?;
        let seed = (number + 1).to_string();
        let run = ran(&["run", "-N", "-r", "40", "--names", "a,b", "--seed", &seed, &line, &line])?;
        return found(run.cases.first().context("no case")?);
    }
    let family = fathom_contenders::family(subject).context("no such family")?;
    found(&with_itself(family, plan)?)
}

/// A family's reference on one of its cases, twice.
fn with_itself(family: &dyn AnyFamily, plan: Plan) -> anyhow::Result<Case> {
    let spec = family.completed(&spec(family).context("no small case")?)?;
    pair(family, spec, plan, 0)
}

/// The same, where the second runs so many percent more iterations than are asked for: on the last of its
/// small cases of which a sample has so many that this is one more, or several such.
fn with_more(family: &dyn AnyFamily, plan: Plan, percent: u64) -> anyhow::Result<Case> {
    let fewest = 100_u64.div_ceil(percent);
    let mut best: Option<(u64, Spec)> = None;
    for spec in family.small_cases().into_iter().rev().filter(|spec| spec.file.is_none()) {
        let spec = family.completed(&spec)?;
        let short = Plan { rounds: Some(1), processes: 1, ..plan.clone() };
        let case = pair(family, spec.clone(), short, 0)?;
        let iterations = case.measured.iterations;
        if best.as_ref().is_none_or(|(most, _)| iterations > *most) {
            best = Some((iterations, spec));
        }
        if iterations >= fewest {
            break;
        }
    }
    let (iterations, spec) = best.context("no small case")?;
    let plan = Plan { iterations: Some(iterations.next_multiple_of(fewest)), ..plan };
    pair(family, spec, plan, percent)
}

/// A family's reference beside itself with so many percent more iterations.
fn pair(family: &dyn AnyFamily, spec: Spec, plan: Plan, percent: u64) -> anyhow::Result<Case> {
    let entries = family.entries();
    let entry = entries.iter().find(|entry| entry.id == family.reference());
    let entry = entry.context("the reference does not take part")?;
    let mut twice = vec![entrant(&entry.id, &entry.meta)?; 2];
    for (one, id) in twice.iter_mut().zip(["a", "b"]) {
        id.clone_into(&mut one.id);
    }
    if percent > 0 {
        for (one, percent) in twice.iter_mut().zip([0, percent]) {
            one.launch.arguments.extend(["--slower".to_owned(), percent.to_string()]);
        }
    }
    measuring::measured(Bench {
        prepare: Some(Prepare::new(family, &spec)),
        ..measuring::usual(family, spec, twice, plan)?
    })
}

/// One measurement of planted contenders; the first is baseline and reference.
pub(crate) fn planted_pair(
    kernel: &str,
    names: &[&str],
    plan: &Plan,
    bounds: Bounds,
) -> anyhow::Result<Case> {
    let family = planted::family();
    let entries = family.entries();
    let entrants: anyhow::Result<Vec<_>> = names
        .iter()
        .map(|name| {
            let entry = entries.iter().find(|entry| entry.id == *name);
            entrant(name, &entry.context("no such planted contender")?.meta)
        })
        .collect();
    let spec = family.completed(&Spec::new(kernel, &[]))?;
    measuring::measured(Bench {
        reference: None,
        bounds,
        ..measuring::usual(family, spec, entrants?, plan.clone())?
    })
}

/// The run that this program saves when it is called so.
fn ran(arguments: &[&str]) -> anyhow::Result<Run> {
    let folder = scratch::folder("selftest")?;
    let file = folder.path().join("run.json");
    let mut command = Command::new(worker::own()?);
    command.args(arguments).arg("--save").arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().context("this program")?;
    // 1: somebody failed or was slower; the run is there.
    let is_done = output.status.code().is_some_and(|code| code < 2);
    ensure!(is_done, "fathom {}: {}", arguments[0], String::from_utf8_lossy(&output.stderr));
    Ok(Run::read(&file)?)
}

/// The one comparison of a pair.
fn found(case: &Case) -> anyhow::Result<Vec<Found>> {
    let found = all(case, &case.title());
    let failures = case.measured.failures.iter().flatten().map(ToString::to_string);
    ensure!(found.len() == 1, "{}", failures.collect::<Vec<String>>().join("; "));
    Ok(found)
}

fn all(case: &Case, title: &str) -> Vec<Found> {
    let names = named(case);
    let name = |number: usize| {
        let found = names.iter().find(|(n, _)| *n == number);
        found.map_or_else(|| case.contenders[number].id.clone(), |(_, name)| name.clone())
    };
    let one = |c: &Comparison| Found {
        case: title.to_owned(),
        contender: name(c.contender),
        baseline: name(case.roles.baseline),
        ratio: c.ratio,
        interval: c.interval.map(|interval| [interval.low, interval.high]),
        verdict: c.verdict.word().to_owned(),
    };
    case.judged.comparisons.iter().map(one).collect()
}
