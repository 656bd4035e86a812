//! The process-wide session: sites, each thread's table, and the calibration of the instrument.
//!
//! A session is a number, the epoch; 0 means none. Zones compare one word to know whether to
//! record, and a thread's table notices a new epoch by itself, so starting a session stops nobody.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use fathom_machine::clock::{self, ticks};
use fathom_machine::os::usage;

use super::Options;
use super::correct::RecordedThread;
use super::recorder::{Entry, Table};
use super::report::{Cost, Report, TraceEvent};

/// A place in the source where a zone is entered; made by [`zone!`](super::zone) only.
#[derive(Debug)]
pub struct Site {
    name: &'static str,
    /// Timed once in this many entries.
    every: u32,
    faults: bool,
    /// Position in the list of sites; 0 until the first entry.
    number: AtomicU32,
}

/// An entered zone; leaving happens when it is dropped, on the thread that entered it.
#[derive(Debug)]
#[must_use = "a zone lasts as long as the value: bind it to a name"]
pub struct Zone {
    entered: Option<Entered>,
    bytes: u64,
    stays_on_its_thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Entered {
    table: &'static Table,
    site: &'static Site,
    entry: Entry,
    /// For how many entries its page faults stand, and the thread's before it.
    fault_weight: u64,
    faults: u64,
    start: u64,
}

static EPOCH: AtomicU32 = AtomicU32::new(0);
static TRACE_LIMIT: AtomicU64 = AtomicU64::new(0);

/// What only starting, stopping and first entries touch.
struct Shared {
    last_epoch: u32,
    /// Position 0 is the thread itself, in no zone.
    sites: Vec<&'static Site>,
    /// One table per thread alive at the same time; never freed, used again by later threads.
    tables: Vec<&'static Table>,
    idle: Vec<&'static Table>,
    start: Option<Start>,
}

#[derive(Clone, Copy)]
struct Start {
    ticks: u64,
    faults: u64,
    table: &'static Table,
}

static THREAD: Site = Site::new("", 1, false);
static SHARED: Mutex<Shared> = Mutex::new(Shared {
    last_epoch: 0,
    sites: Vec::new(),
    tables: Vec::new(),
    idle: Vec::new(),
    start: None,
});
/// One session starts or stops at a time, calibration included.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

thread_local! {
    /// No destructor and a constant start: reading it is one load.
    static TABLE: Cell<Option<&'static Table>> = const { Cell::new(None) };
    /// Gives the table back when the thread ends.
    static LEASE: Lease = const { Lease };
}

struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(table) = TABLE.take() {
            shared().idle.push(table);
        }
    }
}

impl Site {
    /// A site; see [`zone!`](super::zone).
    #[doc(hidden)]
    pub const fn new(name: &'static str, every: u32, faults: bool) -> Site {
        assert!(every > 0, "a zone timed once in 0 entries is never timed");
        Site { name, every, faults, number: AtomicU32::new(0) }
    }

    #[cold]
    #[inline(never)]
    fn register(&'static self) -> u32 {
        let mut shared = shared();
        // Another thread may have been first.
        let number = self.number.load(Relaxed);
        if number != 0 {
            return number;
        }
        if shared.sites.is_empty() {
            shared.sites.push(&THREAD);
        }
        let number = shared.sites.len() as u32;
        shared.sites.push(self);
        self.number.store(number, Relaxed);
        number
    }
}

impl Zone {
    /// Enters the zone of `site`; see [`zone!`](super::zone).
    #[doc(hidden)]
    #[inline]
    pub fn enter(site: &'static Site) -> Zone {
        let epoch = EPOCH.load(Relaxed);
        let entered = if epoch == 0 { None } else { Entered::new(site, epoch) };
        Zone { entered, bytes: 0, stays_on_its_thread: PhantomData }
    }

    /// Adds to the bytes this zone worked on. Say it when they are known: near the end, and what was
    /// really processed.
    #[inline]
    pub fn bytes(&mut self, bytes: u64) {
        self.bytes += bytes;
    }
}

impl Entered {
    #[inline]
    fn new(site: &'static Site, epoch: u32) -> Option<Entered> {
        let table = match TABLE.get() {
            Some(table) => table,
            None => attach()?,
        };
        let number = match site.number.load(Relaxed) {
            0 => site.register(),
            number => number,
        };
        let entry = table.enter(epoch, TRACE_LIMIT.load(Relaxed), number, site.every);
        let fault_weight =
            if site.faults { fault_weight(table.node(entry.node).hits.load(Relaxed)) } else { 0 };
        let faults = if fault_weight > 0 { page_faults() } else { 0 };
        // The clock last: what came before is the parent's.
        let start = if entry.timed { ticks() } else { 0 };
        Some(Entered { table, site, entry, fault_weight, faults, start })
    }
}

impl Drop for Zone {
    #[inline]
    fn drop(&mut self) {
        let Some(Entered { table, site, entry, fault_weight, faults, start }) = self.entered else {
            return;
        };
        if entry.timed {
            let end = ticks();
            table.leave(entry, end.wrapping_sub(start), self.bytes, site.every);
            table.trace(entry, start, end);
        } else {
            table.leave(entry, 0, self.bytes, site.every);
        }
        if fault_weight > 0 {
            table.count_faults(entry, fault_weight * page_faults().saturating_sub(faults));
        }
    }
}

/// For how many entries the page faults of one stand, the `number`-th of its zone, from 1: of the
/// first 64, in which memory is touched for the first time, each counts for itself; of any later 16
/// the last for all. Two system calls for every block read would be most of what a profile costs.
fn fault_weight(number: u64) -> u64 {
    match number {
        ..=64 => 1,
        _ if number.is_multiple_of(16) => 16,
        _ => 0,
    }
}

/// The calling thread's page faults, both kinds.
fn page_faults() -> u64 {
    let usage = usage::thread();
    usage.minor_faults + usage.major_faults
}

fn shared() -> std::sync::MutexGuard<'static, Shared> {
    // A panic elsewhere leaves the lists whole: they only ever grow.
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the calling thread a table; `None` while the thread is ending.
#[cold]
#[inline(never)]
fn attach() -> Option<&'static Table> {
    LEASE.try_with(|_| ()).ok()?;
    let mut shared = shared();
    let table = shared.idle.pop().unwrap_or_else(|| {
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        shared.tables.push(table);
        table
    });
    TABLE.set(Some(table));
    Some(table)
}

impl Shared {
    fn next_epoch(&mut self) -> u32 {
        self.last_epoch = self.last_epoch.wrapping_add(1).max(1);
        self.last_epoch
    }
}

pub(super) fn start(options: Options) {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    clock::start();
    let table = TABLE.get().or_else(attach);
    let mut shared = shared();
    let epoch = shared.next_epoch();
    TRACE_LIMIT.store(options.trace_events as u64, Relaxed);
    let process = usage::process();
    shared.start = table.map(|table| Start {
        ticks: 0,
        faults: process.minor_faults + process.major_faults,
        table,
    });
    EPOCH.store(epoch, Relaxed);
    if let Some(start) = &mut shared.start {
        start.ticks = ticks();
    }
}

pub(super) fn stop() -> Report {
    let end = ticks();
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let epoch = EPOCH.swap(0, Relaxed);
    let process = usage::process();
    let mut held = shared();
    let Some(start) = held.start.take().filter(|_| epoch != 0) else {
        return Report::default();
    };
    let names: Vec<&str> = held.sites.iter().map(|site| site.name).collect();
    let with_faults: Vec<bool> = held.sites.iter().map(|site| site.faults).collect();
    let tables: Vec<&Table> =
        held.tables.iter().copied().filter(|table| table.used(epoch) > 0).collect();
    drop(held);

    let threads: Vec<RecordedThread> = tables
        .iter()
        .map(|table| RecordedThread {
            nodes: (0..table.used(epoch) as u32)
                .map(|at| table.node(at).recorded(&with_faults))
                .collect(),
            is_starter: std::ptr::eq(*table, start.table),
            lost: table.lost.load(Relaxed),
        })
        .collect();
    let mut trace = Vec::new();
    let mut trace_dropped = 0;
    for (thread, table) in tables.iter().enumerate() {
        let traced = table.traced();
        if TRACE_LIMIT.load(Relaxed) > 0 {
            trace_dropped += table.trace_count.load(Relaxed) - traced.len() as u64;
        }
        trace.extend(traced.into_iter().map(|(site, from, to)| TraceEvent {
            name: names[site as usize].to_owned(),
            thread,
            start_ticks: from.saturating_sub(start.ticks),
            ticks: to.saturating_sub(from),
        }));
    }

    let cost = calibrate();
    let rate = clock::rate();
    let mut report = Report::new(&names, &threads, end.saturating_sub(start.ticks), cost);
    report.timer_hz = rate.hz;
    report.timer_error_ppm = rate.error_ppm;
    report.page_faults = (process.minor_faults + process.major_faults).saturating_sub(start.faults);
    report.trace = trace;
    report.trace_dropped = trace_dropped;
    report
}

/// Measures empty zones on the path all zones take, in a session of their own; of several batches
/// the cheapest, since whatever disturbs a batch only adds.
fn calibrate() -> Cost {
    static EMPTY: Site = Site::new("empty", 1, false);
    static COUNTED: Site = Site::new("counted", u32::MAX / 2, false);
    // A tenth of a millisecond in all: more would be the largest cost of profiling a short run.
    const BATCHES: usize = 16;
    const ENTRIES: u64 = 96;
    let trace_limit = TRACE_LIMIT.swap(0, Relaxed);
    let mut cost =
        Cost { inside_ticks: 0.0, timed_ticks: f64::INFINITY, untimed_ticks: f64::INFINITY };
    for _ in 0..BATCHES {
        EPOCH.store(shared().next_epoch(), Relaxed);
        let per_entry = |site: &'static Site| {
            drop(Zone::enter(site)); // the first entry makes the node
            let start = ticks();
            for _ in 0..ENTRIES {
                drop(std::hint::black_box(Zone::enter(site)));
            }
            (ticks().wrapping_sub(start)) as f64 / ENTRIES as f64
        };
        let timed = per_entry(&EMPTY);
        let untimed = per_entry(&COUNTED);
        if let Some(table) = TABLE.get()
            && timed < cost.timed_ticks
        {
            let node = table.node(1);
            cost.timed_ticks = timed;
            cost.inside_ticks =
                node.ticks.load(Relaxed) as f64 / node.timed.load(Relaxed).max(1) as f64;
        }
        cost.untimed_ticks = cost.untimed_ticks.min(untimed);
    }
    EPOCH.store(0, Relaxed);
    TRACE_LIMIT.store(trace_limit, Relaxed);
    cost.inside_ticks = cost.inside_ticks.min(cost.timed_ticks);
    cost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_page_faults_stand_for_all_entries() {
        for groups in 0..50 {
            let entries = 64 + 16 * groups;
            assert_eq!((1..=entries).map(fault_weight).sum::<u64>(), entries);
        }
        assert_eq!((fault_weight(64), fault_weight(65), fault_weight(80)), (1, 0, 16));
    }
}
