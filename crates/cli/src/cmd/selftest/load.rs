//! What disturbs a measurement on purpose: threads that use the processors and the memory, until they are
//! dropped.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

/// Threads that behave somewhat like a compiler: bursts of work over a few megabytes, short pauses.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn start(threads: u32) -> anyhow::Result<Load> {
        let mut load = Load { stop: Arc::default(), threads: Vec::new() };
        for number in 0..threads {
            let stop = Arc::clone(&load.stop);
            let thread = std::thread::Builder::new();
            let thread = thread.spawn(move || disturb(&stop, u64::from(number)));
            load.threads.push(thread.context("cannot start a disturbing thread")?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A disturber that panicked disturbs no more; nothing of the result is its.
            let _ = thread.join();
        }
    }
}

fn disturb(stop: &AtomicBool, number: u64) {
    let mut random = fathom_measure::stats::Random::new(number);
    let mut memory = vec![1_u64; 1 << 19];
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..random.below(40) {
            let start = random.below(memory.len() / 2);
            for word in &mut memory[start..start + (1 << 18)] {
                *word = word.rotate_left(5) ^ 0x9e37;
            }
            black_box(&memory);
        }
        std::thread::sleep(Duration::from_micros(random.below(1500) as u64));
    }
}
