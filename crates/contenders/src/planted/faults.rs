//! Contenders that fail in each of the ways a contender can: each must cost its own row and nothing
//! else.

use std::time::Duration;

use fathom_measure::contender::{Contender, Meta, Preparation, timed};
use fathom_measure::digest::Digest;

use super::steady::walk;
use super::workload::Steps;

pub(super) struct Faulty {
    pub(super) name: &'static str,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy)]
pub(super) enum Fault {
    /// Does one step less.
    Wrong,
    /// Does one step less after a few hundred iterations, in the middle of a measurement.
    LateWrong,
    /// Aborts at once.
    Crash,
    /// Aborts after a few hundred iterations, in the middle of a measurement.
    LateCrash,
    /// Never answers.
    Hang,
    /// Asks for memory until there is no more.
    Hungry,
}

impl Contender<Steps> for Faulty {
    fn meta(&self) -> Meta {
        Meta { name: self.name, ..Meta::of(include_str!("faults.rs")) }
    }

    fn prepare<'w>(&self, workload: &'w Steps) -> Preparation<'w> {
        let fault = self.fault;
        let mut runs = 0_u32;
        let run = move |workload: &Steps| {
            runs += 1;
            match fault {
                Fault::Crash => std::process::abort(),
                Fault::LateCrash if runs > 300 => std::process::abort(),
                Fault::Hang => loop {
                    std::thread::sleep(Duration::from_secs(1));
                },
                Fault::Hungry => eat(),
                _ => {}
            }
            let is_wrong = match fault {
                Fault::Wrong => true,
                Fault::LateWrong => runs > 300,
                _ => false,
            };
            walk(workload, workload.steps - u64::from(is_wrong), 1)
        };
        Ok(timed(workload, run, |end| Digest::of_u64(*end)))
    }
}

fn eat() {
    let mut eaten = Vec::new();
    loop {
        eaten.push(std::hint::black_box(vec![1_u8; 16 << 20]));
    }
}
