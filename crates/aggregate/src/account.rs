//! What the tables of all threads take, and the limit of it.
//!
//! A table asks before it grows, for the new memory beside the old; where that is refused it takes no
//! new keys any more, and the run ends behind the chunk in hand. Counted are tables, and what each key
//! will take in the result. The buffers of threads and the text of the result are not.
//!
//! Where tables are [spilled](crate::Options::spill) each has an account of its own that grants all that is asked for: whoever
//! has the table looks beforehand whether it fits, and empties it where it does not.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::error::Error;
use crate::kept::{Given, Order};
use crate::merge::{Partial, Stats};

/// What a key takes from the end of the tables to the result: a place in an order, and a group.
const BYTES_PER_RESULT: usize = 24 + size_of::<Partial>();

/// Memory that all threads share.
#[derive(Debug)]
pub(crate) struct Account {
    limit_bytes: Option<usize>,
    bytes: AtomicUsize,
    keys: AtomicUsize,
    exceeded: AtomicBool,
    /// Whether nothing is refused.
    grants: bool,
}

impl Account {
    pub(crate) fn new(limit_bytes: Option<usize>) -> Arc<Account> {
        Account::that(limit_bytes, false)
    }

    /// One that refuses nothing.
    pub(crate) fn granting(limit_bytes: usize) -> Arc<Account> {
        Account::that(Some(limit_bytes), true)
    }

    fn that(limit_bytes: Option<usize>, grants: bool) -> Arc<Account> {
        let (bytes, keys) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Account { limit_bytes, bytes, keys, exceeded: AtomicBool::new(false), grants })
    }

    /// Whether so much more is within the limit.
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        let sum = self.bytes.load(Relaxed).checked_add(bytes);
        self.limit_bytes.is_none_or(|limit| sum.is_some_and(|sum| sum <= limit))
    }

    /// Whether so much more may be taken for what can wait until the table is spilled: always where it is not.
    pub(crate) fn allows(&self, bytes: usize) -> bool {
        !self.grants || self.fits(bytes)
    }

    /// Starts anew with so much taken.
    pub(crate) fn reset(&self, bytes: usize) {
        self.bytes.store(bytes, Relaxed);
    }

    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.limit_bytes.is_some()
    }

    /// Takes so many bytes, unless they are too many: then the run will end, and nothing is taken.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        if self.grants {
            self.bytes.fetch_add(bytes, Relaxed);
            return true;
        }
        let fits = self.spare(bytes);
        if !fits {
            self.exceeded.store(true, Relaxed);
        }
        fits
    }

    /// The same for what the run can do without.
    pub(crate) fn spare(&self, bytes: usize) -> bool {
        let Some(limit_bytes) = self.limit_bytes else { return true };
        // Not added first and given back: others would meanwhile be refused what is there.
        let more = |before: usize| before.checked_add(bytes).filter(|&sum| sum <= limit_bytes);
        self.bytes.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Gives back what was taken.
    pub(crate) fn give(&self, bytes: usize) {
        if self.limit_bytes.is_some() {
            self.bytes.fetch_sub(bytes, Relaxed);
        }
    }

    /// Adds a value to what is known of a key, which is said to keep so many bytes more for it, unless they are too
    /// many; what it keeps is seen afterwards. While what threads keep becomes one list it is there twice.
    pub(crate) fn keep(&self, stats: &mut Stats, growth: usize, value: Given<'_>, at: Order) {
        let taken = stats.kept_bytes() + growth;
        if growth > 0 && !self.take(2 * growth) {
            return;
        }
        stats.take(value, at);
        let kept = stats.kept_bytes();
        match taken.cmp(&kept) {
            Ordering::Equal => {}
            Ordering::Greater => self.give(2 * (taken - kept)),
            // What does not fit ends the run.
            Ordering::Less => drop(self.take(2 * (kept - taken))),
        }
    }

    /// Says that a thread's tables have so many keys more.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`], if anything was refused.
    pub(crate) fn add_keys(&self, more: usize) -> Result<(), Error> {
        let Some(limit_bytes) = self.limit_bytes else { return Ok(()) };
        let keys = self.keys.fetch_add(more, Relaxed) + more;
        if !self.take(more * BYTES_PER_RESULT) || self.exceeded.load(Relaxed) {
            return Err(Error::MemoryLimit { limit_bytes, keys });
        }
        Ok(())
    }

    /// The error, with the keys of all threads once they have ended.
    pub(crate) fn recounted(&self, error: Error) -> Error {
        match error {
            Error::MemoryLimit { limit_bytes, .. } => {
                Error::MemoryLimit { limit_bytes, keys: self.keys.load(Relaxed) }
            }
            error => error,
        }
    }
}
