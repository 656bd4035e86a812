//! Names that no list holds: invented towns, and random UTF-8.
//!
//! No name contains a semicolon, a control character (so no newline) or a quotation mark, so that
//! readers of quoted text read them too; commas, equals signs and spaces do occur.

use std::collections::HashSet;

use fathom_random::Random;

/// The names so far, as 64-bit hashes: a name whose hash is taken counts as taken, so that ten
/// million names cost megabytes, not gigabytes.
#[derive(Default)]
pub(super) struct Distinct {
    hashes: HashSet<u64>,
}

impl Distinct {
    /// Whether the name is new.
    pub(super) fn insert(&mut self, name: &[u8]) -> bool {
        // FNV-1a, 64 bits: the choice of names may not depend on the version of a library.
        let hash = name.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        self.hashes.insert(hash)
    }
}

/// How many of the 41,343 world cities have names of 2, 3, 4 … bytes.
const TOWN_LENGTHS: [u16; 48] = [
    13, 175, 1110, 3011, 4962, 5689, 5554, 4763, 3816, 2786, 2190, 1556, 1196, 934, 714, 556, 501,
    404, 362, 287, 217, 174, 102, 78, 60, 50, 31, 13, 14, 6, 3, 5, 5, 0, 2, 0, 1, 1, 1, 0, 0, 0, 0,
    0, 0, 0, 0, 1,
];

const CONSONANTS: [&str; 24] = [
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "x", "y",
    "z", "n", "r", "s", "t",
];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
const ACCENTED: [&str; 12] = ["ā", "á", "ä", "é", "ē", "í", "ī", "ó", "ö", "ø", "ū", "ü"];

/// Appends a name that could be a town's.
pub(super) fn town(random: &mut Random, name: &mut Vec<u8>) {
    let total = TOWN_LENGTHS.iter().map(|&n| u64::from(n)).sum();
    let mut place = random.below(total);
    let mut length = 2;
    for &count in &TOWN_LENGTHS {
        match place.checked_sub(u64::from(count)) {
            Some(rest) => place = rest,
            None => break,
        }
        length += 1;
    }
    let mut letters_of_word = 0;
    let mut vowel = random.below(4) == 0;
    while name.len() < length {
        let left = length - name.len();
        if letters_of_word > 3 && left > 3 && random.below(16) == 0 {
            name.push(b' ');
            letters_of_word = 0;
            continue;
        }
        let letter = match vowel {
            true if letters_of_word > 0 && left > 1 && random.below(14) == 0 => {
                ACCENTED[random.below(12) as usize]
            }
            true => VOWELS[random.below(5) as usize],
            false => CONSONANTS[random.below(24) as usize],
        };
        let start = name.len();
        name.extend_from_slice(letter.as_bytes());
        if letters_of_word == 0 {
            name[start].make_ascii_uppercase();
        }
        letters_of_word += 1;
        // Two consonants in a row now and then, never three vowels.
        vowel = !vowel && random.below(6) > 0;
    }
}

/// Ranges of characters by their length in UTF-8, all assigned in Unicode 9.
const SCRIPTS: [&[(u32, u32)]; 4] = [
    // ASCII but for the quotation mark, the semicolon and controls.
    &[(0x20, 0x21), (0x23, 0x3a), (0x3c, 0x7e)],
    // Latin with accents, Greek, Cyrillic, Hebrew.
    &[(0xc0, 0x17f), (0x3b1, 0x3c9), (0x410, 0x44f), (0x5d0, 0x5ea)],
    // Devanagari, Hiragana, Chinese, Hangul.
    &[(0x905, 0x939), (0x3041, 0x3096), (0x4e00, 0x9fa5), (0xac00, 0xd7a3)],
    // Gothic, emoji.
    &[(0x10330, 0x1034a), (0x1f330, 0x1f5ff)],
];

/// Appends a name of 1 to 100 bytes, all lengths equally likely, in random characters.
pub(super) fn scramble(random: &mut Random, name: &mut Vec<u8>) {
    let length = 1 + random.below(100) as usize;
    while name.len() < length {
        let bytes = 1 + random.below((length - name.len()).min(4) as u64) as usize;
        let ranges = SCRIPTS[bytes - 1];
        let (first, last) = ranges[random.below(ranges.len() as u64) as usize];
        let code = first + random.below(u64::from(last - first + 1)) as u32;
        let character = char::from_u32(code).expect("the ranges hold characters only");
        name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::stations::Stations;
    use super::*;

    fn check_names(stations: &Stations) {
        let distinct: HashSet<&[u8]> = stations.names().collect();
        assert_eq!(distinct.len(), stations.len());
        for name in stations.names() {
            let text = std::str::from_utf8(name).unwrap();
            assert!(!text.contains(|c: char| c == ';' || c == '"' || c.is_control()), "{text:?}");
        }
    }

    #[test]
    fn towns_are_distinct_words_as_long_as_real_ones() {
        let stations = Stations::towns(41_343, 1);
        check_names(&stations);
        let bytes: usize = stations.names().map(<[u8]>::len).sum();
        let mean = bytes as f64 / 41_343.0;
        // 9.4925 in the real list; short names repeat, so invented ones come out a little longer.
        assert!((9.44..9.65).contains(&mean), "{mean}");
        assert!(stations.names().all(|name| (2..=49).contains(&name.len())));
        let foreign = stations.names().filter(|name| !name.is_ascii()).count();
        assert!((0.15..0.35).contains(&(foreign as f64 / 41_343.0)), "{foreign}");
    }

    #[test]
    fn scrambled_names_have_every_length_from_1_to_100() {
        let stations = Stations::scramble(10_000, 1);
        check_names(&stations);
        let lengths: HashSet<usize> = stations.names().map(<[u8]>::len).collect();
        assert_eq!(lengths.len(), 100);
        assert!(lengths.contains(&1) && lengths.contains(&100));
    }

    #[test]
    fn another_seed_gives_other_names() {
        let first = |seed| Stations::towns(1, seed).names().next().unwrap().to_vec();
        assert_ne!(first(1), first(2));
        assert_eq!(first(1), first(1));
    }
}
