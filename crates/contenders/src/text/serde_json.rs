//! The crate `serde_json`: a text is valid when it deserialises to nothing; items are counted the same way.

use fathom_measure::contender::{Contender, Meta, Origin, Preparation};
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::workload::{Operation, Scan, up_to};

pub(super) struct SerdeJson;

impl Contender<Scan> for SerdeJson {
    fn meta(&self) -> Meta {
        Meta {
            name: "serde-json",
            origin: Origin::Crate("serde_json"),
            link: "https://crates.io/crates/serde_json",
            licence: "MIT OR Apache-2.0",
            ..Meta::of(include_str!("serde_json.rs"))
        }
    }

    fn prepare<'w>(&self, workload: &'w Scan) -> Preparation<'w> {
        let zero = |text: &[u8]| memchr::memchr(0, text);
        match workload.operation {
            Operation::JsonValid => workload.counted(|text| is_json(text).into()),
            Operation::JsonValidUpToZero => {
                workload.counted(move |text| is_json(up_to(text, zero)).into())
            }
            Operation::JsonCount => workload.counted(count),
            Operation::JsonCountUpToZero => workload.counted(move |text| count(up_to(text, zero))),
            _ => workload.unsupported(),
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    // Slices are not checked for UTF-8 where values are ignored, so that is done first.
    std::str::from_utf8(text).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}

fn count(text: &[u8]) -> u64 {
    serde_json::from_slice::<Items>(text).map_or(0, |items| items.0)
}

/// The number of items of a sequence.
pub(super) struct Items(pub(super) u64);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Items, D::Error> {
        struct Counter;
        impl<'de> Visitor<'de> for Counter {
            type Value = Items;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
                let mut count = 0;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Items(count))
            }
        }
        deserializer.deserialize_seq(Counter)
    }
}
