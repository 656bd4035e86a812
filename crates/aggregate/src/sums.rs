//! Sum, sum of squares and extremes of decimal numbers, exact: in 128 bits as long as they fit, then
//! in integers of any size.
//!
//! Every step in 128 bits is checked before anything is changed; one that does not fit is done in big
//! integers, as are all after it. What is said does not depend on where that happened.

use fathom_machine::prefetch;
use num_bigint::BigInt;

use crate::number::{Decimal, big_power_of_ten, digit_bytes, power_of_ten, scaled, scaled_short};
use crate::waiting::{Few, few};

/// What is known of at least one number, in units of `10^-scale`, the finest scale of them.
#[derive(Clone, Debug)]
pub(crate) enum Sums {
    Small {
        sum: i128,
        /// In units of `10^(-2 scale)`.
        squares: Option<Box<u128>>,
        /// The extremes as they were read, each at its own scale, which costs half of what they take
        /// at the common one. At that one they fit 128 bits, too.
        min: i64,
        max: i64,
        scale: u16,
        min_scale: u16,
        max_scale: u16,
    },
    Big(Box<Big>),
}

/// What [`Sums::Small`] holds, of one number or of many, to be taken in.
#[derive(Clone, Copy)]
struct Part {
    sum: i128,
    squares: Option<u128>,
    extremes: [i64; 2],
    /// Those of the sum and of the extremes.
    scales: [u16; 3],
}

/// All of it in big integers at one scale.
#[derive(Clone, Debug)]
pub(crate) struct Big {
    sum: BigInt,
    squares: Option<BigInt>,
    min: BigInt,
    max: BigInt,
    scale: u16,
}

// A result has one for each key.
const _: () = assert!(size_of::<Sums>() == 48);

impl Sums {
    /// Of one number.
    pub(crate) fn of(value: &Decimal, with_squares: bool) -> Sums {
        let scale = value.scale();
        let small = value.small().and_then(|units| i64::try_from(units).ok());
        let Some(units) = small else {
            let units = value.to_big();
            let squares = with_squares.then(|| &units * &units);
            let (min, max) = (units.clone(), units.clone());
            return Sums::Big(Box::new(Big { sum: units, squares, min, max, scale }));
        };
        Sums::Small {
            sum: units.into(),
            squares: with_squares.then(|| Box::new(square(units))),
            min: units,
            max: units,
            scale,
            min_scale: scale,
            max_scale: scale,
        }
    }

    /// Of what the hot tables know, in tenths.
    pub(crate) fn of_tenths(min: i32, max: i32, sum: i64, squares: Option<u128>) -> Sums {
        Sums::of_units([min.into(), max.into()], sum.into(), squares, 1)
    }

    /// Of numbers in units of `10^-scale`.
    pub(crate) fn of_units(
        [min, max]: [i64; 2],
        sum: i128,
        squares: Option<u128>,
        scale: u16,
    ) -> Sums {
        let squares = squares.map(Box::new);
        Sums::Small { sum, squares, min, max, scale, min_scale: scale, max_scale: scale }
    }

    /// Put together again: the smallest, the largest and the sum, and the sum of squares at twice the
    /// scale of the sum, which is the finest.
    pub(crate) fn restored([min, max, sum]: [&Decimal; 3], squares: Option<BigInt>) -> Sums {
        let scale = sum.scale();
        let extremes = [min, max].map(|number| i64::try_from(number.small()?).ok());
        let small_squares = squares.as_ref().map(|squares| u128::try_from(squares).ok());
        if let ([Some(min), Some(max)], Some(sum)) = (extremes, sum.small())
            && small_squares != Some(None)
        {
            return Sums::of_units([min, max], sum, small_squares.flatten(), scale);
        }
        let [min, max, sum] = [min, max, sum].map(Decimal::to_big);
        Sums::Big(Box::new(Big { sum, squares, min, max, scale }))
    }

    /// Begins to fetch the squares.
    #[inline]
    pub(crate) fn prefetch_squares(&self) {
        if let Sums::Small { squares: Some(squares), .. } = self {
            prefetch(&**squares);
        }
    }

    /// Whether nothing of it lies elsewhere.
    pub(crate) fn is_flat(&self) -> bool {
        matches!(self, Sums::Small { squares: None, .. })
    }

    /// Bytes of big integers.
    pub(crate) fn bytes(&self) -> usize {
        let Sums::Big(big) = self else { return 0 };
        let Big { sum, squares, min, max, .. } = &**big;
        let all = [sum, min, max].into_iter().chain(squares);
        size_of::<Big>() + all.map(digit_bytes).sum::<usize>()
    }

    /// Takes in one number.
    #[inline]
    pub(crate) fn add(&mut self, value: &Decimal) {
        let few = few(value);
        if few.is_some_and(|few| self.add_short(few).is_some()) {
            return;
        }
        let part = few.map(|(units, _)| Part {
            sum: units.into(),
            squares: Some(square(units)),
            extremes: [units, units],
            scales: [value.scale(); 3],
        });
        if part.and_then(|part| self.merge_small(part)).is_none() {
            self.merge_big(Sums::of(value, self.has_squares()).to_big());
        }
    }

    /// Takes in a number that is not finer than those before it, in 64 bits; None, and nothing
    /// changed, where they do not suffice.
    #[inline]
    pub(crate) fn add_short(&mut self, (read, own): Few) -> Option<()> {
        let Sums::Small { sum, squares, min, max, scale, min_scale, max_scale } = self else {
            return None;
        };
        let at_common = |units, own| match own == *scale {
            true => Some(units),
            false => scaled_short(units, scale.checked_sub(own)?),
        };
        let units = at_common(read, own)?;
        let (low, high) = (at_common(*min, *min_scale)?, at_common(*max, *max_scale)?);
        let total = sum.checked_add(units.into())?;
        if let Some(squares) = squares {
            **squares = squares.checked_add(square(units))?;
        }
        *sum = total;
        if units < low {
            (*min, *min_scale) = (read, own);
        }
        if units > high {
            (*max, *max_scale) = (read, own);
        }
        Some(())
    }

    /// Takes in others; squares end where either has none.
    pub(crate) fn merge(&mut self, other: &Sums) {
        let part = match other {
            Sums::Big(_) => None,
            Sums::Small { sum, squares, min, max, scale, min_scale, max_scale } => Some(Part {
                sum: *sum,
                squares: squares.as_deref().copied(),
                extremes: [*min, *max],
                scales: [*scale, *min_scale, *max_scale],
            }),
        };
        if part.and_then(|part| self.merge_small(part)).is_none() {
            self.merge_big(other.to_big());
        }
    }

    /// Takes in others in 128 bits; None, and nothing changed, where they do not suffice.
    #[inline]
    fn merge_small(&mut self, other: Part) -> Option<()> {
        let Sums::Small { sum, squares, min, max, scale, min_scale, max_scale } = self else {
            return None;
        };
        let Part { extremes: [low, high], scales: [other_scale, low_scale, high_scale], .. } =
            other;
        let finest = (*scale).max(other_scale);
        let (finer, other_finer) = (finest - *scale, finest - other_scale);
        let total = scaled(*sum, finer)?.checked_add(scaled(other.sum, other_finer)?)?;
        let at_finest = |units: i64, own: u16| scaled(units.into(), finest - own);
        let is_less = at_finest(low, low_scale)? < at_finest(*min, *min_scale)?;
        let is_more = at_finest(high, high_scale)? > at_finest(*max, *max_scale)?;
        let squares_total = match squares.as_deref().zip(other.squares) {
            Some((&own, more)) => {
                let more = scaled_square(more, other_finer)?;
                Some(scaled_square(own, finer)?.checked_add(more)?)
            }
            None => None,
        };
        (*sum, *scale) = (total, finest);
        match (squares.as_deref_mut(), squares_total) {
            (Some(squares), Some(total)) => *squares = total,
            _ => *squares = None,
        }
        if is_less {
            (*min, *min_scale) = (low, low_scale);
        }
        if is_more {
            (*max, *max_scale) = (high, high_scale);
        }
        Some(())
    }

    #[cold]
    fn merge_big(&mut self, other: Big) {
        let big = self.grow();
        big.rescale(other.scale);
        big.merge(other);
    }

    /// This in big integers from now on.
    fn grow(&mut self) -> &mut Big {
        if let Sums::Small { .. } = self {
            *self = Sums::Big(Box::new(self.to_big()));
        }
        match self {
            Sums::Big(big) => big,
            Sums::Small { .. } => unreachable!("it has just grown"),
        }
    }

    fn to_big(&self) -> Big {
        match self {
            Sums::Big(big) => (**big).clone(),
            Sums::Small { squares, .. } => Big {
                sum: self.sum().to_big(),
                squares: squares.as_deref().map(|&squares| squares.into()),
                min: self.min().to_big(),
                max: self.max().to_big(),
                scale: self.scale(),
            },
        }
    }

    pub(crate) fn scale(&self) -> u16 {
        match self {
            Sums::Small { scale, .. } => *scale,
            Sums::Big(big) => big.scale,
        }
    }

    pub(crate) fn sum(&self) -> Decimal {
        match self {
            Sums::Small { sum, scale, .. } => Decimal::new(*sum, *scale),
            Sums::Big(big) => Decimal::of_big(big.sum.clone(), big.scale),
        }
    }

    pub(crate) fn min(&self) -> Decimal {
        match self {
            Sums::Small { min, scale, min_scale, .. } => {
                Decimal::new((*min).into(), *min_scale).rescaled(*scale)
            }
            Sums::Big(big) => Decimal::of_big(big.min.clone(), big.scale),
        }
    }

    pub(crate) fn max(&self) -> Decimal {
        match self {
            Sums::Small { max, scale, max_scale, .. } => {
                Decimal::new((*max).into(), *max_scale).rescaled(*scale)
            }
            Sums::Big(big) => Decimal::of_big(big.max.clone(), big.scale),
        }
    }

    pub(crate) fn has_squares(&self) -> bool {
        match self {
            Sums::Small { squares, .. } => squares.is_some(),
            Sums::Big(big) => big.squares.is_some(),
        }
    }

    pub(crate) fn squares(&self) -> Option<BigInt> {
        match self {
            Sums::Small { squares, .. } => squares.as_deref().map(|&squares| squares.into()),
            Sums::Big(big) => big.squares.clone(),
        }
    }
}

impl Big {
    fn rescale(&mut self, scale: u16) {
        if scale > self.scale {
            let factor = big_power_of_ten(scale - self.scale);
            for units in [&mut self.sum, &mut self.min, &mut self.max] {
                *units *= &factor;
            }
            if let Some(squares) = &mut self.squares {
                *squares *= &factor * &factor;
            }
            self.scale = scale;
        }
    }

    fn merge(&mut self, mut other: Big) {
        other.rescale(self.scale);
        self.sum += other.sum;
        self.squares = self.squares.take().zip(other.squares).map(|(own, more)| own + more);
        if other.min < self.min {
            self.min = other.min;
        }
        if other.max > self.max {
            self.max = other.max;
        }
    }
}

/// What 128 bits always hold.
#[inline]
pub(crate) fn square(units: i64) -> u128 {
    u128::from(units.unsigned_abs()).pow(2)
}

/// `square * 10^(2 exponent)`, if it fits.
#[inline]
fn scaled_square(square: u128, exponent: u16) -> Option<u128> {
    if exponent == 0 {
        return Some(square);
    }
    square.checked_mul(power_of_ten(exponent.checked_mul(2)?)?.unsigned_abs())
}
