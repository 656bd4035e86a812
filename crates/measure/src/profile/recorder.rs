//! One thread's table of zones: a tree whose nodes are zones under zones.
//!
//! ```text
//!   root ─ first_child ─▶ read ─ sibling ─▶ parse ─ sibling ─▶ …
//!                                             └ first_child ─▶ number
//! ```
//!
//! Only the owning thread writes; the session reads when it stops. All fields are therefore atomics
//! used with plain loads and stores: no locked instruction, and a torn picture is impossible. Time
//! is a parameter, so the arithmetic is tested with a made-up clock. Exclusive times are not kept
//! here: they follow from the tree (see [`correct`](super::correct)).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::correct::Recorded;

/// Nodes a thread may have; a power of two. Zones beyond are not recorded but counted as lost.
pub(crate) const NODES: usize = 2048;
/// Node 0 is the thread itself.
pub(crate) const ROOT: u32 = 0;
/// The node of an entry for which there was no room.
pub(crate) const LOST: u32 = u32::MAX;

/// One zone below one chain of zones.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) site: AtomicU32,
    pub(crate) parent: AtomicU32,
    first_child: AtomicU32,
    sibling: AtomicU32,
    /// Entries, timed or not.
    pub(crate) hits: AtomicU64,
    /// Entries timed.
    pub(crate) timed: AtomicU64,
    /// Ticks of the timed entries, children included.
    pub(crate) ticks: AtomicU64,
    /// Sum of squares of the timed entries' ticks, an f64's bits; sampled zones only.
    pub(crate) squares: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) faults: AtomicU64,
    /// Entries until the next timed one; sampled zones only.
    countdown: AtomicU64,
}

impl Node {
    /// What it holds; page faults where its site counts them.
    pub(crate) fn recorded(&self, with_faults: &[bool]) -> Recorded {
        let site = self.site.load(Relaxed) as usize;
        Recorded {
            parent: self.parent.load(Relaxed) as usize,
            site,
            hits: self.hits.load(Relaxed),
            timed: self.timed.load(Relaxed),
            ticks: self.ticks.load(Relaxed),
            squares: f64::from_bits(self.squares.load(Relaxed)),
            bytes: self.bytes.load(Relaxed),
            faults: with_faults[site].then(|| self.faults.load(Relaxed)),
        }
    }
}

/// A thread's zones.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) nodes: Box<[Node; NODES]>,
    used: AtomicU32,
    current: AtomicU32,
    /// The session the contents belong to.
    epoch: AtomicU32,
    pub(crate) lost: AtomicU64,
    random: AtomicU64,
    trace: OnceLock<Box<[[AtomicU64; 3]]>>,
    trace_limit: AtomicU64,
    pub(crate) trace_count: AtomicU64,
}

/// What an entry must remember until it leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) node: u32,
    parent: u32,
    epoch: u32,
    pub(crate) timed: bool,
}

/// Adds without a locked instruction: only the owner writes.
#[inline(always)]
fn add(to: &AtomicU64, amount: u64) -> u64 {
    let sum = to.load(Relaxed).wrapping_add(amount);
    to.store(sum, Relaxed);
    sum
}

impl Table {
    pub(crate) fn new() -> Table {
        Table {
            nodes: Box::new(std::array::from_fn(|_| Node::default())),
            used: AtomicU32::new(1),
            current: AtomicU32::new(ROOT),
            epoch: AtomicU32::new(0),
            lost: AtomicU64::new(0),
            random: AtomicU64::new(0x9e37_79b9_7f4a_7c15),
            trace: OnceLock::new(),
            trace_limit: AtomicU64::new(0),
            trace_count: AtomicU64::new(0),
        }
    }

    /// The node of this number; the mask spares the bounds check.
    #[inline(always)]
    pub(crate) fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize & (NODES - 1)]
    }

    /// How many nodes there are, the root included, if the contents are of session `epoch`.
    pub(crate) fn used(&self, epoch: u32) -> usize {
        if self.epoch.load(Relaxed) == epoch { self.used.load(Relaxed) as usize } else { 0 }
    }

    /// Enters zone `site`, timed once in `every` entries on average.
    #[inline(always)]
    pub(crate) fn enter(&self, epoch: u32, trace_limit: u64, site: u32, every: u32) -> Entry {
        if self.epoch.load(Relaxed) != epoch {
            self.clear(epoch, trace_limit);
        }
        let parent = self.current.load(Relaxed);
        let mut number = self.node(parent).first_child.load(Relaxed);
        while number != 0 && self.node(number).site.load(Relaxed) != site {
            number = self.node(number).sibling.load(Relaxed);
        }
        if number == 0 {
            number = self.new_child(parent, site);
        }
        if number == LOST {
            add(&self.lost, 1);
            return Entry { node: LOST, parent, epoch, timed: false };
        }
        self.current.store(number, Relaxed);
        let node = self.node(number);
        add(&node.hits, 1);
        let timed = every == 1 || self.turn(node, every);
        Entry { node: number, parent, epoch, timed }
    }

    /// Leaves a zone; `ticks` since its entry count if the entry was timed.
    #[inline(always)]
    pub(crate) fn leave(&self, entry: Entry, ticks: u64, bytes: u64, every: u32) {
        if entry.node == LOST || self.epoch.load(Relaxed) != entry.epoch {
            return;
        }
        self.current.store(entry.parent, Relaxed);
        let node = self.node(entry.node);
        if entry.timed {
            add(&node.timed, 1);
            add(&node.ticks, ticks);
            if every != 1 {
                let squares = f64::from_bits(node.squares.load(Relaxed));
                node.squares.store((squares + ticks as f64 * ticks as f64).to_bits(), Relaxed);
            }
        }
        if bytes != 0 {
            add(&node.bytes, bytes);
        }
    }

    /// Adds page faults to an entry's zone.
    pub(crate) fn count_faults(&self, entry: Entry, faults: u64) {
        if entry.node != LOST && self.epoch.load(Relaxed) == entry.epoch {
            add(&self.node(entry.node).faults, faults);
        }
    }

    /// Keeps one entry for the trace, where there is room and a wish for it.
    #[inline(always)]
    pub(crate) fn trace(&self, entry: Entry, start: u64, end: u64) {
        let limit = self.trace_limit.load(Relaxed);
        if limit == 0 || entry.node == LOST || self.epoch.load(Relaxed) != entry.epoch {
            return;
        }
        let slot = add(&self.trace_count, 1) - 1;
        if let Some([site, from, to]) = self.trace.get().and_then(|all| all.get(slot as usize)) {
            site.store(u64::from(self.node(entry.node).site.load(Relaxed)), Relaxed);
            from.store(start, Relaxed);
            to.store(end, Relaxed);
        }
    }

    /// The kept entries as (site, start, end) in ticks, in order of leaving.
    pub(crate) fn traced(&self) -> Vec<(u32, u64, u64)> {
        let all = self.trace.get().map_or(&[][..], |all| &all[..]);
        let count = (self.trace_count.load(Relaxed).min(self.trace_limit.load(Relaxed))) as usize;
        let entries = all.iter().take(count);
        entries
            .map(|[site, from, to]| {
                (site.load(Relaxed) as u32, from.load(Relaxed), to.load(Relaxed))
            })
            .collect()
    }

    /// Whether a sampled zone's turn to be timed has come. Gaps are uniform in 1 .. 2 every - 1, so
    /// that no rhythm of the program can hide from them; their mean is `every`.
    #[inline(always)]
    fn turn(&self, node: &Node, every: u32) -> bool {
        let left = node.countdown.load(Relaxed);
        if left > 1 {
            node.countdown.store(left - 1, Relaxed);
            return false;
        }
        // Marsaglia's xorshift64; quality beyond "no rhythm" is not needed.
        let mut random = self.random.load(Relaxed);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        self.random.store(random, Relaxed);
        let gap = 1 + (random >> 32) % (2 * u64::from(every) - 1);
        node.countdown.store(gap, Relaxed);
        // The very first entry only draws: timing it would favour cold caches.
        left == 1
    }

    #[cold]
    #[inline(never)]
    fn new_child(&self, parent: u32, site: u32) -> u32 {
        let number = self.used.load(Relaxed);
        if number as usize >= NODES {
            return LOST;
        }
        let node = self.node(number);
        node.site.store(site, Relaxed);
        node.parent.store(parent, Relaxed);
        // At the end, so that the order of first entry stays.
        let mut last = self.node(parent).first_child.load(Relaxed);
        if last == 0 {
            self.node(parent).first_child.store(number, Relaxed);
        } else {
            while self.node(last).sibling.load(Relaxed) != 0 {
                last = self.node(last).sibling.load(Relaxed);
            }
            self.node(last).sibling.store(number, Relaxed);
        }
        self.used.store(number + 1, Relaxed);
        number
    }

    #[cold]
    #[inline(never)]
    fn clear(&self, epoch: u32, trace_limit: u64) {
        for node in &self.nodes[..self.used.load(Relaxed) as usize] {
            let Node { site, parent, first_child, sibling, .. } = node;
            for field in [site, parent, first_child, sibling] {
                field.store(0, Relaxed);
            }
            let Node { hits, timed, ticks, squares, bytes, faults, countdown, .. } = node;
            for field in [hits, timed, ticks, squares, bytes, faults, countdown] {
                field.store(0, Relaxed);
            }
        }
        self.used.store(1, Relaxed);
        self.current.store(ROOT, Relaxed);
        self.lost.store(0, Relaxed);
        self.trace_count.store(0, Relaxed);
        let room = if trace_limit == 0 {
            0
        } else {
            let slot = || std::array::from_fn(|_| AtomicU64::new(0));
            let all = self.trace.get_or_init(|| (0..trace_limit).map(|_| slot()).collect());
            trace_limit.min(all.len() as u64)
        };
        self.trace_limit.store(room, Relaxed);
        self.epoch.store(epoch, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_stay_in_order_of_first_entry_and_are_found_again() {
        let table = Table::new();
        for site in [3, 1, 2, 1, 3] {
            let entry = table.enter(1, 0, site, 1);
            table.leave(entry, 10, 0, 1);
        }
        let sites: Vec<u32> =
            (1..table.used(1) as u32).map(|n| table.node(n).site.load(Relaxed)).collect();
        assert_eq!(sites, [3, 1, 2]);
        assert_eq!(table.node(2).hits.load(Relaxed), 2);
        assert_eq!(table.node(2).ticks.load(Relaxed), 20);
    }

    #[test]
    fn a_new_session_finds_the_table_empty_and_old_entries_leave_no_trace() {
        let table = Table::new();
        let old = table.enter(1, 0, 1, 1);
        let new = table.enter(2, 0, 5, 1);
        table.leave(old, 99, 99, 1);
        table.count_faults(old, 99);
        table.leave(new, 7, 3, 1);
        table.count_faults(new, 2);
        assert_eq!(table.used(2), 2);
        assert_eq!(table.used(1), 0);
        let node = table.node(1);
        assert_eq!((node.ticks.load(Relaxed), node.bytes.load(Relaxed)), (7, 3));
        assert_eq!((node.parent.load(Relaxed), node.faults.load(Relaxed)), (ROOT, 2));
    }

    #[test]
    fn zones_beyond_the_room_are_counted_as_lost_and_harm_nothing() {
        let table = Table::new();
        let entries: Vec<Entry> = (0..NODES as u32 + 10).map(|_| table.enter(1, 0, 1, 1)).collect();
        for &entry in entries.iter().rev() {
            table.leave(entry, 1, 0, 1);
        }
        assert_eq!(table.lost.load(Relaxed), 11);
        assert_eq!(table.used(1), NODES);
        let again = table.enter(1, 0, 1, 1);
        assert_eq!(again.node, 1);
    }

    #[test]
    fn sampled_zones_are_timed_at_the_rate_asked_for() {
        let table = Table::new();
        for _ in 0..64_000 {
            let entry = table.enter(1, 0, 1, 64);
            table.leave(entry, 5, 0, 64);
        }
        let node = table.node(1);
        assert_eq!(node.hits.load(Relaxed), 64_000);
        let timed = node.timed.load(Relaxed);
        assert!((850..1150).contains(&timed), "{timed} of 64000");
        assert_eq!(f64::from_bits(node.squares.load(Relaxed)), timed as f64 * 25.0);
    }

    #[test]
    fn the_trace_keeps_what_it_has_room_for() {
        let table = Table::new();
        for i in 0..5 {
            let entry = table.enter(1, 3, 1 + i, 1);
            table.trace(entry, u64::from(i) * 10, u64::from(i) * 10 + 4);
            table.leave(entry, 4, 0, 1);
        }
        assert_eq!(table.traced(), [(1, 0, 4), (2, 10, 14), (3, 20, 24)]);
        assert_eq!(table.trace_count.load(Relaxed), 5);
        // A session that wants no trace keeps none.
        let entry = table.enter(2, 0, 1, 1);
        table.trace(entry, 0, 1);
        assert!(table.traced().is_empty());
    }
}
