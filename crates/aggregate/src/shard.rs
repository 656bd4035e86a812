//! What one thread knows: its tables, and the records the hot loop left to the exact parser.
//!
//! Where its tables may be spilled they are, as soon as what comes next may outgrow their share of the memory: before
//! a piece of rows for the hot loop, before a key or a value for the exact parser.
//!
//! A shard takes whole rows. It does not read files, and it does not know where in a file its rows
//! stand: refused rows are handed out by their place in the window.

use std::sync::Arc;

use memchr::memchr_iter;

use crate::account::Account;
use crate::chunk::{PIECE_ROWS, Window};
use crate::error::{Error, Fault};
use crate::kept::{Given, Order};
use crate::kernel::{self, Kernel, Odd, Span};
use crate::line;
use crate::merge::{Keep, Stats};
use crate::number::Decimal;
use crate::pool::{Link, POOLED_KEYS, Part, Pool};
use crate::queue::Place;
use crate::reference::{BYTES_PER_REFERENCE, Held};
use crate::spill::Lane;
use crate::table::{BIAS, FOLD_ROWS, MOST_KEYS, Tables};
use crate::waiting::{self, Few, Grouped, Waiting};
use crate::wide::Wide;

const _: () = assert!(PIECE_ROWS < FOLD_ROWS, "a piece is taken between two folds");

/// Most rows, and bytes of short ones, of a piece where tables are spilled: new tables have room for as many keys.
const SPILLED_PIECE_ROWS: u64 = 16 << 10;

/// The state of one thread.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) tables: Tables,
    /// Keys with values that those two cannot hold, or without one.
    pub(crate) wide: Wide,
    /// Numbers that are not in it yet, where all are kept.
    waiting: Option<Waiting>,
    account: Arc<Account>,
    /// Where it is spilled.
    lane: Option<Lane>,
    /// Where its tables may be emptied into.
    link: Option<Link>,
    keep: Keep,
    kernel: Kernel,
    rows_since_fold: u64,
    odd: Odd,
    /// Records taken.
    pub(crate) records: u64,
    /// Lines with nothing on them.
    pub(crate) blank_lines: u64,
    /// Refused rows of the current window, as `(start, end)` in its buffer.
    pub(crate) refused: Vec<Refused>,
}

/// A row the exact parser refused.
#[derive(Debug)]
pub(crate) struct Refused {
    /// First byte of the row in the window's buffer.
    pub(crate) start: usize,
    /// Its newline.
    pub(crate) end: usize,
    /// Why, and where in the buffer.
    pub(crate) fault: Fault,
}

/// Records with numbers of few digits alone, which are added together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    keys: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
    orders: Vec<Order>,
    /// Of each column the values, in units of `10^-scale`.
    pub(crate) values: Vec<Vec<(i64, u16)>>,
}

impl Batch {
    /// Most records.
    pub(crate) const ROWS: usize = 64;

    pub(crate) fn new(columns: usize) -> Batch {
        Batch { values: vec![Vec::new(); columns], ..Batch::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where the key of the next record is put.
    pub(crate) fn next_key(&mut self) -> &mut Vec<u8> {
        self.keys.truncate(self.ends.last().copied().unwrap_or(0));
        &mut self.keys
    }

    /// Ends a record whose values have been put there.
    pub(crate) fn push(&mut self, at: Order) {
        self.ends.push(self.keys.len());
        self.orders.push(at);
    }

    fn key(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.keys[start..self.ends[row]]
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        self.orders.clear();
        self.values.iter_mut().for_each(Vec::clear);
    }
}

impl Shard {
    pub(crate) fn new(
        kernel: Kernel,
        keep: Keep,
        trust_hash: bool,
        account: &Arc<Account>,
    ) -> Shard {
        let hashes = kernel::hashes(kernel.level);
        Shard {
            tables: Tables::new(hashes, keep.squares, trust_hash, account),
            wide: Wide::new(),
            waiting: (keep.may_wait() && !account.is_limited()).then(Waiting::default),
            account: Arc::clone(account),
            lane: None,
            link: None,
            keep,
            kernel,
            rows_since_fold: 0,
            odd: Vec::new(),
            records: 0,
            blank_lines: 0,
            refused: Vec::new(),
        }
    }

    /// An empty one that is spilled by a lane, if there is one.
    pub(crate) fn spilled_by(mut self, lane: Option<Lane>) -> Shard {
        if let Some(lane) = lane {
            self.account = Arc::clone(lane.account());
            self.waiting = None;
            self.lane = Some(lane);
            self.empty();
        }
        self
    }

    /// An empty one whose tables may be emptied into a pool, if there is one.
    pub(crate) fn pooled(self, pool: Option<Arc<Pool>>) -> Shard {
        match pool {
            Some(pool) => Shard { wide: pool.wide(), link: Some(Link::new(pool)), ..self },
            None => self,
        }
    }

    /// What a part of a pool has.
    pub(crate) fn of_part(kernel: Kernel, keep: Keep, part: Part) -> Shard {
        let Part { tables, wide, .. } = part;
        Shard { tables, wide, ..Shard::new(kernel, keep, false, &Account::new(None)) }
    }

    /// Empties the tables, of which nothing was folded, into the pool.
    #[cold]
    fn pool(&mut self) -> Result<(), Error> {
        let held = Held { tables: &self.tables, wide: &self.wide };
        if let Some(link) = &mut self.link {
            link.take(held)?;
            if self.keys() > 4 * POOLED_KEYS {
                // They had grown beyond the caches.
                self.empty();
            } else {
                self.tables.clear();
                self.wide.clear();
                self.rows_since_fold = 0;
            }
        }
        Ok(())
    }

    /// Whether the tables were emptied so.
    #[cfg(test)]
    pub(crate) fn is_pooled(&self) -> bool {
        self.link.as_ref().is_some_and(Link::is_used)
    }

    /// Lets go of the pool; what is known goes there if anything did.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`].
    pub(crate) fn end_pool(&mut self) -> Result<(), Error> {
        let link = self.link.take().filter(Link::is_used);
        if let Some(mut link) = link
            && !self.tables.are_folded()
        {
            link.take(self.held())?;
            self.empty();
        }
        Ok(())
    }

    /// Whether it may be spilled.
    pub(crate) fn spills(&self) -> bool {
        self.lane.is_some()
    }

    /// What it wrote, once all it holds is written.
    ///
    /// # Errors
    /// [`Error::Spill`], [`Error::Total`].
    ///
    /// # Panics
    /// If it is not spilled.
    pub(crate) fn into_lane(mut self) -> Result<Lane, Error> {
        self.spill();
        let mut lane = self.lane.expect("it is spilled");
        lane.check().map(|()| lane)
    }

    /// Most rows of a piece of a window.
    pub(crate) fn piece_rows(&self) -> u64 {
        if self.spills() { SPILLED_PIECE_ROWS } else { PIECE_ROWS }
    }

    /// Makes room for the keys of a piece, if they are spilled.
    #[inline]
    pub(crate) fn make_way(&mut self, piece: &Window<'_>) {
        if self.spills() {
            let rows = &piece.buffer()[piece.from()..piece.to()];
            self.make_way_for(rows.len() / 2 + 1, rows);
        }
    }

    /// The same for rows, of which there are at most so many.
    fn make_way_for(&mut self, most: usize, rows: &[u8]) {
        let keys = self.keys();
        let fits = |more: usize| {
            let references = (keys + more) * BYTES_PER_REFERENCE;
            self.account.fits(self.tables.growth(more, rows.len()) + references)
        };
        if !fits(most) && keys > 0 && !fits(memchr_iter(b'\n', rows).count() + 1) {
            self.spill();
        }
    }

    /// Writes all that it holds to its lane.
    #[cold]
    fn spill(&mut self) {
        let held = Held { tables: &self.tables, wide: &self.wide };
        if self.keys() > 0
            && let Some(lane) = &mut self.lane
        {
            lane.write(held);
            self.empty();
        }
    }

    fn empty(&mut self) {
        let hashes = kernel::hashes(self.kernel.level);
        self.wide = self.wide.emptied();
        self.tables = Tables::new(hashes, self.keep.squares, false, &self.account);
        self.rows_since_fold = 0;
    }

    /// Takes every row of the window and returns how many lines it has. Rows that are no records
    /// are in `refused` afterwards. `place` is that of the window in the input.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`].
    pub(crate) fn take(&mut self, window: &Window<'_>, place: Place) -> Result<u64, Error> {
        self.refused.clear();
        let mut lines = 0;
        for piece in window.pieces(self.piece_rows()) {
            lines += if self.keep.is_more() {
                let mut rows = std::mem::take(&mut self.odd);
                let more = piece.each_row(&mut rows);
                self.enter(&Span::of(&piece), rows, more, place)?;
                more
            } else {
                self.make_way(&piece);
                self.take_piece(&Span::of(&piece), place)?
            };
        }
        Ok(lines)
    }

    /// The same for rows that others may change, of which there are no more than a piece may have. Nothing
    /// more than the hot loops know may be kept of values.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`].
    pub(crate) fn take_live(&mut self, span: &Span<'_>, place: Place) -> Result<u64, Error> {
        assert!(!self.keep.is_more() && !self.spills(), "rows are looked at more than once");
        self.refused.clear();
        self.take_piece(span, place)
    }

    fn take_piece(&mut self, span: &Span<'_>, place: Place) -> Result<u64, Error> {
        let mut odd = std::mem::take(&mut self.odd);
        let squares = self.keep.squares;
        let lines = kernel::run(self.kernel, span, &mut self.tables, squares, &mut odd);
        self.enter(span, odd, lines, place)?;
        Ok(lines)
    }

    /// Takes those rows of a piece that the hot loops did not, of so many lines.
    fn enter(
        &mut self,
        span: &Span<'_>,
        mut rows: Odd,
        lines: u64,
        place: Place,
    ) -> Result<(), Error> {
        let (blank, refused) = (self.blank_lines, self.refused.len());
        let mut copy = Vec::new();
        for (start, end) in rows.drain(..) {
            self.exact(span.bytes(start..end, &mut copy), start, place);
        }
        self.odd = rows;
        self.settle(lines)?;
        let left_out = self.blank_lines - blank + (self.refused.len() - refused) as u64;
        self.records += lines - left_out;
        self.refused.sort_unstable_by_key(|row| row.start);
        Ok(())
    }

    /// Says that the rows of a piece of a window have been added, however they were; before the next
    /// piece there is room for all of its rows.
    ///
    /// # Errors
    /// [`Error::TooManyKeys`], and what went wrong when it was spilled.
    pub(crate) fn settle(&mut self, rows: u64) -> Result<(), Error> {
        self.rows_since_fold += rows;
        assert!(rows <= PIECE_ROWS && self.rows_since_fold <= FOLD_ROWS);
        if self.rows_since_fold > FOLD_ROWS - PIECE_ROWS {
            if self.spills() && !self.account.fits(self.tables.fold_growth()) {
                self.spill();
            }
            self.tables.fold();
            self.rows_since_fold = 0;
        }
        if let Some(lane) = &mut self.lane {
            lane.check()?;
        }
        let keys = self.keys();
        if let Some(link) = &mut self.link
            && link.is_wanted(keys, rows)
            && !self.tables.are_folded()
        {
            return self.pool();
        }
        if self.tables.are_full() || self.wide.len() > MOST_KEYS {
            return Err(Error::TooManyKeys { most: MOST_KEYS });
        }
        Ok(())
    }

    /// Adds a record, to the table where the hot path would look for it.
    pub(crate) fn add(&mut self, key: &[u8], value: Given<'_>, at: Order) {
        if let Given::Number(number) = value
            && !self.keep.is_more()
            && let Some(tenths) = number.small().filter(|units| units.unsigned_abs() < BIAS as u128)
            && number.scale() == 1
        {
            if self.spills() {
                self.make_way_for(1, key);
            }
            return kernel::put(&mut self.tables, key, tenths as i32);
        }
        self.wide(key, Some((value, at)));
    }

    /// A row the hot path did not take: anything but a one-decimal value below 100. It starts at `start`.
    fn exact(&mut self, row: &[u8], start: usize, place: Place) {
        match line::record(row) {
            Ok(None) => self.blank_lines += 1,
            Ok(Some((key, value))) => {
                self.wide(key, Some((Given::Number(&value), place.order(start))));
            }
            Err(fault) => {
                let end = start + row.len();
                self.refused.push(Refused { start, end, fault: fault.from(start) });
            }
        }
    }

    /// A record without a value.
    pub(crate) fn add_missing(&mut self, key: &[u8]) {
        self.wide(key, None);
    }

    /// A record whose value the hot tables cannot hold, or without one.
    fn wide(&mut self, key: &[u8], value: Option<(Given<'_>, Order)>) {
        let hash = self.wide.hash(key);
        if self.waiting.is_some()
            && let Some((Given::Number(number), _)) = value
            && let Some(few) = waiting::few(number)
        {
            return self.wait(self.wide.find(hash, key), (hash, key), few);
        }
        self.hashed(hash, key, value);
    }

    /// Lets a number wait for the others of its key, whose group is a new one if there is none.
    #[inline]
    fn wait(&mut self, group: Option<usize>, (hash, key): (u64, &[u8]), number: Few) {
        let waiting = self.waiting.as_mut().expect("numbers wait");
        let group = group.unwrap_or_else(|| {
            let fits = self.wide.insert_key(hash, key, &self.account);
            assert!(fits, "there is no limit");
            self.wide.len() - 1
        });
        waiting.push(group, number);
        if waiting.is_full(self.wide.len()) {
            self.settle_waiting();
        }
    }

    fn hashed(&mut self, hash: u64, key: &[u8], value: Option<(Given<'_>, Order)>) {
        self.put(self.wide.find(hash, key), (hash, key), value);
    }

    /// Adds a record to the group of its key, which is a new one if there is none.
    fn put(
        &mut self,
        group: Option<usize>,
        (hash, key): (u64, &[u8]),
        value: Option<(Given<'_>, Order)>,
    ) {
        let Some(group) = group else {
            let mut stats = Stats::none(self.keep);
            match value {
                Some((value, at)) => stats.take(value, at),
                None => stats.add_missing(),
            }
            if self.spills() {
                let state = 2 * stats.kept_bytes();
                let references = (self.keys() + 1) * BYTES_PER_REFERENCE;
                if !self.account.fits(self.wide.growth(key.len()) + state + references) {
                    self.spill();
                }
            }
            // What does not fit ends the run, whose result is void.
            self.wide.insert(hash, key, stats, &self.account);
            return;
        };
        let spills = self.spills();
        let stats = self.wide.stats_mut(group);
        stats.make_room(self.keep);
        let Some((value, at)) = value else { return stats.add_missing() };
        if !self.account.is_limited() {
            return stats.take(value, at);
        }
        let growth = stats.growth(value);
        if growth > 0 && spills && !self.account.fits(2 * growth) {
            self.spill();
            // Its key is a new one now.
            return self.hashed(hash, key, Some((value, at)));
        }
        // What does not fit ends the run.
        self.account.keep(stats, growth, value, at);
    }

    /// Gives each key the numbers that wait for it.
    pub(crate) fn settle_waiting(&mut self) {
        let Some(waiting) = &mut self.waiting else { return };
        let (numbers, mut units) = (waiting.grouped(self.wide.len()), Vec::new());
        for group in 0..self.wide.len() {
            let numbers @ [_, ..] = numbers.of(group) else { continue };
            let stats = self.wide.stats_mut(group);
            stats.make_room(self.keep);
            stats.take_all(numbers, &mut units);
        }
    }

    /// The numbers that wait, by key; from now on none does.
    pub(crate) fn end_waiting(&mut self) -> Grouped {
        let groups = self.wide.len();
        self.waiting.take().map(|mut waiting| waiting.grouped(groups)).unwrap_or_default()
    }

    /// What references to its keys lead to.
    pub(crate) fn held(&self) -> Held<'_> {
        Held { tables: &self.tables, wide: &self.wide }
    }

    /// What is kept of values.
    pub(crate) fn keep(&self) -> Keep {
        self.keep
    }

    /// Adds the records of a batch with their values of a column.
    pub(crate) fn add_all(&mut self, batch: &Batch, column: usize) {
        let rows = batch.len();
        let mut hashes = [0; Batch::ROWS];
        let hashes = &mut hashes[..rows];
        for (row, hash) in hashes.iter_mut().enumerate() {
            *hash = self.wide.hash(batch.key(row));
            self.wide.prefetch_slot(*hash);
        }
        let mut groups = [None; Batch::ROWS];
        for (hash, group) in hashes.iter().zip(&mut groups) {
            *group = self.wide.prefetch_group(*hash, self.waiting.is_none());
        }
        groups.iter().flatten().for_each(|&group| self.wide.prefetch_key(group));
        if self.waiting.is_some() {
            for (row, (&hash, &group)) in hashes.iter().zip(&groups).enumerate() {
                let key = batch.key(row);
                let group = self.wide.find_from(group, hash, key);
                self.wait(group, (hash, key), batch.values[column][row]);
            }
            return;
        }
        if self.keep.is_more() || self.keep.squares {
            let stats = || groups.iter().flatten().map(|&group| self.wide.stats(group));
            stats().for_each(Stats::prefetch_kept);
            stats().for_each(Stats::prefetch_values);
        }
        for (row, (&hash, &group)) in hashes.iter().zip(&groups).enumerate() {
            let (key, few @ (units, scale)) = (batch.key(row), batch.values[column][row]);
            let group = self.wide.find_from(group, hash, key);
            if group.is_some_and(|group| self.wide.stats_mut(group).take_short(few)) {
                continue;
            }
            let number = Decimal::new(units.into(), scale);
            self.put(group, (hash, key), Some((Given::Number(&number), batch.orders[row])));
        }
    }

    /// Keys held, a key of two tables counted twice.
    pub(crate) fn keys(&self) -> usize {
        self.tables.keys() + self.wide.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use fathom_machine::level::Level;
    use fathom_random::Random;

    use super::*;
    use crate::chunk::SLACK;
    use crate::gather::gather;
    use crate::kept::Datum;
    use crate::merge::Partial;

    fn shard(squares: bool) -> Shard {
        let keep = Keep { squares, ..Keep::default() };
        Shard::new(Kernel { level: Level::best() }, keep, false, &Account::new(None))
    }

    #[test]
    fn a_window_of_more_rows_of_one_key_than_their_packed_sum_holds_is_right() {
        let rows = FOLD_ROWS as usize + 1000;
        let text = [vec![0; SLACK], b"a;99.9\n".repeat(rows), vec![0; SLACK]].concat();
        let mut shard = shard(true);
        let taken = shard.take(&Window::new(&text, SLACK, text.len() - SLACK), Place::FIRST);
        assert_eq!(taken.unwrap(), rows as u64);
        let groups = shard.into_run().partials();
        let expected = Decimal::new(999 * rows as i128, 1);
        assert_eq!((groups[0].stats.count(), groups[0].stats.sum()), (rows as u64, expected));
        assert_eq!(groups[0].stats.variance().map(|(numerator, _)| numerator), Some(0_u32.into()));
    }

    #[test]
    fn the_first_number_of_a_key_that_had_none_is_its_least_and_its_most() {
        for (units, scale) in [(5, 0), (-17, 1), (12_345, 3)] {
            let mut shard = shard(false);
            shard.add_missing(b"key");
            let mut batch = Batch::new(1);
            for _ in 0..2 {
                batch.next_key().extend_from_slice(b"key");
                batch.values[0].push((units, scale));
                batch.push(Order::LAST);
            }
            shard.add_all(&batch, 0);
            let groups = shard.into_run().partials();
            let (stats, number) = (&groups[0].stats, Decimal::new(units.into(), scale));
            assert_eq!((stats.count(), stats.rows()), (2, 3));
            assert_eq!([stats.min(), stats.max()], [Some(number.clone()), Some(number.clone())]);
            assert_eq!(stats.sum(), number.times(2));
        }
    }

    /// What came, by key: each different number with how often, and how many records without one.
    #[derive(Default)]
    struct Came {
        numbers: BTreeMap<Decimal, u64>,
        missing: u64,
    }

    /// Of two threads, which take turns; None if memory does not suffice.
    fn gathered(keys: u64, limit: Option<usize>) -> Option<(Vec<Partial>, HashMap<String, Came>)> {
        let account = Account::new(limit);
        let keep = Keep { values: true, squares: true, ..Keep::default() };
        let kernel = Kernel { level: Level::best() };
        let mut shards = [0, 1].map(|_| Shard::new(kernel, keep, false, &account));
        let (mut came, mut random) = (HashMap::<String, Came>::new(), Random::new(keys));
        for record in 0..400_000 {
            let name = format!("key {}", random.below(keys));
            let of = came.entry(name.clone()).or_default();
            let number = match random.below(100_000) {
                // Neither fits 64 bits at the scale of the other.
                0..2 => Some(Decimal::new(i64::MIN.into(), 0)),
                2..4 => Some(Decimal::new(1, 18)),
                4..104 => None,
                _ => {
                    let units = i128::from(random.below(300)) - 150;
                    Some(Decimal::new(units, random.below(3) as u16))
                }
            };
            let shard = &mut shards[record % 2];
            match number {
                Some(number) => {
                    shard.add(name.as_bytes(), Given::Number(&number), Order::LAST);
                    *of.numbers.entry(number).or_default() += 1;
                }
                None => {
                    shard.add_missing(name.as_bytes());
                    of.missing += 1;
                }
            }
        }
        account.add_keys(0).ok()?;
        Some((gather(shards.into_iter().map(Shard::into_run).collect(), 2), came))
    }

    #[test]
    fn numbers_that_waited_are_those_that_came() {
        // Few keys take their numbers in their threads, many when those are gathered, or whenever there are
        // several for each; and where memory has a limit, none waits.
        let enough = Some(100 << 20);
        for (keys, limit) in
            [(3, None), (3, enough), (20_000, None), (100_000, None), (100_000, enough)]
        {
            let (groups, came) = gathered(keys, limit).expect("memory suffices");
            assert_eq!(groups.len(), came.len());
            for Partial { key, stats } in groups {
                let Came { numbers, missing } = &came[std::str::from_utf8(&key).unwrap()];
                let count: u64 = numbers.values().sum();
                assert_eq!((stats.count(), stats.rows()), (count, count + missing), "{key:?}");
                let counted = stats.values().map_or(Vec::new(), |values| values.counted());
                let expected = numbers.iter().map(|(n, &count)| (Datum::Number(n.clone()), count));
                assert_eq!(counted, expected.collect::<Vec<_>>(), "{key:?} of {keys}");
                let parts = || numbers.iter().map(|(number, count)| number.times(*count));
                let sum = parts().fold(Decimal::new(0, 0), |sum, part| sum.plus(&part));
                assert_eq!(stats.sum(), sum, "{key:?} of {keys}");
                let parts = numbers.iter().map(|(n, count)| n.times_decimal(n).times(*count));
                let squares = parts.fold(Decimal::new(0, 0), |sum, part| sum.plus(&part));
                let found = stats.squares().map(|found| Decimal::of_big(found, 2 * stats.scale()));
                assert_eq!(found, (count > 0).then_some(squares), "{key:?} of {keys}");
                let extremes = [numbers.keys().next().cloned(), numbers.keys().last().cloned()];
                assert_eq!([stats.min(), stats.max()], extremes, "{key:?} of {keys}");
            }
        }
        assert!(gathered(100_000, Some(1 << 20)).is_none());
    }
}
