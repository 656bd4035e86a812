//! Text in lines of a terminal's width: sentences wrapped at blanks, tables that drop what matters least.
//! Width is in places of a terminal, of which a character of some scripts takes two and an accent none.

use unicode_width::UnicodeWidthStr;

/// The width where nobody says another.
pub const USUAL: usize = 80;

/// What stays with the number before it.
const UNITS: [&str; 11] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "bytes"];

/// How many places a text takes.
#[must_use]
pub fn places(text: &str) -> usize {
    text.width()
}

/// `text` and blanks behind it, so that it takes so many places at least.
#[must_use]
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(places(text))))
}

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<&str> {
    let is_number = |word: &str| {
        let is_part = |c: char| c.is_ascii_digit() || "(.,–-±".contains(c);
        word.ends_with(|c: char| c.is_ascii_digit()) && word.chars().all(is_part)
    };
    let mut words: Vec<&str> = Vec::new();
    let (mut start, mut last) = (0, "");
    for word in text.split(' ') {
        let end = start + word.len();
        let unit = word.trim_end_matches(['.', ',', ';', ':', ')']);
        match words.last_mut().filter(|_| is_number(last) && UNITS.contains(&unit)) {
            Some(number) => *number = &text[start - 1 - number.len()..end],
            None => words.push(word),
        }
        (start, last) = (end + 1, word);
    }
    words
}

/// `text` in lines of at most `width` places where its words allow; every line after the first
/// begins with `indent` blanks, of narrow lines with half their width, and the first one with those that it has.
#[must_use]
pub fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let words = text.trim_start_matches(' ');
    let indent = indent.min(width / 2);
    let mut used = text.len() - words.len();
    let mut lines = " ".repeat(used);
    for (number, word) in self::words(words).into_iter().enumerate() {
        let length = places(word);
        if number > 0 && used > indent && used + 1 + length > width {
            lines.truncate(lines.trim_end().len());
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if number > 0 {
            lines.push(' ');
            used += 1;
        }
        lines += word;
        used += length;
    }
    lines
}

/// Prose in lines of at most `width` places where its words allow: those that follow one another are taken for one
/// paragraph, unless one begins with a blank or the sign of a list, a table, a title or code.
#[must_use]
pub fn filled(prose: &str, width: usize) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in prose.lines() {
        let is_prose = !line.starts_with([' ', '-', '*', '|', '#', '`']) && !line.is_empty();
        match paragraphs.last_mut().filter(|_| is_prose && goes_on) {
            Some(last) => *last = format!("{last} {line}"),
            None => paragraphs.push(line.to_owned()),
        }
        goes_on = is_prose;
    }
    let lines = paragraphs.into_iter().map(|paragraph| match paragraph.starts_with([' ', '|']) {
        // Code and tables stay.
        true => paragraph,
        false => wrapped(&paragraph, width, 0),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its title and its cells, all tables' rows in the same order.
    pub cells: Vec<String>,
    /// Text is flush left, numbers are flush right.
    pub left: bool,
    /// 0 is never dropped; the greatest is dropped first.
    pub rank: u8,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| places(cell)).max().unwrap_or(0)
    }
}

/// The columns that there is room for, so many blanks apart: the greatest rank is left out first, the last of them first.
pub(crate) fn kept(widths: &[usize], ranks: &[u8], gap: usize, room: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..widths.len()).collect();
    let total = |kept: &[usize]| kept.iter().map(|&column| widths[column] + gap).sum::<usize>();
    while total(&kept) > room.saturating_add(gap) {
        let ranked = kept.iter().enumerate().filter(|(_, column)| ranks[**column] > 0);
        let Some((at, _)) = ranked.max_by_key(|(_, column)| ranks[**column]) else { break };
        kept.remove(at);
    }
    kept
}

/// The columns side by side, two blanks apart. While they are wider than `width`, the one of the
/// greatest rank goes, the last of them first; the titles of those that went are returned, too.
#[must_use]
pub fn fitted(columns: Vec<Column>, width: usize) -> (String, Vec<String>) {
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let ranks: Vec<u8> = columns.iter().map(|column| column.rank).collect();
    let kept = kept(&widths, &ranks, 2, width);
    let (columns, mut dropped): (Vec<_>, Vec<_>) =
        columns.into_iter().enumerate().partition(|(at, _)| kept.contains(at));
    dropped.sort_by_key(|(_, column)| column.rank);
    let dropped = dropped.into_iter().map(|(_, mut column)| column.cells.swap_remove(0)).collect();
    let columns: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        for column in &columns {
            let cell = column.cells.get(row).map_or("", String::as_str);
            let pad = " ".repeat(column.width() - places(cell));
            match column.left {
                true => line.extend([cell, &pad, "  "]),
                false => line.extend([pad.as_str(), cell, "  "]),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    (text, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They were counted by characters: Japanese was half as wide as it is shown.
    #[test]
    fn scripts_of_wide_characters_take_two_places() {
        let left = vec!["", "日本語", "e\u{301}", "<b>"];
        let column = |cells: Vec<&str>, left| Column {
            cells: cells.into_iter().map(str::to_owned).collect(),
            left,
            rank: 0,
        };
        let (text, _) =
            fitted(vec![column(left, true), column(vec!["n", "1", "2", "3"], false)], 80);
        assert_eq!(text, "        n\n日本語  1\ne\u{301}       2\n<b>     3\n");
        assert_eq!(wrapped("日本語 日本語", 12, 0), "日本語\n日本語");
        assert_eq!(padded("日本", 6), "日本  ");
    }

    #[test]
    fn words_stay_whole_and_lines_within_the_width() {
        let text = "use std with hash foldhash: 57.9 ns per operation, 0.44 times the time";
        for width in [20, 33, 80] {
            let lines = wrapped(text, width, 4);
            assert!(lines.lines().all(|line| line.chars().count() <= width), "{lines}");
            let words: Vec<&str> = lines.split_whitespace().collect();
            assert_eq!(words.join(" "), text);
            assert!(lines.lines().skip(1).all(|line| line.starts_with("    ")), "{lines}");
        }
        assert_eq!(wrapped("a_word_longer_than_that b", 8, 2), "a_word_longer_than_that\n  b");
        assert_eq!(wrapped("", 8, 2), "");
        assert_eq!(wrapped("    a b", 8, 2), "    a b");
        assert_eq!(wrapped("a b c d e f", 6, 20), "a b c\n   d e\n   f");
        let units = wrapped("it took 1.2 ms, or (99 %) of it", 11, 0);
        assert_eq!(units, "it took\n1.2 ms, or\n(99 %) of\nit");
        assert_eq!(wrapped("          beyond it", 8, 2), "          beyond\n  it");
    }

    #[test]
    fn paragraphs_are_filled_and_lists_and_code_stay() {
        let prose =
            "one two\nthree four\n\n- a list\n- goes on\nfive\nsix\n    code  here\n`x` seven";
        let filled = super::filled(prose, 13);
        let expected =
            "one two three\nfour\n\n- a list\n- goes on\nfive six\n    code  here\n`x` seven";
        assert_eq!(filled, expected);
    }

    #[test]
    fn what_matters_least_goes_first_and_is_named() {
        let column = |cells: [&str; 2], left, rank| Column {
            cells: cells.map(str::to_owned).to_vec(),
            left,
            rank,
        };
        let columns = vec![
            column(["name", "hashbrown"], true, 0),
            column(["ns", "57.9"], false, 0),
            column(["peak", "86.5"], false, 2),
            column(["live", "57.7"], false, 1),
        ];
        let (all, dropped) = fitted(columns.clone(), 80);
        assert_eq!(all, "name         ns  peak  live\nhashbrown  57.9  86.5  57.7\n");
        assert_eq!(dropped, Vec::<String>::new());
        let (some, dropped) = fitted(columns.clone(), 22);
        assert_eq!(some, "name         ns  live\nhashbrown  57.9  57.7\n");
        assert_eq!(dropped, ["peak"]);
        let (few, dropped) = fitted(columns, 3);
        assert_eq!(few, "name         ns\nhashbrown  57.9\n");
        assert_eq!(dropped, ["live", "peak"]);
    }
}
