//! Your own functions as contenders, under `cargo bench`: measured in worker processes by the same
//! conductor, checked against each other's answers, with the same verdicts as everything in fathom.
//!
//! In `benches/words.rs`, with `harness = false` for it in the manifest:
//!
//! ```no_run
//! use fathom_bench::{Bench, main};
//!
//! fn words(bench: &mut Bench<'_>) {
//!     bench.inputs("count", "words", ["10", "1000"], |group, words| {
//!         let text = "word ".repeat(words.parse().unwrap());
//!         group.bytes(text.len());
//!         group.function("split", || text.split(' ').count());
//!         group.function("bytes", || 1 + text.bytes().filter(|byte| *byte == b' ').count());
//!     });
//! }
//!
//! main!(words);
//! ```
//!
//! A *group* is a case: its functions are compared with the first of them, which is also who is right.
//! A function may return whatever can be hashed; the hash is the check. `cargo bench -- FILTER…`
//! measures the functions whose `group/function` contains one of the words; `--save FILE`, `--baseline
//! FILE`, `--budget TIME`, `--format`, `--list` and `--test` as `--help` says.
//!
//! Definitions are run once in each process: to be listed, and in each worker up to the function that is
//! measured there. So what a group's closure prepares is nobody else's, and is not timed.
//!
//! Apart from that, a [`Recorder`] writes down what a program does to its map, for `fathom kv --trace`.
#![forbid(unsafe_code)]
// They panic where standard error is closed or full.
#![deny(clippy::print_stderr)]

mod define;
mod drive;
mod recorder;

/// What `docs/bench.md` shows compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/bench.md")]
struct Documented;

pub use crate::define::{Bench, Group};
pub use crate::drive::{Definition, run};
pub use crate::recorder::{Recorded, Recorder, TraceKey};

/// `main!(first, second);` makes the `main` of a bench of these functions.
#[macro_export]
macro_rules! main {
    ($($definition:path),+ $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::run(env!("CARGO_CRATE_NAME"), &[$($definition),+])
        }
    };
}
