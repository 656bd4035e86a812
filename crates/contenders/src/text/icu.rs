//! ICU of this machine asked for the length in UTF-16, for which it decodes every character and refuses
//! what is none. It has no question of its own for validity.

use super::workload::{Operation, Scan};
use crate::system::lent;

lent! {
    ICU of Scan: icu::Icu, "icu.rs";
    |library, _, workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| library.is_utf8(text).into()),
        Operation::Utf8UpToZero => workload.counted(|text| library.is_utf8_up_to_zero(text).into()),
        _ => workload.operation.unsupported(),
    }
}
