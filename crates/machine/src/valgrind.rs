//! Simulated counters, the client's side: says to Callgrind which region to count.
//!
//! Outside of Valgrind every call does nothing and costs about a nanosecond. Nothing here starts
//! Valgrind or reads its output: that is the measuring core's business.
//!
//! For a process that Callgrind runs with instrumentation and collection off at start:
//!
//! ```
//! use fathom_machine::valgrind;
//! let kernel = || std::hint::black_box((0..100u64).sum::<u64>());
//! valgrind::simulate(); // caches and branch predictors are modelled from here on, uncounted
//! kernel(); // they start cold
//! valgrind::toggle_counting();
//! let sum = kernel();
//! valgrind::toggle_counting();
//! valgrind::stop_simulating();
//! assert_eq!(sum, 4950);
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

/// Turns the model of caches and branch predictors on, cold; nothing is counted yet.
pub fn simulate() {
    request(0, [START_INSTRUMENTATION, 0, 0, 0, 0, 0]);
}

/// Starts counting, or stops it when it is on.
#[inline]
pub fn toggle_counting() {
    request(0, [TOGGLE_COLLECT, 0, 0, 0, 0, 0]);
}

/// Turns the model off: from here on the program runs several times faster.
pub fn stop_simulating() {
    request(0, [STOP_INSTRUMENTATION, 0, 0, 0, 0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_do_nothing_outside_of_valgrind() {
        assert!(!is_running());
        assert_eq!(request(7, [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]), 7);
        simulate();
        toggle_counting();
        stop_simulating();
    }
}
