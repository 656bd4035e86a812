//! This computer, as it is printed beside every result: system, processor, caches, memory, limits,
//! levels and timers.
//!
//! ```text
//! files of the kernel (os::source) ┐
//! uname, affinity, CPUID           ├→ Machine → text, or JSON through serde
//! clocks, measured                 ┘
//! ```
//!
//! Whatever a kernel, a container or a board does not tell is `None` and printed as unknown; it is
//! never guessed. Measuring what the machine can do, apart from its timers, happens elsewhere.

mod arm;
mod host;
mod memory;
mod processor;
mod text;
mod topology;

use serde::{Deserialize, Serialize};

use crate::arch::hypervisor;
use crate::clock::{self, Clock};
use crate::level::Level;
use crate::os::affinity;
use crate::os::source::{Here, Source};

pub use host::{Host, System};
pub use memory::{HugePages, HugePool, Limits, Memory};
pub use processor::Processor;
pub use topology::{Cache, NumaNode, Topology};

/// A description of a computer, complete enough to explain a figure measured on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The operating system.
    pub system: System,
    /// What the computer is, or pretends to be.
    pub host: Host,
    /// The processor, by model.
    pub processor: Processor,
    /// Sockets, cores, threads, memory nodes.
    pub topology: Topology,
    /// Caches by level; equal ones are one entry.
    pub caches: Vec<Cache>,
    /// Memory and its pages.
    pub memory: Memory,
    /// What this process may use of all that.
    pub limits: Limits,
    /// Instruction levels of fathom's kernels.
    pub levels: Levels,
    /// Clocks, with what a read costs.
    pub timers: Timers,
}

/// Instruction levels, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    /// Those this processor has, plainest first.
    pub found: Vec<String>,
    /// The one kernels use.
    pub chosen: Option<String>,
    /// Whether the environment chose it.
    pub is_forced: bool,
}

/// Clocks of this computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timers {
    /// What the kernel derives its time from (`tsc`, `kvm-clock`, `arch_sys_counter` …).
    pub source: Option<String>,
    /// Name of the processor's time register.
    pub register: Option<String>,
    /// Whether the register ticks at one rate whatever the frequency.
    pub register_is_invariant: Option<bool>,
    /// Ticks per second of the register, measured.
    pub register_hz: Option<f64>,
    /// Each clock, measured.
    pub clocks: Vec<Timer>,
}

/// One clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timer {
    /// Which.
    pub name: String,
    /// One read, in nanoseconds.
    pub cost_ns: f64,
    /// The smallest difference it shows, in nanoseconds.
    pub step_ns: f64,
}

impl Machine {
    /// Describes this computer; takes some milliseconds, most of them to measure its timers.
    pub fn here() -> Machine {
        let mut machine = Machine::from_files(&Here);
        let name = rustix::system::uname();
        machine.system.kernel = Some(format!(
            "{} {}",
            name.sysname().to_string_lossy(),
            name.release().to_string_lossy()
        ));
        machine.system.architecture = name.machine().to_string_lossy().into_owned();
        if let Some(signature) = hypervisor::signature() {
            machine.host.hypervisor = Some(host::hypervisor_name(&signature));
        }
        machine.limits.allowed_cpus = affinity::allowed().ok().map(|cpus| cpus.len());
        machine.memory.page_bytes = Some(rustix::param::page_size() as u64);
        machine.levels = Levels::here();
        machine.timers = Timers { source: machine.timers.source, ..Timers::here() };
        machine
    }

    /// What the files of a computer say about it.
    fn from_files(source: &dyn Source) -> Machine {
        Machine {
            system: host::system(source),
            host: host::host(source),
            processor: processor::processor(source),
            topology: topology::topology(source),
            caches: topology::caches(source),
            memory: memory::memory(source),
            limits: memory::limits(source),
            levels: Levels::default(),
            timers: Timers {
                source: source
                    .text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
                ..Timers::default()
            },
        }
    }

    /// `N x MODEL (architecture)`, on one line.
    pub fn title(&self) -> String {
        text::title(self)
    }

    /// All of it for people: one subject a line.
    pub fn text(&self) -> String {
        text::text(self)
    }
}

impl Levels {
    fn here() -> Levels {
        Levels {
            found: Level::available().map(|level| level.name().to_owned()).collect(),
            chosen: Level::chosen().ok().map(|level| level.name().to_owned()),
            is_forced: std::env::var_os(crate::level::VARIABLE)
                .is_some_and(|word| !word.is_empty()),
        }
    }
}

impl Timers {
    fn here() -> Timers {
        let (register, is_invariant) = clock::cycle_register();
        let clocks = Clock::ALL.map(Clock::precision).map(|precision| Timer {
            name: precision.clock.name().to_owned(),
            cost_ns: tenths(precision.cost_ns),
            step_ns: tenths(precision.step_ns),
        });
        Timers {
            source: None,
            register: Some(register.to_owned()),
            register_is_invariant: Some(is_invariant),
            register_hz: Some(clock::rate().hz.round()).filter(|&hz| hz > 0.0),
            clocks: clocks.to_vec(),
        }
    }
}

/// More digits would pretend.
fn tenths(ns: f64) -> f64 {
    (ns * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests;
