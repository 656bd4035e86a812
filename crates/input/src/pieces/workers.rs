//! Threads that decode pieces, one each at a time.
//!
//! They read no source and wait for nobody but for the next piece, so they can be joined at any time.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::Limits;
use crate::{Compression, plain};

/// Fewer are not worth their while: whoever reads can decode as well.
const LEAST_WORKERS: usize = 2;

/// Bytes between two looks at whether anybody still wants them.
const STEP_BYTES: usize = 1 << 20;

/// What a piece decodes to: the first bytes of a buffer.
#[derive(Default)]
pub(super) struct Plain {
    pub(super) bytes: Vec<u8>,
    pub(super) end: usize,
    /// How many of them were read.
    pub(super) at: usize,
}

impl Plain {
    /// Hands out what was not read yet.
    pub(super) fn take(&mut self, into: &mut [u8]) -> usize {
        let left = &self.bytes[self.at..self.end];
        let read = left.len().min(into.len());
        into[..read].copy_from_slice(&left[..read]);
        self.at += read;
        read
    }
}

/// The right to some threads, of all those together that are counted.
pub(super) struct Claim {
    threads: usize,
    all: &'static AtomicUsize,
}

impl Claim {
    /// As many of those that are wanted as there may be if there are to be `most` of all.
    pub(super) fn of(
        all: &'static AtomicUsize,
        wanted: RangeInclusive<usize>,
        most: usize,
    ) -> Option<Claim> {
        let claimed = |before: usize| most.saturating_sub(before).min(*wanted.end());
        let counted =
            |before| Some(before + claimed(before)).filter(|_| claimed(before) >= *wanted.start());
        let before = all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted).ok()?;
        Some(Claim { threads: claimed(before), all })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.all.fetch_sub(self.threads, Ordering::Relaxed);
    }
}

struct Job {
    bytes: Arc<Vec<u8>>,
    plain_bytes: usize,
    into: Vec<u8>,
    done: Sender<Option<Plain>>,
}

pub(super) struct Workers {
    threads: Vec<JoinHandle<()>>,
    jobs: Option<Sender<Job>>,
    stopped: Arc<AtomicBool>,
    _claim: Claim,
}

impl Workers {
    /// As many as one may claim; None where that is too few.
    pub(super) fn hire(most: usize, compression: Compression, limits: &Limits) -> Option<Workers> {
        let claim = Claim::of(limits.workers, LEAST_WORKERS..=most, most)?;
        let (jobs, queue) = channel::<Job>();
        let (queue, stopped) = (Arc::new(Mutex::new(queue)), Arc::new(AtomicBool::new(false)));
        let most_plain = limits.most_plain_bytes;
        let start = |_| {
            let (queue, stopped) = (Arc::clone(&queue), Arc::clone(&stopped));
            let work = move || work(&queue, compression, most_plain, &stopped);
            Builder::new().name("decoder".to_owned()).spawn(work).ok()
        };
        let threads: Vec<_> = (0..claim.threads).map_while(start).collect();
        let workers = Workers { threads, jobs: Some(jobs), stopped, _claim: claim };
        (workers.count() >= LEAST_WORKERS).then_some(workers)
    }

    /// What can be upgraded as long as any of them runs.
    #[cfg(test)]
    pub(super) fn alive(&self) -> std::sync::Weak<AtomicBool> {
        Arc::downgrade(&self.stopped)
    }

    pub(super) fn count(&self) -> usize {
        self.threads.len()
    }

    /// Has a piece decoded into a buffer, to about so many bytes. What comes is None if it is no row of whole members or
    /// frames, or too large.
    pub(super) fn decode(
        &self,
        bytes: Arc<Vec<u8>>,
        plain_bytes: usize,
        into: Vec<u8>,
    ) -> Receiver<Option<Plain>> {
        let (done, plain) = channel();
        let job = Job { bytes, plain_bytes, into, done };
        // If nobody is left to take it, nothing comes.
        drop(self.jobs.as_ref().map(|jobs| jobs.send(job)));
        plain
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            // One that panicked has told whoever reads by sending nothing.
            drop(thread.join());
        }
    }
}

fn work(
    queue: &Mutex<Receiver<Job>>,
    compression: Compression,
    most_plain: usize,
    stopped: &AtomicBool,
) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
    while let Some(Job { bytes, plain_bytes, into, done }) = next() {
        let plain = decoded(compression, &bytes, plain_bytes, into, most_plain, stopped);
        // Who asked may have gone.
        drop(done.send(plain));
    }
}

fn decoded(
    compression: Compression,
    piece: &[u8],
    plain_bytes: usize,
    mut bytes: Vec<u8>,
    most_plain: usize,
    stopped: &AtomicBool,
) -> Option<Plain> {
    let mut decoder = plain::decoder_of_part(compression, piece).ok()?;
    let mut end = 0;
    loop {
        if end == bytes.len() {
            let room = (2 * end).max(plain_bytes + 1).min(most_plain);
            bytes.resize(room.max(bytes.len()), 0);
        }
        let room = bytes.len().min(end + STEP_BYTES);
        if room == end || stopped.load(Ordering::Relaxed) {
            return None;
        }
        match decoder.read(&mut bytes[end..room]).ok()? {
            0 => return Some(Plain { bytes, end, at: 0 }),
            read => end += read,
        }
    }
}
