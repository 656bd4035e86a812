//! Conditions whose kinds are known: what is compared as numbers, and what as texts.
//!
//! A column is what it is compared with: a text beside a text, a number beside anything else.

use num_bigint::BigInt;
use regex::bytes::Regex;

use super::error::Wrong;
use super::grammar::{Arithmetic, Comparison, Node, What};
use crate::number::{Decimal, MOST_DIGITS, big_power_of_ten};
use crate::selector::Selector;

/// A condition. Columns are numbered as they were first met.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Numbers(Comparison, Number, Number),
    Texts(Comparison, Text, Text),
    /// Sorted.
    AmongNumbers(Number, Vec<Decimal>),
    AmongTexts(Text, Vec<Vec<u8>>),
    Match(Text, Regex),
    IsNull(usize),
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
}

#[derive(Clone, Debug)]
pub(super) enum Number {
    Literal(Decimal),
    Column(usize),
    Arithmetic(Arithmetic, Box<Number>, Box<Number>),
    Round(Box<Number>, u16),
}

#[derive(Clone, Debug)]
pub(super) enum Text {
    Literal(Vec<u8>),
    Column(usize),
}

/// The condition of a tree, its columns, and those that are numbers in it.
pub(super) fn compile(tree: &Node) -> Result<(Test, Vec<Selector>, Vec<Selector>), Wrong> {
    let mut compiler = Compiler { columns: Vec::new(), numbers: Vec::new(), ends: false };
    let test = compiler.test(tree)?;
    Ok((test, compiler.columns, compiler.numbers))
}

/// The same of a number whose digits end.
pub(super) fn compile_value(tree: &Node) -> Result<(Number, Vec<Selector>), Wrong> {
    let mut compiler = Compiler { columns: Vec::new(), numbers: Vec::new(), ends: true };
    let number = compiler.number(tree)?;
    bounded(&number, &Number::Literal(Decimal::new(0, 0)), tree)?;
    Ok((number, compiler.columns))
}

/// What is wrong with most quotients as values.
pub(super) const ENDLESS: &str = "a quotient may have digits without end: divide by a number such as 2 or 1000, or round(a / b, 4)";

struct Compiler {
    columns: Vec<Selector>,
    /// Those that were met as numbers, each time.
    numbers: Vec<Selector>,
    /// Whether the digits of numbers must end.
    ends: bool,
}

impl Compiler {
    fn test(&mut self, node: &Node) -> Result<Test, Wrong> {
        Ok(match &node.what {
            What::Not(inner) => Test::Not(Box::new(self.test(inner)?)),
            What::All(parts) => Test::All(self.tests(parts)?),
            What::Any(parts) => Test::Any(self.tests(parts)?),
            What::IsNull(column) => match &column.what {
                What::Column(selector) => Test::IsNull(self.column(selector)),
                _ => return Err(Wrong::at(&column.span, "only a column can be null")),
            },
            What::Compare(comparison, left, right) => {
                if is_text(left) || is_text(right) {
                    let (left, right) = (self.text(left)?, self.text(right)?);
                    Test::Texts(*comparison, left, right)
                } else {
                    let (left, right) = (self.number(left)?, self.number(right)?);
                    bounded(&left, &right, node)?;
                    Test::Numbers(*comparison, left, right)
                }
            }
            What::In(one, members) => self.among(one, members)?,
            What::Match(text, pattern) => {
                let What::Text(words) = &pattern.what else {
                    return Err(Wrong::at(&pattern.span, "a pattern is a text in quotes"));
                };
                let pattern = Regex::new(words).map_err(|error| {
                    let said = error.to_string();
                    let last = said.lines().last().unwrap_or_default().to_owned();
                    Wrong::at(&pattern.span, &format!("not a regular expression: {last}"))
                })?;
                Test::Match(self.text(text)?, pattern)
            }
            _ => return Err(Wrong::at(&node.span, "expected a comparison, such as status >= 500")),
        })
    }

    fn tests(&mut self, parts: &[Node]) -> Result<Vec<Test>, Wrong> {
        parts.iter().map(|part| self.test(part)).collect()
    }

    fn among(&mut self, one: &Node, members: &[Node]) -> Result<Test, Wrong> {
        if is_text(one) || members.iter().any(is_text) {
            let literal = |member: &Node| match &member.what {
                What::Text(text) => Ok(text.clone().into_bytes()),
                _ => Err(Wrong::at(&member.span, "expected a text in quotes, as the others are")),
            };
            let mut texts = members.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
            texts.sort_unstable();
            return Ok(Test::AmongTexts(self.text(one)?, texts));
        }
        let literal = |member: &Node| {
            let said = "expected a number, or texts in quotes";
            constant(member).ok_or_else(|| Wrong::at(&member.span, said))
        };
        let mut numbers = members.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
        numbers.sort_unstable();
        let number = self.number(one)?;
        for member in &numbers {
            bounded(&number, &Number::Literal(member.clone()), one)?;
        }
        Ok(Test::AmongNumbers(number, numbers))
    }

    fn number(&mut self, node: &Node) -> Result<Number, Wrong> {
        Ok(match &node.what {
            What::Number(number) => Number::Literal(number.clone()),
            What::Column(selector) => {
                self.numbers.push(selector.clone());
                Number::Column(self.column(selector))
            }
            What::Negative(inner) => {
                let zero = Box::new(Number::Literal(Decimal::new(0, 0)));
                Number::Arithmetic(Arithmetic::Minus, zero, Box::new(self.number(inner)?))
            }
            What::Arithmetic(Arithmetic::Over, left, right) if self.ends => {
                let left = self.number(left)?;
                let factor = constant(right).and_then(|divisor| reciprocal(&divisor));
                let factor = factor.ok_or_else(|| Wrong::at(&right.span, ENDLESS))?;
                let factor = Box::new(Number::Literal(factor));
                Number::Arithmetic(Arithmetic::Times, Box::new(left), factor)
            }
            What::Round(inner, decimals) => {
                let ends = std::mem::replace(&mut self.ends, false);
                let inner = self.number(inner)?;
                self.ends = ends;
                bounded(&inner, &Number::Literal(Decimal::new(0, 0)), node)?;
                Number::Round(Box::new(inner), *decimals)
            }
            What::Arithmetic(sign, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                Number::Arithmetic(*sign, Box::new(left), Box::new(right))
            }
            What::Text(_) | What::TextOf(_) => {
                return Err(Wrong::at(&node.span, "a text is no number"));
            }
            _ => return Err(Wrong::at(&node.span, "a condition is no number")),
        })
    }

    fn text(&mut self, node: &Node) -> Result<Text, Wrong> {
        match &node.what {
            What::Text(text) => Ok(Text::Literal(text.clone().into_bytes())),
            What::Column(selector) => Ok(Text::Column(self.column(selector))),
            What::TextOf(column) => self.text(column),
            What::Number(_) | What::Negative(_) | What::Arithmetic(..) | What::Round(..) => {
                Err(Wrong::at(&node.span, "a number is no text: \"…\" makes it one"))
            }
            _ => Err(Wrong::at(&node.span, "a condition is no text")),
        }
    }

    fn column(&mut self, selector: &Selector) -> usize {
        let known = self.columns.iter().position(|known| known == selector);
        known.unwrap_or_else(|| {
            self.columns.push(selector.clone());
            self.columns.len() - 1
        })
    }
}

impl Number {
    /// The most decimals it may have, above and below the line of a fraction.
    fn decimals(&self) -> [u64; 2] {
        match self {
            Number::Literal(literal) => [literal.scale().into(), 0],
            Number::Column(_) => [MOST_DIGITS.into(), 0],
            Number::Round(_, decimals) => [(*decimals).into(), 0],
            Number::Arithmetic(sign, left, right) => {
                let ([above, below], [over, under]) = (left.decimals(), right.decimals());
                match sign {
                    Arithmetic::Plus | Arithmetic::Minus => {
                        [(above + under).max(over + below), below + under]
                    }
                    Arithmetic::Times => [above + over, below + under],
                    Arithmetic::Over => [above + under, below + over],
                }
            }
        }
    }
}

/// Columns have up to [`MOST_DIGITS`] decimals, of which 65,535 have room for six.
pub(super) const TOO_MANY: &str = "too many decimals: at most 6 columns may be multiplied, and \
     adding, subtracting and comparing quotients multiplies by what they are divided by";

/// Decimals are counted in 16 bits: no comparison may need more, whatever the fields say.
fn bounded(left: &Number, right: &Number, node: &Node) -> Result<(), Wrong> {
    let ([above, below], [over, under]) = (left.decimals(), right.decimals());
    let most = (above + under).max(over + below);
    match most <= u16::MAX.into() {
        true => Ok(()),
        false => Err(Wrong::at(&node.span, TOO_MANY)),
    }
}

/// The number that stands there, perhaps with a sign.
fn constant(node: &Node) -> Option<Decimal> {
    match &node.what {
        What::Number(number) => Some(number.clone()),
        What::Negative(inner) => constant(inner).map(|number| Decimal::new(0, 0).minus(&number)),
        _ => None,
    }
}

/// One over a number, if its digits end, and soon.
fn reciprocal(number: &Decimal) -> Option<Decimal> {
    const MOST_DECIMALS: u16 = 64;
    let (units, zero) = (number.to_big(), BigInt::ZERO);
    if units == zero {
        return None;
    }
    (0..=MOST_DECIMALS).find_map(|decimals| {
        let one = big_power_of_ten(number.scale() + decimals);
        (&one % &units == zero).then(|| Decimal::of_big(one / &units, decimals))
    })
}

fn is_text(node: &Node) -> bool {
    matches!(node.what, What::Text(_) | What::TextOf(_))
}
