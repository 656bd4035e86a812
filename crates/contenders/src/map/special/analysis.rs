//! What kind of keys these are, as far as a table made for them asks: how long, how they are told apart at the
//! least cost, how many of them fit into a slot. Builds nothing; whether a plan does is seen by building.

use super::lookup::{Read, Shape};

/// How a table is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How keys are read.
    pub(super) shape: Shape,
    /// Words of a key in a slot.
    pub(super) words: usize,
}

/// Widths of slots that there is code for, in words of a key.
const WIDTHS: [usize; 7] = by_width!(all);
/// What it costs, in bytes of every key, if all keys lay elsewhere: one more wait for memory.
const ELSEWHERE_BYTES: f64 = 48.0;
/// Keys that windows are tried on, before all are.
const SAMPLE: usize = 4096;
/// How far from the front and from the end windows are looked for.
const FAR: usize = 64;
/// Integers may have so many more places than there are of them, to lie in order: what holes cost a hash.
const GAPS: f64 = 1.06;

/// Keys that a table can be made for.
pub(super) trait Planned: Read {
    /// The most words of a key in a slot.
    const WIDEST: usize;

    /// What to try, the cheapest first.
    fn plans(keys: &[Self], seed: u64) -> Vec<Plan>;
}

impl Planned for u64 {
    const WIDEST: usize = 1;

    fn plans(keys: &[u64], seed: u64) -> Vec<Plan> {
        let mut distinct = keys.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let (least, most) = (distinct.first(), distinct.last());
        let places = least.zip(most).map(|(least, most)| (most - least) as f64 + 1.0);
        let mut shapes = Vec::new();
        if places.is_some_and(|places| places <= distinct.len() as f64 * GAPS) {
            shapes.push(Shape { least: least.copied(), ..Shape::default() });
        }
        shapes.extend(seeded(Shape::default(), seed));
        shapes.extend(seeded(Shape { thorough: true, ..Shape::default() }, seed));
        shapes.into_iter().map(|shape| Plan { shape, words: 1 }).collect()
    }
}

impl Planned for &[u8] {
    const WIDEST: usize = WIDTHS[WIDTHS.len() - 1];

    fn plans(keys: &[&[u8]], seed: u64) -> Vec<Plan> {
        let (length, words) = width(keys);
        let plain = Shape { length, ..Shape::default() };
        let mut shapes = vec![plain];
        let sample: Vec<&[u8]> =
            keys.iter().step_by(keys.len().div_ceil(SAMPLE).max(1)).copied().collect();
        shapes.extend(best(&sample, plain));
        shapes.push(Shape { thorough: true, ..plain });
        shapes.dedup();
        let all = shapes.into_iter().flat_map(|shape| seeded(shape, seed));
        all.map(|shape| Plan { shape, words }).collect()
    }
}

/// The same with some seeds that come from `seed`.
fn seeded(shape: Shape, seed: u64) -> impl Iterator<Item = Shape> {
    let number = move |number| seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number;
    (1..=3).map(move |at| Shape { seed: number(at), ..shape })
}

/// The length that all keys have, or 0, and how wide slots are best: as small as they can be in all, and with
/// few keys elsewhere.
fn width(keys: &[&[u8]]) -> (usize, usize) {
    let first = keys.first().map_or(0, |key| key.len());
    let fits = |width: usize| WIDTHS.into_iter().find(|&words| width <= 8 * words);
    if let Some(words) =
        fits(first).filter(|_| first > 0 && keys.iter().all(|key| key.len() == first))
    {
        return (first, words);
    }
    let cost = |words: usize| -> f64 {
        let of = |key: &&[u8]| match key.len() < 8 * words {
            true => 0.0,
            false => key.len() as f64 + 4.0 + ELSEWHERE_BYTES,
        };
        keys.iter().map(of).sum::<f64>() + (8 * words * keys.len()) as f64
    };
    let costs = WIDTHS.into_iter().map(|words| (cost(words), words));
    (0, costs.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, words)| words))
}

/// The windows that tell most of `keys` apart: the best at the front, then with it the best at the end.
fn best(keys: &[&[u8]], shape: Shape) -> Option<Shape> {
    let apart = |shape: &Shape| {
        let mut hashes: Vec<u64> = keys.iter().map(|key| shape.windows(key)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len()
    };
    let longest = keys.iter().map(|key| key.len()).max()?.saturating_sub(8).min(FAR);
    // Of equals the one nearest to the front, or to the end.
    let most = |shapes: &mut dyn Iterator<Item = Shape>| {
        shapes.map(|shape| (apart(&shape), shape)).reduce(|a, b| if b.0 > a.0 { b } else { a })
    };
    let (_, front) =
        most(&mut (0..=longest).map(|front| Shape { front, back: usize::MAX, ..shape }))?;
    most(&mut (0..=longest).map(|back| Shape { back, ..front })).map(|(_, shape)| shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans(keys: &[String]) -> Vec<Plan> {
        let keys: Vec<&[u8]> = keys.iter().map(String::as_bytes).collect();
        Planned::plans(&keys, 1)
    }

    #[test]
    fn windows_are_found_where_keys_differ() {
        let keys: Vec<String> = (0..5000)
            .map(|n| format!("https://example.com/{:05}/{:02}/index.html", n / 50, n % 50))
            .collect();
        let plans = plans(&keys);
        let front = plans[3].shape.front;
        assert!((20..=22).contains(&front), "both numbers are within eight bytes: {front}");
        assert!(plans[..6].iter().all(|plan| !plan.shape.thorough));
        assert!(plans[6..].len() == 3 && plans[6..].iter().all(|plan| plan.shape.thorough));
        let seeds: std::collections::HashSet<u64> =
            plans[..3].iter().map(|p| p.shape.seed).collect();
        assert_eq!(seeds.len(), 3);
    }

    #[test]
    fn slots_are_as_wide_as_most_keys_need() {
        let of = |lengths: &[usize]| {
            let keys: Vec<String> = lengths.iter().map(|&length| "x".repeat(length)).collect();
            let Plan { shape, words } = plans(&keys)[0];
            (shape.length, words)
        };
        assert_eq!(of(&[8; 9]), (8, 1));
        assert_eq!(of(&[36; 9]), (36, 5));
        assert_eq!(of(&[50; 9]), (50, 8));
        assert_eq!(of(&[65; 9]), (0, 1), "no slot is as wide");
        assert_eq!(of(&[7, 6, 7, 3]), (0, 1));
        assert_eq!(of(&[8, 15, 12, 3]), (0, 2));
        assert_eq!(of(&[&[8; 99][..], &[60]].concat()), (0, 2), "a long one lies elsewhere");
        assert_eq!(of(&[]), (0, 1));
    }

    #[test]
    fn integers_with_hardly_a_gap_lie_in_order() {
        let least = |keys: &[u64]| u64::plans(keys, 1)[0].shape.least;
        assert_eq!(least(&[7, 9, 8, 10]), Some(7));
        assert_eq!(least(&[7, 9, 8, 1000]), None);
        assert_eq!(least(&[&[5; 998][..], &[1, 1000]].concat()), None, "three keys, many times");
        assert_eq!(least(&[0, u64::MAX]), None);
        assert_eq!(least(&[]), None);
    }
}
