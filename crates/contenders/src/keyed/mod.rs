//! What the families of key-value structures share: keys, workload, the traits a structure fulfils,
//! and the loops that are timed. Holds no structure but the reference.
//!
//! ```text
//! file or seed -> Keys -> Keyed (entries, values, probe copies, misses)
//!                            |
//!     contender: type Map -> Structure<K> -> Batch<K> -> Bench<K>: one operation, sampled
//! ```
//!
//! A contender names a type and says in five one-line functions how to insert, find, erase and walk
//! ([`structure::Structure`]). The loops over millions of keys are compiled once per type in
//! [`structure`] and called once per sample ([`structure::Batch`]); what an operation means is
//! written once, in [`operation`]. Hash functions are type parameters, so that they are inlined.

mod drawn;
mod kernel;
pub mod keys;
pub mod latency;
pub(crate) mod load;
pub(crate) mod methods;
pub mod operation;
pub(crate) mod prepared;
pub mod reference;
pub mod shared;
pub mod structure;
pub mod workload;
pub mod zipf;

use fathom_measure::family::Absent;

/// The structures of C++ libraries, which no build has in it.
pub(crate) const CPP: Absent = Absent {
    name: "cpp-*",
    reason: "an outside worker: cmake -S runners/cpp -B runners/cpp/build && \
             cmake --build runners/cpp/build; fathom kv then finds it, and fathom bench takes \
             --worker runners/cpp/build/fathom-runner-cpp",
};

pub(crate) use kernel::prefetch;
pub use keys::{Bytes, Key, Keys, Text};
pub use structure::{Abilities, Batch, Structure, Tally};
pub use workload::{Keyed, Operation};
