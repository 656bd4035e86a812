//! `fathom run 'CMD A' 'CMD B' …`: outside commands as contenders in the same rounds.

mod against;
mod exports;
mod seats;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use fathom_machine::counter::{Event, Source};
use fathom_machine::os::ward::Ward;
use fathom_measure::command::{Commands, House, Outside, TIME_TO_CLEAN};
use fathom_measure::compare::{Clock, judge};
use fathom_measure::result::{Case, Counter, Row, Run};
use fathom_measure::rounds::{Plan, Roles, measure};
use fathom_measure::scratch;
use fathom_measure::simulated::{LABEL, Scope, Simulation};
use fathom_measure::workload::Spec;

use self::seats::Seat;
use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Method, Show, Ticker, is_complete, new_run, show};
use crate::output;

/// Compare whole commands: interleaved, with intervals, CPU time, peak memory and a noise floor
///
/// Every round runs each command once, in balanced random order, so that a change in the machine's
/// state meets all of them. The first command that passes the check, a run before all rounds, is the
/// baseline; if it fails later, there are no verdicts. Time, memory and counters include the children a
/// command waits for. A command that fails is reported and gets no figures.
///
/// Options that hyperfine has, too, mean here what they mean there, but runs are interleaved: all set-ups
/// come before the first run of anybody, all clean-ups after the last, and a hidden copy of the
/// baseline runs along.
#[derive(Debug, clap::Args)]
#[command(mut_arg("output", |arg| arg.long("report")))]
#[command(mut_arg("budget", |arg| arg.help(BUDGET)))]
// Refused: every run is a process.
#[command(mut_arg("processes", |arg| arg.hide(true)))]
pub(crate) struct Options {
    /// The commands; `{name}` stands for a parameter's value
    #[arg(required_unless_present = "reference", value_name = "COMMAND")]
    commands: Vec<String>,

    /// The baseline, instead of the first command, without values of -L and -P; if it fails, there are no verdicts
    #[arg(long, value_name = "COMMAND")]
    reference: Option<String>,

    /// The name shown instead of the reference
    #[arg(long, value_name = "NAME", requires = "reference")]
    reference_name: Option<String>,

    /// Names shown instead of the commands, in the same order: one for each, or one for each with each value of -L and -P
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", conflicts_with = "command_names")]
    names: Vec<String>,

    /// The same, one at a time; with -L or -P one for all, or one for each command with each value
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    command_names: Vec<String>,

    /// Run before the first run of any command, once for each command: the same for all, or one for each
    #[arg(short, long, value_name = "COMMAND")]
    setup: Vec<String>,

    /// Run before each timed run, not timed: the same for all commands, or one for each
    #[arg(short, long, value_name = "COMMAND")]
    prepare: Vec<String>,

    /// Run after each timed run, not timed: likewise
    #[arg(short = 'C', long, value_name = "COMMAND")]
    conclude: Vec<String>,

    /// Run after the last run of any command, once for each command: likewise
    #[arg(short, long, value_name = "COMMAND")]
    cleanup: Vec<String>,

    /// Runs of each command before the first round, thrown away, after the one that checks it; one at least, to know
    /// how long it takes
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    warmup: u32,

    /// Exactly so many runs of each command, whatever `--limit` says
    #[arg(short, long, value_name = "N", conflicts_with_all = ["rounds", "target", "repeat"],
          value_parser = runs())]
    runs: Option<u32>,

    /// At least so many runs, whatever `--limit` says
    #[arg(short, long, value_name = "N", conflicts_with_all = ["runs", "rounds"],
          value_parser = runs())]
    min_runs: Option<u32>,

    /// At most so many runs
    #[arg(short = 'M', long, value_name = "N", conflicts_with_all = ["runs", "rounds"],
          value_parser = runs())]
    max_runs: Option<u32>,

    /// The commands must print the same: one whose output differs from the first's has no time
    #[arg(long, conflicts_with_all = ["command_output", "show_output"])]
    same_output: bool,

    /// Each of these values makes every command a contender of its own; several lists give every
    /// combination, and `\,` is a comma of a value
    #[arg(short = 'L', long = "parameter-list", num_args = 2, value_names = ["NAME", "A,B,…"],
          action = clap::ArgAction::Append)]
    lists: Vec<String>,

    /// The same with the numbers from MIN to MAX (a list of values is for -L), again for each scan
    #[arg(short = 'P', long = "parameter-scan", num_args = 3, value_names = ["NAME", "MIN", "MAX"],
          allow_hyphen_values = true)]
    scan: Vec<String>,

    /// Steps of all scans [default: 1]
    #[arg(short = 'D', long = "parameter-step-size", value_name = "DELTA", requires = "scan")]
    step: Option<String>,

    /// Each of these values makes a case of its own, commands are compared within it, and one number
    /// gives a plot: `--parameter size 1,2,4` or `--parameter size 1-8`
    #[arg(long = "parameter", num_args = 2, value_names = ["NAME", "VALUES"],
          action = clap::ArgAction::Append)]
    parameters: Vec<String>,

    /// Standard input of every run: a file, or null
    #[arg(long, value_name = "WHERE")]
    input: Option<PathBuf>,

    /// Where the commands' output goes: null, pipe (read and thrown away), inherit, or a file; the
    /// same for all commands, or one for each [default: null]
    #[arg(id = "command_output", long = "output", value_name = "WHERE")]
    command_output: Vec<String>,

    /// Let the commands' output be seen
    #[arg(long, conflicts_with = "command_output")]
    show_output: bool,

    /// Start programs directly instead of through a shell, so that no shell's start is part of the
    /// time
    #[arg(short = 'N', long, conflicts_with = "shell")]
    no_shell: bool,

    /// The shell, with arguments if need be, or none, or default; the time of an empty command in it
    /// is measured in the same rounds and subtracted if it is known well enough
    #[arg(short = 'S', long, value_name = "PROGRAM", default_value = "sh")]
    shell: String,

    /// Exit codes besides 0 that are no failure
    #[arg(long, value_delimiter = ',', value_name = "CODE,…", value_parser = codes())]
    accept: Vec<i32>,

    /// No exit code is a failure, or none of these; a signal is
    #[arg(short, long, value_name = "CODE,…", num_args = 0..=1, require_equals = true,
          default_missing_value = "all-non-zero")]
    ignore_failure: Option<String>,

    /// How long one run may take before it counts as hung
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "10m")]
    hang: Duration,

    #[command(flatten)]
    against: against::Against,

    #[command(flatten)]
    exports: exports::Exports,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,
}

const BUDGET: &str = "Time each command receives per case: wall time, or processor time with \
     --clock cpu; 24 rounds at least, unless --runs, --rounds, --max-runs or --limit are fewer [default: 10s]";

fn runs() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=100_000)
}

fn codes() -> clap::builder::RangedI64ValueParser<i32> {
    clap::value_parser!(i32).range(0..=255)
}

impl Options {
    /// What is measured: the reference first.
    fn lines(&self) -> impl Iterator<Item = &String> {
        self.reference.iter().chain(&self.commands)
    }

    /// The name of a line, if it was given one, and whether that is of this place among all contenders alone.
    fn name(&self, number: usize, place: usize) -> (Option<&String>, bool) {
        let first = usize::from(self.reference.is_some());
        let Some(number) = number.checked_sub(first) else {
            return (self.reference_name.as_ref(), false);
        };
        let names = if self.names.is_empty() { &self.command_names } else { &self.names };
        let has_values = !self.lists.is_empty() || !self.scan.is_empty();
        match names.len() {
            1 if has_values => (names.first(), false),
            count if count > self.commands.len() => (names.get(place - first), true),
            _ => (names.get(number), false),
        }
    }

    /// Refuses what is given neither for all, nor for each command or each of so many contenders.
    fn ensure_one_for_each(&self, contenders: usize) -> anyhow::Result<()> {
        let lines = self.lines().count();
        for (given, what) in [
            (&self.setup, "setup"),
            (&self.prepare, "prepare"),
            (&self.conclude, "conclude"),
            (&self.cleanup, "cleanup"),
            (&self.command_output, "output"),
        ] {
            let right = given.len() <= 1 || [lines, contenders].contains(&given.len());
            ensure!(
                right,
                "--{what}: give one for all, one for each command, or one for each with each value"
            );
        }
        let all = self.commands.len();
        let is_each = |count| [all, contenders + all - lines].contains(&count);
        let named = self.names.is_empty() || is_each(self.names.len());
        ensure!(named, "--names: give one for each command, or one for each with each value");
        let few = self.command_names.len() <= all || is_each(self.command_names.len());
        ensure!(
            few,
            "--command-name: there are more names than commands, and not one for each with each value"
        );
        Ok(())
    }

    /// Refuses what the reference, which has no values, would take as it is written.
    fn ensure_reference_without_values(&self) -> anyhow::Result<()> {
        let Some(reference) = &self.reference else { return Ok(()) };
        let asides =
            [&self.setup, &self.prepare, &self.conclude, &self.cleanup, &self.command_output];
        let lists = self.lists.chunks_exact(2).chain(self.scan.chunks_exact(3));
        let names: Vec<String> = lists.map(|given| format!("{{{}}}", given[0])).collect();
        for text in asides.iter().filter_map(|given| given.first()).chain([reference]) {
            let name = names.iter().find(|name| text.contains(*name));
            ensure!(
                name.is_none(),
                "{text}: the reference has no values of -L and -P; what is run beside it may be one for each command"
            );
        }
        Ok(())
    }

    fn input_file(&self) -> Option<PathBuf> {
        self.input.clone().filter(|path| path.as_os_str() != "null")
    }

    fn check(&self) -> anyhow::Result<()> {
        let mut names = self.names.iter().chain(&self.command_names).chain(&self.reference_name);
        ensure!(names.all(|name| !name.trim().is_empty()), "a name is blank");
        let fresh = "--processes: every run of a command is a fresh process already";
        ensure!(self.method.processes.is_none(), fresh);
        if let (Some(least), Some(most)) = (self.min_runs, self.max_runs) {
            ensure!(least <= most, "--min-runs: {least} is more than --max-runs {most}");
        }
        // What is called --output elsewhere is --report here.
        let own = [("--report", Some(&*self.show.output)), ("--save", self.show.save.as_deref())];
        let kinds = ["null", "pipe", "inherit"];
        let printed = self.command_output.iter().filter(|kind| !kinds.contains(&kind.as_str()));
        let printed: Vec<_> = printed.map(|path| ("--output", Some(Path::new(path)))).collect();
        let input = self.input_file();
        let inputs: Vec<&Path> = input.iter().map(PathBuf::as_path).collect();
        // Unless it is to be made first.
        for path in inputs.iter().filter(|_| self.setup.is_empty() && self.prepare.is_empty()) {
            std::fs::metadata(path).with_context(|| format!("--input {}", path.display()))?;
        }
        let own = [&own[..], &self.exports.files()].concat();
        output::ensure_files_apart(&own, &inputs)?;
        self.house()?;
        self.show.ensure_possible(&inputs)?;
        self.exports
            .files()
            .iter()
            .filter_map(|file| file.1)
            .try_for_each(output::ensure_writable)?;
        // Several commands may write to one file.
        printed.iter().try_for_each(|printed| {
            output::ensure_files_apart(&[&own[..], &[*printed]].concat(), &inputs)
        })
    }

    fn house(&self) -> anyhow::Result<House> {
        let mut accepted_codes = self.accept.clone();
        let codes = self.ignore_failure.as_deref();
        for code in codes.filter(|&codes| codes != "all-non-zero").iter().flat_map(|c| c.split(','))
        {
            let code = code.trim().parse().ok().filter(|code| (0..=255).contains(code));
            accepted_codes
                .push(code.context("--ignore-failure: exit codes are numbers from 0 to 255")?);
        }
        ensure!(!self.shell.trim().is_empty(), "--shell: a program, or none");
        let shell = match self.shell.as_str() {
            "none" => None,
            "default" => Some("sh".to_owned()),
            _ => Some(self.shell.clone()),
        };
        Ok(House {
            shell: shell.filter(|_| !self.no_shell),
            same_output: self.same_output,
            input: self.input_file(),
            limit: self.hang,
            any_code: codes == Some("all-non-zero"),
            accepted_codes,
        })
    }

    fn plan(&self) -> Plan {
        let plan = self.method.plan(Duration::from_secs(10));
        Plan {
            iterations: Some(1),
            warm_ups: self.warmup,
            fresh: true,
            rounds: plan.rounds.or(self.runs),
            least_rounds: self.min_runs.or(self.runs),
            most_rounds: self.max_runs,
            ..plan
        }
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    options.check()?;
    let cases = seats::planned(options)?;
    ensure_drawable(options, &cases)?;
    // What commands say on stderr is kept in files.
    scratch::file()?;
    let stop = interrupt::measuring();
    let mut run = new_run()?;
    let mut is_well = true;
    match &options.against.revision {
        Some(revision) => is_well = against::measured(options, revision, cases, &mut run)?,
        None => {
            for (spec, seats) in cases {
                is_well &= measured(options, spec, seats, &mut run)?;
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
            }
        }
    }
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        run.notes.push("interrupted: the rest was not measured".to_owned());
    }
    finished(options, &run, is_well)
}

/// Refuses a plot of what is no scan, be it over cases or, in a single one, over commands, of which `--against`
/// makes cases.
fn ensure_drawable(options: &Options, cases: &[(Spec, Vec<Seat>)]) -> anyhow::Result<()> {
    let parameters: Vec<_> = match cases {
        [(_, seats)]
            if options.against.revision.is_none()
                && seats.iter().all(|seat| seat.parameters.len() <= 1) =>
        {
            // A reference has none.
            seats.iter().map(|seat| &seat.parameters).filter(|own| !own.is_empty()).collect()
        }
        _ => cases.iter().map(|(spec, _)| &spec.parameters).collect(),
    };
    options.show.ensure_drawable(&parameters)
}

/// Shows, saves and exports.
fn finished(options: &Options, run: &Run, is_well: bool) -> anyhow::Result<Exit> {
    // What cannot be written is shown at least.
    let exported = options.exports.write(run, &options.show);
    let shown = show(run, &options.show);
    exported.and(shown)?;
    let is_well = is_well && is_complete(&run.cases);
    Ok(if is_well { Exit::Done } else { Exit::Incomplete })
}

/// What runs once before or after everything; programs it left running live as long as the answer.
fn once(
    seats: &mut [Seat],
    house: &House,
    what: &str,
    line: impl Fn(&Seat) -> Option<&String>,
) -> Vec<Ward> {
    let mut wards = Vec::new();
    for seat in seats {
        let Some(line) = line(seat) else { continue };
        match house.aside(line, seat.outside.folder.as_deref(), what, TIME_TO_CLEAN) {
            Ok(ward) => wards.push(ward),
            Err(failure) => seat.failed = seat.failed.take().or(Some(failure)),
        }
    }
    wards
}

/// Measures a case; whether all was cleaned up.
fn measured(
    options: &Options,
    spec: Spec,
    mut seats: Vec<Seat>,
    run: &mut Run,
) -> anyhow::Result<bool> {
    let house = options.house()?;
    let set_up = once(&mut seats, &house, "set-up", |seat| seat.setup.as_ref());
    let commands: Vec<Outside> = seats.iter().map(|seat| seat.outside.clone()).collect();
    let events: Vec<Event> =
        options.method.events().iter().filter_map(|name| Event::named(name).cloned()).collect();
    let plan = options.plan();
    let ticker = Ticker::new(&format!("{} commands {spec}", seats.len()));
    let mut progress = |done, planned| ticker.tick(done, planned);
    let stop = interrupt::measuring();

    // The check comes first: who fails it is not run again, and the baseline is whoever passes, unless it
    // was named.
    let mut executor = Commands::new(commands, house.clone(), &events, stop, &mut progress);
    let mut failures = executor.check(seats.iter().map(|seat| seat.failed.clone()).collect());
    let (expected, names, missing) = (executor.expected(), executor.events(), executor.missing());
    let first_alive = failures.iter().position(Option::is_none);
    let baseline = first_alive.filter(|_| options.reference.is_none()).unwrap_or(0);
    let wall_only = plan.clock != Some(Clock::Cpu);
    let mut roles = Roles { baseline, twin_of: baseline, wall_only, ..Roles::default() };
    if failures[baseline].is_none() {
        roles.twin = Some(executor.add(seats[baseline].outside.clone()));
        failures.push(None);
    }
    if first_alive.is_some() && house.shell.is_some() {
        roles.empty = Some(executor.add(Outside { is_shell_alone: true, ..Outside::default() }));
        failures.push(None);
    }
    let measured = measure(&mut executor, failures, roles, &plan);
    let judged = judge(&measured, roles, &plan);
    let counter = |event: &String| Counter {
        event: event.clone(),
        per_iteration: 0.0,
        source: Event::named(event).map_or(Source::Hardware, Event::source).name().into(),
    };
    let row = |number: usize| Row {
        id: match seats.get(number) {
            Some(seat) => seat.id.clone(),
            None if Some(number) == roles.twin => "(twin)".to_owned(),
            None => "(empty)".to_owned(),
        },
        parameters: seats.get(number).map(|seat| seat.parameters.clone()).unwrap_or_default(),
        counters: names.iter().map(counter).collect(),
        counters_missing: missing.clone(),
        ..Row::default()
    };
    let mut case = Case {
        family: "commands".to_owned(),
        workload: spec,
        check: expected,
        contenders: (0..measured.failures.len()).map(row).collect(),
        roles,
        plan,
        measured,
        judged,
        ..Case::default()
    };
    case.compact();
    if options.method.simulates() {
        for (number, seat) in seats.iter().enumerate() {
            simulated(&mut case, number, &seat.outside, &house);
        }
    }
    drop(once(&mut seats, &house, "clean-up", |seat| seat.cleanup.as_ref()));
    drop(set_up);
    let late = late(&case, &seats);
    case.notes = notes(&case, &seats, &late);
    run.cases.push(case);
    Ok(late.is_empty())
}

/// A clean-up that fails takes nothing back.
fn late(case: &Case, seats: &[Seat]) -> Vec<String> {
    let seats = seats.iter().zip(&case.measured.failures);
    let late = seats.filter(|(_, failure)| failure.is_none());
    late.filter_map(|(seat, _)| Some(format!("{}: {}", seat.id, seat.failed.as_ref()?))).collect()
}

fn notes(case: &Case, seats: &[Seat], late: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut setups: Vec<&String> = seats.iter().filter_map(|seat| seat.setup.as_ref()).collect();
    setups.sort();
    setups.dedup();
    if setups.len() > 1 && seats.iter().all(|seat| seat.outside.folder.is_none()) {
        notes.push(
            "set-ups differ and all ran before the first round, in order: if one undoes what another \
             did, use --prepare"
                .to_owned(),
        );
    }
    notes.extend_from_slice(late);
    if case.plan.clock.is_none() && case.judged.disturbed_share > 0.1 {
        notes.push(
            "wall time includes waiting for a processor here; if these commands are single-threaded \
             and do not wait for anything, --clock cpu resolves more"
                .to_owned(),
        );
    }
    notes
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
        let wrapped = simulation.wrap(&house.command(&command.line, command.folder.as_deref())?);
        let status = house.around(command, || house.run(&wrapped, SIMULATION))?;
        ensure!(house.accepts(status), "under the simulator: {status}");
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
