//! Every question answered byte by byte: the oracle of the others.

use std::collections::BTreeMap;

use fathom_json::reference::Machine;
use fathom_json::{Limits, Mode};
use fathom_measure::contender::{Meta, Simple};

use super::rewrite;
use super::workload::{Group, Operation, Scan, up_to};

pub(super) const PLAIN: Simple<Scan> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("reference.rs")) },
    prepare: |workload| match workload.operation {
        Operation::StrLen => workload.counted(|text| length(text) as u64),
        Operation::Utf8 => workload.counted(|text| is_utf8(text).into()),
        Operation::Utf8UpToZero => {
            workload.counted(|text| is_utf8(up_to(text, |t| Some(length(t)))).into())
        }
        Operation::JsonValid => workload.counted(|text| is_json(text).into()),
        Operation::JsonValidUpToZero => {
            workload.counted(|text| is_json(up_to(text, |t| Some(length(t)))).into())
        }
        Operation::JsonCount => workload.counted(|text| count(text, 1, b'[')),
        Operation::JsonCountUpToZero => {
            workload.counted(|text| count(up_to(text, |t| Some(length(t))), 1, b'['))
        }
        Operation::JsonCountSoFar => {
            workload.counted(|text| count_so_far(text, 1, b'[').cast_unsigned())
        }
        Operation::JsonProperties => workload.counted(|text| count(text, 1, b'{')),
        Operation::JsonUnquoted => {
            workload.written(|text| rewrite::plain_unquoted(text).unwrap_or_default())
        }
        Operation::JsonHuman => {
            workload.written(|text| rewrite::plain_human(text).unwrap_or_default())
        }
        Operation::Pattern => workload.counted(pattern_ends),
        Operation::LineEnds => workload.listed(line_ends),
        Operation::Measurements => workload.grouped(groups),
    },
};

/// Lines of a name, a semicolon and a number of one decimal, or none.
fn groups(text: &[u8]) -> Vec<Group> {
    let mut groups: BTreeMap<&[u8], Group> = BTreeMap::new();
    let text = text.split(|&byte| byte == b'\n');
    for line in text.map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        let Some(at) = line.iter().position(|&byte| byte == b';') else { continue };
        let (key, value) = (&line[..at], String::from_utf8_lossy(&line[at + 1..]));
        let (whole, tenths) = value.split_once('.').unwrap_or((&value, "0"));
        if let (Ok(tenths), false) = (format!("{whole}{tenths}").parse(), key.is_empty()) {
            groups.entry(key).or_insert_with(|| Group::new(key)).add(tenths);
        }
    }
    groups.into_values().collect()
}

/// The sum of the ends of what matches [`super::workload::PATTERN`], looked for at every byte.
fn pattern_ends(text: &[u8]) -> u64 {
    let at = |start: usize| {
        let rest = text[start..].strip_prefix(b"Year")?;
        let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let is_name = letters > 1 && rest[0].is_ascii_uppercase();
        let year = rest[letters..].strip_prefix(b"\":18")?;
        let is_year = year.len() > 1 && year[..2].iter().all(u8::is_ascii_digit);
        (is_name && is_year).then_some(text.len() - year.len() + 2)
    };
    let (mut sum, mut start) = (0, 0);
    while start < text.len() {
        let end = at(start);
        sum += end.unwrap_or(0) as u64;
        start = end.unwrap_or(start + 1);
    }
    sum
}

fn line_ends(text: &[u8], ends: &mut Vec<u32>) {
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'\n' {
            ends.push(at as u32);
        }
    }
}

fn length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte != 0).count()
}

/// The Unicode Standard, table 3-7: well-formed UTF-8 byte sequences.
pub(super) fn is_utf8(mut text: &[u8]) -> bool {
    while let Some(&first) = text.first() {
        let (bytes, second) = match first {
            0x00..=0x7f => (1, 0..=0),
            0xc2..=0xdf => (2, 0x80..=0xbf),
            0xe0 => (3, 0xa0..=0xbf),
            0xed => (3, 0x80..=0x9f),
            0xe1..=0xef => (3, 0x80..=0xbf),
            0xf0 => (4, 0x90..=0xbf),
            0xf4 => (4, 0x80..=0x8f),
            0xf1..=0xf3 => (4, 0x80..=0xbf),
            _ => return false,
        };
        let Some(sequence) = text.get(..bytes) else { return false };
        let is_right = sequence.iter().enumerate().skip(1).all(|(at, byte)| match at {
            1 => second.contains(byte),
            _ => (0x80..=0xbf).contains(byte),
        });
        if !is_right {
            return false;
        }
        text = &text[bytes..];
    }
    true
}

fn is_json(text: &[u8]) -> bool {
    let mut machine = Machine::new(Mode::Document, Limits::default());
    machine.feed(text, &mut |_| {}).is_ok() && machine.finish(&mut |_| {}).is_ok()
}

/// Members at `depth` of a text that opens with `open`; 0 for another text.
pub(super) fn count(text: &[u8], depth: i32, open: u8) -> u64 {
    count_so_far(text, depth, open).try_into().unwrap_or(0)
}

/// The same; of a text that ends before the outermost bracket is closed, the members ended by a comma, as
/// a negative number.
pub(super) fn count_so_far(text: &[u8], depth: i32, open: u8) -> i64 {
    let (mut level, mut commas, mut in_string, mut escaped) = (0, 0, false, false);
    let mut is_empty = true;
    for &byte in text {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'{' | b'[' => {
                if level == 0 && byte != open {
                    return 0;
                }
                is_empty = is_empty && level != depth;
                level += 1;
            }
            b'}' | b']' => {
                level -= 1;
                if level == 0 {
                    return if is_empty { 0 } else { commas + 1 };
                }
            }
            b',' => commas += i64::from(level == depth),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                is_empty = is_empty && level != depth;
                in_string = byte == b'"';
            }
        }
    }
    -commas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted_at_their_depth_only() {
        let cases = [
            ("[]", 0),
            ("[ ]", 0),
            ("[1]", 1),
            ("[[],{}]", 2),
            ("[[1,2],{\"a\":1,\"b\":2},3]", 3),
            ("[\",]\",\"\\\",\"]", 2),
            ("[[]]", 1),
            ("{\"a\":1}", 0),
            ("[1,2", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(count(text.as_bytes(), 1, b'['), expected, "{text}");
        }
        let cases = [("", 0), ("[", 0), ("[1", 0), ("[1,", -1), ("[[1,2],3,\",", -2), ("[1,2]", 2)];
        for (text, expected) in cases {
            assert_eq!(count_so_far(text.as_bytes(), 1, b'['), expected, "{text}");
        }
        assert_eq!(count(b"{\"a\":[1,2],\"b\":\"{,\"}", 1, b'{'), 2);
    }

    #[test]
    fn utf_8_is_what_the_standard_library_says() {
        let mut random = crate::mix::SplitMix(4);
        let choices = [0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xf0, 0xf4];
        let mut byte = || match random.word() {
            word if word & 1 == 0 => choices[(word >> 8) as usize % 9],
            word => (word >> 8) as u8,
        };
        for _ in 0..20_000 {
            let bytes: [u8; 5] = std::array::from_fn(|_| byte());
            assert_eq!(is_utf8(&bytes), std::str::from_utf8(&bytes).is_ok(), "{bytes:?}");
        }
    }
}
