//! Numbers of the oracle: a grammar of its own, fractions of integers of any size, and their digits.
//!
//! Nothing is kept as a sum and nothing is scaled beforehand: a value is what its text says, and a
//! statistic is computed from all values by its definition.

use num_bigint::{BigInt, BigUint, Sign};

/// A number as it was written: `units / 10^decimals`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    pub units: BigInt,
    pub decimals: u32,
}

impl Number {
    pub fn is_too_long(&self) -> bool {
        let digits = self.units.magnitude().to_string().len() as i64;
        i64::from(self.decimals) > MOST || digits - i64::from(self.decimals) > MOST
    }

    /// Rounded to the nearest of the steps that are two, five or ten units of the digit behind so many: two from
    /// 1 to 2.5, five to 5, ten to 10. Of two that are as near the one farther from zero.
    pub fn nearly(&self, digits: u32) -> Number {
        let text = self.units.magnitude().to_string();
        if text.len() <= digits as usize {
            return self.clone();
        }
        let rest = (text.len() - digits as usize - 1) as u32;
        // Texts of digits that start alike are in the order of their numbers.
        let steps = [("5", 10_u32), ("25", 5), ("1", 2)];
        let (_, step) =
            steps.into_iter().find(|(from, _)| &*text >= *from).expect("no zeros in front");
        let step = ten_to(rest) * step;
        let magnitude = BigInt::from(self.units.magnitude().clone());
        let below = &magnitude / &step * &step;
        let is_up = (&magnitude - &below) * 2 >= step;
        let near = if is_up { below + step } else { below };
        let units = if self.units.sign() == Sign::Minus { -near } else { near };
        Number { units, decimals: self.decimals }
    }
}

/// Digits on one side of the point from which a number is too long.
const MOST: i64 = 10_000;

pub fn ten_to(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// Reads `[+-] (digits [. [digits]] | . digits) [e [+-] digits]`; an error is the name of its reason.
pub fn read(text: &[u8]) -> Result<Number, &'static str> {
    if text.is_empty() {
        return Err("Empty");
    }
    let text = std::str::from_utf8(text).map_err(|_| "Malformed")?;
    let lower = text.to_ascii_lowercase();
    let (mantissa, exponent) = match lower.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, signed_digits(exponent).ok_or("Malformed")?),
        None => (lower.as_str(), BigInt::ZERO),
    };
    let unsigned = mantissa.strip_prefix(['+', '-']).unwrap_or(mantissa);
    let (whole, part) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return Err("Malformed");
    }
    let decimals = BigInt::from(part.len()) - exponent;
    let significant = digits.trim_start_matches('0').len();
    // Zero is never too long.
    let is_far = !(BigInt::ZERO..=BigInt::from(MOST)).contains(&decimals);
    let decimals = if significant == 0 && is_far { BigInt::ZERO } else { decimals };
    let whole_digits = BigInt::from(significant) - &decimals;
    if decimals > MOST.into() || whole_digits > MOST.into() {
        return Err("TooLong");
    }
    let mut units: BigInt = digits.parse().expect("digits");
    if mantissa.starts_with('-') {
        units = -units;
    }
    Ok(match u32::try_from(&decimals) {
        Ok(decimals) => Number { units, decimals },
        Err(_) => {
            let zeros = u32::try_from(-decimals).expect("at most ten thousand");
            Number { units: units * ten_to(zeros), decimals: 0 }
        }
    })
}

fn signed_digits(text: &str) -> Option<BigInt> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    all.then(|| text.parse().expect("a sign and digits"))
}

/// `above / below`, of which `below` is positive.
#[derive(Clone, Debug)]
pub struct Fraction {
    above: BigInt,
    below: BigInt,
}

/// How what lies between two numbers becomes one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    HalfUp,
    Ceiling,
    HalfEven,
}

/// The largest integer that is not above the fraction.
fn floor(above: &BigInt, below: &BigInt) -> BigInt {
    let toward_zero = above / below;
    let is_exact = &toward_zero * below == *above;
    if !is_exact && above.sign() == Sign::Minus { toward_zero - 1 } else { toward_zero }
}

impl Fraction {
    pub fn new(above: BigInt, below: BigInt) -> Fraction {
        assert!(below > BigInt::ZERO);
        Fraction { above, below }
    }

    pub fn of(number: &Number) -> Fraction {
        Fraction::new(number.units.clone(), ten_to(number.decimals))
    }

    pub fn cmp(&self, other: &Fraction) -> std::cmp::Ordering {
        (&self.above * &other.below).cmp(&(&other.above * &self.below))
    }

    pub fn minus(&self, other: &Fraction) -> Fraction {
        let above = &self.above * &other.below - &other.above * &self.below;
        Fraction::new(above, &self.below * &other.below)
    }

    /// None where it is divided by zero.
    pub fn with(&self, sign: &str, other: &Fraction) -> Option<Fraction> {
        let (a, b, c, d) = (&self.above, &self.below, &other.above, &other.below);
        let (above, below) = match sign {
            "+" => (a * d + c * b, b * d),
            "-" => (a * d - c * b, b * d),
            "*" => (a * c, b * d),
            _ => (a * d, b * c),
        };
        match below.sign() {
            Sign::NoSign => None,
            Sign::Plus => Some(Fraction::new(above, below)),
            Sign::Minus => Some(Fraction::new(-above, -below)),
        }
    }

    /// What lies this share of the way to the other.
    pub fn between(&self, other: &Fraction, share: &Fraction) -> Fraction {
        let Fraction { above, below } = other.minus(self);
        let negative_step = Fraction::new(-above * &share.above, below * &share.below);
        self.minus(&negative_step)
    }

    /// As a number of so many decimals, which must suffice.
    pub fn ending(&self, decimals: u32) -> Number {
        let units = &self.above * ten_to(decimals) / &self.below;
        assert_eq!(&units * &self.below, &self.above * ten_to(decimals), "more decimals");
        Number { units, decimals }
    }

    /// The nearest number of so many decimals, of two the one farther from zero.
    pub fn nearest(&self, decimals: u32) -> Number {
        let zero = self.above.sign() == Sign::Minus;
        let above = BigInt::from(self.above.magnitude().clone()) * ten_to(decimals);
        let units = floor(&(&above * 2 + &self.below), &(&self.below * 2));
        Number { units: if zero { -units } else { units }, decimals }
    }

    /// With so many decimals.
    pub fn fixed(&self, decimals: u32, round: Round) -> String {
        let above = &self.above * ten_to(decimals);
        let below = &self.below;
        let integer = match round {
            // The floor of what is half a unit more.
            Round::HalfUp => floor(&(&above * 2 + below), &(below * 2)),
            Round::Ceiling => -floor(&-above, below),
            Round::HalfEven => {
                let low = floor(&above, below);
                let (to_low, to_high) = (&above - &low * below, (&low + 1) * below - &above);
                let up = match to_low.cmp(&to_high) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Greater => true,
                    std::cmp::Ordering::Equal => low.bit(0),
                };
                low + i32::from(up)
            }
        };
        pointed(&integer, decimals)
    }

    /// With at least seventeen significant digits, without the zeros at their end.
    pub fn seventeen(&self, round: Round) -> String {
        let magnitude = BigInt::from(self.above.magnitude().clone());
        let is_enough = |decimals| &magnitude * ten_to(decimals) >= &self.below * ten_to(16);
        let decimals = if magnitude == BigInt::ZERO { 0 } else { first(is_enough) };
        trimmed(self.fixed(decimals, round))
    }

    /// The square root, with so many decimals; the fraction is not negative.
    pub fn root_fixed(&self, decimals: u32, round: Round) -> String {
        let above = &self.above * ten_to(2 * decimals);
        // The largest root whose square is not above the fraction, bit by bit.
        let mut root = BigInt::ZERO;
        for bit in (0..=above.bits() / 2 + 1).rev() {
            let larger = &root + (BigInt::from(1) << bit);
            if &larger * &larger * &self.below <= above {
                root = larger;
            }
        }
        let is_exact = &root * &root * &self.below == above;
        let twice = &root * 2 + 1;
        let up = match round {
            Round::Ceiling => !is_exact,
            // The root against the middle of two integers: their squares.
            Round::HalfUp => &twice * &twice * &self.below <= &above * 4,
            Round::HalfEven => {
                let middle = &twice * &twice * &self.below;
                middle < &above * 4 || middle == &above * 4 && root.bit(0)
            }
        };
        pointed(&(root + i32::from(up)), decimals)
    }

    /// As [`Fraction::seventeen`], of the square root.
    pub fn root_seventeen(&self, round: Round) -> String {
        let is_enough = |decimals| &self.above * ten_to(2 * decimals) >= &self.below * ten_to(32);
        let decimals = if self.above == BigInt::ZERO { 0 } else { first(is_enough) };
        trimmed(self.root_fixed(decimals, round))
    }
}

/// The first number of which something holds that holds of all larger ones.
fn first(holds: impl Fn(u32) -> bool) -> u32 {
    (0..).find(|&number| holds(number)).expect("numbers do not end")
}

/// All digits of a number, without the zeros at its end.
pub fn all_digits(number: &Number) -> String {
    trimmed(pointed(&number.units, number.decimals))
}

fn pointed(integer: &BigInt, decimals: u32) -> String {
    let one: BigUint = BigUint::from(10_u32).pow(decimals);
    let (whole, part) = (integer.magnitude() / &one, integer.magnitude() % &one);
    let sign = if integer.sign() == Sign::Minus { "-" } else { "" };
    match decimals as usize {
        0 => format!("{sign}{whole}"),
        decimals => format!("{sign}{whole}.{:0>decimals$}", part.to_string()),
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}
