//! The events of the plain lexer, put together the plain way: the oracle of the others.

use fathom_json::reference::{Machine, Plain as Event};
use fathom_json::{Error, Limits, Mode};
use fathom_measure::contender::{Meta, Simple};
use fathom_measure::digest::Digest;

use super::table::Table;
use super::value::{Builder, Value, items};
use super::workload::{Operation, Texts};
use crate::people::{Person, blob_bytes};

pub(super) const PLAIN: Simple<Texts> = Simple {
    meta: Meta { name: "plain", ..Meta::of(include_str!("reference.rs")) },
    prepare: |workload| match workload.operation {
        Operation::Dom | Operation::DomNoGuess | Operation::DomInterned => {
            workload.documents(document, Value::digest)
        }
        Operation::TableExpanded => workload.values(|text| cells(text, false), digest),
        Operation::TableCompact => workload.values(|text| cells(text, true), digest),
        Operation::Records => workload.records(records),
        Operation::Objects => {
            workload.objects(|text| records(text).into_iter().map(Box::new).collect())
        }
        Operation::Numbers => workload.numbers(|text| {
            let number = |value: Value<String>| match value {
                Value::Float(number) => number,
                Value::Int(number) => number as f64,
                _ => f64::NAN,
            };
            items(&mut document(text).expect(VALID)).into_iter().map(number).collect()
        }),
        Operation::TableValues => workload.written(|people| {
            let mut text = String::from("{\"fieldCount\":6,\"rowCount\":");
            text += &people.len().to_string();
            text += ",\"values\":[\"ID\",\"FirstName\",\"LastName\",\"Data\",\"YearOfBirth\",\
                         \"YearOfDeath\"";
            for person in people {
                for cell in fields(person) {
                    text += ",";
                    text += &cell;
                }
            }
            (text + "]}\n").into_bytes()
        }),
        Operation::Serialise => workload.written(|people| {
            let object = |person: &Person| {
                let [id, first, last, data, birth, death] = fields(person);
                format!(
                    "{{\"ID\":{id},\"FirstName\":{first},\"LastName\":{last},\"Data\":{data},\
                         \"YearOfBirth\":{birth},\"YearOfDeath\":{death}}}"
                )
            };
            let objects: Vec<String> = people.iter().map(object).collect();
            format!("[{}]", objects.join(",")).into_bytes()
        }),
    },
};

const VALID: &str = "the workload's text is valid";

fn events(text: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), Error> {
    let mut machine = Machine::new(Mode::Document, Limits::default());
    let fed = machine.feed(text, &mut on_event);
    fed.and_then(|()| machine.finish(&mut on_event))
}

fn document(text: &[u8]) -> Result<Value<String>, Error> {
    let mut builder = Builder::new(str::to_owned);
    events(text, |event| match event {
        Event::StartObject => builder.start(Value::Object(Vec::new())),
        Event::StartArray => builder.start(Value::Array(Vec::new())),
        Event::EndObject | Event::EndArray => builder.end(),
        Event::Key(name) => builder.key(&unescaped(name)),
        Event::String(text) => builder.put(Value::Text(unescaped(text).into())),
        Event::Number(number) => {
            let number = str::from_utf8(number).expect("digits are ASCII");
            builder.put(match number.parse() {
                Ok(whole) => Value::Int(whole),
                Err(_) => number.parse().map_or(Value::Null, Value::Float),
            });
        }
        Event::Word("null") => builder.put(Value::Null),
        Event::Word(word) => builder.put(Value::Bool(word == "true")),
    })?;
    Ok(builder.finish())
}

/// A string with escapes as characters, by way of UTF-16.
fn unescaped(raw: &[u8]) -> String {
    let text = str::from_utf8(raw).expect("the machine let invalid UTF-8 pass");
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let unit = match character {
            '\\' => match rest.next() {
                Some('b') => 8,
                Some('f') => 12,
                Some('n') => 10,
                Some('r') => 13,
                Some('t') => 9,
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    u16::from_str_radix(&digits, 16).expect("the machine checked the digits")
                }
                other => other.map_or(0, |c| c as u16),
            },
            other => {
                units.extend(other.encode_utf16(&mut [0; 2]).iter());
                continue;
            }
        };
        units.push(unit);
    }
    String::from_utf16_lossy(&units)
}

/// Names and cells of an array of objects or of a compact table.
fn cells(text: &[u8], is_compact: bool) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut names, mut cells) = (Vec::new(), Vec::new());
    events(text, |event| match event {
        Event::Key(name) => names.push(name.to_vec()),
        Event::String(cell) | Event::Number(cell) => cells.push(cell.to_vec()),
        _ => {}
    })
    .expect(VALID);
    if is_compact {
        // Two counts stand before the names.
        names = cells.drain(..8).skip(2).collect();
    }
    names.truncate(6);
    (names, cells)
}

fn digest((names, cells): &(Vec<Vec<u8>>, Vec<Vec<u8>>)) -> Digest {
    let names = names.iter().map(Vec::as_slice).collect();
    Table { names, cells: cells.iter().map(Vec::as_slice).collect() }.digest()
}

fn records(text: &[u8]) -> Vec<Person> {
    items(&mut document(text).expect(VALID)).iter().map(record).collect()
}

fn record(value: &Value<String>) -> Person {
    let Value::Object(members) = value else { return Person::default() };
    let member = |name: &str| members.iter().find(|member| member.0 == name).map(|m| &m.1);
    let text = |name| match member(name) {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    let number = |name| match member(name) {
        Some(Value::Int(number)) => *number,
        _ => 0,
    };
    Person {
        id: number("ID"),
        first_name: text("FirstName"),
        last_name: text("LastName"),
        data: blob_bytes(&text("Data")).unwrap_or_default(),
        year_of_birth: number("YearOfBirth") as i32,
        year_of_death: number("YearOfDeath") as u16,
    }
}

/// The six values as JSON.
fn fields(person: &Person) -> [String; 6] {
    let string = |text: &str| {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", escaped.replace('\n', "\\n").replace('\u{7}', "\\u0007"))
    };
    [
        person.id.to_string(),
        string(&person.first_name),
        string(&person.last_name),
        string(&crate::people::blob_text(&person.data)),
        person.year_of_birth.to_string(),
        person.year_of_death.to_string(),
    ]
}
