//! The events that can be counted: names, what they mean, what the kernel calls them.
//!
//! A name stands for the same thing on every processor as far as the kernel maps it; what a
//! particular model counts under it is the model's business. Raw events of one model are made with
//! [`Event::raw`], never guessed.

use std::borrow::Cow;

/// One thing that can be counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What users write and read: lower case, words joined by `-`.
    pub name: Cow<'static, str>,
    /// One line on what is counted.
    pub meaning: Cow<'static, str>,
    pub(crate) kind: u32,
    pub(crate) config: u64,
    /// Events of the same family are read as one group: their ratio is of the same instants.
    pub(crate) family: u8,
    /// Whether it happens in the kernel by its nature, so that counting user mode alone gives 0.
    pub(crate) in_kernel: bool,
}

/// Where a count comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The processor's counters.
    Hardware,
    /// The kernel's own counts.
    Software,
    /// A simulator's model of some processor: never this one.
    Simulated,
}

impl Source {
    /// The word users read.
    pub fn name(self) -> &'static str {
        match self {
            Source::Hardware => "hardware",
            Source::Software => "software",
            Source::Simulated => "simulated",
        }
    }
}

// perf_event_attr.type, from the kernel's include/uapi/linux/perf_event.h.
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;

/// The family of software events.
pub(crate) const SOFTWARE_FAMILY: u8 = 255;

impl Event {
    /// An event of one processor model, by the code its manual gives.
    pub fn raw(name: impl Into<String>, code: u64) -> Event {
        Event {
            name: Cow::Owned(name.into()),
            meaning: Cow::Owned(format!("raw event {code:#x} of this processor model")),
            kind: RAW,
            config: code,
            family: 254,
            in_kernel: false,
        }
    }

    /// The catalogued event of this name.
    pub fn named(name: &str) -> Option<&'static Event> {
        EVENTS.iter().find(|event| event.name == name)
    }

    /// Whether the processor or the kernel counts it.
    pub fn source(&self) -> Source {
        if self.kind == SOFTWARE { Source::Software } else { Source::Hardware }
    }

    pub(crate) fn is_cycles(&self) -> bool {
        self.kind == HARDWARE && self.config == 0
    }
}

const fn event(
    kind: u32,
    config: u64,
    family: u8,
    in_kernel: bool,
    name: &'static str,
    meaning: &'static str,
) -> Event {
    Event {
        name: Cow::Borrowed(name),
        meaning: Cow::Borrowed(meaning),
        kind,
        config,
        family,
        in_kernel,
    }
}

const fn generic(family: u8, config: u64, name: &'static str, meaning: &'static str) -> Event {
    event(HARDWARE, config, family, false, name, meaning)
}

/// `cache`: 0 L1D, 2 last level, 3 data TLB, 4 instruction TLB; reads only. `missed`: 0 accesses,
/// 1 misses.
const fn cache(
    family: u8,
    cache: u64,
    missed: u64,
    name: &'static str,
    meaning: &'static str,
) -> Event {
    event(CACHE, cache | missed << 16, family, false, name, meaning)
}

const fn software(
    config: u64,
    in_kernel: bool,
    name: &'static str,
    meaning: &'static str,
) -> Event {
    event(SOFTWARE, config, SOFTWARE_FAMILY, in_kernel, name, meaning)
}

/// Every catalogued event, hardware first, families together.
pub static EVENTS: [Event; 24] = [
    generic(0, 0, "cycles", "core clock cycles while running"),
    generic(0, 1, "instructions", "instructions retired"),
    generic(1, 9, "ref-cycles", "cycles at the constant reference rate while running"),
    generic(2, 4, "branches", "branch instructions retired"),
    generic(2, 5, "branch-misses", "branches predicted wrongly"),
    generic(3, 2, "cache-references", "accesses to the last cache level the model defines"),
    generic(3, 3, "cache-misses", "of these, not found there"),
    cache(4, 0, 0, "l1d-loads", "loads that looked into the first-level data cache"),
    cache(4, 0, 1, "l1d-load-misses", "of these, not found there"),
    cache(5, 2, 0, "llc-loads", "loads that looked into the last-level cache"),
    cache(5, 2, 1, "llc-load-misses", "of these, not found there: from memory"),
    cache(6, 3, 0, "dtlb-loads", "loads that looked into the data address-translation cache"),
    cache(6, 3, 1, "dtlb-load-misses", "of these, not found there"),
    cache(7, 4, 0, "itlb-loads", "fetches that looked into the instruction translation cache"),
    cache(7, 4, 1, "itlb-load-misses", "of these, not found there"),
    generic(8, 7, "stalled-cycles-frontend", "cycles in which no instruction was delivered"),
    generic(8, 8, "stalled-cycles-backend", "cycles in which none could be executed"),
    software(1, false, "task-clock", "processor time, in nanoseconds"),
    software(2, false, "page-faults", "page faults, all"),
    software(5, false, "minor-faults", "page faults without a device read"),
    software(6, false, "major-faults", "page faults that waited for a device"),
    software(3, true, "context-switches", "times another thread took over"),
    software(4, true, "migrations", "moves to another processor"),
    software(7, false, "alignment-faults", "misaligned accesses the kernel had to finish"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        for (i, event) in EVENTS.iter().enumerate() {
            let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(event.name.chars().all(kebab), "{}", event.name);
            assert!(EVENTS[..i].iter().all(|other| other.name != event.name), "{}", event.name);
            assert_eq!(Event::named(&event.name), Some(event));
        }
        assert_eq!(Event::named("nonsense"), None);
    }
}
