//! Ctrl-C while measuring: the first one ends the measurement and shows what there is, the next one
//! ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static MEASURING: AtomicBool = AtomicBool::new(false);
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on an interrupt sets the flag that is returned.
pub(crate) fn measuring() -> &'static AtomicBool {
    MEASURING.store(true, Ordering::Relaxed);
    crate::output::handle_interrupts();
    &STOP
}

/// Whether the measurement takes this interrupt; if not, the program ends.
pub(crate) fn is_taken() -> bool {
    MEASURING.load(Ordering::Relaxed) && !STOP.swap(true, Ordering::Relaxed)
}
