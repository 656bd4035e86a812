//! The hot loops, one file per level that is measured to deserve its own, behind safe doors.
//!
//! * [`distances`]: the formula over registers of doubles, the same bits on every level but SSE2,
//!   which has no fused multiply-add;
//! * [`find_numbers`] and [`convert`]: elements that look like the one before. The scalar level reads
//!   them by [`Template::values`], number by number.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod convert;
mod distance;
mod find;

use std::ops::Range;

use distance::distances_over;
use fathom_machine::level::{Form, Here, Level, told};
use find::find_numbers_over;

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
    level.here() != Here::Scalar
}

/// The levels of the kernels, if `level` is asked for: what runs.
pub(crate) fn levels(level: Level, trigonometry: Trigonometry) -> String {
    let distances = match trigonometry {
        Trigonometry::Vector => distances_form(level).level,
        Trigonometry::Libm => Level::Scalar,
    };
    told([distances, find_form(level).level, convert_form(level).level])
}

fathom_machine::compile! {
    fn find_form(block: &Block, template: &Template, cursors: &mut [Cursor; CURSORS])
        = find_numbers_over<V>;
    scalar, sse2, avx2, avx512 falls to avx2, neon
}

fathom_machine::compile! {
    fn distances_form(pairs: &[Pair], radius: f64, distances: &mut Vec<f64>) = distances_over<V>;
    scalar, sse2, avx2, avx512, neon
}

type Convert = unsafe fn(&Block, &Template, &[[Extent; 4]], &mut Vec<Pair>) -> usize;

/// AVX2's multiply-adds, or integers.
fn convert_form(level: Level) -> Form<Convert> {
    match level.here() {
        Here::Scalar => Form { level: Level::Scalar, run: convert::convert },
        #[cfg(target_arch = "x86_64")]
        Here::Sse2 => Form { level: Level::Scalar, run: convert::convert },
        #[cfg(target_arch = "x86_64")]
        Here::Avx2 | Here::Avx512 => Form { level: Level::Avx2, run: avx2::convert },
        #[cfg(target_arch = "aarch64")]
        Here::Neon => Form { level: Level::Scalar, run: convert::convert },
    }
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
    // SAFETY: a form's level is available.
    unsafe { (find_form(level).run)(block, template, cursors) }
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
    // SAFETY: a form's level is available.
    unsafe { (convert_form(level).run)(block, template, found, pairs) }
}

/// Adds the distances of `pairs` to `distances`.
pub(crate) fn distances(pairs: &[Pair], options: &Options, distances: &mut Vec<f64>) {
    let radius = options.radius;
    match options.trigonometry {
        Trigonometry::Libm => distances.extend(pairs.iter().map(|&pair| distance(pair, radius))),
        // SAFETY: a form's level is available.
        Trigonometry::Vector => unsafe {
            (distances_form(options.level).run)(pairs, radius, distances);
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// By the angle between two vectors: no haversine, no arcsine.
    fn by_vectors(pair: Pair) -> f64 {
        let vector = |x: f64, y: f64| {
            let ((sin_x, cos_x), (sin_y, cos_y)) =
                (x.to_radians().sin_cos(), y.to_radians().sin_cos());
            [cos_y * cos_x, cos_y * sin_x, sin_y]
        };
        let (a, b) = (vector(pair.x0, pair.y0), vector(pair.x1, pair.y1));
        let length = |sign: f64| (0..3).map(|i| (a[i] + sign * b[i]).powi(2)).sum::<f64>().sqrt();
        2.0 * EARTH_RADIUS_KM * length(-1.0).atan2(length(1.0))
    }

    /// Every level, and the reference, are the angle between the points; at the root of a rounded
    /// square, where points are one or opposite, as near as that root can be.
    fn check_against_vectors(pairs: &[Pair]) {
        let reference = |pair: &Pair| distance(*pair, EARTH_RADIUS_KM);
        let by_level = Level::available().map(|level| (level.name(), computed(pairs, level)));
        let all = by_level.chain([("reference", pairs.iter().map(reference).collect())]);
        for (name, distances) in all {
            for (pair, own) in pairs.iter().zip(distances) {
                let expected = by_vectors(*pair);
                let cosine = (expected / EARTH_RADIUS_KM / 2.0).cos();
                let is_plain = pair.y0.abs() <= 90.0 && pair.y1.abs() <= 90.0 && cosine > 1e-3;
                let tolerance = if is_plain { 1e-8 } else { 1e-3 };
                let is_near = (own - expected).abs() < tolerance;
                assert!(is_near, "{name} {pair:?}: {own} instead of {expected}");
            }
        }
    }

    #[test]
    fn polar_and_antipodal_pairs_have_a_distance_on_every_level() {
        let mut latitudes = vec![0.0, 45.0, 100.0, 135.0, 270.0, 720.5];
        let mut near_pole = 90.0_f64;
        for _ in 0..5 {
            latitudes.extend([near_pole, 180.0 - near_pole]);
            near_pole = near_pole.next_down();
        }
        latitudes.extend((1..30).map(|i| 90.0 - f64::from(i) / 7.0));
        latitudes.extend((1..30).map(|i| 90.0 + f64::from(i) / 7.0));
        let mirrored: Vec<f64> = latitudes.iter().map(|latitude| -latitude).collect();
        latitudes.extend(mirrored);
        let mut pairs = Vec::new();
        for &y0 in &latitudes {
            for &y1 in &latitudes {
                for x1 in [0.0, 1e-13, 60.0, 180.0, 180.0_f64.next_down(), 360.0] {
                    pairs.push(Pair { x0: 0.0, y0, x1, y1 });
                }
            }
            // The same point over the pole, and the opposite one.
            pairs.push(Pair { x0: 12.5, y0, x1: -167.5, y1: 180.0 - y0 });
            pairs.push(Pair { x0: 12.5, y0, x1: -167.5, y1: -y0 });
        }
        check_against_vectors(&pairs);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_pair_has_the_distance_between_its_vectors(
            x in -1000.0..1000.0_f64, y in -1000.0..1000.0_f64,
            dx in -1e-3..1e-3_f64, dy in -1e-3..1e-3_f64,
            turn in 0..4_usize, scale in 0..18_i32,
        ) {
            let scale = 10_f64.powi(-scale);
            let (x1, y1) = (x + dx * scale, y + dy * scale);
            // Near it, over the pole, opposite, anywhere.
            let (x1, y1) = [(x1, y1), (x1 + 180.0, 180.0 - y1), (x1 + 180.0, -y1), (dy * 1e6, dx * 1e5)]
                [turn];
            check_against_vectors(&[Pair { x0: x, y0: y, x1, y1 }; 5]);
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
