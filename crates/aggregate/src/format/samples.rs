//! Small results for the tests of this module.

use crate::engine::Column;
use crate::merge::{Partial, Stats};
use crate::number::Decimal;

/// Statistics of these values.
fn stats(texts: &[&str]) -> Stats {
    let number = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
    let mut all = Stats::of(&number(texts[0]), true);
    texts[1..].iter().for_each(|text| all.add(&number(text)));
    all
}

/// A column of these keys and values.
pub(super) fn column(name: &str, groups: &[(&[u8], &[&str])]) -> Column {
    let groups =
        groups.iter().map(|(key, values)| Partial { key: (*key).into(), stats: stats(values) });
    Column::new(name, groups.collect())
}
