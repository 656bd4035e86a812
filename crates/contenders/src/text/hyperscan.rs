//! Hyperscan of this machine, or Vectorscan, its fork for other processors: all matches in one pass, their
//! ends alone, as it reports them.

use std::ffi::CString;

use fathom_measure::contender::Unsupported;

use super::workload::{Operation, PATTERN, Scan};
use crate::system::lent;

lent! {
    HYPERSCAN of Scan: hyperscan::Hyperscan, "hyperscan.rs";
    |library, _, workload| match workload.operation {
        Operation::Pattern => {
            let pattern = CString::new(PATTERN).expect("without a zero");
            let ends = library.ends(&pattern);
            workload.counted(ends.ok_or_else(|| Unsupported("compiles no patterns".to_owned()))?)
        }
        _ => workload.operation.unsupported(),
    }
}
