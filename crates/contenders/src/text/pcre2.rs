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
            let pattern = library.pattern(PATTERN);
            let mut pattern =
                pattern.ok_or_else(|| Unsupported("compiles no patterns".to_owned()))?;
            workload.counted(move |text| pattern.ends(text).map(|end| end as u64).sum())
        }
        _ => workload.operation.unsupported(),
    },
};
