//! From the tables of all threads to one list of groups, sorted by the bytes of their keys.
//!
//! ```text
//!   thread 1: table ─▶ references, sorted ─┐ cut at the ┌─▶ keys up to "m…" ─┐
//!   thread 2: table ─▶ references, sorted ─┤ same keys  ├─▶ keys from "m…" on ─┴▶ one list, in place
//!   …                                      ┘            └─▶ …
//! ```
//!
//! Every thread sorts its own [references](crate::reference); then every thread merges one range of keys, and reads statistics where
//! they lie in the tables, which may take many gigabytes: they are copied once, into the result, and what
//! they keep of values is handed over. Numbers that still wait for those of their key go to it here, those of
//! all threads at once.
//!
//! Nothing is hashed here.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard};

use fathom_machine::os::collect::collect;
use fathom_machine::os::memory::List;
use fathom_machine::prefetch;

use crate::merge::{Partial, Stats};
use crate::reference::{Held, Reference, Table, compare};
use crate::shard::Shard;
use crate::threads::on_threads;
use crate::waiting::{Few, Grouped};
use crate::wide::Own;

/// Groups below which one thread is faster than several.
const WORTH_A_THREAD: usize = 4096;

/// References of a piece, about: its groups stay in a second-level cache.
const PIECE: usize = 1 << 13;

/// References ahead of the one in hand whose statistics are fetched.
const AHEAD: usize = 12;

/// The tables of one thread and references to all their keys, sorted.
#[derive(Debug)]
pub(crate) struct Run {
    shard: Shard,
    wide: Wides,
    /// Numbers that these have not taken in.
    waiting: Grouped,
    references: Vec<Reference>,
    /// The most digits any of its numbers has after its decimal point.
    scale: u16,
}

/// The statistics of the table of any values; nothing is known of groups behind their end.
#[derive(Debug)]
enum Wides {
    /// Which are copied as cheaply as moved.
    Copied(List<Own>),
    /// Until they are taken; each is once.
    Taken(Vec<Mutex<Option<Stats>>>),
}

impl Wides {
    fn new(mut stats: List<Own>) -> Wides {
        if stats.iter().all(|Own(stats)| stats.is_flat()) {
            return Wides::Copied(stats);
        }
        let taken = |Own(stats): &mut Own| std::mem::replace(stats, Stats::without_room());
        Wides::Taken(stats.iter_mut().map(|own| Mutex::new(Some(taken(own)))).collect())
    }

    fn take(&self, place: usize) -> Stats {
        let known = match self {
            Wides::Copied(stats) => stats.get(place).map(|Own(stats)| stats.clone()),
            Wides::Taken(stats) => stats.get(place).map(|stats| {
                held(stats).take().expect("the statistics of a reference are taken once")
            }),
        };
        known.unwrap_or_else(Stats::without_room)
    }

    fn prefetch(&self, place: usize) {
        match self {
            Wides::Copied(stats) => stats.get(place).into_iter().for_each(|stats| prefetch(stats)),
            Wides::Taken(stats) => stats.get(place).into_iter().for_each(|stats| prefetch(stats)),
        }
    }
}

fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("nobody panics while holding it")
}

impl Shard {
    /// The shard with its keys in order.
    pub(crate) fn into_run(mut self) -> Run {
        let wide = self.wide.len();
        if wide < WORTH_A_THREAD {
            // They may have many values each, and one thread gathers them.
            self.settle_waiting();
        }
        let (waiting, mut stats) = (self.end_waiting(), self.wide.take_stats());
        if wide < WORTH_A_THREAD {
            stats.iter_mut().for_each(|Own(stats)| stats.settle());
        }
        let references = self.held().sorted();
        let tenths = references.iter().any(|reference| reference.table != Table::Wide);
        let wides = stats.iter().map(|Own(stats)| stats.scale());
        let scale = wides.chain([u16::from(tenths), waiting.scale()]).max().unwrap_or(0);
        Run { shard: self, wide: Wides::new(stats), waiting, references, scale }
    }
}

impl Run {
    /// Takes the statistics of a reference, once.
    fn stats(&self, reference: &Reference) -> Stats {
        let place = reference.place as usize;
        match reference.table {
            Table::Short => self.shard.tables.short.stats(place),
            Table::Long => self.shard.tables.long.stats(place),
            Table::Wide => {
                let mut stats = self.wide.take(place);
                stats.settle();
                stats
            }
        }
    }

    /// Numbers that its statistics have not taken in.
    fn waiting(&self, reference: &Reference) -> &[Few] {
        match reference.table {
            Table::Short | Table::Long => &[],
            Table::Wide => self.waiting.of(reference.place as usize),
        }
    }

    /// Its key with its statistics, but for what waits.
    fn partial(&self, reference: &Reference) -> Partial {
        let stats = self.stats(reference);
        Partial { key: self.held().key(reference, &mut [0; 16]).into(), stats }
    }

    fn held(&self) -> Held<'_> {
        self.shard.held()
    }

    /// All states in the order of their keys, a key at most once per table.
    pub(crate) fn partials(self) -> Vec<Partial> {
        let (keep, mut units) = (self.shard.keep(), Vec::new());
        let whole = |reference| {
            let mut partial = self.partial(reference);
            partial.stats.make_room(keep);
            partial.stats.take_all(self.waiting(reference), &mut units);
            partial
        };
        self.references.iter().map(whole).collect()
    }

    #[inline]
    fn prefetch(&self, reference: &Reference) {
        if reference.table == Table::Wide {
            self.wide.prefetch(reference.place as usize);
            self.waiting.prefetch_place(reference.place as usize);
        }
        self.held().prefetch(reference);
    }

    /// What statistics point to; they should have come.
    fn prefetch_kept(&self, reference: &Reference, fetch: impl Fn(&Stats)) {
        if reference.table != Table::Wide {
            return;
        }
        self.waiting.prefetch_numbers(reference.place as usize);
        if let Wides::Taken(all) = &self.wide
            && let Some(stats) = all.get(reference.place as usize)
            && let Some(stats) = &*held(stats)
        {
            fetch(stats);
        }
    }
}

/// The order of two keys of two runs.
#[inline(always)]
fn order((a_run, a): (&Run, &Reference), (b_run, b): (&Run, &Reference)) -> Ordering {
    compare((a_run.held(), a), (b_run.held(), b))
}

/// What the threads know, of each column, which is not one list yet.
#[derive(Debug)]
pub struct Gathering {
    columns: Vec<Vec<Run>>,
    threads: usize,
}

impl Gathering {
    /// Of each column the runs of all threads and of their pool, which so many threads gather.
    pub(crate) fn new(columns: Vec<Vec<Run>>, threads: usize) -> Gathering {
        Gathering { columns, threads }
    }

    /// Of each column the most digits any number has after its decimal point.
    pub(crate) fn scales(&self) -> impl Iterator<Item = u16> {
        self.columns.iter().map(|runs| runs.iter().map(|run| run.scale).max().unwrap_or(0))
    }

    /// Whether nothing that a thread knows of a group lies elsewhere: what others give back of that one by one takes longer
    /// than a list of all.
    pub(crate) fn is_flat(&self) -> bool {
        let mut runs = self.columns.iter().flatten();
        runs.all(|run| matches!(run.wide, Wides::Copied(_)))
    }

    /// Of each column one list.
    pub(crate) fn whole(self) -> impl Iterator<Item = Vec<Partial>> {
        self.columns.into_iter().map(move |runs| gather(runs, self.threads))
    }

    /// Hands out all groups in the order of their keys, [some](PIECE) at a time: several threads `make` something of each piece,
    /// which gets a list of each column and whether it is the first, and `take` gets what they made in its order.
    ///
    /// # Errors
    /// The first that `take` says.
    pub(crate) fn in_pieces<T: Send, E: Send>(
        self,
        make: impl Fn(&mut [Vec<Partial>], bool) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let Some(first) = self.columns.first() else { return Ok(()) };
        let bounds = bounds(first, references(first) / PIECE);
        let cuts: Vec<_> = self.columns.iter().map(|runs| cut(runs, &bounds)).collect();
        let has_keys = |&part: &usize| cuts[0][part].iter().any(|keys| !keys.is_empty());
        let parts: Vec<usize> = (0..=bounds.len()).filter(has_keys).collect();
        let (next, in_order) = (AtomicUsize::new(0), Mutex::new(InOrder::new(take)));
        let work = || {
            let mut groups: Vec<Vec<Partial>> = self.columns.iter().map(|_| Vec::new()).collect();
            loop {
                let at = next.fetch_add(1, Relaxed);
                let Some(&part) = parts.get(at) else { return };
                for ((runs, cut), groups) in self.columns.iter().zip(&cuts).zip(&mut groups) {
                    groups.clear();
                    groups.reserve(cut[part].iter().map(|keys| keys.len()).sum());
                    merge(runs, &cut[part], |group| groups.push(group));
                }
                let made = make(&mut groups, at == 0);
                if !held(&in_order).put(at, made) {
                    return;
                }
            }
        };
        on_threads(self.threads.min(parts.len()).max(1), work);
        let in_order = in_order.into_inner().expect("nobody panicked while holding it");
        in_order.outcome
    }
}

/// What several threads make, for one that takes it in its order.
struct InOrder<T, E, F> {
    /// How many were taken.
    taken: usize,
    /// What comes after one that has not been made.
    waiting: BTreeMap<usize, T>,
    take: F,
    outcome: Result<(), E>,
}

impl<T, E, F: FnMut(T) -> Result<(), E>> InOrder<T, E, F> {
    fn new(take: F) -> Self {
        InOrder { taken: 0, waiting: BTreeMap::new(), take, outcome: Ok(()) }
    }

    /// Puts what comes at a place; false if no more is wanted.
    fn put(&mut self, at: usize, made: T) -> bool {
        self.waiting.insert(at, made);
        while self.outcome.is_ok()
            && let Some(next) = self.waiting.remove(&self.taken)
        {
            self.taken += 1;
            self.outcome = (self.take)(next);
        }
        self.outcome.is_ok()
    }
}

fn references(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.references.len()).sum()
}

/// Merges runs into one list, each key once, with so many threads.
pub(crate) fn gather(runs: Vec<Run>, threads: usize) -> Vec<Partial> {
    let runs = &runs[..];
    let parts = if references(runs) < WORTH_A_THREAD { 1 } else { threads };
    let parts = cut(runs, &bounds(runs, parts));
    let lens = collect(&vec![1; parts.len()], |part, place| {
        let mut groups = 0;
        merged(runs, &parts[part], |same| {
            groups += usize::from(!same);
        });
        place.push(groups);
    });
    collect(&lens, |part, place| merge(runs, &parts[part], |group| place.push(group)))
}

/// Merges a part of each run, and hands out its groups.
fn merge(runs: &[Run], part: &[&[Reference]], mut put: impl FnMut(Partial)) {
    let mut merging = Merging { fetches: true, ..Merging::new(runs, part) };
    let Some((run, reference)) = merging.next() else { return };
    let (keep, mut units) = (run.shard.keep(), Vec::new());
    let mut last = (run, reference);
    let mut group = run.partial(reference);
    let mut waiting = run.waiting(reference).to_vec();
    let mut done = |mut group: Partial, waiting: &mut Vec<Few>| {
        group.stats.make_room(keep);
        group.stats.take_all(waiting, &mut units);
        group.stats.settle();
        waiting.clear();
        put(group);
    };
    while let Some((run, reference)) = merging.next() {
        if order(last, (run, reference)) == Ordering::Equal {
            group.stats.merge(&run.stats(reference));
        } else {
            done(std::mem::replace(&mut group, run.partial(reference)), &mut waiting);
            last = (run, reference);
        }
        waiting.extend_from_slice(run.waiting(reference));
    }
    done(group, &mut waiting);
}

/// Calls back for every reference, in order, with whether its key is that of the one before.
fn merged(runs: &[Run], part: &[&[Reference]], mut each: impl FnMut(bool)) {
    let mut merging = Merging::new(runs, part);
    let mut last = None;
    while let Some(next) = merging.next() {
        each(last.is_some_and(|last| order(last, next) == Ordering::Equal));
        last = Some(next);
    }
}

/// References of some runs in the order of their keys.
struct Merging<'a> {
    /// What is left of each run, with its number, as a heap: that at a place does not come before that at half of it,
    /// `(place - 1) / 2`. Runs with nothing left are taken out.
    rest: Vec<(usize, &'a Run, &'a [Reference])>,
    /// Whether what the references lead to will be asked for.
    fetches: bool,
}

impl<'a> Merging<'a> {
    fn new(runs: &'a [Run], part: &[&'a [Reference]]) -> Merging<'a> {
        let rest = runs.iter().zip(part).enumerate();
        let rest = rest.filter(|(_, (_, references))| !references.is_empty());
        let rest = rest.map(|(number, (run, &references))| (number, run, references)).collect();
        let mut merging = Merging { rest, fetches: false };
        (0..merging.rest.len() / 2).rev().for_each(|at| merging.sink(at));
        merging
    }

    /// Whether what is at one place comes before what is at another.
    #[inline(always)]
    fn is_before(&self, one: usize, other: usize) -> bool {
        let (one, one_run, references) = self.rest[one];
        let (other, other_run, others) = self.rest[other];
        order((one_run, &references[0]), (other_run, &others[0])).then(one.cmp(&other)).is_lt()
    }

    /// Moves what is at a place behind all that comes before it.
    #[inline(always)]
    fn sink(&mut self, mut at: usize) {
        loop {
            let mut first = 2 * at + 1;
            if first + 1 < self.rest.len() && self.is_before(first + 1, first) {
                first += 1;
            }
            if first >= self.rest.len() || self.is_before(at, first) {
                return;
            }
            self.rest.swap(at, first);
            at = first;
        }
    }

    /// The smallest key's reference; of equal keys that of the first run.
    #[inline(always)]
    fn next(&mut self) -> Option<(&'a Run, &'a Reference)> {
        let (_, run, references) = self.rest.first_mut()?;
        let (run, first) = (*run, &references[0]);
        if self.fetches
            && let Some(ahead) = references.get(AHEAD)
        {
            run.prefetch(ahead);
            run.prefetch_kept(&references[2 * AHEAD / 3], Stats::prefetch_kept);
            run.prefetch_kept(&references[AHEAD / 3], Stats::prefetch_values);
        }
        *references = &references[1..];
        if references.is_empty() {
            self.rest.swap_remove(0);
        }
        self.sink(0);
        Some((run, first))
    }
}

/// Keys that cut runs into `parts` of about the same size, if there are that many.
fn bounds(runs: &[Run], parts: usize) -> Vec<(&Run, &Reference)> {
    const SAMPLES_PER_PART: usize = 32;
    let every = (references(runs) / (parts.max(1) * SAMPLES_PER_PART)).max(1);
    let mut samples: Vec<(&Run, &Reference)> = runs
        .iter()
        .flat_map(|run| run.references.iter().step_by(every).map(move |sample| (run, sample)))
        .collect();
    samples.sort_by(|&a, &b| order(a, b));
    (1..parts).map(|part| samples[samples.len() * part / parts]).collect()
}

/// Cuts runs at these keys: for each part, the piece of every run.
fn cut<'a>(runs: &'a [Run], bounds: &[(&Run, &Reference)]) -> Vec<Vec<&'a [Reference]>> {
    let mut rest: Vec<&[Reference]> = runs.iter().map(|run| &*run.references).collect();
    let mut pieces = Vec::with_capacity(bounds.len() + 1);
    for &bound in bounds {
        let part = runs.iter().zip(&mut rest).map(|(run, rest)| {
            let end = rest.partition_point(|reference| order((run, reference), bound).is_lt());
            let (before, after) = rest.split_at(end);
            *rest = after;
            before
        });
        pieces.push(part.collect());
    }
    pieces.push(rest);
    pieces
}
