//! Event counters: what the processor and the kernel count, and why what is missing is missing.
//!
//! ```text
//!   events ─▶ grouped by family ─▶ opened one by one ─▶ Counters ─▶ now() … since() ─▶ Counts
//!                                        └─ refused ─▶ Missing { event, reason in words }
//! ```
//!
//! Counters are never reset: a region's count is the difference of two readings. Where the kernel
//! had to share the processor's few registers out in turns, a count is scaled by enabled/running
//! time and the share is shown. An event that cannot be opened costs itself and nothing else, so
//! the ladder *all events, some, cycles only, software only, none* needs no code of its own. Nothing
//! here faults or panics on a machine without counters; nothing is estimated from a model (for
//! that, see [`valgrind`](crate::valgrind)).
//!
//! ```
//! use fathom_machine::counter::{Counters, Event};
//! let events = ["instructions", "page-faults"].map(|name| Event::named(name).unwrap().clone());
//! let counters = Counters::of_this_thread(&events);
//! let before = counters.now();
//! let touched = std::hint::black_box(vec![1u8; 1 << 20]);
//! let counts = counters.since(&before);
//! println!("{} bytes: {:?} page faults", touched.len(), counts.get("page-faults"));
//! for missing in counts.missing() {
//!     println!("{}: n/a, {}", missing.event.name, missing.reason);
//! }
//! ```

use std::marker::PhantomData;

pub mod event;
pub mod metric;
mod page;
#[allow(unsafe_code)] // the system call, its mapped pages and the registers
mod perf;

pub use event::{EVENTS, Event, Source};
use page::Raw;
use perf::{LARGEST_GROUP, Opened, Whom};
pub use perf::{Mode, Reason, Sampler, Samples};

/// Open events of one thread, or of a command it starts.
///
/// Stays on the thread that opened it: the registers read in user space are that thread's.
#[derive(Debug)]
pub struct Counters {
    groups: Vec<Group>,
    missing: Vec<Missing>,
    whom: Whom,
    stays_on_its_thread: PhantomData<*const ()>,
}

/// Events that are on the processor together or not at all.
#[derive(Debug)]
struct Group {
    members: Vec<(Event, Opened)>,
}

/// An event that is not counted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which event.
    pub event: Event,
    /// Why it is not counted, in words when displayed.
    pub reason: Reason,
}

/// All counts at one moment; only the difference of two says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment(Vec<Raw>);

/// What happened between two moments.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    counted: Vec<Count>,
    missing: Vec<Missing>,
}

/// One event's count over a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// Which event.
    pub event: Event,
    /// What was counted while the event had a register.
    pub counted: u64,
    /// How long the event wanted to count, in nanoseconds.
    pub enabled_ns: u64,
    /// How long it had a register, in nanoseconds.
    pub running_ns: u64,
    /// Whether kernel mode is in the count.
    pub mode: Mode,
}

impl Counters {
    /// Counts `events` for the calling thread from now on, kernel mode included where permitted.
    pub fn of_this_thread(events: &[Event]) -> Counters {
        Counters::open(&by_family(events), Whom::Thread, Mode::All)
    }

    /// As [`of_this_thread`](Counters::of_this_thread), user mode only, with the groups as given: the
    /// events of a group are counted over the same instants.
    pub fn in_groups(groups: &[Vec<Event>]) -> Counters {
        Counters::open(groups, Whom::Thread, Mode::User)
    }

    /// Counts `events` of the next program the calling thread starts, its children included, from
    /// its `exec` on. What it used is in the counts once it was waited for. The thread's own work
    /// is not in them.
    ///
    /// One program only; open anew for each. When the kernel switches between a thread and its
    /// child it may swap their counters instead of moving them, and a program started later would
    /// then inherit counters that are already spent.
    pub fn of_next_command(events: &[Event]) -> Counters {
        Counters::open(&one_by_one(events), Whom::Command, Mode::All)
    }

    /// Counts `events` for the calling thread and for the threads and processes it starts from now
    /// on, and theirs. Threads that run already are not counted.
    pub fn of_this_thread_and_its_children(events: &[Event]) -> Counters {
        Counters::open(&one_by_one(events), Whom::Family, Mode::All)
    }

    fn open(wanted: &[Vec<Event>], whom: Whom, mode: Mode) -> Counters {
        let (mut groups, mut missing) = (Vec::new(), Vec::new());
        for events in wanted {
            open_group(events, whom, mode, &mut groups, &mut missing);
        }
        Counters { groups, missing, whom, stays_on_its_thread: PhantomData }
    }

    /// All counts now, through the kernel: about a microsecond per group.
    pub fn now(&self) -> Moment {
        let mut moment = self.blank();
        self.now_into(&mut moment);
        moment
    }

    /// A moment to fill later, so that nothing is allocated in a measured region.
    pub fn blank(&self) -> Moment {
        Moment(vec![Raw::UNREAD; self.groups.iter().map(|group| group.members.len()).sum()])
    }

    /// As [`now`](Counters::now), into a moment made by [`blank`](Counters::blank).
    pub fn now_into(&self, moment: &mut Moment) {
        moment.0.fill(Raw::UNREAD);
        let mut rest = moment.0.as_mut_slice();
        for group in &self.groups {
            let (slots, further) = rest.split_at_mut(group.members.len());
            rest = further;
            let leader = &group.members[0].1;
            match self.whom {
                Whom::Thread => {
                    leader.read_group(slots);
                }
                Whom::Family | Whom::Command => {
                    if let Some(raw) = leader.read_alone() {
                        slots[0] = raw;
                    }
                }
            }
        }
    }

    /// All counts now, from the registers, without a system call; `false`, with `moment` as good
    /// as blank, when any event cannot be read so (then use [`now_into`](Counters::now_into)).
    #[inline]
    pub fn now_in_user_space(&self, moment: &mut Moment) -> bool {
        let members = self.groups.iter().flat_map(|group| &group.members);
        for (slot, (_, opened)) in moment.0.iter_mut().zip(members) {
            match opened.read_in_user_space() {
                Some(raw) => *slot = raw,
                None => return false,
            }
        }
        true
    }

    /// What was counted from `before` until now.
    pub fn since(&self, before: &Moment) -> Counts {
        self.between(before, &self.now())
    }

    /// What was counted from `before` to `after`. Events that never had a register in between, and
    /// those the kernel would not read, are missing from the counts with that reason.
    pub fn between(&self, before: &Moment, after: &Moment) -> Counts {
        let mut missing = self.missing.clone();
        let mut counted = Vec::new();
        let members = self.groups.iter().flat_map(|group| &group.members);
        for ((event, opened), (before, after)) in members.zip(before.0.iter().zip(&after.0)) {
            let count = Count {
                event: event.clone(),
                counted: after.value.wrapping_sub(before.value),
                enabled_ns: after.enabled_ns.saturating_sub(before.enabled_ns),
                running_ns: after.running_ns.saturating_sub(before.running_ns),
                mode: opened.mode,
            };
            let is_read = *before != Raw::UNREAD && *after != Raw::UNREAD;
            // Times may stand still over a region shorter than their step; the count is then whole.
            let has_run = count.running_ns > 0
                || count.enabled_ns == 0 && (count.counted > 0 || after.running_ns > 0);
            if !is_read || !has_run {
                missing.push(Missing { event: event.clone(), reason: Reason::NeverRan });
            } else {
                counted.push(count);
            }
        }
        Counts { counted, missing }
    }

    /// The events being counted, in the order of the counts.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.groups.iter().flat_map(|group| group.members.iter().map(|(event, _)| event))
    }

    /// The events that could not be opened.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// For each event that user space may read: its name, its register (1-based; 0 when it is not
    /// on the processor now) and the register's width in bits.
    pub fn registers(&self) -> Vec<(&str, u32, u16)> {
        let members = self.groups.iter().flat_map(|group| &group.members);
        let registers = members.filter_map(|(event, opened)| Some((event, opened.register()?)));
        registers.map(|(event, (index, width))| (&*event.name, index, width)).collect()
    }
}

impl Count {
    /// The count for the whole region: what was counted, scaled up by enabled/running time.
    pub fn estimate(&self) -> f64 {
        if self.running_ns == 0 {
            return self.counted as f64;
        }
        self.counted as f64 * (self.enabled_ns as f64 / self.running_ns as f64).max(1.0)
    }

    /// The share of the region in which the event had a register, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.enabled_ns == 0 {
            return 1.0;
        }
        (self.running_ns as f64 / self.enabled_ns as f64).min(1.0)
    }
}

impl Counts {
    /// Every count there is.
    pub fn counted(&self) -> &[Count] {
        &self.counted
    }

    /// Every event there is no count of, and why.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// The estimate of the event of this name; `None` where it was not counted.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.counted.iter().find(|count| count.event.name == name).map(Count::estimate)
    }
}

/// One line for each reason, with the events it holds for: what to print about what is missing.
pub fn explain(missing: &[Missing]) -> Vec<String> {
    let mut reasons: Vec<&Reason> = Vec::new();
    for item in missing {
        if !reasons.contains(&&item.reason) {
            reasons.push(&item.reason);
        }
    }
    let names = |reason: &Reason| {
        let of_reason = missing.iter().filter(|item| item.reason == *reason);
        of_reason.map(|item| item.event.name.to_string()).collect::<Vec<_>>().join(", ")
    };
    reasons.into_iter().map(|reason| format!("{}: {reason}", names(reason))).collect()
}

/// `events` each alone: kernels before 6.13 do not read inherited events in groups.
fn one_by_one(events: &[Event]) -> Vec<Vec<Event>> {
    events.iter().map(|event| vec![event.clone()]).collect()
}

/// `events` without repetitions, those of one family side by side.
fn by_family(events: &[Event]) -> Vec<Vec<Event>> {
    let mut groups: Vec<Vec<Event>> = Vec::new();
    for event in events {
        match groups.iter_mut().find(|group| group[0].family == event.family) {
            Some(group) if group.contains(event) => {}
            Some(group) if group.len() < LARGEST_GROUP => group.push(event.clone()),
            _ => groups.push(vec![event.clone()]),
        }
    }
    groups
}

/// Opens `events` as one group; what will not join it becomes a group of its own, and what cannot
/// be opened at all goes to `missing`.
fn open_group(
    events: &[Event],
    whom: Whom,
    mode: Mode,
    groups: &mut Vec<Group>,
    missing: &mut Vec<Missing>,
) {
    let mut members: Vec<(Event, Opened)> = Vec::new();
    for event in events {
        if let Some((_, leader)) = members.first().filter(|_| members.len() < LARGEST_GROUP)
            && let Ok(opened) = Opened::new(event, whom, Some(leader), leader.mode)
        {
            members.push((event.clone(), opened));
            continue;
        }
        match Opened::new(event, whom, None, mode) {
            Ok(opened) if members.is_empty() => members.push((event.clone(), opened)),
            Ok(opened) => groups.push(Group { members: vec![(event.clone(), opened)] }),
            Err(reason) => missing.push(Missing { event: event.clone(), reason }),
        }
    }
    if !members.is_empty() {
        groups.push(Group { members });
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::os::memory::{Buffer, Pages};

    fn events(names: &[&str]) -> Vec<Event> {
        names.iter().map(|name| Event::named(name).unwrap().clone()).collect()
    }

    const EVENTS_COUNTED: &str = "software events that a program may count";

    /// Whether this machine counts software events at all; containers may refuse.
    fn works(counters: &Counters) -> bool {
        counters.missing().is_empty()
    }

    #[test]
    fn page_faults_are_counted_exactly() {
        let counters = Counters::of_this_thread(&events(&["page-faults", "context-switches"]));
        crate::needs!(EVENTS_COUNTED, works(&counters));
        let page = rustix::param::page_size();
        let mut buffer = Buffer::new(64 * page, Pages::Base).unwrap();
        let (mut before, mut after) = (counters.blank(), counters.blank());
        counters.now_into(&mut before);
        buffer.fill(1);
        counters.now_into(&mut after);
        let counts = counters.between(&before, &after);
        assert_eq!(counts.get("page-faults"), Some(64.0), "{counts:?}");
        assert_eq!(counts.counted()[0].share(), 1.0);
    }

    /// It left the zeros, or what was read last, and the difference was near 2^64.
    #[test]
    fn an_event_that_could_be_read_before_and_not_after_is_missing() {
        let [mut counters, mut other] =
            ["page-faults"; 2].map(|name| Counters::of_this_thread(&events(&[name])));
        crate::needs!(EVENTS_COUNTED, works(&counters) && works(&other));
        // The kernel knows of one member, and does not fill two.
        counters.groups[0].members.append(&mut other.groups[0].members);
        let good = Moment(vec![Raw { value: 40, enabled_ns: 10, running_ns: 10 }; 2]);
        let mut failed = good.clone();
        counters.now_into(&mut failed);
        assert_eq!(failed, counters.blank());
        for (before, after) in [(&good, &failed), (&failed, &good), (&failed, &failed)] {
            let counts = counters.between(before, after);
            assert_eq!((counts.counted(), counts.missing().len()), (&[][..], 2));
        }
    }

    #[test]
    fn sleeps_are_switches() {
        let counters = Counters::of_this_thread(&events(&["context-switches", "task-clock"]));
        crate::needs!(EVENTS_COUNTED, works(&counters));
        let before = counters.now();
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let counts = counters.since(&before);
        assert!(counts.get("context-switches").unwrap() >= 3.0, "{counts:?}");
        assert!(counts.get("task-clock").unwrap() < 1e9);
    }

    #[test]
    fn a_command_counts_what_it_runs_and_not_what_we_do() {
        let faults_of = |script: &str| {
            let counters = Counters::of_next_command(&events(&["task-clock", "page-faults"]));
            let before = counters.now();
            let mut own = Buffer::new(4096 * 4096, Pages::Base).unwrap();
            own.fill(1);
            let idle = counters.since(&before);
            assert_eq!(idle.get("page-faults").unwrap_or(0.0), 0.0, "{idle:?}");
            // A shell that starts programs: grandchildren count too.
            Command::new("sh").args(["-c", script]).status().unwrap();
            counters.since(&before).get("page-faults").unwrap()
        };
        let counters = Counters::of_next_command(&events(&["task-clock", "page-faults"]));
        crate::needs!(EVENTS_COUNTED, works(&counters));
        // Each program adds its own; often, because the counters once got lost every other time.
        for _ in 0..10 {
            let one = faults_of("/bin/true; :");
            let three = faults_of("/bin/true; /bin/true; /bin/true; :");
            let are_added = one > 20.0 && three > one + 20.0;
            assert!(are_added, "{three} faults of three against {one} of one");
        }
    }

    #[test]
    fn a_family_counts_its_threads() {
        let counters = Counters::of_this_thread_and_its_children(&events(&["page-faults"]));
        crate::needs!(EVENTS_COUNTED, works(&counters));
        let before = counters.now();
        for _ in 0..10 {
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| Buffer::new(100 * 4096, Pages::Base).unwrap().fill(1));
                }
            });
        }
        let faults = counters.since(&before).get("page-faults").unwrap();
        assert!((2_000.0..4_000.0).contains(&faults), "{faults} faults of 2000 pages");
    }

    #[test]
    fn every_event_is_counted_or_explained() {
        let counters = Counters::of_this_thread(&EVENTS);
        assert_eq!(counters.events().count() + counters.missing().len(), EVENTS.len());
        let before = counters.now();
        let mut x = 1u64;
        for i in 0..200_000u64 {
            x = std::hint::black_box(x.wrapping_mul(i | 1));
        }
        let counts = counters.since(&before);
        assert_eq!(counts.counted().len() + counts.missing().len(), EVENTS.len());
        for line in explain(counts.missing()) {
            println!("{line}");
        }
        let mut moment = counters.blank();
        if counters.now_in_user_space(&mut moment) {
            println!("all events readable in user space: {:?}", counters.registers());
        }
    }

    #[test]
    fn a_shared_register_scales_the_count() {
        let event = Event::named("instructions").unwrap().clone();
        let mode = Mode::User;
        let count = Count { event, counted: 40, enabled_ns: 1000, running_ns: 400, mode };
        assert_eq!((count.estimate(), count.share()), (100.0, 0.4));
        let whole = Count { running_ns: 1000, ..count.clone() };
        assert_eq!((whole.estimate(), whole.share()), (40.0, 1.0));
        let huge = Count { counted: u64::MAX, ..count };
        assert!(huge.estimate().is_finite());
    }

    #[test]
    fn families_stay_together_and_repetitions_go() {
        let groups = by_family(&events(&[
            "cycles", "branches", "instructions", "cycles", "page-faults", "branch-misses",
            "task-clock",
        ]));
        let names: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(|event| &*event.name).collect()).collect();
        let expected = [
            ["cycles", "instructions"],
            ["branches", "branch-misses"],
            ["page-faults", "task-clock"],
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn one_line_per_reason() {
        let absent = Reason::Absent { is_virtual: true };
        let reasons = [absent.clone(), absent, Reason::Invalid];
        let missing = events(&["cycles", "branches", "migrations"]).into_iter().zip(reasons);
        let missing: Vec<Missing> =
            missing.map(|(event, reason)| Missing { event, reason }).collect();
        let lines = explain(&missing);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("cycles, branches: not available here"), "{}", lines[0]);
    }
}
