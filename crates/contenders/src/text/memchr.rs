//! The crate `memchr`: the zero byte and the ends of lines on AVX2, SSE2 or NEON, chosen when it runs;
//! around it, names in the standard library's map and values parsed as tenths.

use std::collections::HashMap;

use fathom_measure::contender::{Meta, Simple};

use super::workload::{Group, Operation, Scan};

pub(super) const MEMCHR: Simple<Scan> = Simple {
    meta: Meta::of_crate("memchr", "Unlicense OR MIT", include_str!("memchr.rs")),
    prepare: |workload| match workload.operation {
        Operation::StrLen => {
            workload.counted(|text| memchr::memchr(0, text).map_or(0, |at| at as u64))
        }
        Operation::LineEnds => workload.listed(|text, ends| {
            ends.extend(memchr::memchr_iter(b'\n', text).map(|at| at as u32));
        }),
        Operation::Measurements => workload.grouped(groups),
        _ => workload.operation.unsupported(),
    },
};

fn groups(text: &[u8]) -> Vec<Group> {
    let mut known: HashMap<&[u8], Group> = HashMap::new();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        let line = &text[start..end];
        start = end + 1;
        let (name, value) = line.split_at(memchr::memchr(b';', line).unwrap_or(line.len()));
        let group = known.entry(name).or_insert_with(|| Group::new(name));
        group.add(tenths(value.get(1..).unwrap_or_default()));
    }
    Group::sorted(known.into_values())
}

/// `-12.3` as -123; the text has one decimal everywhere.
fn tenths(value: &[u8]) -> i64 {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit());
    let size = digits.fold(0, |number, byte| 10 * number + i64::from(byte - b'0'));
    if value.first() == Some(&b'-') { -size } else { size }
}
