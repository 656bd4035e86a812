//! The same work on several threads at the same time: what a processor does when all its cores are at
//! it.
//!
//! Each thread has a contender of its own on the shared workload. Regions start and end together, at a
//! barrier, so the time is that of the slowest thread. Nothing is shared out: N threads do N times the
//! work.

use std::sync::Barrier;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::contender::{Preparation, Prepared, Unsupported};
use crate::digest::Digest;
use crate::meter::{Meter, Untimed};

/// Prepares on `threads` threads, hands what samples all of them to `then`, and ends the threads.
///
/// # Errors
/// A contender that cannot be prepared.
pub(crate) fn prepared<'w>(
    threads: usize,
    prepare: &(dyn Fn() -> Preparation<'w> + Sync),
    then: &mut dyn FnMut(Box<dyn Prepared + '_>),
) -> Result<(), Unsupported> {
    let first = prepare()?;
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..threads {
            let (ask, asked) = channel();
            let (answer, answers) = channel();
            let barrier = &barrier;
            let work = move || serve(prepare, barrier, &asked, &answer);
            let none = |error| Unsupported(format!("no thread can be started: {error}"));
            thread::Builder::new().spawn_scoped(scope, work).map_err(none)?;
            // The first answer says that it is ready, or that it never will be.
            answers.recv().map_err(|_| Unsupported("a thread could not prepare".to_owned()))?;
            others.push(Other { ask, answers });
        }
        then(Box::new(Parallel { first, others, barrier: &barrier }));
        Ok(())
    })
}

/// Ends the process, as one thread's panic does, where others would wait for it for ever.
struct Together;

impl Drop for Together {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::exit(PANICKED);
        }
    }
}

/// The exit code of a process whose main thread panicked.
const PANICKED: i32 = 101;

fn serve<'w>(
    prepare: &(dyn Fn() -> Preparation<'w> + Sync),
    barrier: &Barrier,
    asked: &Receiver<u64>,
    answer: &Sender<Digest>,
) {
    let Ok(mut prepared) = prepare() else { return };
    let mut meter = Gate { barrier, outer: &mut Untimed };
    let mut digest = Digest::default();
    while answer.send(digest).is_ok() {
        let Ok(iterations) = asked.recv() else { return };
        let _together = Together;
        digest = prepared.sample(iterations, &mut meter);
    }
}

struct Other {
    ask: Sender<u64>,
    answers: Receiver<Digest>,
}

struct Parallel<'a, 'w> {
    first: Box<dyn Prepared + 'w>,
    others: Vec<Other>,
    barrier: &'a Barrier,
}

impl Prepared for Parallel<'_, '_> {
    fn sample(&mut self, iterations: u64, meter: &mut dyn Meter) -> Digest {
        for other in &self.others {
            // A thread that is gone shows below, where its answer is missing.
            let _ = other.ask.send(iterations);
        }
        let mut gate = Gate { barrier: self.barrier, outer: meter };
        let _together = Together;
        let digest = self.first.sample(iterations, &mut gate);
        let agrees = |other: &Other| other.answers.recv() == Ok(digest);
        // An answer that differs must not look right.
        if self.others.iter().all(agrees) { digest } else { Digest(!digest.0) }
    }

    fn metrics(&mut self) -> Vec<crate::contender::Metric> {
        self.first.metrics()
    }
}

/// A meter whose regions start and end on all threads together.
struct Gate<'a> {
    barrier: &'a Barrier,
    outer: &'a mut dyn Meter,
}

impl Meter for Gate<'_> {
    fn start(&mut self) {
        self.barrier.wait();
        self.outer.start();
    }

    fn stop(&mut self) {
        self.barrier.wait();
        self.outer.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::contender::timed;

    #[test]
    fn every_thread_does_the_whole_work() {
        let runs = AtomicU64::new(0);
        let prepare = || -> Preparation<'_> {
            let run = |_: &u64| runs.fetch_add(1, Ordering::Relaxed);
            Ok(timed(&1, run, |_| Digest::of_u64(7)))
        };
        let mut sampled = 0;
        prepared(3, &prepare, &mut |mut all| {
            for _ in 0..2 {
                assert_eq!(all.sample(5, &mut Untimed), Digest::of_u64(7));
                sampled += 1;
            }
        })
        .unwrap();
        assert_eq!((sampled, runs.load(Ordering::Relaxed)), (2, 3 * 5 * 2));
    }

    #[test]
    fn a_thread_that_answers_otherwise_is_found_out() {
        let next = AtomicU64::new(0);
        let prepare = || -> Preparation<'_> {
            let mine = next.fetch_add(1, Ordering::Relaxed);
            Ok(timed(&1, move |_: &u64| mine, |mine| Digest::of_u64(*mine)))
        };
        let mut found = Digest::default();
        prepared(2, &prepare, &mut |mut all| found = all.sample(1, &mut Untimed)).unwrap();
        assert_ne!(found, Digest::of_u64(0));
    }

    /// The others waited for it, and the worker was said to hang.
    #[test]
    fn a_panic_of_one_thread_ends_the_process() {
        const ME: &str = "parallel::tests::a_panic_of_one_thread_ends_the_process";
        const THREAD: &str = "FATHOM_PANICKING_THREAD";
        let run_here = |panicking: String| {
            let next = AtomicU64::new(0);
            let prepare = || -> Preparation<'_> {
                let is_it = next.fetch_add(1, Ordering::Relaxed).to_string() == panicking;
                let run = move |_: &u64| assert!(!is_it, "planted");
                Ok(timed(&1, run, |()| Digest::default()))
            };
            prepared(3, &prepare, &mut |mut all| {
                all.sample(1, &mut Untimed);
            })
            .unwrap();
        };
        let inside = std::env::var(THREAD).map(run_here);
        assert!(inside.is_err(), "the process goes on");
        for panicking in ["0", "1"] {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap())
                .args([ME, "--exact"])
                .env(THREAD, panicking)
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let ended = (0..600).find_map(|_| {
                thread::sleep(std::time::Duration::from_millis(50));
                child.try_wait().unwrap()
            });
            let _ = child.kill();
            assert_eq!(ended.and_then(|status| status.code()), Some(PANICKED), "{panicking}");
        }
    }

    #[test]
    fn a_contender_that_does_not_take_part_says_so() {
        let prepare = || -> Preparation<'static> { Err(Unsupported::operation("x")) };
        assert!(prepared(2, &prepare, &mut |_| panic!("nothing to hand over")).is_err());
    }
}
