//! The chain itself, and copies of it that do exactly so many percent more steps and give the same
//! answer: what a verdict on them must say is known.

use fathom_measure::contender::{Contender, Meta, Preparation, timed};
use fathom_measure::digest::Digest;

use super::workload::Steps;

pub(super) struct Steady {
    pub(super) name: &'static str,
    /// Steps beyond those asked for, in percent.
    pub(super) percent: u64,
}

impl Contender<Steps> for Steady {
    fn meta(&self) -> Meta {
        Meta { name: self.name, ..Meta::of(include_str!("steady.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Steps) -> Preparation<'w> {
        let extra = workload.steps * self.percent / 100;
        Ok(timed(
            workload,
            move |workload| {
                let answer = walk(workload, workload.steps, 1);
                // The surplus starts from the answer and cannot be done at the same time.
                (answer, walk(workload, extra, answer))
            },
            |(answer, _)| Digest::of_u64(*answer),
        ))
    }
}

/// Where `steps` steps from `start` lead.
#[inline(never)]
pub(super) fn walk(workload: &Steps, steps: u64, start: u64) -> u64 {
    let mut state = start;
    if workload.ring.is_empty() {
        for _ in 0..steps {
            // xorshift64 (Marsaglia 2003)
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        return state;
    }
    for _ in 0..steps {
        state = u64::from(workload.ring[state as usize]);
    }
    state
}
