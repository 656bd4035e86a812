//! The crate `serde_json`: documents as maps sorted by name, records by derived code.

use fathom_measure::contender::{Meta, Simple};
use fathom_measure::digest::Digest;
use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};
use serde_json::Value;

use super::pooled::Document;
use super::value;
use super::workload::{Operation, Texts};
use super::write::COLUMNS;
use crate::library;
use crate::people::{Person, blob_text};

pub(super) const SERDE_JSON: Simple<Texts> = Simple {
    meta: Meta { source: include_str!("serde_json.rs"), ..library::SERDE_JSON },
    prepare: |workload| {
        const VALID: &str = "the workload's text is valid";
        match workload.operation {
            Operation::Dom | Operation::DomNoGuess => {
                workload.documents(serde_json::from_slice::<Value>, digest)
            }
            Operation::DomInterned => {
                workload.documents(serde_json::from_slice::<Document>, Document::digest)
            }
            Operation::Records => {
                workload.records(|text| serde_json::from_slice(text).expect(VALID))
            }
            Operation::Objects => {
                workload.objects(|text| serde_json::from_slice(text).expect(VALID))
            }
            Operation::Numbers => {
                workload.numbers(|text| serde_json::from_slice(text).expect(VALID))
            }
            Operation::TableValues => workload.written(|people| {
                let mut text = serde_json::to_vec(&Compact(people)).expect("records are JSON");
                text.push(b'\n');
                text
            }),
            Operation::Serialise => {
                workload.written(|people| serde_json::to_vec(people).expect("records are JSON"))
            }
            _ => workload.operation.unsupported(),
        }
    },
};

fn digest(value: &Value) -> Digest {
    match value {
        Value::Null => value::null(),
        Value::Bool(value) => value::bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => value::int(number),
            None => value::float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => value::text(text),
        Value::Array(items) => value::array(items.iter().map(digest)),
        Value::Object(members) => value::object(members.iter().map(|(n, v)| (&n[..], digest(v)))),
    }
}

/// Records as a compact table, for any serialiser.
pub(super) struct Compact<'p>(pub(super) &'p [Person]);

impl Serialize for Compact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("Table", 3)?;
        table.serialize_field("fieldCount", &COLUMNS.len())?;
        table.serialize_field("rowCount", &self.0.len())?;
        table.serialize_field("values", &Values(self.0))?;
        table.end()
    }
}

struct Values<'p>(&'p [Person]);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_seq(Some((self.0.len() + 1) * COLUMNS.len()))?;
        for name in COLUMNS {
            values.serialize_element(name)?;
        }
        for person in self.0 {
            values.serialize_element(&person.id)?;
            values.serialize_element(&person.first_name)?;
            values.serialize_element(&person.last_name)?;
            values.serialize_element(&blob_text(&person.data))?;
            values.serialize_element(&person.year_of_birth)?;
            values.serialize_element(&person.year_of_death)?;
        }
        values.end()
    }
}
