//! From keys to numbers of groups: one table for each thread.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

use super::batch::{Texts, View, each_width};
use super::fault::Fault;
use crate::bucket::Bucket;
use crate::composite;
use crate::delimited::{By, Query};
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
    /// Bytes of keys that do not lie in the list.
    text_bytes: usize,
    seed: Seed,
}

/// A key of up to sixteen bytes: them, zeros behind, and how many; or, with [`INTEGER`] for that, an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words(u64, u64, u8);

/// Digits are only written once for each integer. A column has integers in all batches or in none, so
/// none is another key than the text of its digits.
const INTEGER: u8 = 17;

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
    /// The first `len` of these bytes, 1 to 16 of them.
    #[inline]
    fn cut(bytes: u128, len: usize) -> Words {
        let bytes = bytes & u128::MAX >> (128 - 8 * len);
        Words(bytes as u64, (bytes >> 64) as u64, len as u8)
    }

    #[inline]
    fn of_integer(integer: i128) -> Words {
        Words(integer as u64, (integer >> 64) as u64, INTEGER)
    }

    fn to_key(self) -> Key {
        let Words(first, last, len) = self;
        if len == INTEGER {
            let integer = i128::from(last as i64) << 64 | i128::from(first);
            return Key::from(integer.to_string().into_bytes());
        }
        let bytes = [first.to_le_bytes(), last.to_le_bytes()];
        Key::from(&bytes.as_flattened()[..len.into()])
    }

    /// A text of as many bytes, within others: where sixteen can be read, nothing depends on how many are
    /// its own.
    #[inline]
    fn within(bytes: &[u8], at: usize, len: usize) -> Words {
        match bytes.get(at..at + 16) {
            Some(sixteen) => Words::cut(u128::from_le_bytes(sixteen.try_into().expect("16")), len),
            None => {
                let mut sixteen = [0; 16];
                sixteen[..len].copy_from_slice(&bytes[at..at + len]);
                Words::cut(u128::from_le_bytes(sixteen), len)
            }
        }
    }
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<Key>()
            + self.short.allocation_size()
            + self.long.allocation_size()
            + self.text_bytes
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The number of a key that is not empty.
    #[inline]
    fn find(&mut self, bytes: &[u8], at: usize, len: usize) -> u32 {
        match len {
            0 => NONE,
            1..=16 => self.find_short(Words::within(bytes, at, len)),
            _ => self.find_long(&bytes[at..at + len]),
        }
    }

    #[inline]
    fn find_short(&mut self, words: Words) -> u32 {
        let Groups { keys, short, seed, .. } = self;
        let hash = seed.hash(&words);
        if let Some(&(_, number)) = short.find(hash, |(known, _)| *known == words) {
            return number;
        }
        let next = next(keys);
        short.insert_unique(hash, (words, next), |(words, _)| seed.hash(words));
        keys.push(words.to_key());
        next
    }

    fn find_long(&mut self, key: &[u8]) -> u32 {
        let Groups { keys, long, seed, text_bytes, .. } = self;
        let hash = seed.2.hash_one(key);
        if let Some(&number) = long.find(hash, |&number| *keys[number as usize] == *key) {
            return number;
        }
        let next = next(keys);
        long.insert_unique(hash, next, |&number| seed.2.hash_one(&*keys[number as usize]));
        keys.push(Key::from(key));
        *text_bytes += key.len();
        next
    }

    /// The same for a text as it stands alone, if it does.
    fn find_text(&mut self, text: Option<&[u8]>) -> u32 {
        text.map_or(NONE, |text| self.find(text, 0, text.len()))
    }

    /// Numbers these rows' groups; a row without a key, or with empty parts alone, has none, and is a
    /// fault. Parts may be [shaped](super::Frame::shape).
    pub(super) fn number(
        &mut self,
        (parts, shape): (&[Texts<'_>], Option<&Query>),
        rows: impl Iterator<Item = usize> + Clone,
        numbers: &mut Vec<u32>,
        faults: &mut Vec<Fault>,
    ) {
        numbers.clear();
        match (shape, parts) {
            (Some(query), _) => return self.number_shaped(query, parts, rows, numbers, faults),
            (None, [texts]) => self.number_one(texts, rows.clone(), numbers),
            (None, _) => self.number_several(parts, rows.clone(), numbers),
        }
        if !numbers.contains(&NONE) {
            return;
        }
        let none = rows.zip(&*numbers).filter(|(_, number)| **number == NONE);
        faults.extend(none.map(|(row, _)| empty(row)));
    }

    /// The same where parts are those that a query makes of what stands in the columns.
    fn number_shaped(
        &mut self,
        query: &Query,
        parts: &[Texts<'_>],
        rows: impl Iterator<Item = usize>,
        numbers: &mut Vec<u32>,
        faults: &mut Vec<Fault>,
    ) {
        assert_eq!(parts.len(), query.by.len(), "a shape of other keys");
        let mut parts: Vec<Shaped<'_>> =
            parts.iter().zip(&query.by).map(|(texts, by)| Shaped::new(query, by, texts)).collect();
        let mut key = Vec::new();
        numbers.extend(rows.map(|row| {
            let number = match &mut parts[..] {
                [part] => self.find_shaped(part, row),
                parts => self.find_joined(parts, &mut key, row),
            };
            number.unwrap_or_else(|fault| {
                faults.push(fault);
                NONE
            })
        }));
    }

    /// The number of a key of one part, which is remembered beside it.
    fn find_shaped(&mut self, part: &mut Shaped<'_>, row: usize) -> Result<u32, Fault> {
        let known = part.of(row)?;
        if known.number == NONE {
            known.number = self.find_text(Some(&known.text));
        }
        if known.number == NONE { Err(empty(row)) } else { Ok(known.number) }
    }

    fn find_joined(
        &mut self,
        parts: &mut [Shaped<'_>],
        key: &mut Vec<u8>,
        row: usize,
    ) -> Result<u32, Fault> {
        key.clear();
        let (mut is_empty, last) = (true, parts.len() - 1);
        for (at, part) in parts.iter_mut().enumerate() {
            let text = &part.of(row).map_err(|fault| Fault { column: at, ..fault })?.text;
            is_empty &= text.is_empty();
            composite::push(key, text, at == last);
        }
        if is_empty { Err(empty(row)) } else { Ok(self.find(key, 0, key.len())) }
    }

    fn number_several(
        &mut self,
        parts: &[Texts<'_>],
        rows: impl Iterator<Item = usize>,
        numbers: &mut Vec<u32>,
    ) {
        let mut key = Vec::new();
        numbers.extend(rows.map(|row| {
            key.clear();
            let mut is_empty = true;
            for (at, texts) in parts.iter().enumerate() {
                let text = texts.get(row).unwrap_or_default();
                is_empty &= text.is_empty();
                composite::push(&mut key, &text, at + 1 == parts.len());
            }
            if is_empty { NONE } else { self.find(&key, 0, key.len()) }
        }));
    }

    fn number_one(
        &mut self,
        texts: &Texts<'_>,
        rows: impl Iterator<Item = usize>,
        numbers: &mut Vec<u32>,
    ) {
        match texts {
            Texts::Short(valid, offsets, bytes) => numbers.extend(rows.map(|row| {
                let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
                if valid.has(row) { self.find(bytes, start, end - start) } else { NONE }
            })),
            Texts::Long(valid, offsets, bytes) => numbers.extend(rows.map(|row| {
                let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
                if valid.has(row) { self.find(bytes, start, end - start) } else { NONE }
            })),
            Texts::Views(valid, views, buffers) => numbers.extend(rows.map(|row| {
                if !valid.has(row) {
                    return NONE;
                }
                match View::of(&views[row]) {
                    View::Here(0, _) => NONE,
                    View::Here(len, bytes) => self.find_short(Words::cut(bytes, len)),
                    View::There(len, buffer, at) => self.find(buffers[buffer], at, len),
                }
            })),
            Texts::Integers(valid, integers) => numbers.extend(rows.map(|row| {
                if valid.has(row) {
                    self.find_short(Words::of_integer(integers.get(row)))
                } else {
                    NONE
                }
            })),
            Texts::Booleans(..) | Texts::Times(..) | Texts::Numbers(_) => {
                numbers.extend(rows.map(|row| self.find_text(texts.get(row).as_deref())));
            }
            Texts::Dictionary(valid, places, texts) => {
                // What a place means is asked once for each that occurs.
                const UNKNOWN: u32 = NONE - 1;
                let mut known: Vec<u32> = Vec::new();
                each_width!(places, places => numbers.extend(rows.map(|row| {
                    if !valid.has(row) {
                        return NONE;
                    }
                    let place = places[row] as usize;
                    match known.get(place) {
                        Some(&number) if number != UNKNOWN => number,
                        _ => {
                            known.resize(known.len().max(place + 1), UNKNOWN);
                            known[place] = self.find_text(texts.get(place).as_deref());
                            known[place]
                        }
                    }
                })));
            }
        }
    }
}

/// A column as a part of keys. What many rows have is remembered: places of a dictionary, and seconds.
struct Shaped<'a> {
    query: &'a Query,
    by: &'a By,
    texts: &'a Texts<'a>,
    /// The first places have slots of their own, seconds those of their hash, all else the first.
    slots: Vec<Slot>,
}

/// What was asked for last, and what it is.
#[derive(Clone)]
struct Slot {
    /// The place or the second; None if it is not to be found again.
    tag: Option<i64>,
    /// As part of a key.
    text: Vec<u8>,
    /// The number of the key that has this part alone, once it was asked for.
    number: u32,
}

impl<'a> Shaped<'a> {
    /// Bits of the number of a second's slot, and of that of a place.
    const BITS: [u32; 2] = [10, 16];

    fn new(query: &'a Query, by: &'a By, texts: &'a Texts<'a>) -> Shaped<'a> {
        Shaped { query, by, texts, slots: Vec::new() }
    }

    /// The part of a row.
    ///
    /// # Errors
    /// Why it has none, as of the first part.
    fn of(&mut self, row: usize) -> Result<&mut Slot, Fault> {
        let span = self.by.bucket.as_ref().and_then(Bucket::span);
        let second = span.and_then(|_| self.texts.second(row));
        let tag = second.or_else(|| self.texts.place(row));
        let number = match (second, tag) {
            (Some(second), _) => {
                let hash = (second as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (hash >> (64 - Shaped::BITS[0])) as usize
            }
            (None, Some(place)) => place as usize % (1 << Shaped::BITS[1]),
            (None, None) => 0,
        };
        if number >= self.slots.len() {
            self.slots.resize(number + 1, Slot { tag: None, text: Vec::new(), number: NONE });
        }
        let slot = &mut self.slots[number];
        if tag.is_none() || slot.tag != tag {
            (slot.tag, slot.number) = (None, NONE);
            slot.text.clear();
            match span.zip(second) {
                Some((span, second)) => span.push(&mut slot.text, second),
                None => {
                    let text = self.texts.get(row).unwrap_or_default();
                    match self.query.shaped(self.by, Cow::Borrowed(&text)) {
                        Ok(shaped) => slot.text.extend_from_slice(&shaped),
                        Err(reason) => {
                            let text = String::from_utf8_lossy(&text).into_owned();
                            return Err(Fault { row, column: 0, reason, text });
                        }
                    }
                }
            }
            slot.tag = tag;
        }
        Ok(slot)
    }
}

/// A row without a key.
fn empty(row: usize) -> Fault {
    Fault { row, column: 0, reason: Reason::EmptyKey, text: String::new() }
}

fn next(keys: &[Key]) -> u32 {
    u32::try_from(keys.len()).expect("fewer keys than 2^32")
}
