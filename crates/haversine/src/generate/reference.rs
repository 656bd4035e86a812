//! The generator in plain words: one pair after another, numbers by the standard library. What
//! [`write`](super::write) must write to the last byte.

use std::io::{self, Write};

use super::numbers::Numbers;
use super::pairs::Pairs;
use crate::formula::{EARTH_RADIUS_KM, Pair, distance};

/// Writes pairs to `json` and, if asked, their distances and mean to `answers`; returns that mean.
///
/// # Errors
/// What the outputs answer.
pub fn write(
    pairs: Pairs,
    numbers: Numbers,
    json: &mut dyn Write,
    mut answers: Option<&mut dyn Write>,
) -> io::Result<f64> {
    let count = pairs.left;
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
