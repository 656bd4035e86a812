//! Values on the command line that are more than a word: counts with a suffix.

/// A count: `1000`, `1_000_000`, `250k`, `1.5M`, `1G` or `1B`, `1T`. Suffixes are decimal
/// (thousand, million, billion, trillion).
///
/// # Errors
/// Anything else, a fraction of one, and more than 64 bits.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let error = || format!("{text:?} is no count (such as 1000, 250k, 1.5M, 1G)");
    let (digits, zeros) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 3),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 6),
        Some(b'g' | b'G' | b'b' | b'B') => (&text[..text.len() - 1], 9),
        Some(b't' | b'T') => (&text[..text.len() - 1], 12),
        _ => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let dot_is_right = !digits.contains('.') || (zeros > 0 && !fraction.is_empty());
    let whole_is_right = whole.starts_with(|c: char| c.is_ascii_digit())
        && whole.chars().all(|c| c.is_ascii_digit() || c == '_');
    if !dot_is_right || !whole_is_right || !fraction.chars().all(|c| c.is_ascii_digit()) {
        return Err(error());
    }
    let significant = fraction.trim_end_matches('0');
    if significant.len() > zeros {
        return Err(format!("{text:?} is not a whole number"));
    }
    let plain = whole.replace('_', "") + significant + &"0".repeat(zeros - significant.len());
    plain.parse().map_err(|_| format!("{text:?} is more than {}", u64::MAX))
}

/// A size in bytes: `4096`, `64k`, `1.5M`, `2G`, `1T`, with or without `iB` or `B` behind the
/// letter. Suffixes are binary, as memory is.
///
/// # Errors
/// Anything else, and more than 64 bits.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let error = || format!("{text:?} is no size (such as 4096, 64k, 1.5M, 2G)");
    let plain = text.strip_suffix("iB").or(text.strip_suffix('B')).unwrap_or(text);
    let (number, shift) = match plain.as_bytes().last() {
        Some(b'k' | b'K') => (&plain[..plain.len() - 1], 10),
        Some(b'm' | b'M') => (&plain[..plain.len() - 1], 20),
        Some(b'g' | b'G') => (&plain[..plain.len() - 1], 30),
        Some(b't' | b'T') => (&plain[..plain.len() - 1], 40),
        _ => (plain, 0),
    };
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(error());
    }
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(error);
    }
    let size = number.parse::<f64>().map_err(|_| error())? * (1_u64 << shift) as f64;
    if shift == 0 || size.fract() != 0.0 || size >= u64::MAX as f64 {
        return Err(error());
    }
    Ok(size as u64)
}

/// A size in bytes that is not zero.
///
/// # Errors
/// As [`bytes`], and zero.
pub(crate) fn some_bytes(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("it is of one byte or more".to_owned()),
        some => Ok(some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_binary() {
        for (text, expected) in
            [("4096", 4096), ("64k", 65536), ("1.5M", 3 << 19), ("2GiB", 2 << 30), ("1B", 1)]
        {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "k", "-1", "1.5", "0.3k", "1e3", "99999999T", "2 G", "inf"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert!(some_bytes("0").is_err() && some_bytes("0k").is_err());
        assert_eq!(some_bytes("1k"), Ok(1024));
    }

    #[test]
    fn counts_are_decimal() {
        for (text, expected) in [
            ("0", 0),
            ("1000", 1000),
            ("1_000_000", 1_000_000),
            ("250k", 250_000),
            ("1.5M", 1_500_000),
            ("1.50M", 1_500_000),
            ("1G", 1_000_000_000),
            ("1B", 1_000_000_000),
            ("2T", 2_000_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_count_is_refused() {
        for text in [
            "", "k", "-1", "+1", "1.5", "1.", "1.k", ".5M", "_1", "1e9", "1 000", "1kk", "1.0001k",
            "0x10", "20000000T", "18446744073709551616", "1.5x", "é",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
