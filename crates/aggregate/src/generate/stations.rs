//! Stations: names with a mean temperature each, built in, read from a list, or invented.
//!
//! A list is text: `name` or `name;mean` per line, `#` starts a comment line. Names are bytes and
//! stay as they are; nothing is trimmed but a carriage return at the line's end.

use std::collections::HashSet;

use super::error::GenerateError;
use super::names::{self, Distinct};
use fathom_random::Random;

/// The largest temperature of the challenges, in tenths of a degree.
pub(super) const LIMIT_TENTHS: i16 = 999;

/// Streams of the seed that are not blocks of rows count down from the top.
const STREAM_CHOICE: u64 = u64::MAX;
const STREAM_MEANS: u64 = u64::MAX - 1;
pub(super) const STREAM_NAMES: u64 = u64::MAX - 2;

/// A list of distinct names, each with a mean temperature.
///
/// ```
/// use fathom_aggregate::generate::Stations;
/// let stations = Stations::from_list(b"# comment\nHamburg;9.8\nBulawayo;19\n", 0)?;
/// assert_eq!(stations.names().collect::<Vec<_>>(), [&b"Hamburg"[..], b"Bulawayo"]);
/// # Ok::<(), fathom_aggregate::generate::GenerateError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stations {
    names: Vec<u8>,
    ends: Vec<usize>,
    means_tenths: Vec<i16>,
}

impl Stations {
    /// The 413 cities built in: plausible annual means, not a climate record.
    pub fn world() -> Stations {
        Stations::from_list(include_bytes!("cities.csv"), 0).expect("the built-in list is sound")
    }

    /// The stations of a list; a name's second appearance is ignored. A line without a mean gets
    /// one drawn from `seed`.
    ///
    /// # Errors
    /// A line without a name, a mean that is no temperature, no station at all.
    pub fn from_list(text: &[u8], seed: u64) -> Result<Stations, GenerateError> {
        let mut stations = Stations::default();
        let mut random = Random::stream(seed, STREAM_MEANS);
        let mut seen = HashSet::new();
        for entry in lines(text) {
            let (line, name, rest) = entry?;
            let mean = match rest {
                None | Some(b"") => drawn_mean(&mut random),
                Some(field) => mean_tenths((line, name.len() + 2), field)?,
            };
            if seen.insert(name) {
                stations.push(name, mean);
            }
        }
        if stations.is_empty() { Err(GenerateError::EmptyList) } else { Ok(stations) }
    }

    /// Stations of which only the name matters.
    pub(super) fn from_names(names: &[&[u8]]) -> Stations {
        let mut stations = Stations::default();
        for name in names {
            stations.push(name, 0);
        }
        stations
    }

    /// `count` invented town names; their lengths are distributed as in the list of 41,343 world
    /// cities that the Object Pascal challenge uses (9.5 bytes on average, 15.8 bytes a row).
    pub fn towns(count: usize, seed: u64) -> Stations {
        Stations::invented(count, seed, names::town)
    }

    /// `count` names of 1 to 100 bytes of random UTF-8, from ASCII punctuation to emoji.
    pub fn scramble(count: usize, seed: u64) -> Stations {
        Stations::invented(count, seed, names::scramble)
    }

    fn invented(count: usize, seed: u64, invent: impl Fn(&mut Random, &mut Vec<u8>)) -> Stations {
        let mut stations = Stations::default();
        stations.invent(count, seed, invent);
        stations
    }

    /// Adds `count` invented names that differ from all others here.
    fn invent(&mut self, count: usize, seed: u64, invent: impl Fn(&mut Random, &mut Vec<u8>)) {
        let mut random = Random::stream(seed, STREAM_NAMES);
        let mut means = Random::stream(seed, STREAM_MEANS);
        let mut distinct = Distinct::default();
        for name in self.names() {
            distinct.insert(name);
        }
        let mut name = Vec::new();
        for _ in 0..count {
            loop {
                name.clear();
                invent(&mut random, &mut name);
                if distinct.insert(&name) {
                    break;
                }
            }
            self.push(&name, drawn_mean(&mut means));
        }
    }

    /// Adds invented towns until there are `count` stations.
    #[must_use]
    pub fn filled_up(mut self, count: usize, seed: u64) -> Stations {
        self.invent(count.saturating_sub(self.len()), seed, names::town);
        self
    }

    /// `count` of these stations, chosen by `seed`.
    ///
    /// # Errors
    /// When there are fewer, or none is asked for.
    pub fn chosen(&self, count: usize, seed: u64) -> Result<Stations, GenerateError> {
        if count == 0 {
            return Err(GenerateError::NoStations);
        }
        if count > self.len() {
            return Err(GenerateError::TooFewStations { asked: count, available: self.len() });
        }
        let mut random = Random::stream(seed, STREAM_CHOICE);
        let mut order: Vec<usize> = (0..self.len()).collect();
        let mut chosen = Stations::default();
        for place in 0..count {
            let other = place + random.below((order.len() - place) as u64) as usize;
            order.swap(place, other);
            chosen.push(self.name(order[place]), self.means_tenths[order[place]]);
        }
        Ok(chosen)
    }

    /// How many stations there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The names, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.name(index))
    }

    /// The mean temperatures in tenths of a degree, in the order of the list.
    pub(super) fn means_tenths(&self) -> &[i16] {
        &self.means_tenths
    }

    fn name(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.names[start..self.ends[index]]
    }

    fn push(&mut self, name: &[u8], mean_tenths: i16) {
        self.names.extend_from_slice(name);
        self.ends.push(self.names.len());
        self.means_tenths.push(mean_tenths);
    }
}

/// One line of a list: its number, the name, and what follows the `;` if there is one.
type Line<'a> = (usize, &'a [u8], Option<&'a [u8]>);

/// The lines of a list that hold a station.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Result<Line<'_>, GenerateError>> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line.strip_suffix(b"\r").unwrap_or(line)))
        .filter(|(_, line)| !line.is_empty() && line[0] != b'#')
        .map(|(number, line)| {
            let mut fields = line.splitn(2, |&byte| byte == b';');
            let name = fields.next().unwrap_or_default();
            match name {
                b"" => Err(GenerateError::NoName { line: number }),
                _ => Ok((number, name, fields.next())),
            }
        })
}

fn mean_tenths((line, column): (usize, usize), field: &[u8]) -> Result<i16, GenerateError> {
    let text = String::from_utf8_lossy(field);
    let tenths = text.trim().parse::<f64>().map_or(f64::NAN, |degrees| (degrees * 10.0).round());
    if tenths.abs() <= f64::from(LIMIT_TENTHS) {
        Ok(tenths as i16)
    } else {
        let text = text.chars().take(40).collect();
        Err(GenerateError::NotATemperature { line, column, text })
    }
}

/// A mean between -10.0 and 32.0 degrees, where cities are.
fn drawn_mean(random: &mut Random) -> i16 {
    random.below(421) as i16 - 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_has_413_cities_in_byte_order() {
        let world = Stations::world();
        assert_eq!(world.len(), 413);
        let names: Vec<&[u8]> = world.names().collect();
        assert!(names.is_sorted());
        assert!(names.iter().all(|name| std::str::from_utf8(name).is_ok()));
        // Row length of the original challenge: 13.8 bytes.
        let bytes: usize = names.iter().map(|name| name.len()).sum();
        assert!((7.5..8.1).contains(&(bytes as f64 / 413.0)));
    }

    #[test]
    fn a_list_may_have_comments_blank_lines_crlf_and_repeated_names() {
        let list = b"# no\r\nA;1.26\r\n\r\nB;-3\nA;7\nC\nD;\n";
        let stations = Stations::from_list(list, 5).unwrap();
        assert_eq!(stations.names().collect::<Vec<_>>(), [b"A", b"B", b"C", b"D"]);
        assert_eq!(stations.means_tenths()[..2], [13, -30]);
        assert!(stations.means_tenths()[2..].iter().all(|mean| (-100..=320).contains(mean)));
    }

    #[test]
    fn bad_lines_are_named_by_their_number() {
        let error = |list: &[u8]| Stations::from_list(list, 0).unwrap_err().to_string();
        let said = "line 2, column 1 of the station list: no name before the `;`";
        assert_eq!(error(b"A;1\n;2\n"), said);
        let text = error(b"#\nA;37468000\n");
        assert!(text.starts_with("line 2, column 3 ") && text.contains("\"37468000\""), "{text}");
        assert!(error(b"A;nan\n").contains("no mean temperature"));
        assert_eq!(error(b"# only\n"), "the station list has no station");
    }

    #[test]
    fn choosing_is_a_matter_of_the_seed_and_repeats_no_name() {
        let world = Stations::world();
        let chosen = world.chosen(100, 1).unwrap();
        let names: HashSet<&[u8]> = chosen.names().collect();
        assert_eq!(names.len(), 100);
        assert_eq!(chosen.names, world.chosen(100, 1).unwrap().names);
        assert_ne!(chosen.names, world.chosen(100, 2).unwrap().names);
        let error = world.chosen(414, 1).unwrap_err();
        assert!(matches!(error, GenerateError::TooFewStations { asked: 414, available: 413 }));
        assert!(matches!(world.chosen(0, 1), Err(GenerateError::NoStations)));
    }

    #[test]
    fn filling_up_keeps_what_is_there_and_adds_distinct_names() {
        let stations = Stations::world().filled_up(1000, 4);
        assert_eq!(stations.len(), 1000);
        assert_eq!(stations.names().collect::<HashSet<_>>().len(), 1000);
        assert!(stations.names().eq(Stations::world().names().chain(stations.names().skip(413))));
        assert_eq!(Stations::world().filled_up(5, 4).len(), 413);
    }
}
