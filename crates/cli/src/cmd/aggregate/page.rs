//! The finished table as a page.

use fathom_aggregate::format;
use fathom_aggregate::{Column, Layout};
use fathom_report::html::grid::{self, Grid};

/// The page; `title` says what was aggregated.
pub(super) fn page(columns: &[Column], layout: &Layout, title: &str) -> Vec<u8> {
    let mut lines = format::rows(columns, layout).into_iter();
    let head = lines.next().unwrap_or_default();
    let grid = Grid {
        title: title.to_owned(),
        head,
        keys: layout.keys.len(),
        rows: lines.collect(),
        ranges: ranges(columns, layout),
    };
    grid::page(&grid).into_bytes()
}

/// Where each value's least, middle and greatest stand: the middle is the mean, or else the median.
fn ranges(columns: &[Column], layout: &Layout) -> Vec<[usize; 3]> {
    let mut ranges = Vec::new();
    let mut first = layout.keys.len();
    for column in columns {
        let told: Vec<String> = format::told(column, layout).map(|one| one.to_string()).collect();
        let place = |word: &str| told.iter().position(|one| one == word);
        let middle = place("mean").or_else(|| place("p50")).or_else(|| place("median"));
        if let (Some(min), Some(middle), Some(max)) = (place("min"), middle, place("max")) {
            ranges.push([min, middle, max].map(|place| first + place));
        }
        first += told.len();
    }
    ranges
}
