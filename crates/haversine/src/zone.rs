//! Zones of the built-in profile, or nothing when the feature `profile` is off.

#[cfg(feature = "profile")]
pub(crate) use fathom_measure::profile::zone;

/// A zone that is not there.
#[cfg(not(feature = "profile"))]
macro_rules! zone {
    ($($anything:tt)*) => {
        $crate::zone::NoZone
    };
}

#[cfg(not(feature = "profile"))]
pub(crate) use zone;

/// A scope that is not measured.
#[cfg(not(feature = "profile"))]
pub(crate) struct NoZone;

#[cfg(not(feature = "profile"))]
impl NoZone {
    #[inline(always)]
    pub(crate) fn bytes(&mut self, _bytes: u64) {}
}
