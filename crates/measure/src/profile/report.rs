//! What a session found out, as numbers; the forms it is printed in are `format`'s business, and
//! how it follows from what was recorded is `correct`'s.

use serde::Serialize;

/// What the instrument cost, as calibrated on the path the zones took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Ticks of a timed entry that fall into its own measurement.
    pub inside_ticks: f64,
    /// Ticks of a timed entry in all.
    pub timed_ticks: f64,
    /// Ticks of an entry that is only counted.
    pub untimed_ticks: f64,
}

/// Everything known about a session; by default, one that never was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Ticks per second of the cycle register, calibrated over the run.
    pub timer_hz: f64,
    /// Bound on the relative error of `timer_hz`, in parts per million.
    pub timer_error_ppm: f64,
    /// Ticks from start to stop, as they passed.
    pub elapsed_ticks: u64,
    /// The same without what the instrument cost on the thread that started the session: what all
    /// shares are of.
    pub total_ticks: f64,
    /// What zones cost on all threads together, in ticks: subtracted from the zones.
    pub cost_ticks: f64,
    /// What one entry costs.
    pub cost: Cost,
    /// Threads that entered a zone.
    pub threads: usize,
    /// Entries not recorded: more different stacks than a thread's table holds.
    pub lost: u64,
    /// Single entries the trace had no room for.
    pub trace_dropped: u64,
    /// Page faults of the process during the session.
    pub page_faults: u64,
    /// One row per zone name, in order of first entry anywhere.
    pub zones: Vec<ZoneReport>,
    /// One row per chain of zones and thread, parents before children.
    pub stacks: Vec<Stack>,
    /// Single entries, if asked for.
    pub trace: Vec<TraceEvent>,
}

/// A zone over all places and threads it was entered in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ZoneReport {
    /// Its name.
    pub name: String,
    /// Entries, timed or not.
    pub hits: u64,
    /// Entries timed.
    pub timed: u64,
    /// Ticks in the zone itself, zones inside it taken out.
    pub exclusive_ticks: f64,
    /// Ticks in the zone, zones inside it included; a zone inside itself counts once.
    pub inclusive_ticks: f64,
    /// Where inclusive time is estimated from a sample: its interval.
    pub interval: Option<Interval>,
    /// Bytes it said it worked on.
    pub bytes: u64,
    /// Page faults, if it was declared to count them: an estimate from one entry in 16 once a thread has
    /// entered it more than 64 times.
    pub page_faults: Option<u64>,
}

/// A 95 % interval around an estimate: plus or minus this many ticks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Half the width, in ticks.
    pub ticks: f64,
}

/// One chain of zones in one thread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stack {
    /// Number of the thread, from 0, in order of first entry.
    pub thread: usize,
    /// The names from the outermost zone to this one; empty for the thread itself.
    pub names: Vec<String>,
    /// Entries, timed or not.
    pub hits: u64,
    /// Ticks in the last zone of the chain itself.
    pub exclusive_ticks: f64,
    /// Ticks in it and what it contains.
    pub inclusive_ticks: f64,
}

/// One entry of a zone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceEvent {
    /// The zone's name.
    pub name: String,
    /// Number of the thread.
    pub thread: usize,
    /// Ticks from the start of the session to the entry.
    pub start_ticks: u64,
    /// Ticks from entry to leaving.
    pub ticks: u64,
}
