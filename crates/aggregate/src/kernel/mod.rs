//! The hot loop: from bytes to updated table entries.
//!
//! In pseudo-code, for one span of whole rows:
//!
//! ```text
//! for each block of 2 KiB:
//!     ends = positions of its newlines                                  (stage 1)
//!     for each 64 of them:
//!         for each 8 rows:                                              (stage 2A)
//!             parse the value backwards from the newline
//!         for each 8 rows:                                              (stage 2B)
//!             key = first 16 bytes of the row, cut after the delimiter
//!             slot = hash(key); prefetch it
//!         for each 8 rows:                                              (stage 2C)
//!             compare the 8 keys with the 8 slots, one branch for all; mend what differs
//!         for each 8 rows:                                              (stage 2D)
//!             add the 8 values
//! ```
//!
//! Its departures from the plain program, and why:
//!
//! 1. Only newlines are searched for. A one-decimal value has one of four shapes, so its length,
//!    sign and digits follow from the eight bytes before the newline, without a branch, and with
//!    them the length of the key. No row waits for the row before it.
//! 2. A row that departs from those shapes is *odd*. It goes to the exact parser, and its lane goes
//!    on as a dummy that lands in the table's sink, so that the loop has no second path.
//! 3. A key of 16 bytes or more goes on as a dummy too; its row is put on a list without a branch
//!    and done after the batch.
//! 4. Slots are computed for 64 rows before the first is touched: with many keys the loop is then
//!    bound by throughput, not by the latency of cache misses.
//! 5. The stages are loops of their own: a turn of one is so short that many turns are in flight, and
//!    none waits for the long chain from a newline to a slot. As two loops they took 1.1x as long.
//! 6. Keys are compared whole, always. A key that contains the delimiter is found out when it is
//!    inserted, which costs nothing per row: until then its rows miss.
//!
//! The driver (`drive`) is written once over [`Rows`](rows::Rows), which holds what differs between
//! levels: how eight values are parsed and how a key is masked, hashed and compared. It is compiled
//! inside one function per level that carries the `target_feature`. Keys of 16 bytes and more are in
//! `long`; delimited text without quotes has a driver of its own, `fields`.

use drive::drive;
use fathom_machine::level::{Here, Level};

pub(crate) use span::Span;

use crate::table::{Hashes, Tables, short_key};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod drive;
pub(crate) mod fields;
mod long;
pub(crate) mod marks;
mod newlines;
mod plain;
mod quad;
mod rows;
mod span;
mod update;

/// Rows whose slots are computed before the first is used.
const BATCH: usize = 64;

/// Rows parsed at once.
const LANES: usize = 8;

/// Longest key of the short table, its delimiter included.
const SHORT_BYTES: u32 = 16;

/// How rows are processed; chosen once per run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub(crate) level: Level,
}

/// A window of sixteen bytes of this array keeps that many bytes: bytes [16 - n .. 32 - n] start
/// with n ones.
static KEEP: [u8; 32] = {
    let mut keep = [0; 32];
    let mut i = 0;
    while i < 16 {
        keep[i] = 0xff;
        i += 1;
    }
    keep
};

/// Rows the loops leave to the exact parser, each with its start and its newline.
pub(crate) type Odd = Vec<(usize, usize)>;

/// The level the loop runs at, if `level` is asked for.
pub fn level_of(level: Level) -> Level {
    match level.here() {
        Here::Scalar => Level::Scalar,
        #[cfg(target_arch = "x86_64")]
        Here::Sse2 => Level::Sse2,
        #[cfg(target_arch = "x86_64")]
        Here::Avx2 => Level::Avx2,
        #[cfg(target_arch = "x86_64")]
        Here::Avx512 => Level::Avx512,
        #[cfg(target_arch = "aarch64")]
        Here::Neon => Level::Neon,
    }
}

/// Takes every row of the span into the tables but those that are odd; returns the number of lines.
pub(crate) fn run(
    kernel: Kernel,
    span: &Span<'_>,
    tables: &mut Tables,
    squares: bool,
    odd: &mut Odd,
) -> u64 {
    if squares {
        run_for::<true>(kernel, span, tables, odd)
    } else {
        run_for::<false>(kernel, span, tables, odd)
    }
}

fn run_for<const SQUARES: bool>(
    kernel: Kernel,
    span: &Span<'_>,
    tables: &mut Tables,
    odd: &mut Odd,
) -> u64 {
    // SAFETY: levels of this architecture are available.
    unsafe {
        match kernel.level.here() {
            Here::Scalar => drive::<plain::Scalar, SQUARES>(span, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Sse2 => drive::<plain::Sse2, SQUARES>(span, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Avx2 => avx2::run::<SQUARES>(span, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Avx512 => avx512::run::<SQUARES>(span, tables, odd),
            #[cfg(target_arch = "aarch64")]
            Here::Neon => drive::<plain::Neon, SQUARES>(span, tables, odd),
        }
    }
}

/// Adds a record to the table where the loops would look for its key.
pub(crate) fn put(tables: &mut Tables, key: &[u8], value: i32) {
    type Portable = plain::Scalar;
    if let Some(key) = short_key(key) {
        tables.short.prepare(1);
        let slot = tables.short.find_or_insert(&key);
        let squares = !tables.short.aside.squares.is_empty();
        // SAFETY: the slot is one of the table; scalar code is everywhere.
        unsafe {
            match squares {
                true => update::add_short::<Portable, true>(&mut tables.short, slot, value),
                false => update::add_short::<Portable, false>(&mut tables.short, slot, value),
            }
        }
        return;
    }
    tables.long.prepare();
    let hash = tables.long.hash(key);
    let Some(at) = tables.long.find_or_insert(key, hash, None) else { return };
    // SAFETY: it numbers the first unit of a key; scalar code is everywhere.
    unsafe {
        match tables.long.aside.squares.is_empty() {
            true => update::add_long::<Portable, false>(&mut tables.long, at, value),
            false => update::add_long::<Portable, true>(&mut tables.long, at, value),
        }
    }
}

/// The hashes tables use at this level.
pub(crate) fn hashes(level: Level) -> Hashes {
    let plain =
        Hashes { short: plain::short_hash, samples: plain::samples_hash, long: plain::long_hash };
    match level.here() {
        Here::Scalar => plain,
        #[cfg(target_arch = "x86_64")]
        Here::Sse2 => plain,
        #[cfg(target_arch = "x86_64")]
        Here::Avx2 | Here::Avx512 => {
            Hashes { short: avx2::short_hash, samples: avx2::samples_hash, long: avx2::long_hash }
        }
        #[cfg(target_arch = "aarch64")]
        Here::Neon => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::rows::{Home, Rows};
    use super::*;
    use crate::table::{Seed, slot_of};

    #[test]
    fn no_two_bytes_of_a_short_key_leave_slots_unused_under_any_seed() {
        // Hostile keys differ where a weak hash mixes least; each pair of bytes must reach slots as
        // evenly as chance, which leaves a share of 1/e free.
        for level in Level::available() {
            let seed = Seed::random();
            let hash = hashes(level).short;
            for (i, j) in (0..15).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let mut taken = vec![false; 1 << 16];
                for pair in 0..=u16::MAX {
                    let mut bytes = [b'k'; 16];
                    [bytes[i], bytes[j]] = pair.to_le_bytes();
                    let (words, _) = bytes.as_chunks::<8>();
                    let key = [0, 1].map(|word| u64::from_le_bytes(words[word]));
                    taken[hash(&key, &seed) as usize & 0xffff] = true;
                }
                let free = taken.iter().filter(|&&taken| !taken).count();
                assert!(free < 26_000, "{level}: bytes {i} and {j} leave {free} slots free");
            }
        }
    }

    #[test]
    fn seeds_are_random() {
        assert_ne!(Seed::random().0, Seed::random().0);
        assert_eq!(std::mem::size_of::<Seed>(), 32);
    }

    #[test]
    fn the_hashes_tables_use_are_those_of_the_loop() {
        for level in Level::available() {
            // SAFETY: it is available.
            unsafe {
                match level.here() {
                    Here::Scalar => check_hashes::<plain::Scalar>(level),
                    #[cfg(target_arch = "x86_64")]
                    Here::Sse2 => check_hashes::<plain::Sse2>(level),
                    #[cfg(target_arch = "x86_64")]
                    Here::Avx2 => check_hashes::<avx2::Avx2>(level),
                    #[cfg(target_arch = "x86_64")]
                    Here::Avx512 => check_hashes::<avx512::Avx512>(level),
                    #[cfg(target_arch = "aarch64")]
                    Here::Neon => check_hashes::<plain::Neon>(level),
                }
            }
        }
    }

    /// # Safety
    /// The level is available, and `R` is of it.
    unsafe fn check_hashes<R: Rows>(level: Level) {
        let (hashes, seed) = (hashes(level), Seed::random());
        let text: Vec<u8> = (0..=u8::MAX).collect();
        for bytes in 16..200 {
            let key = &text[..bytes];
            let mut twin = key.to_vec();
            twin[bytes / 2] ^= 1;
            // SAFETY: the key has so many bytes.
            let of_loop = unsafe {
                let from = key.as_ptr();
                [R::hash_long(from, bytes, &seed), R::hash_samples(from, bytes, &seed)]
            };
            let of_tables = |key: &[u8]| [(hashes.long)(key, &seed), (hashes.samples)(key, &seed)];
            assert_eq!(of_loop, of_tables(key), "{level}: {bytes} bytes");
            let [long, samples] = of_tables(&twin);
            assert!(long != of_loop[0] && samples != of_loop[1], "{level}: {bytes} bytes");
        }
        // Rows at any places, with keys of all lengths.
        let displacements: Vec<u16> = (0..64).map(|bucket| bucket * 7).collect();
        let home = Home { seed, displacements: &displacements, mask: 0xffff };
        for first in 0..=9_u32 {
            let ends: [u32; LANES] = std::array::from_fn(|lane| 20 * lane as u32 + first);
            let masks: [u32; LANES] = std::array::from_fn(|lane| first + lane as u32);
            let from = (text.as_ptr(), ends.as_ptr(), masks.as_ptr());
            // SAFETY: sixteen bytes behind each end are readable, eight keys and slots are writable.
            let (keys, slots) = unsafe {
                let mut keys = [R::key(text.as_ptr(), 0); LANES];
                let mut slots = [[0; LANES]; 2];
                R::place::<false>(from, &home, keys.as_mut_ptr(), slots[0].as_mut_ptr());
                R::place::<true>(from, &home, keys.as_mut_ptr(), slots[1].as_mut_ptr());
                (keys.map(|key| R::stored(key)), slots)
            };
            for (lane, key) in keys.iter().enumerate() {
                let hash = (hashes.short)(key, &seed);
                let expected =
                    [(hash & home.mask) as usize, slot_of(hash, &displacements, home.mask)];
                let found = slots.map(|slots| slots[lane] as usize);
                assert_eq!(found, expected, "{level}: {} bytes", masks[lane]);
            }
        }
    }
}
