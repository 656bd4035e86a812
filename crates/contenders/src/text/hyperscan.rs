//! Hyperscan of this machine, or Vectorscan, its fork for other processors: all matches in one pass, their
//! ends alone, as it reports them.

use std::ffi::CString;

use fathom_measure::contender::{Meta, Unsupported};

use super::workload::{Operation, PATTERN, Scan};
use crate::system::Lent;
use crate::system::hyperscan::{self, Hyperscan};

pub(super) static HYPERSCAN: Lent<Scan, Hyperscan> = Lent {
    meta: Meta { source: include_str!("hyperscan.rs"), ..hyperscan::META },
    library: &hyperscan::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Pattern => {
            let pattern = CString::new(PATTERN).expect("without a zero");
            let ends = library.ends(&pattern);
            workload.counted(ends.ok_or_else(|| Unsupported("compiles no patterns".to_owned()))?)
        }
        _ => workload.operation.unsupported(),
    },
};
