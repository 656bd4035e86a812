//! `O_DIRECT` by four threads, each with a buffer and a request of its own: the device always has some to go
//! on with. The next piece goes to the thread that is free.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill_direct};

const THREADS: usize = 4;

pub(super) const AHEAD: Simple<File> = Simple {
    meta: Meta {
        name: "direct-ahead",
        caveat: "from the device, also if the file is in memory; four threads, which add up as well",
        ..Meta::of(include_str!("ahead.rs"))
    },
    prepare: |workload| {
        let buffers = (0..THREADS).map(|_| workload.aligned());
        let mut buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        workload.direct(move |file, workload| {
            let next = AtomicU64::new(0);
            let read = |buffer: &mut [u8]| {
                let mut sum = Sum::default();
                loop {
                    let at = next.fetch_add(buffer.len() as u64, Ordering::Relaxed);
                    if at >= workload.bytes {
                        return Ok(sum);
                    }
                    let filled = fill_direct(file, buffer, at)?;
                    sum.add(&buffer[..filled]);
                }
            };
            thread::scope(|scope| {
                let start = |buffer| thread::Builder::new().spawn_scoped(scope, || read(buffer));
                let started = buffers.iter_mut().map(|buffer| start(&mut buffer[..]));
                let threads = started.collect::<io::Result<Vec<_>>>()?;
                let mut sums =
                    threads.into_iter().map(|thread| thread.join().expect("none panics"));
                sums.try_fold(Sum::default(), |all, sum: io::Result<Sum>| Ok(all.with(sum?)))
            })
        })
    },
};
