//! Text to double, quickly and wrongly: what the notes replaced `strtod` by.
//!
//! Digits are added up in a double and divided by a power of ten: two roundings or more, and digits
//! beyond the sixteenth lost. Exponents are understood; nothing is checked.

/// The double near a number.
pub(super) fn quick(text: &[u8]) -> f64 {
    let (is_negative, mut rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut value, mut scale) = (0.0, 1.0);
    let mut is_fraction = false;
    while let [byte, more @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                value = value * 10.0 + f64::from(byte - b'0');
                scale *= if is_fraction { 10.0 } else { 1.0 };
            }
            b'.' => is_fraction = true,
            _ => break,
        }
        rest = more;
    }
    let power: i32 = match rest {
        [b'e' | b'E', digits @ ..] => {
            std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
        }
        _ => 0,
    };
    let value = value / scale * 10f64.powi(power);
    if is_negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_near_but_not_always_nearest() {
        for (text, value) in [("0", 0.0), ("-12.5", -12.5), ("1.5e3", 1500.0), ("2E-2", 0.02)] {
            assert_eq!(quick(text.as_bytes()), value, "{text}");
        }
        let texts = (1..1000).map(|i| format!("{:.16}", 180.0 / f64::from(i) / 0.7));
        let wrong = texts.filter(|text| {
            let nearest: f64 = text.parse().unwrap();
            assert!((quick(text.as_bytes()) - nearest).abs() < 1e-12, "{text}");
            quick(text.as_bytes()) != nearest
        });
        assert!((1..999).contains(&wrong.count()));
    }
}
