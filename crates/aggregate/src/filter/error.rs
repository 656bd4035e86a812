//! What is wrong with a condition, and where, shown under its text.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

/// What is wrong at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

impl Wrong {
    pub(super) fn at(span: &Range<usize>, message: &str) -> Wrong {
        Wrong { span: span.clone(), message: message.to_owned() }
    }
}

/// Why a text is no [`Filter`](super::Filter). It shows the text with carets under what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    pub(super) text: String,
    pub(super) wrong: Wrong,
}

impl FilterError {
    /// Where what is wrong stands in the text, in bytes.
    pub fn span(&self) -> Range<usize> {
        self.wrong.span.clone()
    }
}

impl std::error::Error for FilterError {}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| -> String {
            text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
        };
        let Range { start, end } = self.wrong.span;
        let blanks = " ".repeat(shown(&self.text[..start]).width());
        let carets = "^".repeat(shown(&self.text[start..end]).width().max(1));
        write!(f, "{}\n  {}\n  {blanks}{carets}", self.wrong.message, shown(&self.text))
    }
}
