//! What is known of a key as few bytes, and back: for files that nobody reads but the run that wrote them.
//!
//! ```text
//! flags │ count, missing │ scales, min, max, sum, squares │ values │ sketch │ first, last
//!  byte    of one number: its scale and the number alone    each where it is kept
//! ```
//!
//! Integers take seven bits a byte, signed ones with the sign at the end. A state of `crate::state` would take the scale
//! of all numbers and whether they fit beforehand, and several times as many bytes of a key with one record.
//!
//! That bytes are those that were written is not looked at here; what cannot be read is None.

use num_bigint::BigInt;

use crate::approx::Sketch;
use crate::kept::{Datum, Ends, Multiset, Order};
use crate::merge::{Keep, Stats};
use crate::number::Decimal;
use crate::sums::{Sums, square};

/// One number, and no record without one.
const ONE: u8 = 1;
/// There are numbers, in 128 bits or larger.
const SMALL: u8 = 2;
const BIG: u8 = 4;
const SQUARES: u8 = 8;
/// There are values, a sketch, ends.
const VALUES: u8 = 16;
const SKETCH: u8 = 32;
const ENDS: u8 = 64;

/// Kinds of multisets.
const UNITS: u8 = 0;
const DATA: u8 = 1;

/// Appends what is known of a key.
pub(super) fn write(bytes: &mut Vec<u8>, stats: &Stats) {
    let (count, missing) = (stats.count(), stats.rows() - stats.count());
    let sums = (stats.numbers() > 0).then(|| stats.sums());
    let one = sums.filter(|_| (count, missing) == (1, 0)).and_then(only);
    let flag = |is: bool, flag| if is { flag } else { 0 };
    let flags = flag(one.is_some(), ONE)
        | flag(matches!(sums, Some(Sums::Small { .. })), SMALL)
        | flag(matches!(sums, Some(Sums::Big(_))), BIG)
        | flag(sums.is_some_and(Sums::has_squares), SQUARES)
        | flag(stats.values().is_some(), VALUES)
        | flag(stats.sketch().is_some(), SKETCH)
        | flag(stats.ends().is_some(), ENDS);
    bytes.push(flags);
    if one.is_none() {
        unsigned(bytes, count.into());
        unsigned(bytes, missing.into());
    }
    match (one, sums) {
        (Some((units, scale)), _) => {
            unsigned(bytes, scale.into());
            signed(bytes, units.into());
        }
        (None, Some(sums)) => write_sums(bytes, sums),
        (None, None) => {}
    }
    if let Some(values) = stats.values() {
        write_values(bytes, values);
    }
    if let Some(sketch) = stats.sketch() {
        text(bytes, &sketch.to_bytes());
    }
    if let Some(ends) = stats.ends() {
        for (order, datum) in [&ends.first, &ends.last] {
            unsigned(bytes, order.source as u128);
            unsigned(bytes, order.byte.into());
            write_datum(bytes, datum);
        }
    }
}

/// The number of sums of one, if it is as they keep it.
fn only(sums: &Sums) -> Option<(i64, u16)> {
    let Sums::Small { sum, squares, min, max, scale, min_scale, max_scale } = sums else {
        return None;
    };
    let of_one = square(*min);
    let is_one = min == max && i128::from(*min) == *sum && [min_scale, max_scale] == [scale; 2];
    (is_one && squares.as_deref().is_none_or(|squares| *squares == of_one))
        .then_some((*min, *scale))
}

fn write_sums(bytes: &mut Vec<u8>, sums: &Sums) {
    match sums {
        Sums::Small { sum, squares, min, max, scale, min_scale, max_scale } => {
            for scale in [scale, min_scale, max_scale] {
                unsigned(bytes, (*scale).into());
            }
            signed(bytes, (*min).into());
            signed(bytes, (*max).into());
            signed(bytes, *sum);
            squares.as_deref().inspect(|squares| unsigned(bytes, **squares));
        }
        Sums::Big(_) => {
            unsigned(bytes, sums.scale().into());
            for number in [sums.min(), sums.max(), sums.sum()] {
                big(bytes, &number.to_big());
            }
            sums.squares().inspect(|squares| big(bytes, squares));
        }
    }
}

fn write_values(bytes: &mut Vec<u8>, values: &Multiset) {
    if let Some((scale, counted)) = values.units() {
        bytes.push(UNITS);
        unsigned(bytes, scale.into());
        unsigned(bytes, counted.len() as u128);
        let mut before = 0_i64;
        for &(units, count) in &*counted {
            // In ascending order: how much more than the one before.
            signed(bytes, i128::from(units) - i128::from(before));
            unsigned(bytes, count.into());
            before = units;
        }
        return;
    }
    bytes.push(DATA);
    let counted = values.counted();
    unsigned(bytes, counted.len() as u128);
    for (datum, count) in counted {
        write_datum(bytes, &datum);
        unsigned(bytes, count.into());
    }
}

fn write_datum(bytes: &mut Vec<u8>, datum: &Datum) {
    match datum {
        Datum::Text(content) => {
            bytes.push(0);
            text(bytes, content);
        }
        Datum::Number(number) => {
            bytes.push(1);
            unsigned(bytes, number.scale().into());
            big(bytes, &number.to_big());
        }
    }
}

/// Appends an integer.
pub(super) fn unsigned(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn signed(bytes: &mut Vec<u8>, number: i128) {
    unsigned(bytes, (number << 1 ^ number >> 127) as u128);
}

fn big(bytes: &mut Vec<u8>, number: &BigInt) {
    text(bytes, &number.to_signed_bytes_le());
}

/// Appends bytes with their length.
pub(super) fn text(bytes: &mut Vec<u8>, content: &[u8]) {
    unsigned(bytes, content.len() as u128);
    bytes.extend_from_slice(content);
}

/// Bytes that are read from the front.
#[derive(Debug)]
pub(super) struct Front<'a>(pub(super) &'a [u8]);

impl<'a> Front<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// An integer.
    #[inline]
    pub(super) fn unsigned<T: TryFrom<u128>>(&mut self) -> Option<T> {
        let first = self.byte()?;
        if first < 0x80 {
            return T::try_from(first.into()).ok();
        }
        let (mut number, mut shift) = (u128::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            if shift >= u128::BITS {
                return None;
            }
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return T::try_from(number).ok();
            }
            shift += 7;
        }
    }

    fn signed<T: TryFrom<i128>>(&mut self) -> Option<T> {
        let number: u128 = self.unsigned()?;
        T::try_from((number >> 1) as i128 ^ -((number & 1) as i128)).ok()
    }

    /// So many bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Bytes behind their length.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.unsigned()?;
        self.bytes(len)
    }

    fn big(&mut self) -> Option<BigInt> {
        self.text().map(BigInt::from_signed_bytes_le)
    }

    /// What is known of a key in a column of which so much is kept.
    pub(super) fn stats(&mut self, keep: Keep) -> Option<Stats> {
        let flags = self.byte()?;
        let has = |flag: u8| flags & flag != 0;
        let (count, missing) = if has(ONE) { (1, 0) } else { (self.unsigned()?, self.unsigned()?) };
        let sums = match (has(ONE), has(SMALL), has(BIG)) {
            (true, ..) => {
                let (scale, units): (u16, i64) = (self.unsigned()?, self.signed()?);
                let square = has(SQUARES).then(|| square(units));
                Some(Sums::of_units([units; 2], units.into(), square, scale))
            }
            (false, true, _) => Some(self.small_sums(has(SQUARES))?),
            (false, false, true) => Some(self.big_sums(has(SQUARES))?),
            (false, false, false) => None,
        };
        let values = if has(VALUES) { Some(self.values()?) } else { None };
        let sketch = if has(SKETCH) { Some(Sketch::restored(self.text()?)?) } else { None };
        let ends = match has(ENDS) {
            true => Some(Ends { first: self.end()?, last: self.end()? }),
            false => None,
        };
        Some(Stats::restored((count, missing), keep, sums, (values, sketch), ends))
    }

    fn small_sums(&mut self, has_squares: bool) -> Option<Sums> {
        let [scale, min_scale, max_scale] = [self.unsigned()?, self.unsigned()?, self.unsigned()?];
        let (min, max, sum) = (self.signed()?, self.signed()?, self.signed()?);
        let squares = if has_squares { Some(Box::new(self.unsigned()?)) } else { None };
        Some(Sums::Small { sum, squares, min, max, scale, min_scale, max_scale })
    }

    fn big_sums(&mut self, has_squares: bool) -> Option<Sums> {
        let scale = self.unsigned()?;
        let mut number = || self.big().map(|units| Decimal::of_big(units, scale));
        let numbers = [number()?, number()?, number()?];
        let squares = if has_squares { Some(self.big()?) } else { None };
        Some(Sums::restored(numbers.each_ref(), squares))
    }

    fn values(&mut self) -> Option<Multiset> {
        if self.byte()? == UNITS {
            let (scale, len): (u16, usize) = (self.unsigned()?, self.unsigned()?);
            let mut counted = Vec::with_capacity(len.min(self.0.len()));
            let mut units = 0_i128;
            for _ in 0..len {
                units = units.checked_add(self.signed()?)?;
                counted.push((i64::try_from(units).ok()?, self.unsigned()?));
            }
            return Some(Multiset::of_units(scale, counted));
        }
        let len: usize = self.unsigned()?;
        let one = |_| Some((self.datum()?, self.unsigned()?));
        (0..len).map(one).collect::<Option<Vec<_>>>().map(Multiset::restored)
    }

    fn datum(&mut self) -> Option<Datum> {
        if self.byte()? == 0 {
            return Some(Datum::Text(self.text()?.into()));
        }
        let scale = self.unsigned()?;
        Some(Datum::Number(Decimal::of_big(self.big()?, scale)))
    }

    fn end(&mut self) -> Option<(Order, Datum)> {
        let order = Order { source: self.unsigned()?, byte: self.unsigned()? };
        Some((order, self.datum()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kept::Given;

    /// Numbers of any size and scale, and texts.
    fn values() -> impl Strategy<Value = Vec<Datum>> {
        let number = |text: String| Datum::Number(Decimal::parse(text.as_bytes()).unwrap());
        let numbers = prop_oneof![
            8 => "-?[0-9]{1,3}(\\.[0-9])?",
            2 => "-?[0-9]{1,45}(\\.[0-9]{1,25})?",
        ];
        let texts = "[a-c]{0,3}|\\PC{0,20}";
        prop_oneof![
            prop::collection::vec(numbers.prop_map(number), 0..60),
            prop::collection::vec(
                texts.prop_map(|text| Datum::Text(text.as_bytes().into())),
                1..60
            ),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_read_is_what_was_written(
            data in values(), missing in 0..3_u64, flags in any::<[bool; 4]>(),
        ) {
            let texts = matches!(data.first(), Some(Datum::Text(_)));
            let [squares, values, sketch, ends] = flags;
            let keep = Keep { squares: squares && !texts, values, rounding: None, sketch, ends, texts };
            let mut stats = Stats::none(keep);
            for (at, datum) in (0..).zip(&data) {
                let given = match datum {
                    Datum::Number(number) => Given::Number(number),
                    Datum::Text(text) => Given::Text(text),
                };
                stats.take(given, Order { source: at % 3, byte: at as u64 * 1000 });
            }
            (0..missing).for_each(|_| stats.add_missing());
            let mut bytes = Vec::new();
            write(&mut bytes, &stats);
            for cut in 0..bytes.len() {
                // Nothing that is cut off is read, or hangs.
                prop_assert!(Front(&bytes[..cut]).stats(keep).is_none());
            }
            bytes.extend(b"rest");
            let mut front = Front(&bytes);
            let read = front.stats(keep).unwrap();
            prop_assert_eq!(front.0, b"rest");
            prop_assert_eq!(&read, &stats);
            // And goes on as what was written would.
            let (mut one, mut other) = (read.clone(), stats.clone());
            one.merge(&stats);
            other.merge(&read);
            prop_assert_eq!(one, other);
        }
    }
}
