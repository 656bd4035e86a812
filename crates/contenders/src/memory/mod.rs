//! Moving bytes: fills, moves of every length and overlap, copies and reads per cache level, and the
//! latency of a read that waits for the one before.
//!
//! The first four rows are those of mORMot's table, in a buffer of 16 MiB; moves count the bytes moved
//! once, which is half of what STREAM counts. `copy`, `read` and `chase` take a size: half of a cache
//! shows that cache, several times the last one shows memory.

use fathom_measure::family::{Absent, Family};

mod contender;
#[allow(unsafe_code)] // vector code and string instructions; every block says what makes it sound
mod kernel;
mod reference;
mod workload;

pub use workload::{Area, Operation};

/// The family.
pub(crate) const FAMILY: Family<Area> = Family {
    name: "memory",
    source: include_str!("mod.rs"),
    reference: "std",
    contenders: &[
        &reference::STD,
        &contender::SCALAR,
        #[cfg(target_arch = "x86_64")]
        &contender::SSE2,
        #[cfg(target_arch = "x86_64")]
        &contender::AVX2,
        #[cfg(target_arch = "x86_64")]
        &contender::ERMS,
        #[cfg(target_arch = "aarch64")]
        &contender::NEON,
    ],
    absent: &[
        Absent::elsewhere("sse2", "x86_64"),
        Absent::elsewhere("avx2", "x86_64"),
        Absent::elsewhere("erms", "x86_64"),
        Absent::elsewhere("neon", "aarch64"),
    ],
    facts: &workload::FACTS,
};
