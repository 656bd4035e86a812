//! What stands around the timed region: started before it, stopped after it.
//!
//! A contender never reads a clock itself; it marks its region and the meter does the rest.

/// A stopwatch that a contender starts and stops around its timed region.
///
/// Several regions in one sample add up. Set-up, checks and clean-up stay outside.
pub trait Meter {
    /// The timed region begins.
    fn start(&mut self);
    /// The timed region ends.
    fn stop(&mut self);
}

/// A meter that reads no clock: for tests and checks, where only the answer counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Meter for Untimed {
    fn start(&mut self) {}
    fn stop(&mut self) {}
}
