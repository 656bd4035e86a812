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
    /// U+FFF0, then base64, as mORMot writes blobs.
    pub data: String,
    /// Year.
    pub year_of_birth: i32,
    /// Year.
    pub year_of_death: u16,
}

/// Record `i`, from 0.
pub fn person(i: usize) -> Person {
    let (first, last, birth, death) = NAMES[i % NAMES.len()];
    let data = base64(first.as_bytes());
    Person {
        id: i as i64 + 1,
        first_name: format!("{first}{}", i / NAMES.len() + 1),
        last_name: last.to_owned(),
        data: format!("\u{fff0}{data}"),
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
        let _ = write!(
            text,
            "{comma}{{\"ID\":{id},\"FirstName\":\"{first_name}\",\"LastName\":\"{last_name}\",\
             \"Data\":\"{data}\",\"YearOfBirth\":{year_of_birth},\"YearOfDeath\":{year_of_death}}}"
        );
    }
    text.push(']');
    text.into_bytes()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_u32, |n, i| n << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * i)) as usize & 63] as char;
            text.push(if i <= three.len() { digit } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_forebear_s_size() {
        let bytes = json(8227).len();
        assert!((980_000..1_130_000).contains(&bytes), "{bytes}");
        assert_eq!(base64(b"Man"), "TWFu");
        assert_eq!(base64(b"M"), "TQ==");
    }
}
