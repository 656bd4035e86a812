//! The crate `regex`, whose time is linear in the text whatever the pattern: its literal part is looked for
//! by vectors, the rest by an automaton.

use fathom_measure::contender::{Meta, Simple, Unsupported};
use regex::bytes::Regex;

use super::workload::{Operation, PATTERN, Scan};

pub(super) const REGEX: Simple<Scan> = Simple {
    meta: Meta::of_crate("regex", "MIT OR Apache-2.0", include_str!("regex.rs")),
    prepare: |workload| match workload.operation {
        Operation::Pattern => {
            let regex = Regex::new(PATTERN).map_err(|error| Unsupported(error.to_string()))?;
            workload
                .counted(move |text| regex.find_iter(text).map(|found| found.end() as u64).sum())
        }
        _ => workload.operation.unsupported(),
    },
};
