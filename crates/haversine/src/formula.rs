//! The haversine formula, as the course writes it: the reference for every other computation.
//!
//! In doubles, rounded after every operation (no fused multiply-add), with the sine, cosine and
//! arcsine of the platform's C library: its last digits may move with that library.

use std::fmt;

/// Earth's radius the course uses, in kilometres.
pub const EARTH_RADIUS_KM: f64 = 6372.8;

/// The largest coordinate, in degrees, either sign: from here on the rounding of the angle itself is
/// worth more than the tolerance of the answers.
pub const MOST_DEGREES: f64 = 1e6;

/// The largest radius: half a circumference, 3.2 times as long, is still a double.
pub const MOST_RADIUS: f64 = 1e300;

/// Radians per degree, as the course's constant.
pub const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

/// Two points, in degrees: x is the longitude, y the latitude.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Pair {
    /// Longitude of the first point.
    pub x0: f64,
    /// Latitude of the first point.
    pub y0: f64,
    /// Longitude of the second point.
    pub x1: f64,
    /// Latitude of the second point.
    pub y1: f64,
}

impl Pair {
    /// From x0, y0, x1, y1.
    pub fn new([x0, y0, x1, y1]: [f64; 4]) -> Pair {
        Pair { x0, y0, x1, y1 }
    }
}

/// The members of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Longitude of the first point.
    X0,
    /// Latitude of the first point.
    Y0,
    /// Longitude of the second point.
    X1,
    /// Latitude of the second point.
    Y1,
}

impl Coordinate {
    /// In the order of [`Pair`]'s fields.
    pub const ALL: [Coordinate; 4] =
        [Coordinate::X0, Coordinate::Y0, Coordinate::X1, Coordinate::Y1];

    /// The key.
    pub fn name(self) -> &'static str {
        ["x0", "y0", "x1", "y1"][self as usize]
    }
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The great-circle distance of a pair on a sphere, in the unit of `radius`:
/// 2 · radius · asin √a with a = sin²(Δφ/2) + cos φ₀ · cos φ₁ · sin²(Δλ/2).
///
/// Coordinates beyond ±180 and ±90 degrees are taken as they are, up to [`MOST_DEGREES`]. Rounding
/// can push `a` above one for nearly antipodal points, and below zero for nearly equal ones beyond a
/// pole; it is clamped, so that the result is a number from 0 to π · `radius`. Of a coordinate that
/// is none, it is no number either.
///
/// ```
/// use fathom_haversine::{EARTH_RADIUS_KM, Pair, distance};
/// let quarter = distance(Pair::new([0.0, 0.0, 90.0, 0.0]), EARTH_RADIUS_KM);
/// assert!((quarter - EARTH_RADIUS_KM * std::f64::consts::FRAC_PI_2).abs() < 1e-11);
/// ```
pub fn distance(pair: Pair, radius: f64) -> f64 {
    let d_lat = RADIANS_PER_DEGREE * (pair.y1 - pair.y0);
    let d_lon = RADIANS_PER_DEGREE * (pair.x1 - pair.x0);
    let lat0 = RADIANS_PER_DEGREE * pair.y0;
    let lat1 = RADIANS_PER_DEGREE * pair.y1;
    let (sin_lat, sin_lon) = ((d_lat / 2.0).sin(), (d_lon / 2.0).sin());
    let a = sin_lat * sin_lat + lat0.cos() * lat1.cos() * (sin_lon * sin_lon);
    radius * (2.0 * a.clamp(0.0, 1.0).sqrt().asin())
}
