//! The crate `serde_json`: a text is valid when it deserialises to nothing; items are counted the same way,
//! and what is rewritten goes straight from its reader to its writer.

use std::io::{self, Write};

use fathom_measure::contender::{Meta, Simple};
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::human::human;
use super::workload::{Operation, Scan, up_to};
use crate::library;

pub(super) const SERDE_JSON: Simple<Scan> = Simple {
    meta: Meta { source: include_str!("serde_json.rs"), ..library::SERDE_JSON },
    prepare: |workload| {
        let zero = |text: &[u8]| memchr::memchr(0, text);
        match workload.operation {
            Operation::JsonValid => workload.counted(|text| is_json(text).into()),
            Operation::JsonValidUpToZero => {
                workload.counted(move |text| is_json(up_to(text, zero)).into())
            }
            Operation::JsonCount => workload.counted(count),
            Operation::JsonCountUpToZero => workload.counted(move |text| count(up_to(text, zero))),
            Operation::JsonProperties => workload.counted(properties),
            Operation::JsonCountSoFar => {
                workload.counted(|text| count_so_far(text).cast_unsigned())
            }
            Operation::JsonHuman => workload.written(|text| human(text).unwrap_or_default()),
            _ => workload.operation.unsupported(),
        }
    },
};

fn is_json(text: &[u8]) -> bool {
    // Slices are not checked for UTF-8 where values are ignored, so that is done first.
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

fn count(text: &[u8]) -> u64 {
    counted(text).unwrap_or(0)
}

/// The items of an array, negative where the text ends before it does.
fn count_so_far(text: &[u8]) -> i64 {
    counted(text).map_or_else(|so_far| -so_far.cast_signed(), u64::cast_signed)
}

/// The items of an array, or those before the fault of a text that is none.
fn counted(text: &[u8]) -> Result<u64, u64> {
    let mut count = 0;
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = reader.deserialize_seq(Counter(&mut count)).and_then(|()| reader.end());
    read.map_or(Err(count), |()| Ok(count))
}

/// The properties of an object.
fn properties(text: &[u8]) -> u64 {
    let mut count = 0;
    let mut reader = serde_json::Deserializer::from_slice(text);
    let read = reader.deserialize_map(Counter(&mut count)).and_then(|()| reader.end());
    read.map_or(0, |()| count)
}

/// Counts the items of an array or the properties of an object.
struct Counter<'c>(&'c mut u64);

impl<'de> Visitor<'de> for Counter<'_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {
            *self.0 += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut properties: A) -> Result<(), A::Error> {
        while properties.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            *self.0 += 1;
        }
        Ok(())
    }
}

human! { serde_json, serde_json::ser::Formatter }
