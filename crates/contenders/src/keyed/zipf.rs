//! Zipf-distributed ranks: rank k with probability proportional to k^-theta. Draws no keys itself.
//!
//! Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
//! monotone discrete distributions", 1996): exact for every theta >= 0, constant time, no table.

/// Ranks 1 to `count`.
pub struct Zipf {
    theta: f64,
    low: f64,
    high: f64,
    squeeze: f64,
    count: f64,
}

impl Zipf {
    /// Ranks 1 to `count` (at least 1), skewed by `theta` (0: uniform; 0.99: YCSB's default).
    #[must_use]
    pub fn new(count: u64, theta: f64) -> Zipf {
        let mut zipf =
            Zipf { theta, low: 0.0, high: 0.0, squeeze: 0.0, count: count.max(1) as f64 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(zipf.count + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.integral(2.5) - 2.0_f64.powf(-theta));
        zipf
    }

    /// The next rank; `uniform` draws from [0, 1).
    pub fn rank(&self, mut uniform: impl FnMut() -> f64) -> u64 {
        loop {
            let u = self.high + uniform() * (self.low - self.high);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.count);
            let accept = k - x <= self.squeeze || u >= self.integral(k + 0.5) - k.powf(-self.theta);
            if accept {
                return k as u64;
            }
        }
    }

    /// H(x), the integral of x^-theta, up to a constant.
    fn integral(&self, x: f64) -> f64 {
        let exponent = 1.0 - self.theta;
        if exponent.abs() < 1e-9 { x.ln() } else { (x.powf(exponent) - 1.0) / exponent }
    }

    fn inverse(&self, y: f64) -> f64 {
        let exponent = 1.0 - self.theta;
        if exponent.abs() < 1e-9 {
            y.exp()
        } else {
            (1.0 + y * exponent).max(0.0).powf(1.0 / exponent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_random::Random;

    #[test]
    fn frequencies_follow_the_law() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.5] {
            let zipf = Zipf::new(10, theta);
            let mut random = Random::new(7);
            let draws = 100_000;
            let mut counts = [0_u32; 11];
            for _ in 0..draws {
                counts[zipf.rank(|| random.fraction()) as usize] += 1;
            }
            let norm: f64 = (1..=10).map(|k| f64::from(k).powf(-theta)).sum();
            for k in 1..=10_u32 {
                let expected = f64::from(k).powf(-theta) / norm;
                let found = f64::from(counts[k as usize]) / f64::from(draws);
                assert!((found - expected).abs() < 0.01, "{theta} {k}: {found} {expected}");
            }
        }
    }
}
