//! The original challenge's kind of file: a station uniformly, a temperature gaussian around its
//! mean with σ = 10, one decimal, held within -99.9 to 99.9.
//!
//! Rows come in blocks of 16,384, and each block draws from its own stream of the seed, so that the
//! bytes do not depend on who fills which block. One random word makes a row: its product with the
//! number of stations gives the station, and the fraction of that product the deviation.

use std::io::Write;

use super::error::GenerateError;
use super::gaussian::Gaussian;
use super::ordered;
use super::rows::Rows;
use super::stations::{LIMIT_TENTHS, Stations};
use fathom_random::Random;

/// Part of what a seed means: another number here gives other files.
const BLOCK_ROWS: u64 = 1 << 14;

/// A generator of measurements: stations and a seed.
#[derive(Clone, Debug)]
pub struct Measurements {
    rows: Rows,
    means_tenths: Vec<i16>,
    gaussian: Gaussian,
    seed: u64,
}

impl Measurements {
    /// The generator named `seed` over these stations.
    pub fn new(stations: Stations, seed: u64) -> Measurements {
        let (rows, means_tenths) = (Rows::new(&stations), stations.means_tenths().to_vec());
        Measurements { rows, means_tenths, gaussian: Gaussian::new(), seed }
    }

    /// Writes `rows` rows with up to `threads` threads and returns how many bytes they were.
    ///
    /// # Errors
    /// No stations, or an output that fails.
    pub fn write(
        &self,
        rows: u64,
        threads: usize,
        out: &mut (dyn Write + Send),
    ) -> Result<u64, GenerateError> {
        if self.means_tenths.is_empty() {
            return Err(GenerateError::NoStations);
        }
        let fill = |block: u64, buffer: &mut Vec<u8>| {
            let first = block * BLOCK_ROWS;
            self.fill(block, BLOCK_ROWS.min(rows - first), buffer)
        };
        Ok(ordered::write_blocks(threads, rows.div_ceil(BLOCK_ROWS), fill, out)?)
    }

    /// Writes the rows of one block into the buffer and returns their bytes.
    fn fill(&self, block: u64, rows: u64, buffer: &mut Vec<u8>) -> usize {
        let mut random = Random::stream(self.seed, block);
        let count = self.means_tenths.len() as u64;
        let mut at = 0;
        for _ in 0..rows {
            let (station, rest) = random.below_with_rest(count);
            let station = station as usize;
            let tenths = self.means_tenths[station] + self.gaussian.draw(rest);
            let tenths = tenths.clamp(-LIMIT_TENTHS, LIMIT_TENTHS);
            at = self.rows.write(buffer, at, station, tenths);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn text(stations: Stations, seed: u64, rows: u64, threads: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let bytes = Measurements::new(stations, seed).write(rows, threads, &mut text).unwrap();
        assert_eq!(bytes, text.len() as u64);
        text
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_threads_and_a_shorter_file_is_a_prefix() {
        let rows = 3 * BLOCK_ROWS + 5;
        let one = text(Stations::world(), 9, rows, 1);
        assert!(one == text(Stations::world(), 9, rows, 4));
        assert!(one.starts_with(&text(Stations::world(), 9, BLOCK_ROWS + 1, 2)));
        assert!(one != text(Stations::world(), 10, rows, 1));
        assert!(text(Stations::world(), 9, 0, 2).is_empty());
    }

    #[test]
    fn every_station_occurs_about_equally_often_around_its_mean() {
        let rows = 413 * 400;
        let text = String::from_utf8(text(Stations::world(), 1, rows, 2)).unwrap();
        let mut sums: HashMap<&str, (f64, f64)> = HashMap::new();
        for line in text.lines() {
            let (name, value) = line.split_once(';').unwrap();
            let value: f64 = value.parse().unwrap();
            assert!(value.abs() <= 99.9);
            let entry = sums.entry(name).or_default();
            *entry = (entry.0 + 1.0, entry.1 + value);
        }
        let world = Stations::world();
        assert_eq!(sums.len(), world.len());
        for (name, mean) in world.names().zip(world.means_tenths()) {
            let (count, sum) = sums[std::str::from_utf8(name).unwrap()];
            // Poisson with mean 400, gaussian with σ/√n: six standard errors each.
            assert!((count - 400.0).abs() < 120.0, "{count}");
            assert!((sum / count - f64::from(*mean) / 10.0).abs() < 60.0 / count.sqrt());
        }
    }

    #[test]
    fn temperatures_are_held_at_the_limits() {
        let hot = Stations::from_list(b"Venus;99.9\n", 0).unwrap();
        let text = String::from_utf8(text(hot, 1, 1000, 1)).unwrap();
        let held = text.lines().filter(|line| line.ends_with(";99.9")).count();
        assert!((350..650).contains(&held), "{held}");
    }
}
