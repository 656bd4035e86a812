//! Metric groups: events counted together and the formulas over them, as text.
//!
//! The built-in groups are [`BUILT_IN`]; a user's file in the same form adds those of one processor
//! model. Formulas know event names and numbers only: no functions, no metrics of metrics.
//!
//! ```
//! use fathom_machine::counter::metric::{Group, parse};
//! let text = "group mine\ncount cycles instructions\nmetric cpi = cycles / instructions";
//! let groups = parse(text, &[])?;
//! let cpi = &groups[0].metrics[0];
//! let counts = |name: &str| match name { "cycles" => Some(30.0), "instructions" => Some(40.0), _ => None };
//! assert_eq!(cpi.value(&counts), Some(0.75));
//! # Ok::<(), fathom_machine::counter::metric::GroupError>(())
//! ```

use std::collections::BTreeSet;
use std::str::SplitWhitespace;

use super::event::Event;

/// The text of the built-in groups.
pub const BUILT_IN: &str = include_str!("groups.txt");

/// Events counted together and what is derived from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What users write to choose it.
    pub name: String,
    /// The events, in the order of the text.
    pub events: Vec<Event>,
    /// The metrics, in the order of the text.
    pub metrics: Vec<Metric>,
}

/// A number derived from counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// What users read.
    pub name: String,
    /// The unit, possibly empty.
    pub unit: String,
    formula: Formula,
}

#[derive(Clone, Debug, PartialEq)]
enum Formula {
    Number(f64),
    Event(String),
    Binary(char, Box<Formula>, Box<Formula>),
}

/// A line of a group file that says nothing sensible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct GroupError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

/// The built-in groups.
pub fn built_in() -> Vec<Group> {
    parse(BUILT_IN, &[]).expect("a test reads the built-in text")
}

/// The groups of `text`, in order, which stand beside those `known`.
///
/// # Errors
/// The first line that is not of the form described at the head of [`BUILT_IN`], or gives a name that is there.
pub fn parse(text: &str, known: &[Group]) -> Result<Vec<Group>, GroupError> {
    let mut groups: Vec<Group> = Vec::new();
    let mut raw: Vec<Event> = Vec::new();
    let metrics = known.iter().flat_map(|group| &group.metrics);
    let mut names: Names = metrics.map(|metric| ("metric", metric.name.clone())).collect();
    names.extend(known.iter().map(|group| ("group", group.name.clone())));
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let fail = |what: String| GroupError { line: index + 1, what };
        let mut words = line.split_whitespace();
        match words.next() {
            None => {}
            Some("group") => groups.push(group(&mut names, words).map_err(fail)?),
            Some("event") => raw.push(raw_event(&mut names, words).map_err(fail)?),
            Some(key @ ("count" | "metric")) => {
                let group = groups
                    .last_mut()
                    .ok_or_else(|| fail(format!("`{key}` before the first `group`")))?;
                if key == "count" {
                    for word in words {
                        let event =
                            find(&raw, word).ok_or_else(|| fail(format!("no event {word:?}")))?;
                        group.events.push(event);
                    }
                } else {
                    let metric = metric(&mut names, group, &line[key.len()..]);
                    group.metrics.push(metric.map_err(fail)?);
                }
            }
            Some(other) => {
                return Err(fail(format!("{other:?} is not group, event, count or metric")));
            }
        }
    }
    Ok(groups)
}

/// What has a name, and the name.
type Names = BTreeSet<(&'static str, String)>;

fn give(names: &mut Names, what: &'static str, name: &str) -> Result<(), String> {
    match names.insert((what, name.to_owned())) {
        true => Ok(()),
        false => Err(format!("{what} {name:?} is there already")),
    }
}

fn group(names: &mut Names, mut words: SplitWhitespace<'_>) -> Result<Group, String> {
    let (Some(name), None) = (words.next(), words.next()) else {
        return Err("a group has one name".to_owned());
    };
    give(names, "group", name)?;
    Ok(Group { name: name.to_owned(), events: Vec::new(), metrics: Vec::new() })
}

fn raw_event(names: &mut Names, mut words: SplitWhitespace<'_>) -> Result<Event, String> {
    let (Some(name), Some("raw"), Some(code), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("an event is `event NAME raw CODE`".to_owned());
    };
    let number = match code.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => code.parse(),
    };
    let number = number.map_err(|_| format!("{code:?} is no event code"))?;
    if Event::named(name).is_some() {
        return Err(format!("{name:?} is a catalogued event"));
    }
    give(names, "event", name)?;
    Ok(Event::raw(name, number))
}

fn find(raw: &[Event], name: &str) -> Option<Event> {
    raw.iter().find(|event| event.name == name).or_else(|| Event::named(name)).cloned()
}

fn metric(names: &mut Names, group: &Group, text: &str) -> Result<Metric, String> {
    let (head, formula) =
        text.split_once(" = ").ok_or("a metric is `metric NAME [UNIT] = FORMULA`")?;
    let head = head.trim();
    let (name, unit) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
    if name.is_empty() {
        return Err("a metric has a name".to_owned());
    }
    give(names, "metric", name)?;
    let words: Vec<&str> = formula.split_whitespace().collect();
    // So deep at most may it be read and computed, too.
    if words.len() > MOST_WORDS {
        return Err(format!("a formula has at most {MOST_WORDS} words"));
    }
    let mut parser = Parser { words, at: 0, group };
    let formula = parser.sum()?;
    match parser.words.get(parser.at) {
        None => Ok(Metric { name: name.to_owned(), unit: unit.trim().to_owned(), formula }),
        Some(word) => Err(format!("{word:?} is one word too many")),
    }
}

/// Words of a formula, brackets and operators among them.
const MOST_WORDS: usize = 1000;

/// Recursive descent over words; operators are words of their own, since event names hold `-`.
struct Parser<'a> {
    words: Vec<&'a str>,
    at: usize,
    group: &'a Group,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Formula, String> {
        let mut left = self.product()?;
        while let Some(operator @ ("+" | "-")) = self.words.get(self.at).copied() {
            self.at += 1;
            left = binary(operator, left, self.product()?);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Formula, String> {
        let mut left = self.atom()?;
        while let Some(operator @ ("*" | "/")) = self.words.get(self.at).copied() {
            self.at += 1;
            left = binary(operator, left, self.atom()?);
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Formula, String> {
        let word = self.words.get(self.at).copied().ok_or("the formula ends too early")?;
        self.at += 1;
        if word == "(" {
            let inner = self.sum()?;
            if self.words.get(self.at) != Some(&")") {
                return Err("a bracket is not closed".to_owned());
            }
            self.at += 1;
            return Ok(inner);
        }
        // Rust reads `inf` and `nan` as numbers.
        if let Some(number) = word.parse::<f64>().ok().filter(|number| number.is_finite()) {
            return Ok(Formula::Number(number));
        }
        if self.group.events.iter().any(|event| event.name == word) {
            return Ok(Formula::Event(word.to_owned()));
        }
        Err(format!("{word:?} is not counted in group {:?}", self.group.name))
    }
}

fn binary(operator: &str, left: Formula, right: Formula) -> Formula {
    let operator = operator.chars().next().expect("an operator is a character");
    Formula::Binary(operator, Box::new(left), Box::new(right))
}

impl Metric {
    /// The metric over `counts`; `None` when a count is missing or the result is not a number
    /// (a division by zero).
    pub fn value(&self, counts: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        self.formula.value(counts).filter(|value| value.is_finite())
    }
}

impl Formula {
    fn value(&self, counts: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Formula::Number(number) => Some(*number),
            Formula::Event(name) => counts(name),
            Formula::Binary(operator, left, right) => {
                let (left, right) = (left.value(counts)?, right.value(counts)?);
                Some(match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(formula: &str) -> Option<f64> {
        let text = format!("group g\ncount cycles branch-misses\nmetric m = {formula}");
        let counts = |name: &str| (name == "cycles").then_some(10.0);
        parse(&text, &[]).unwrap()[0].metrics[0].value(&counts)
    }

    #[test]
    fn built_in_groups_parse_and_name_only_events_they_count() {
        let groups = built_in();
        let core = &groups[0];
        assert_eq!(core.name, "core");
        let counts = |name: &str| match name {
            "instructions" => Some(400.0),
            "cycles" => Some(200.0),
            "task-clock" => Some(50.0),
            _ => None,
        };
        let values = core.metrics.iter().map(|m| (&*m.name, &*m.unit, m.value(&counts)));
        let values: Vec<(&str, &str, Option<f64>)> = values.collect();
        assert_eq!(values, [("ipc", "", Some(2.0)), ("clock", "GHz", Some(4.0))]);
        let branch = groups.iter().find(|group| group.name == "branch").unwrap();
        assert_eq!(branch.metrics[0].unit, "per 1000 instructions");
    }

    #[test]
    fn formulas_bind_as_arithmetic_does() {
        assert_eq!(value("1 + 2 * cycles"), Some(21.0));
        assert_eq!(value("( 1 + 2 ) * cycles"), Some(30.0));
        assert_eq!(value("8 / 4 / 2 - 1 - 1"), Some(-1.0));
    }

    #[test]
    fn what_was_not_counted_has_no_metric() {
        assert_eq!(value("branch-misses / cycles"), None);
        assert_eq!(value("cycles / 0"), None);
    }

    #[test]
    fn mistakes_are_named_by_line() {
        let what = |text: &str| parse(text, &[]).unwrap_err();
        assert_eq!(what("\ncount cycles").line, 2);
        assert!(what("group a\ncount wheels").what.contains("wheels"));
        assert!(what("group a\nmetric x = cycles").what.contains("not counted"));
        assert!(what("group a\ncount cycles\nmetric x = ( cycles").what.contains("bracket"));
        assert!(what("group a\ncount cycles\nmetric x = cycles cycles").what.contains("too many"));
        assert!(what("group a\ncount cycles\nmetric x = cycles +").what.contains("early"));
        assert!(what("group a\ngroup a").what.contains("already"));
        assert!(what("event e raw zz").what.contains("code"));
        assert!(what("weather fine").what.contains("weather"));
    }

    /// The first of two events was counted under both names, and two groups or metrics looked like one.
    #[test]
    fn a_name_is_given_once_and_numbers_are_finite() {
        let refused = |text: &str| parse(text, &built_in()).unwrap_err().to_string();
        for (text, why) in [
            ("event a raw 1\nevent a raw 2", "line 2: event \"a\" is there already"),
            ("group core", "line 1: group \"core\" is there already"),
            ("group a\ncount cycles\nmetric ipc = cycles / 1", "line 3: metric \"ipc\" is"),
            ("group a\nmetric y = 1\ngroup b\nmetric y = 2", "line 4: metric \"y\" is"),
            ("group a\nmetric y = 1 / inf", "line 2: \"inf\" is not counted"),
            ("group a\nmetric y = 1e999", "line 2: \"1e999\" is not counted"),
        ] {
            let found = refused(text);
            assert!(found.starts_with(why), "{found}");
        }
    }

    /// They ended the program: its stack was too small.
    #[test]
    fn a_formula_that_is_too_long_is_an_error_of_its_line() {
        for formula in ["( ".repeat(20_000) + "1", "1 + ".repeat(400_000) + "1"] {
            let text = format!("group a\nmetric y = {formula}");
            let said = parse(&text, &[]).unwrap_err().to_string();
            assert_eq!(said, "line 2: a formula has at most 1000 words");
        }
        assert_eq!(value(&("1 + ".repeat(499) + "1")), Some(500.0));
        let deep = format!("{}1{}", "( ".repeat(499), " )".repeat(499));
        assert_eq!(value(&deep), Some(1.0));
    }

    #[test]
    fn a_unit_may_stand_behind_any_blank() {
        let groups = parse("group a\nmetric clock\tGHz = 1", &[]).unwrap();
        let metric = &groups[0].metrics[0];
        assert_eq!((&*metric.name, &*metric.unit), ("clock", "GHz"));
    }

    #[test]
    fn raw_events_of_a_model_can_be_named() {
        let text = "event uops raw 0x01c2\ngroup u\ncount uops cycles\nmetric upc = uops / cycles";
        assert_eq!(parse(text, &[]).unwrap()[0].events[0], Event::raw("uops", 0x1c2));
    }
}
