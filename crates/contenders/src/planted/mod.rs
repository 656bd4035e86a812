//! Planted contenders, whose true differences and failures are known: what `fathom selftest` audits
//! the method with. Not a family that users choose from, and its contenders break the rules of the
//! others on purpose.

use fathom_measure::facts::Facts;
use fathom_measure::family::{AnyFamily, Family};

mod faults;
mod steady;
mod workload;

pub use workload::{MEMORY, REGISTERS, Steps};

/// The family.
#[must_use]
#[inline(never)]
pub fn family() -> &'static dyn AnyFamily {
    &FAMILY
}

pub(crate) const FAMILY: Family<Steps> = Family {
    name: "planted",
    source: include_str!("mod.rs"),
    reference: "steady",
    contenders: &[
        &steady::Steady { name: "steady", percent: 0 },
        &steady::Steady { name: "steady-too", percent: 0 },
        &steady::Steady { name: "slower-1", percent: 1 },
        &steady::Steady { name: "slower-2", percent: 2 },
        &steady::Steady { name: "slower-5", percent: 5 },
        &steady::Steady { name: "slower-100", percent: 100 },
        &faults::Faulty { name: "wrong", fault: faults::Fault::Wrong },
        &faults::Faulty { name: "late-wrong", fault: faults::Fault::LateWrong },
        &faults::Faulty { name: "crash", fault: faults::Fault::Crash },
        &faults::Faulty { name: "late-crash", fault: faults::Fault::LateCrash },
        &faults::Faulty { name: "hang", fault: faults::Fault::Hang },
        &faults::Faulty { name: "hungry", fault: faults::Fault::Hungry },
    ],
    absent: &[],
    facts: &Facts::NONE,
};
