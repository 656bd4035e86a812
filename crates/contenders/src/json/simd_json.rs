//! The crate `simd-json`: structure found with vectors first, then a tape or owned values. It writes
//! into its input, so each call copies the text first, which is part of its time.

use fathom_measure::contender::{Keeps, Meta, Path, Simple};
use fathom_measure::digest::Digest;
use serde::de::DeserializeOwned;
use simd_json::{Buffers, OwnedValue, StaticNode};

use super::pooled::Document;
use super::serde_json::Compact;
use super::value;
use super::workload::{Operation, Texts};
use crate::library;

pub(super) const SIMD_JSON: Simple<Texts> = Simple {
    meta: Meta {
        source: include_str!("simd_json.rs"),
        keeps: Keeps::Copied,
        hardware: |operation| match operation {
            "table-values" | "serialise" => Path::Portable,
            _ => (library::SIMD_JSON.hardware)(operation),
        },
        ..library::SIMD_JSON
    },
    prepare: |workload| match workload.operation {
        Operation::Dom => {
            let (mut copy, mut buffers) = (Vec::new(), Buffers::default());
            let read = move |text: &[u8]| {
                text.clone_into(&mut copy);
                simd_json::value::owned::to_value_with_buffers(&mut copy, &mut buffers)
            };
            workload.documents(read, digest)
        }
        Operation::DomInterned => workload.documents(read(), Document::digest),
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
        _ => workload.operation.unsupported(),
    },
};

/// A reader of `T` with buffers of its own.
fn read<T: DeserializeOwned>() -> impl FnMut(&[u8]) -> simd_json::Result<T> {
    let (mut copy, mut buffers) = (Vec::new(), Buffers::default());
    move |text| {
        text.clone_into(&mut copy);
        simd_json::serde::from_slice_with_buffers(&mut copy, &mut buffers)
    }
}

/// The same of a text that is valid.
fn typed<T: DeserializeOwned>() -> impl FnMut(&[u8]) -> T {
    let mut read = read();
    move |text| read(text).expect("the workload's text is valid")
}

fn digest(value: &OwnedValue) -> Digest {
    match value {
        OwnedValue::Static(StaticNode::Null) => value::null(),
        OwnedValue::Static(StaticNode::Bool(value)) => value::bool(*value),
        OwnedValue::Static(StaticNode::I64(number)) => value::int(*number),
        OwnedValue::Static(StaticNode::U64(number)) => value::unsigned(*number),
        OwnedValue::Static(StaticNode::F64(number)) => value::float(*number),
        OwnedValue::String(text) => value::text(text),
        OwnedValue::Array(items) => value::array(items.iter().map(digest)),
        OwnedValue::Object(members) => {
            value::object(members.iter().map(|(name, value)| (&name[..], digest(value))))
        }
    }
}
