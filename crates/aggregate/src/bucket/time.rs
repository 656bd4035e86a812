//! Times as logs and exports write them, in seconds since 1970 in UTC, and the spans they lie in.
//!
//! ```text
//! 2026-11-22T08:14:58.5Z      RFC 3339; the offset may be +02:00, +0200 or nothing, which is UTC,
//! 2026-11-22 08:14:58,250     the letter a blank, the fraction behind a comma, seconds left out with it,
//! 2026-11-22                  or all of the time
//! 22/Nov/2026:10:14:58 +0200  the common log format, perhaps in brackets
//! 1795335298, 1795335298.25   seconds since 1970, of up to eleven digits before the point
//! 1795335298250               milliseconds, of twelve to fifteen
//! ```
//!
//! `20261122`, `20261122081458` and `2026` are [dates](is_bare_date) to whoever wrote them, and nothing since 1970.
//!
//! Days are those of the Gregorian calendar in all years from 0 to 9999, in UTC. A second of 60 is the first of the
//! next minute.

/// Spans times are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

const UNITS: [(&str, Unit); 7] = [
    ("s", Unit::Second),
    ("m", Unit::Minute),
    ("h", Unit::Hour),
    ("d", Unit::Day),
    ("w", Unit::Week),
    ("mo", Unit::Month),
    ("y", Unit::Year),
];

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// The first Monday of 1970, in days.
const MONDAY: i64 = 4;

impl Unit {
    pub(super) fn named(name: &str) -> Option<Unit> {
        UNITS.iter().find(|(known, _)| *known == name).map(|(_, unit)| *unit)
    }

    pub(super) fn name(self) -> &'static str {
        UNITS.iter().find(|(_, unit)| *unit == self).expect("all units are there").0
    }

    /// How many seconds it has, if it is shorter than a day.
    pub(super) fn seconds(self) -> Option<i64> {
        match self {
            Unit::Second => Some(1),
            Unit::Minute => Some(60),
            Unit::Hour => Some(3600),
            Unit::Day | Unit::Week | Unit::Month | Unit::Year => None,
        }
    }

    /// Appends the first moment of the span of `many` units that a time lies in, as short as the unit allows.
    /// Spans are counted from 1970, weeks from its first Monday, months and years from the year 0.
    pub(super) fn push(self, key: &mut Vec<u8>, many: i64, seconds: i64) {
        let floor = |value: i64, width: i64| value.div_euclid(width) * width;
        let day = seconds.div_euclid(DAY);
        let (day, text) = match self {
            Unit::Second | Unit::Minute | Unit::Hour => {
                let unit = self.seconds().expect("shorter than a day");
                return moment(key, floor(seconds, many * unit));
            }
            Unit::Day => (floor(day, many), 10),
            Unit::Week => (floor(day - MONDAY, 7 * many) + MONDAY, 10),
            Unit::Month => {
                let (year, month, _) = date(day);
                let month = floor(year * 12 + month - 1, many);
                (days(month.div_euclid(12), month.rem_euclid(12) + 1, 1), 7)
            }
            Unit::Year => (days(floor(date(day).0, many), 1, 1), 4),
        };
        push_day(key, day);
        key.truncate(key.len() - (10 - text));
    }
}

/// Appends a day as RFC 3339 writes it. A week may start in the year -0001, as ISO 8601 writes it, and a time of a table
/// lie in 10000.
fn push_day(key: &mut Vec<u8>, day: i64) {
    let (year, month, day) = date(day);
    if !(0..=9999).contains(&year) {
        let wide = if year < 0 { 5 } else { 4 };
        return key.extend_from_slice(format!("{year:0wide$}-{month:02}-{day:02}").as_bytes());
    }
    let pairs = [year / 100, year % 100, month, day].map(|pair| pair as usize);
    let [[a, b], [c, d], [e, f], [g, h]] = pairs.map(|pair| PAIRS[pair]);
    key.extend_from_slice(&[a, b, c, d, b'-', e, f, b'-', g, h]);
}

/// The digits of numbers below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [b'0' + at as u8 / 10, b'0' + at as u8 % 10];
        at += 1;
    }
    pairs
};

fn moment(key: &mut Vec<u8>, seconds: i64) {
    let rest = seconds.rem_euclid(DAY) as usize;
    let [[a, b], [c, d], [e, f]] = [rest / 3600, rest / 60 % 60, rest % 60].map(|pair| PAIRS[pair]);
    push_day(key, seconds.div_euclid(DAY));
    key.extend_from_slice(&[b'T', a, b, b':', c, d, b':', e, f, b'Z']);
}

/// The day of a date, from the first of 1970: the arithmetic of Howard Hinnant's
/// [chrono-compatible low-level date algorithms](https://howardhinnant.github.io/date_algorithms.html),
/// in years that start in March, so that a leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day: the other way round.
pub(crate) fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, date)
}

/// The second since 1970 in which a time lies; None if the text is none.
pub(super) fn seconds(text: &[u8]) -> Option<i64> {
    // Years of four digits: 0000-01-01 to 9999-12-31.
    any(text).filter(|second| (-62_167_219_200..253_402_300_800).contains(second))
}

/// Whether these are the digits of a date, perhaps with its minute or second, or a year from 1900 to 2099, and no more:
/// seconds of August 1970, or of the first hour of that year, milliseconds of 1976, or of 2572 and later, which nobody
/// has; who counts from a start of their own has those of the first hour, but not by days.
pub(super) fn is_bare_date(text: &[u8], by_days: bool) -> bool {
    /// Month, day, hour, minute, second.
    const PARTS: [(i64, i64); 5] = [(1, 12), (1, 31), (0, 23), (0, 59), (0, 60)];
    let is_year = || digits(text, 0..4).is_some_and(|year| (1900..2100).contains(&year));
    let is = |(&(least, most), at): (&(i64, i64), usize)| {
        digits(text, at..at + 2).is_some_and(|number| (least..=most).contains(&number))
    };
    match text.len() {
        4 => by_days && is_year(),
        8 | 12 | 14 => is_year() && PARTS.iter().zip((4..text.len()).step_by(2)).all(is),
        _ => false,
    }
}

fn any(text: &[u8]) -> Option<i64> {
    if text.get(4) == Some(&b'-') {
        return calendar(text);
    }
    let inside = text.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(text);
    if inside.get(2) == Some(&b'/') { common(inside) } else { epoch(text) }
}

/// A number of two or four digits.
fn digits(text: &[u8], range: std::ops::Range<usize>) -> Option<i64> {
    let digit = |number: i64, &byte: &u8| {
        byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
    };
    text.get(range)?.iter().try_fold(0, digit)
}

fn day_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let number = ((1..=12).contains(&month) && day >= 1).then(|| days(year, month, day))?;
    // A day that the month does not have is one of the next.
    (date(number) == (year, month, day)).then_some(number)
}

/// `08:14`, `08:14:58` and what follows it.
fn clock(text: &[u8]) -> Option<(i64, &[u8])> {
    let (hour, minute) = (digits(text, 0..2)?, digits(text, 3..5)?);
    let has_second = text.get(5) == Some(&b':');
    let second = if has_second { digits(text, 6..8)? } else { 0 };
    let fits = text[2] == b':' && hour < 24 && minute < 60 && second <= 60;
    let rest = &text[if has_second { 8 } else { 5 }..];
    fits.then_some((hour * 3600 + minute * 60 + second, rest))
}

/// Seconds east of Greenwich.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text {
        [] | b"Z" | b"z" => return Some(0),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let minutes = match rest.len() {
        2 => 0,
        4 => digits(rest, 2..4)?,
        5 if rest[2] == b':' => digits(rest, 3..5)?,
        _ => return None,
    };
    let hours = digits(rest, 0..2)?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn calendar(text: &[u8]) -> Option<i64> {
    let (year, month, day) = (digits(text, 0..4)?, digits(text, 5..7)?, digits(text, 8..10)?);
    let day = day_of(year, month, day).filter(|_| text[7] == b'-')? * DAY;
    let time = match &text[10..] {
        [] => return Some(day),
        [b'T' | b't' | b' ', time @ ..] => time,
        _ => return None,
    };
    let (second, rest) = clock(time)?;
    // Of a minute it would be another fraction.
    let has_second = time.get(5) == Some(&b':');
    let rest = match rest {
        [b'.' | b',', fraction @ ..] if has_second => {
            let many = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (many > 0).then(|| &fraction[many..])?
        }
        rest => rest,
    };
    let rest = rest.strip_prefix(b" ").filter(|rest| !rest.is_empty()).unwrap_or(rest);
    Some(day + second - offset(rest)?)
}

fn common(text: &[u8]) -> Option<i64> {
    let month = MONTHS.iter().position(|month| Some(*month) == text.get(3..6))? as i64 + 1;
    let (day, year) = (digits(text, 0..2)?, digits(text, 7..11)?);
    let day =
        day_of(year, month, day).filter(|_| text[6] == b'/' && text.get(11) == Some(&b':'))?;
    let (second, rest) = clock(&text[12..])?;
    let rest = rest.strip_prefix(b" ").filter(|rest| !rest.is_empty()).unwrap_or(rest);
    Some(day * DAY + second - offset(rest)?)
}

fn epoch(text: &[u8]) -> Option<i64> {
    const MOST_SECONDS: usize = 11;
    const MOST: usize = 15;
    let (is_negative, number) = match text {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let whole = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_fraction = match &number[whole..] {
        [] => false,
        [b'.', part @ ..] if !part.is_empty() && part.iter().all(u8::is_ascii_digit) => true,
        _ => return None,
    };
    let value = (1..=MOST).contains(&whole).then(|| digits(number, 0..whole))??;
    let has_rest = is_fraction && number[whole + 1..].iter().any(|&byte| byte != b'0');
    let milliseconds = if whole > MOST_SECONDS { value } else { value * 1000 };
    // Below zero what is left of a second belongs to the one before.
    let milliseconds = if is_negative { -milliseconds - i64::from(has_rest) } else { milliseconds };
    Some(milliseconds.div_euclid(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments_are_written_digit_by_digit() {
        for day in
            (-719_600..2_933_000).step_by(97).chain([-719_529, -719_528, 2_932_896, 2_932_897])
        {
            let (year, month, date) = date(day);
            let mut key = b"before ".to_vec();
            push_day(&mut key, day);
            let sign = if year < 0 { "-" } else { "" };
            let year = format!("{sign}{:04}", year.abs());
            let expected = format!("before {year}-{month:02}-{date:02}");
            assert_eq!(String::from_utf8(key).unwrap(), expected);
            let (second, mut key) = (day.unsigned_abs() as i64 * 31 % DAY, Vec::new());
            moment(&mut key, day * DAY + second);
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            let expected =
                format!("{year}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z");
            assert_eq!(String::from_utf8(key).unwrap(), expected);
        }
    }

    #[test]
    fn one_moment_is_read_as_people_and_programs_write_it() {
        // By `date -u -d 2026-11-22T08:14:58Z +%s`.
        for text in [
            "2026-11-22T08:14:58Z", "2026-11-22t08:14:58z", "2026-11-22T08:14:58.999Z",
            "2026-11-22T10:14:58+02:00", "2026-11-22T10:14:58.5+0200", "2026-11-22T02:44:58-05:30",
            "2026-11-21 23:14:58 -09", "2026-11-22 08:14:58", "2026-11-22 08:14:58,250",
            "2026-11-22 08:14:58.25 +00:00", "22/Nov/2026:08:14:58 +0000",
            "[22/Nov/2026:10:14:58 +0200]", "22/Nov/2026:08:14:58", "1795335298", "1795335298.75",
            "1795335298250",
        ] {
            assert_eq!(seconds(text.as_bytes()), Some(1_795_335_298), "{text}");
        }
        for (text, expected) in [
            ("2026-11-22", 1_795_305_600),
            ("2026-11-22T08:14Z", 1_795_335_240),
            ("1970-01-01", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2024-02-29", 1_709_164_800),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("0", 0),
            ("-1", -1),
            ("-0.5", -1),
            ("-1.0", -1),
            ("0000-01-01", -62_167_219_200),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("253402300799999", 253_402_300_799),
        ] {
            assert_eq!(seconds(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", "now", "-", ".", "5.", "1e9", "2026-11-22T", "2026-13-01", "2026-02-29",
            "2026-00-10", "2026-11-00", "2026-11-22T24:00:00Z", "2026-11-22T08:60:00Z",
            "2026-11-22T08:14:61Z", "2026-11-22T08:14:58.Z", "2026-11-22T08:14.5Z",
            "2026-11-22 08:14,5", "2026-11-22T08:14:58 ", "2026-11-22T08:14:58+2", "2026/11/22",
            "2026-11-22X08:14:58Z", "22/Nov/2026", "22/nov/2026:08:14:58 +0000",
            "31/Nov/2026:08:14:58", "1234567890123456", "999999999999999",
            "9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+14:00", "31/Dec/9999:23:59:60",
            "26-11-22", "2026-11-22T08-14-58Z", "２０２６-11-22",
        ] {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn dates_without_dashes_were_times_of_other_years() {
        let dates = [
            "20260203", "19001231", "20260203081458", "20261231235960", "202602030814",
            "190001010000", "2026", "2099",
        ];
        let others = [
            "1899", "2100", "20261303", "20260200", "20260203.0", "-2026", "202602",
            "20260203081461", "20260203086000", "202602032400", "20260203 814", "202602030814.0",
            "1795335298250", "179533529825", "2026-02-03",
        ];
        for text in dates.into_iter().chain(others) {
            let expected = dates.contains(&text);
            assert_eq!(is_bare_date(text.as_bytes(), true), expected, "{text}");
            let is_date = expected && text.len() > 4;
            assert_eq!(is_bare_date(text.as_bytes(), false), is_date, "{text}");
        }
    }

    #[test]
    fn spans_start_where_calendars_and_clocks_do() {
        let name = |many, unit: &str, text: &str| {
            let mut key = Vec::new();
            let unit = Unit::named(unit).unwrap();
            unit.push(&mut key, many, seconds(text.as_bytes()).unwrap());
            String::from_utf8(key).unwrap()
        };
        let text = "2026-11-22T08:14:58Z";
        for (many, unit, expected) in [
            (1, "s", "2026-11-22T08:14:58Z"),
            (30, "s", "2026-11-22T08:14:30Z"),
            (5, "m", "2026-11-22T08:10:00Z"),
            (1, "h", "2026-11-22T08:00:00Z"),
            (6, "h", "2026-11-22T06:00:00Z"),
            (1, "d", "2026-11-22"),
            // A Sunday: its week began on Monday the 16th.
            (1, "w", "2026-11-16"),
            (1, "mo", "2026-11"),
            (3, "mo", "2026-10"),
            (1, "y", "2026"),
            (10, "y", "2020"),
        ] {
            assert_eq!(name(many, unit, text), expected);
        }
        assert_eq!(name(1, "h", "1969-12-31T23:59:59Z"), "1969-12-31T23:00:00Z");
        assert_eq!(name(1, "w", "1970-01-01"), "1969-12-29");
        assert_eq!(name(1, "y", "0000-01-01"), "0000");
    }

    #[test]
    fn days_and_dates_are_each_other_s_inverse_through_four_centuries() {
        // A day at a time, by the rule of leap years and nothing else.
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for number in 0..146_097 {
            assert_eq!((days(year, month, day), date(number)), (number, (year, month, day)));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let long = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            day += 1;
            if day > long[month as usize - 1] {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }
}
