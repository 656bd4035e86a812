//! One number as text: the only place where anything is rounded.

use std::io::Write as _;

use num_bigint::{BigInt, BigUint, Sign};

use super::telling::{Ratio, Telling, told_number};
use super::{Layout, SPREAD_DECIMALS, Statistic};
use crate::engine::Column;
use crate::kept::Datum;
use crate::merge::Stats;
use crate::number::{Decimal, Rounding, big_power_of_ten, power_of_ten, scaled_short};

/// What the numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The challenge's rules.
    Challenge,
    /// People, who compare columns.
    People,
    /// Programs, which go on with them.
    Programs,
}

/// How many decimals are shown.
#[derive(Clone, Copy, Debug)]
enum Decimals {
    Fixed(u16),
    /// As many as there are; of quotients and roots, which may have no last one, those of 17 significant digits,
    /// which tell all double-precision numbers apart. Zeros at the end are left out.
    All,
}

impl Purpose {
    /// The decimals of a statistic in a column whose finest value has `scale` of them.
    fn decimals(self, statistic: Statistic, scale: u16, layout: &Layout) -> Decimals {
        let more = |beyond| if beyond { SPREAD_DECIMALS } else { 0 };
        let spread = statistic.needs_squares();
        match (layout.decimals, self) {
            (Some(decimals), _) => Decimals::Fixed(decimals.into()),
            (None, Purpose::Challenge) => Decimals::Fixed(scale.max(1) + more(spread)),
            (None, Purpose::People) => Decimals::Fixed(scale + more(statistic.is_between())),
            (None, Purpose::Programs) => Decimals::All,
        }
    }
}

/// What was appended for a statistic.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Nothing: it does not exist, like the variance of one value.
    Nothing,
    /// Its digits.
    Number,
    /// Nothing: this text is to be written as the format writes texts.
    Text(Box<[u8]>),
    /// Nothing: this is to be written as it is where there is JSON, otherwise as a text.
    Json(Box<[u8]>),
}

/// Decimals of percentages for people.
const PERCENT_DECIMALS: u16 = 2;

/// Appends what is told of the group at a place.
pub(super) fn write_told(
    text: &mut Vec<u8>,
    columns: &[Column],
    (telling, place): (Telling, usize),
    purpose: Purpose,
    layout: &Layout,
) -> Cell {
    let (at, statistic, is_percent) = match telling {
        Telling::Of(at, statistic) => (at, statistic, statistic.is_share()),
        Telling::Error(at, statistic) => (at, statistic, true),
        Telling::Change([_, at], statistic) | Telling::ChangeError([_, at], statistic) => {
            (at, statistic, statistic.is_share())
        }
        Telling::Percent([_, at], statistic) => (at, statistic, true),
    };
    let column = &columns[at];
    if matches!(telling, Telling::Of(..)) && !is_percent {
        let digits = (purpose, column.scale);
        return write_cell(text, &column.groups[place].stats, statistic, digits, layout);
    }
    let decimals = match (is_percent, layout.decimals, purpose) {
        _ if matches!(telling, Telling::Error(..)) => Decimals::All,
        (true, None, Purpose::Challenge | Purpose::People) => Decimals::Fixed(PERCENT_DECIMALS),
        (false, ..) if statistic.is_count() => Decimals::Fixed(0),
        _ => purpose.decimals(statistic, column.scale, layout),
    };
    let Some(ratio) = told_number(columns, telling, place) else { return Cell::Nothing };
    let rounding = match telling {
        // It is a bound.
        Telling::ChangeError(..) => Rounding::Ceiling,
        _ => layout.rounding,
    };
    fraction(text, &ratio, decimals, rounding);
    Cell::Number
}

fn fraction(text: &mut Vec<u8>, ratio: &Ratio, decimals: Decimals, rounding: Rounding) {
    let start = text.len();
    let shown = match (decimals, ratio.ends) {
        (Decimals::Fixed(decimals), _) => decimals,
        (Decimals::All, Some(ends)) => ends,
        (Decimals::All, None) if ratio.above.sign() == Sign::NoSign => 0,
        (Decimals::All, None) => significant(ratio.above.magnitude(), ratio.below.magnitude(), 1),
    };
    let above = &ratio.above * big_power_of_ten(shown);
    text.extend_from_slice(big_quotient(above, &ratio.below, shown, rounding).as_bytes());
    if matches!(decimals, Decimals::All) {
        trim(text, start);
    }
}

/// Appends one statistic of one key. `scale` is the finest of the column.
pub(super) fn write_cell(
    text: &mut Vec<u8>,
    stats: &Stats,
    statistic: Statistic,
    (purpose, scale): (Purpose, u16),
    layout: &Layout,
) -> Cell {
    let start = text.len();
    let decimals = purpose.decimals(statistic, scale, layout);
    let datum = match statistic {
        Statistic::Count => return counted(text, Some(stats.count())),
        Statistic::Rows => return counted(text, Some(stats.rows())),
        Statistic::Distinct => return counted(text, stats.distinct()),
        Statistic::Histogram => return histogram(stats, purpose),
        Statistic::Min => stats.min().map(Datum::Number),
        Statistic::Max => stats.max().map(Datum::Number),
        Statistic::Range => stats.range().map(Datum::Number),
        Statistic::Sum => Some(Datum::Number(stats.sum())),
        Statistic::Quantile(quantile) => stats.quantile(quantile).map(Datum::Number),
        Statistic::Mode => stats.mode(),
        Statistic::First => stats.first(),
        Statistic::Last => stats.last(),
        // Shares are no matter of one key alone.
        Statistic::CountShare | Statistic::RowsShare | Statistic::SumShare => None,
        Statistic::Mean | Statistic::Variance | Statistic::Stddev => None,
    };
    let exists = match (datum, statistic) {
        (Some(Datum::Text(datum)), _) => return Cell::Text(datum),
        (Some(Datum::Number(number)), _) => {
            exact(text, &number, decimals, layout.rounding);
            true
        }
        (None, Statistic::Mean) if stats.numbers() > 0 => {
            let (sum, count) = (stats.sum(), stats.count());
            let decimals = match decimals {
                Decimals::Fixed(decimals) => decimals,
                Decimals::All => mean_decimals(&sum, count),
            };
            quotient(text, &sum, count, decimals, layout.rounding);
            true
        }
        (None, Statistic::Variance | Statistic::Stddev) => {
            let shown = spread(stats, statistic, decimals, layout.rounding).unwrap_or_default();
            text.extend_from_slice(shown.as_bytes());
            !shown.is_empty()
        }
        (None, _) => false,
    };
    if matches!(decimals, Decimals::All) {
        trim(text, start);
    }
    if exists { Cell::Number } else { Cell::Nothing }
}

/// Bars for people, for programs the bins.
fn histogram(stats: &Stats, purpose: Purpose) -> Cell {
    let Some(histogram) = stats.histogram() else { return Cell::Nothing };
    if purpose != Purpose::Programs {
        return Cell::Text(histogram.bars().into_bytes().into());
    }
    let mut text = Vec::new();
    for (name, bound) in [("{\"from\": ", &histogram.from), (", \"to\": ", &histogram.to)] {
        text.extend_from_slice(name.as_bytes());
        let start = text.len();
        exact(&mut text, bound, Decimals::All, Rounding::HalfUp);
        trim(&mut text, start);
    }
    let counts: Vec<String> = histogram.counts.iter().map(u64::to_string).collect();
    let _ = write!(text, ", \"counts\": [{}]}}", counts.join(", "));
    Cell::Json(text.into())
}

fn counted(text: &mut Vec<u8>, number: Option<u64>) -> Cell {
    let Some(number) = number else { return Cell::Nothing };
    digits(text, number.into());
    Cell::Number
}

/// Appends a number whose digits end.
fn exact(text: &mut Vec<u8>, number: &Decimal, decimals: Decimals, rounding: Rounding) {
    let decimals = match decimals {
        Decimals::Fixed(decimals) => decimals,
        Decimals::All => number.scale(),
    };
    quotient(text, number, 1, decimals, rounding);
}

/// Takes zeros off the end of a number with decimals that starts at `start`.
fn trim(text: &mut Vec<u8>, start: usize) {
    if text[start..].contains(&b'.') {
        while text.last() == Some(&b'0') {
            text.pop();
        }
        if text.last() == Some(&b'.') {
            text.pop();
        }
    }
}

/// Significant digits, less one, of what may have no last digit.
const SIGNIFICANT: u16 = 16;

/// Decimals with which `sum / count` has 17 significant digits.
fn mean_decimals(sum: &Decimal, count: u64) -> u16 {
    let units = sum.small().map(i128::unsigned_abs);
    if units == Some(0) {
        return 0;
    }
    let divisor = power_of_ten(sum.scale()).and_then(|unit| unit.checked_mul(count.into()));
    if let Some((units, divisor)) = units.zip(divisor.map(i128::unsigned_abs)) {
        // The quotient has one digit more before its point than the difference says, or none more.
        let least =
            i64::from(SIGNIFICANT) + i64::from(divisor.ilog10()) - i64::from(units.ilog10());
        let Ok(least) = u16::try_from(least) else { return 0 };
        let power = |exponent| power_of_ten(exponent).map(i128::unsigned_abs);
        let scaled = power(least).and_then(|power| units.checked_mul(power));
        let wanted = power(SIGNIFICANT).and_then(|power| divisor.checked_mul(power));
        if let Some((scaled, wanted)) = scaled.zip(wanted) {
            return least + u16::from(scaled < wanted);
        }
    }
    let divisor = big_power_of_ten(sum.scale()) * count;
    significant(sum.to_big().magnitude(), divisor.magnitude(), 1)
}

/// Decimals with which the `degree`-th root of a fraction, not zero, has 17 significant digits.
fn significant(numerator: &BigUint, denominator: &BigUint, degree: u16) -> u16 {
    // The fraction is less than ten to this power: log10(2) is a little less than 0.30103.
    let most = (numerator.bits() as i64 - denominator.bits() as i64 + 1) * 30_103 / 100_000 + 1;
    let wanted = denominator * big_power_of_ten(SIGNIFICANT * degree).magnitude();
    let least = (i64::from(SIGNIFICANT * degree) - most).div_euclid(degree.into());
    let first = u16::try_from(least.max(0)).unwrap_or(u16::MAX);
    let is_enough =
        |decimals: u16| numerator * big_power_of_ten(decimals * degree).magnitude() >= wanted;
    (first..).find(|&decimals| is_enough(decimals)).expect("numbers are longer than 17 digits")
}

/// Appends `number / divisor`, rounded to `decimals`.
fn quotient(text: &mut Vec<u8>, number: &Decimal, divisor: u64, decimals: u16, rounding: Rounding) {
    let Some(rounded) = short_quotient(number, divisor, decimals, rounding) else {
        return long_quotient(text, number, divisor, decimals, rounding);
    };
    if rounded < 0 {
        text.push(b'-');
    }
    short_digits(text, rounded.unsigned_abs(), decimals.into());
}

/// The same in units of the last decimal, where 64 bits hold all that is divided, as those of most numbers do.
fn short_quotient(
    number: &Decimal,
    divisor: u64,
    decimals: u16,
    rounding: Rounding,
) -> Option<i64> {
    if usize::from(decimals) > MOST_DECIMALS {
        return None;
    }
    let numerator = i64::try_from(number.small()?).ok()?;
    let numerator = scaled_short(numerator, decimals.saturating_sub(number.scale()))?;
    let down = number.scale().saturating_sub(decimals);
    let divisor = scaled_short(i64::try_from(divisor).ok()?, down)?;
    if divisor == 1 {
        return Some(numerator);
    }
    let (floor, rest) = (numerator.div_euclid(divisor), numerator.rem_euclid(divisor));
    // Twice the rest against the divisor, without doubling what may be large.
    let half = rest.cmp(&(divisor - rest));
    Some(floor + i64::from(rounding.carry(half, rest != 0, floor & 1 == 1)))
}

/// The same of any number.
fn long_quotient(
    text: &mut Vec<u8>,
    number: &Decimal,
    divisor: u64,
    decimals: u16,
    rounding: Rounding,
) {
    let up = decimals.saturating_sub(number.scale());
    let down = number.scale().saturating_sub(decimals);
    let numerator = number.small().and_then(|units| units.checked_mul(power_of_ten(up)?));
    let small_divisor = power_of_ten(down).and_then(|down| down.checked_mul(divisor.into()));
    let (Some(numerator), Some(divisor), Some(one)) =
        (numerator, small_divisor, power_of_ten(decimals))
    else {
        let divisor = big_power_of_ten(down) * divisor;
        let numerator = number.to_big() * big_power_of_ten(up);
        let shown = big_quotient(numerator, &divisor, decimals, rounding);
        text.extend_from_slice(shown.as_bytes());
        return;
    };
    let (floor, rest) = (numerator.div_euclid(divisor), numerator.rem_euclid(divisor));
    let half = rest.cmp(&(divisor - rest));
    let rounded = floor + i128::from(rounding.carry(half, rest != 0, floor & 1 == 1));
    if rounded < 0 {
        text.push(b'-');
    }
    let (magnitude, one) = (rounded.unsigned_abs(), one.unsigned_abs());
    digits(text, magnitude / one);
    if decimals > 0 {
        text.push(b'.');
        let width = usize::from(decimals);
        let _ = write!(text, "{:0width$}", magnitude % one);
    }
}

/// Appends an integer.
fn digits(text: &mut Vec<u8>, number: u128) {
    match u64::try_from(number) {
        Ok(number) => short_digits(text, number, 0),
        Err(_) => {
            let _ = write!(text, "{number}");
        }
    }
}

/// Decimals that [`short_digits`] has room for.
const MOST_DECIMALS: usize = 20;

/// Appends an integer with a point before its last digits, if any are wanted: at most [`MOST_DECIMALS`].
fn short_digits(text: &mut Vec<u8>, mut number: u64, decimals: usize) {
    // As many digits as there are decimals, one before the point, the point; or the digits of 64 bits and it.
    let mut shown = [0; MOST_DECIMALS + 2];
    let mut at = shown.len();
    for place in 0.. {
        if place == decimals && place > 0 {
            at -= 1;
            shown[at] = b'.';
        }
        at -= 1;
        shown[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 && place >= decimals {
            break;
        }
    }
    text.extend_from_slice(&shown[at..]);
}

fn big_quotient(numerator: BigInt, divisor: &BigInt, decimals: u16, rounding: Rounding) -> String {
    let mut floor = &numerator / divisor;
    let mut rest = numerator - &floor * divisor;
    if rest.sign() == Sign::Minus {
        floor -= 1;
        rest += divisor;
    }
    let half = (&rest * 2_i32).cmp(divisor);
    let carry = rounding.carry(half, rest.sign() != Sign::NoSign, floor.bit(0));
    floor += carry;
    pointed(&floor.magnitude().to_string(), floor.sign() == Sign::Minus, decimals)
}

/// The variance or its root; None where there is none.
fn spread(
    stats: &Stats,
    statistic: Statistic,
    decimals: Decimals,
    rounding: Rounding,
) -> Option<String> {
    let (numerator, denominator) = stats.variance()?;
    let unit = big_power_of_ten(stats.scale());
    let denominator = BigInt::from(denominator) * &unit * unit;
    let degree = if statistic == Statistic::Stddev { 2 } else { 1 };
    let decimals = match decimals {
        Decimals::Fixed(decimals) => decimals,
        Decimals::All if numerator.bits() == 0 => 0,
        Decimals::All => significant(&numerator, denominator.magnitude(), degree),
    };
    let numerator = BigInt::from(numerator) * big_power_of_ten(decimals * degree);
    Some(match degree {
        1 => big_quotient(numerator, &denominator, decimals, rounding),
        _ => root(&numerator, &denominator, decimals, rounding),
    })
}

fn root(numerator: &BigInt, divisor: &BigInt, decimals: u16, rounding: Rounding) -> String {
    // The floor of the root of a fraction is the root of its floor, which 128 bits hold where 17 digits are wanted.
    let whole = numerator / divisor;
    let floor = u128::try_from(&whole).map_or_else(|_| whole.sqrt(), |whole| whole.isqrt().into());
    let rest = numerator - &whole * divisor;
    // The middle between the root and the next integer has the square floor² + floor + 1/4.
    let square = &floor * &floor;
    let half = whole.cmp(&(&square + &floor)).then_with(|| (&rest * 4_u32).cmp(divisor));
    let is_above = rest.sign() != Sign::NoSign || whole != square;
    let carry = rounding.carry(half, is_above, floor.bit(0));
    pointed(&(floor + carry).to_string(), false, decimals)
}

/// Digits with a sign and a decimal point before the last `decimals` of them.
fn pointed(digits: &str, negative: bool, decimals: u16) -> String {
    let decimals = usize::from(decimals);
    let mut text = String::with_capacity(digits.len() + 4);
    if negative {
        text.push('-');
    }
    let whole = digits.len().saturating_sub(decimals);
    text.push_str(if whole == 0 { "0" } else { &digits[..whole] });
    if decimals > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', decimals.saturating_sub(digits.len())));
        text.push_str(&digits[whole..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4096, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn quotients_of_64_bits_are_those_of_any(
            units in prop_oneof![-1000..1000_i64, any::<i64>()],
            (scale, decimals) in prop_oneof![(0..4_u16, 0..4_u16), (0..40_u16, 0..40_u16)],
            divisor in prop_oneof![1..20_u64, 1..u64::MAX],
            rounding in prop::sample::select(vec![
                Rounding::HalfUp, Rounding::Ceiling, Rounding::HalfEven,
            ]),
        ) {
            let number = Decimal::new(units.into(), scale);
            let (mut either, mut long) = (Vec::new(), Vec::new());
            quotient(&mut either, &number, divisor, decimals, rounding);
            long_quotient(&mut long, &number, divisor, decimals, rounding);
            prop_assert_eq!(String::from_utf8(either), String::from_utf8(long));
        }
    }

    /// Judged on squares: the root of a fraction lies between those of what it lies between.
    #[test]
    fn roots_are_rounded_where_their_squares_say() {
        let parts = [1_u64, 2, 3, 4, 5, 9, 25, 36, 49, 100, 10_000_000_019, u64::MAX];
        let wholes = parts.iter().flat_map(|&a| parts.map(|b| BigInt::from(a) * b));
        for numerator in wholes.chain([BigInt::from(7).pow(90), BigInt::from(0)]) {
            for divisor in parts.map(BigInt::from) {
                let root = |rounding| -> BigInt {
                    root(&numerator, &divisor, 0, rounding).parse().unwrap()
                };
                let (near, even) = (root(Rounding::HalfUp), root(Rounding::HalfEven));
                let above = root(Rounding::Ceiling);
                // Four times what a square is of twice the root, one less or one more.
                let reaches = |twice: BigInt| &twice * &twice * &divisor <= &numerator * 4;
                assert!(near == BigInt::from(0) || reaches(&near * 2 - 1), "{numerator}/{divisor}");
                assert!(!reaches(&near * 2 + 1), "{numerator}/{divisor}");
                let is_middle = {
                    let twice: BigInt = &near * 2 - 1;
                    &twice * &twice * &divisor == &numerator * 4
                };
                let odd = is_middle && near.bit(0);
                assert_eq!(even, &near - u8::from(odd), "{numerator}/{divisor}");
                assert!(&above * &above * &divisor >= numerator, "{numerator}/{divisor}");
                let below: BigInt = &above - 1;
                let is_zero = above == BigInt::from(0);
                assert!(is_zero || &below * &below * &divisor < numerator, "{numerator}/{divisor}");
            }
        }
    }
}
