//! What the measuring commands share: the options of the method, who can be seated, progress,
//! interrupts, and where a finished run goes.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::ValueEnum;
use fathom_contenders::version;
use fathom_machine::counter::metric;
use fathom_machine::describe::Machine;
use fathom_machine::level::Level;
use fathom_machine::os::affinity;
use fathom_measure::bench::{Bench, Entrant, bench};
use fathom_measure::compare::Clock;
use fathom_measure::conductor::{Bounds, Launch, Worker};
use fathom_measure::contender::{Meta, Origin};
use fathom_measure::family::AnyFamily;
use fathom_measure::protocol::Offered;
use fathom_measure::result::{About, Build, Case, Run, SCHEMA, VERSION, command_line};
use fathom_measure::rounds::{Plan, Stop};
use fathom_measure::workload::Spec;
pub(crate) use fathom_measure::workload::parse_duration as duration;
use fathom_measure::workload::parse_number;
use fathom_report::number::TimeUnit;
use fathom_report::table::{Column, Look};
use fathom_report::{csv, escape, html, markdown, scan, text, view};

use crate::interrupt;
use crate::output::{self, Output};
use crate::sheet;

/// The options of the method.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct Method {
    /// Time each contender receives per case: processor time where it is known [default: 2s]
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub(crate) budget: Option<Duration>,

    /// Wall time of its rounds after which a case ends, whatever was received; the round that is under way
    /// is finished, each of the sets of processes has one, and what comes before, checks and warm-ups, takes the time it takes
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "5m")]
    pub(crate) limit: Duration,

    /// Exactly this many rounds instead of those that fit the budget; `--limit` alone ends them early
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N",
          conflicts_with_all = ["target", "repeat"])]
    pub(crate) rounds: Option<u32>,

    /// End a case early once every interval is narrower than this, in percent; 0 never does
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    pub(crate) target: f64,

    /// End a case once nobody found a new minimum during this much time received, instead of by
    /// the width of intervals
    #[arg(long, value_parser = duration, value_name = "TIME", conflicts_with = "target")]
    pub(crate) repeat: Option<Duration>,

    /// Level of the intervals and verdicts of a case, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 99.0, value_parser = level)]
    pub(crate) level: f64,

    /// Sets of fresh processes over which the rounds are spread, of which each has one at least; a single set gives
    /// no verdicts [default: 16, fewer where getting them ready takes long]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) processes: Option<u32>,

    /// The clock of the verdicts
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) clock: ClockChoice,

    /// Seed of the orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Event counters beside time
    #[arg(long, value_enum, default_value = "none", value_name = "SOURCE")]
    pub(crate) counters: CounterChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClockChoice {
    /// Processor time where code stays on its thread and wall time is disturbed, else wall time
    Auto,
    /// Wall time
    Wall,
    /// Processor time received
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CounterChoice {
    /// No counters
    None,
    /// The processor's and the kernel's; what is missing is explained
    Hardware,
    /// Those of a simulator (valgrind), each contender run once more under it
    Simulated,
}

/// Which libraries of this machine take part.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Libraries {
    /// A library of this machine from this file (`zlib=/opt/lib/libz.so.1`), or not at all (`zlib=none`,
    /// `none` for all); `FATHOM_LIBRARY_PATH` names folders that are searched first
    #[arg(long = "library", value_name = "NAME=FILE")]
    chosen: Vec<String>,
}

impl Libraries {
    /// Before anybody asks for a library.
    ///
    /// # Errors
    /// A choice that makes no sense, a file that is not there or no such library.
    pub(crate) fn choose(&self) -> anyhow::Result<()> {
        self.take()?;
        fathom_contenders::system::ensure_usable().map_err(anyhow::Error::msg)
    }

    /// The same where libraries that cannot be used are told as absent, and in workers.
    ///
    /// # Errors
    /// As [`choose`](Libraries::choose), but for libraries that cannot be used.
    pub(crate) fn take(&self) -> anyhow::Result<()> {
        let chosen = fathom_contenders::system::choose(&self.chosen);
        chosen.map_err(|error| match error.downcast::<std::io::Error>() {
            Ok(unreadable) => anyhow::Error::from(*unreadable),
            Err(other) => anyhow::anyhow!(other),
        })
    }
}

/// Where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Show {
    /// How to show the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Write it to this file instead of stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,

    /// Show the page in the browser; in place of --format
    #[arg(long, conflicts_with = "format")]
    pub(crate) open: bool,

    /// Also save the run, samples and all, for `report`, `diff` and `history`: a file, or a folder in which it gets
    /// a name; `NAME/` makes the folder
    #[arg(long, value_name = "PATH")]
    pub(crate) save: Option<PathBuf>,

    /// The columns of tables, in this order and however wide: time, bar, spread, min, p95, throughput, user, system,
    /// peak (memory), faults (of pages), switches (of context), counters
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', hide_possible_values = true,
          value_parser = clap::builder::PossibleValuesParser::new(Column::ALL.map(|column| column.0)))]
    columns: Vec<String>,

    /// The unit of all times in tables, instead of each its own
    #[arg(long, short = 'u', value_enum, value_name = "UNIT")]
    time_unit: Option<Unit>,

    /// The rows of tables
    #[arg(long, value_enum, value_name = "ORDER", default_value = "auto")]
    sort: Sort,

    /// Tables with colours (full, color), without (basic, nocolor), or not at all (none); auto is what the terminal,
    /// `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` say
    #[arg(
        long,
        value_enum,
        value_name = "STYLE",
        default_value = "auto",
        hide_possible_values = true
    )]
    style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    Microsecond,
    Millisecond,
    Second,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// The fastest first
    Auto,
    /// As they were given
    Command,
    /// The fastest first, in tables that are exported too
    MeanTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Style {
    Auto,
    Basic,
    Full,
    Nocolor,
    Color,
    None,
}

impl Show {
    /// The format asked for; a browser shows pages.
    pub(crate) fn form(&self) -> Format {
        if self.open { Format::Html } else { self.format }
    }

    /// Refuses outputs of which one would replace the other or an input; before anything is measured.
    ///
    /// # Errors
    /// The two that are the same file.
    pub(crate) fn ensure_apart(&self, inputs: &[&Path]) -> anyhow::Result<()> {
        let own = [("--output", Some(&*self.output)), ("--save", self.save.as_deref())];
        output::ensure_files_apart(&own, inputs)
    }

    /// Refuses outputs that are not [apart](Show::ensure_apart) or cannot be written; before anything is
    /// measured.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn ensure_possible(&self, inputs: &[&Path]) -> anyhow::Result<()> {
        self.ensure_apart(inputs)?;
        output::ensure_writable(&self.output)?;
        self.save.as_deref().map_or(Ok(()), ensure_savable)
    }

    /// Refuses a plot of what is no scan; before anything is measured.
    ///
    /// # Errors
    /// That it is none.
    pub(crate) fn ensure_drawable(&self, parameters: &[&scan::Parameters]) -> anyhow::Result<()> {
        ensure!(self.form() != Format::Svg || scan::is_scan(parameters), NO_SCAN);
        Ok(())
    }

    /// Whether text was asked for, and nothing about its tables.
    pub(crate) fn is_plain_text(&self) -> bool {
        self.form() == Format::Text && self.has_usual_tables()
    }

    /// Whether nothing was asked for about tables.
    pub(crate) fn has_usual_tables(&self) -> bool {
        let Show { columns, time_unit, sort, style, .. } = self;
        let is_usual = columns.is_empty() && time_unit.is_none() && *sort == Sort::Auto;
        is_usual && *style == Style::Auto
    }

    pub(crate) fn time_unit(&self) -> Option<TimeUnit> {
        self.time_unit.map(|unit| match unit {
            Unit::Microsecond => TimeUnit::Microsecond,
            Unit::Millisecond => TimeUnit::Millisecond,
            Unit::Second => TimeUnit::Second,
        })
    }

    /// Whether exported tables, too, have the fastest first.
    pub(crate) fn is_by_mean(&self) -> bool {
        self.sort == Sort::MeanTime
    }

    /// Each column once.
    fn columns(&self) -> Vec<Column> {
        let mut seen = BTreeSet::new();
        let names = self.columns.iter().filter(|name| seen.insert(name.as_str()));
        names.filter_map(|name| Column::named(name)).collect()
    }

    fn look(&self) -> Look {
        let is_on_stdout = self.output == Path::new("-");
        Look {
            colour: match self.style {
                Style::Auto => is_on_stdout && output::is_coloured(),
                Style::Full | Style::Color => true,
                Style::Basic | Style::Nocolor | Style::None => false,
            },
            columns: self.columns(),
            unit: self.time_unit(),
            as_given: self.sort == Sort::Command,
            width: is_on_stdout.then(output::terminal_width).flatten(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables with bars, for a terminal
    Text,
    /// Tables for documents
    Markdown,
    /// A line per contender
    Csv,
    /// The saved run itself: docs/results.md
    Json,
    /// One self-contained page with plots
    Html,
    /// The plot of a scan: the cases differ in one parameter, a number
    Svg,
}

impl Method {
    /// The plan, with this budget unless the user gave one.
    pub(crate) fn plan(&self, budget: Duration) -> Plan {
        let stop = match self.repeat {
            Some(quiet) => Stop::Repetition { quiet_ns: nanoseconds(quiet) },
            None if self.target > 0.0 => Stop::Width { target: self.target / 100.0 },
            None => Stop::Budget,
        };
        Plan {
            seed: self.seed,
            alpha: (100.0 - self.level) / 100.0,
            stop,
            budget_ns: nanoseconds(self.budget.unwrap_or(budget)),
            limit_ns: nanoseconds(self.limit),
            rounds: self.rounds,
            processes: self.processes.unwrap_or(0),
            clock: match self.clock {
                ClockChoice::Auto => None,
                ClockChoice::Wall => Some(Clock::Wall),
                ClockChoice::Cpu => Some(Clock::Cpu),
            },
            ..Plan::default()
        }
    }

    /// The events asked for, by name.
    pub(crate) fn events(&self) -> Vec<String> {
        if self.counters != CounterChoice::Hardware {
            return Vec::new();
        }
        let mut names: Vec<String> = Vec::new();
        for event in metric::built_in().into_iter().flat_map(|group| group.events) {
            if !names.iter().any(|name| *name == event.name) {
                names.push(event.name.into_owned());
            }
        }
        names
    }

    pub(crate) fn simulates(&self) -> bool {
        self.counters == CounterChoice::Simulated
    }
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=1000.0).contains(value));
    value.ok_or_else(|| format!("{text:?} is no percentage"))
}

fn level(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (50.0..100.0).contains(value));
    value.ok_or_else(|| format!("{text:?} is no level from 50 to below 100"))
}

/// How the built-in worker is started, under this allocator if one is named.
///
/// # Errors
/// An allocator that is not part of this build.
pub(crate) fn worker(allocator: Option<&str>) -> anyhow::Result<Launch> {
    let mut arguments = vec!["worker".to_owned()];
    // What this process has opened its workers open, too, from the same files.
    arguments.extend(fathom_contenders::system::arguments());
    let Some(name) = allocator else {
        let program = crate::cmd::worker::own()?;
        return Ok(Launch { program, arguments, ..Launch::default() });
    };
    arguments.extend(["--allocator".to_owned(), name.to_owned()]);
    let program = crate::cmd::worker::program(name)?;
    Ok(Launch { program, arguments, reserved_bytes: reserved_bytes(name) })
}

/// What an allocator reserves beyond what it uses, in bytes.
fn reserved_bytes(_allocator: &str) -> u64 {
    #[cfg(feature = "kv")]
    return fathom_contenders::allocator::reserved_bytes(_allocator);
    #[cfg(not(feature = "kv"))]
    0
}

/// The C++ runner, where it was built: beside this program, or in `runners/cpp/build` of a folder
/// above it or of the current one.
#[cfg(feature = "kv")]
pub(crate) fn cpp_runner() -> Option<Launch> {
    const NAME: &str = "fathom-runner-cpp";
    let program = std::env::current_exe().ok();
    let folders = program.iter().flat_map(|program| program.ancestors().skip(1));
    let built = folders.map(Path::to_owned).chain(std::env::current_dir().ok());
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join(NAME));
    let places = beside.into_iter().chain(built.map(|f| f.join("runners/cpp/build").join(NAME)));
    let found = places.into_iter().find(|place| place.is_file())?;
    Some(Launch { program: found, ..Launch::default() })
}

/// What this build has of a family, as an outside worker says it.
pub(crate) fn offered(family: &dyn AnyFamily) -> impl Iterator<Item = Offered> {
    let (name, entries) = (family.name(), family.entries().into_iter());
    entries.map(move |entry| {
        let About { version, summary, code, manifest, .. } = about(&entry.meta);
        let family = name.to_owned();
        Offered { family, name: entry.id, version, summary, prepared: false, code, manifest }
    })
}

/// What an outside worker says it is.
pub(crate) fn about_offered(offered: &Offered) -> About {
    let Offered { version, summary, code, manifest, .. } = offered.clone();
    About { version, summary, code, manifest, ..About::default() }
}

/// What workers may do: pinned to this process's own processor.
pub(crate) fn bounds(limit: Option<Duration>) -> Bounds {
    let bounds = Bounds { cpu: affinity::own(), ..Bounds::default() };
    match limit {
        Some(limit) => Bounds { sample: limit, ..bounds },
        None => bounds,
    }
}

/// The same, where getting ready, which begins with a greeting, may take no longer either.
pub(crate) fn patience(limit: Duration) -> Bounds {
    Bounds { open: limit, ..bounds(Some(limit)) }
}

/// A built-in contender as an entrant. `id` may end in `@ALLOCATOR`.
pub(crate) fn entrant(id: &str, meta: &Meta) -> anyhow::Result<Entrant> {
    let (contender, allocator) = match id.split_once('@') {
        Some((contender, allocator)) => (contender, Some(allocator)),
        None => (id, None),
    };
    let mut launch = worker(allocator)?;
    // An allocator is a contender, too.
    launch.reserved_bytes += reserved_bytes(contender);
    Ok(Entrant { id: id.to_owned(), contender: contender.to_owned(), launch, about: about(meta) })
}

/// Starts an outside worker by its line of a command, which errors show behind `called`.
pub(crate) fn outside(
    line: &str,
    called: &str,
    limit: Duration,
) -> anyhow::Result<(Launch, Worker)> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.with_context(|| format!("{line:?} cannot be split into words"))?;
    let (program, arguments) = (words[0].clone().into(), words[1..].to_vec());
    let launch = Launch { program, arguments, ..Launch::default() };
    let worker = Worker::start(&launch, &patience(limit));
    let worker = worker.with_context(|| format!("{called}{line:?}"))?;
    Ok((launch, worker))
}

/// What it offers as an entrant.
pub(crate) fn entrant_outside(offered: &Offered, launch: &Launch) -> Entrant {
    let (id, contender) = (offered.name.clone(), offered.name.clone());
    Entrant { id, contender, launch: launch.clone(), about: about_offered(offered) }
}

/// The usual measurement: in built-in workers, checked by the family's reference, against the first
/// entrant, with a line of progress. What differs is set by whoever asks for it.
pub(crate) fn usual<'a>(
    family: &'a dyn AnyFamily,
    workload: Spec,
    entrants: Vec<Entrant>,
    plan: Plan,
) -> anyhow::Result<Bench<'a>> {
    let ticker = Ticker::new(&format!("{} {workload}", family.name()));
    Ok(Bench {
        family: family.name(),
        workload,
        reference: Some((family.reference().to_owned(), worker(None)?)),
        entrants,
        baseline: 0,
        share_file: false,
        prepare: None,
        events: Vec::new(),
        plan,
        bounds: bounds(None),
        empty: None,
        simulate: false,
        stop: interrupt::measuring(),
        progress: Box::new(move |done, planned| ticker.tick(done, planned)),
    })
}

/// These specs with each combination of the parameters' values, `NAME=VALUE,…`.
///
/// # Errors
/// What is no such text; one name twice, of which the first would count for nothing.
pub(crate) fn combined<'a>(
    mut specs: Vec<Spec>,
    parameters: impl IntoIterator<Item = &'a String>,
) -> anyhow::Result<Vec<Spec>> {
    let mut seen = BTreeSet::new();
    for parameter in parameters {
        let pair = parameter.split_once('=');
        let (name, values) = pair.with_context(|| format!("{parameter:?} is no NAME=VALUE"))?;
        ensure!(
            seen.insert(name),
            "{name} is there twice: all its values are one list, {name}=A,B"
        );
        let with = |spec: &Spec, value: &str| {
            let mut spec = spec.clone();
            spec.parameters.insert(name.to_owned(), value.to_owned());
            spec
        };
        let each = |spec: &Spec| values.split(',').map(|value| with(spec, value)).collect();
        specs = specs.iter().flat_map(|spec| -> Vec<Spec> { each(spec) }).collect();
    }
    Ok(specs)
}

/// Each of these specs once, with its defaults.
///
/// # Errors
/// A spec that makes no sense; one of the `given` parameters (`NAME=VALUE`) that decides nothing in any.
pub(crate) fn completed(
    family: &dyn AnyFamily,
    specs: &[Spec],
    given: &[String],
) -> anyhow::Result<Vec<Spec>> {
    let mut all: Vec<Spec> = Vec::new();
    let mut seen = Vec::new();
    for spec in specs {
        let spec = family.completed(spec)?;
        // 64K and 65536 are one size.
        let mut plain = spec.clone();
        for value in plain.parameters.values_mut() {
            *value = parse_number(value).map_or_else(|| value.clone(), |whole| whole.to_string());
        }
        if !seen.contains(&plain) {
            seen.push(plain);
            all.push(spec);
        }
    }
    for parameter in given {
        let name = parameter.split('=').next().unwrap_or_default();
        let is_taken = all.iter().any(|spec| spec.parameters.contains_key(name));
        ensure!(is_taken, "{parameter}: {name} decides nothing in what is measured here");
    }
    Ok(all)
}

/// The files that are named by parameters (`trace=FILE,…`).
pub(crate) fn traces(given: &[String]) -> impl Iterator<Item = &Path> {
    let named = given.iter().filter_map(|parameter| parameter.strip_prefix("trace="));
    named.flat_map(|files| files.split(',')).map(Path::new)
}

/// Measures; an error names the family and the workload.
pub(crate) fn measured(asked: Bench<'_>) -> anyhow::Result<Case> {
    let title = format!("{} {}", asked.family, asked.workload);
    bench(asked).context(title.trim_end().to_owned())
}

/// What a result says about a contender.
pub(crate) fn about(meta: &Meta) -> About {
    About {
        version: version(meta.origin),
        summary: meta.summary(),
        link: meta.link(),
        licence: meta.licence.to_owned(),
        hardware: (meta.hardware)("").to_string(),
        keeps: meta.keeps,
        caveat: meta.caveat.to_owned(),
        code: meta.code.to_owned(),
        manifest: manifest(meta),
    }
}

/// The line of `Cargo.toml` that brings a crate, at the version that was measured.
pub(crate) fn manifest(meta: &Meta) -> String {
    match meta.origin {
        Origin::Crate(name) if meta.feature.is_empty() => {
            format!("{name} = \"{}\"", version(meta.origin))
        }
        Origin::Crate(name) => format!(
            "{name} = {{ version = \"{}\", features = [\"{}\"] }}",
            version(meta.origin),
            meta.feature
        ),
        Origin::Own | Origin::Library(..) => String::new(),
    }
}

/// A run of this command line, on this machine, now, without cases.
pub(crate) fn new_run() -> anyhow::Result<Run> {
    let mut command = command_line();
    if let Some(program) = command.first_mut() {
        // Where the program lies is nobody's business.
        "fathom".clone_into(program);
    }
    Ok(Run {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        command,
        started: utc(jiff::Timestamp::now()),
        program: format!("fathom {}", env!("CARGO_PKG_VERSION")),
        build: build(),
        level: Level::chosen()?.name().to_owned(),
        machine: serde_json::to_value(Machine::here())?,
        ..Run::default()
    })
}

/// What `build.rs` found out about this program, and the level of what it measures.
pub(crate) fn build() -> Build {
    let mut features: Vec<&str> = env!("FATHOM_BUILD_FEATURES").split_whitespace().collect();
    features.extend(fathom_contenders::features());
    features.sort_unstable();
    features.dedup();
    Build {
        commit: env!("FATHOM_BUILD_COMMIT").to_owned(),
        dirty: env!("FATHOM_BUILD_DIRTY").parse().ok(),
        features: features.into_iter().map(str::to_owned).collect(),
        profile: format!(
            "{} (opt-level {})",
            env!("FATHOM_BUILD_PROFILE"),
            fathom_contenders::OPT_LEVEL
        ),
        target: env!("FATHOM_BUILD_TARGET").to_owned(),
        rustc: env!("FATHOM_BUILD_RUSTC").to_owned(),
    }
}

/// Shows a finished run and saves it if asked.
pub(crate) fn show(run: &Run, show: &Show) -> anyhow::Result<()> {
    show_with(run, show, "")
}

/// The same; people find `more` below it.
pub(crate) fn show_with(run: &Run, show: &Show, more: &str) -> anyhow::Result<()> {
    let saved = save(run, show.save.as_deref());
    saved.and(shown(run, show, more))
}

fn shown(run: &Run, show: &Show, more: &str) -> anyhow::Result<()> {
    let is_on_stdout = show.form() == Format::Text && show.output == Path::new("-");
    if show.style == Style::None && is_on_stdout {
        for case in &run.cases {
            for (number, name) in view::named(case) {
                if let Some(failure) = &case.measured.failures[number] {
                    say!("{}", escape::line(&format!("fathom: {name}: {failure}")));
                }
            }
        }
        return Ok(());
    }
    if !may_be_written(run, &show.output) {
        return Ok(());
    }
    let mut text = rendered(run, show.form(), &show.look())?;
    if matches!(show.form(), Format::Text | Format::Markdown) {
        text += more;
    }
    sheet::put(text.as_bytes(), &show.output, show.open)
}

const NO_SCAN: &str =
    "only a run over several values of one number can be drawn, all above 0: axes are logarithmic";

/// A scan of which nothing can be drawn because of what failed, as text.
#[derive(Debug, thiserror::Error)]
#[error("nothing is drawn, as fewer than two values have times:\n{0}")]
pub(crate) struct TooFew(String);

/// A run as text of a format.
pub(crate) fn rendered(run: &Run, format: Format, look: &Look) -> anyhow::Result<String> {
    let named = &view::told_apart(run);
    Ok(match format {
        Format::Text => text::run(named, look),
        Format::Markdown => markdown::run(named, look),
        Format::Csv => csv::run(named),
        Format::Json => run.to_json()?,
        Format::Html => html::run(named, look),
        Format::Svg if scan::has_too_few(named) => {
            return Err(TooFew(text::run(named, &Look::default()).trim_end().to_owned()).into());
        }
        Format::Svg => scan::svg(named).context(NO_SCAN)?,
    })
}

/// A time as saved runs have it.
pub(crate) fn utc(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Saves a run, if asked, as a file, or in a folder under a name of its own. What cannot be saved is still to
/// be shown: whoever calls this looks at the result afterwards.
pub(crate) fn save(run: &Run, path: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = path.filter(|path| may_be_written(run, path)) else { return Ok(()) };
    let family = run.cases.first().map_or("run", |case| &case.family);
    // Who saved the run before may have written anything there.
    let started: String =
        run.started.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let mut output = Output::create(&place(path, &format!("{started}-{family}.json"))?)?;
    let text = run.to_json()?;
    let written = output.write_all(text.as_bytes()).map_err(anyhow::Error::from);
    // Runs of the same second want the same name.
    let finish = |()| if path.is_dir() { output.finish_new() } else { output.finish() };
    output::unless_closed(written.and_then(finish)).map(drop)
}

/// Whether a run is worth a file: one that was interrupted before anybody had a time takes the place of no earlier one.
pub(crate) fn may_be_written(run: &Run, path: &Path) -> bool {
    let has_time = |case: &Case| case.judged.summaries.iter().any(Option::is_some);
    let may = path == Path::new("-") || !interrupt::happened() || run.cases.iter().any(has_time);
    if !may {
        let path = path.display().to_string();
        say!("fathom: {}: not written, as nothing was measured", escape::line(&path));
    }
    may
}

/// The file, or the one of this name in the folder, which a slash at its end makes.
fn place(path: &Path, name: &str) -> anyhow::Result<PathBuf> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        output::made(path)?;
    }
    Ok(if path.is_dir() { path.join(name) } else { path.to_owned() })
}

/// Makes the folder of `NAME/`, and refuses a place where no run can be saved; before anything is measured.
///
/// # Errors
/// Why none can.
pub(crate) fn ensure_savable(path: &Path) -> anyhow::Result<()> {
    output::ensure_writable(&place(path, "run.json")?)
}

/// Whether everything that was asked for could be done and nothing failed; what does not take part
/// has not failed, unless nobody does.
pub(crate) fn is_complete(cases: &[Case]) -> bool {
    use fathom_measure::sample::Failure;
    let failed = |failure: &Failure| !matches!(failure, Failure::Unsupported { .. });
    let has_time = |case: &Case| case.entrants().any(|(n, _)| case.measured.failures[n].is_none());
    !cases.iter().any(|case| case.measured.failures.iter().flatten().any(failed))
        && cases.iter().any(has_time)
}

/// A line on stderr about rounds done, if that is a terminal. Drawn between rounds only.
pub(crate) struct Ticker {
    bar: Option<indicatif::ProgressBar>,
}

impl Ticker {
    pub(crate) fn new(title: &str) -> Ticker {
        if !std::io::stderr().is_terminal() {
            return Ticker { bar: None };
        }
        let style = indicatif::ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}")
            .expect("the template is right");
        let bar = indicatif::ProgressBar::new(0).with_style(style).with_message(title.to_owned());
        Ticker { bar: Some(bar) }
    }

    pub(crate) fn tick(&self, done: u32, planned: u32) {
        if let Some(bar) = &self.bar {
            bar.set_length(planned.into());
            bar.set_position(done.into());
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
