//! The crate `sonic-rs`: lazy iteration over values it skips with vectors, chosen when it is compiled.

use std::io::{self, Write};

use fathom_measure::contender::{Meta, Simple, Unsupported};
use sonic_rs::{to_array_iter, to_object_iter};

use super::human::human;
use super::workload::{Operation, Scan, up_to};
use crate::library;

pub(super) const SONIC: Simple<Scan> = Simple {
    meta: Meta { source: include_str!("sonic.rs"), ..library::SONIC },
    prepare: |workload| {
        let zero = |text: &[u8]| memchr::memchr(0, text);
        match workload.operation {
            Operation::JsonValid | Operation::JsonValidUpToZero => {
                Err(Unsupported("passes over \\u and does not look at its digits".into()))
            }
            Operation::JsonCount => workload.counted(count),
            Operation::JsonCountUpToZero => workload.counted(move |text| count(up_to(text, zero))),
            Operation::JsonProperties => workload
                .counted(|text| to_object_iter(text).take_while(Result::is_ok).count() as u64),
            Operation::JsonCountSoFar => {
                workload.counted(|text| count_so_far(text).cast_unsigned())
            }
            Operation::JsonHuman => workload.written(|text| human(text).unwrap_or_default()),
            _ => workload.operation.unsupported(),
        }
    },
};

/// The items of an array, negative where the text ends before it does.
fn count_so_far(text: &[u8]) -> i64 {
    let mut count = 0;
    for item in to_array_iter(text) {
        match item {
            Ok(_) => count += 1,
            Err(_) => return -count,
        }
    }
    count
}

fn count(text: &[u8]) -> u64 {
    to_array_iter(text).take_while(Result::is_ok).count() as u64
}

human! { sonic_rs, sonic_rs::format::Formatter }
