//! Numbers are rounded once and right: against the standard library, and against exact arithmetic
//! with big integers, which shares no code with either.

use std::cmp::Ordering;

use fathom_json::{Event, Lexer, Mode, nearest};
use num_bigint::BigUint;
use proptest::prelude::*;

/// Compares the decimal `text` (no sign) with `numerator` · 2^`power`, exactly.
fn compare(text: &str, numerator: u64, power: i32) -> Ordering {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().unwrap()),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut left: BigUint = format!("{whole}{fraction}").parse().unwrap();
    let mut right = BigUint::from(numerator);
    let tens = exponent - fraction.len() as i64;
    let ten = BigUint::from(10u32).pow(tens.unsigned_abs() as u32);
    if tens >= 0 {
        left *= ten
    } else {
        right *= ten
    }
    if power >= 0 {
        right <<= power
    } else {
        left <<= -power
    }
    left.cmp(&right)
}

/// Whether `value` is the double nearest to `text`, ties to even: the text lies between the two
/// midpoints to its neighbours.
fn is_nearest(text: &str, value: f64) -> bool {
    let bits = value.to_bits();
    let (mantissa, exponent) = match bits >> 52 {
        0 => (bits, -1074),
        biased => ((bits & ((1 << 52) - 1)) | 1 << 52, biased as i32 - 1075),
    };
    let is_even = bits & 1 == 0;
    // The gap below a power of two is half as wide, except at the smallest normal number.
    let is_power = mantissa == 1 << 52 && bits >> 52 > 1;
    let below = match is_power {
        true => (4 * mantissa - 1, exponent - 2),
        false => ((2 * mantissa).saturating_sub(1), exponent - 1),
    };
    let above = (2 * mantissa + 1, exponent - 1);
    let fits =
        |order: Ordering, inside: Ordering| order == inside || order == Ordering::Equal && is_even;
    (mantissa == 0 || fits(compare(text, below.0, below.1), Ordering::Greater))
        && fits(compare(text, above.0, above.1), Ordering::Less)
}

/// The same number as an event, whose digits are found by the lexer's kernel; the white space behind it
/// makes room for whole registers. Infinite, if it is none.
fn as_event(text: &[u8]) -> f64 {
    let padded = [text, &[b' '; 32]].concat();
    let mut lexer = Lexer::new(Mode::Document);
    match lexer.next(&padded, &mut 0) {
        Ok(Some(Event::Number(number))) => number.to_f64().unwrap_or(f64::INFINITY),
        _ => f64::INFINITY,
    }
}

fn check(text: &str) {
    let value = nearest(text.as_bytes()).unwrap_or_else(|| panic!("refused {text}"));
    assert_eq!(value.to_bits(), as_event(text.as_bytes()).to_bits(), "{text}");
    assert!(is_nearest(text, value), "{text} became {value:e}");
    assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
}

/// The exact decimal expansion of the midpoint between `value` and its successor.
fn midpoint(value: f64) -> (String, usize) {
    let bits = value.to_bits();
    let (mantissa, exponent) = match bits >> 52 {
        0 => (bits, -1074),
        biased => ((bits & ((1 << 52) - 1)) | 1 << 52, biased as i32 - 1075),
    };
    let (numerator, power) = (BigUint::from(2 * mantissa + 1), exponent - 1);
    if power >= 0 {
        return ((numerator << power).to_string(), 0);
    }
    // n / 2^p = n · 5^p / 10^p
    let places = -power as usize;
    ((numerator * BigUint::from(5u32).pow(places as u32)).to_string(), places)
}

fn shown(digits: &str, places: usize) -> String {
    if places == 0 { digits.to_owned() } else { format!("{digits}e-{places}") }
}

/// A small generator, so that the same numbers are tried every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

fn finite(bits: u64) -> f64 {
    let value = f64::from_bits(bits & !(1 << 63));
    if value.is_finite() { value } else { f64::from_bits(bits & ((1 << 52) - 1)) }
}

#[test]
fn every_way_to_print_random_doubles() {
    let mut random = Random(1);
    for _ in 0..500 {
        let value = finite(random.next());
        check(&format!("{value:.17e}"));
        check(&format!("{value:e}"));
        let degree = (random.next() >> 11) as f64 / (1u64 << 53) as f64 * 360.0;
        for places in 0..=20 {
            check(&format!("{degree:.places$}"));
        }
        check(&format!("{degree}"));
    }
}

#[test]
fn midpoints_of_neighbours_and_one_unit_beside_them() {
    let mut random = Random(2);
    let mut values = vec![0.0, f64::from_bits(1), f64::MIN_POSITIVE, 1.0, 0.1, 180.0, 9e15, 1e22];
    values.push(f64::from_bits(f64::MIN_POSITIVE.to_bits() - 1));
    values.extend((0..60).map(|_| finite(random.next())));
    values.extend((0..200).map(|_| (random.next() >> 11) as f64 / (1u64 << 53) as f64 * 180.0));
    for value in values {
        let (digits, places) = midpoint(value);
        check(&shown(&digits, places));
        // Cut after 15 to 40 digits: just below the midpoint; plus one there: just above.
        for keep in (15..=40).chain([100, 300, 700]).filter(|&keep| keep < digits.len()) {
            let dropped = digits.len() - keep;
            let cut = &digits[..keep];
            let above = (cut.parse::<BigUint>().unwrap() + 1u32).to_string();
            for text in [cut, &above] {
                let exponent = dropped as i64 - places as i64;
                check(&format!("{text}e{exponent}"));
            }
        }
        // The midpoint itself with a unit far behind its end.
        check(&shown(&format!("{digits}000000001"), places + 9));
    }
}

#[test]
fn neighbours_of_powers_of_ten_at_small_exponents() {
    for exponent in -30..=30 {
        for power in 0..20 {
            for step in -3..=3 {
                let whole = 10_u64.pow(power).wrapping_add_signed(step);
                check(&format!("{whole}e{exponent}"));
            }
        }
    }
}

#[test]
fn the_edges_of_the_range() {
    check("1.7976931348623157e308");
    check("1.7976931348623158e308");
    assert_eq!(nearest(b"1.7976931348623159e308"), None);
    assert_eq!(nearest(b"1e309"), None);
    check("4.9406564584124654e-324");
    check("2.4703282292062327208299e-324");
    check("2.4703282292062328e-324");
    check("2.47e-324");
    check("1e-400");
    check("2.2250738585072011e-308");
    check("2.2250738585072014e-308");
    check(&format!("0.{}1", "0".repeat(320)));
    check(&format!("1{}", "0".repeat(300)));
    check(&"123456789".repeat(34));
    check(&format!("0.{}", "123456789".repeat(90)));
    check("9007199254740993");
    check("9007199254740995");
    check("900719925474099300e-2");
    check("900719925474099301e-2");
    check("9007199254740993.00000000000000000000000000000000000000001");
}

/// The count of the note in `docs/json.md`: run by hand,
/// `FATHOM_NUMBERS=100000000 cargo test --release -p fathom-json --test numbers -- --ignored`, in
/// pieces with different `FATHOM_SEED` if need be.
#[test]
#[ignore = "minutes; run by hand with a count in FATHOM_NUMBERS"]
fn many_random_numbers_agree_with_the_standard_library() {
    use std::io::Write;
    let variable = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let count = variable("FATHOM_NUMBERS").unwrap_or(1_000_000);
    let seed = variable("FATHOM_SEED").unwrap_or(3);
    let mut random = Random(seed << 32);
    let mut text = Vec::new();
    for i in 0..count {
        text.clear();
        let bits = random.next();
        let unit = (bits >> 11) as f64 / (1u64 << 53) as f64;
        match i % 8 {
            0 => write!(text, "{:.16}", unit * 360.0 - 180.0),
            1 => write!(text, "{}", unit * 360.0 - 180.0),
            2 => write!(text, "{:e}", finite(bits)),
            3 => write!(text, "{:.17e}", finite(bits)),
            4 => write!(text, "{}.{}", bits % 1000, random.next()),
            5 => write!(text, "{}e{}", bits, random.next() % 60),
            6 => write!(text, "{}e-{}", bits, random.next() % 60),
            _ => write!(text, "0.{:020}{:020}", bits, random.next()),
        }
        .unwrap();
        let standard: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
        let own = nearest(&text).unwrap_or(f64::INFINITY);
        assert_eq!(own.to_bits(), standard.to_bits(), "{}", text.escape_ascii());
        assert_eq!(as_event(&text).to_bits(), standard.to_bits(), "{}", text.escape_ascii());
    }
    eprintln!("{count} numbers from seed {seed}, no difference");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_digits_any_exponent(
        text in "(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?",
    ) {
        check(&text);
    }

    #[test]
    fn long_digit_strings(digits in "[1-9][0-9]{40,800}", exponent in -400i32..-100) {
        let text = format!("{digits}e{exponent}");
        if text.parse::<f64>().unwrap().is_finite() {
            check(&text);
        }
    }
}
