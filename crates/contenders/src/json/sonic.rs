//! The crate `sonic-rs`: documents in one arena, lazy values that are slices of the text, vectors chosen
//! when it is compiled.

use fathom_measure::contender::{Keeps, Meta, Simple};
use fathom_measure::digest::Digest;
use sonic_rs::{
    JsonContainerTrait, JsonValueTrait, LazyValue, Value, to_array_iter, to_object_iter,
};

use super::pooled::Document;
use super::serde_json::Compact;
use super::table::Table;
use super::value;
use super::workload::{Operation, Texts};
use crate::library;

pub(super) const SONIC: Simple<Texts> = Simple {
    meta: Meta { source: include_str!("sonic.rs"), keeps: Keeps::Copied, ..library::SONIC },
    prepare: |workload| {
        const VALID: &str = "the workload's text is valid";
        match workload.operation {
            Operation::Dom => workload.documents(sonic_rs::from_slice::<Value>, digest),
            Operation::TableExpanded => workload.table(expanded),
            Operation::TableCompact => workload.table(compact),
            Operation::DomInterned => {
                workload.documents(sonic_rs::from_slice::<Document>, Document::digest)
            }
            Operation::Records => workload.records(|text| sonic_rs::from_slice(text).expect(VALID)),
            Operation::Objects => workload.objects(|text| sonic_rs::from_slice(text).expect(VALID)),
            Operation::Numbers => workload.numbers(|text| sonic_rs::from_slice(text).expect(VALID)),
            Operation::TableValues => workload.written(|people| {
                let mut text = sonic_rs::to_vec(&Compact(people)).expect("records are JSON");
                text.push(b'\n');
                text
            }),
            Operation::Serialise => {
                workload.written(|people| sonic_rs::to_vec(people).expect("records are JSON"))
            }
            _ => workload.operation.unsupported(),
        }
    },
};

fn digest(value: &Value) -> Digest {
    if let Some(items) = value.as_array() {
        return value::array(items.iter().map(digest));
    }
    if let Some(members) = value.as_object() {
        return value::object(members.iter().map(|(name, value)| (name, digest(value))));
    }
    if let Some(text) = value.as_str() {
        return value::text(text);
    }
    match (value.as_bool(), value.as_i64(), value.as_f64()) {
        (Some(value), ..) => value::bool(value),
        (_, Some(number), _) => value::int(number),
        (_, _, Some(number)) => value::float(number),
        _ => value::null(),
    }
}

fn expanded(text: &[u8]) -> Table<'_> {
    let mut table = Table::default();
    for (row, object) in to_array_iter(text).flatten().enumerate() {
        for (name, value) in object.into_object_iter().into_iter().flatten().flatten() {
            if row == 0 {
                table.names.push(name_in(text, &name));
            }
            table.cells.push(cell(&value));
        }
    }
    table
}

fn compact(text: &[u8]) -> Table<'_> {
    let mut table = Table::default();
    let mut columns = 0;
    for (name, value) in to_object_iter(text).flatten() {
        match &*name {
            "fieldCount" => columns = value.as_u64().unwrap_or(0) as usize,
            "values" => {
                let values = value.into_array_iter().into_iter().flatten().flatten();
                table.cells.extend(values.map(|value| cell(&value)));
            }
            _ => {}
        }
    }
    let columns = columns.min(table.cells.len());
    table.names = table.cells.drain(..columns).collect();
    table
}

/// The slice of the text, without the quotes of a string.
fn cell<'t>(value: &LazyValue<'t>) -> &'t [u8] {
    let std::borrow::Cow::Borrowed(raw) = value.as_raw_cow() else { return b"" };
    let raw = raw.as_bytes();
    match raw {
        [b'"', inside @ .., b'"'] => inside,
        _ => raw,
    }
}

/// A name as part of the text; without escapes it is the slice it was read from.
fn name_in<'t>(text: &'t [u8], name: &str) -> &'t [u8] {
    let at = text.windows(name.len()).position(|window| window == name.as_bytes());
    at.map_or(b"", |at| &text[at..at + name.len()])
}
