//! Two threads and two buffers: one reads ahead while the other adds up. Worth a thread where
//! reading takes about as long as working.

use std::io::{self, Read};
use std::sync::mpsc;
use std::thread;

use fathom_measure::contender::{Meta, Simple};

use super::sum::Sum;
use super::workload::{File, fill};

pub(super) const OVERLAP: Simple<File> = Simple {
    meta: Meta {
        name: "overlap",
        caveat: "two threads, where the others have one",
        ..Meta::of(include_str!("overlap.rs"))
    },
    prepare: |workload| {
        let mut spare: Vec<Vec<u8>> = Vec::new();
        workload.timed(move |mut file, workload| {
            spare.resize_with(2, || vec![0; workload.buffer_bytes]);
            let (to_reader, empty) = mpsc::channel::<Vec<u8>>();
            let (to_adder, full) = mpsc::channel::<io::Result<(Vec<u8>, usize)>>();
            spare.drain(..).for_each(|buffer| to_reader.send(buffer).expect("it listens"));
            let mut sum = Sum::default();
            thread::scope(|scope| {
                let reader = thread::Builder::new().spawn_scoped(scope, move || {
                    while let Ok(mut buffer) = empty.recv() {
                        let filled = fill(&mut buffer, |room, _| file.read(room));
                        let is_last = !matches!(filled, Ok(filled) if filled == buffer.len());
                        let sent = to_adder.send(filled.map(|filled| (buffer, filled)));
                        if is_last || sent.is_err() {
                            break;
                        }
                    }
                    empty
                })?;
                for piece in full {
                    let (buffer, filled) = piece?;
                    sum.add(&buffer[..filled]);
                    // The reader's end of the channel lives until it is joined below.
                    let _ = to_reader.send(buffer);
                }
                spare.extend(reader.join().expect("the reader does not panic").try_iter());
                Ok(sum)
            })
        })
    },
};
