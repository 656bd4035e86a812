//! One number as text: the only place where anything is rounded.

use std::io::Write as _;

use num_bigint::{BigInt, Sign};

use super::{Layout, SPREAD_DECIMALS, Statistic};
use crate::merge::Stats;
use crate::number::{Decimal, Rounding, big_power_of_ten, power_of_ten};

/// One statistic of one key as text; None where it does not exist (the variance of one value).
///
/// `input_scale` is the finest scale of the input.
pub fn cell(
    stats: &Stats,
    statistic: Statistic,
    input_scale: u16,
    layout: &Layout,
) -> Option<String> {
    let mut text = Vec::new();
    let exists = write_cell(&mut text, stats, statistic, input_scale, layout);
    exists.then(|| String::from_utf8(text).expect("numbers are ASCII"))
}

/// Appends one statistic of one key; false, and nothing, where it does not exist.
pub(super) fn write_cell(
    text: &mut Vec<u8>,
    stats: &Stats,
    statistic: Statistic,
    input_scale: u16,
    layout: &Layout,
) -> bool {
    let scale = input_scale.max(1);
    let decimals = layout.decimals.map_or(scale, u16::from);
    let spread_decimals = layout.decimals.map_or(scale + SPREAD_DECIMALS, u16::from);
    let (number, divisor) = match statistic {
        Statistic::Count => {
            digits(text, stats.count().into());
            return true;
        }
        Statistic::Min => (stats.min(), 1),
        Statistic::Max => (stats.max(), 1),
        Statistic::Sum => (Some(stats.sum()), 1),
        Statistic::Mean => ((stats.count() > 0).then(|| stats.sum()), stats.count()),
        Statistic::Variance | Statistic::Stddev => {
            let spread = if statistic == Statistic::Variance { variance } else { stddev };
            let Some(shown) = spread(stats, spread_decimals, layout.rounding) else { return false };
            text.extend_from_slice(shown.as_bytes());
            return true;
        }
    };
    let Some(number) = number else { return false };
    quotient(text, &number, divisor, decimals, layout.rounding);
    true
}

/// Appends `number / divisor`, rounded to `decimals`.
fn quotient(text: &mut Vec<u8>, number: &Decimal, divisor: u64, decimals: u16, rounding: Rounding) {
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
    // Dividing 64 bits is an instruction, dividing 128 a function.
    let small = i64::try_from(numerator).ok().zip(i64::try_from(divisor).ok());
    let (floor, rest) = match small {
        Some((n, d)) => (n.div_euclid(d).into(), n.rem_euclid(d).into()),
        None => (numerator.div_euclid(divisor), numerator.rem_euclid(divisor)),
    };
    // Twice the rest against the divisor, without doubling what may be large.
    let half = rest.cmp(&(divisor - rest));
    let carry = rounding.carry(half, rest != 0, floor & 1 == 1);
    let rounded: i128 = floor + i128::from(carry);
    if rounded < 0 {
        text.push(b'-');
    }
    let magnitude = rounded.unsigned_abs();
    if decimals == 0 {
        return digits(text, magnitude);
    }
    let one = one.unsigned_abs();
    let (whole, part) = match (u64::try_from(magnitude), u64::try_from(one)) {
        (Ok(magnitude), Ok(one)) => ((magnitude / one).into(), (magnitude % one).into()),
        _ => (magnitude / one, magnitude % one),
    };
    digits(text, whole);
    text.push(b'.');
    // A leading one keeps the zeros behind the point.
    let start = text.len();
    digits(text, one + part);
    text.remove(start);
}

/// Appends an integer.
fn digits(text: &mut Vec<u8>, number: u128) {
    let Ok(mut number) = u64::try_from(number) else {
        let _ = write!(text, "{number}");
        return;
    };
    let mut shown = [0; 20];
    let mut at = shown.len();
    loop {
        at -= 1;
        shown[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
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

fn variance(stats: &Stats, decimals: u16, rounding: Rounding) -> Option<String> {
    let (numerator, divisor) = stats.variance()?;
    let numerator = BigInt::from(numerator) * big_power_of_ten(decimals);
    let unit = big_power_of_ten(stats.scale());
    let divisor = BigInt::from(divisor) * &unit * unit;
    Some(big_quotient(numerator, &divisor, decimals, rounding))
}

fn stddev(stats: &Stats, decimals: u16, rounding: Rounding) -> Option<String> {
    let (numerator, divisor) = stats.variance()?;
    let (finer, unit) = (big_power_of_ten(decimals), big_power_of_ten(stats.scale()));
    let numerator = BigInt::from(numerator) * &finer * finer;
    let divisor = BigInt::from(divisor) * &unit * unit;
    // The floor of the root of a fraction is the root of its floor. Whether a root lies below,
    // on or above the middle of two integers is decided on squares.
    let floor = (&numerator / &divisor).sqrt();
    let rest = &floor * &floor * &divisor != numerator;
    let odd = &floor * 2_u32 + 1_u32;
    let half = (&numerator * 4_u32).cmp(&(&odd * &odd * &divisor));
    let carry = rounding.carry(half, rest, floor.bit(0));
    Some(pointed(&(floor + carry).to_string(), false, decimals))
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
    use super::*;
    use crate::format::samples::stats;

    fn shown(
        texts: &[&str],
        statistic: Statistic,
        decimals: Option<u8>,
        rounding: Rounding,
    ) -> String {
        let stats = stats(texts);
        let layout = Layout { decimals, rounding, ..Layout::default() };
        cell(&stats, statistic, stats.scale(), &layout).unwrap()
    }

    #[test]
    fn the_three_roundings_differ_where_they_should() {
        use Rounding::{Ceiling, HalfEven, HalfUp};
        for (values, half_up, ceiling, half_even) in [
            (&["0.1", "0.2"][..], "0.2", "0.2", "0.2"),
            (&["0.2", "0.3"], "0.3", "0.3", "0.2"),
            (&["-0.1", "-0.2"], "-0.1", "-0.1", "-0.2"),
            (&["-0.2", "-0.3"], "-0.2", "-0.2", "-0.2"),
            (&["0.1", "0.0", "0.0"], "0.0", "0.1", "0.0"),
            (&["-0.1", "0.0", "0.0"], "0.0", "0.0", "0.0"),
            (&["-0.1", "0.0"], "0.0", "0.0", "0.0"),
            (&["-9.9", "-9.8", "-9.8"], "-9.8", "-9.8", "-9.8"),
        ] {
            for (rounding, expected) in
                [(HalfUp, half_up), (Ceiling, ceiling), (HalfEven, half_even)]
            {
                let mean = shown(values, Statistic::Mean, None, rounding);
                assert_eq!(mean, expected, "{values:?} {rounding}");
            }
        }
    }

    #[test]
    fn decimals_pad_and_round() {
        let values = &["12.345", "-0.004"];
        for (decimals, min, max, sum) in [
            (0, "0", "12", "12"),
            (1, "0.0", "12.3", "12.3"),
            (5, "-0.00400", "12.34500", "12.34100"),
        ] {
            let show = |s| shown(values, s, Some(decimals), Rounding::HalfUp);
            assert_eq!(show(Statistic::Min), min);
            assert_eq!(show(Statistic::Max), max);
            assert_eq!(show(Statistic::Sum), sum);
        }
        assert_eq!(shown(&["7"], Statistic::Mean, None, Rounding::HalfUp), "7.0");
    }

    #[test]
    fn numbers_beyond_128_bits_take_the_long_way_to_the_same_digits() {
        let values = vec!["999999999999999999"; 3];
        let mean = shown(&values, Statistic::Mean, Some(18), Rounding::HalfUp);
        assert_eq!(mean, "999999999999999999.000000000000000000");
        let mean = shown(
            &["0.000000000000000001", "999999999999999999"],
            Statistic::Mean,
            Some(18),
            Rounding::HalfEven,
        );
        assert_eq!(mean, "499999999999999999.500000000000000000");
    }

    #[test]
    fn spread_is_rounded_from_exact_fractions() {
        let values = &["2", "4", "4", "4", "5", "5", "7", "9"];
        assert_eq!(shown(values, Statistic::Variance, Some(6), Rounding::HalfUp), "4.571429");
        assert_eq!(shown(values, Statistic::Stddev, Some(6), Rounding::HalfUp), "2.138090");
        assert_eq!(shown(values, Statistic::Stddev, Some(6), Rounding::Ceiling), "2.138090");
        assert_eq!(shown(&["1", "3"], Statistic::Stddev, Some(3), Rounding::HalfUp), "1.414");
        assert_eq!(shown(&["1", "3"], Statistic::Stddev, Some(3), Rounding::Ceiling), "1.415");
        assert_eq!(shown(&["0", "1.0"], Statistic::Variance, None, Rounding::HalfUp), "0.500");
        let layout = Layout::default();
        assert_eq!(cell(&stats(&["1"]), Statistic::Stddev, 1, &layout), None);
    }
}
