//! Answer files: the distance of each pair, then their mean, as raw little-endian doubles; and the
//! comparison of a computation with them.
//!
//! Bit equality is not asked for: the course prints coordinates with sixteen decimals but computes
//! its answers from what they were before. The tolerance is the course's.

use std::io::{self, Read, Write};

use crate::error::{AnswersError, Error};

/// Below this, in kilometres, a difference is none: the single-precision number nearest to 10⁻⁸.
pub const TOLERANCE_KM: f64 = 1e-8f32 as f64;

/// Pairs that are compared or written at once.
const CHUNK_PAIRS: usize = 1 << 13;

/// How a computation differs from the answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The mean at the end of the answers, in kilometres.
    pub reference_mean_km: f64,
    /// Computed minus reference mean.
    pub difference_km: f64,
    /// The pair that differs most, counted from zero, if there is a pair.
    pub worst: Option<Worst>,
    /// Pairs that differ by more than the tolerance, or are no number.
    pub pairs_beyond: u64,
    /// What must stay above a difference, in kilometres.
    pub tolerance_km: f64,
}

/// The pair that differs most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Pairs before it.
    pub index: u64,
    /// The computed distance.
    pub computed_km: f64,
    /// The answer.
    pub reference_km: f64,
}

impl Comparison {
    /// Whether every pair and the mean are within the tolerance.
    pub fn is_within_tolerance(&self) -> bool {
        self.pairs_beyond == 0 && self.difference_km.abs() <= self.tolerance_km
    }
}

/// The pairs an answer file of `bytes` bytes is for.
///
/// # Errors
/// [`AnswersError::Size`] when no file of answers has that length.
pub fn count(bytes: u64) -> Result<u64, AnswersError> {
    let is_possible = bytes >= 8 && bytes.is_multiple_of(8);
    if is_possible { Ok(bytes / 8 - 1) } else { Err(AnswersError::Size { bytes }) }
}

/// Compares distances and mean with `answers`, a stream of the doubles of an answer file for
/// `count` pairs; differences must not exceed `tolerance_km`, which is [`TOLERANCE_KM`] unless a
/// user wants another.
///
/// # Errors
/// What the stream answers; [`AnswersError::Count`] when the answers are for more or fewer pairs.
pub fn compare<'a>(
    distances: impl IntoIterator<Item = &'a [f64], IntoIter: Clone>,
    mean_km: f64,
    count: u64,
    mut answers: impl Read,
    tolerance_km: f64,
) -> Result<Comparison, Error> {
    let distances = distances.into_iter();
    let pairs = distances.clone().map(|part| part.len() as u64).sum();
    if pairs != count {
        return Err(AnswersError::Count { answers: count, pairs }.into());
    }
    let mut seen = Seen { index: 0, pairs_beyond: 0, worst: None, worst_difference: -1.0 };
    let mut bytes = Vec::new();
    for part in distances.flat_map(|part| part.chunks(CHUNK_PAIRS)) {
        bytes.resize(part.len() * 8, 0);
        answers.read_exact(&mut bytes)?;
        seen.take(part, &bytes, tolerance_km);
    }
    let mut mean = [0; 8];
    answers.read_exact(&mut mean)?;
    let reference_mean_km = f64::from_le_bytes(mean);
    let difference_km = mean_km - reference_mean_km;
    let Seen { worst, pairs_beyond, .. } = seen;
    Ok(Comparison { reference_mean_km, difference_km, worst, pairs_beyond, tolerance_km })
}

/// What is known of the pairs that were compared.
struct Seen {
    index: u64,
    pairs_beyond: u64,
    worst: Option<Worst>,
    worst_difference: f64,
}

impl Seen {
    /// Compares distances with as many little-endian doubles. For one type, so that it is compiled here, optimised.
    fn take(&mut self, part: &[f64], bytes: &[u8], tolerance_km: f64) {
        for (&computed_km, eight) in part.iter().zip(bytes.chunks_exact(8)) {
            let reference_km = f64::from_le_bytes(eight.try_into().unwrap_or_default());
            let difference = (computed_km - reference_km).abs();
            // What is no number is beyond any tolerance.
            let difference = if difference.is_nan() { f64::INFINITY } else { difference };
            self.pairs_beyond += u64::from(difference > tolerance_km);
            if difference > self.worst_difference {
                self.worst_difference = difference;
                self.worst = Some(Worst { index: self.index, computed_km, reference_km });
            }
            self.index += 1;
        }
    }
}

/// Writes distances and mean as an answer file.
///
/// # Errors
/// What `out` answers.
pub fn write<'a>(
    distances: impl IntoIterator<Item = &'a [f64]>,
    mean_km: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    for part in distances.into_iter().flat_map(|part| part.chunks(CHUNK_PAIRS)) {
        into_bytes(part, &mut bytes);
        out.write_all(&bytes)?;
    }
    out.write_all(&mean_km.to_le_bytes())
}

fn into_bytes(part: &[f64], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(part.iter().flat_map(|distance| distance.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_written_compare_equal_and_a_changed_one_is_found() {
        let distances: Vec<f64> = (0..20_000).map(|i| f64::from(i) * 0.37).collect();
        let parts = [&distances[..7], &distances[7..15_000], &distances[15_000..]];
        let mut file = Vec::new();
        write(parts, 42.0, &mut file).unwrap();
        assert_eq!(count(file.len() as u64), Ok(20_000));
        let same = compare(parts, 42.0, 20_000, &file[..], TOLERANCE_KM).unwrap();
        assert!(same.is_within_tolerance());
        assert_eq!(same.difference_km, 0.0);

        let mut changed = distances.clone();
        changed[17_000] += 2e-8;
        changed[3] -= 1e-9;
        let other = compare([&changed[..]], 42.0 + 5e-9, 20_000, &file[..], TOLERANCE_KM).unwrap();
        assert_eq!((other.pairs_beyond, other.worst.unwrap().index), (1, 17_000));
        assert!(!other.is_within_tolerance());

        let other = compare([&changed[..]], 42.0 + 5e-9, 20_000, &file[..], 3e-8).unwrap();
        assert!(other.is_within_tolerance());

        changed[5] = f64::NAN;
        let other = compare([&changed[..]], 42.0, 20_000, &file[..], TOLERANCE_KM).unwrap();
        assert_eq!(other.worst.unwrap().index, 5);
    }

    #[test]
    fn answers_of_another_length_are_refused() {
        let distances = [1.0, 2.0];
        let mut file = Vec::new();
        write([&distances[..]], 1.5, &mut file).unwrap();
        for wrong in [&distances[..1], &[1.0, 2.0, 3.0]] {
            let pairs = wrong.len() as u64;
            assert!(matches!(
                compare([wrong], 1.5, 2, &file[..], TOLERANCE_KM),
                Err(Error::Answers(error)) if error == AnswersError::Count { answers: 2, pairs }
            ));
        }
        for bytes in [0, 4, 12] {
            assert_eq!(count(bytes), Err(AnswersError::Size { bytes }));
        }
    }
}
