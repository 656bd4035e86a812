//! A thread's way to the disk: when its tables of a column have grown as large as they may, what they know is written
//! as one run in the order of the keys, and they begin anew.

use std::sync::{Arc, Mutex, PoisonError};

use super::codec;
use super::store::{Run, Spill, Store, Writer};
use crate::account::Account;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::merge::{Keep, Stats};
use crate::pool::{FEWEST_THREADS, Pool};
use crate::reference::Held;

/// What is known of one key, or of all together, may take so much however small the limit is.
pub(super) const LEAST_BYTES: usize = 4 << 20;

/// References ahead of the one in hand whose statistics are fetched.
const AHEAD: usize = 12;

/// What the tables of a run may take, and where what is more goes.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) account: Arc<Account>,
    lanes: Option<Lanes>,
    threads: usize,
    /// Of each column, once a thread had tables for it.
    pools: Mutex<Vec<Option<Arc<Pool>>>>,
}

#[derive(Debug)]
struct Lanes {
    store: Arc<Store>,
    limit_bytes: usize,
}

impl Memory {
    /// # Errors
    /// [`Error::Spill`] if nothing can be written there.
    pub(crate) fn new(
        limit_bytes: Option<usize>,
        spill: Option<&Spill>,
        threads: usize,
    ) -> Result<Memory, Error> {
        let pools = Mutex::default();
        let Some(spill) = spill else {
            return Ok(Memory { account: Account::new(limit_bytes), lanes: None, threads, pools });
        };
        let limit_bytes = limit_bytes.unwrap_or(usize::MAX);
        let lanes = Some(Lanes { store: Store::new(spill)?, limit_bytes });
        Ok(Memory { account: Account::new(None), lanes, threads, pools })
    }

    /// The pool of a column, if its tables may have one: where they are many, and neither limited nor with more than sums.
    pub(crate) fn pool(&self, column: usize, kernel: Kernel, keep: Keep) -> Option<Arc<Pool>> {
        let is_limited = self.account.is_limited() || self.spills();
        if self.threads < FEWEST_THREADS || is_limited || keep.is_more() {
            return None;
        }
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if pools.len() <= column {
            pools.resize_with(column + 1, || None);
        }
        let pool = || Arc::new(Pool::new(self.threads, kernel, keep));
        Some(Arc::clone(pools[column].get_or_insert_with(pool)))
    }

    /// The pools of all columns, of which no thread holds one any more.
    pub(crate) fn into_pools(self) -> impl Iterator<Item = Option<Pool>> {
        let pools = self.pools.into_inner().unwrap_or_else(PoisonError::into_inner);
        let own = |pool| Arc::into_inner(pool).expect("threads have let go of it");
        pools.into_iter().map(move |pool| pool.map(own))
    }

    /// The lane of a thread for one of so many columns, if there are any: each has its own share of the memory, so
    /// that none waits for another or is left with next to nothing.
    pub(crate) fn lane(&self, keep: Keep, columns: usize) -> Option<Lane> {
        let Lanes { store, limit_bytes } = self.lanes.as_ref()?;
        let tables = self.threads.max(1) * columns.max(1);
        let own_bytes = (limit_bytes / tables).max(store.least_bytes());
        Some(Lane {
            store: Arc::clone(store),
            account: Account::granting(own_bytes),
            own_bytes,
            most_bytes: (own_bytes / 2).max(LEAST_BYTES),
            keep,
            runs: Vec::new(),
            total: store.with_totals().then(Total::default),
            scale: 0,
            failed: None,
        })
    }

    /// Whether lanes are handed out.
    pub(crate) fn spills(&self) -> bool {
        self.lanes.is_some()
    }
}

/// What a thread wrote of a column.
#[derive(Debug)]
pub(crate) struct Lane {
    store: Arc<Store>,
    account: Arc<Account>,
    /// Its share of the limit.
    own_bytes: usize,
    /// Most that what is known of all keys together may take beside the tables.
    most_bytes: usize,
    keep: Keep,
    runs: Vec<Run>,
    total: Option<Total>,
    scale: u16,
    failed: Option<Error>,
}

impl Lane {
    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Writes what tables hold, which have to be emptied then. What fails is kept for [`Lane::check`].
    pub(crate) fn write(&mut self, held: Held<'_>) {
        if self.failed.is_none() {
            self.failed = self.try_write(held).err();
        }
        let total = self.total.as_ref().map_or(0, Total::weight);
        if self.failed.is_none() && total > self.most_bytes {
            self.failed = Some(Error::Total { most_bytes: self.most_bytes });
        }
        // Half stays for the tables, which would be written row by row otherwise.
        self.account.reset(total.min(self.own_bytes / 2));
    }

    fn try_write(&mut self, held: Held<'_>) -> Result<(), Error> {
        let references = held.sorted();
        let mut writer = Writer::new(&self.store);
        let mut short = [0; 16];
        for (at, reference) in references.iter().enumerate() {
            references.get(at + AHEAD).inspect(|ahead| held.prefetch(ahead));
            let stats = held.stats(reference);
            self.scale = self.scale.max(stats.scale());
            self.total.iter_mut().for_each(|total| total.push(stats.clone().into_owned()));
            let key = held.key(reference, &mut short);
            writer.push(key, |bytes| codec::write(bytes, &stats))?;
        }
        self.runs.push(writer.finish()?);
        Ok(())
    }

    /// # Errors
    /// What went wrong since it was asked last.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// What is known of all keys together, joined in halves, so that values that are kept are moved a few times only: at
/// place `n` are `2^n`.
#[derive(Debug, Default)]
struct Total(Vec<Option<Stats>>);

impl Total {
    fn push(&mut self, mut stats: Stats) {
        for level in &mut self.0 {
            match level.take() {
                Some(mut before) => {
                    before.merge(&stats);
                    stats = before;
                }
                None => {
                    *level = Some(stats);
                    return;
                }
            }
        }
        self.0.push(Some(stats));
    }

    fn weight(&self) -> usize {
        self.0.iter().flatten().map(Stats::kept_bytes).sum()
    }
}

/// What a run wrote to disk, in place of the groups of its columns. It goes when it is dropped.
#[derive(Debug)]
pub struct Spilled {
    /// For each column.
    pub(super) columns: Vec<Written>,
    pub(super) limit_bytes: usize,
    bytes: u64,
}

/// What was written of a column.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) runs: Vec<Run>,
    pub(super) keep: Keep,
}

/// What is said of a column without reading it.
pub(crate) struct About {
    pub(crate) scale: u16,
    pub(crate) total: Option<Box<Stats>>,
}

impl Spilled {
    /// What lanes wrote, for each column those of all threads.
    pub(crate) fn new(
        columns: Vec<Vec<Lane>>,
        limit_bytes: Option<usize>,
    ) -> (Spilled, Vec<About>) {
        let limit_bytes = limit_bytes.unwrap_or(usize::MAX);
        let first = columns.iter().flatten().next();
        let bytes = first.map_or(0, |lane| lane.store.bytes());
        let mut spilled = Spilled { columns: Vec::new(), limit_bytes, bytes };
        let mut about = Vec::new();
        for lanes in columns {
            let keep = lanes.first().map(|lane| lane.keep).unwrap_or_default();
            let scale = lanes.iter().map(|lane| lane.scale).max().unwrap_or(0);
            let wanted = lanes.iter().any(|lane| lane.total.is_some());
            let (mut runs, mut total) = (Vec::new(), wanted.then(|| Box::new(Stats::of_none())));
            for lane in lanes {
                runs.extend(lane.runs);
                for stats in lane.total.into_iter().flat_map(|total| total.0).flatten() {
                    total.iter_mut().for_each(|all| all.merge(&stats));
                }
            }
            about.push(About { scale, total });
            spilled.columns.push(Written { runs, keep });
        }
        (spilled, about)
    }

    /// Bytes that were written while the input was read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How often tables were written.
    pub fn runs(&self) -> usize {
        self.columns.iter().map(|column| column.runs.len()).sum()
    }
}
