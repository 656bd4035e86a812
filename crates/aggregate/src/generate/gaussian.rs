//! Gaussian deviations in tenths of a degree: σ = 10.0 degrees, rounded to one decimal.
//!
//! A rounded gaussian is a discrete distribution, P(k) = Φ((k + ½)/100) − Φ((k − ½)/100), so one
//! table lookup draws it exactly: Vose's alias method (M. Vose, "A linear algorithm for generating
//! random numbers with a given distribution", 1991). The table is made with additions,
//! multiplications and divisions only, which IEEE 754 defines to the last bit; `exp` and `ln` of
//! a mathematics library differ from system to system, and the files with them.
//!
//! Memory, 2,048 columns of 8 bytes (16 KiB):
//!
//! ```text
//! column c   | threshold u32 | own i16 | alias i16 |   draw own if rest < threshold, else alias
//! ```

/// The standard deviation, in tenths.
const SIGMA_TENTHS: f64 = 100.0;
/// Deviations beyond 8.5 σ (probability 2 · 10⁻¹⁷) are not drawn.
const REACH_TENTHS: i16 = 850;
const COLUMN_BITS: u32 = 11;
const COLUMNS: usize = 1 << COLUMN_BITS;
/// Each column holds this much probability; all of them together hold one.
const COLUMN_WEIGHT: u64 = 1 << 32;

/// The table of deviations.
#[derive(Clone, Debug)]
pub(super) struct Gaussian {
    columns: Box<[Column; COLUMNS]>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    threshold: u32,
    own: i16,
    alias: i16,
}

impl Gaussian {
    pub(super) fn new() -> Gaussian {
        let mut weights = weights();
        let mut columns = Box::new([Column { threshold: 0, own: 0, alias: 0 }; COLUMNS]);
        let outcome = |column: usize| column as i16 - REACH_TENTHS;
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) =
            (0..COLUMNS).partition(|&column| weights[column] < COLUMN_WEIGHT);
        // A poor column keeps its own weight and is topped up by a rich one.
        while let (Some(low), Some(&high)) = (poor.pop(), rich.last()) {
            let threshold = weights[low] as u32;
            columns[low] = Column { threshold, own: outcome(low), alias: outcome(high) };
            weights[high] -= COLUMN_WEIGHT - weights[low];
            if weights[high] < COLUMN_WEIGHT {
                poor.extend(rich.pop());
            }
        }
        // In integers the books balance: what is left is exactly full.
        for full in rich {
            debug_assert_eq!(weights[full], COLUMN_WEIGHT);
            columns[full] = Column { threshold: 0, own: outcome(full), alias: outcome(full) };
        }
        Gaussian { columns }
    }

    /// The deviation, in tenths, that 64 uniform bits (of which the upper 43 are used) stand for.
    #[inline]
    pub(super) fn draw(&self, bits: u64) -> i16 {
        let column = self.columns[(bits >> (64 - COLUMN_BITS)) as usize];
        let rest = (bits >> (32 - COLUMN_BITS)) as u32;
        if rest < column.threshold { column.own } else { column.alias }
    }
}

/// The probability of each column's outcome in units of 2⁻⁴³; they sum to exactly 2⁴³.
fn weights() -> [u64; COLUMNS] {
    let total = COLUMN_WEIGHT * COLUMNS as u64;
    let density = |x_tenths: f64| {
        let z = x_tenths / SIGMA_TENTHS;
        exp_of_minus(z * z / 2.0)
    };
    // Simpson's rule over one tenth; the error is of the order (1/100)⁴ / 2880.
    let mass =
        |k: f64| (density(k - 0.5) + 4.0 * density(k) + density(k + 0.5)) / (6.0 * SIGMA_TENTHS);
    // √(2π), the normalisation of the density.
    let scale = total as f64 / 2.506_628_274_631_000_5;
    let mut weights = [0; COLUMNS];
    for (column, weight) in weights.iter_mut().enumerate().take(2 * REACH_TENTHS as usize + 1) {
        *weight = (mass(column as f64 - f64::from(REACH_TENTHS)) * scale) as u64;
    }
    // What rounding down left over belongs to the most likely outcome: below 2⁻³² of it.
    weights[REACH_TENTHS as usize] += total - weights.iter().sum::<u64>();
    weights
}

/// e to the power −x for 0 ≤ x < 50: a Taylor series at x/1024, squared ten times.
fn exp_of_minus(x: f64) -> f64 {
    let small = x / 1024.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    for n in 1..12 {
        term *= -small / f64::from(n);
        sum += term;
    }
    (0..10).fold(sum, |power, _| power * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_random::Random;

    #[test]
    fn the_series_agrees_with_the_library() {
        for step in 0..400 {
            let x = f64::from(step) / 10.0;
            let relative = exp_of_minus(x) / (-x).exp() - 1.0;
            assert!(relative.abs() < 1e-11, "x = {x}: off by {relative:e}");
        }
    }

    #[test]
    fn columns_return_every_outcome_its_weight() {
        let gaussian = Gaussian::new();
        let mut returned = vec![0u64; COLUMNS];
        for column in gaussian.columns.iter() {
            let index = |outcome: i16| (outcome + REACH_TENTHS) as usize;
            returned[index(column.own)] += u64::from(column.threshold);
            returned[index(column.alias)] += COLUMN_WEIGHT - u64::from(column.threshold);
        }
        assert_eq!(returned, weights());
    }

    #[test]
    fn weights_are_symmetric_up_to_the_rounding() {
        let weights = weights();
        let middle = REACH_TENTHS as usize;
        for k in 1..=middle {
            assert!(weights[middle - k].abs_diff(weights[middle + k]) <= 1, "at {k}");
        }
    }

    #[test]
    fn draws_have_mean_zero_and_the_asked_deviation() {
        let gaussian = Gaussian::new();
        let mut random = Random::new(3);
        let count = 400_000;
        let (mut sum, mut squares) = (0f64, 0f64);
        for _ in 0..count {
            let deviation = f64::from(gaussian.draw(random.word()));
            sum += deviation;
            squares += deviation * deviation;
        }
        // Six standard errors: σ/√n for the mean, σ/√(2n) for the deviation.
        let n = f64::from(count);
        assert!((sum / n).abs() < 6.0 * SIGMA_TENTHS / n.sqrt());
        let deviation = (squares / n).sqrt();
        assert!((deviation - SIGMA_TENTHS).abs() < 6.0 * SIGMA_TENTHS / (2.0 * n).sqrt());
    }
}
