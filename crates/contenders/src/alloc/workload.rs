//! The workload of the family: blocks of given sizes, taken and given back in a pattern. Knows no
//! allocator.

use std::alloc::GlobalAlloc;
use std::hint::black_box;

use fathom_measure::contender::{Contender, Meta, Preparation, timed};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};
use fathom_random::Random;

use super::kernel::{Script, run};
use crate::tasks::{offer, parameter};

/// Blocks and what is done with them.
pub struct Blocks {
    script: Script,
    items: u64,
}

/// An allocator as a contender.
pub(super) struct Called<A> {
    pub(super) meta: Meta,
    /// The allocator for one iteration.
    pub(super) fresh: fn() -> A,
}

impl<A: GlobalAlloc + 'static> Contender<Blocks> for Called<A> {
    fn meta(&self) -> Meta {
        self.meta
    }

    fn prepare<'w>(&self, workload: &'w Blocks) -> Preparation<'w> {
        let (fresh, items) = (self.fresh, workload.items);
        let play = move |script: &Script| run(black_box(&fresh()), script);
        Ok(timed(&workload.script, play, move |sum| Digest::of_u64(items).with_u64(*sum)))
    }
}

impl Workload for Blocks {
    const OPERATIONS: &'static [Offer] = &[
        offer("random", "all blocks taken, then given back in random order"),
        offer("stack", "the last taken is given back first"),
        offer("queue", "the first taken is given back first"),
        offer("churn", "a random block replaced by another of other size, four times over"),
        offer("grow", "every block doubled in turns, four times, then given back"),
    ];
    const PARAMETERS: &'static [Offer] = &[
        parameter("blocks", "20000", "how many are live at once"),
        parameter(
            "size",
            "mixed",
            "bytes of each, or `mixed`: 8 to 1024, small ones as likely as large ones are rare",
        ),
        parameter("seed", "1", "seed of sizes and orders"),
    ];

    fn load(spec: &Spec) -> Result<Blocks, SpecError> {
        let blocks = spec.number("blocks")?;
        if !(1..=1 << 24).contains(&blocks) {
            return Err(spec.bad("blocks", "expected 1 to 16M"));
        }
        let fixed = match spec.text("size") {
            "mixed" => None,
            _ => Some(spec.number("size")?),
        };
        if fixed.is_some_and(|size| !(1..=1 << 20).contains(&size)) {
            return Err(spec.bad("size", "expected 1 to 1M, or `mixed`"));
        }
        let mut random = Random::new(spec.number("seed")?);
        // Uniform in the logarithm: as many from 8 to 16 as from 512 to 1024.
        let mixed = |random: &mut Random| 8.0 * 128_f64.powf(random.fraction());
        let size = |random: &mut Random| fixed.map_or_else(|| mixed(random) as u32, |s| s as u32);
        let sizes: Vec<u32> = (0..blocks).map(|_| size(&mut random)).collect();
        let mut order: Vec<u32> = (0..blocks as u32).collect();
        let (mut replaced, mut doubled) = (0, 0);
        match spec.operation.as_str() {
            "stack" => order.reverse(),
            "queue" => {}
            "churn" => {
                random.shuffle(&mut order);
                replaced = 4;
            }
            "grow" => doubled = 4,
            _ => random.shuffle(&mut order),
        }
        let bytes: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        if bytes << doubled > 4 << 30 {
            return Err(spec.bad("blocks", "more than 4 GiB at once with these sizes"));
        }
        let items = blocks * (1 + replaced as u64 + u64::from(doubled));
        Ok(Blocks { script: Script { sizes, order, replaced, doubled }, items })
    }

    fn work(&self) -> Work {
        Work { bytes: 0, items: self.items }
    }

    fn cases() -> Vec<Spec> {
        ["random", "churn", "grow"].map(|operation| Spec::new(operation, &[])).to_vec()
    }

    fn small_cases() -> Vec<Spec> {
        let with = |size| {
            ["random", "stack", "queue", "churn", "grow"]
                .map(|operation| Spec::new(operation, &[("blocks", "100"), ("size", size)]))
        };
        ["mixed", "1", "7000"].into_iter().flat_map(with).collect()
    }
}
