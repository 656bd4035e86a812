//! The journey's loop, joined from parts: scan × number × hash × table.
//!
//! In pseudo-code, for one window of whole rows:
//!
//! ```text
//! row scan:       at = start                         two-stage scan:  for each newline:
//!                 while at < end:                        value, its delimiter: parsed backwards
//!                     name = at .. its `;`               name = after the newline before .. `;`
//!                     value: parsed forwards
//!                     table[crc32c(name)] += value       table[crc32c(name)] += value
//!                     at = after the value's newline
//! ```
//!
//! Departures: what makes a row bad is collected in one flag that is read once per window, and only
//! then the plain parser finds out which row it was; a name with a newline in it (from a row without
//! a delimiter) is found out when it is inserted, because it is a new name.

use std::marker::PhantomData;
use std::sync::Arc;

use fathom_aggregate::parts::Window;
use fathom_aggregate::{Error, Partial};
use fathom_machine::level::{Here, Level};
use fathom_machine::simd::{self, Vector, positions_64};

use super::{Check, Entry, Parse, Scan, Strategy, Table as TableAxis};

mod hash;
pub(super) mod input;
mod names;
mod number;

pub use names::Refusal;

use hash::Crc;
use names::{Compared, Hashes, Inline, Names, Own, Shared, SharedNames, Table};
use number::{Branches, Branchless, Found, Number};

/// One thread's work on windows of rows.
pub(super) trait Worker: Send {
    /// Takes every row of the window.
    ///
    /// # Errors
    /// What stood in the way.
    fn take(&mut self, window: &Window<'_>) -> Result<(), Trouble>;

    /// What the thread knows.
    fn partials(self: Box<Self>) -> Vec<Partial>;
}

/// Between a name and its value.
const DELIMITER: u8 = b';';

/// Why a window could not be taken.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The row that starts at this byte of the window's buffer is none.
    Row(usize),
    /// The table cannot hold it.
    Table(Refusal),
    /// The engine's table cannot.
    Engine(Error),
}

/// A worker for each of `threads` threads.
pub(super) fn workers(strategy: &Strategy, level: Level, threads: usize) -> Vec<Box<dyn Worker>> {
    let each = |make: &dyn Fn() -> Box<dyn Worker>| (0..threads).map(|_| make()).collect();
    let (parse, scan) = (strategy.parse, strategy.scan);
    match (strategy.entry, strategy.table, strategy.check) {
        (Entry::Fathom, ..) => unreachable!("the engine has workers of its own"),
        (Entry::Inline, ..) => each(&|| Box::new(Rows::new(Inline::new(), level, parse, scan))),
        (Entry::Compact, TableAxis::PerThread, Check::Full) => {
            each(&|| Box::new(Rows::new(Own::<Names>::new(), level, parse, scan)))
        }
        (Entry::Compact, TableAxis::PerThread, Check::Hash) => {
            each(&|| Box::new(Rows::new(Own::<Hashes>::new(), level, parse, scan)))
        }
        (Entry::Compact, TableAxis::Shared, Check::Full) => {
            shared::<Names>(level, parse, scan, threads)
        }
        (Entry::Compact, TableAxis::Shared, Check::Hash) => {
            shared::<Hashes>(level, parse, scan, threads)
        }
    }
}

fn shared<C: Compared>(
    level: Level,
    parse: Parse,
    scan: Scan,
    threads: usize,
) -> Vec<Box<dyn Worker>> {
    let names = Arc::new(SharedNames::<C>::new());
    let worker = |_| {
        let table = Shared::new(Arc::clone(&names));
        Box::new(Rows::new(table, level, parse, scan)) as Box<dyn Worker>
    };
    (0..threads).map(worker).collect()
}

/// The worker of all combinations.
struct Rows<T> {
    table: T,
    level: Level,
    parse: Parse,
    scan: Scan,
    /// No name can have more rows than this.
    most_count: u64,
}

impl<T: Table> Rows<T> {
    fn new(table: T, level: Level, parse: Parse, scan: Scan) -> Rows<T> {
        Rows { table, level, parse, scan, most_count: 0 }
    }

    /// Counts have 32 bits: counts them anew when rows of six bytes each could have filled them.
    fn count(&mut self, window: &Window<'_>) -> Result<(), Trouble> {
        let rows = (window.to() - window.from()) as u64 / 6 + 1;
        self.most_count += rows;
        if self.most_count > u32::MAX.into() {
            self.most_count = u64::from(self.table.most_count()) + rows;
        }
        if self.most_count > u32::MAX.into() { Err(Trouble::Table(Refusal::Count)) } else { Ok(()) }
    }

    fn run<N: Number, S: Scanned>(&mut self, window: &Window<'_>) -> bool {
        let table = &mut self.table;
        // SAFETY: levels are checked to be available when they are chosen; hardware steps are
        // taken only where the level or the question below says that they exist.
        unsafe {
            match self.level.here() {
                #[cfg(target_arch = "x86_64")]
                Here::Avx2 | Here::Avx512 => avx2::<S, N, T>(window, table),
                #[cfg(target_arch = "x86_64")]
                Here::Sse2 => S::rows::<N, hash::Table, simd::Sse2, T>(window, table),
                #[cfg(target_arch = "aarch64")]
                Here::Neon if std::arch::is_aarch64_feature_detected!("crc") => {
                    neon::<S, N, T>(window, table)
                }
                #[cfg(target_arch = "aarch64")]
                Here::Neon => S::rows::<N, hash::Table, simd::Neon, T>(window, table),
                Here::Scalar => S::rows::<N, hash::Table, simd::Scalar, T>(window, table),
            }
        }
    }
}

/// # Safety
/// The level AVX2, which has SSE4.2, is available.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,sse4.2")]
unsafe fn avx2<S: Scanned, N: Number, T: Table>(window: &Window<'_>, table: &mut T) -> bool {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { S::rows::<N, hash::Sse42, simd::Sse2, T>(window, table) }
}

/// # Safety
/// The level NEON and the CRC extension are available.
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,crc")]
unsafe fn neon<S: Scanned, N: Number, T: Table>(window: &Window<'_>, table: &mut T) -> bool {
    // SAFETY: this function carries the features, and its caller vouches for them.
    unsafe { S::rows::<N, hash::Arm, simd::Neon, T>(window, table) }
}

impl<T: Table> Worker for Rows<T> {
    fn take(&mut self, window: &Window<'_>) -> Result<(), Trouble> {
        self.count(window)?;
        let good = match (self.parse, self.scan) {
            (Parse::Branches, Scan::Row) => self.run::<Branches, Row>(window),
            (Parse::Branches, Scan::TwoStage) => self.run::<Branches, TwoStage>(window),
            (Parse::Branchless, Scan::Row) => self.run::<Branchless, Row>(window),
            (Parse::Branchless, Scan::TwoStage) => self.run::<Branchless, TwoStage>(window),
        };
        if good {
            return Ok(());
        }
        // After a bad row the table may have been fed with anything: the row is the reason then.
        let refusal = self.table.refusal().unwrap_or(Refusal::Row);
        match first_bad_row(window) {
            Some(start) => Err(Trouble::Row(start)),
            None => {
                assert_ne!(refusal, Refusal::Row, "the loop refused what the plain parser takes");
                Err(Trouble::Table(refusal))
            }
        }
    }

    fn partials(self: Box<Self>) -> Vec<Partial> {
        self.table.partials()
    }
}

/// Where the first row starts that is not `name;value` with a value of one decimal below 100.
fn first_bad_row(window: &Window<'_>) -> Option<usize> {
    let mut start = window.from();
    while start < window.to() {
        let rest = &window.buffer()[start..window.to()];
        let len = memchr::memchr(b'\n', rest).expect("windows end with a newline");
        let mut fields = rest[..len].split(|&byte| byte == DELIMITER);
        let (name, value) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        if name.is_empty() || !is_strict(value) || fields.next().is_some() {
            return Some(start);
        }
        start += len + 1;
    }
    None
}

/// Whether this is `d.d` or `dd.d`, perhaps with a minus before it.
fn is_strict(value: &[u8]) -> bool {
    let digits = match value.strip_prefix(b"-").unwrap_or(value) {
        [ones, b'.', tenths] => [*ones, *ones, *tenths],
        [tens, ones, b'.', tenths] => [*tens, *ones, *tenths],
        _ => return false,
    };
    digits.iter().all(u8::is_ascii_digit)
}

/// How rows are found.
trait Scanned {
    /// Feeds every row to the table; false if one was bad.
    ///
    /// # Safety
    /// The level of `V` and the instructions of `C` are available.
    unsafe fn rows<N: Number, C: Crc, V: Vector, T: Table>(
        window: &Window<'_>,
        table: &mut T,
    ) -> bool;
}

/// Each row searches its own delimiter.
struct Row(PhantomData<()>);

/// Newlines first.
struct TwoStage(PhantomData<()>);

impl Scanned for Row {
    #[inline(always)]
    unsafe fn rows<N: Number, C: Crc, V: Vector, T: Table>(
        window: &Window<'_>,
        table: &mut T,
    ) -> bool {
        let base = window.buffer().as_ptr();
        let (mut at, to) = (window.from(), window.to());
        let mut good = true;
        while at < to {
            // SAFETY: `at` is inside the window, behind which 64 bytes are readable: enough for a
            // register from any byte of it, for eight bytes of a value whose delimiter lies in it,
            // and for the sixteen bytes behind a name. A bad row may set `at` to the middle of
            // another, but never back, nor by more than six bytes behind a delimiter.
            unsafe {
                let name = base.add(at);
                let Some(len) = delimiter::<V>(name, to - at) else { return false };
                let hash = if len > 0 { hash::name::<C>(name, len) } else { 0 };
                let Found { tenths, bytes, bad } = N::forward(name.add(len + 1));
                good &= !bad;
                good &= table.add::<V>(name, len, hash, tenths);
                at += len + 1 + bytes;
            }
        }
        good
    }
}

/// Bytes before the first delimiter of the `most` bytes at `from`; none if there is none.
///
/// # Safety
/// 64 bytes behind those are readable; the level of `V` is available.
#[inline(always)]
unsafe fn delimiter<V: Vector>(from: *const u8, most: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        // SAFETY: at < most, and a register is no longer than 64 bytes.
        let found = unsafe { V::load(from.add(at)).equal(V::splat(DELIMITER)) };
        if found != 0 {
            let len = at + found.trailing_zeros() as usize;
            return (len < most).then_some(len);
        }
        at += V::BYTES;
        if at >= most {
            return None;
        }
    }
}

impl Scanned for TwoStage {
    #[inline(always)]
    unsafe fn rows<N: Number, C: Crc, V: Vector, T: Table>(
        window: &Window<'_>,
        table: &mut T,
    ) -> bool {
        const BLOCK_BYTES: usize = 4 << 10;
        let base = window.buffer().as_ptr();
        let (mut at, to) = (window.from(), window.to());
        let mut start = at;
        let mut good = true;
        let mut ends = [0_u32; BLOCK_BYTES + 8];
        while at < to {
            let stop = to.min(at + BLOCK_BYTES);
            let mut found = 0;
            while at < stop {
                // SAFETY: 64 bytes behind the window are readable. The list has room for a newline
                // per byte and the six that are written in advance.
                unsafe {
                    let mut mask = positions_64::<V>(base.add(at), b'\n');
                    if stop - at < 64 {
                        mask &= (1 << (stop - at)) - 1;
                    }
                    let into = ends.as_mut_ptr().add(found);
                    write_positions(into, mask, at as u32);
                    found += mask.count_ones() as usize;
                }
                at += 64;
            }
            at = stop;
            for &end in &ends[..found] {
                let end = end as usize;
                // SAFETY: the row lies in the window, with 64 readable bytes on either side; a
                // value whose row is too short for it is bad, and its name is not looked at.
                unsafe {
                    let Found { tenths, bytes, bad } = N::backward(base.add(end));
                    if bad || end - start < bytes + 1 {
                        return false;
                    }
                    let (name, len) = (base.add(start), end - start - bytes);
                    let hash = hash::name::<C>(name, len);
                    good &= table.add::<V>(name, len, hash, tenths);
                }
                start = end + 1;
            }
        }
        good
    }
}

/// Writes the position of each set bit, `at` added; the first six are written whether they exist or
/// not, so that one branch decides for 64 bytes.
///
/// # Safety
/// `into` has room for as many as there are bits, and for at least six.
#[inline(always)]
unsafe fn write_positions(into: *mut u32, mut mask: u64, at: u32) {
    let found = (mask.count_ones() as usize).max(6);
    let mut i = 0;
    while i < 6 || i < found {
        // SAFETY: room for six and for all.
        unsafe { *into.add(i) = at.wrapping_add(mask.trailing_zeros()) };
        mask &= mask.wrapping_sub(1);
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use fathom_aggregate::parts::SLACK;

    use super::*;

    fn take(input: &str, parse: Parse, scan: Scan) -> Result<Vec<Partial>, Trouble> {
        let buffer = [&[b';'; SLACK], input.as_bytes(), &[b'\n'; SLACK]].concat();
        let window = Window::new(&buffer, SLACK, SLACK + input.len());
        let mut results = Vec::new();
        for level in Level::available() {
            let mut rows = Rows::new(Own::<Names>::new(), level, parse, scan);
            results.push(rows.take(&window).map(|()| rows.table.partials()));
        }
        let said: Vec<String> = results.iter().map(|result| format!("{result:?}")).collect();
        assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
        results.remove(0)
    }

    #[test]
    fn the_first_bad_row_is_found_whatever_it_is() {
        for bad in [
            "", "\r", "x", "x;", ";1.0", ";;1.0", "x;1", "x;1.00", "x;100.0", "x;+1.0", "x;1.0\r",
            "x;.5", "x;-.5", "x;a.b", "x;y;1.0", "x;1.0;2.0",
            "a name that is rather long and ends",
        ] {
            for (before, after) in [("", ""), ("a;1.0\nbc;-22.5\n", "d;3.0\n")] {
                let input = format!("{before}{bad}\n{after}");
                for &parse in Parse::ALL {
                    for &scan in Scan::ALL {
                        let Err(Trouble::Row(start)) = take(&input, parse, scan) else {
                            panic!("{input:?} was taken");
                        };
                        assert_eq!(start - SLACK, before.len());
                    }
                }
            }
        }
    }

    #[test]
    fn good_rows_are_taken_whatever_surrounds_the_window() {
        for input in ["", "a;1.0\n", "a;1.0\na;-1.0\nbc;99.9\n\u{e9};0.0\n-;-0.0\n"] {
            for &parse in Parse::ALL {
                for &scan in Scan::ALL {
                    let partials = take(input, parse, scan).unwrap();
                    let rows: u64 = partials.iter().map(|partial| partial.stats.count()).sum();
                    assert_eq!(rows as usize, input.lines().count());
                }
            }
        }
    }
}
