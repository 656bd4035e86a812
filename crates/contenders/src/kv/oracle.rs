//! The standard library's structures, whichever is enough: what every other answer is compared with.
//! The B-tree where order or sharing counts or keys are only touched, else the hash map, which has
//! tens of millions of keys ready before anybody tires of waiting.

use fathom_measure::contender::{Contender, Meta, Preparation};

use crate::keyed::bench::Hashed;
use crate::keyed::reference::Reference;
use crate::keyed::step::Act;
use crate::keyed::{Keyed, Operation};

pub(super) struct Oracle;

impl Contender<Keyed> for Oracle {
    fn meta(&self) -> Meta {
        Meta { name: "oracle", ..Meta::of(include_str!("oracle.rs")) }
    }

    fn is_listed(&self) -> bool {
        false
    }

    fn prepare<'w>(&self, workload: &'w Keyed) -> Preparation<'w> {
        match workload.operation() {
            Operation::Scan | Operation::Range | Operation::Shared | Operation::Touch => {
                Reference.prepare(workload)
            }
            Operation::Replay if workload.does(Act::Scan) => Reference.prepare(workload),
            _ => Hashed(crate::map::Std).prepare(workload),
        }
    }
}
