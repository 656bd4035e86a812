//! The plain aggregator: obviously right, the oracle of every test, never tuned.
//!
//! Splits at newlines, splits at the delimiter, parses, and keeps a sorted map. It holds the whole
//! input and refuses nothing but malformed records.

use std::collections::BTreeMap;

use crate::error::Reason;
use crate::line::record;
use crate::merge::{Partial, Stats};

/// What the reference makes of an input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// One state per key, in byte order.
    pub groups: Vec<Partial>,
    /// Records that were taken.
    pub records: u64,
    /// Lines with nothing on them.
    pub blank_lines: u64,
    /// Refused lines: bytes before each, and the reason.
    pub rejects: Vec<(u64, Reason)>,
}

/// Aggregates `key;value` lines.
pub fn aggregate(input: &[u8], with_squares: bool) -> Plain {
    let mut plain = Plain::default();
    let mut groups: BTreeMap<Box<[u8]>, Stats> = BTreeMap::new();
    let mut byte = 0;
    for line in input.split_inclusive(|&b| b == b'\n') {
        let start = byte;
        byte += line.len() as u64;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        match record(line) {
            Ok(None) => plain.blank_lines += 1,
            Ok(Some((key, value))) => {
                plain.records += 1;
                match groups.get_mut(key) {
                    Some(stats) => stats.add(&value),
                    None => {
                        groups.insert(key.into(), Stats::of(&value, with_squares));
                    }
                }
            }
            Err(fault) => plain.rejects.push((start, fault.reason)),
        }
    }
    plain.groups =
        groups.into_iter().map(|(key, stats)| Partial { key: key.into(), stats }).collect();
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_blank_lines_and_rejects_are_told_apart() {
        let plain = aggregate(b"a;1.0\n\nb;-2.5\r\n\r\na;x\n;1.0\nc\na;b;1\na;2", false);
        assert_eq!((plain.records, plain.blank_lines), (3, 2));
        let reasons: Vec<_> = plain.rejects.iter().map(|(byte, reason)| (*byte, *reason)).collect();
        assert_eq!(reasons[1], (21, Reason::EmptyKey));
        assert_eq!(reasons[2], (26, Reason::NoDelimiter));
        assert_eq!(reasons[3], (28, Reason::ManyDelimiters));
        assert_eq!(reasons.len(), 4);
        let sums: Vec<_> =
            plain.groups.iter().map(|p| (&*p.key, p.stats.sum().to_string())).collect();
        assert_eq!(sums, [(&b"a"[..], "3.0".into()), (&b"b"[..], "-2.5".into())]);
    }
}
