//! Ctrl-C while measuring: the first one ends the measurement and shows what there is, the next one
//! ends the program. So does the first one if nobody sees it within a second, because the program
//! is busy with something else than waiting for a sample.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fathom_machine::os::ward::{SEEN, STOP};

static MEASURING: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt sets the flag that is returned.
pub(crate) fn measuring() -> &'static AtomicBool {
    MEASURING.store(true, Ordering::Relaxed);
    crate::output::handle_interrupts();
    &STOP
}

/// Whether the measurement takes this interrupt; if not, the program ends.
pub(crate) fn is_taken() -> bool {
    const PATIENCE: Duration = Duration::from_millis(800);
    /// `timeout` sends one to the process, and then one to its group.
    const ONE: Duration = Duration::from_millis(50);
    static FIRST: OnceLock<Instant> = OnceLock::new();
    if !MEASURING.load(Ordering::Relaxed) || STOP.swap(true, Ordering::Relaxed) {
        return FIRST.get().is_some_and(|first| first.elapsed() < ONE);
    }
    let _ = FIRST.set(Instant::now());
    let watch = || {
        std::thread::sleep(PATIENCE);
        if !SEEN.load(Ordering::Relaxed) {
            crate::output::abandon();
        }
    };
    std::thread::Builder::new().spawn(watch).is_ok()
}

/// Whether there was an interrupt.
pub(crate) fn happened() -> bool {
    STOP.load(Ordering::Relaxed)
}
