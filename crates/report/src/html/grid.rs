//! A finished table on a page, such as the result of `fathom aggregate`: it can be sorted, and where a key
//! has a least, a middle and a greatest value they are drawn.

use std::fmt::Write;

use super::page::{self, Cell};
use super::plot::{self, Axis};
use crate::number::plural;

/// A table somebody else made.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// What it is of.
    pub title: String,
    /// The names of its columns.
    pub head: Vec<String>,
    /// How many of the columns, from the left, are keys.
    pub keys: usize,
    /// Of each column after the keys, whether it holds texts; those beyond the last hold numbers.
    pub texts: Vec<bool>,
    /// How many keys it has.
    pub of: usize,
    /// The rows of the first of them, of which [`MOST_KEYS`] are enough.
    pub rows: Vec<Vec<String>>,
    /// Whether the last row is no key's but the total of all.
    pub total: bool,
    /// Columns that belong together, each as places of a least, a middle and a greatest value.
    pub ranges: Vec<[usize; 3]>,
    /// Whether each two of these are of one value, before and after.
    pub pairs: bool,
}

/// Keys on a page: with many more no browser is quick.
pub const MOST_KEYS: usize = 5_000;

/// Its page.
#[must_use]
pub fn page(grid: &Grid) -> String {
    let total = grid.rows.last().filter(|_| grid.total);
    let shown = &grid.rows[..grid.rows.len() - usize::from(total.is_some())];
    let mut body = String::from("<section>\n");
    if shown.len() < grid.of {
        let _ = writeln!(
            body,
            "<p class=\"warn\">The first {} of them are here; --sort and --top choose others, and --format \
             csv has all.</p>",
            shown.len()
        );
    }
    if !grid.ranges.is_empty() {
        let of = if grid.pairs { "value, before and after," } else { "column" };
        let _ = writeln!(
            body,
            "<p class=\"soft small\">Bars go from the least to the greatest value of a key, with a mark at the \
             middle one; all bars of a {of} are on one axis.</p>"
        );
    }
    body += &table(grid, shown, total);
    body += "</section>\n";
    page::plain(grid.title.clone(), grid.title.clone(), plural(grid.of, "key"), body)
}

/// The number in a cell.
fn number(row: &[String], column: usize) -> Option<f64> {
    row.get(column)?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn table(grid: &Grid, rows: &[Vec<String>], total: Option<&Vec<String>>) -> String {
    let axis = |ranges: &[[usize; 3]]| {
        let ends =
            |row| ranges.iter().flat_map(move |[least, _, most]| [(row, *least), (row, *most)]);
        let ends = rows.iter().chain(total).flat_map(ends);
        let ends: Vec<f64> = ends.filter_map(|(row, column)| number(row, column)).collect();
        vec![Axis::around(ends.into_iter()); ranges.len()]
    };
    let axes: Vec<Axis> = grid.ranges.chunks(1 + usize::from(grid.pairs)).flat_map(axis).collect();
    let mut head = Vec::new();
    for (column, name) in grid.head.iter().enumerate() {
        head.push(name.clone());
        if grid.ranges.iter().any(|range| range[2] == column) {
            head.push(String::new());
        }
    }
    let row = |row: &Vec<String>| {
        let mut cells = Vec::new();
        for (column, text) in row.iter().enumerate() {
            cells.push(match column.checked_sub(grid.keys) {
                None => Cell::name(text),
                // One that sorts as text: `web-2` is no number.
                Some(at) if grid.texts.get(at) == Some(&true) => Cell::text(text),
                Some(_) => Cell::number(text),
            });
            if let Some(which) = grid.ranges.iter().position(|range| range[2] == column) {
                cells.push(Cell::drawing(range(row, &grid.ranges[which], &axes[which], which)));
            }
        }
        cells
    };
    let cells: Vec<Vec<Cell>> = rows.iter().map(row).collect();
    page::totalled(&grid.title, &head, &cells, total.map(row))
}

fn range(row: &[String], places: &[usize; 3], axis: &Axis, colour: usize) -> String {
    let [Some(least), Some(middle), Some(most)] = places.map(|place| number(row, place)) else {
        return String::new();
    };
    let [from, at, to] = [least, middle, most].map(|value| axis.at(value));
    let marks = format!(
        "<rect {} f\" x=\"{from:.1}%\" y=\"6\" width=\"{:.1}%\" height=\"6\" rx=\"2\"/>{}",
        plot::series(colour),
        (to - from).max(0.3),
        plot::line((at, 3.0), (at, 15.0), "i")
    );
    plot::ornament(18.0, &marks)
}
