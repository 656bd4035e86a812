//! A table as rows of pointers into a JSON text: expanded (an array of objects) or compact (names once,
//! then all values in one array), as mORMot's `TOrmTableJson` reads both.
//!
//! Converts nothing and unescapes nothing: a cell is the bytes between the quotes, or the number.

use fathom_json::{Error, Event, Lexer, Limits, Mode};
use fathom_machine::level::Level;
use fathom_measure::digest::Digest;

use super::write::{self, COLUMNS};
use crate::people::Person;

/// Names and cells, both as they stand in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table<'t> {
    /// The names of the columns.
    pub names: Vec<&'t [u8]>,
    /// All cells, row after row.
    pub cells: Vec<&'t [u8]>,
}

impl Table<'_> {
    /// The digest of all cells. Names count only where there are rows: a text without any does not
    /// tell them in both forms.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let names = self.names.iter().filter(|_| !self.cells.is_empty());
        names.chain(&self.cells).fold(Digest::default(), |digest, cell| {
            digest.with_u64(cell.len() as u64).with_bytes(cell)
        })
    }
}

/// The rows of an array of objects, whose members all come in the first one's order.
///
/// # Errors
/// Where the text is no JSON.
pub fn expanded(level: Level, text: &[u8]) -> Result<Table<'_>, Error> {
    let mut table = Table::default();
    let mut lexer = Lexer::with(Mode::Document, Limits::default(), level);
    let mut at = 0;
    let mut is_first = true;
    while let Some(event) = lexer.next(text, &mut at)? {
        match event {
            Event::Key(name) if is_first => {
                // The colon may have been taken with the name, which ends at the last quote.
                let quote = text[..at].iter().rposition(|byte| *byte == b'"').unwrap_or(at);
                table.names.push(inside(text, quote, name.raw()));
            }
            Event::String(cell) => table.cells.push(inside(text, at - 1, cell.raw())),
            Event::Number(cell) => table.cells.push(inside(text, at, cell.text())),
            Event::EndObject if is_first => {
                is_first = false;
                let rest = (text.len() - at) / at.max(1);
                table.cells.reserve((rest + 1) * table.names.len());
            }
            _ => {}
        }
    }
    lexer.end()?;
    Ok(table)
}

/// The rows of a compact table: `{"fieldCount":C,"rowCount":R,"values":[names…,cells…]}`.
///
/// # Errors
/// Where the text is no JSON.
pub fn from_compact(level: Level, text: &[u8]) -> Result<Table<'_>, Error> {
    let mut cells: Vec<&[u8]> = Vec::new();
    let mut lexer = Lexer::with(Mode::Document, Limits::default(), level);
    let (mut at, mut columns, mut rows) = (0, 0, 0);
    let mut is_inside = false;
    let mut counts = &mut columns;
    while let Some(event) = lexer.next(text, &mut at)? {
        match event {
            Event::Key(name) if name.is("rowCount") => counts = &mut rows,
            Event::Number(number) if !is_inside => *counts = number.to_i64().unwrap_or(0),
            Event::StartArray => is_inside = true,
            Event::String(cell) => cells.push(inside(text, at - 1, cell.raw())),
            Event::Number(cell) => cells.push(inside(text, at, cell.text())),
            _ => {}
        }
    }
    lexer.end()?;
    // A count that lies is cut to what is there.
    let columns = usize::try_from(columns).unwrap_or(0).min(cells.len());
    let names = cells.drain(..columns).collect();
    cells.truncate(columns.saturating_mul(usize::try_from(rows).unwrap_or(0)));
    Ok(Table { names, cells })
}

/// The token that ends before `end`, as part of the text: an event borrows from its lexer too.
fn inside<'t>(text: &'t [u8], end: usize, token: &[u8]) -> &'t [u8] {
    &text[end - token.len()..end]
}

/// The records as a compact table.
#[must_use]
pub fn compact(people: &[Person]) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + 80 * people.len());
    out.extend_from_slice(b"{\"fieldCount\":");
    write::integer(&mut out, COLUMNS.len() as i64);
    out.extend_from_slice(b",\"rowCount\":");
    write::integer(&mut out, people.len() as i64);
    out.extend_from_slice(b",\"values\":[");
    for (at, name) in COLUMNS.iter().enumerate() {
        out.extend_from_slice(if at == 0 { b"" } else { b"," });
        write::string(&mut out, name);
    }
    for person in people {
        out.push(b',');
        write::integer(&mut out, person.id);
        out.push(b',');
        write::string(&mut out, &person.first_name);
        out.push(b',');
        write::string(&mut out, &person.last_name);
        out.push(b',');
        write::blob(&mut out, &person.data);
        out.push(b',');
        write::integer(&mut out, person.year_of_birth.into());
        out.push(b',');
        write::integer(&mut out, person.year_of_death.into());
    }
    out.extend_from_slice(b"]}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people;

    #[test]
    fn both_forms_hold_the_same_table() {
        for level in Level::available() {
            for count in [1, 2, 30] {
                let (objects, table) = (people::json(count), compact(&people::people(count)));
                let (a, b) = (expanded(level, &objects), from_compact(level, &table));
                assert_eq!(a, b, "{count}");
                assert_eq!(a.unwrap().cells.len(), 6 * count);
            }
        }
    }

    #[test]
    fn the_compact_form_is_the_forebear_s() {
        let text = String::from_utf8(compact(&people::people(1))).unwrap();
        assert_eq!(
            text,
            "{\"fieldCount\":6,\"rowCount\":1,\"values\":[\"ID\",\"FirstName\",\"LastName\",\
             \"Data\",\"YearOfBirth\",\"YearOfDeath\",1,\"Salvador1\",\"Dali\",\
             \"\u{fff0}U2FsdmFkb3I=\",1904,1989]}\n"
        );
    }

    #[test]
    fn counts_that_lie_do_no_harm() {
        let read = |text| from_compact(Level::Scalar, text).unwrap();
        assert_eq!(read(b"{\"fieldCount\":9,\"rowCount\":9,\"values\":[1]}").cells.len(), 0);
        assert_eq!(read(b"{\"fieldCount\":-1,\"rowCount\":2,\"values\":[1]}").names.len(), 0);
        assert!(expanded(Level::Scalar, b"[{\"a\":1}").is_err());
    }
}
