//! Cells that are no texts as the command writes them where it makes text of a table.

use crate::bucket::date;

/// What integers that are times count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Days since 1970.
    Date,
    /// So many to the second, since midnight.
    Clock(u32),
    /// So many to the second, since 1970; in UTC if so said, otherwise what some clock showed.
    Moment(u32, bool),
}

/// A number in units of `10^-scale` with all its digits.
pub(super) fn decimal(units: i128, scale: usize) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", units.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

/// The second since 1970 in which a time lies, if its text is one that says so: it has a date, whose year has four digits.
pub(super) fn second(count: i64, time: Time) -> Option<i64> {
    const FIRST: i64 = -62_167_219_200;
    const BEHIND: i64 = 253_402_300_800;
    let second = match time {
        Time::Date => count.checked_mul(86_400)?,
        Time::Clock(_) => return None,
        Time::Moment(per_second, _) => count.div_euclid(per_second.into()),
    };
    (FIRST..BEHIND).contains(&second).then_some(second)
}

/// A date or a time by ISO 8601, with as many digits behind the second as it has, by threes; what is beyond the calendar,
/// as marks for "never" are, as the number that it is, with its unit.
pub(super) fn time(count: i64, time: Time) -> String {
    const SECONDS: i64 = 86_400;
    let shown = match time {
        Time::Date => day(count),
        Time::Clock(per_second) => {
            let is_one = (0..SECONDS * i64::from(per_second)).contains(&count);
            is_one.then(|| clock(count, per_second))
        }
        Time::Moment(per_second, is_utc) => {
            let of_day = i64::from(per_second) * SECONDS;
            day(count.div_euclid(of_day)).map(|date| {
                let zone = if is_utc { "Z" } else { "" };
                format!("{date}T{}{zone}", clock(count.rem_euclid(of_day), per_second))
            })
        }
    };
    shown.unwrap_or_else(|| format!("{count} {}", unit(time)))
}

fn unit(time: Time) -> &'static str {
    match time {
        Time::Date => "days",
        Time::Clock(1) | Time::Moment(1, _) => "s",
        Time::Clock(1000) | Time::Moment(1000, _) => "ms",
        Time::Clock(1_000_000) | Time::Moment(1_000_000, _) => "us",
        Time::Clock(_) | Time::Moment(..) => "ns",
    }
}

/// A date of the years that chrono has, by which texts are made of tables.
fn day(days: i64) -> Option<String> {
    let (year, month, day) = date(days);
    // Years of other than four digits have a sign.
    match year {
        0..=9999 => Some(format!("{year:04}-{month:02}-{day:02}")),
        -262_143..=262_142 => Some(format!("{year:+05}-{month:02}-{day:02}")),
        _ => None,
    }
}

fn clock(count: i64, per_second: u32) -> String {
    let per_second = i64::from(per_second);
    let (seconds, rest) = (count.div_euclid(per_second), count.rem_euclid(per_second));
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let nanos = rest * (1_000_000_000 / per_second);
    let part = match nanos {
        0 => String::new(),
        _ if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        _ if nanos % 1000 == 0 => format!(".{:06}", nanos / 1000),
        _ => format!(".{nanos:09}"),
    };
    format!("{hours:02}:{minutes:02}:{seconds:02}{part}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_that_of_the_text() {
        let bucket = crate::Bucket::parse("1s").unwrap();
        let units = [1, 1000, 1_000_000, 1_000_000_000];
        let kinds = units.map(|per_second| Time::Moment(per_second, per_second > 1000));
        let kinds = [Time::Date, Time::Clock(1), Time::Clock(1000)].into_iter().chain(kinds);
        let days = [-719_529, -719_528, -1, 0, 19_000, 2_932_896, 2_932_897, i64::MAX, i64::MIN];
        for kind in kinds {
            for day in days {
                let per_day = match kind {
                    Time::Date => 1,
                    Time::Clock(per) | Time::Moment(per, _) => 86_400 * i64::from(per),
                };
                for more in [-1, 0, 1, 123_456_789] {
                    let Some(count) = day.checked_mul(per_day).and_then(|n| n.checked_add(more))
                    else {
                        continue;
                    };
                    let count = if kind == Time::Date { day } else { count };
                    if matches!(kind, Time::Date) && day.unsigned_abs() > 1 << 40 {
                        assert_eq!(second(count, kind), None);
                        continue;
                    }
                    let (mut by_text, mut direct) = (Vec::new(), Vec::new());
                    let text = time(count, kind);
                    let read = crate::number::Decimal::parse;
                    let outcome = bucket.push(&mut by_text, text.as_bytes(), read);
                    match second(count, kind) {
                        Some(second) => bucket.span().unwrap().push(&mut direct, second),
                        // It goes by its text.
                        None => assert!(outcome.is_err(), "{text}"),
                    }
                    assert_eq!(direct, by_text, "{text}");
                }
            }
        }
    }

    /// The same cells as in the tests of `input::table`, whose oracle is another library.
    #[test]
    fn times_are_those_of_tables_in_files() {
        for (count, kind, expected) in [
            (19_000, Time::Date, "2022-01-08"),
            (-1, Time::Date, "1969-12-31"),
            (2_932_897, Time::Date, "+10000-01-01"),
            (-719_529, Time::Date, "-0001-12-31"),
            (0, Time::Moment(1, false), "1970-01-01T00:00:00"),
            (86_399, Time::Moment(1, false), "1970-01-01T23:59:59"),
            (1_700_000_000_250_000, Time::Moment(1_000_000, true), "2023-11-14T22:13:20.250Z"),
            (-1, Time::Moment(1_000_000, true), "1969-12-31T23:59:59.999999Z"),
            (1, Time::Clock(1_000_000_000), "00:00:00.000000001"),
            (86_399_999, Time::Clock(1000), "23:59:59.999"),
            (i64::MIN, Time::Moment(1_000_000_000, false), "1677-09-21T00:12:43.145224192"),
            (-96_465_292, Time::Date, "-262143-01-01"),
            (-96_465_293, Time::Date, "-96465293 days"),
            (95_026_236, Time::Date, "+262142-12-31"),
            (95_026_237, Time::Date, "95026237 days"),
            (i64::MAX, Time::Moment(1_000_000, false), "9223372036854775807 us"),
            (i64::MAX, Time::Moment(1, true), "9223372036854775807 s"),
            (i64::MIN, Time::Moment(1, false), "-9223372036854775808 s"),
            (86_400_000_000, Time::Clock(1_000_000), "86400000000 us"),
            (-1, Time::Clock(1000), "-1 ms"),
        ] {
            assert_eq!(time(count, kind), expected);
        }
    }

    #[test]
    fn decimals_have_their_point_where_their_scale_says() {
        for (units, scale, expected) in
            [(-150, 2, "-1.50"), (7, 2, "0.07"), (7, 0, "7"), (-1, 5, "-0.00001"), (0, 1, "0.0")]
        {
            assert_eq!(decimal(units, scale), expected);
        }
    }
}
