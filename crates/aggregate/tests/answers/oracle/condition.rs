//! Conditions of the oracle: trees with their own text and their own meaning.
//!
//! Trees are drawn, not read: what the engine is given is their text, in which every part stands in
//! parentheses or not, as its rank asks for it. Numbers are fractions of integers of any size; of
//! regular expressions there are some whose meaning is written beside them.

use std::cmp::Ordering;

use super::Place;
use super::number::{self, Fraction, Number};

#[derive(Clone, Debug)]
pub enum Test {
    Both(Box<[Test; 2]>),
    Either(Box<[Test; 2]>),
    Not(Box<Test>),
    Numbers(usize, Amount, Amount),
    Words(usize, Word, Word),
    AmongNumbers(Amount, Vec<&'static str>),
    AmongWords(Word, Vec<&'static str>),
    Matches(Word, usize),
    Null(Place, bool),
}

#[derive(Clone, Debug)]
pub enum Amount {
    Literal(&'static str),
    Field(Place),
    /// With a sign of [`SIGNS`].
    Of(usize, Box<[Amount; 2]>),
    Rounded(Box<Amount>, u32),
}

#[derive(Clone, Debug)]
pub enum Word {
    Literal(&'static str),
    Field(Place),
}

/// What a comparison says of less, equal and more.
pub const COMPARISONS: [(&str, [bool; 3]); 6] = [
    ("==", [false, true, false]),
    ("!=", [true, false, true]),
    ("<", [true, false, false]),
    ("<=", [true, true, false]),
    (">", [false, false, true]),
    (">=", [false, true, true]),
];

/// Divisors of values, and one over them.
pub const RECIPROCALS: [(&str, &str); 4] =
    [("2", "0.5"), ("1000", "0.001"), ("0.125", "8"), ("1.60", "0.625")];

pub const SIGNS: [&str; 4] = ["+", "-", "*", "/"];

type Meaning = fn(&[u8]) -> bool;

/// Regular expressions and what they mean.
pub const PATTERNS: [(&str, Meaning); 5] = [
    ("a", |text| text.contains(&b'a')),
    ("^b", |text| text.starts_with(b"b")),
    ("5$", |text| text.ends_with(b"5")),
    (r"^\d+$", |text| !text.is_empty() && text.iter().all(u8::is_ascii_digit)),
    (r"\.", |text| text.contains(&b'.')),
];

/// The field of a place, where it stands, its text, and that of the number it may be; None for null, or why the
/// record is none.
pub type Fields<'f> =
    &'f dyn Fn(&Place) -> Result<Option<(usize, Vec<u8>, Vec<u8>)>, (usize, String)>;

impl Test {
    pub fn text(&self) -> String {
        let sides = |sides: &[Test; 2], between: &str| {
            let [left, right] = sides.each_ref().map(Test::inner);
            format!("{left} {between} {right}")
        };
        match self {
            Test::Both(parts) => sides(parts, "&&"),
            Test::Either(parts) => sides(parts, "||"),
            Test::Not(inner) => format!("!{}", inner.inner()),
            Test::Numbers(which, left, right) => {
                format!("{}{}{}", left.text(), COMPARISONS[*which].0, right.text())
            }
            Test::Words(which, left, right) => {
                // Two columns are numbers unless one of them is called a text.
                let left = match (left, right) {
                    (Word::Field(place), Word::Field(_)) => format!("text({})", named(place)),
                    _ => left.text(),
                };
                format!("{left} {} {}", COMPARISONS[*which].0, right.text())
            }
            Test::AmongNumbers(one, all) => format!("{} in ({})", one.text(), all.join(", ")),
            Test::AmongWords(one, all) => {
                let all: Vec<String> = all.iter().map(|word| quoted(word)).collect();
                format!("{} in({})", one.text(), all.join(","))
            }
            Test::Matches(word, which) => {
                format!("{} =~ {}", word.text(), quoted(PATTERNS[*which].0))
            }
            Test::Null(place, is) => {
                format!("{} is {}null", named(place), if *is { "" } else { "not " })
            }
        }
    }

    /// All columns it names.
    pub fn columns(&self) -> Vec<&Place> {
        match self {
            Test::Both(parts) | Test::Either(parts) => {
                parts.iter().flat_map(Test::columns).collect()
            }
            Test::Not(inner) => inner.columns(),
            Test::Numbers(_, left, right) => [left.columns(), right.columns()].concat(),
            Test::Words(_, left, right) => [left.column(), right.column()].concat(),
            Test::AmongNumbers(one, _) => one.columns(),
            Test::AmongWords(one, _) | Test::Matches(one, _) => one.column(),
            Test::Null(place, _) => vec![place],
        }
    }

    fn inner(&self) -> String {
        match self {
            Test::Both(_) | Test::Either(_) => format!("({})", self.text()),
            _ => self.text(),
        }
    }

    /// Whether it holds; None for what nobody knows.
    pub fn holds(&self, fields: Fields<'_>) -> Result<Option<bool>, (usize, String)> {
        let told = |which: usize, order: Ordering| COMPARISONS[which].1[(order as i8 + 1) as usize];
        Ok(match self {
            Test::Both(parts) | Test::Either(parts) => {
                let decides = matches!(self, Test::Either(_));
                let left = parts[0].holds(fields)?;
                if left == Some(decides) {
                    return Ok(left);
                }
                match (left, parts[1].holds(fields)?) {
                    (_, Some(right)) if right == decides => Some(decides),
                    (Some(_), right) => right,
                    (None, _) => None,
                }
            }
            Test::Not(inner) => inner.holds(fields)?.map(|holds| !holds),
            Test::Numbers(which, left, right) => {
                let (left, right) = (left.value(fields)?, right.value(fields)?);
                left.zip(right).map(|(left, right)| told(*which, left.cmp(&right)))
            }
            Test::Words(which, left, right) => {
                let (left, right) = (left.value(fields)?, right.value(fields)?);
                left.zip(right).map(|(left, right)| told(*which, left.cmp(&right)))
            }
            Test::AmongNumbers(one, all) => one.value(fields)?.map(|one| {
                let all =
                    all.iter().map(|text| Fraction::of(&number::read(text.as_bytes()).unwrap()));
                all.into_iter().any(|known| known.cmp(&one).is_eq())
            }),
            Test::AmongWords(one, all) => {
                one.value(fields)?.map(|one| all.iter().any(|known| known.as_bytes() == one))
            }
            Test::Matches(word, which) => word.value(fields)?.map(|word| PATTERNS[*which].1(&word)),
            Test::Null(place, is) => Some(fields(place)?.is_none() == *is),
        })
    }
}

impl Amount {
    pub fn columns(&self) -> Vec<&Place> {
        match self {
            Amount::Literal(_) => Vec::new(),
            Amount::Field(place) => vec![place],
            Amount::Of(_, sides) => sides.iter().flat_map(Amount::columns).collect(),
            Amount::Rounded(inner, _) => inner.columns(),
        }
    }

    fn text(&self) -> String {
        match self {
            Amount::Literal(text) => (*text).to_owned(),
            Amount::Field(place) => named(place),
            Amount::Of(sign, sides) => {
                let [left, right] = sides.each_ref().map(Amount::text);
                format!("({left} {} {right})", SIGNS[*sign])
            }
            Amount::Rounded(inner, decimals) => format!("round({},{decimals})", inner.text()),
        }
    }

    /// As a list of values has it.
    pub fn whole_text(&self) -> String {
        format!("0 + {}", self.text())
    }

    /// What it is, with decimals: as many as the finer summand has, as both factors have together; a divisor is a
    /// literal whose reciprocal is known.
    pub fn exactly(&self, fields: Fields<'_>) -> Result<Option<Number>, (usize, String)> {
        Ok(match self {
            Amount::Literal(text) => Some(number::read(text.as_bytes()).unwrap()),
            Amount::Field(place) => match fields(place)? {
                None => None,
                Some((at, _, text)) => {
                    Some(number::read(&text).map_err(|why| (at, format!("Number({why})")))?)
                }
            },
            Amount::Of(sign, sides) => {
                let right = match (SIGNS[*sign], &sides[1]) {
                    ("/", Amount::Literal(divisor)) => {
                        let known = RECIPROCALS.iter().find(|(text, _)| text == divisor);
                        Some(number::read(known.expect("a known one").1.as_bytes()).unwrap())
                    }
                    _ => None,
                };
                let left = sides[0].exactly(fields)?;
                let right = if right.is_some() { right } else { sides[1].exactly(fields)? };
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                let is_sum = matches!(SIGNS[*sign], "+" | "-");
                let decimals = match is_sum {
                    true => left.decimals.max(right.decimals),
                    false => left.decimals + right.decimals,
                };
                let sign = if is_sum { SIGNS[*sign] } else { "*" };
                let both = Fraction::of(&left).with(sign, &Fraction::of(&right));
                both.map(|fraction| fraction.ending(decimals))
            }
            Amount::Rounded(inner, decimals) => inner.value(fields)?.map(|f| f.nearest(*decimals)),
        })
    }

    fn value(&self, fields: Fields<'_>) -> Result<Option<Fraction>, (usize, String)> {
        Ok(match self {
            Amount::Literal(_) | Amount::Field(_) => {
                self.exactly(fields)?.map(|number| Fraction::of(&number))
            }
            Amount::Of(sign, sides) => {
                let (left, right) = (sides[0].value(fields)?, sides[1].value(fields)?);
                left.zip(right).and_then(|(left, right)| left.with(SIGNS[*sign], &right))
            }
            Amount::Rounded(inner, decimals) => {
                inner.value(fields)?.map(|fraction| Fraction::of(&fraction.nearest(*decimals)))
            }
        })
    }
}

impl Word {
    fn column(&self) -> Vec<&Place> {
        match self {
            Word::Literal(_) => Vec::new(),
            Word::Field(place) => vec![place],
        }
    }

    fn text(&self) -> String {
        match self {
            Word::Literal(text) => quoted(text),
            Word::Field(place) => named(place),
        }
    }

    fn value(&self, fields: Fields<'_>) -> Result<Option<Vec<u8>>, (usize, String)> {
        match self {
            Word::Literal(text) => Ok(Some(text.as_bytes().to_vec())),
            Word::Field(place) => Ok(fields(place)?.map(|(_, text, _)| text)),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn named(place: &Place) -> String {
    match place {
        Place::At(place) => format!("${place}"),
        Place::Named(name) => format!("`{name}`"),
    }
}
