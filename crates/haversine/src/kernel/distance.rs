//! The haversine formula on registers of doubles, with own polynomials.
//!
//! The reference per pair, in plain words: two differences, two sines, two cosines, a square root
//! and an arcsine. The departures from it:
//! 1. Only squares of sines are needed, so sin² is one even polynomial, without signs; the half
//!    difference of longitudes, up to π, is folded to at most π/2 first.
//! 2. Latitudes are within ±π/2, so their cosine is one even polynomial, without range reduction.
//! 3. For a > ½ the distance is π/2 - asin √(1-a): arguments stay within √½, where the odd
//!    polynomial converges, and there is one square root.
//! 4. Rows beyond ±180 or ±90 degrees, and points so nearly antipodal that the arcsine is
//!    ill-conditioned (a > 1 - 2⁻²⁰, one pair in a million of random ones), go to the reference.
//!
//! The same operations in the same order on every level, so the same bits wherever a multiply-add is
//! fused: everywhere but at SSE2, which rounds it twice. Polynomials are
//! evaluated by Horner's rule: the arcsine's chain of 17 multiply-adds is long, but successive
//! groups of pairs overlap; splitting it into even and odd halves was measured and gained nothing.

use fathom_machine::simd::{Doubles, MOST_DOUBLES, Vector};

use crate::formula::{Pair, RADIANS_PER_DEGREE, distance};

// Coefficients, lowest power first, by the Remez exchange at 50 digits (docs/haversine.md has the
// program), each rounded to the nearest double.

/// sin²x / x² as a polynomial in x² on [0, π/2]; relative error 4.2e-17 before rounding.
const SINE_SQUARED: [f64; 10] = [
    1.0, -0.3333333333333302, 0.044444444444405345, -0.0031746031744111394, 0.00014109347394353498,
    -4.2755591274288535e-06, 9.396772018354623e-08, -1.565790404324125e-09, 2.0354499585467153e-11,
    -1.9316532332665207e-13,
];

/// cos x as a polynomial in x² on [0, π/2]; absolute error 3.9e-18 before rounding.
const COSINE: [f64; 9] = [
    1.0, -0.4999999999999997, 0.04166666666666389, -0.0013888888888773173, 2.4801587277443962e-05,
    -2.7557316393535954e-07, 2.087656196015147e-09, -1.1462904899784429e-11, 4.60900737682665e-14,
];

/// asin √z / √z as a polynomial in z on [0, ½]; relative error 9.8e-17 before rounding.
const ARCSINE: [f64; 18] = [
    0.9999999999999999, 0.16666666666679053, 0.07499999997401523, 0.04464285930065036,
    0.03038185009583577, 0.022374663902399096, 0.01730886338372764, 0.014500577274875063,
    0.0068381180800798445, 0.04034525928769159, -0.13986736988453569, 0.546907807316957,
    -1.4630580772945931, 2.9607593224210245, -4.264145656223591, 4.213991012335426,
    -2.5501994976148006, 0.7356926521659594,
];

/// Above this `a` the arcsine loses more than the tolerance in the reference itself.
const NEARLY_ANTIPODAL: f64 = 1.0 - 1.0 / (1u32 << 20) as f64;

/// Registers of pairs that are computed in step.
const TOGETHER: usize = 2;

/// Adds the distances of `pairs` to `distances`.
///
/// # Safety
/// The level of `V` is available.
#[inline(always)]
pub(super) unsafe fn distances_over<V: Vector>(
    pairs: &[Pair],
    radius: f64,
    distances: &mut Vec<f64>,
) {
    let before = distances.len();
    distances.reserve(pairs.len());
    let step = TOGETHER * V::Doubles::COUNT;
    let whole = pairs.len() - pairs.len() % step;
    for at in (0..whole).step_by(step) {
        // SAFETY: as many pairs as a step has begin at `at`; the room for their results was reserved. The
        // caller vouches for the level.
        let doubtful = unsafe {
            groups::<V::Doubles>(
                pairs.as_ptr().add(at),
                radius,
                distances.as_mut_ptr().add(before + at),
            )
        };
        if doubtful != 0 {
            for lane in (0..step).filter(|lane| doubtful >> lane & 1 == 1) {
                let value = distance(pairs[at + lane], radius);
                // SAFETY: within the room that was reserved.
                unsafe { distances.as_mut_ptr().add(before + at + lane).write(value) };
            }
        }
    }
    // SAFETY: so many were written.
    unsafe { distances.set_len(before + whole) };
    let rest = &pairs[whole..];
    if let Some(&last) = rest.last() {
        // In registers as well, so that a pair's bits do not depend on its place.
        let mut padded = [last; TOGETHER * MOST_DOUBLES];
        padded[..rest.len()].copy_from_slice(rest);
        let mut results = [0.0; TOGETHER * MOST_DOUBLES];
        // SAFETY: both arrays have as many elements as a step, at least; the caller vouches for the level.
        let doubtful =
            unsafe { groups::<V::Doubles>(padded.as_ptr(), radius, results.as_mut_ptr()) };
        distances.extend(rest.iter().zip(results).enumerate().map(|(lane, (&pair, result))| {
            if doubtful >> lane & 1 == 0 { result } else { distance(pair, radius) }
        }));
    }
}

/// Writes the distances of [`TOGETHER`] registers of pairs to `to`: a bit for each that must be computed
/// otherwise.
///
/// # Safety
/// So many pairs are readable at `from`, as many doubles writable at `to`, and the level of `L` is available.
#[inline(always)]
unsafe fn groups<L: Doubles>(from: *const Pair, radius: f64, to: *mut f64) -> u32 {
    // SAFETY: `Pair` is repr(C): four doubles each in the order of the columns. The caller vouches for all
    // else.
    unsafe {
        let columns = [0, 1].map(|k| from.add(k * L::COUNT).cast());
        let columns = [L::columns(columns[0]), L::columns(columns[1])];
        let (results, doubtful) = group(columns, radius);
        results[0].store(to);
        results[1].store(to.add(L::COUNT));
        doubtful[0] | doubtful[1] << L::COUNT
    }
}

/// The same expression of each of [`TOGETHER`] registers: in a closure, which lacks the level's features,
/// an operation would stay a call.
macro_rules! each {
    ($($name:ident in $all:expr),+ => $result:expr) => {{
        let ($($name,)+) = ($($all,)+);
        [
            { $(let $name = $name[0];)+ $result },
            { $(let $name = $name[1];)+ $result },
        ]
    }};
}

/// The distances of some registers of pairs, and a bit for each that must be computed otherwise.
///
/// # Safety
/// The level of `L` is available.
#[inline(always)]
unsafe fn group<L: Doubles>(
    columns: [[L; 4]; TOGETHER],
    radius: f64,
) -> ([L; TOGETHER], [u32; TOGETHER]) {
    // SAFETY: the caller vouches for the level.
    unsafe {
        let radians = L::splat(RADIANS_PER_DEGREE);
        let half = L::splat(RADIANS_PER_DEGREE / 2.0);
        let one = L::splat(1.0);
        let u_lat = each!(c in columns => {
            let d_lat = c[3].sub(c[1]).mul(half);
            d_lat.mul(d_lat)
        });
        let u_lon = each!(c in columns => {
            let d_lon = c[2].sub(c[0]).mul(half).abs();
            let d_lon = d_lon.min(L::splat(std::f64::consts::PI).sub(d_lon));
            d_lon.mul(d_lon)
        });
        let lat0 = each!(c in columns => c[1].mul(radians));
        let lat1 = each!(c in columns => c[3].mul(radians));
        let sine_lat = polynomial(&SINE_SQUARED, u_lat);
        let sine_lon = polynomial(&SINE_SQUARED, u_lon);
        let cosine0 = polynomial(&COSINE, each!(lat in lat0 => lat.mul(lat)));
        let cosine1 = polynomial(&COSINE, each!(lat in lat1 => lat.mul(lat)));
        // Not below zero: the polynomial's cosine of a pole, the least there is, is 1.1e-16 or more.
        let a = each!(
            sine_lat in sine_lat, u_lat in u_lat, sine_lon in sine_lon, u_lon in u_lon,
            cosine0 in cosine0, cosine1 in cosine1
            => cosine0.mul(cosine1).mul_add(sine_lon.mul(u_lon), sine_lat.mul(u_lat))
        );

        let z = each!(a in a => a.min(one.sub(a)));
        let angle = each!(factor in polynomial(&ARCSINE, z), z in z => factor.mul(z.sqrt()));
        let right = L::splat(std::f64::consts::FRAC_PI_2);
        let results = each!(a in a, angle in angle => {
            a.if_above(L::splat(0.5), right.sub(angle), angle).mul(L::splat(2.0 * radius))
        });

        let (x_limit, y_limit) = (L::splat(180.0), L::splat(90.0));
        let doubtful = each!(c in columns, a in a => {
            c[0].abs().beyond(x_limit)
                | c[2].abs().beyond(x_limit)
                | c[1].abs().beyond(y_limit)
                | c[3].abs().beyond(y_limit)
                | a.beyond(L::splat(NEARLY_ANTIPODAL))
        });
        (results, doubtful)
    }
}

/// Horner's rule, of all registers in step: a coefficient is loaded once, and each chain waits while the
/// other goes on.
///
/// # Safety
/// The level of `L` is available.
#[inline(always)]
unsafe fn polynomial<L: Doubles>(coefficients: &[f64], x: [L; TOGETHER]) -> [L; TOGETHER] {
    let (last, rest) = coefficients.split_last().expect("a polynomial has a coefficient");
    // SAFETY: the caller vouches for the level.
    unsafe {
        let mut sum = [L::splat(*last); TOGETHER];
        for &coefficient in rest.iter().rev() {
            let coefficient = L::splat(coefficient);
            sum = each!(sum in sum, x in x => sum.mul_add(x, coefficient));
        }
        sum
    }
}
