//! One case from start to end: seats and their check, twin and empty contender, rounds, verdicts,
//! what is left to ask. The measuring commands differ only in who they seat.
//!
//! Chooses nothing about method: that is [`Plan`]'s; shows nothing: that is the report's.

use std::io;
use std::sync::atomic::AtomicBool;

use fathom_machine::counter::{Event, Source, metric};

use crate::compare;
use crate::conductor::{self, Bounds, Conductor, Launch, Piece, Ready, Seat};
use crate::contender::Metric;
use crate::provision::{Prepare, Provision, share_file};
use crate::result::{About, Case, Counter, Row};
use crate::rounds::{Plan, Roles, measure};
use crate::sample::Failure;
use crate::simulated;
use crate::workload::Spec;

/// Somebody who takes part.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The id it is shown under.
    pub id: String,
    /// The id its worker knows it by.
    pub contender: String,
    /// How its worker is started.
    pub launch: Launch,
    /// What is known about it.
    pub about: About,
}

/// A case to be measured.
pub struct Bench<'a> {
    /// The family.
    pub family: &'a str,
    /// The workload, every parameter present.
    pub workload: Spec,
    /// The contender whose digest is the expected one, and how its worker is started; it need not
    /// be among the entrants. `None` takes the first entrant's.
    pub reference: Option<(String, Launch)>,
    /// Who takes part, in the order they are shown.
    pub entrants: Vec<Entrant>,
    /// Which entrant the others are compared with; the first one left if it fails.
    pub baseline: usize,
    /// Load the workload's file into shared memory.
    pub share_file: bool,
    /// Makes the prepared form of the workload; where the built-in workers read that, the file is
    /// not shared as well.
    pub prepare: Option<Prepare<'a>>,
    /// Event counters to read.
    pub events: Vec<String>,
    /// The method's settings.
    pub plan: Plan,
    /// What workers may do.
    pub bounds: Bounds,
    /// How the worker of the empty contender is started; `None` leaves the harness's own cost
    /// unmeasured.
    pub empty: Option<Launch>,
    /// Run each contender once more under a simulator that counts events.
    pub simulate: bool,
    /// Set when the user wants it to end.
    pub stop: &'a AtomicBool,
    /// Told after each round: done and planned.
    pub progress: Box<dyn FnMut(u32, u32) + 'a>,
}

/// A case that could not be measured at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// Nobody to measure.
    #[error("no contenders")]
    Nobody,
    /// Nothing can be checked without the reference.
    #[error("the reference {id}: {failure}")]
    Reference {
        /// Its id.
        id: String,
        /// What happened to it.
        failure: Failure,
    },
    /// The data could not be loaded.
    #[error("{path}: {error}")]
    Data {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

/// Measures a case.
///
/// # Errors
/// Only what leaves nothing to measure; the failure of a single contender is in its row.
pub fn bench(bench: Bench<'_>) -> Result<Case, BenchError> {
    let Bench { family, workload, entrants, plan, bounds, stop, mut progress, .. } = bench;
    let first = entrants.first().ok_or(BenchError::Nobody)?;
    let seat = |contender: &str, launch: &Launch| Seat {
        launch: launch.clone(),
        family: family.to_owned(),
        contender: Some(contender.to_owned()),
    };
    let reference = match &bench.reference {
        Some((id, launch)) => seat(id, launch),
        None => seat(&first.contender, &first.launch),
    };
    let is_prepared = bench.prepare.as_ref().is_some_and(Prepare::is_for_built_in);
    let file = match &workload.file {
        Some(path) if bench.share_file && !is_prepared => Some(
            share_file(path)
                .map_err(|error| BenchError::Data { path: path.display().to_string(), error })?,
        ),
        _ => None,
    };
    let (simulate, simulated_bounds) = (bench.simulate, bounds.clone());
    let seats: Vec<Seat> = entrants.iter().map(|e| seat(&e.contender, &e.launch)).collect();
    let piece = Piece {
        workload: workload.clone(),
        provision: Provision::new(file, bench.prepare),
        events: bench.events,
        bounds,
        stop,
        progress: &mut *progress,
    };
    let mut conductor = Conductor::new(seats.clone(), piece);
    let check = conductor.expect(&reference).map_err(|failure| {
        let id = reference.contender.clone().unwrap_or_default();
        BenchError::Reference { id, failure }
    })?;
    let mut failures = conductor.open();
    let mut notes = Vec::new();
    let mut baseline = bench.baseline.min(entrants.len() - 1);
    if let Some(failure) = &failures[baseline]
        && let Some(next) = failures.iter().position(Option::is_none)
    {
        let (lost, found) = (&entrants[baseline].id, &entrants[next].id);
        notes.push(format!("{found} is the baseline because {lost} {failure}"));
        baseline = next;
    }
    let leaves_the_thread = conductor.ready.iter().any(|ready| ready.leaves_the_thread);
    let mut roles = Roles {
        baseline,
        twin: None,
        twin_of: baseline,
        empty: None,
        wall_only: leaves_the_thread,
    };
    if failures[baseline].is_none() {
        roles.twin = Some(failures.len());
        failures.push(conductor.add(seats[baseline].clone()));
        if let Some(launch) = bench.empty {
            roles.empty = Some(failures.len());
            let family = family.to_owned();
            failures.push(conductor.add(Seat { launch, family, contender: None }));
        }
    }
    let measured = measure(&mut conductor, failures, roles, &plan);
    let judged = compare::judge(&measured, roles, &plan);
    let work = conductor.ready.get(baseline).map(|ready| ready.work).unwrap_or_default();
    let contenders = (0..measured.failures.len())
        .map(|number| {
            let metrics = conductor.metrics(number);
            let ready = conductor.ready[number].clone();
            let (id, about) = match entrants.get(number) {
                Some(entrant) => (entrant.id.clone(), entrant.about.clone()),
                None if Some(number) == roles.twin => ("(twin)".to_owned(), About::default()),
                None => ("(empty)".to_owned(), About::default()),
            };
            row(id, about, ready, metrics)
        })
        .collect();
    let mut case = Case {
        family: family.to_owned(),
        workload: Spec { shared: None, ..workload },
        work,
        check: Some(check),
        contenders,
        roles,
        plan,
        measured,
        judged,
        notes,
    };
    case.compact();
    if simulate {
        for (number, seat) in seats.iter().enumerate() {
            let provision = conductor.provision();
            simulated(&mut case, number, seat, provision, &simulated_bounds);
        }
    }
    derive(&mut case);
    Ok(case)
}

/// Runs a contender once under the simulator and adds its counts to its row, or the reason why there
/// are none.
fn simulated(
    case: &mut Case,
    number: usize,
    seat: &Seat,
    provision: &Provision<'_>,
    bounds: &Bounds,
) {
    let (Some(summary), None) = (case.judged.summaries[number], &case.measured.failures[number])
    else {
        return;
    };
    // The simulator is some fifty times slower; what is counted is exact for any number.
    const NATIVE_NS: f64 = 2e6;
    let iterations = (NATIVE_NS / summary.ns_median) as u64;
    let iterations = iterations.clamp(1, case.measured.iterations.max(1));
    let row = &mut case.contenders[number];
    match conductor::simulate(seat, &case.workload, provision, iterations, bounds) {
        Ok(found) => row.counters.extend(found.counts.into_iter().map(|count| Counter {
            event: count.event,
            per_iteration: count.count as f64 / iterations as f64,
            source: simulated::LABEL.to_owned(),
        })),
        Err(why) => row.counters_missing.push(why),
    }
}

/// Adds the metrics whose events were all counted.
fn derive(case: &mut Case) {
    for row in &mut case.contenders {
        let counters = &row.counters;
        let count = |name: &str| {
            counters.iter().find(|counter| counter.event == name).map(|c| c.per_iteration)
        };
        let metrics = metric::built_in().into_iter().flat_map(|group| group.metrics);
        let derived = metrics.filter_map(|metric| {
            let value = metric.value(&count)?;
            let name = [metric.name, metric.unit].join(" ").trim().to_owned();
            Some(Metric { name, value, less_is_better: None })
        });
        let derived: Vec<Metric> = derived.collect();
        row.metrics.extend(derived);
    }
}

fn row(id: String, about: About, ready: Ready, metrics: Vec<Metric>) -> Row {
    let counters = ready.events.into_iter().map(|event| {
        let source = Event::named(&event).map_or(Source::Hardware, Event::source);
        Counter { event, per_iteration: 0.0, source: source.name().to_owned() }
    });
    Row {
        id,
        about,
        worker: ready.program,
        data: ready.data,
        peak_bytes: 0,
        metrics,
        counters: counters.collect(),
        counters_missing: ready.missing,
    }
}
