//! The crate `simd-json`: a text is valid when its tape can be built. It writes into its input, so each
//! call copies the text first, which is part of its time.

use fathom_measure::contender::{Meta, Simple, Unsupported};
use simd_json::Buffers;

use super::workload::{Operation, Scan, up_to};
use crate::library;

pub(super) const SIMD_JSON: Simple<Scan> = Simple {
    meta: Meta { source: include_str!("simd_json.rs"), ..library::SIMD_JSON },
    prepare: |workload| {
        let zero = |text: &[u8]| memchr::memchr(0, text);
        let mut copy = Vec::new();
        let mut buffers = Buffers::default();
        let mut is_json = move |text: &[u8]| {
            copy.clear();
            copy.extend_from_slice(text);
            u64::from(simd_json::to_tape_with_buffers(&mut copy, &mut buffers).is_ok())
        };
        match workload.operation {
            Operation::JsonValid if is_json(workload.text()) == 0 => {
                // It is valid, but whoever builds a tape converts its numbers.
                Err(Unsupported(
                    "does not read this text: are there numbers beyond 64 bits?".into(),
                ))
            }
            Operation::JsonValid => workload.counted(is_json),
            Operation::JsonValidUpToZero => {
                workload.counted(move |text| is_json(up_to(text, zero)))
            }
            _ => workload.operation.unsupported(),
        }
    },
};
