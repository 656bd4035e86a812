//! What `selftest` compares: planted contenders, a family's reference with itself, a command with itself, and
//! whole runs of `fathom cpu`. Judges nothing.

use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use anyhow::{Context, ensure};
use fathom_contenders::{FAMILIES, planted};
use fathom_measure::bench::Bench;
use fathom_measure::compare::Comparison;
use fathom_measure::conductor::Bounds;
use fathom_measure::family::AnyFamily;
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

/// What is compared with itself: planted kernels, commands, and the families that bring their own data.
pub(super) fn names() -> Vec<String> {
    let own = FAMILIES.iter().filter(|family| !family.wants_bytes() && spec(**family).is_some());
    let kernels = [planted::REGISTERS, planted::MEMORY].map(|kernel| format!("{OWN}{kernel}"));
    let others = [COMMANDS].into_iter().chain(own.map(|family| family.name()));
    kernels.into_iter().chain(others.map(str::to_owned)).collect()
}

/// Planted differences. What is found of that through memory depends on its neighbours.
pub(super) fn differences() -> [Planted; 2] {
    let of = |(kernel, percent, least): (&str, u64, usize)| {
        let kernel = kernel.to_owned();
        Planted { kernel, percent, least }
    };
    [(planted::REGISTERS, 1, 90), (planted::MEMORY, 5, 0)].map(of)
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
        Unit::Slower { planted: Planted { kernel, percent, .. }, number } => {
            let plan = Plan { seed: u64::from(*number) + 1, ..Plan::default() };
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

/// A family's reference, twice.
fn with_itself(family: &dyn AnyFamily, plan: Plan) -> anyhow::Result<Case> {
    let spec = family.completed(&spec(family).context("no small case")?)?;
    let entries = family.entries();
    let entry = entries.iter().find(|entry| entry.id == family.reference());
    let entry = entry.context("the reference does not take part")?;
    let mut twice = vec![entrant(&entry.id, &entry.meta)?; 2];
    for (one, id) in twice.iter_mut().zip(["a", "b"]) {
        id.clone_into(&mut one.id);
    }
    measuring::measured(Bench {
        prepare: Some(Prepare::new(family, &spec)),
        ..measuring::usual(family, spec, twice, plan)?
    })
}

/// One measurement of planted contenders; the first is baseline and reference.
pub(super) fn planted_pair(
    kernel: &str,
    names: &[&str],
    plan: &Plan,
    bounds: Bounds,
) -> anyhow::Result<Case> {
    let family = &planted::FAMILY;
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
