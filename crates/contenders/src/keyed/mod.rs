//! What the families of key-value structures share: keys, workload, the trait a structure fulfils,
//! and the loops that are timed. Holds no structure but the reference.
//!
//! ```text
//! a key has three forms             where                          who makes it
//! 1. bytes in a buffer, and a span  Keys: file, copies, prepared   load, drawn; prepared between processes
//! 2. Bytes (or u64): 16 bytes       Bench: entries, probes         Keys::strings, Keys::integers, once
//! 3. what the structure keeps       the contender's own type       its insert
//!
//! Keyed ─▶ Bench<K>: one operation, sampled ─▶ Batch<K>: a loop, called once ─▶ Structure<K>: a key
//! ```
//!
//! A contender names a type and says in five one-line functions how to insert, find, erase and walk
//! ([`structure::Structure`]). The loops over millions of keys are compiled once per type in
//! [`structure`] and called once per sample ([`structure::Batch`]); what an operation means is
//! written once, in [`bench`]. Hash functions are type parameters, so that they are inlined. What
//! threads may share implements `Structure` for a handle, whose clones the threads get.

pub(crate) mod bench;
mod drawn;
mod kernel;
pub mod keys;
pub mod latency;
pub(crate) mod load;
pub(crate) mod methods;
pub mod operation;
pub(crate) mod prepared;
pub mod reference;
mod shared;
pub mod step;
pub mod structure;
pub mod workload;
pub mod zipf;

use fathom_measure::family::{Absent, Reason};

/// The structures of C++ libraries, which no build has in it.
pub(crate) const CPP: Absent = Absent {
    name: "cpp-*",
    reason: Reason::Program(
        "cmake -S runners/cpp -B runners/cpp/build && cmake --build runners/cpp/build; fathom kv then \
         finds it, and fathom bench takes --worker runners/cpp/build/fathom-runner-cpp",
    ),
};

pub(crate) use kernel::prefetch;
pub use keys::{Bytes, Key, Keys, Text};
pub use operation::Operation;
pub use structure::{Abilities, Batch, Structure, Tally};
pub use workload::Keyed;
