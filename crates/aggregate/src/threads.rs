//! Work that all threads share.

/// What `work` makes on each of so many threads, of which the calling one is the first; fewer where
/// no more can be started.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..threads).map_while(start).collect();
        let first = work();
        let ends = others.into_iter().map(std::thread::ScopedJoinHandle::join);
        let rest = ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(rest).collect()
    })
}
