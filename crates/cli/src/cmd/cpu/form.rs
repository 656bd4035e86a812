//! The printed form of mORMot's tables, so that figures can be laid beside published ones.
//!
//! Its `K M G` are powers of 1024, also for counts; bytes are labelled KiB, MiB, GiB here, which is what
//! they are. One decimal, cut and not rounded; the next unit starts at 90 % of it. The names of rows are the
//! families' own.

/// A size in bytes: `20 GiB`, `9.2 MiB`, `512 B`.
pub(super) fn bytes(value: f64) -> String {
    match scaled(value) {
        (number, "") => format!("{number} B"),
        (number, unit) => format!("{number} {unit}iB"),
    }
}

/// A count: `9.2M`, `512`.
pub(super) fn count(value: f64) -> String {
    let (number, unit) = scaled(value);
    format!("{number}{unit}")
}

fn scaled(value: f64) -> (String, &'static str) {
    let value = value.max(0.0) as u64;
    for (shift, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if value as f64 >= 0.9 * (1_u64 << shift) as f64 {
            let lower = value >> (shift - 10);
            let (mut whole, mut tenth) = (lower >> 10, (lower & 1023) / 102);
            if tenth == 10 {
                (whole, tenth) = (whole + 1, 0);
            }
            return match tenth {
                0 => (whole.to_string(), unit),
                _ => (format!("{whole}.{tenth}"), unit),
            };
        }
    }
    (value.to_string(), "")
}

/// A time: whole microseconds below 1000, then milliseconds or seconds with two decimals, cut. Below ten
/// microseconds, where the forebear has no rows, nanoseconds.
pub(super) fn time(ns: f64) -> String {
    let micros = (ns / 1000.0) as u64;
    match micros {
        0..10 => format!("{}ns", ns as u64),
        10..1000 => format!("{micros}us"),
        1000..1_000_000 => format!("{}.{:02}ms", micros / 1000, micros % 1000 / 10),
        _ => format!("{}.{:02}s", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// `2500 NAME in TIME i.e. COUNT/s or RATE/s`.
pub(super) fn calls(name: &str, calls: u64, bytes_per_run: u64, ns: f64) -> String {
    let per_second = 1e9 / ns;
    format!(
        "{calls} {name} in {} i.e. {}/s or {}/s",
        time(ns),
        count(calls as f64 * per_second),
        bytes(bytes_per_run as f64 * per_second)
    )
}

/// `NAME in TIME, RATE/s`.
pub(super) fn pass(name: &str, bytes_per_run: u64, ns: f64) -> String {
    match bytes_per_run {
        0 => format!("{name} in {}", time(ns)),
        _ => format!("{name} in {}, {}/s", time(ns), bytes(bytes_per_run as f64 * 1e9 / ns)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_s_first_line_is_reproduced() {
        let line = calls("crc32c", 2500, 5_579_000, 259_000.0);
        assert_eq!(line, "2500 crc32c in 259us i.e. 9.2M/s or 20 GiB/s");
    }

    #[test]
    fn rows_go_by_the_names_of_the_article() {
        for (family, operation, id, expected) in [
            ("checksum", "xxhash32", "twox-hash", "xxhash32"),
            ("digest", "hmac-sha256", "sha2", "hmacsha256"),
            ("digest", "sha3-512", "sha3", "sha3_512"),
            ("cipher", "aes-128-ctc", "fathom", "fathom aes-128-ctc"),
            ("cipher", "rc4", "rc4", "rc4"),
            ("memory", "small-move", "std", "small Move"),
            ("json", "table-compact", "fathom", "TOrmTableJson not expanded"),
            ("json", "numbers", "fathom", "numbers"),
        ] {
            let family = fathom_contenders::family(family).unwrap();
            assert_eq!(family.facts().task(operation).shown(operation, id), expected);
        }
    }

    #[test]
    fn units_change_at_nine_tenths() {
        let giga = 1024.0 * 1024.0 * 1024.0;
        for (value, shown) in [
            (0.9 * giga + 1.0, "0.9 GiB"),
            (0.89 * giga, "911.3 MiB"),
            (giga, "1 GiB"),
            (1.999 * giga, "2 GiB"),
            (512.0, "512 B"),
            (950.0, "0.9 KiB"),
        ] {
            assert_eq!(bytes(value), shown, "{value}");
        }
    }

    #[test]
    fn times_are_cut_and_not_rounded() {
        for (ns, shown) in [
            (9_999.9, "9999ns"),
            (999_999.0, "999us"),
            (1_999_999.0, "1.99ms"),
            (55_400_000.0, "55.40ms"),
            (1_239_000_000.0, "1.23s"),
        ] {
            assert_eq!(time(ns), shown);
        }
    }
}
