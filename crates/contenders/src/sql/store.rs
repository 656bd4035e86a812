//! What a database must be able to do to take part, and the functions it lends to SQL.
//!
//! Knows nothing of SQL text. Failures are panics: the work is fixed, so one is a bug of the
//! contender, which then loses its row.

use crate::people::Person;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the columns of [`Person`]
pub enum Column {
    Id,
    FirstName,
    LastName,
    Data,
    YearOfBirth,
    YearOfDeath,
}

impl Column {
    /// All, in the table's order.
    pub const ALL: [Column; 6] = [
        Column::Id,
        Column::FirstName,
        Column::LastName,
        Column::Data,
        Column::YearOfBirth,
        Column::YearOfDeath,
    ];
}

/// A function called from SQL, on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// [`soundex`].
    Soundex,
    /// Capital letters, of all scripts.
    Upper,
    /// Where `a` stands first, from 1; 0 where it does not.
    CharIndex,
}

/// A table `People` and a log file, behind whatever answers for them.
pub trait Store {
    /// Opens a transaction.
    fn begin(&mut self);
    /// Ends it; its changes stay.
    fn commit(&mut self);
    /// Adds a row and answers its key; `person.id` is taken unless it is 0. Where the store has
    /// statements, `is_literal` writes the values into a new one.
    fn add(&mut self, person: &Person, is_literal: bool) -> i64;
    /// Changes a row; whether it is there.
    fn update(&mut self, person: &Person) -> bool;
    /// The rows with this last name, ordered by first name (bytes), then key.
    fn named(&mut self, last_name: &str) -> Vec<Person>;
    /// All rows by key.
    fn all(&mut self) -> Vec<Person>;
    /// All rows by key, visited one by one: how many there are and the sum of their years.
    fn cursor(&mut self) -> (u64, i64);
    /// Rewrites the whole database without gaps, where that means anything.
    fn vacuum(&mut self);
    /// The keys of all rows, ordered by these columns, downwards where the flag is set, at last by
    /// key. First names compare without the case of ASCII letters, all other columns by bytes or
    /// value.
    fn sorted(&mut self, by: &[(Column, bool)]) -> Vec<i64>;
    /// Rows whose first name holds `part`, ASCII case ignored.
    fn like(&mut self, part: &str) -> u64;
    /// Rows whose first name matches a pattern of [`matches()`].
    fn regexp(&mut self, pattern: &str) -> u64;
    /// All first names of this last name by key, joined by commas.
    fn joined(&mut self, last_name: &str) -> String;
    /// The remainder of a division, by a function called from SQL.
    fn remainder(&mut self, a: i64, b: i64) -> i64;
    /// The answer of a function called from SQL.
    fn call(&mut self, function: Function, text: &str) -> String;
    /// Attaches a log of these lines (`time,level,text`) as a table.
    fn attach_log(&mut self, lines: &[String]);
    /// Lines of the log: all, those at a level, or those whose text holds a word.
    fn log(&mut self, level: Option<&str>, word: Option<&str>) -> u64;
    /// Rows added or changed after `version` with their versions, in the order of these.
    fn changes(&mut self, version: i64) -> Vec<(Person, i64)>;
    /// Takes over rows of another store with their versions.
    fn apply(&mut self, rows: &[(Person, i64)]);
}

/// The American Soundex code: the first letter and three digits, as the National Archives describe it.
#[must_use]
pub fn soundex(text: &str) -> String {
    let code = |letter: char| match letter {
        'B' | 'F' | 'P' | 'V' => Some('1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some('2'),
        'D' | 'T' => Some('3'),
        'L' => Some('4'),
        'M' | 'N' => Some('5'),
        'R' => Some('6'),
        _ => None,
    };
    let mut letters =
        text.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_uppercase());
    let Some(first) = letters.next() else { return String::new() };
    let mut answer = String::from(first);
    let mut last = code(first);
    for letter in letters {
        let this = code(letter);
        if let Some(digit) = this.filter(|_| this != last) {
            answer.push(digit);
        }
        // H and W do not part two letters of one code; vowels do.
        if !matches!(letter, 'H' | 'W') {
            last = this;
        }
        if answer.len() == 4 {
            break;
        }
    }
    format!("{answer:0<4}")
}

/// Whether `text` matches a pattern of literal characters, `^` and `\b`: the plain way, at every place.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    places.into_iter().any(|at| matches_at(pattern, text, at))
}

fn matches_at(pattern: &str, text: &str, at: usize) -> bool {
    if let Some(rest) = pattern.strip_prefix('^') {
        return at == 0 && matches_at(rest, text, at);
    }
    if let Some(rest) = pattern.strip_prefix("\\b") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = text[..at].chars().next_back().is_some_and(is_word);
        let after = text[at..].chars().next().is_some_and(is_word);
        return before != after && matches_at(rest, text, at);
    }
    match pattern.chars().next() {
        None => true,
        Some(wanted) => {
            text[at..].starts_with(wanted)
                && matches_at(&pattern[wanted.len_utf8()..], text, at + wanted.len_utf8())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soundex_codes_are_those_of_the_national_archives() {
        let cases = [
            ("Washington", "W252"),
            ("Lee", "L000"),
            ("Gutierrez", "G362"),
            ("Pfister", "P236"),
            ("Jackson", "J250"),
            ("Tymczak", "T522"),
            ("Ashcraft", "A261"),
            ("", ""),
        ];
        for (name, code) in cases {
            assert_eq!(soundex(name), code, "{name}");
        }
    }

    #[test]
    fn patterns_match_whole_words_and_beginnings() {
        for (pattern, text, expected) in [
            ("\\bFinley\\b", "Samuel Finley Breese1", true),
            ("\\bFinley\\b", "Samuel Finleys", false),
            ("^Samuel F", "Samuel Finley", true),
            ("^Finley", "Samuel Finley", false),
            ("x", "é", false),
            ("", "", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
