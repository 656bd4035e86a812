//! From numbers of arrays to integers: how many units of `10^-scale` they are, exactly, or that they are not.
//!
//! A floating-point number `v` has the shortest decimal `k / 10^scale` if that division gives `v` and
//! `k` has at most 15 digits: so few digits tell all doubles apart, hence no shorter decimal and no
//! other of this length gives the same `v`. The division is correctly rounded, as the reading of a
//! decimal is, which is all of the proof.
//!
//! Blocks are converted without a branch, so that the compiler makes vector code of it: the nearest
//! integer comes from adding a number so large that doubles beside it are integers ([`ROUND`]), and
//! its bits are those of the integer wanted, counted from there.

use crate::number::{Decimal, scaled};

/// The finest scale that is tried for all of a column.
pub(super) const MOST_SCALE: u16 = 12;
/// Numbers below this have a square whose sum over 2^21 rows fits 128 bits.
const MOST_UNITS: i64 = 1 << 53;
/// Doubles, and single-precision numbers, are told apart by this many digits.
const MOST_F64: f64 = 1e15;
const MOST_F32: f64 = 1e6;

/// 1.5 times 2^52: its neighbours are integers, also below it.
const ROUND: f64 = 6_755_399_441_055_744.0;
const _: () = assert!(MOST_F64 < ROUND / 3.0, "sums with it stay between 2^52 and 2^53");

/// A number as it stands in an array.
pub(super) trait Number: Copy {
    /// The coarsest scale at which it is printed: 1 if it has a point even where it is whole.
    const LEAST_SCALE: u16 = 0;

    /// In units of `10^-scale`, if few digits suffice.
    fn units(self, scale: u16) -> Option<i64>;

    /// Exactly, with so many digits behind the point at least where it is printed with one.
    fn decimal(self, least: u16) -> Decimal;

    /// Whether it stands for no number.
    fn is_missing(self) -> bool {
        false
    }

    /// All of a block in units of `10^-scale`; false, and nothing of use in `units`, if one is not.
    #[inline]
    fn all_units(all: impl Iterator<Item = Self>, scale: u16, units: &mut [i64]) -> bool {
        all.zip(units).all(|(number, units)| match number.units(scale) {
            Some(found) => {
                *units = found;
                true
            }
            None => false,
        })
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {
            #[inline]
            fn units(self, scale: u16) -> Option<i64> {
                Fixed(self.into(), 0).units(scale)
            }

            fn decimal(self, _: u16) -> Decimal {
                Decimal::new(self.into(), 0)
            }

            #[inline]
            fn all_units(all: impl Iterator<Item = Self>, scale: u16, units: &mut [i64]) -> bool {
                let mut fit = scale == 0;
                for (number, units) in all.zip(units) {
                    *units = i64::try_from(number).unwrap_or(i64::MAX);
                    fit &= (-MOST_UNITS..MOST_UNITS).contains(units);
                }
                fit
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

/// Units of a scale of their own.
#[derive(Clone, Copy)]
pub(super) struct Fixed(pub(super) i128, pub(super) u16);

impl Number for Fixed {
    #[inline]
    fn units(self, scale: u16) -> Option<i64> {
        let Fixed(units, own) = self;
        let units = i64::try_from(scaled(units, scale.checked_sub(own)?)?).ok()?;
        (-MOST_UNITS..MOST_UNITS).contains(&units).then_some(units)
    }

    fn decimal(self, _: u16) -> Decimal {
        Decimal::new(self.0, self.1)
    }
}

const POWERS: [f64; MOST_SCALE as usize + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];

macro_rules! floats {
    ($($float:ty, $most:ident;)*) => {$(
        impl Number for $float {
            const LEAST_SCALE: u16 = 1;

            #[inline]
            fn units(self, scale: u16) -> Option<i64> {
                let power = POWERS[usize::from(scale)];
                let units = (f64::from(self) * power).round_ties_even();
                let is_it = units.abs() < $most && (units / power) as $float == self;
                is_it.then_some(units as i64)
            }

            fn decimal(self, least: u16) -> Decimal {
                let mut buffer = zmij::Buffer::new();
                let text = buffer.format_finite(self);
                let whole = text.strip_suffix(".0").filter(|_| least == 0);
                let text = whole.unwrap_or(text);
                Decimal::parse(text.as_bytes()).expect("a finite number is printed as one")
            }

            #[inline]
            fn is_missing(self) -> bool {
                self.is_nan()
            }

            #[inline]
            fn all_units(all: impl Iterator<Item = Self>, scale: u16, units: &mut [i64]) -> bool {
                let power = POWERS[usize::from(scale)];
                let mut fit = true;
                for (number, units) in all.zip(units) {
                    let rounding = f64::from(number) * power + ROUND;
                    let whole = rounding - ROUND;
                    fit &= (whole.abs() < $most) & ((whole / power) as $float == number);
                    *units = rounding.to_bits().wrapping_sub(ROUND.to_bits()) as i64;
                }
                fit
            }
        }
    )*};
}

floats! { f64, MOST_F64; f32, MOST_F32; }

/// A number as a decimal, by way of few digits where they suffice, `least` of them behind its point.
pub(super) fn exactly<N: Number>(value: N, least: u16) -> Decimal {
    let few = (least..=MOST_SCALE).find_map(|scale| Some((value.units(scale)?, scale)));
    few.map_or_else(|| value.decimal(least), |(units, scale)| Decimal::new(units.into(), scale))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A block against the numbers of it, one by one.
    fn blocks_are_their_numbers<N: Number>(numbers: &[N], most_scale: u16) {
        for scale in 0..=most_scale {
            let mut units = vec![0; numbers.len()];
            let all = N::all_units(numbers.iter().copied(), scale, &mut units);
            let expected: Option<Vec<i64>> = numbers.iter().map(|v| v.units(scale)).collect();
            assert_eq!(all.then_some(units), expected, "at scale {scale}");
        }
    }

    /// Doubles that are decimals of few digits, their neighbours, and any others.
    fn doubles() -> impl Strategy<Value = f64> {
        let decimal = (-1_100_000_000_000_000_i64..1_100_000_000_000_000, 0_u8..16, 0_usize..=12);
        let decimal =
            decimal.prop_map(|(units, less, scale)| (units >> (3 * less)) as f64 / POWERS[scale]);
        let neighbour = (decimal.clone(), any::<bool>())
            .prop_map(|(v, up)| if up { v.next_up() } else { v.next_down() });
        prop_oneof![4 => decimal, 1 => neighbour, 1 => any::<u64>().prop_map(f64::from_bits)]
    }

    fn exponential(decimal: &Decimal) -> String {
        format!("{}e-{}", decimal.to_big(), decimal.scale())
    }

    /// How many digits there are from the first to the last that is not zero.
    fn digits(text: &str) -> usize {
        let text = text.split('e').next().unwrap_or_default().replace(['-', '.'], "");
        text.trim_matches('0').len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn a_block_of_doubles_is_its_doubles(one in doubles(), more in any::<i16>()) {
            blocks_are_their_numbers(&[one], MOST_SCALE);
            blocks_are_their_numbers(&[one, f64::from(more)], MOST_SCALE);
            blocks_are_their_numbers(&[one as f32], MOST_SCALE);
        }

        #[test]
        fn a_block_of_integers_is_its_integers(one in any::<i64>(), less in 0..64) {
            blocks_are_their_numbers(&[one >> less], 0);
            blocks_are_their_numbers(&[(one >> less) as u64], 0);
            blocks_are_their_numbers(&[(one >> less) as i32, 7], 0);
            blocks_are_their_numbers(&[(one >> less) as u8], 0);
        }

        #[test]
        fn units_are_the_shortest_decimal(value in doubles()) {
            prop_assume!((value as f32).is_finite());
            let (double, single) = (value.decimal(0), (value as f32).decimal(0));
            prop_assert_eq!(exponential(&double).parse(), Ok(value));
            prop_assert_eq!(exponential(&single).parse(), Ok(value as f32));
            let (most, most_single) = (format!("{:e}", value), format!("{:e}", value as f32));
            prop_assert!(digits(&double.to_string()) <= digits(&most));
            prop_assert!(digits(&single.to_string()) <= digits(&most_single));
            let few = (0..=MOST_SCALE).find_map(|scale| Some((value.units(scale)?, scale)));
            if let Some((units, scale)) = few {
                prop_assert_eq!(Decimal::new(units.into(), scale), value.decimal(0));
            }
        }
    }

    #[test]
    fn of_two_decimals_as_near_the_even_one_is_meant() {
        let large = (1_u64 << 50) as f64;
        assert_eq!((large + 0.25).decimal(0).to_string(), "1125899906842624.2");
        assert_eq!((large + 0.75).decimal(0).to_string(), "1125899906842624.8");
        assert_eq!((4_447_285_f32 / 4.0).decimal(0).to_string(), "1111821.2");
    }

    #[test]
    fn what_is_no_decimal_of_few_digits_makes_a_block_none() {
        let others =
            [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e15, -1e15, 1e300, 0.1 + 0.2, 5e-324];
        for value in others {
            assert!(!f64::all_units([0.5, value].into_iter(), 1, &mut [0; 2]), "{value}");
        }
        let mut units = [9; 3];
        assert!(f64::all_units([-0.0, 99.9, -99_999_999_999_999.9].into_iter(), 1, &mut units));
        assert_eq!(units, [0, 999, -999_999_999_999_999]);
    }
}
