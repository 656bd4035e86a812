//! From tables of zones to a report: corrected, exclusive and inclusive times. Pure arithmetic.
//!
//! Let a node have H hits, T of them timed in I ticks. Reading the clock puts `inside` ticks into
//! each timed hit, and a timed hit costs `timed` ticks in all, an untimed one `untimed`. Then
//!
//! ```text
//!   overhead(node)  = T timed + (H - T) untimed + sum of overhead(children)
//!   inclusive(node) = (I - T inside) H / T - sum of overhead(children)
//!   inclusive(root) = elapsed - sum of overhead(children)
//!   exclusive(node) = inclusive(node) - sum of inclusive(children)
//! ```
//!
//! so that exclusive times add up to inclusive(root) exactly. Where estimates overshoot (children
//! together above their parent: a sampled zone, a calibration a tick off) the children are shrunk to
//! fit, sampled ones first, because a child cannot outlast its parent. Nothing here is negative.

use super::report::{Cost, Interval, Report, Stack, ZoneReport};

/// One node as recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recorded {
    /// Position of the parent among the thread's nodes, which come parents first; 0 is the root.
    pub(crate) parent: usize,
    /// Position of the name among the session's names.
    pub(crate) site: usize,
    pub(crate) hits: u64,
    pub(crate) timed: u64,
    pub(crate) ticks: u64,
    /// Of the timed entries' ticks; 0 for zones that are always timed.
    pub(crate) squares: f64,
    pub(crate) bytes: u64,
    pub(crate) faults: Option<u64>,
}

/// One thread as recorded: node 0 is the thread itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedThread {
    pub(crate) nodes: Vec<Recorded>,
    /// Whether this thread started the session: its root lasts as long as the session.
    pub(crate) is_starter: bool,
    pub(crate) lost: u64,
}

impl Report {
    /// Corrects and sums up what `threads` recorded in `elapsed_ticks`; `names` by site.
    pub(crate) fn new(
        names: &[&str],
        threads: &[RecordedThread],
        elapsed_ticks: u64,
        cost: Cost,
    ) -> Report {
        let mut report =
            Report { elapsed_ticks, cost, threads: threads.len(), ..Report::default() };
        report.total_ticks = elapsed_ticks as f64;
        let mut zones: Vec<Option<ZoneReport>> = vec![None; names.len()];
        for (number, thread) in threads.iter().enumerate() {
            let Corrected { exclusive, inclusive, overhead } =
                correct(&thread.nodes, cost, thread.is_starter.then_some(elapsed_ticks as f64));
            report.cost_ticks += overhead;
            report.lost += thread.lost;
            if thread.is_starter {
                report.total_ticks = inclusive[0];
            }
            for (at, node) in thread.nodes.iter().enumerate() {
                let chain = chain(&thread.nodes, at);
                report.stacks.push(Stack {
                    thread: number,
                    names: chain
                        .iter()
                        .map(|&at| names[thread.nodes[at].site].to_owned())
                        .collect(),
                    hits: node.hits,
                    exclusive_ticks: exclusive[at],
                    inclusive_ticks: inclusive[at],
                });
                if at == 0 {
                    continue;
                }
                // Two places with one name are one zone.
                let name = names[node.site];
                let first = names.iter().position(|other| *other == name).unwrap_or(node.site);
                let is_outermost =
                    chain[..chain.len() - 1].iter().all(|&at| names[thread.nodes[at].site] != name);
                let blank = || ZoneReport { name: name.to_owned(), ..ZoneReport::default() };
                let zone = zones[first].get_or_insert_with(blank);
                zone.add(node, exclusive[at], if is_outermost { inclusive[at] } else { 0.0 });
            }
        }
        report.zones = zones.into_iter().flatten().collect();
        report
    }
}

impl ZoneReport {
    fn add(&mut self, node: &Recorded, exclusive: f64, inclusive: f64) {
        self.hits += node.hits;
        self.timed += node.timed;
        self.exclusive_ticks += exclusive;
        self.inclusive_ticks += inclusive;
        self.bytes += node.bytes;
        if let Some(faults) = node.faults {
            *self.page_faults.get_or_insert(0) += faults;
        }
        if let Some(half) = half_width(node) {
            // Independent parts: their variances add.
            let before = self.interval.map_or(0.0, |interval| interval.ticks);
            self.interval = Some(Interval { ticks: before.hypot(half) });
        }
    }
}

/// Half the 95 % interval of the total a sampled node's timed entries stand for: 1.96 standard
/// errors of a mean times the hits, with the correction for a finite population. `None` for a node
/// timed always.
fn half_width(node: &Recorded) -> Option<f64> {
    if node.timed >= node.hits {
        return None;
    }
    let (hits, timed) = (node.hits as f64, node.timed as f64);
    if node.timed < 2 {
        return Some(f64::INFINITY); // a sample of one says nothing about spread
    }
    let mean = node.ticks as f64 / timed;
    let variance = ((node.squares - timed * mean * mean) / (timed - 1.0)).max(0.0);
    Some(1.96 * hits * (variance / timed * (1.0 - timed / hits)).sqrt())
}

/// Positions of the nodes from below the root to `at`.
fn chain(nodes: &[Recorded], mut at: usize) -> Vec<usize> {
    let mut chain = Vec::new();
    while at != 0 {
        chain.push(at);
        at = nodes[at].parent;
    }
    chain.reverse();
    chain
}

struct Corrected {
    exclusive: Vec<f64>,
    inclusive: Vec<f64>,
    overhead: f64,
}

/// The formulas at the head of the file; `elapsed` is the root's time where it is known.
fn correct(nodes: &[Recorded], cost: Cost, elapsed: Option<f64>) -> Corrected {
    let mut below = vec![0.0; nodes.len()];
    let mut inclusive = vec![0.0; nodes.len()];
    // Children come after their parents: backwards, every child is done before its parent.
    for (at, node) in nodes.iter().enumerate().skip(1).rev() {
        let (hits, timed) = (node.hits as f64, node.timed as f64);
        let measured = node.ticks as f64 - timed * cost.inside_ticks;
        let scale = if node.timed == 0 { 0.0 } else { hits / timed };
        inclusive[at] = (measured * scale - below[at]).max(0.0);
        let own = timed * cost.timed_ticks + (hits - timed) * cost.untimed_ticks;
        below[node.parent] += own + below[at];
    }
    let of_children = |inclusive: &[f64], wanted: usize| -> f64 {
        let children =
            nodes.iter().zip(inclusive).skip(1).filter(|(node, _)| node.parent == wanted);
        children.map(|(_, ticks)| ticks).sum()
    };
    inclusive[0] = match elapsed {
        Some(elapsed) => (elapsed - below[0]).max(0.0),
        None => of_children(&inclusive, 0),
    };
    fit(nodes, &mut inclusive);
    let mut exclusive = inclusive.clone();
    for (at, node) in nodes.iter().enumerate().skip(1) {
        exclusive[node.parent] -= inclusive[at];
    }
    // What is left of subtracting equal numbers.
    exclusive.iter_mut().for_each(|ticks| *ticks = ticks.max(0.0));
    Corrected { exclusive, inclusive, overhead: below.first().copied().unwrap_or(0.0) }
}

/// Shrinks children that together exceed their parent, from the root down.
fn fit(nodes: &[Recorded], inclusive: &mut [f64]) {
    let mut sums = vec![(0.0_f64, 0.0_f64); nodes.len()]; // of sampled children, of the others
    for (at, node) in nodes.iter().enumerate().skip(1) {
        let (sampled, timed) = &mut sums[node.parent];
        let sum = if node.timed < node.hits { sampled } else { timed };
        *sum += inclusive[at];
    }
    // Parents come first: a parent is final before its children are fitted to it.
    for at in 1..nodes.len() {
        let node = &nodes[at];
        let (sampled, timed) = sums[node.parent];
        let room = inclusive[node.parent];
        if sampled + timed <= room {
            continue;
        }
        let for_sampled = (room - timed).max(0.0);
        let (share, whole) =
            if node.timed < node.hits { (for_sampled, sampled) } else { (room.min(timed), timed) };
        inclusive[at] *= if whole > 0.0 { share / whole } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder::{Entry, Table};
    use super::*;

    /// A program on a made-up clock: every read of the clock, and everything the instrument does,
    /// takes the ticks it takes on a real one.
    struct Program {
        table: Table,
        now: u64,
        cost: (u64, u64, u64), // before the first read, between it and the second, after that
        untimed: u64,
    }

    const EVERY: [u32; 8] = [1, 1, 1, 1, 1, 1, 8, 1];

    impl Program {
        fn new(cost: (u64, u64, u64), untimed: u64) -> Program {
            Program { table: Table::new(), now: 0, cost, untimed }
        }

        fn zone(&mut self, site: u32, body: impl FnOnce(&mut Program)) {
            let every = EVERY[site as usize];
            let entry: Entry = self.table.enter(1, 0, site, every);
            self.now += if entry.timed { self.cost.0 } else { self.untimed };
            let start = self.now;
            self.now += if entry.timed { self.cost.1 } else { 0 };
            body(self);
            let ticks = self.now - start;
            self.now += if entry.timed { self.cost.2 } else { 0 };
            self.table.leave(entry, ticks, 0, every);
        }

        fn work(&mut self, ticks: u64) {
            self.now += ticks;
        }

        fn report(&self) -> Report {
            let numbers = 0..self.table.used(1) as u32;
            let nodes = numbers.map(|number| self.table.node(number).recorded(&[false; 8]));
            let thread = RecordedThread { nodes: nodes.collect(), is_starter: true, lost: 0 };
            let (before, between, after) = self.cost;
            let cost = Cost {
                inside_ticks: between as f64,
                timed_ticks: (before + between + after) as f64,
                untimed_ticks: self.untimed as f64,
            };
            let names = ["", "a", "b", "c", "d", "e", "tiny", "g"];
            Report::new(&names, &[thread], self.now, cost)
        }
    }

    fn zone<'a>(report: &'a Report, name: &str) -> &'a ZoneReport {
        report.zones.iter().find(|zone| zone.name == name).unwrap()
    }

    fn sums_to_total(report: &Report) {
        let sum: f64 = report.stacks.iter().map(|stack| stack.exclusive_ticks).sum();
        let error = (sum - report.total_ticks).abs() / report.total_ticks;
        assert!(error < 1e-12, "exclusive times are off by {error}");
    }

    #[test]
    fn nested_zones_keep_their_own_time_and_the_instrument_vanishes() {
        let mut program = Program::new((7, 11, 5), 3);
        program.work(1_000);
        for _ in 0..10 {
            program.zone(1, |p| {
                p.work(100);
                p.zone(2, |p| p.work(40));
                p.zone(2, |p| p.work(60));
            });
        }
        let report = program.report();
        assert_eq!(report.elapsed_ticks, 1_000 + 10 * 200 + 30 * 23);
        assert_eq!(report.total_ticks, 3_000.0);
        assert_eq!(report.cost_ticks, 30.0 * 23.0);
        let (a, b) = (zone(&report, "a"), zone(&report, "b"));
        assert_eq!((a.hits, a.exclusive_ticks, a.inclusive_ticks), (10, 1_000.0, 2_000.0));
        assert_eq!((b.hits, b.exclusive_ticks, b.inclusive_ticks), (20, 1_000.0, 1_000.0));
        sums_to_total(&report);
    }

    #[test]
    fn recursion_counts_inclusive_time_once() {
        fn descend(program: &mut Program, depth: u64) {
            program.zone(1, |p| {
                p.work(10);
                if depth > 1 {
                    p.zone(2, |p| descend(p, depth - 1));
                }
            });
        }
        let mut program = Program::new((2, 3, 4), 1);
        descend(&mut program, 5);
        let report = program.report();
        let a = zone(&report, "a");
        assert_eq!((a.hits, a.exclusive_ticks, a.inclusive_ticks), (5, 50.0, 50.0));
        let b = zone(&report, "b");
        assert_eq!((b.hits, b.exclusive_ticks, b.inclusive_ticks), (4, 0.0, 40.0));
        sums_to_total(&report);
    }

    #[test]
    fn sampled_zones_are_estimated_with_an_interval_that_holds() {
        let mut program = Program::new((7, 11, 5), 3);
        let mut truth = 0;
        program.zone(1, |p| {
            for i in 0..80_000u64 {
                p.work(20);
                p.zone(6, |p| {
                    let ticks = 10 + i % 7 * 3;
                    truth += ticks;
                    p.work(ticks);
                });
            }
        });
        let report = program.report();
        let tiny = zone(&report, "tiny");
        assert_eq!(tiny.hits, 80_000);
        assert!(tiny.timed > 9_000 && tiny.timed < 11_000);
        let half = tiny.interval.unwrap().ticks;
        let error = tiny.inclusive_ticks - truth as f64;
        assert!(half > 0.0 && half < 0.02 * truth as f64, "{half}");
        assert!(error.abs() < 2.0 * half, "off by {error}, interval {half}");
        sums_to_total(&report);
        assert!((report.total_ticks - (truth as f64 + 1_600_000.0)).abs() < 1.0);
    }

    #[test]
    fn estimates_that_overshoot_are_fitted_to_their_parent() {
        let parent =
            Recorded { parent: 0, site: 1, hits: 1, timed: 1, ticks: 100, ..Recorded::default() };
        let sampled = Recorded { parent: 1, site: 6, hits: 100, timed: 1, ticks: 3, ..parent };
        let timed = Recorded { parent: 1, site: 2, hits: 1, timed: 1, ticks: 40, ..parent };
        let nodes = [Recorded::default(), parent, sampled, timed];
        let fitted = correct(&nodes, Cost::default(), Some(100.0));
        assert_eq!(fitted.inclusive, [100.0, 100.0, 60.0, 40.0]);
        assert_eq!(fitted.exclusive, [0.0, 0.0, 60.0, 40.0]);
        // A clock that stood still, a cost calibrated too high: nothing turns negative.
        let dear = Cost { inside_ticks: 50.0, timed_ticks: 90.0, untimed_ticks: 80.0 };
        let fitted = correct(&nodes, dear, Some(100.0));
        assert!(fitted.exclusive.iter().chain(&fitted.inclusive).all(|&ticks| ticks >= 0.0));
        let sum: f64 = fitted.exclusive.iter().sum();
        assert!((sum - fitted.inclusive[0]).abs() < 1e-9);
    }

    #[test]
    fn threads_that_did_not_start_the_session_last_as_long_as_their_zones() {
        let once = Recorded { hits: 1, timed: 1, ..Recorded::default() };
        let node = |parent, site, ticks| Recorded { parent, site, ticks, ..once };
        let nodes = vec![Recorded::default(), node(0, 1, 600)];
        let starter = RecordedThread { nodes, is_starter: true, lost: 0 };
        let nodes = vec![Recorded::default(), node(0, 2, 900), node(1, 1, 300)];
        let helper = RecordedThread { nodes, is_starter: false, lost: 2 };
        let report = Report::new(&["", "a", "b"], &[starter, helper], 1_000, Cost::default());
        assert_eq!((report.threads, report.lost, report.total_ticks), (2, 2, 1_000.0));
        assert_eq!(zone(&report, "a").exclusive_ticks, 900.0);
        assert_eq!(zone(&report, "b").exclusive_ticks, 600.0);
        let root = report.stacks.iter().find(|s| s.thread == 1 && s.names.is_empty()).unwrap();
        assert_eq!((root.exclusive_ticks, root.inclusive_ticks), (0.0, 900.0));
    }

    #[test]
    fn two_places_with_one_name_are_one_zone() {
        let node = |site| Recorded { site, hits: 1, timed: 1, ticks: 10, ..Recorded::default() };
        let nodes = vec![Recorded::default(), node(2), node(1)];
        let thread = RecordedThread { nodes, is_starter: true, lost: 0 };
        let report = Report::new(&["", "read", "read"], &[thread], 100, Cost::default());
        assert_eq!(report.zones.len(), 1);
        assert_eq!((report.zones[0].hits, report.zones[0].exclusive_ticks), (2, 20.0));
    }
}
