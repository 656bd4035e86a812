//! Numbers to the nearest double, by the exact conversion of `fathom-json`: the digits that the quick
//! parser lost are back.

use super::scanner;
use super::workload::step;

step! {
    EXACT, Exact: "exact", "exact.rs";
    |source, take| scanner::each_pair::<false>(source, 256 << 10, nearest, take)
}

pub(super) fn nearest(text: &[u8]) -> f64 {
    fathom_json::nearest(text).unwrap_or(f64::NAN)
}
