//! Numbers as people read them: three or four digits and a unit.

/// A time given in nanoseconds: `1.234 µs`.
#[must_use]
pub fn duration(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
    if ns.is_finite() { in_unit(ns, &units) } else { "?".to_owned() }
}

/// A value in the first of these units that it is at least one of, or else in the last. What would be shown as 1000 is
/// one of the next unit.
fn in_unit(value: f64, units: &[(f64, &str)]) -> String {
    let reached = units.iter().find(|(size, _)| value >= size * 0.999_95);
    let (size, unit) = reached.or(units.last()).copied().unwrap_or((1.0, ""));
    format!("{} {unit}", digits(value / size))
}

/// A unit of time that somebody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// 10^-6 s.
    Microsecond,
    /// 10^-3 s.
    Millisecond,
    /// 1 s.
    Second,
}

impl TimeUnit {
    /// The unit that shows so many nanoseconds best.
    #[must_use]
    pub fn of(ns: f64) -> TimeUnit {
        match ns {
            ..1e6 => TimeUnit::Microsecond,
            ..1e9 => TimeUnit::Millisecond,
            _ => TimeUnit::Second,
        }
    }

    /// Its size in nanoseconds and its sign.
    #[must_use]
    pub fn size(self) -> (f64, &'static str) {
        match self {
            TimeUnit::Microsecond => (1e3, "µs"),
            TimeUnit::Millisecond => (1e6, "ms"),
            TimeUnit::Second => (1e9, "s"),
        }
    }

    /// A time in the unit that was asked for, or in its own.
    #[must_use]
    pub fn shown(unit: Option<TimeUnit>, ns: f64) -> String {
        let Some((size, sign)) = unit.map(TimeUnit::size) else { return duration(ns) };
        match ns / size {
            // Whoever chose the unit wants the time all the same.
            small if small > 0.0 && small < 1.0 => {
                format!("{small:.*} {sign}", decimals(small, 4))
            }
            value => format!("{} {sign}", digits(value)),
        }
    }
}

/// Four significant digits of what lies between 1 and 10^4; else three decimals or the whole number, never an
/// exponent.
#[must_use]
pub fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A number whose size nobody knows beforehand, such as a metric: whole ones as they are, others to four significant
/// digits, by an exponent where they are very small or large.
#[must_use]
pub fn quantity(value: f64) -> String {
    match value.abs() {
        v if v < 1e15 && v.fract() == 0.0 => format!("{:.0}", value + 0.0),
        0.001..1e15 => digits(value),
        _ => format!("{value:.3e}"),
    }
}

/// A rate in bytes per second: `12.34 GiB/s`.
#[must_use]
pub fn bytes_per_second(rate: f64) -> String {
    format!("{}/s", bytes(rate))
}

/// A size in bytes, in powers of 1024: `11.00 MiB`.
#[must_use]
pub fn bytes(size: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = size;
    let mut unit = 0;
    // What would be shown as 1024 is one of the next unit.
    while value >= 1023.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0} B"),
        _ => format!("{} {}", digits(value), units[unit]),
    }
}

/// A rate in items per second: `12.34 M/s`.
#[must_use]
pub fn per_second(rate: f64) -> String {
    format!("{}/s", count(rate))
}

/// A count of items: `12.34 M`; one below 1000 ends with the space before a unit.
#[must_use]
pub fn count(items: f64) -> String {
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    in_unit(items, &units)
}

/// A round number at an axis: `20 k`, `0.0005`, `65537`. No digit is lost, but those that a double has not.
#[must_use]
pub fn axis(value: f64) -> String {
    let value = format!("{value:.11e}").parse().unwrap_or(value);
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.iter().find(|(size, _)| value >= *size && value % size == 0.0) {
        Some((size, unit)) => format!("{} {unit}", value / size),
        None => value.to_string(),
    }
}

/// So many of something: `1 round`, `2 rounds`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A factor: `1.31x`, `12.3x`, `120x`.
#[must_use]
pub fn times(factor: f64) -> String {
    format!("{}x", factor_digits(factor))
}

/// A factor without its sign. Closer to 1, and far below, it needs more digits to say anything; ends of intervals
/// that say nothing have as few.
#[must_use]
pub fn factor_digits(factor: f64) -> String {
    if factor > 0.0 && !(1e-5..1e7).contains(&factor) {
        return format!("{factor:.1e}");
    }
    let apart = (factor - 1.0).abs();
    let decimals = match factor {
        // Three decimals would show none of the difference; a rounding error is none.
        f if (f * 1e3).round() == 1e3 && apart > 1e-9 => decimals(apart, 2),
        f if f > 0.0 && f < 0.1 => decimals(f, 2),
        f if f >= 100.0 => 0,
        f if f >= 10.0 => 1,
        f if (0.9..1.1).contains(&f) => 3,
        _ => 2,
    };
    format!("{factor:.decimals$}")
}

/// The decimals that show so many significant digits of a value below 1.
fn decimals(value: f64, significant: usize) -> usize {
    (-value.log10().floor()) as usize + significant - 1
}

/// A share as percent: `0.7 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        p if p >= 10.0 => format!("{percent:.0} %"),
        p if p >= 1.0 => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

/// A round number as people write it: `20 ms`, not `20.00 ms`.
#[must_use]
pub fn round(text: &str) -> String {
    let (value, unit) = text.split_once(' ').unwrap_or((text, ""));
    let value = match value.contains('.') {
        true => value.trim_end_matches('0').trim_end_matches('.'),
        false => value,
    };
    format!("{value} {unit}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_no_sixty_digits() {
        let factors =
            [1.9e65, 1e7, 9_999_999.0, 1e-5, 1.04e-68, 0.0, f64::INFINITY].map(factor_digits);
        assert_eq!(factors, ["1.9e65", "1.0e7", "9999999", "0.000010", "1.0e-68", "0.00", "inf"]);
    }

    #[test]
    fn times_and_sizes_carry_their_unit() {
        assert_eq!(duration(0.25), "0.250 ns");
        assert_eq!(duration(999.0), "999.0 ns");
        let rounded = [9.9996, 99.996, 999.96, 0.0004].map(digits);
        assert_eq!(rounded, ["10.00", "100.0", "1000", "0.000"]);
        assert_eq!(duration(12_345_678.0), "12.35 ms");
        // Beside "1.000 s" there was "1000 ms".
        assert_eq!([999_949_000.0, 999_951_000.0].map(duration), ["999.9 ms", "1.000 s"]);
        assert_eq!([999_960.0, 999.0].map(count), ["1.000 M", "999.0 "]);
        assert_eq!(duration(f64::NAN), "?");
        let seconds = |ns| TimeUnit::shown(Some(TimeUnit::Second), ns);
        assert_eq!([2e9, 0.25e9, 4_123.0].map(seconds), ["2.000 s", "0.2500 s", "0.000004123 s"]);
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes_per_second(3.5 * 1024.0 * 1024.0 * 1024.0), "3.500 GiB/s");
        assert_eq!(per_second(2_500_000.0), "2.500 M/s");
        assert_eq!(per_second(12.0), "12.00 /s");
        assert_eq!([0, 1, 2].map(|n| plural(n, "round")), ["0 rounds", "1 round", "2 rounds"]);
    }

    /// They were "0.000" and "3.000".
    #[test]
    fn a_small_quantity_is_not_zero_and_a_whole_one_has_no_decimals() {
        let shown = [0.0, -0.0, 3.0, 1_234_567.0, 0.000_123_45, -2e-9, 0.25, 12.345, 1e300];
        let words =
            ["0", "0", "3", "1234567", "1.234e-4", "-2.000e-9", "0.250", "12.35", "1.000e300"];
        assert_eq!(shown.map(quantity), words);
        assert_eq!(quantity(f64::NAN), "NaN");
    }

    #[test]
    fn factors_near_one_have_more_digits() {
        assert_eq!(times(1.0123), "1.012x");
        assert_eq!(times(1.306), "1.31x");
        assert_eq!(times(250.4), "250x");
        // It was "1.000x slower".
        let close = [1.000_3, 0.999_712, 1.000_004_24, 1.0, 1.0 + 1e-15].map(times);
        assert_eq!(close, ["1.00030x", "0.99971x", "1.0000042x", "1.000x", "1.000x"]);
        let small = [0.006, 0.0604, 0.1, 0.0].map(times);
        assert_eq!(small, ["0.0060x", "0.060x", "0.10x", "0.00x"]);
        assert_eq!(percent(0.0071), "0.71 %");
        assert_eq!(percent(0.126), "13 %");
    }

    #[test]
    fn round_numbers_have_no_zeros_behind_the_point() {
        let rounded = ["20.00 ms", "1000 s", "2.500 M", "5.000"].map(round);
        assert_eq!(rounded, ["20 ms", "1000 s", "2.5 M", "5"]);
    }

    /// It was "0" and "65.54 k".
    #[test]
    fn a_number_at_an_axis_keeps_its_digits() {
        let shown = [0.0001, 5.0 * 1e-6, 3.0 * 0.1, 2.5, 65_537.0, 20_000.0, 5e6, 1e15].map(axis);
        assert_eq!(shown, ["0.0001", "0.000005", "0.3", "2.5", "65537", "20 k", "5 M", "1000 T"]);
    }
}
