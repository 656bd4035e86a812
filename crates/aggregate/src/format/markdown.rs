//! A result as a table in Markdown (GitHub Flavored Markdown, section 4.10), aligned in its source, too.

use unicode_width::UnicodeWidthStr;

use super::Layout;
use super::text::{groups, lines, plain, widths};
use crate::engine::Column;

/// A table in Markdown: keys to the left, numbers to the right. What would end a cell, or mean something else in
/// Markdown, is escaped, but for addresses of which GitHub makes links (`https://a.b`, `www.a.b`, `a@b.c`): they show the
/// same text, and backslashes keep it from none of mail.
pub fn markdown(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let lines = lines((columns, 0..groups(columns)), layout, escaped);
    let widths: Vec<usize> = widths(&lines).into_iter().map(|width| width.max(3)).collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - cell.width());
            let is_key = at < layout.keys.len();
            text.push_str(if at == 0 { "| " } else { " | " });
            text.push_str(&if is_key { format!("{cell}{blanks}") } else { blanks + cell });
        }
        text.push_str(" |\n");
        if number == 0 {
            for (at, width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width - 1);
                text.push_str(if at == 0 { "| " } else { " | " });
                let is_key = at < layout.keys.len();
                text.push_str(&if is_key { format!("{dashes}-") } else { format!("{dashes}:") });
            }
            text.push_str(" |\n");
        }
    }
    text.into_bytes()
}

/// Text that stays text: with a backslash before all that means something within a line.
fn escaped(text: &[u8]) -> String {
    let mut shown = String::new();
    for c in plain(text).chars() {
        if "\\|`*_[]<>&~".contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
