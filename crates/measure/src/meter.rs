//! What stands around the timed region: started before it, stopped after it.
//!
//! A contender never reads a clock itself; it marks its region and the meter does the rest.

use fathom_machine::clock;
use fathom_machine::counter::{Counters, Event, Moment};
use fathom_machine::os::usage::{self, Usage};

use crate::sample::{Sample, Tags};

/// A stopwatch that a contender starts and stops around its timed region.
///
/// Several regions in one sample add up. Set-up, checks and clean-up stay outside.
pub trait Meter {
    /// The timed region begins.
    fn start(&mut self);
    /// The timed region ends.
    fn stop(&mut self);
}

/// A meter that reads no clock: for tests and checks, where only the answer counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Meter for Untimed {
    fn start(&mut self) {}
    fn stop(&mut self) {}
}

/// The real meter: both clocks, usage, and event counters if asked for.
///
/// From outside to inside: counters, usage, processor time, wall time. A read of a clock thus costs
/// only those outside of it, and the wall clock, the cheapest, is the tightest.
#[derive(Default)]
pub struct Clocks {
    /// Whether processor time and usage are the whole process's.
    threads: bool,
    counters: Option<Counters>,
    before: Reading,
    wall_ns: u64,
    cpu_ns: u64,
    tags: Tags,
    counts: Vec<Option<f64>>,
}

#[derive(Default)]
struct Reading {
    wall_ns: u64,
    cpu_ns: u64,
    usage: Usage,
    /// Moves of this thread to another processor, where the kernel tells.
    migrations: Option<u64>,
    moment: Option<Moment>,
}

impl Clocks {
    /// A meter for a workload that stays on its thread or, with `threads`, does not; it counts
    /// `events` where there are any: of the calling thread or, with `threads`, also of those it
    /// starts from now on.
    #[must_use]
    pub fn new(threads: bool, events: &[Event]) -> Clocks {
        let counters = (!events.is_empty()).then(|| match threads {
            false => Counters::of_this_thread(events),
            true => Counters::of_this_thread_and_its_children(events),
        });
        Clocks { threads, counters, ..Clocks::default() }
    }

    /// The names of the events that are counted, in the order of [`Sample::counts`].
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        let events = self.counters.iter().flat_map(Counters::events);
        events.map(|event| event.name.to_string()).collect()
    }

    /// One line for each reason why an event is not counted.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let missing = self.counters.as_ref().map_or(&[][..], Counters::missing);
        fathom_machine::counter::explain(missing)
    }

    /// What was measured since the last call; the next sample begins at zero.
    pub fn take(&mut self) -> Sample {
        let moves = self.before.migrations.take().zip(usage::migrations());
        let migrations = moves.map(|(before, after)| after.saturating_sub(before));
        let sample = Sample {
            wall_ns: self.wall_ns,
            cpu_ns: Some(self.cpu_ns),
            tags: Tags { migrations, ..self.tags },
            // 0: no procfs.
            peak_bytes: usage::peak_bytes().unwrap_or(0),
            counts: std::mem::take(&mut self.counts),
            ..Sample::default()
        };
        (self.wall_ns, self.cpu_ns, self.tags) = (0, 0, Tags::default());
        sample
    }

    fn cpu_ns(&self) -> u64 {
        if self.threads { clock::process_cpu_ns() } else { clock::thread_cpu_ns() }
    }

    fn usage(&self) -> Usage {
        if self.threads { usage::process() } else { usage::thread() }
    }

    fn count(&mut self, counters: &Counters, after: &Moment) {
        let Some(before) = &self.before.moment else { return };
        let counts = counters.between(before, after);
        let events: Vec<&Event> = counters.events().collect();
        self.counts.resize(events.len(), Some(0.0));
        for (total, event) in self.counts.iter_mut().zip(events) {
            // An event that once had no register has no total.
            *total = total.zip(counts.get(&event.name)).map(|(total, more)| total + more);
        }
    }
}

impl Meter for Clocks {
    fn start(&mut self) {
        // A file is read for it, longer than many a region takes: once before a sample, and once when it is taken.
        self.before.migrations = self.before.migrations.or_else(usage::migrations);
        self.before.moment = self.counters.as_ref().map(Counters::now);
        self.before.usage = self.usage();
        self.before.cpu_ns = self.cpu_ns();
        self.before.wall_ns = clock::wall_ns();
    }

    fn stop(&mut self) {
        let wall_ns = clock::wall_ns();
        let cpu_ns = self.cpu_ns();
        let used = self.usage() - self.before.usage;
        if let Some(counters) = self.counters.take() {
            let after = counters.now();
            self.count(&counters, &after);
            self.counters = Some(counters);
        }
        self.wall_ns += wall_ns - self.before.wall_ns;
        self.cpu_ns += cpu_ns - self.before.cpu_ns;
        self.tags.voluntary_switches += used.voluntary_switches;
        self.tags.involuntary_switches += used.involuntary_switches;
        self.tags.minor_faults += used.minor_faults;
        self.tags.major_faults += used.major_faults;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_add_up_and_what_lies_between_does_not_count() {
        let mut clocks = Clocks::new(false, &[]);
        for _ in 0..2 {
            clocks.start();
            std::thread::sleep(std::time::Duration::from_millis(2));
            clocks.stop();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let sample = clocks.take();
        assert!(sample.wall_ns >= 4_000_000, "{sample:?}");
        assert!(sample.tags.voluntary_switches >= 2, "{sample:?}");
        assert!(sample.cpu_ns.unwrap() <= sample.wall_ns);
        assert_eq!(sample.tags.migrations.is_some(), usage::migrations().is_some());
        let nothing = clocks.take();
        assert_eq!((nothing.wall_ns, nothing.tags.migrations), (0, None));
    }

    #[test]
    fn events_are_counted_or_explained() {
        let event = Event::named("page-faults").unwrap().clone();
        let mut clocks = Clocks::new(false, std::slice::from_ref(&event));
        clocks.start();
        let pages = std::hint::black_box(vec![1_u8; 4 << 20]);
        clocks.stop();
        drop(pages);
        let sample = clocks.take();
        if clocks.events().is_empty() {
            assert!(!clocks.missing().is_empty());
        } else {
            assert!(sample.counts[0].unwrap() > 0.0, "{sample:?}");
        }
    }
}
