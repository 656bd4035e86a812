//! Simulated counters, the client's side: says to Callgrind which region to count.
//!
//! Outside of Valgrind every call does nothing and costs about a nanosecond. Nothing here starts
//! Valgrind or reads its output: that is the measuring core's business.
//!
//! ```
//! use fathom_machine::valgrind;
//! let kernel = || std::hint::black_box((0..100u64).sum::<u64>());
//! if valgrind::is_running() {
//!     valgrind::region(kernel, kernel);
//! } else {
//!     kernel();
//! }
//! ```

use crate::arch::client::request;

const RUNNING_ON_VALGRIND: u64 = 0x1001;
/// 'C', 'T' and a number.
const CALLGRIND: u64 = 0x4354_0000;
const TOGGLE_COLLECT: u64 = CALLGRIND + 2;
const START_INSTRUMENTATION: u64 = CALLGRIND + 4;
const STOP_INSTRUMENTATION: u64 = CALLGRIND + 5;

/// Whether this process runs under Valgrind.
pub fn is_running() -> bool {
    request(0, [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
}

/// Runs `warm` with the simulated caches on but uncounted (they start cold), then `counted` with
/// counting on. For a process that Callgrind runs with instrumentation and collection off at start.
pub fn region<T>(warm: impl FnOnce() -> T, counted: impl FnOnce() -> T) -> T {
    let tell = |code| request(0, [code, 0, 0, 0, 0, 0]);
    tell(START_INSTRUMENTATION);
    std::hint::black_box(warm());
    tell(TOGGLE_COLLECT);
    let answer = counted();
    tell(TOGGLE_COLLECT);
    tell(STOP_INSTRUMENTATION);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_do_nothing_outside_of_valgrind() {
        assert!(!is_running());
        assert_eq!(request(7, [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]), 7);
        assert_eq!(region(|| 1, || 2), 2);
    }
}
