//! `main` of a bench: lists, checks, measures, or serves as a worker, as its arguments say.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use fathom_machine::describe::Machine;
use fathom_machine::os::ward::STOP;
use fathom_machine::os::{affinity, process};
use fathom_measure::bench::{Bench as Asked, Entrant, bench};
use fathom_measure::conductor::{Bounds, Launch};
use fathom_measure::family::{AnyFamily, OpenError, Opened};
use fathom_measure::plan::Plan;
use fathom_measure::result::{About, Case, Run, SCHEMA, VERSION, command_line};
use fathom_measure::worker::serve;
use fathom_measure::workload::{Spec, SpecError, parse_duration};
use fathom_report::diff::diff;
use fathom_report::table::Look;
use fathom_report::{csv, html, markdown, text};

use crate::define::{Bench, Listed, Purpose};

/// A function that defines groups.
pub type Definition = fn(&mut Bench<'_>);

/// The only argument of a worker: no word that somebody filters by.
const WORKER: &str = "--fathom-worker";

const HELP: &str = "\
Usage: cargo bench [--bench NAME] -- [OPTIONS] [FILTER]...

Measures the functions whose `group/function` contains one of the filters, each in
worker processes of its own, against the first of them in its group. The answer of the
group's first is the right one even where a filter leaves that out.

Options:
  --list             Name them
  --exact            Those that are called so, not those that contain a filter
  --test             Run each once and check its answer, as `cargo test --benches`
  --budget TIME      Time each receives: 500ms, 2s, 1m [default: 2s]
  --save PLACE       Save the run, for --baseline and the command `fathom`: in a file,
                     or in a folder, which has a file for each bench
  --baseline PLACE   Compare with a saved run; slower ends with code 1
  --format FORMAT    text, markdown, csv, html or json [default: text]

What cargo's own harness takes and means nothing here is passed over: --nocapture,
--show-output, --quiet, --test-threads N, --color WHEN.
";

#[derive(Default)]
struct Options {
    measures: bool,
    lists: bool,
    /// A line of the list ends as that of cargo's own harness.
    terse: bool,
    exact: bool,
    /// Nothing is to be done: it asks for what is ignored, and nothing is.
    ignored: bool,
    budget: Duration,
    save: Option<PathBuf>,
    baseline: Option<PathBuf>,
    format: String,
    filters: Vec<String>,
}

/// Does what the arguments of this process say; see [`main`](crate::main).
#[must_use]
pub fn run(name: &str, definitions: &[Definition]) -> ExitCode {
    let words: Vec<String> = command_line().into_iter().skip(1).collect();
    let own = Own { name: name.to_owned().leak(), definitions: definitions.to_vec() };
    let is_worker = words == [WORKER];
    let is_help = words.iter().any(|word| ["--help", "-h"].contains(&&**word));
    let outcome = match (is_worker, is_help) {
        (true, _) => own.serve().map(|()| true),
        (_, true) => print(HELP).map(|()| true),
        _ => match options(&words) {
            Ok(options) if options.ignored => Ok(true),
            Ok(options) => {
                let groups = own.listed(&options.filters, options.exact);
                match (groups.is_empty(), options.filters.is_empty()) {
                    // Of several benches another one has it, to which cargo comes if this one does not fail.
                    (true, false) if !options.lists => {
                        let _ = writeln!(
                            io::stderr(),
                            "{name}: no function of that name: --list names them"
                        );
                        Ok(true)
                    }
                    _ => own.driven(&groups, &options),
                }
            }
            Err(what) => {
                let _ = writeln!(io::stderr(), "{name}: {what}\n\n{HELP}");
                return ExitCode::from(2);
            }
        },
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{name}: {error}");
            ExitCode::from(4)
        }
    }
}

fn options(words: &[String]) -> Result<Options, String> {
    let (budget, format) = (Duration::from_secs(2), "text".to_owned());
    let mut options = Options { budget, format, ..Options::default() };
    let (mut is_test, mut form) = (false, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, joined) = match word.split_once('=').filter(|_| word.starts_with("--")) {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), None),
        };
        let takes = ["--budget", "--save", "--baseline", "--format", "--test-threads", "--color"];
        let value = match joined {
            Some(value) => value,
            None if takes.contains(&option) => {
                words.next().ok_or(format!("{option} needs a value"))?
            }
            None => "",
        };
        match option {
            _ if joined.is_some() && !takes.contains(&option) => {
                return Err(format!("no option {word:?}"));
            }
            "--bench" => options.measures = true,
            "--test" => is_test = true,
            "--list" => options.lists = true,
            "--exact" => options.exact = true,
            "--budget" => {
                let budget = parse_duration(value);
                options.budget = budget.map_err(|why| format!("--budget: {why}"))?;
            }
            "--save" => options.save = Some(value.into()),
            "--baseline" => options.baseline = Some(value.into()),
            "--format" => form = Some(value),
            "--nocapture" | "--show-output" | "--quiet" | "-q" | "--test-threads" | "--color" => {}
            "--ignored" => options.ignored = true,
            word if word.starts_with('-') => return Err(format!("no option {word:?}")),
            filter => options.filters.push(filter.to_owned()),
        }
    }
    match form {
        Some("terse") if options.lists => options.terse = true,
        Some(form) if !["text", "markdown", "csv", "html", "json"].contains(&form) => {
            return Err(format!("no format {form:?}"));
        }
        Some(form) => form.clone_into(&mut options.format),
        None => {}
    }
    options.measures &= !is_test;
    Ok(options)
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

/// Whether a name ends as those of folders.
fn is_named_folder(place: &Path) -> bool {
    place.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// Refuses a place where no run can be saved, before anything is measured.
fn ensure_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // Opening a pipe is writing to it.
        Ok(there) if !there.is_file() && !there.is_dir() => Ok(()),
        Ok(_) => File::options().append(true).open(path).map(drop),
        // What it leads to is made when there is a run.
        Err(_) if path.is_symlink() => Ok(()),
        Err(_) => File::create_new(path).and_then(|_| fs::remove_file(path)),
    }
    .map_err(|error| unsaved(path, &error))
}

fn save(run: &Run, path: &Path) -> io::Result<()> {
    fs::write(path, run.to_json()?).map_err(|error| unsaved(path, &error))
}

fn unsaved(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot save {}: {error}", path.display()))
}

fn bad(what: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

/// The bench as a family.
struct Own {
    name: &'static str,
    definitions: Vec<Definition>,
}

impl Own {
    /// A file, or the file of this bench in a folder.
    fn file_in(&self, place: &Path) -> PathBuf {
        match place.is_dir() || is_named_folder(place) {
            true => place.join(format!("{}.json", self.name)),
            false => place.to_owned(),
        }
    }

    /// As [`ensure_writable`], and what another bench saved there, to which cargo gave the same arguments, is not
    /// replaced.
    fn ensure_savable(&self, path: &Path) -> io::Result<()> {
        let there = Run::read(path).ok();
        let own = there.as_ref().and_then(|run| run.cases.first()).map(|case| &*case.family);
        if let Some(other) = own.filter(|family| *family != self.name) {
            let why = format!(
                "it has a run of {other}: a folder (--save runs/) has a file for each bench"
            );
            return Err(unsaved(path, &io::Error::other(why)));
        }
        ensure_writable(path)
    }

    fn serve(&self) -> io::Result<()> {
        let _ = process::end_with_parent();
        serve(&[self], &mut io::stdin().lock(), &mut io::stdout().lock())
    }

    /// Whether all went well and nothing became slower.
    fn driven(&self, groups: &[Listed], options: &Options) -> io::Result<bool> {
        if options.lists {
            let end = if options.terse { ": benchmark" } else { "" };
            return print(&names(groups, end)).map(|()| true);
        }
        if !options.measures {
            return self.checked(groups);
        }
        let before = options.baseline.as_deref().map(|place| Run::read(&self.file_in(place)));
        let before = before.transpose().map_err(bad)?;
        if let Some(folder) = options.save.as_deref().filter(|place| is_named_folder(place)) {
            fs::create_dir_all(folder).map_err(|error| unsaved(folder, &error))?;
        }
        let path = options.save.as_deref().map(|place| self.file_in(place));
        let path = path.as_deref();
        path.map_or(Ok(()), |path| self.ensure_savable(path))?;
        let (run, end) = self.measured(groups, options)?;
        let saved = path.map_or(Ok(()), |path| save(&run, path));
        // What cannot be saved is shown at least.
        let shown = print(&shown(&run, &options.format)?);
        saved.and(shown).and(end)?;
        let failed =
            run.cases.iter().any(|case| case.measured.failures.iter().any(Option::is_some));
        let Some(before) = before else { return Ok(!failed) };
        let diff = diff(&before, &run);
        if ["text", "markdown"].contains(&options.format.as_str()) {
            print(&diff.text())?;
        } else {
            io::stderr().write_all(diff.text().as_bytes())?;
        }
        Ok(!failed && !diff.is_worse() && !diff.is_vain())
    }

    fn listed(&self, filters: &[String], exact: bool) -> Vec<Listed> {
        let mut groups = Vec::new();
        for define in &self.definitions {
            define(&mut Bench { purpose: Purpose::List(&mut groups) });
        }
        for group in &mut groups {
            // With the inputs, as they are listed, or without.
            let titles = [title(&group.spec), group.spec.operation.clone()];
            group.first = group.functions.first().cloned().unwrap_or_default();
            group.functions.retain(|function| {
                let names = titles.each_ref().map(|title| format!("{title}/{function}"));
                let is_it = |name: &String, filter: &str| match exact {
                    true => name == filter,
                    false => name.contains(filter),
                };
                let has = |filter: &String| names.iter().any(|name| is_it(name, filter));
                filters.is_empty() || filters.iter().any(has)
            });
        }
        groups.retain(|group| !group.functions.is_empty());
        groups
    }

    /// Each function once, its answer against that of its group's first.
    fn checked(&self, groups: &[Listed]) -> io::Result<bool> {
        let mut all = true;
        for group in groups {
            let answer = |function: &str| {
                let mut found = None;
                let mut then = |mut opened: Opened<'_>| {
                    found = Some(opened.prepared.sample(1, &mut fathom_measure::meter::Untimed));
                };
                self.open(function, &group.spec, &mut then).map_err(bad).map(|()| found)
            };
            let expected = answer(&group.first)?;
            for function in &group.functions {
                let is_right = *function == group.first || answer(function)? == expected;
                all &= is_right;
                let word = if is_right { "ok" } else { "WRONG ANSWER" };
                print(&format!("{}/{function}: {word}\n", title(&group.spec)))?;
            }
        }
        Ok(all)
    }

    /// The run, and what kept a group of it from being measured.
    fn measured(&self, groups: &[Listed], options: &Options) -> io::Result<(Run, io::Result<()>)> {
        // What repeats it; cargo adds `--bench` itself.
        let mut command =
            ["cargo", "bench", "--bench", self.name, "--"].map(str::to_owned).to_vec();
        command.extend(command_line().into_iter().skip(1).filter(|word| word != "--bench"));
        let mut run = Run {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            command,
            started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            program: format!("fathom-bench {}", env!("CARGO_PKG_VERSION")),
            machine: serde_json::to_value(Machine::here())?,
            ..Run::default()
        };
        let mut end = Ok(());
        for group in groups {
            let _ = writeln!(io::stderr(), "{}: {}", self.name, title(&group.spec));
            match self.case(group, options) {
                Ok(case) => run.cases.push(case),
                Err(error) => {
                    run.notes.push(format!("not measured: {}: {error}", title(&group.spec)));
                    end = end.and(Err(error));
                }
            }
        }
        Ok((run, end))
    }

    fn case(&self, group: &Listed, options: &Options) -> io::Result<Case> {
        let program = std::env::current_exe()?;
        let launch = Launch { program, arguments: vec![WORKER.to_owned()], ..Launch::default() };
        let entrant = |function: &String| Entrant {
            id: function.clone(),
            contender: function.clone(),
            launch: launch.clone(),
            about: About::default(),
        };
        let budget_ns = u64::try_from(options.budget.as_nanos()).unwrap_or(u64::MAX);
        bench(Asked {
            family: self.name,
            workload: group.spec.clone(),
            reference: Some((group.first.clone(), launch.clone())),
            entrants: group.functions.iter().map(entrant).collect(),
            baseline: 0,
            share_file: false,
            prepare: None,
            events: Vec::new(),
            plan: Plan { budget_ns, ..Plan::default() },
            bounds: Bounds { cpu: affinity::own(), ..Bounds::default() },
            empty: Some(launch.clone()),
            simulate: false,
            stop: &STOP,
            progress: Box::new(|_, _| {}),
        })
        .map_err(bad)
    }
}

fn title(spec: &Spec) -> String {
    spec.to_string().trim().to_owned()
}

fn names(groups: &[Listed], end: &str) -> String {
    let of = |group: &Listed| {
        let line = |function| format!("{}/{function}{end}\n", title(&group.spec));
        group.functions.iter().map(line).collect::<String>()
    };
    groups.iter().map(of).collect()
}

fn shown(run: &Run, format: &str) -> io::Result<String> {
    let look = Look::default();
    Ok(match format {
        "markdown" => markdown::run(run, &look),
        "csv" => csv::run(run),
        "html" => html::run(run, &look),
        "json" => run.to_json()?,
        _ => text::run(run, &look),
    })
}

impl AnyFamily for Own {
    fn name(&self) -> &'static str {
        self.name
    }

    fn cases(&self) -> Vec<Spec> {
        self.listed(&[], false).into_iter().map(|group| group.spec).collect()
    }

    fn completed(&self, spec: &Spec) -> Result<Spec, SpecError> {
        Ok(spec.clone())
    }

    fn open(
        &self,
        id: &str,
        spec: &Spec,
        then: &mut dyn FnMut(Opened<'_>),
    ) -> Result<(), OpenError> {
        let mut is_open = false;
        let mut first = |opened: Opened<'_>| {
            is_open = true;
            then(opened);
        };
        for define in &self.definitions {
            let then: Option<&mut dyn FnMut(Opened<'_>)> = Some(&mut first);
            define(&mut Bench { purpose: Purpose::Open { spec, function: id, then } });
        }
        if is_open { Ok(()) } else { Err(OpenError::Unknown(id.to_owned())) }
    }
}
