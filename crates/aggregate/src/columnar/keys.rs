//! From keys to numbers of groups: one table for each thread.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use hashbrown::HashTable;

use super::batch::{Texts, view};
use super::fault::Fault;
use crate::composite;
use crate::error::Reason;
use crate::key::Key;

/// The number of rows without a group.
pub(super) const NONE: u32 = u32::MAX;

/// The keys met so far, numbered in the order they were.
#[derive(Debug, Default)]
pub(super) struct Groups {
    keys: Vec<Key>,
    /// Keys of up to 16 bytes, as their words.
    short: HashTable<(Words, u32)>,
    long: HashTable<u32>,
    seed: Seed,
}

/// A key of up to sixteen bytes: its first and last eight, or four, or one to three, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words(u64, u64, u8);

#[derive(Debug)]
struct Seed(u64, u64, RandomState);

impl Default for Seed {
    fn default() -> Seed {
        let state = RandomState::new();
        Seed(state.hash_one(1), state.hash_one(2) | 1, state)
    }
}

impl Seed {
    /// Two folded multiplications of seeded words.
    #[inline]
    fn hash(&self, &Words(first, last, len): &Words) -> u64 {
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        let half = fold(first ^ self.0, last ^ self.1);
        fold(half ^ u64::from(len), self.1 ^ 0x9e37_79b9_7f4a_7c15)
    }
}

impl Words {
    #[inline]
    fn new(key: &[u8]) -> Option<Words> {
        let len = key.len();
        let eight = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().expect("8 bytes"));
        let four = |at: usize| u32::from_le_bytes(key[at..at + 4].try_into().expect("4 bytes"));
        let (first, last) = match len {
            0 => return None,
            1..=3 => {
                let bytes = [key[0], key[len / 2], key[len - 1], 0];
                (u32::from_le_bytes(bytes).into(), 0)
            }
            4..=7 => (four(0).into(), four(len - 4).into()),
            8..=16 => (eight(0), eight(len - 8)),
            _ => return None,
        };
        Some(Words(first, last, len as u8))
    }
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The number of a key that is not empty.
    #[inline]
    fn find(&mut self, key: &[u8]) -> u32 {
        let Groups { keys, short, long, seed } = self;
        let next = u32::try_from(keys.len()).expect("fewer keys than 2^32");
        if let Some(words) = Words::new(key) {
            let hash = seed.hash(&words);
            if let Some(&(_, number)) = short.find(hash, |(known, _)| *known == words) {
                return number;
            }
            short.insert_unique(hash, (words, next), |(words, _)| seed.hash(words));
        } else {
            let hash = seed.2.hash_one(key);
            if let Some(&number) = long.find(hash, |&number| *keys[number as usize] == *key) {
                return number;
            }
            long.insert_unique(hash, next, |&number| seed.2.hash_one(&*keys[number as usize]));
        }
        keys.push(Key::from(key));
        next
    }

    /// Numbers these rows' groups; a row without a key, or with empty parts alone, has none, and is a
    /// fault.
    pub(super) fn number(
        &mut self,
        parts: &[Texts<'_>],
        rows: Range<usize>,
        numbers: &mut Vec<u32>,
        faults: &mut Vec<Fault>,
    ) {
        numbers.clear();
        match parts {
            [texts] => self.number_one(texts, rows.clone(), numbers),
            _ => self.number_several(parts, rows.clone(), numbers),
        }
        let none = numbers.iter().enumerate().filter(|(_, number)| **number == NONE);
        faults.extend(none.map(|(at, _)| Fault {
            row: rows.start + at,
            column: 0,
            reason: Reason::EmptyKey,
            text: String::new(),
        }));
    }

    fn number_several(&mut self, parts: &[Texts<'_>], rows: Range<usize>, numbers: &mut Vec<u32>) {
        let mut key = Vec::new();
        numbers.extend(rows.map(|row| {
            key.clear();
            let mut is_empty = true;
            for (at, texts) in parts.iter().enumerate() {
                let text = texts.get(row).unwrap_or_default();
                is_empty &= text.is_empty();
                composite::push(&mut key, &text, at + 1 == parts.len());
            }
            if is_empty { NONE } else { self.find(&key) }
        }));
    }

    fn number_one(&mut self, texts: &Texts<'_>, rows: Range<usize>, numbers: &mut Vec<u32>) {
        let mut find = |key: Option<&[u8]>| match key {
            Some(key) if !key.is_empty() => self.find(key),
            _ => NONE,
        };
        match texts {
            Texts::Short(valid, offsets, bytes) => numbers.extend(rows.map(|row| {
                let text = || &bytes[offsets[row] as usize..offsets[row + 1] as usize];
                find(valid.has(row).then(text))
            })),
            Texts::Long(valid, offsets, bytes) => numbers.extend(rows.map(|row| {
                let text = || &bytes[offsets[row] as usize..offsets[row + 1] as usize];
                find(valid.has(row).then(text))
            })),
            Texts::Views(valid, views, buffers) => numbers
                .extend(rows.map(|row| find(valid.has(row).then(|| view(&views[row], buffers))))),
            Texts::Integers(..) => {
                numbers.extend(rows.map(|row| find(texts.get(row).as_deref())));
            }
            Texts::Dictionary(valid, places, texts) => {
                // What a place means is asked once for each that occurs.
                const UNKNOWN: u32 = NONE - 1;
                let mut known: Vec<u32> = Vec::new();
                numbers.extend(rows.map(|row| {
                    if !valid.has(row) {
                        return NONE;
                    }
                    let place = places.get(row) as usize;
                    if place >= known.len() {
                        known.resize(place + 1, UNKNOWN);
                    }
                    if known[place] == UNKNOWN {
                        known[place] = find(texts.get(place).as_deref());
                    }
                    known[place]
                }));
            }
        }
    }
}
