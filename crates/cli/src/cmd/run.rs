//! `fathom run 'CMD A' 'CMD B' …`: outside commands as contenders in the same rounds.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use fathom_machine::counter::{Event, Source};
use fathom_measure::command::{Commands, House, Outside};
use fathom_measure::compare::{Clock, judge};
use fathom_measure::result::{Case, Counter, Row};
use fathom_measure::rounds::{Plan, Roles, measure};
use fathom_measure::simulated::{LABEL, Scope, Simulation};
use fathom_measure::workload::{Spec, Work};

use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Method, Show, Ticker, is_complete, new_run, show};

/// Compare whole commands: interleaved, with intervals, CPU time, peak memory and a noise floor
///
/// Every round runs each command once, in balanced random order, so that a change in the machine's
/// state meets all of them. The first command is the baseline. Time, memory and counters include
/// the children a command waits for. A command that fails is reported and gets no figures.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The commands; `{name}` stands for a parameter's value
    #[arg(required = true, value_name = "COMMAND")]
    commands: Vec<String>,

    /// Names shown instead of the commands, in the same order
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    names: Vec<String>,

    /// Run before each timed run, not timed: once for all commands, or once per command
    #[arg(long, value_name = "COMMAND")]
    prepare: Vec<String>,

    /// Run after each timed run, not timed: once for all commands, or once per command
    #[arg(long, value_name = "COMMAND")]
    cleanup: Vec<String>,

    /// Runs of each command before the first round, thrown away
    #[arg(long, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// The commands must print the same: one whose output differs from the first's has no time
    #[arg(long)]
    same_output: bool,

    /// Try each of these values of a parameter: `-P size 1,2,4` or `-P size 1-8`; several give
    /// every combination
    #[arg(short = 'P', long = "parameter", num_args = 2, value_names = ["NAME", "VALUES"],
          action = clap::ArgAction::Append)]
    parameters: Vec<String>,

    /// Standard input of every run
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// Start programs directly instead of through a shell, so that no shell's start is part of the
    /// time
    #[arg(short = 'N', long, conflicts_with = "shell")]
    no_shell: bool,

    /// The shell; the time of an empty command in it is measured in the same rounds and subtracted
    /// if it is known well enough
    #[arg(long, value_name = "PROGRAM", default_value = "sh")]
    shell: String,

    /// Exit codes besides 0 that are no failure
    #[arg(long, value_delimiter = ',', value_name = "CODE,…")]
    accept: Vec<i32>,

    /// How long one run may take before it counts as hung
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "10m")]
    hang: Duration,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let per_command = |given: &[String], what: &str| {
        let right = given.len() <= 1 || given.len() == options.commands.len();
        ensure!(right, "--{what}: give one for all commands or one for each");
        Ok(())
    };
    per_command(&options.prepare, "prepare")?;
    per_command(&options.cleanup, "cleanup")?;
    let named = options.names.is_empty() || options.names.len() == options.commands.len();
    ensure!(named, "--names: give one for each command");
    ensure!(
        options.method.processes.is_none(),
        "--processes: every run of a command is a fresh process already"
    );
    let stop = interrupt::measuring();
    let mut run = new_run()?;
    for spec in combinations(options)? {
        run.cases.push(measured(options, spec)?);
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            run.notes.push("interrupted: the rest was not measured".to_owned());
            break;
        }
    }
    show(&run, &options.show)?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}

/// One spec per combination of parameter values.
fn combinations(options: &Options) -> anyhow::Result<Vec<Spec>> {
    let mut specs = vec![Spec { file: options.input.clone(), ..Spec::default() }];
    for pair in options.parameters.chunks_exact(2) {
        let (name, values) = (&pair[0], values(&pair[1])?);
        let used = format!("{{{name}}}");
        let lines = options.commands.iter().chain(&options.prepare).chain(&options.cleanup);
        ensure!(lines.into_iter().any(|line| line.contains(&used)), "no command contains {used}");
        let with = |spec: &Spec, value: &String| {
            let mut spec = spec.clone();
            spec.parameters.insert(name.clone(), value.clone());
            spec
        };
        specs = specs.iter().flat_map(|spec| values.iter().map(|v| with(spec, v))).collect();
    }
    Ok(specs)
}

/// `1,2,4`, `1-8` or `0-100:25`.
fn values(text: &str) -> anyhow::Result<Vec<String>> {
    let range = || {
        let (range, step) = text.split_once(':').unwrap_or((text, "1"));
        let (from, to) = range.split_once('-')?;
        let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
        let step = step.parse::<usize>().ok().filter(|step| *step > 0)?;
        Some((from..=to).step_by(step).map(|value| value.to_string()).collect::<Vec<String>>())
    };
    let values =
        range().unwrap_or_else(|| text.split(',').map(str::to_owned).collect::<Vec<String>>());
    ensure!(!values.is_empty() && values.len() <= 10_000, "{text:?}: from 1 to 10,000 values");
    Ok(values)
}

fn filled(line: &str, spec: &Spec) -> String {
    let fill = |line: String, (name, value): (&String, &String)| {
        line.replace(&format!("{{{name}}}"), value)
    };
    spec.parameters.iter().fold(line.to_owned(), fill)
}

fn measured(options: &Options, spec: Spec) -> anyhow::Result<Case> {
    let of = |given: &[String], number: usize| {
        let line = if given.len() == 1 { given.first() } else { given.get(number) };
        line.map(|line| filled(line, &spec))
    };
    let mut commands: Vec<Outside> = Vec::new();
    for (number, line) in options.commands.iter().enumerate() {
        commands.push(Outside {
            line: filled(line, &spec),
            prepare: of(&options.prepare, number),
            cleanup: of(&options.cleanup, number),
        });
    }
    let asked = commands.len();
    let house = House {
        shell: (!options.no_shell).then(|| options.shell.clone()),
        same_output: options.same_output,
        input: options.input.clone(),
        limit: options.hang,
        accepted_codes: options.accept.clone(),
    };
    let events: Vec<Event> =
        options.method.events().iter().filter_map(|name| Event::named(name).cloned()).collect();
    let plan = plan(options);
    let ticker = Ticker::new(&format!("{asked} commands {spec}"));
    let mut progress = |done, planned| ticker.tick(done, planned);
    let stop = interrupt::measuring();

    // The check comes first: who fails it is not run again, and the baseline is whoever passes.
    let mut trial = Commands::new(commands.clone(), house.clone(), &events, stop, &mut progress);
    let mut failures = trial.check();
    let (expected, names, missing) = (trial.expected(), trial.events(), trial.missing());
    let baseline = failures.iter().position(Option::is_none).unwrap_or(0);
    let wall_only = plan.clock != Some(Clock::Cpu);
    let mut roles = Roles { baseline, twin_of: baseline, wall_only, ..Roles::default() };
    if failures[baseline].is_none() {
        roles.twin = Some(commands.len());
        commands.push(commands[baseline].clone());
        failures.push(None);
        if !options.no_shell {
            roles.empty = Some(commands.len());
            commands.push(Outside::default());
            failures.push(None);
        }
    }
    let simulated_house = house.clone();
    let mut executor = Commands::new(commands.clone(), house, &events, stop, &mut progress);
    let measured = measure(&mut executor, failures, roles, &plan);
    let judged = judge(&measured, roles, &plan);
    // By the command as it was given: with a parameter's value in it, each case would have contenders
    // of its own, and nothing could be drawn or compared across cases.
    let shown = |number: usize| match number {
        n if n < asked => options.names.get(n).unwrap_or(&options.commands[n]).clone(),
        n if Some(n) == roles.twin => "(twin)".to_owned(),
        _ => "(empty)".to_owned(),
    };
    let contenders = (0..commands.len()).map(|number| Row {
        id: shown(number),
        counters: names
            .iter()
            .map(|event| Counter {
                event: event.clone(),
                per_iteration: 0.0,
                source: Event::named(event).map_or(Source::Hardware, Event::source).name().into(),
            })
            .collect(),
        counters_missing: missing.clone(),
        ..Row::default()
    });
    let contenders = contenders.collect();
    let disturbed = judged.disturbed_share;
    let mut case = Case {
        family: "commands".to_owned(),
        workload: spec,
        work: Work::default(),
        check: expected,
        contenders,
        roles,
        plan,
        measured,
        judged,
        notes: Vec::new(),
    };
    if options.method.plan(Duration::from_secs(1)).clock.is_none() && disturbed > 0.1 {
        case.notes.push(
            "wall time includes waiting for a processor here; if these commands are single-threaded \
             and do not wait for anything, --clock cpu resolves more"
                .to_owned(),
        );
    }
    case.compact();
    if options.method.simulates() {
        for (number, command) in commands.iter().enumerate().take(asked) {
            simulated(&mut case, number, command, &simulated_house);
        }
    }
    Ok(case)
}

fn plan(options: &Options) -> Plan {
    let plan = options.method.plan(Duration::from_secs(10));
    Plan { iterations: Some(1), warm_ups: options.warmup, fresh: true, ..plan }
}

/// How much longer a program may take under the simulator.
const SIMULATION: u32 = 100;

/// Runs a command once under the simulator, its children too, and adds the counts to its row.
fn simulated(case: &mut Case, number: usize, command: &Outside, house: &House) {
    if case.measured.failures[number].is_some() {
        return;
    }
    let row = &mut case.contenders[number];
    let counts = (|| -> anyhow::Result<_> {
        let simulation = Simulation::new(Scope::Whole)?;
        let wrapped = simulation.wrap(&house.command(&command.line)?);
        let status = house.run(&wrapped, SIMULATION)?;
        ensure!(status.success(), "under the simulator: {status}");
        Ok(simulation.counts()?)
    })();
    match counts {
        Ok(found) => row.counters.extend(found.counts.into_iter().map(|count| Counter {
            event: count.event,
            per_iteration: count.count as f64,
            source: LABEL.to_owned(),
        })),
        Err(error) => row.counters_missing.push(format!("{error:#}")),
    }
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
        assert!(values("1-99999").is_err());
        assert!(values("5-1").is_err());
    }

    #[test]
    fn parameters_are_filled_in() {
        let spec = Spec::new("", &[("n", "3"), ("m", "x")]);
        assert_eq!(filled("head -{n} {m} {o}", &spec), "head -3 x {o}");
    }
}
