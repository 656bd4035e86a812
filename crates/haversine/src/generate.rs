//! The course's generator of test files: the same bytes and the same answers for the same method,
//! seed and count.
//!
//! Knows nothing of how the files are read. A described algorithm written anew; the random stream
//! is Bob Jenkins' small noncryptographic generator in its 64-bit form.

use std::io::{self, Write};

use crate::formula::{EARTH_RADIUS_KM, Pair, distance};

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

/// How numbers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// As the course does: sixteen decimals, which drops bits of values below a half.
    Course,
    /// The fewest digits that read back as the same double.
    Shortest,
}

/// More pairs than the course's generator accepts.
pub const PAIRS_LIMIT: u64 = 1 << 34;

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
    left: u64,
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
        let (centre, radius, random) = (self.centre, self.radius, &mut self.random);
        let mut x = || random.around(centre.0, radius.0, 180.0);
        let x0 = x();
        let y0 = self.random.around(centre.1, radius.1, 90.0);
        let x1 = self.random.around(centre.0, radius.0, 180.0);
        let y1 = self.random.around(centre.1, radius.1, 90.0);
        Some(Pair { x0, y0, x1, y1 })
    }
}

/// Writes a file of `count` pairs to `json` and, if asked, its distances and their mean to
/// `answers` (see [`crate::answers`]); returns that mean, the course's "Expected sum".
///
/// # Errors
/// What the outputs answer; `InvalidInput` when `count` is not below [`PAIRS_LIMIT`].
pub fn write(
    pairs: Pairs,
    numbers: Numbers,
    json: &mut dyn Write,
    mut answers: Option<&mut dyn Write>,
) -> io::Result<f64> {
    let count = pairs.left;
    if count >= PAIRS_LIMIT {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "there must be fewer than 2^34 pairs",
        ));
    }
    let weight = 1.0 / count as f64;
    let mut mean = 0.0;
    json.write_all(b"{\"pairs\":[\n")?;
    for (i, pair) in pairs.enumerate() {
        let end = if i as u64 + 1 == count { "\n" } else { ",\n" };
        let Pair { x0, y0, x1, y1 } = pair;
        match numbers {
            Numbers::Course => write!(
                json,
                "    {{\"x0\":{x0:.16}, \"y0\":{y0:.16}, \"x1\":{x1:.16}, \"y1\":{y1:.16}}}{end}"
            )?,
            Numbers::Shortest => {
                write!(json, "    {{\"x0\":{x0}, \"y0\":{y0}, \"x1\":{x1}, \"y1\":{y1}}}{end}")?;
            }
        }
        let distance = distance(pair, EARTH_RADIUS_KM);
        mean += weight * distance;
        if let Some(answers) = &mut answers {
            answers.write_all(&distance.to_le_bytes())?;
        }
    }
    json.write_all(b"]}\n")?;
    if let Some(answers) = answers {
        answers.write_all(&mean.to_le_bytes())?;
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_stream_begins_as_the_courses() {
        let mut random = Random::new(1);
        let first: Vec<u64> = (0..4).map(|_| random.next()).collect();
        let known = [
            0x6bc0_209c_db0e_5b8d,
            0x3435_5c91_300b_fbfa,
            0xc586_5535_778d_562c,
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
            (format!("{x0:.16} {y0:.16} {x1:.16} {y1:.16}"), format!("{distance:.9}"))
        };
        assert_eq!(
            shown(Method::Uniform, 10),
            (
                "-28.4758627070003030 -53.2909380146807621 97.7691623680573230 \
                 -63.5809022171602862"
                    .into(),
                "6217.004065325".into()
            )
        );
        assert_eq!(
            shown(Method::Cluster, 10),
            (
                "41.3602346574607296 -47.2385657764659612 -30.5368554282607718 \
                 -49.1168092107450320"
                    .into(),
                "5129.673943572".into()
            )
        );
    }

    /// The last digits of the means move with the C library; a nanometre does not.
    #[test]
    fn means_are_the_courses() {
        for (method, count, known) in [
            (Method::Uniform, 10, 7_488.113_229_798_82),
            (Method::Uniform, 1000, 9_979.704_532_285_454),
            (Method::Uniform, 100_000, 10_003.523_209_527_657),
            (Method::Cluster, 1000, 5_409.405_315_278_781),
            (Method::Cluster, 100_000, 4_919.201_290_658_04),
        ] {
            let pairs = Pairs::new(method, 1, count);
            let mean = write(pairs, Numbers::Course, &mut io::sink(), None).unwrap();
            assert!((mean - known).abs() < 1e-9, "{method:?} {count}: {mean:.16}");
        }
    }

    #[test]
    fn a_file_of_two_pairs_and_one_of_none() {
        let mut json = Vec::new();
        let mut answers = Vec::new();
        let pairs = Pairs::new(Method::Uniform, 1, 2);
        let mean = write(pairs, Numbers::Course, &mut json, Some(&mut answers)).unwrap();
        let text = String::from_utf8(json).unwrap();
        assert!(text.starts_with("{\"pairs\":[\n    {\"x0\":-28.4758627070003030, \"y0\":-53.29"));
        assert!(text.ends_with("}\n]}\n"));
        assert_eq!((text.lines().count(), text.matches("},\n").count()), (4, 1));
        assert_eq!(answers.len(), 24);
        assert_eq!(answers[16..], mean.to_le_bytes());

        let mut empty = Vec::new();
        let none = Pairs::new(Method::Uniform, 1, 0);
        assert_eq!(write(none, Numbers::Course, &mut empty, None).unwrap(), 0.0);
        assert_eq!(empty, b"{\"pairs\":[\n]}\n");
    }

    #[test]
    fn shortest_numbers_read_back_as_themselves() {
        let mut json = Vec::new();
        let pairs = Pairs::new(Method::Cluster, 7, 100);
        write(pairs.clone(), Numbers::Shortest, &mut json, None).unwrap();
        let text = String::from_utf8(json).unwrap();
        for (line, pair) in text.lines().skip(1).zip(pairs) {
            let x0 = line.split_once(':').unwrap().1.split_once(',').unwrap().0;
            assert_eq!(x0.parse::<f64>().unwrap().to_bits(), pair.x0.to_bits());
        }
    }
}
