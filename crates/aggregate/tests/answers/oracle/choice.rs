//! Wishes drawn from a number: every option, format and way of running, for property tests and fuzzing.

use std::collections::BTreeMap;

use fathom_aggregate::{Options, Source, Spill};
use fathom_machine::level::Level;

use super::bucket::WIDTHS;
use super::check::{file, stream};
use super::condition::{Amount, COMPARISONS, PATTERNS, RECIPROCALS, SIGNS, Test, Word};
use super::number::Round;
use super::shown::{By, FORMS, Look, OF_TEXTS, STATISTICS};
use super::{Null, Place, Task};

/// Spills to files among the temporary ones.
pub fn spill() -> Spill {
    let folder = std::env::temp_dir();
    Spill { folder, create: |at| tempfile::tempfile_in(at), totals: false, least_bytes: 0 }
}

/// Hands out small numbers of a large one.
pub struct Choices(pub u64);

impl Choices {
    /// One of so many, from 0.
    pub fn of(&mut self, many: usize) -> usize {
        let many = many as u64;
        let choice = self.0 % many;
        self.0 /= many;
        choice as usize
    }

    fn yes(&mut self) -> bool {
        self.of(2) == 1
    }

    /// A form of delimited text of a few columns, and what is wanted of it.
    pub fn task(&mut self) -> Task {
        let header = self.yes();
        let nulls: [&[&str]; 3] = [&[""], &["", "NA"], &["", "-1.0", "a"]];
        let mut task = Task {
            delimiter: b";,\t|"[self.of(4)],
            plain: false,
            quotes: true,
            comma: false,
            header,
            keys: (0..=self.of(3)).map(|_| self.place(header)).collect(),
            shapes: (0..3)
                .map(|_| [None, None, None, Some(WIDTHS[self.of(6)])][self.of(4)])
                .collect(),
            trim: self.of(4) == 0,
            ignore_case: self.of(4) == 0,
            filter: None,
            values: Vec::new(),
            formulas: BTreeMap::new(),
            texts: Vec::new(),
            pad: self.yes(),
            nulls: nulls[self.of(3)].iter().map(|null| null.as_bytes().to_vec()).collect(),
        };
        for _ in 0..self.of(3) {
            let null = [Null::Skip, Null::Zero, Null::Fail][self.of(3)];
            if self.of(4) == 0 {
                task.texts.push(task.values.len());
            }
            task.values.push((self.place(header), null));
        }
        for at in 0..task.values.len() {
            if !task.texts.contains(&at) && self.of(4) == 0 {
                task.formulas.insert(at, self.formula(header));
            }
        }
        (task.quotes, task.comma) = (self.of(5) > 0, self.of(5) == 1);
        task
    }

    /// A value that is computed.
    fn formula(&mut self, header: bool) -> Amount {
        match self.of(3) {
            0 => Amount::Rounded(Box::new(self.amount(header, 2)), self.of(4) as u32),
            1 => {
                let divisor = RECIPROCALS[self.of(RECIPROCALS.len())].0;
                Amount::Of(3, Box::new([self.product(header, 1), Amount::Literal(divisor)]))
            }
            _ => self.product(header, 2),
        }
    }

    /// An amount in which nothing is divided.
    fn product(&mut self, header: bool, depth: usize) -> Amount {
        match self.of(if depth == 0 { 2 } else { 3 }) {
            0 => Amount::Literal(["0", "1.50", "2", "1e3", "0.333"][self.of(5)]),
            1 => Amount::Field(self.place(header)),
            _ => {
                let sides = [(); 2].map(|()| self.product(header, depth - 1));
                Amount::Of(self.of(3), Box::new(sides))
            }
        }
    }

    /// A condition on the same columns.
    pub fn condition(&mut self, header: bool, depth: usize) -> Test {
        let comparison = self.of(COMPARISONS.len());
        let amount = |choices: &mut Choices| choices.amount(header, 2);
        match self.of(if depth == 0 { 6 } else { 9 }) {
            0 => Test::Numbers(comparison, amount(self), amount(self)),
            1 => {
                let (mut left, mut right) = (self.word(header), self.word(header));
                if comparison.is_multiple_of(2) {
                    (left, right) = (right, left);
                }
                Test::Words(comparison, left, right)
            }
            2 => Test::AmongNumbers(amount(self), vec!["1", "-2", "15e-1", "0.0"]),
            3 => Test::AmongWords(self.word(header), vec!["a", "1.5", "x|y", "\"", ""]),
            4 => Test::Matches(self.word(header), self.of(PATTERNS.len())),
            5 => Test::Null(self.place(header), self.yes()),
            6 => Test::Not(Box::new(self.condition(header, depth - 1))),
            which => {
                let parts = [(); 2].map(|()| self.condition(header, depth - 1));
                if which == 7 { Test::Both(Box::new(parts)) } else { Test::Either(Box::new(parts)) }
            }
        }
    }

    fn amount(&mut self, header: bool, depth: usize) -> Amount {
        match self.of(if depth == 0 { 2 } else { 4 }) {
            0 => Amount::Literal(["0", "1.50", "2", "1e3", "0.333"][self.of(5)]),
            1 => Amount::Field(self.place(header)),
            2 => Amount::Rounded(Box::new(self.amount(header, depth - 1)), self.of(3) as u32),
            _ => {
                let sides = [(); 2].map(|()| self.amount(header, depth - 1));
                Amount::Of(self.of(SIGNS.len()), Box::new(sides))
            }
        }
    }

    fn word(&mut self, header: bool) -> Word {
        match self.of(3) {
            0 => Word::Literal(["a", "b", "1.5", "\"", "\\"][self.of(5)]),
            _ => Word::Field(self.place(header)),
        }
    }

    fn place(&mut self, header: bool) -> Place {
        match self.of(4) {
            0 if header => Place::Named("a".to_owned()),
            at => Place::At(at.max(1)),
        }
    }

    /// What is wanted of lines that have columns of these names.
    pub fn task_of(&mut self, names: &[&str]) -> Task {
        let place = |choices: &mut Choices| Place::Named(names[choices.of(names.len())].to_owned());
        let mut task = Task { delimiter: b',', plain: false, header: true, ..Task::plain() };
        task.keys = (0..=self.of(2)).map(|_| place(self)).collect();
        task.shapes = (0..2).map(|_| [None, Some(WIDTHS[self.of(6)])][self.of(2)]).collect();
        (task.trim, task.ignore_case) = (self.of(4) == 0, self.of(4) == 0);
        task.values.clear();
        for at in 0..self.of(3) {
            let null = [Null::Skip, Null::Zero, Null::Fail][self.of(3)];
            task.values.push((place(self), null));
            task.texts.extend((self.of(4) == 0).then_some(at));
        }
        task.nulls = vec![Vec::new()];
        let (column, comparison) = (place(self), self.of(COMPARISONS.len()));
        task.filter = match self.of(6) {
            0 => Some(Test::Words(comparison, Word::Field(column), Word::Literal("a"))),
            1 => {
                let limit = Amount::Literal(["0", "1.50", "1e3"][self.of(3)]);
                Some(Test::Numbers(comparison, Amount::Field(column), limit))
            }
            2 => Some(Test::Null(column, self.yes())),
            _ => None,
        };
        task
    }

    /// A look of the result of a task.
    pub fn look(&mut self, task: &Task) -> Look {
        let statistic = |choices: &mut Choices| STATISTICS[choices.of(STATISTICS.len())];
        let columns = task.values.len();
        let sort = (0..self.of(3)).filter_map(|_| self.by(task)).collect();
        Look {
            // The challenge's form shows one column.
            form: FORMS[if columns > 1 { 1 + self.of(6) } else { self.of(7) }],
            statistics: (0..=self.of(3)).map(|_| statistic(self)).collect(),
            nearest: self.yes(),
            decimals: [None, Some(0), Some(2), Some(18)][self.of(4)],
            round: [Round::HalfUp, Round::Ceiling, Round::HalfEven][self.of(3)],
            keys: task.keys.iter().map(|_| ["key", "min", "a\"b"][self.of(3)].to_owned()).collect(),
            sort,
            top: if self.yes() { Some(self.of(4)) } else { None },
            total: self.yes(),
            approx: [None, None, Some(2), Some(3), Some(4)][self.of(5)],
        }
    }

    /// What may be sorted by, and whether the largest come first.
    fn by(&mut self, task: &Task) -> Option<(By, bool)> {
        let by = match self.of(4) {
            0 => By::Key,
            1 => By::Part(self.of(task.keys.len()), self.yes()),
            _ => {
                let column = self.of(task.values.len().max(1));
                let statistic = STATISTICS[self.of(STATISTICS.len())];
                // Not everything can be told of texts.
                let is_text = task.texts.contains(&column) && !OF_TEXTS.contains(&statistic);
                if is_text || statistic == "histogram" {
                    return None;
                }
                By::Of(column, statistic)
            }
        };
        Some((by, self.yes()))
    }

    /// A level, threads and a size of chunks.
    pub fn options(&mut self) -> Options {
        let levels: Vec<Level> = Level::available().collect();
        Options {
            level: levels[self.of(levels.len())],
            threads: 1 + self.of(3),
            chunk_bytes: 1 + self.of(1000),
            with_squares: true,
            with_values: true,
            with_sketch: true,
            with_ends: true,
            ..Options::default()
        }
    }

    /// The same, now and then with so little memory that tables are written again and again.
    pub fn limited(&mut self) -> Options {
        let spills = self.of(3) == 0;
        let options = self.options();
        let limit = spills.then_some(1);
        Options { memory_limit_bytes: limit, spill: spills.then(spill), ..options }
    }

    /// The input as a file or as a stream.
    pub fn source(&mut self, input: &[u8]) -> Source {
        if self.yes() { file(input) } else { stream(input, 1 + self.of(300)) }
    }
}
