//! The finished table as a page.

use std::path::PathBuf;

use fathom_aggregate::format::{self, Telling};
use fathom_aggregate::{Column, Layout};
use fathom_report::escape;
use fathom_report::html::grid::{self, Grid, MOST_KEYS};

/// The page; whether the last row is the total is for who made it to say.
pub(super) fn page(title: String, columns: &[Column], layout: &Layout, total: bool) -> Vec<u8> {
    // Counts of texts are numbers.
    let is_text = |(_, telling): &(String, Telling)| match telling {
        Telling::Of(at, told) => columns[*at].is_text && (told.needs_all() || told.needs_ends()),
        _ => false,
    };
    let all = columns[0].groups.len();
    let keys = all - usize::from(total);
    let shown = (0..keys.min(MOST_KEYS)).chain(total.then_some(keys));
    let mut lines = format::rows(columns, layout, shown).into_iter();
    let head = lines.next().unwrap_or_default();
    let grid = Grid {
        title,
        head,
        keys: layout.keys.len(),
        of: keys,
        rows: lines.collect(),
        ranges: ranges(columns, layout),
        pairs: layout.pairs,
        texts: format::tellings(columns, layout).iter().map(is_text).collect(),
        total,
    };
    grid::page(&grid).into_bytes()
}

/// A command and its inputs, of which there may be many: the first are told.
pub(super) fn title(command: &str, files: &[PathBuf]) -> String {
    const MOST: usize = 200;
    let files = files.iter().take(MOST).map(|path| path.to_string_lossy().into_owned());
    let words = ["fathom", command].map(str::to_owned).into_iter().chain(files);
    let line = escape::shell(&words.collect::<Vec<_>>());
    let cut = line.char_indices().nth(MOST).map(|(at, _)| format!("{}…", &line[..at]));
    cut.unwrap_or(line)
}

/// Where each value's least, middle and greatest stand: the middle is the mean, or else the median.
fn ranges(columns: &[Column], layout: &Layout) -> Vec<[usize; 3]> {
    let told = format::tellings(columns, layout);
    let range = |at: usize| {
        let place = |word: &str| {
            let is_it = |telling: &Telling| matches!(telling, Telling::Of(of, told) if *of == at && told.to_string() == word);
            let found = told.iter().position(|(_, telling)| is_it(telling))?;
            Some(layout.keys.len() + found)
        };
        let middle = place("mean").or_else(|| place("p50")).or_else(|| place("median"));
        Some([place("min")?, middle?, place("max")?])
    };
    (0..columns.len()).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pages could not be told apart.
    #[test]
    fn a_page_is_called_as_its_inputs() {
        let of = |files: &[&str]| {
            title("aggregate", &files.iter().map(PathBuf::from).collect::<Vec<_>>())
        };
        assert_eq!(of(&["before.csv", "a b.csv"]), "fathom aggregate before.csv 'a b.csv'");
        let many = of(&["é"; 300]);
        assert!(many.starts_with("fathom aggregate 'é' 'é'") && many.ends_with('…'), "{many}");
        assert_eq!(many.chars().count(), 201);
    }
}
