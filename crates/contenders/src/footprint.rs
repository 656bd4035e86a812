//! How much memory something takes, counted in the allocator. Installs nothing: a program that
//! wants counts declares [`Allocator`](crate::alloc::Allocator) as its global allocator.

use crate::alloc::counter;

/// Bytes asked of the allocator by a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Bytes allocated and not freed when it ended.
    pub live: u64,
    /// The most there were at any moment.
    pub peak: u64,
}

/// Runs `work`; the count is `None` where the program has another global allocator.
///
/// Counts all threads. What was allocated before and is freed inside makes the count smaller.
/// Sizes are those asked for: the allocator's own rounding and tables are not in them.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Option<Counted>) {
    if !counter::is_installed() {
        return (work(), None);
    }
    counter::start();
    let done = work();
    let (live, peak) = counter::stop();
    let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    (done, Some(Counted { live: positive(live), peak: positive(peak) }))
}
