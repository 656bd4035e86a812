//! The workload of the planted contenders: a number of steps of a chain in which each step needs
//! the one before, in registers or through memory.

use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use crate::tasks::{offer, parameter};

/// The chain without memory.
pub const REGISTERS: &str = "registers";
/// The chain through a ring in memory.
pub const MEMORY: &str = "memory";

/// How many steps, over what.
pub struct Steps {
    /// Steps of one iteration.
    pub steps: u64,
    /// A permutation in one cycle to walk; empty for a chain in registers.
    pub ring: Vec<u32>,
}

impl Workload for Steps {
    const OPERATIONS: &'static [Offer] = &[
        offer(REGISTERS, "a chain of shifts, in registers"),
        offer(MEMORY, "a chain of dependent loads"),
    ];
    const PARAMETERS: &'static [Offer] = &[
        parameter("steps", "10000", "steps in one iteration"),
        parameter("bytes", "8M", "memory the loads wander over"),
    ];

    fn load(spec: &Spec) -> Result<Steps, SpecError> {
        let steps = spec.number("steps")?.max(1);
        let ring = match spec.operation.as_str() {
            "memory" => {
                let entries = u32::try_from(spec.number("bytes")? / 4).ok().filter(|&n| n > 1);
                ring(entries.ok_or_else(|| spec.bad("bytes", "from 8 to below 16G"))?)
            }
            _ => Vec::new(),
        };
        Ok(Steps { steps, ring })
    }

    fn work(&self) -> Work {
        Work { bytes: 0, items: self.steps }
    }

    fn cases() -> Vec<Spec> {
        vec![Spec::new("registers", &[]), Spec::new("memory", &[])]
    }

    fn small_cases() -> Vec<Spec> {
        let few = ("steps", "100");
        vec![Spec::new("registers", &[few]), Spec::new("memory", &[few, ("bytes", "4K")])]
    }
}

/// A random permutation of `entries` entries that is a single cycle (Sattolo 1986).
fn ring(entries: u32) -> Vec<u32> {
    let mut random = fathom_measure::stats::Random::new(42);
    let mut ring: Vec<u32> = (0..entries).collect();
    for last in (1..ring.len()).rev() {
        ring.swap(last, random.below(last));
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_one_cycle() {
        let ring = ring(1000);
        let mut at = 0;
        for _ in 0..999 {
            at = ring[at as usize];
            assert_ne!(at, 0);
        }
        assert_eq!(ring[at as usize], 0);
    }
}
