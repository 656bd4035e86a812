//! The crate `simd-json`: structure found with vectors first, then a tape or owned values. It writes
//! into its input, so each call copies the text first, which is part of its time.

use fathom_measure::contender::{Contender, Keeps, Meta, Origin, Preparation};
use fathom_measure::digest::Digest;
use serde::de::DeserializeOwned;
use simd_json::{Buffers, OwnedValue, StaticNode};

use super::pooled::Document;
use super::serde_json::Compact;
use super::value;
use super::workload::{Operation, Texts};
use crate::unit;

pub(super) struct SimdJson;

impl Contender<Texts> for SimdJson {
    fn meta(&self) -> Meta {
        Meta {
            name: "simd-json",
            origin: Origin::Crate("simd-json"),
            link: "https://crates.io/crates/simd-json",
            licence: "Apache-2.0 OR MIT",
            hardware: || unit::VECTOR.path("scalar"),
            keeps: Keeps::Copied,
            caveat: "copies the text, because it writes into its input",
            ..Meta::of(include_str!("simd_json.rs"))
        }
    }

    fn path(&self, operation: &str) -> String {
        match operation {
            "table-values" | "serialise" => "portable".into(),
            _ => unit::VECTOR.path("scalar"),
        }
    }

    fn prepare<'w>(&self, workload: &'w Texts) -> Preparation<'w> {
        match workload.operation {
            Operation::Dom => {
                let (mut copy, mut buffers) = (Vec::new(), Buffers::default());
                let read = move |text: &[u8]| {
                    text.clone_into(&mut copy);
                    let value =
                        simd_json::value::owned::to_value_with_buffers(&mut copy, &mut buffers);
                    value.expect("the workload's text is valid")
                };
                workload.values(read, digest)
            }
            Operation::DomInterned => workload.values(typed(), Document::digest),
            Operation::Records => workload.records(typed()),
            Operation::Objects => workload.objects(typed()),
            Operation::Numbers => workload.numbers(typed()),
            Operation::TableValues => workload.written(|people| {
                let mut text = simd_json::to_vec(&Compact(people)).expect("records are JSON");
                text.push(b'\n');
                text
            }),
            Operation::Serialise => {
                workload.written(|people| simd_json::to_vec(people).expect("records are JSON"))
            }
            _ => workload.unsupported(),
        }
    }
}

/// A reader of `T` with buffers of its own.
fn typed<T: DeserializeOwned>() -> impl FnMut(&[u8]) -> T {
    let (mut copy, mut buffers) = (Vec::new(), Buffers::default());
    move |text| {
        text.clone_into(&mut copy);
        let read = simd_json::serde::from_slice_with_buffers(&mut copy, &mut buffers);
        read.expect("the workload's text is valid")
    }
}

fn digest(value: &OwnedValue) -> Digest {
    match value {
        OwnedValue::Static(StaticNode::Null) => value::null(),
        OwnedValue::Static(StaticNode::Bool(value)) => value::bool(*value),
        OwnedValue::Static(StaticNode::I64(number)) => value::int(*number),
        OwnedValue::Static(StaticNode::U64(number)) => value::int(*number as i64),
        OwnedValue::Static(StaticNode::F64(number)) => value::float(*number),
        OwnedValue::String(text) => value::text(text),
        OwnedValue::Array(items) => value::array(items.iter().map(digest)),
        OwnedValue::Object(members) => {
            value::object(members.iter().map(|(name, value)| (&name[..], digest(value))))
        }
    }
}
