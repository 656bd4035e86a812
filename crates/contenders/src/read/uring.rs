//! io_uring, eight reads on their way at a time by one thread, each into a buffer of its own: from the page
//! cache (`cached`) or past it (`direct`).

use std::fs;

use fathom_measure::contender::{Contender, Meta, Path, Preparation, Unsupported};

use super::ring::{self, Ring};
use super::sum::Sum;
use super::workload::File;

pub(super) struct Uring;

impl Contender<File> for Uring {
    fn meta(&self) -> Meta {
        Meta {
            name: "uring",
            hardware: Path::portable,
            caveat: "eight buffers, where most others have one; `direct` reads from the device, also if the file is in memory",
            ..Meta::of_crate("io-uring", "MIT OR Apache-2.0", include_str!("uring.rs"))
        }
    }

    fn absence(&self) -> Option<&'static str> {
        ring::refusal()
    }

    fn prepare<'w>(&self, workload: &'w File) -> Preparation<'w> {
        self.prepare_variant("cached", workload)
    }

    fn variants(&self) -> &'static [&'static str] {
        &["cached", "direct"]
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w File) -> Preparation<'w> {
        let ring = Ring::new(workload.buffer_bytes, workload.bytes);
        let mut ring = ring.map_err(|error| Unsupported(error.to_string()))?;
        let read = move |file: &fs::File, _: &File| {
            let mut sum = Sum::default();
            ring.read(file, |piece| sum.add(piece))?;
            Ok(sum)
        };
        match variant {
            "cached" => workload.timed(read),
            "direct" => workload.direct(read),
            _ => Err(Unsupported(format!("has no way {variant:?}"))),
        }
    }
}
