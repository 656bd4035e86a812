//! The crate `jiter`, the parser under Pydantic: a document that borrows its strings, or a cursor moved
//! by code that knows what comes.

use fathom_measure::contender::{Keeps, Meta, Simple};
use fathom_measure::digest::Digest;
use jiter::{Jiter as Cursor, JiterResult, JsonValue, NumberInt};

use super::table::Table;
use super::value;
use super::workload::{Operation, Texts};
use crate::library;
use crate::people::{Person, blob_bytes};

pub(super) const JITER: Simple<Texts> = Simple {
    meta: Meta { source: include_str!("jiter.rs"), keeps: Keeps::Borrowed, ..library::JITER },
    prepare: |workload| {
        const VALID: &str = "the workload's text is valid";
        match workload.operation {
            Operation::Dom | Operation::DomNoGuess => {
                workload.documents(|text| JsonValue::parse(text, false), digest)
            }
            Operation::TableExpanded => workload.table(|text| expanded(text).expect(VALID)),
            Operation::TableCompact => workload.table(|text| compact(text).expect(VALID)),
            Operation::Records => workload.records(|text| records(text, |p| p).expect(VALID)),
            Operation::Objects => workload.objects(|text| records(text, Box::new).expect(VALID)),
            Operation::Numbers => workload.numbers(|text| numbers(text).expect(VALID)),
            _ => workload.operation.unsupported(),
        }
    },
};

fn digest(value: &JsonValue<'_>) -> Digest {
    match value {
        JsonValue::Null => value::null(),
        JsonValue::Bool(value) => value::bool(*value),
        JsonValue::Int(number) => value::int(*number),
        JsonValue::Float(number) => value::float(*number),
        JsonValue::Str(text) => value::text(text),
        JsonValue::Array(items) => value::array(items.iter().map(digest)),
        JsonValue::Object(members) => {
            value::object(members.iter().map(|(name, value)| (&**name, digest(value))))
        }
    }
}

/// The slice of the next value, without the quotes of a string.
fn cell<'t>(cursor: &mut Cursor<'t>) -> JiterResult<&'t [u8]> {
    cursor.peek()?;
    let start = cursor.current_index();
    cursor.next_skip()?;
    Ok(match cursor.slice_to_current(start) {
        [b'"', inside @ .., b'"'] => inside,
        raw => raw,
    })
}

fn expanded(text: &[u8]) -> JiterResult<Table<'_>> {
    let mut table = Table::default();
    let mut cursor = Cursor::new(text);
    let mut next = cursor.next_array()?;
    while next.is_some() {
        let is_first = table.cells.is_empty();
        let mut name = cursor.known_object()?.map(str::len);
        while let Some(length) = name {
            if is_first {
                // A name ends at its quote; the cursor has passed the colon after it.
                let before = &text[..cursor.current_index()];
                let end = before.iter().rposition(|byte| *byte == b'"').unwrap_or(0);
                table.names.push(&text[end - length..end]);
            }
            table.cells.push(cell(&mut cursor)?);
            name = cursor.next_key()?.map(str::len);
        }
        next = cursor.array_step()?;
    }
    cursor.finish()?;
    Ok(table)
}

fn compact(text: &[u8]) -> JiterResult<Table<'_>> {
    let mut table = Table::default();
    let mut cursor = Cursor::new(text);
    let mut columns = 0;
    let mut name = cursor.next_object()?.map(str::to_owned);
    while let Some(this) = name {
        match &*this {
            "fieldCount" => columns = integer(&mut cursor)? as usize,
            "values" => {
                let mut next = cursor.next_array()?;
                while next.is_some() {
                    table.cells.push(cell(&mut cursor)?);
                    next = cursor.array_step()?;
                }
            }
            _ => cursor.next_skip()?,
        }
        name = cursor.next_key()?.map(str::to_owned);
    }
    cursor.finish()?;
    let columns = columns.min(table.cells.len());
    table.names = table.cells.drain(..columns).collect();
    Ok(table)
}

fn integer(cursor: &mut Cursor<'_>) -> JiterResult<i64> {
    let NumberInt::Int(number) = cursor.next_int()?;
    Ok(number)
}

fn records<P>(text: &[u8], made: impl Fn(Person) -> P) -> JiterResult<Vec<P>> {
    let mut people = Vec::new();
    let mut cursor = Cursor::new(text);
    let mut next = cursor.next_array()?;
    while next.is_some() {
        let mut person = Person::default();
        let mut column = cursor.known_object()?.and_then(column_of);
        while let Some(this) = column {
            match this {
                0 => person.id = integer(&mut cursor)?,
                1 => cursor.next_str()?.clone_into(&mut person.first_name),
                2 => cursor.next_str()?.clone_into(&mut person.last_name),
                3 => person.data = blob_bytes(cursor.next_str()?).unwrap_or_default(),
                4 => person.year_of_birth = integer(&mut cursor)? as i32,
                _ => person.year_of_death = integer(&mut cursor)? as u16,
            }
            column = cursor.next_key()?.and_then(column_of);
        }
        people.push(made(person));
        next = cursor.array_step()?;
    }
    cursor.finish()?;
    Ok(people)
}

fn column_of(name: &str) -> Option<usize> {
    super::write::COLUMNS.iter().position(|column| *column == name)
}

fn numbers(text: &[u8]) -> JiterResult<Vec<f64>> {
    let mut numbers = Vec::new();
    let mut cursor = Cursor::new(text);
    let mut next = cursor.next_array()?;
    while let Some(peek) = next {
        numbers.push(cursor.known_float(peek)?);
        next = cursor.array_step()?;
    }
    cursor.finish()?;
    Ok(numbers)
}
