//! Finds in a table made for its very keys. Builds nothing, changes nothing.
//!
//! ```text
//! key ─▶ Probe: its words, a hash of the bytes that tell keys apart
//!          │ hash · buckets ─▶ pilots | 7 | 0 | 31 | …      a byte for some three keys
//!          │ hash, pilot    ─▶ slots  | words … value | …   one for each key, few empty
//!          └ words = words? ─▶ value
//!
//! a slot   | bytes of the key, zeros        length | value |    keys that fit
//!          | zeros    offset (40) mark (16)    255 | value |    longer ones: length and bytes at `offset` of `long`
//! ```
//!
//! Pilots were chosen so that no two keys have one slot ("hash and displace": R. Pagh, 1999; pilots of a
//! byte: R. Groot Koerkamp, PtrHash, 2025). So a find reads one pilot and one slot, whatever the key, and
//! branches on the answer alone. All of it is inlined into the caller's loop: called, hits among 10,000 UUIDs took
//! twice the time. An empty slot holds the words of a key that has another slot, which
//! therefore nobody finds there.

/// What was found out about the keys: how they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of every key that fits into a slot, without its length; 0 where lengths differ.
    pub length: usize,
    /// The first eight bytes that are hashed begin so many bytes after the beginning …
    pub front: usize,
    /// … and the last eight end so many before the end.
    pub back: usize,
    /// All bytes are hashed, because no two windows tell the keys apart; integers are hashed twice.
    pub thorough: bool,
    /// Integers with hardly a gap from this one on have their slots in order, without a hash.
    pub least: Option<u64>,
    /// Of the hash.
    pub seed: u64,
}

/// A key and its value. What keeps a long key apart from a short one is the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot<const W: usize> {
    /// The words of the key.
    pub key: [u64; W],
    /// Its value.
    pub value: u64,
}

/// A table, to be read.
#[derive(Clone, Copy, Debug)]
pub struct Table<'t, const W: usize> {
    /// How keys are read.
    pub shape: Shape,
    /// By bucket.
    pub pilots: &'t [u8],
    /// By hash and pilot, one part after another.
    pub slots: &'t [Slot<W>],
    /// How many parts there are, and slots in each.
    pub parts: [usize; 2],
    /// The keys that are too long for a slot: four bytes of length, then the key.
    pub long: &'t [u8],
}

/// What is to be compared with a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: no key looks like this.
    Absent,
    /// All words.
    Short,
    /// Mark and bytes.
    Long,
}

/// A key as it is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Probe<const W: usize> {
    /// Its words, as a slot has them.
    pub key: [u64; W],
    /// What chooses bucket and slot.
    pub hash: u64,
    /// What is compared.
    pub kind: Kind,
}

/// What can be looked for: integers and byte strings.
pub trait Read: Copy {
    /// What is compared and what is hashed of it.
    fn read<const W: usize>(self, shape: &Shape) -> Probe<W>;

    /// Its bytes; an integer, which always fits, need not have any.
    fn bytes(&self) -> &[u8];
}

/// Keys that are looked for at a time by [`Table::find_batch`].
const BATCH: usize = 32;
/// The last byte of a slot whose key lies elsewhere.
const ELSEWHERE: u64 = 0xff;
/// Bits of a place in `long`.
pub const OFFSET_BITS: u32 = 40;
/// Odd, and its bits look random: 2⁶⁴ over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Shape {
    /// The hash of eight bytes near the front, eight near the end and the length.
    #[inline(always)]
    pub fn windows(&self, key: &[u8]) -> u64 {
        let length = key.len() as u64;
        let Some(last) = key.len().checked_sub(8) else {
            return mixed(few(key), length, self.seed);
        };
        let (front, back) = (self.front.min(last), last - self.back.min(last));
        mixed(word(key, front).wrapping_add(length), word(key, back), self.seed)
    }
}

impl<const W: usize> Table<'_, W> {
    /// The value of `key`.
    #[inline(always)]
    pub fn find<K: Read>(&self, key: K) -> Option<u64> {
        let probe = key.read::<W>(&self.shape);
        let slot = self.slots.get(self.place(probe.hash))?;
        let is_it = match probe.kind {
            Kind::Absent => false,
            Kind::Short => is_same(&slot.key, &probe.key),
            Kind::Long => self.is_long(slot.key[W - 1], probe.hash, key.bytes()),
        };
        is_it.then_some(slot.value)
    }

    /// Says of each of `keys` in turn what its value is. Waits for the memory of many at once: all are hashed,
    /// then all pilots are read, then all slots.
    #[inline]
    pub fn find_batch<K: Read>(&self, keys: &[K], mut met: impl FnMut(Option<u64>)) {
        let nobody = Probe { key: [0; W], hash: 0, kind: Kind::Absent };
        let mut probes = [nobody; BATCH];
        let mut places = [0; BATCH];
        let mut tags = [0; BATCH];
        let mut found = [(false, 0); BATCH];
        for keys in keys.chunks(BATCH) {
            for (probe, key) in probes.iter_mut().zip(keys) {
                *probe = key.read(&self.shape);
            }
            for (place, probe) in places.iter_mut().zip(&probes[..keys.len()]) {
                *place = self.place(probe.hash);
            }
            let mut is_long = false;
            for (at, probe) in probes[..keys.len()].iter().enumerate() {
                let Some(slot) = self.slots.get(places[at]) else { continue };
                found[at] =
                    (probe.kind == Kind::Short && is_same(&slot.key, &probe.key), slot.value);
                tags[at] = slot.key[W - 1];
                is_long |= probe.kind == Kind::Long;
            }
            if is_long {
                self.find_long(keys, &probes, &tags, &mut found);
            }
            for &(is_it, value) in &found[..keys.len()] {
                met(is_it.then_some(value));
            }
            found = [(false, 0); BATCH];
        }
    }

    /// A number that all of the table goes into.
    pub fn digest(&self) -> u64 {
        let slots = self.slots.iter().flat_map(|slot| slot.key.iter().chain([&slot.value]));
        let bytes = self.pilots.iter().chain(self.long).map(|&byte| u64::from(byte));
        slots.copied().chain(bytes).fold(0, |all: u64, word| mixed(all.wrapping_add(STEP), word, 1))
    }

    /// The long ones among a batch.
    fn find_long<K: Read>(
        &self,
        keys: &[K],
        probes: &[Probe<W>],
        tags: &[u64],
        found: &mut [(bool, u64)],
    ) {
        let at = |tag: u64| (tag & ((1 << OFFSET_BITS) - 1)) as usize;
        let touch = |all: u8, &tag: &u64| all ^ self.long.get(at(tag)).copied().unwrap_or(0);
        std::hint::black_box(tags[..keys.len()].iter().fold(0, touch));
        for (at, probe) in probes[..keys.len()].iter().enumerate() {
            if probe.kind == Kind::Long {
                found[at].0 = self.is_long(tags[at], probe.hash, keys[at].bytes());
            }
        }
    }

    /// The number of the slot that a key of this hash has, if it is there.
    #[inline(always)]
    pub fn place(&self, hash: u64) -> usize {
        if self.shape.least.is_some() {
            return hash as usize;
        }
        let pilot = self.pilots.get(high(hash, self.pilots.len())).copied().unwrap_or(0);
        place(hash, pilot, self.parts)
    }

    /// Whether the slot with this last word is that of the long key `key`.
    #[inline(always)]
    fn is_long(&self, tag: u64, hash: u64, key: &[u8]) -> bool {
        if tag >> OFFSET_BITS != mark(hash) {
            return false;
        }
        let place = (tag & ((1 << OFFSET_BITS) - 1)) as usize;
        let record = self.long.get(place..).and_then(<[u8]>::split_first_chunk::<4>);
        record.is_some_and(|(length, bytes)| {
            u32::from_le_bytes(*length) as usize == key.len() && bytes.starts_with(key)
        })
    }
}

impl Read for u64 {
    #[inline(always)]
    fn read<const W: usize>(self, shape: &Shape) -> Probe<W> {
        let hash = match shape.least {
            Some(least) => self.wrapping_sub(least),
            None if shape.thorough => mixed(mixed(self, 0, shape.seed), self, shape.seed),
            None => mixed(self, 0, shape.seed),
        };
        Probe { key: [self; W], hash, kind: Kind::Short }
    }

    fn bytes(&self) -> &[u8] {
        &[]
    }
}

impl Read for &[u8] {
    #[inline(always)]
    fn read<const W: usize>(self, shape: &Shape) -> Probe<W> {
        let length = shape.length;
        let (mut key, mut kind) = ([0; W], Kind::Short);
        if length > 0 {
            if self.len() != length {
                return Probe { key, hash: 0, kind: Kind::Absent };
            }
            words(self, &mut key);
        } else if self.len() < 8 * W {
            padded(self, &mut key);
            key[W - 1] |= (self.len() as u64) << 56;
        } else {
            kind = Kind::Long;
        }
        let hash = match kind {
            _ if shape.thorough => hash_whole(self, shape.seed),
            // Few words are hashed as they are.
            Kind::Short if W == 1 => mixed(key[0], 0, shape.seed),
            Kind::Short if W == 2 => mixed(key[0], key[1], shape.seed),
            _ => shape.windows(self),
        };
        Probe { key, hash, kind }
    }

    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The number of the slot that a key of this hash has with this pilot. The hash alone chooses one of the
/// parts, so that a part is built in the caches.
#[inline(always)]
pub fn place(hash: u64, pilot: u8, parts: [usize; 2]) -> usize {
    let [parts, slots] = parts;
    let step = hash.wrapping_mul(STEP).wrapping_mul(pilot.into());
    high(hash, parts) * slots + high(hash.rotate_left(32).wrapping_add(step), slots)
}

/// `value`, which may be anything below 2⁶⁴, scaled to what is below `end`.
#[inline(always)]
pub fn high(value: u64, end: usize) -> usize {
    ((u128::from(value) * end as u128) >> 64) as usize
}

/// The upper bits of the last word of a long key's slot.
#[inline(always)]
pub fn mark(hash: u64) -> u64 {
    ELSEWHERE << 16 | hash & 0xffff
}

/// Both words in one: the halves of their product (wyhash's step, by Wang Yi).
#[inline(always)]
fn mixed(a: u64, b: u64, seed: u64) -> u64 {
    let product = u128::from(a ^ seed) * u128::from(b ^ seed.rotate_left(32) ^ STEP);
    product as u64 ^ (product >> 64) as u64
}

/// Of all bytes and the length. Called, so that what needs it not stays short.
#[inline(never)]
fn hash_whole(key: &[u8], seed: u64) -> u64 {
    let (pairs, rest) = key.as_chunks::<16>();
    let (first, last) = rest.split_at(rest.len().min(8));
    let start = mixed(few(first) ^ key.len() as u64, few(last), seed);
    let of = |hash, pair: &[u8; 16]| mixed(word(pair, 0) ^ hash, word(pair, 8), seed);
    mixed(pairs.iter().fold(start, of), key.len() as u64, seed)
}

/// Whether all words are, without a branch for each.
#[inline(always)]
fn is_same<const W: usize>(a: &[u64; W], b: &[u64; W]) -> bool {
    a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// The words of a key whose length all keys have.
#[inline(always)]
fn words<const W: usize>(key: &[u8], to: &mut [u64; W]) {
    match key.len().checked_sub(8) {
        Some(last) => (0..W).for_each(|at| to[at] = word(key, (8 * at).min(last))),
        None => to[0] = few(key),
    }
}

/// The words of a key of fewer than `8 W` bytes, zeros behind it.
#[inline(always)]
fn padded<const W: usize>(key: &[u8], to: &mut [u64; W]) {
    let (full, rest) = key.as_chunks::<8>();
    to.iter_mut().zip(full).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
    to[full.len()] = match key.len().checked_sub(8) {
        // The last eight bytes, without those that the word before has.
        Some(last) => (word(key, last) >> 8) >> (56 - 8 * rest.len()),
        None => few(key),
    };
}

/// At most eight bytes, zeros behind them.
#[inline(always)]
fn few(key: &[u8]) -> u64 {
    if key.len() == 8 {
        word(key, 0)
    } else if let (Some(first), Some(last)) = (key.first_chunk(), key.last_chunk()) {
        let last = u64::from(u32::from_le_bytes(*last)) << (8 * (key.len() - 4));
        u64::from(u32::from_le_bytes(*first)) | last
    } else if let (Some(first), Some(last)) = (key.first(), key.last()) {
        let middle = u64::from(key[key.len() / 2]) << (8 * (key.len() / 2));
        u64::from(*first) | middle | u64::from(*last) << (8 * (key.len() - 1))
    } else {
        0
    }
}

/// The eight bytes from `at` on.
#[inline(always)]
fn word(key: &[u8], at: usize) -> u64 {
    key.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
