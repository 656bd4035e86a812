//! One case from start to end: seats and their check, twin and empty contender, rounds, verdicts,
//! what is left to ask. The measuring commands differ only in who they seat.
//!
//! Chooses nothing about method: that is [`Plan`]'s; shows nothing: that is the report's.

use std::cell::Cell;
use std::io;
use std::sync::atomic::AtomicBool;

use fathom_machine::counter::{Event, Source, metric};

use crate::compare;
use crate::conductor::{self, Bounds, Conductor, Launch, Piece, Ready, Seat};
use crate::contender::Metric;
use crate::digest::Digest;
use crate::plan::{Plan, Roles};
use crate::provision::{Prepare, Provision, share_file};
use crate::result::{About, Case, Counter, Row};
use crate::rounds::{Course, Executor};
use crate::sample::Failure;
use crate::simulated;
use crate::workload::{Spec, Work};

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
        #[source]
        error: io::Error,
    },
}

/// Measures a case.
///
/// # Errors
/// Only what leaves nothing to measure; the failure of a single contender is in its row.
pub fn bench(bench: Bench<'_>) -> Result<Case, BenchError> {
    let mut session = Session::open(bench)?;
    while session.set() {}
    Ok(session.finish())
}

/// A case that is measured set by set: between two of them other cases can have the machine, so that
/// each sees it in several of its states.
pub struct Session<'a> {
    conductor: Conductor<'a>,
    course: Course,
    family: String,
    workload: Spec,
    entrants: Vec<Entrant>,
    seats: Vec<Seat>,
    check: Digest,
    roles: Roles,
    plan: Plan,
    /// With whoever was there at the end of the last set.
    metrics: Vec<Result<Vec<Metric>, Failure>>,
    simulate: Option<Bounds>,
    notes: Vec<String>,
}

impl<'a> Session<'a> {
    /// Seats everybody, checks first answers and calibrates.
    ///
    /// # Errors
    /// What leaves nothing to measure.
    pub fn open(bench: Bench<'a>) -> Result<Session<'a>, BenchError> {
        let Bench { family, workload, entrants, mut plan, bounds, stop, progress, .. } = bench;
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
        let is_prepared = bench.prepare.as_ref().is_some_and(|prepare| prepare.for_built_in);
        let file = match &workload.file {
            Some(path) if bench.share_file && !is_prepared => {
                Some(share_file(path).map_err(|error| BenchError::Data {
                    path: path.display().to_string(),
                    error,
                })?)
            }
            _ => None,
        };
        let simulate = bench.simulate.then(|| bounds.clone());
        let seats: Vec<Seat> = entrants.iter().map(|e| seat(&e.contender, &e.launch)).collect();
        let piece = Piece {
            workload: workload.clone(),
            provision: Provision::new(file, bench.prepare),
            events: bench.events,
            bounds,
            stop,
            progress,
        };
        let mut conductor = Conductor::new(seats.clone(), piece);
        let check = conductor.expect(&reference).map_err(|failure| {
            let id = reference.contender.clone().unwrap_or_default();
            BenchError::Reference { id, failure }
        })?;
        let begun_ns = conductor.now_ns();
        let mut failures = conductor.open();
        let opening_ns = conductor.now_ns().saturating_sub(begun_ns);
        refuse_other_work(&conductor.ready, &mut failures);
        let (baseline, notes) = baseline(&entrants, &failures, bench.baseline);
        let leaves_the_thread = conductor.ready.iter().any(|ready| ready.leaves_the_thread);
        let mut roles =
            Roles { baseline, twin_of: baseline, wall_only: leaves_the_thread, ..Roles::default() };
        if failures[baseline].is_none() {
            roles.twin = Some(failures.len());
            failures.push(conductor.add(seats[baseline].clone()));
            if let Some(launch) = bench.empty {
                roles.empty = Some(failures.len());
                let family = family.to_owned();
                failures.push(conductor.add(Seat { launch, family, contender: None }));
            }
        }
        if plan.processes == 0 {
            plan.processes = affordable(&plan, failures.len() as u64, opening_ns);
        }
        // Each set has a round at least, and who asks for three rounds gets three.
        plan.processes = plan.processes.min(plan.rounds.unwrap_or(u32::MAX));
        let course = Course::begin(&mut conductor, failures, roles, &plan);
        let family = family.to_owned();
        let metrics = vec![Ok(Vec::new()); seats.len() + 2];
        Ok(Session {
            conductor,
            course,
            family,
            workload,
            entrants,
            seats,
            check,
            roles,
            plan,
            metrics,
            simulate,
            notes,
        })
    }

    /// Measures the next set of rounds; whether more are left.
    pub fn set(&mut self) -> bool {
        let more = self.course.set(&mut self.conductor);
        if !more {
            self.ask();
        }
        more
    }

    fn ask(&mut self) {
        let seats = self.conductor.ready.len();
        for (number, metrics) in self.metrics.iter_mut().enumerate().take(seats) {
            *metrics = self.conductor.metrics(number);
        }
    }

    /// Ends the measurement before its next set, for want of time.
    pub fn end(&mut self) {
        self.course.end();
    }

    /// Ends the workers until the next set, which need not come.
    pub fn rest(&mut self) {
        if !self.course.has_ended() {
            self.ask();
        }
        self.conductor.rest();
    }

    /// The case, judged.
    #[must_use]
    pub fn finish(self) -> Case {
        let (roles, plan) = (self.roles, self.plan);
        let mut measured = self.course.finish();
        // Who is silent in the end has no row, whatever it said before.
        let mut metrics = Vec::new();
        for (asked, failure) in self.metrics.into_iter().zip(&mut measured.failures) {
            metrics.push(match asked {
                Err(silent) if silent != Failure::Interrupted => {
                    failure.get_or_insert(silent);
                    Vec::new()
                }
                asked => asked.unwrap_or_default(),
            });
        }
        let judged = compare::judge(&measured, roles, &plan);
        let ready = &self.conductor.ready;
        let work = ready.get(roles.baseline).map(|ready| ready.work).unwrap_or_default();
        let contenders = (0..measured.failures.len())
            .map(|number| {
                let metrics = std::mem::take(&mut metrics[number]);
                let (id, about) = match self.entrants.get(number) {
                    Some(entrant) => (entrant.id.clone(), entrant.about.clone()),
                    None if Some(number) == roles.twin => ("(twin)".to_owned(), About::default()),
                    None => ("(empty)".to_owned(), About::default()),
                };
                row(id, about, ready[number].clone(), metrics)
            })
            .collect();
        let mut case = Case {
            family: self.family,
            workload: Spec { shared: None, ..self.workload },
            work,
            check: Some(self.check),
            contenders,
            roles,
            plan,
            measured,
            judged,
            source: String::new(),
            notes: self.notes,
        };
        case.compact();
        if let Some(bounds) = &self.simulate {
            for (number, seat) in self.seats.iter().enumerate() {
                simulated(&mut case, number, seat, &self.conductor.piece.provision, bounds);
            }
        }
        case.contenders.iter_mut().for_each(derive);
        case
    }
}

/// The throughput of a case is that of one amount of work: who says another than the first who says any is not
/// comparable.
fn refuse_other_work(ready: &[Ready], failures: &mut [Option<Failure>]) {
    let mut said = Work::default();
    for (Ready { work, .. }, failure) in ready.iter().zip(failures) {
        if failure.is_some() {
            continue;
        }
        for (name, said, own) in
            [("bytes", &mut said.bytes, work.bytes), ("items", &mut said.items, work.items)]
        {
            if *said == 0 {
                *said = own;
            } else if own != 0 && own != *said {
                let what = format!("works through {own} {name}, where others do through {said}");
                *failure = Some(Failure::Broken { what });
            }
        }
    }
}

/// The baseline asked for, or the first one left if it failed, with a note that says so.
fn baseline(
    entrants: &[Entrant],
    failures: &[Option<Failure>],
    asked: usize,
) -> (usize, Vec<String>) {
    let asked = asked.min(entrants.len() - 1);
    match (&failures[asked], failures.iter().position(Option::is_none)) {
        (Some(failure), Some(next)) => {
            let (lost, found) = (&entrants[asked].id, &entrants[next].id);
            (next, vec![format!("{found} is the baseline because {lost} {failure}")])
        }
        _ => (asked, Vec::new()),
    }
}

/// Sets of processes that the budget affords: up to sixteen while opening them takes no more than a quarter of
/// the time, four while it takes no more than all of it again, and never fewer than two, without
/// which nothing is known about processes.
fn affordable(plan: &Plan, seats: u64, opening_ns: u64) -> u32 {
    // However short the rounds are to be, a second is there for processes.
    let time_ns = plan.budget_ns.saturating_mul(seats).min(plan.limit_ns).max(1_000_000_000);
    let sets = |times: u64| time_ns.saturating_mul(times) / 4 / opening_ns.max(1);
    match (sets(1), sets(4)) {
        (many @ 4.., _) => many.min(16) as u32,
        (_, few) => few.clamp(2, 4) as u32,
    }
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
fn derive(row: &mut Row) {
    let counters = &row.counters;
    let metrics = metric::built_in().into_iter().flat_map(|group| group.metrics);
    let derived = metrics.filter_map(|metric| {
        let is_simulated = Cell::new(false);
        let count = |name: &str| {
            let counter = counters.iter().find(|counter| counter.event == name)?;
            is_simulated.set(is_simulated.get() || counter.source == simulated::LABEL);
            Some(counter.per_iteration)
        };
        let value = metric.value(&count)?;
        let mut name = [metric.name, metric.unit].join(" ").trim().to_owned();
        if is_simulated.get() {
            name += &format!(" ({})", simulated::LABEL);
        }
        Some(Metric { name, value, less_is_better: None })
    });
    row.metrics.extend(derived);
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
        metrics,
        counters: counters.collect(),
        counters_missing: ready.missing,
        ..Row::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_of_centuries_affords_as_many_sets_as_any() {
        let plan = Plan { budget_ns: u64::MAX, limit_ns: u64::MAX, ..Plan::default() };
        assert_eq!(affordable(&plan, 4, 1000), 16);
    }

    #[test]
    fn what_is_derived_from_simulated_counts_says_so() {
        for (source, behind) in [("hardware", ""), (simulated::LABEL, " (simulated)")] {
            let counter = |(event, per_iteration): (&str, f64)| Counter {
                event: event.to_owned(),
                per_iteration,
                source: source.to_owned(),
            };
            let counters = [("instructions", 6.0), ("cycles", 3.0)].map(counter).to_vec();
            let mut row = Row { counters, ..Row::default() };
            derive(&mut row);
            assert!(row.metrics.iter().any(|metric| metric.value == 2.0), "{:?}", row.metrics);
            let named = row.metrics.iter().all(|metric| metric.name.ends_with(behind));
            assert!(named, "{:?}", row.metrics);
        }
    }
}
