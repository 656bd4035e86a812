//! SHA-256 of sixteen messages at once, each in a lane of AVX-512 or AVX2 registers. fathom's own; of no use
//! for one message.

use fathom_machine::level::Level;
use fathom_measure::contender::{Contender, Meta, Path, Preparation, Unsupported};

use super::kernel;
use super::workload::{Messages, Operation};

pub(super) struct Lanes;

const ABSENCE: &str = "this processor, or the level asked for, has neither AVX2 nor AVX-512";

impl Contender<Messages> for Lanes {
    fn meta(&self) -> Meta {
        Meta {
            name: "lanes",
            hardware: |_| match kernel::form(Level::current()) {
                Some(form) => Path::takes(form.level),
                None => Path::Portable,
            },
            ..Meta::of(include_str!("lanes.rs"))
        }
    }

    fn absence(&self) -> Option<&'static str> {
        kernel::form(Level::current()).is_none().then_some(ABSENCE)
    }

    fn prepare<'w>(&self, workload: &'w Messages) -> Preparation<'w> {
        let form = kernel::form(Level::current()).ok_or_else(|| Unsupported(ABSENCE.to_owned()))?;
        match workload.operation {
            Operation::Sha256Many => workload.together(form.run),
            _ => workload.operation.unsupported(),
        }
    }
}
