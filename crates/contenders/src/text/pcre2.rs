//! PCRE2 of this machine, its pattern compiled to machine code beforehand.

use fathom_measure::contender::Unsupported;

use super::workload::{Operation, PATTERN, Scan};
use crate::system::lent;

lent! {
    PCRE2 of Scan: pcre2::Pcre2, "pcre2.rs";
    |library, _, workload| match workload.operation {
        Operation::Pattern => {
            let pattern = library.pattern(PATTERN);
            let mut pattern =
                pattern.ok_or_else(|| Unsupported("compiles no patterns".to_owned()))?;
            workload.counted(move |text| pattern.ends(text).map(|end| end as u64).sum())
        }
        _ => workload.operation.unsupported(),
    }
}
