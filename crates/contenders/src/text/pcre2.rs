//! PCRE2 of this machine, its pattern compiled to machine code beforehand.

use fathom_measure::contender::{Meta, Unsupported};

use super::workload::{Operation, PATTERN, Scan};
use crate::system::Lent;
use crate::system::pcre2::{self, Pcre2};

pub(super) static PCRE2: Lent<Scan, Pcre2> = Lent {
    meta: Meta { source: include_str!("pcre2.rs"), ..pcre2::META },
    library: &pcre2::LIBRARY,
    levels: &[],
    prepare: |library, _, workload| match workload.operation {
        Operation::Pattern => {
            let ends = library.ends(PATTERN);
            let mut ends = ends.ok_or_else(|| Unsupported("compiles no patterns".to_owned()))?;
            workload.counted(move |text| {
                let mut sum = 0;
                ends(text, &mut |end| sum += end as u64);
                sum
            })
        }
        _ => workload.operation.unsupported(),
    },
};
