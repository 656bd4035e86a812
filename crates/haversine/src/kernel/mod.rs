//! The hot loops, one file per level that is measured to deserve its own, behind safe doors.
//!
//! * [`distances`]: the formula over [`lanes`], the same bits on every level but SSE2, which has no
//!   fused multiply-add;
//! * [`find_numbers`] and [`convert`]: elements that look like the one before. The scalar level reads
//!   them by [`Template::values`], number by number.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod convert;
mod distance;
mod find;
mod lanes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod narrow;

use std::ops::Range;

use fathom_machine::level::Level;

use crate::alike::{CURSORS, Cursor};
use crate::block::Block;
use crate::engine::Options;
use crate::formula::{Pair, distance};
use crate::template::Template;

/// Which sine, cosine and arcsine compute the distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigonometry {
    /// Own polynomials, several pairs at a time; the same bits on every level but SSE2, whose
    /// multiply-adds round twice.
    #[default]
    Vector,
    /// The platform's C library: the course's formula to the last bit.
    Libm,
}

/// Where a number is, in a block of less than 4 GiB.
///
/// ```text
/// bits 63…56 point, from the start │ 55…32 length in bytes │ 31…0 start
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent(u64);

impl Extent {
    /// A number without a known point, which no kernel converts: a point at the first byte is
    /// none. `None` when it does not fit.
    pub(crate) fn unusual(start: usize, bytes: usize) -> Option<Extent> {
        let start = u32::try_from(start).ok()?;
        (bytes < 1 << 24).then_some(Extent((bytes as u64) << 32 | u64::from(start)))
    }

    /// A start below 2³², and where the point is and the number ends, behind it.
    #[inline(always)]
    fn new(start: usize, point: u32, bytes: u32) -> Extent {
        Extent(u64::from(point) << 56 | u64::from(bytes) << 32 | start as u64)
    }

    pub(crate) fn start(self) -> usize {
        self.0 as u32 as usize
    }

    /// The point's place behind the start.
    #[inline(always)]
    fn point(self) -> usize {
        (self.0 >> 56) as usize
    }

    /// Bytes behind the point; some large number if it is the last one.
    #[inline(always)]
    fn decimals(self) -> u32 {
        let bytes = (self.0 >> 32) as u32 & 0xff_ffff;
        bytes.wrapping_sub((self.0 >> 56) as u32).wrapping_sub(1)
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start()..self.start() + (self.0 >> 32 & 0xff_ffff) as usize
    }
}

/// Whether this level has kernels for [`find_numbers`] and [`convert`].
pub(crate) fn finds_numbers(level: Level) -> bool {
    level != Level::Scalar && level.is_available()
}

/// Moves cursors over elements that look like `template`, all in turn, until one meets an element
/// not of the kernel's kind or has passed its end; then the others up to the same. Cursors grow no
/// vectors: they stop when full.
///
/// What is found is where numbers may be: that they are numbers, [`convert`] says.
pub(crate) fn find_numbers(
    level: Level,
    block: &Block,
    template: &Template,
    cursors: &mut [Cursor; CURSORS],
) {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the level is available.
            unsafe { avx2::find_numbers(block, template, cursors) }
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        _ => narrow::find_numbers(block, template, cursors),
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        _ => {}
    }
}

/// Converts the numbers of elements to pairs, up to the first that has one not of the kernel's
/// kind; returns how many were converted.
pub(crate) fn convert(
    level: Level,
    block: &Block,
    template: &Template,
    found: &[[Extent; 4]],
    pairs: &mut Vec<Pair>,
) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the level is available.
            unsafe { avx2::convert(block, template, found, pairs) }
        }
        _ => convert::convert(block, template, found, pairs),
    }
}

/// Adds the distances of `pairs` to `distances`.
pub(crate) fn distances(pairs: &[Pair], options: &Options, distances: &mut Vec<f64>) {
    let radius = options.radius;
    match (options.trigonometry, options.level) {
        (Trigonometry::Libm, _) => {
            distances.extend(pairs.iter().map(|&pair| distance(pair, radius)));
        }
        #[cfg(target_arch = "x86_64")]
        (Trigonometry::Vector, Level::Avx2) if options.level.is_available() => {
            // SAFETY: the level is available.
            unsafe { avx2::distances(pairs, radius, distances) }
        }
        #[cfg(target_arch = "x86_64")]
        (Trigonometry::Vector, Level::Sse2) => {
            // SAFETY: every x86-64 has SSE2.
            unsafe { distance::distances_over::<lanes::Two>(pairs, radius, distances) }
        }
        #[cfg(target_arch = "aarch64")]
        (Trigonometry::Vector, Level::Neon) if options.level.is_available() => {
            // SAFETY: the level is available.
            unsafe { distance::distances_over::<lanes::Two>(pairs, radius, distances) }
        }
        // SAFETY: plain doubles need no level.
        (Trigonometry::Vector, _) => unsafe {
            distance::distances_over::<f64>(pairs, radius, distances);
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::EARTH_RADIUS_KM;
    use crate::generate::{Method, Pairs};

    fn computed(pairs: &[Pair], level: Level) -> Vec<f64> {
        let mut distances_out = Vec::new();
        let options = Options { level, ..Options::default() };
        distances(pairs, &options, &mut distances_out);
        distances_out
    }

    fn check(pairs: &[Pair]) {
        let plain = computed(pairs, Level::Scalar);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        for level in Level::available() {
            let own = computed(pairs, level);
            if level != Level::Sse2 {
                assert_eq!(bits(&own), bits(&plain), "{level}");
            }
            for (pair, own) in pairs.iter().zip(&own) {
                let reference = distance(*pair, EARTH_RADIUS_KM);
                let is_near = (own - reference).abs() < 1e-8;
                assert!(is_near, "{level} {pair:?}: {own} instead of {reference}");
            }
        }
    }

    #[test]
    fn a_pairs_distance_does_not_depend_on_its_place() {
        let pairs: Vec<Pair> = Pairs::new(Method::Uniform, 7, 50).collect();
        for level in Level::available() {
            let all = computed(&pairs, level);
            for from in 0..5 {
                for to in from..pairs.len() {
                    assert_eq!(computed(&pairs[from..to], level), all[from..to], "{level}");
                }
            }
        }
    }

    #[test]
    fn distances_are_within_the_tolerance_and_the_same_on_every_level() {
        for method in [Method::Uniform, Method::Cluster] {
            let pairs: Vec<Pair> = Pairs::new(method, 5, 100_003).collect();
            check(&pairs);
        }
    }

    /// Equal points, poles, the date line, antipodes and their neighbourhoods, and what is out of
    /// range.
    #[test]
    fn distances_of_awkward_pairs() {
        let mut values = vec![0.0, -0.0, 1e-300, 1e-9, 45.0, 89.999_999_999, 90.0, 180.0, 91.0];
        values.extend([179.999_999_999, 1e-5, 33.333, 60.0, 180.000_001, 1e6]);
        values.extend(values.clone().into_iter().map(|v| -v));
        let mut pairs = Vec::new();
        for &x0 in &values {
            for &y0 in &values {
                for &x1 in &values {
                    for &y1 in &values {
                        pairs.push(Pair { x0, y0, x1, y1 });
                    }
                }
            }
        }
        for step in 0..4000 {
            // Towards the antipode of a point, by powers of two.
            let off = 100.0 * 0.5f64.powf(f64::from(step) / 80.0);
            pairs.push(Pair { x0: -120.5, y0: 33.25, x1: 59.5 - off, y1: -33.25 });
            pairs.push(Pair { x0: -120.5, y0: 33.25, x1: -120.5 + off, y1: 33.25 });
        }
        check(&pairs);
    }
}
