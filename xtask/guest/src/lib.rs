//! What the first program of an emulated machine and `cargo xtask`, which writes its list of commands,
//! have in common: how a line of that list reads.
//!
//! ```
//! let line = fathom_guest::Line::read("FATHOM_LEVEL=scalar fathom run 'a command'");
//! assert_eq!(line.environment, [("FATHOM_LEVEL".to_owned(), "scalar".to_owned())]);
//! assert_eq!((line.program.as_str(), &line.arguments[1..]), ("fathom", &["a command".to_owned()][..]));
//! ```

#![deny(unsafe_code)]

/// A command: assignments for its environment, a program, its arguments, separated by blanks; single
/// quotes keep blanks in a word. There is no shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Names and values that are added to the environment.
    pub environment: Vec<(String, String)>,
    /// The program's name; empty where the line has none.
    pub program: String,
    /// What it is given.
    pub arguments: Vec<String>,
}

impl Line {
    /// Takes a line apart.
    #[must_use]
    pub fn read(line: &str) -> Line {
        let mut words = words(line).into_iter().peekable();
        let mut environment = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|word| word.split_once('=')) {
            environment.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let program = words.next().unwrap_or_default();
        Line { environment, program, arguments: words.collect() }
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
