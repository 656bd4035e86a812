//! How values are spread: how many lie in each tenth of the way from the smallest to the largest.
//!
//! Every key has bins of its own, whose bounds are decimal numbers because ten of them are. What is shown of
//! them stands in `crate::format`.

use num_bigint::BigInt;

use crate::kept::{Datum, Multiset};
use crate::number::Decimal;

/// Bins between the smallest and the largest value.
const BINS: u64 = 10;

/// The bins of some numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Histogram {
    /// The smallest number, where the first bin starts.
    pub(crate) from: Decimal,
    /// The largest, which is in the last.
    pub(crate) to: Decimal,
    /// Numbers in each bin, of equal width, with their lower ends; one bin if all numbers are the same.
    pub(crate) counts: Vec<u64>,
}

impl Histogram {
    /// Of all numbers of a set; None of texts.
    pub(crate) fn of(values: &Multiset) -> Option<Histogram> {
        let numbers = values.counted().into_iter().map(|(datum, count)| match datum {
            Datum::Number(number) => Some((number, count)),
            Datum::Text(_) => None,
        });
        let numbers: Vec<(Decimal, u64)> = numbers.collect::<Option<_>>()?;
        let (from, to) = (numbers.first()?.0.clone(), numbers.last()?.0.clone());
        if from == to {
            return Some(Histogram { counts: vec![numbers[0].1], from, to });
        }
        let (span, mut counts) = (to.minus(&from), vec![0; BINS as usize]);
        for (number, count) in &numbers {
            counts[bin(&number.minus(&from), &span)] += count;
        }
        Some(Histogram { from, to, counts })
    }

    /// A bar for each bin, as high as its share of the fullest: none is a dot, few are a line.
    pub(crate) fn bars(&self) -> String {
        const BARS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1);
        let height = |&count: &u64| (u128::from(count) * 8).div_ceil(most.into()) as usize;
        self.counts.iter().map(|count| BARS[height(count)]).collect()
    }
}

/// The bin of what lies so far from the smallest number.
fn bin(offset: &Decimal, span: &Decimal) -> usize {
    let scale = offset.scale().max(span.scale());
    let (offset, span) = (offset.rescaled(scale).times(BINS), span.rescaled(scale));
    let place = match offset.small().zip(span.small()) {
        Some((offset, span)) => (offset / span) as u64,
        None => {
            let place: BigInt = offset.to_big() / span.to_big();
            u64::try_from(place).expect("no number lies beyond the largest")
        }
    };
    place.min(BINS - 1) as usize
}
