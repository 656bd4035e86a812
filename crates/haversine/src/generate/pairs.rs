//! The course's pairs: the same for the same method, seed and count.
//!
//! A described algorithm written anew; the random stream is Bob Jenkins' small noncryptographic
//! generator in its 64-bit form. Its steps depend on each other and cannot be skipped: the pairs are
//! drawn one after another, at some ten nanoseconds each.

use crate::formula::Pair;

/// Where the points lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Longitude and latitude uniform over their ranges.
    Uniform,
    /// About 64 rectangles one after another, uniform in each.
    Cluster,
}

impl Method {
    /// The word users and the course write.
    pub fn name(self) -> &'static str {
        match self {
            Method::Uniform => "uniform",
            Method::Cluster => "cluster",
        }
    }
}

/// The random stream: four words, one output per step.
#[derive(Clone, Debug)]
struct Random {
    a: u64,
    b: u64,
    c: u64,
    d: u64,
}

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random { a: 0xf1ea_5eed, b: seed, c: seed, d: seed };
        for _ in 0..20 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        let e = self.a.wrapping_sub(self.b.rotate_left(27));
        self.a = self.b ^ self.c.rotate_left(17);
        self.b = self.c.wrapping_add(self.d);
        self.c = self.d.wrapping_add(e);
        self.d = e.wrapping_add(self.a);
        self.d
    }

    /// Uniform in `low..=high`; the divisor 2⁶⁴ - 1 is 2⁶⁴ as a double.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        let t = self.next() as f64 / u64::MAX as f64;
        (1.0 - t) * low + t * high
    }

    /// Uniform in `centre` ± `radius`, each end clamped to ±`limit`.
    fn around(&mut self, centre: f64, radius: f64, limit: f64) -> f64 {
        let low = (centre - radius).max(-limit);
        let high = (centre + radius).min(limit);
        self.within(low, high)
    }
}

/// The pairs of one method, seed and count, in order.
///
/// ```
/// use fathom_haversine::generate::{Method, Pairs};
/// let first = Pairs::new(Method::Uniform, 1, 10).next().unwrap();
/// assert_eq!(format!("{:.16}", first.x0), "-28.4758627070003030");
/// ```
#[derive(Clone, Debug)]
pub struct Pairs {
    random: Random,
    method: Method,
    pub(super) left: u64,
    /// Pairs a rectangle still has, and pairs it has after its first.
    in_cluster: u64,
    per_cluster: u64,
    centre: (f64, f64),
    radius: (f64, f64),
}

impl Pairs {
    /// `count` pairs.
    pub fn new(method: Method, seed: u64, count: u64) -> Pairs {
        Pairs {
            random: Random::new(seed),
            method,
            left: count,
            in_cluster: 0,
            per_cluster: 1 + count / 64,
            centre: (0.0, 0.0),
            radius: (180.0, 90.0),
        }
    }

    fn start_cluster(&mut self) {
        let random = &mut self.random;
        self.centre = (random.within(-180.0, 180.0), random.within(-90.0, 90.0));
        self.radius = (random.within(0.0, 180.0), random.within(0.0, 90.0));
        self.in_cluster = self.per_cluster;
    }
}

impl Iterator for Pairs {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        self.left = self.left.checked_sub(1)?;
        if self.method == Method::Cluster {
            match self.in_cluster {
                0 => self.start_cluster(),
                _ => self.in_cluster -= 1,
            }
        }
        let (centre, radius) = (self.centre, self.radius);
        let x0 = self.random.around(centre.0, radius.0, 180.0);
        let y0 = self.random.around(centre.1, radius.1, 90.0);
        let x1 = self.random.around(centre.0, radius.0, 180.0);
        let y1 = self.random.around(centre.1, radius.1, 90.0);
        Some(Pair { x0, y0, x1, y1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{EARTH_RADIUS_KM, distance};

    #[test]
    fn the_random_stream_begins_as_the_courses() {
        let mut random = Random::new(1);
        let first: Vec<u64> = (0..4).map(|_| random.next()).collect();
        let known = [
            0x6bc0_209c_db0e_5b8d, 0x3435_5c91_300b_fbfa, 0xc586_5535_778d_562c,
            0x2592_e663_985a_2ec2,
        ];
        assert_eq!(first, known);
    }

    #[test]
    fn first_pairs_are_the_courses() {
        let shown = |method, count| {
            let pair = Pairs::new(method, 1, count).next().unwrap();
            let Pair { x0, y0, x1, y1 } = pair;
            let distance = distance(pair, EARTH_RADIUS_KM);
            format!("{x0:.16} {y0:.16} {x1:.16} {y1:.16}, {distance:.9}")
        };
        assert_eq!(
            shown(Method::Uniform, 10),
            "-28.4758627070003030 -53.2909380146807621 97.7691623680573230 \
             -63.5809022171602862, 6217.004065325"
        );
        assert_eq!(
            shown(Method::Cluster, 10),
            "41.3602346574607296 -47.2385657764659612 -30.5368554282607718 \
             -49.1168092107450320, 5129.673943572"
        );
    }
}
