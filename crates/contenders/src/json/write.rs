//! Records as JSON text: integers, escaped strings, blobs, an array of objects.
//!
//! The escapes are the ones every writer here uses: the short ones, and `\u00xx` for other controls.

use crate::people::{Person, blob_text};

/// The columns of the records, in order.
pub(super) const COLUMNS: [&str; 6] =
    ["ID", "FirstName", "LastName", "Data", "YearOfBirth", "YearOfDeath"];

/// `value` in decimal.
pub(super) fn integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// `text` between quotes, escaped.
pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut bytes = text.as_bytes();
    while let Some(at) = bytes.iter().position(|&b| b < b' ' || b == b'"' || b == b'\\') {
        out.extend_from_slice(&bytes[..at]);
        let short = match bytes[at] {
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            byte @ (b'"' | b'\\') => byte,
            byte => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
                bytes = &bytes[at + 1..];
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
    out.push(b'"');
}

/// The string that stands for a blob.
pub(super) fn blob(out: &mut Vec<u8>, data: &[u8]) {
    out.push(b'"');
    out.extend_from_slice(blob_text(data).as_bytes());
    out.push(b'"');
}

/// The records as an array of objects.
pub(crate) fn objects(people: &[Person]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + 130 * people.len());
    out.push(b'[');
    for (at, person) in people.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_object(&mut out, person);
    }
    out.push(b']');
    out
}

fn write_object(out: &mut Vec<u8>, person: &Person) {
    let [id, first, last, data, birth, death] = COLUMNS;
    name(out, b"{", id);
    integer(out, person.id);
    name(out, b",", first);
    string(out, &person.first_name);
    name(out, b",", last);
    string(out, &person.last_name);
    name(out, b",", data);
    blob(out, &person.data);
    name(out, b",", birth);
    integer(out, person.year_of_birth.into());
    name(out, b",", death);
    integer(out, person.year_of_death.into());
    out.push(b'}');
}

fn name(out: &mut Vec<u8>, before: &[u8], name: &str) {
    out.extend_from_slice(before);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_their_digits() {
        for value in [0, 7, -1, 10, 1904, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            integer(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
        }
    }

    #[test]
    fn strings_are_escaped_as_serde_json_does() {
        let every: String = (0..0x80_u8).map(char::from).chain(['é', '\u{fff0}', '🦀']).collect();
        for text in ["", "plain", "\"", "\\\\", &every] {
            let mut out = Vec::new();
            string(&mut out, text);
            assert_eq!(String::from_utf8(out).unwrap(), ::serde_json::to_string(text).unwrap());
        }
    }
}
