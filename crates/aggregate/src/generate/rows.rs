//! One row as bytes: name, `;`, temperature, newline, from two tables and no arithmetic.
//!
//! Names lie one after another, each with its `;`, and slack after the last, so that a short one is
//! copied as 32 bytes whatever its length; what is too much is overwritten by the temperature.
//! Temperatures lie as eight bytes each, the last of which is the length:
//!
//! ```text
//! names        H a m b u r g ; B u l a w a y o ; … (32 bytes of slack)
//! tenths[-123] - 1 2 . 3 \n · 6
//! ```

use super::stations::{LIMIT_TENTHS, Stations};

/// What is copied at once.
const COPY_BYTES: usize = 32;
/// The longest temperature with its newline is six bytes; it is copied as eight.
const VALUE_BYTES: usize = 8;

/// The two tables.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    names: Vec<u8>,
    places: Vec<Place>,
    values: Vec<[u8; VALUE_BYTES]>,
}

/// Where a name with its `;` lies.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: usize,
    length: usize,
}

impl Rows {
    pub(super) fn new(stations: &Stations) -> Rows {
        let mut names = Vec::new();
        let mut places = Vec::with_capacity(stations.len());
        for name in stations.names() {
            places.push(Place { start: names.len(), length: name.len() + 1 });
            names.extend_from_slice(name);
            names.push(b';');
        }
        names.resize(names.len() + COPY_BYTES, 0);
        let values = (-LIMIT_TENTHS..=LIMIT_TENTHS).map(value).collect();
        Rows { names, places, values }
    }

    /// Writes a row at `at` of the buffer, which grows when it is nearly full, and returns its end.
    ///
    /// # Panics
    /// When there is no such station, or the temperature is beyond ±99.9.
    #[inline]
    pub(super) fn write(
        &self,
        buffer: &mut Vec<u8>,
        at: usize,
        station: usize,
        tenths: i16,
    ) -> usize {
        let place = self.places[station];
        let room = place.length + COPY_BYTES + VALUE_BYTES;
        if buffer.len() - at < room {
            grow(buffer, room);
        }
        let name = at + place.length;
        if place.length <= COPY_BYTES {
            buffer[at..at + COPY_BYTES]
                .copy_from_slice(&self.names[place.start..place.start + COPY_BYTES]);
        } else {
            buffer[at..name].copy_from_slice(&self.names[place.start..place.start + place.length]);
        }
        let text = self.values[(tenths + LIMIT_TENTHS) as usize];
        buffer[name..name + VALUE_BYTES].copy_from_slice(&text);
        name + usize::from(text[VALUE_BYTES - 1])
    }
}

#[cold]
fn grow(buffer: &mut Vec<u8>, room: usize) {
    buffer.resize((buffer.len() * 2).max(1 << 16) + room, 0);
}

/// `-12.3\n` and its length in the last byte.
fn value(tenths: i16) -> [u8; VALUE_BYTES] {
    let sign = if tenths < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{}\n", tenths.abs() / 10, tenths.abs() % 10);
    let mut bytes = [0; VALUE_BYTES];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes[VALUE_BYTES - 1] = text.len() as u8;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_name_length_join_without_a_gap() {
        let long = "x".repeat(200_000);
        let exact = "y".repeat(31);
        let over = "z".repeat(32);
        let list = format!("a;0\n{long};0\n{exact};0\n{over};0\n");
        let rows = Rows::new(&Stations::from_list(list.as_bytes(), 0).unwrap());
        let mut buffer = Vec::new();
        let mut at = 0;
        for (station, tenths) in [(0, -5), (1, 0), (2, 999), (3, -999), (0, 10)] {
            at = rows.write(&mut buffer, at, station, tenths);
        }
        let expected = format!("a;-0.5\n{long};0.0\n{exact};99.9\n{over};-99.9\na;1.0\n");
        assert!(buffer[..at] == *expected.as_bytes());
    }
}
