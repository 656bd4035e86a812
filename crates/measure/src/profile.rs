//! Zones: where the time of a program goes, by the program's own account.
//!
//! A *zone* is a scope with a name. Entering and leaving one reads the cycle register and adds to
//! the calling thread's own table; threads share nothing. Zones nest, recurse, and may be entered
//! from any number of threads. A zone never waits, allocates only on a thread's first, and does
//! nothing until [`start`]; without the cargo feature `profile` it is a zero-sized value.
//!
//! ```text
//!   zone!("parse") ─▶ thread's table: tree of nodes (zone under zone) ─┐ per thread, no sharing
//!   start() … stop() ──────────────────────────────────────────────────┴▶ Report ─▶ text, tree,
//!                                                                        JSON, CSV, folded, trace
//! ```
//!
//! What the instrument itself costs is calibrated when the session stops, on the same path,
//! subtracted, and printed as a total. A zone entered millions of times for some nanoseconds each is
//! declared `sample = 64`: it is always counted, timed once in 64 on average at random, and reported
//! with an interval.
//!
//! ```
//! use fathom_measure::profile::{self, Options, zone};
//! profile::start(Options::default());
//! for block in 0..4u64 {
//!     let mut zone = zone!("sum");
//!     zone.bytes(8_000);
//!     std::hint::black_box((0..1000).fold(block, |sum, x| sum ^ x));
//! }
//! let report = profile::stop();
//! println!("{}", report.text());
//! # #[cfg(feature = "profile")]
//! assert_eq!(report.zones[0].hits, 4);
//! ```
//!
//! A whole program with zones is `examples/words.rs`, what they cost `examples/zone.rs`.
//!
//! An engine depends on this crate only for zones, behind a feature of its own, and has a shim of a
//! few lines for when that is off:
//!
//! ```text
//! [features]
//! profile = ["dep:fathom-measure", "fathom-measure/profile"]
//!
//! #[cfg(feature = "profile")]
//! pub(crate) use fathom_measure::profile::zone;
//! #[cfg(not(feature = "profile"))]
//! macro_rules! zone { ($($anything:tt)*) => { crate::NoZone }; }
//! #[cfg(not(feature = "profile"))]
//! pub(crate) struct NoZone;
//! #[cfg(not(feature = "profile"))]
//! impl NoZone { pub(crate) fn bytes(&mut self, _: u64) {} }
//! ```

#[cfg(any(feature = "profile", test))]
mod correct;
mod format;
#[cfg(any(feature = "profile", test))]
mod recorder;
mod report;
#[cfg(feature = "profile")]
mod session;

pub use report::{Cost, Interval, Report, Stack, TraceEvent, ZoneReport};

pub use crate::__zone as zone;

/// What a session records beside the table of zones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How many single entries to keep per thread for [`Report::trace`]; further ones are counted as
    /// dropped. 0 keeps none and costs nothing.
    pub trace_events: usize,
}

/// Starts a session: zones count from now on. A session already running is thrown away.
pub fn start(options: Options) {
    #[cfg(feature = "profile")]
    session::start(options);
    #[cfg(not(feature = "profile"))]
    let _ = options;
}

/// Ends the session and reports it; an empty report when none was running. Zones still open are not
/// in it. Takes a fraction of a millisecond, in which the instrument's own cost is measured.
pub fn stop() -> Report {
    #[cfg(feature = "profile")]
    return session::stop();
    #[cfg(not(feature = "profile"))]
    Report::default()
}

/// Whether zones are compiled in.
pub const COMPILED_IN: bool = cfg!(feature = "profile");

#[cfg(feature = "profile")]
pub use session::{Site, Zone};

/// A scope that is not measured: the feature `profile` is off.
#[cfg(not(feature = "profile"))]
#[derive(Debug)]
#[must_use = "a zone lasts as long as the value: bind it to a name"]
pub struct Zone;

#[cfg(not(feature = "profile"))]
impl Zone {
    /// Nothing.
    #[inline(always)]
    pub fn bytes(&mut self, _bytes: u64) {}
}

/// Enters a zone that lasts until the value is dropped:
/// `zone!("name")`, `zone!("name", sample = 64)` (count always, time one in 64),
/// `zone!("name", faults)` (count page faults too: a system call on each side, for outer zones; after
/// 64 entries one in 16 stands for all).
///
/// The name is a literal. Give it the bytes it worked on with [`Zone::bytes`].
#[cfg(feature = "profile")]
#[doc(hidden)]
#[macro_export]
macro_rules! __zone {
    ($name:literal) => {
        $crate::__zone!(@ $name, 1, false)
    };
    ($name:literal, sample = $every:literal) => {
        $crate::__zone!(@ $name, $every, false)
    };
    ($name:literal, faults) => {
        $crate::__zone!(@ $name, 1, true)
    };
    (@ $name:literal, $every:literal, $faults:literal) => {{
        static SITE: $crate::profile::Site = $crate::profile::Site::new($name, $every, $faults);
        $crate::profile::Zone::enter(&SITE)
    }};
}

/// A zone that is not there: the feature `profile` is off.
#[cfg(not(feature = "profile"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __zone {
    ($name:literal $($option:tt)*) => {
        $crate::profile::Zone
    };
}

#[cfg(all(test, not(feature = "profile")))]
mod tests {
    use super::*;

    #[test]
    fn compiled_out_a_zone_is_nothing() {
        let mut zone = zone!("nothing", sample = 8);
        zone.bytes(7);
        assert_eq!(size_of_val(&zone), 0);
        assert!(!std::mem::needs_drop::<Zone>());
        start(Options::default());
        assert_eq!(stop(), Report::default());
    }
}
