//! The eleven people of mORMot's ORM tests, as JSON and as records: the data of the JSON and SQL rows.
//!
//! Record number i is person i modulo 11, with the round number after the first name and a small blob.
//! The text has the shape and size of `People.json` there: 8227 objects are about a megabyte.

use std::fmt::Write as _;

/// First name, last name, years of birth and death.
pub const NAMES: [(&str, &str, i32, u16); 11] = [
    ("Salvador", "Dali", 1904, 1989),
    ("Samuel Finley Breese", "Morse", 1791, 1872),
    ("Sergei", "Rachmaninoff", 1873, 1943),
    ("Alexandre", "Dumas", 1802, 1870),
    ("Franz", "Schubert", 1797, 1828),
    ("Leonardo", "da Vin\u{e7}i", 1452, 1519),
    ("Aldous Leonard", "Huxley", 1894, 1963),
    ("Claud\u{e8}\n\u{7}", "M\u{f4}net", 1840, 1926),
    ("Albert", "Einstein", 1879, 1955),
    ("Johannes", "Gutenberg", 1400, 1468),
    ("Jane", "Aust\u{e8}n", 1775, 1817),
];

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cpu", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "cpu", serde(rename_all = "PascalCase"))]
pub struct Person {
    /// Primary key, from 1.
    #[cfg_attr(feature = "cpu", serde(rename = "ID"))]
    pub id: i64,
    /// First name with the round's number.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// A blob; in JSON a string of U+FFF0 and base64, as mORMot writes them.
    #[cfg_attr(feature = "cpu", serde(with = "blob"))]
    pub data: Vec<u8>,
    /// Year.
    pub year_of_birth: i32,
    /// Year.
    pub year_of_death: u16,
}

/// Record `i`, from 0.
pub fn person(i: usize) -> Person {
    let (first, last, birth, death) = NAMES[i % NAMES.len()];
    Person {
        id: i as i64 + 1,
        first_name: format!("{first}{}", i / NAMES.len() + 1),
        last_name: last.to_owned(),
        data: first.as_bytes().to_vec(),
        year_of_birth: birth,
        year_of_death: death,
    }
}

/// The first `count` records.
pub fn people(count: usize) -> Vec<Person> {
    (0..count).map(person).collect()
}

/// The first `count` records as an array of objects, one a line, names quoted.
pub fn json(count: usize) -> Vec<u8> {
    let mut text = String::from("[");
    for i in 0..count {
        let Person { id, first_name, last_name, data, year_of_birth, year_of_death } = person(i);
        let comma = if i == 0 { "" } else { ",\r\n" };
        let first_name = first_name.replace('\n', "\\n").replace('\u{7}', "\\u0007");
        let data = blob_text(&data);
        let _ = write!(
            text,
            "{comma}{{\"ID\":{id},\"FirstName\":\"{first_name}\",\"LastName\":\"{last_name}\",\
             \"Data\":\"{data}\",\"YearOfBirth\":{year_of_birth},\"YearOfDeath\":{year_of_death}}}"
        );
    }
    text.push(']');
    text.into_bytes()
}

/// The mark of a blob among strings, in UTF-8.
const BLOB: char = '\u{fff0}';
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The string that stands for a blob in JSON.
pub fn blob_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(BLOB.len_utf8() + bytes.len().div_ceil(3) * 4);
    text.push(BLOB);
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_u32, |n, i| n << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= three.len() { digit } else { '=' });
        }
    }
    text
}

/// The blob that a string of JSON stands for; `None` for any other string.
pub fn blob_bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix(BLOB)?.as_bytes();
    let digits = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if text.len() % 4 != 0 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let mut number = 0_u32;
        for at in 0..4 {
            let value = four.get(at).map_or(0, |digit| VALUES[usize::from(*digit)]);
            // A byte that is no digit has all bits set, and so a bit beyond the six.
            number = number << 6 | u32::from(value & 63);
            if value > 63 {
                return None;
            }
        }
        bytes.extend_from_slice(&number.to_be_bytes()[1..four.len()]);
    }
    Some(bytes)
}

/// What each byte is worth as a digit; 255 for those that are none.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut digit = 0;
    while digit < 64 {
        values[DIGITS[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// How serde reads and writes a blob.
#[cfg(feature = "cpu")]
mod blob {
    use std::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(data: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::blob_text(data))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        struct Blob;
        impl Visitor<'_> for Blob {
            type Value = Vec<u8>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("U+FFF0 and base64")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
                super::blob_bytes(text).ok_or_else(|| E::custom("no blob"))
            }
        }
        from.deserialize_str(Blob)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_forebear_s_size() {
        let bytes = json(8227).len();
        assert!((980_000..1_130_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn blobs_are_base64_behind_a_mark() {
        for (bytes, text) in [(&b"Man"[..], "TWFu"), (b"Ma", "TWE="), (b"M", "TQ=="), (b"", "")] {
            let text = format!("\u{fff0}{text}");
            assert_eq!(blob_text(bytes), text);
            assert_eq!(blob_bytes(&text).as_deref(), Some(bytes));
        }
        for text in ["TWFu", "\u{fff0}TWF", "\u{fff0}TW=u", "\u{fff0}TW*u", "\u{fff0}TWFué"] {
            assert_eq!(blob_bytes(text), None, "{text}");
        }
    }
}
