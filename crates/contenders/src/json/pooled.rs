//! Documents whose names come from a pool, out of any library that reads through `serde`: the values are
//! ours, the reading is the library's.

use std::fmt;
use std::rc::Rc;

use fathom_measure::digest::Digest;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::value::{Pool, Value};

/// A document, its names from a new pool.
pub(super) struct Document(Value<Rc<str>>);

impl Document {
    /// The digest that the same document has in any library.
    pub(super) fn digest(&self) -> Digest {
        self.0.digest()
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Document, D::Error> {
        Pooled(&mut Pool::default()).deserialize(reader).map(Document)
    }
}

struct Pooled<'p>(&'p mut Pool);

impl<'de> DeserializeSeed<'de> for Pooled<'_> {
    type Value = Value<Rc<str>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Pooled<'_> {
    type Value = Value<Rc<str>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(value.try_into().map_or(Value::Float(value as f64), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Pooled(self.0))? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = members.next_key_seed(Name(self.0))? {
            all.push((name, members.next_value_seed(Pooled(self.0))?));
        }
        Ok(Value::Object(all))
    }
}

/// The name of a member.
struct Name<'p>(&'p mut Pool);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Rc<str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Rc<str>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Rc<str>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Rc<str>, E> {
        Ok(self.0.name(name))
    }
}
