//! Rust's standard library: its UTF-8 check, which skips ASCII two words at a time; lines as a first
//! program would take them: split, looked up in its hash map, parsed as doubles.

use std::collections::HashMap;
use std::str::from_utf8;

use fathom_measure::contender::{Meta, Simple};

use super::kernel::c_length;
use super::workload::{Group, Operation, Scan, up_to};

pub(super) const STD: Simple<Scan> = Simple {
    meta: Meta { name: "std", ..Meta::of(include_str!("std_library.rs")) },
    prepare: |workload| match workload.operation {
        Operation::Utf8 => workload.counted(|text| from_utf8(text).is_ok().into()),
        Operation::Utf8UpToZero => {
            workload.counted(|text| from_utf8(up_to(text, |t| Some(c_length(t)))).is_ok().into())
        }
        Operation::LineEnds => workload.listed(|text, ends| {
            let bytes = text.iter().enumerate();
            ends.extend(bytes.filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u32));
        }),
        Operation::Measurements => workload.grouped(groups),
        _ => workload.operation.unsupported(),
    },
};

fn groups(text: &[u8]) -> Vec<Group> {
    let mut known: HashMap<&str, Group> = HashMap::new();
    for line in from_utf8(text).unwrap_or_default().lines() {
        let (name, value) = line.split_once(';').unwrap_or((line, ""));
        let tenths = (value.parse::<f64>().unwrap_or(f64::NAN) * 10.0).round() as i64;
        known.entry(name).or_insert_with(|| Group::new(name.as_bytes())).add(tenths);
    }
    Group::sorted(known.into_values())
}
