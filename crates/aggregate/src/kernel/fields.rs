//! The hot loop of delimited text without quotes: chosen columns of each line into the tables.
//!
//! In pseudo-code, for one window of whole lines:
//!
//! ```text
//! for each block of 4 KiB:
//!     marks = positions of its delimiters and newlines
//!     for each line:
//!         find the marks around the key and the values; parse the values
//!         odd lines (anything but one-decimal values below 100) go on a list
//!     for each 64 lines, for each value column:
//!         hash the keys and prefetch their slots; then compare and add
//! ```
//!
//! It knows nothing of quotes: whoever calls it has looked for them.

use fathom_machine::level::Here;
use fathom_machine::prefetch;
use fathom_machine::simd::{SURPLUS, Vector, positions_64};

use super::long::long_rows;
use super::rows::Rows;
use super::update::add_short;
use super::{BATCH, Kernel, Odd, Span, plain};
use crate::chunk::Window;
use crate::error::MOST_FIELDS;
use crate::table::{Tables, slot_of};

/// Bytes of input whose marks are listed at a time.
const BLOCK_BYTES: usize = 4 << 10;

/// What is wanted of each line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) delimiter: u8,
    /// The place of the key, from 0.
    pub(crate) key: usize,
    /// The places of the values, from 0; without any every line has the value 0 in one column.
    pub(crate) values: &'a [usize],
    /// The last of all these places, one that a record may have.
    pub(crate) last: usize,
    /// The least and the most delimiters a line may have; the least are those before `last`.
    pub(crate) delimiters: (usize, usize),
}

/// Takes the lines of the window into one tables per value and returns their number. Those that need
/// the exact parser are put on the list with their start and newline.
pub(crate) fn run(
    kernel: Kernel,
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    tables: &mut [&mut Tables],
    squares: bool,
    odd: &mut Odd,
) -> u64 {
    assert_eq!(wanted.values.len().max(1), tables.len());
    // Room for marks is made by it.
    assert!(wanted.last < MOST_FIELDS);
    if squares {
        run_for::<true>(kernel, window, wanted, tables, odd)
    } else {
        run_for::<false>(kernel, window, wanted, tables, odd)
    }
}

fn run_for<const SQUARES: bool>(
    kernel: Kernel,
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    tables: &mut [&mut Tables],
    odd: &mut Odd,
) -> u64 {
    // SAFETY: levels of this architecture are available.
    unsafe {
        match kernel.level.here() {
            Here::Scalar => drive::<plain::Scalar, SQUARES>(window, wanted, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Sse2 => drive::<plain::Sse2, SQUARES>(window, wanted, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Avx2 => super::avx2::run_fields::<SQUARES>(window, wanted, tables, odd),
            #[cfg(target_arch = "x86_64")]
            Here::Avx512 => super::avx512::run_fields::<SQUARES>(window, wanted, tables, odd),
            #[cfg(target_arch = "aarch64")]
            Here::Neon => drive::<plain::Neon, SQUARES>(window, wanted, tables, odd),
        }
    }
}

/// Keys and values of up to 64 lines.
struct Batch {
    rows: usize,
    starts: [u32; BATCH],
    bytes: [u32; BATCH],
    /// Values in tenths, column after column.
    values: Vec<[i32; BATCH]>,
}

/// The driver.
///
/// # Safety
/// The level of `R` is available.
#[inline(always)]
pub(super) unsafe fn drive<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    wanted: &Wanted<'_>,
    tables: &mut [&mut Tables],
    odd: &mut Odd,
) -> u64 {
    let buffer = window.buffer();
    let base = buffer.as_ptr();
    let (least, most) = wanted.delimiters;
    let mut batch = Batch {
        rows: 0,
        starts: [0; BATCH],
        bytes: [0; BATCH],
        values: vec![[0; BATCH]; tables.len()],
    };
    // Marks of the block, and before them those of a line that the block before did not end: the
    // first ones as far as they matter, and how many more there were.
    let kept = wanted.last + 2;
    let mut marks = vec![0_u32; kept + BLOCK_BYTES + SURPLUS];
    let (mut pending, mut dropped) = (0, 0);
    let mut line = window.from();
    let mut lines = 0;
    let (mut at, to) = (window.from(), window.to());
    while at < to {
        let searched = pending;
        let stop = to.min(at + BLOCK_BYTES);
        while at < stop {
            // SAFETY: a window has 64 readable bytes past any `at` inside it. There is room for a
            // block of marks, and for a surplus.
            unsafe {
                let mut mask = positions_64::<R::Scan>(base.add(at), b'\n')
                    | positions_64::<R::Scan>(base.add(at), wanted.delimiter);
                if stop - at < 64 {
                    mask &= (1 << (stop - at)) - 1;
                }
                let into = marks.as_mut_ptr().add(pending);
                R::Scan::write_positions::<6>(mask, at as u32, into);
                pending += mask.count_ones() as usize;
            }
            at += 64;
        }
        at = stop;
        let mut first = 0;
        for mark in searched..pending {
            let newline = marks[mark] as usize;
            if buffer[newline] != b'\n' {
                continue;
            }
            let fields = &marks[first..=mark];
            let delimiters = fields.len() - 1 + std::mem::take(&mut dropped);
            lines += 1;
            let fits = (least..=most).contains(&delimiters);
            if !fits || !take(buffer, line, fields, wanted, &mut batch) {
                odd.push((line, newline));
            }
            if batch.rows == BATCH {
                // SAFETY: forwarded; the batch is of this window.
                unsafe { add::<R, SQUARES>(window, &mut batch, tables) };
            }
            first = mark + 1;
            line = newline + 1;
        }
        let surplus = (pending - first).saturating_sub(kept);
        dropped += surplus;
        pending -= surplus;
        marks.copy_within(first..pending, 0);
        pending -= first;
    }
    // SAFETY: as above.
    unsafe { add::<R, SQUARES>(window, &mut batch, tables) };
    lines
}

/// Puts a line that has the wanted columns into the batch; false if it needs the exact parser.
#[inline(always)]
fn take(buffer: &[u8], line: usize, marks: &[u32], wanted: &Wanted<'_>, batch: &mut Batch) -> bool {
    let field = |place: usize| {
        let start = if place == 0 { line } else { marks[place - 1] as usize + 1 };
        let mut end = marks[place] as usize;
        // A line end of two bytes belongs to no field.
        if place + 1 == marks.len() && end > start && buffer[end - 1] == b'\r' {
            end -= 1;
        }
        (start, end)
    };
    for (&place, values) in wanted.values.iter().zip(&mut batch.values) {
        let (start, end) = field(place);
        let Some(value) = tenths(buffer, start, end) else { return false };
        values[batch.rows] = value;
    }
    let (start, end) = field(wanted.key);
    batch.starts[batch.rows] = start as u32;
    batch.bytes[batch.rows] = (end - start) as u32;
    batch.rows += usize::from(end > start);
    end > start
}

/// A number of the form `[-]d.d` or `[-]dd.d` in tenths; None for every other.
#[inline(always)]
fn tenths(buffer: &[u8], start: usize, end: usize) -> Option<i32> {
    let bytes = end - start;
    if !(3..=5).contains(&bytes) {
        return None;
    }
    // Windows have readable bytes before and behind them.
    let word: [u8; 8] = buffer[end - 8..end].try_into().expect("eight bytes");
    let word = u64::from_le_bytes(word) >> (64 - 8 * bytes);
    let negative = word & 0xff == u64::from(b'-');
    let word = word >> (8 * u32::from(negative));
    let digits = bytes - usize::from(negative);
    if !(3..=4).contains(&digits) {
        return None;
    }
    // Tens, ones, dot and tenths; where there are no tens, a zero for them.
    let word = if digits == 3 { word << 8 | u64::from(b'0') } else { word };
    let word = word as u32 ^ 0x302e_3030;
    let over = (word.wrapping_add(0x7676_7676) | word) & 0x8080_8080;
    if over != 0 || word & 0x00ff_0000 != 0 {
        return None;
    }
    let value = (word & 0xff) * 100 + (word >> 8 & 0xff) * 10 + (word >> 24);
    Some(if negative { -(value as i32) } else { value as i32 })
}

/// Adds the batch to the tables of each column, and empties it.
///
/// # Safety
/// The keys lie in the window; the level of `R` is available.
#[inline(always)]
unsafe fn add<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    batch: &mut Batch,
    tables: &mut [&mut Tables],
) {
    let rows = batch.rows;
    for (tables, values) in tables.iter_mut().zip(&batch.values) {
        // SAFETY: forwarded.
        unsafe { add_column::<R, SQUARES>(window, batch, &values[..rows], tables) };
    }
    batch.rows = 0;
}

/// # Safety
/// As [`add`].
#[inline(always)]
unsafe fn add_column<R: Rows, const SQUARES: bool>(
    window: &Window<'_>,
    batch: &Batch,
    values: &[i32],
    tables: &mut Tables,
) {
    tables.short.prepare(BATCH);
    tables.long.prepare();
    let base = window.buffer().as_ptr();
    let seed = tables.short.seed;
    let mask = tables.short.mask();
    let mut slots = [0_u32; BATCH];
    let mut shorts = [0_u8; BATCH];
    let mut longs = [0_u8; BATCH];
    let (mut short_count, mut long_count) = (0, 0);
    for (row, slot) in slots.iter_mut().enumerate().take(values.len()) {
        let (start, bytes) = (batch.starts[row] as usize, batch.bytes[row]);
        shorts[short_count] = row as u8;
        longs[long_count] = row as u8;
        let long = bytes > 15;
        short_count += usize::from(!long);
        long_count += usize::from(long);
        // SAFETY: a window has 64 readable bytes from any byte of it on; the length is cut.
        unsafe {
            let key = R::field_key(base.add(start), bytes.min(15));
            let first = slot_of(R::hash(key, &seed), &tables.short.displacements, mask);
            *slot = first as u32;
            prefetch(tables.short.entries.as_ptr().wrapping_add(first));
        }
    }
    for &row in &shorts[..short_count] {
        let row = row as usize;
        let mut slot = slots[row] as usize;
        // SAFETY: as above; the same key as before. Slots are masked or found.
        unsafe {
            let key = R::field_key(base.add(batch.starts[row] as usize), batch.bytes[row]);
            if !R::is_at(key, &*tables.short.entries.as_ptr().add(slot)) {
                slot = tables.short.find_or_insert(&R::stored(key));
            }
            add_short::<R, SQUARES>(&mut tables.short, slot, values[row]);
        }
    }
    if long_count > 0 {
        let place_of =
            |row: u8| (batch.starts[row as usize] as usize, batch.bytes[row as usize] as usize);
        let longs = &longs[..long_count];
        // SAFETY: these rows have keys of at least 16 bytes inside the window. No byte is forbidden:
        // a row is refused only where memory is, and then the run ends.
        unsafe {
            long_rows::<R, SQUARES>(
                &Span::of(window),
                place_of,
                longs,
                values.as_ptr(),
                None,
                tables,
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_are_read_in_their_four_shapes_only() {
        let parse = |text: &str| {
            let buffer = [b"98765432", text.as_bytes(), b"99999999"].concat();
            tenths(&buffer, 8, 8 + text.len())
        };
        for value in -999..=999_i32 {
            let sign = if value < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{}", value.abs() / 10, value.abs() % 10);
            assert_eq!(parse(&text), Some(value), "{text}");
        }
        for text in [
            "", "1", "1.", ".5", "-.5", "100.0", "1.55", "+1.5", "--1.5", "1,5", "a.5", "1.a",
            "-1-.5", "1:.5", "1/.5", "-100.0", "12", "123", "1234", "12345",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        for byte in 0..=255_u8 {
            let buffer = [b"98765432", &[byte, b'.', b'5'][..], b"99999999"].concat();
            assert_eq!(tenths(&buffer, 8, 11).is_some(), byte.is_ascii_digit(), "{byte}");
        }
    }
}
