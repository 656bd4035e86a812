//! The hot loops, one file per level that is measured to deserve its own, behind safe doors.
//!
//! * [`distances`]: the formula over [`lanes`], the same bits on every level;
//! * [`read_pairs`]: elements that look like the one before. At AVX2 a kernel of its own; the
//!   other levels read them by [`Template::step`], which is what this file's caller does anyway
//!   with whatever the kernel does not take.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod distance;
mod lanes;

use fathom_machine::level::Level;

use crate::block::Block;
use crate::engine::Options;
use crate::formula::{Pair, distance};
use crate::template::Template;

/// Which sine, cosine and arcsine compute the distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigonometry {
    /// Own polynomials, several pairs at a time; the same bits on every level.
    #[default]
    Vector,
    /// The platform's C library: the course's formula to the last bit.
    Libm,
}

/// Reads elements that look like `template`, the first of whose numbers is at `at`, and adds them
/// to `pairs`; returns where the first number stands of the element it does not take.
pub(crate) fn read_pairs(
    level: Level,
    block: &Block,
    at: usize,
    template: &Template,
    pairs: &mut Vec<Pair>,
) -> usize {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_available() => {
            // SAFETY: the level is available.
            unsafe { avx2::read_pairs(block, at, template, pairs) }
        }
        _ => at,
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
        for (pair, own) in pairs.iter().zip(&plain) {
            let reference = distance(*pair, EARTH_RADIUS_KM);
            assert!((own - reference).abs() < 1e-8, "{pair:?}: {own} instead of {reference}");
        }
        for level in Level::available() {
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&computed(pairs, level)), bits(&plain), "{level}");
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
