//! `fathom own PROGRAM…`: functions of your own in any language, compared by group.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::ensure;
use fathom_measure::bench::{Bench, Entrant};
use fathom_measure::protocol::Offered;
use fathom_measure::workload::Spec;

use crate::exit::Exit;
use crate::interrupt;
use crate::measuring::{self, Method, Show, Ticker, is_complete, new_run, patience, show};

/// Measure functions of your own: programs in any language that speak the worker protocol
///
/// `runners/` has one header for C and C++ and examples for Go, Java, JavaScript and Python;
/// docs/protocol.md describes what they say. Functions of one group are compared, in whichever
/// program they are: the first is the baseline, and its answer is the right one, even where
/// --only leaves it out.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The programs, each with its arguments as one word
    #[arg(required = true, value_name = "PROGRAM")]
    programs: Vec<String>,

    /// Only functions whose `group/name` contains one of these
    #[arg(long, value_name = "PART,…", value_delimiter = ',')]
    only: Vec<String>,

    /// How long a program may take to say what it has, or a function for one sample, before it counts as hung
    #[arg(long, value_parser = measuring::duration, value_name = "TIME", default_value = "2m")]
    hang: Duration,

    #[command(flatten)]
    method: Method,

    #[command(flatten)]
    show: Show,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    let words =
        options.programs.iter().filter_map(|program| shlex::split(program)?.into_iter().next());
    let files: Vec<PathBuf> = words.map(PathBuf::from).collect();
    let files: Vec<&Path> =
        files.iter().map(PathBuf::as_path).filter(|file| file.exists()).collect();
    options.show.ensure_possible(&files)?;
    // Functions have no parameters.
    options.show.ensure_drawable(&[])?;
    let stop = interrupt::measuring();
    let mut groups: Vec<(String, Vec<Entrant>)> = Vec::new();
    for program in &options.programs {
        for (group, entrant) in offered(options, program)? {
            match groups.iter_mut().find(|known| known.0 == group) {
                Some((_, entrants)) => entrants.push(entrant),
                None => groups.push((group, vec![entrant])),
            }
        }
    }
    let all = groups.iter().flat_map(|(group, all)| all.iter().map(move |e| (group, &e.id)));
    let all: Vec<String> = all.map(|(group, id)| format!("{group}/{id}")).collect();
    for part in &options.only {
        let is_there = all.iter().any(|name| name.contains(part.as_str()));
        ensure!(is_there, "no function has {part:?}: --only is a part of group/name");
    }
    let is_wanted = |name: String| {
        options.only.is_empty() || options.only.iter().any(|part| name.contains(part.as_str()))
    };
    groups.retain(|(group, all)| all.iter().any(|e| is_wanted(format!("{group}/{}", e.id))));
    let (mut run, mut end) = (new_run()?, Ok(()));
    for (group, mut entrants) in groups {
        if stop.load(Ordering::Relaxed) {
            run.notes.push("interrupted: the rest was not measured".to_owned());
            break;
        }
        let ticker = Ticker::new(&group);
        let first = entrants.first().cloned();
        let reference = first.map(|first| (first.contender, first.launch));
        entrants.retain(|entrant| is_wanted(format!("{group}/{}", entrant.id)));
        let empty = entrants.first().map(|entrant| entrant.launch.clone());
        let measured = measuring::measured(Bench {
            family: &group,
            workload: Spec::default(),
            reference,
            entrants,
            baseline: 0,
            share_file: false,
            prepare: None,
            events: options.method.events(),
            plan: options.method.plan(Duration::from_secs(2)),
            bounds: patience(options.hang),
            empty,
            simulate: options.method.simulates(),
            stop,
            progress: Box::new(move |done, planned| ticker.tick(done, planned)),
        });
        match measured {
            Ok(case) => run.cases.push(case),
            Err(error) => {
                run.notes.push(format!("not measured: {error:#}"));
                end = end.and(Err(error));
            }
        }
    }
    if end.is_ok() || !run.cases.is_empty() {
        show(&run, &options.show)?;
    }
    end?;
    Ok(if is_complete(&run.cases) { Exit::Done } else { Exit::Incomplete })
}

/// What a program has, by group.
fn offered(options: &Options, program: &str) -> anyhow::Result<Vec<(String, Entrant)>> {
    let (launch, worker) = measuring::outside(program, "", options.hang)?;
    ensure!(!worker.offered.is_empty(), "{program:?} has no function");
    let entrant =
        |offered: &Offered| (offered.family.clone(), measuring::entrant_outside(offered, &launch));
    let is_name = |group: &str| {
        group.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && !group.is_empty()
    };
    let bad = worker.offered.iter().find(|offered| !is_name(&offered.family));
    if let Some(bad) = bad {
        anyhow::bail!("{program:?}: the group {:?} is no name of letters, digits, -_.", bad.family);
    }
    Ok(worker.offered.iter().map(entrant).collect())
}
