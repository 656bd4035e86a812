//! Arrays of Arrow as the slices that the columnar engine takes.

use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type,
    Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, StringViewType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use fathom_aggregate::columnar::{Batch, Integers, Numbers, Texts, Time, Valid};

/// A batch, and where its columns of keys, values and conditions stand.
pub(super) struct Rows {
    batch: RecordBatch,
    places: Arc<[usize]>,
    /// How many of them are keys, and values.
    sizes: [usize; 2],
    /// A value for each row where none is asked for: rows are counted.
    zeros: Vec<i8>,
}

impl Rows {
    /// # Errors
    /// For times beyond the calendar, whose text is their number.
    pub(super) fn new(
        batch: RecordBatch,
        places: &Arc<[usize]>,
        sizes: [usize; 2],
    ) -> io::Result<Rows> {
        let is_beyond = |&place: &usize| {
            let mut cells = texts(batch.column(place));
            while let Some(Texts::Dictionary(_, _, values)) = cells {
                cells = Some(*values);
            }
            matches!(cells, Some(Texts::Times(_, all, time)) if !is_in_calendar(all, time))
        };
        if places.iter().any(is_beyond) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let zeros = if sizes[1] == 0 { vec![0; batch.num_rows()] } else { Vec::new() };
        Ok(Rows { batch, places: Arc::clone(places), sizes, zeros })
    }

    fn texts(&self, column: usize) -> Texts<'_> {
        texts(self.batch.column(self.places[column])).expect("asked of its type")
    }
}

impl Batch for Rows {
    fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn row_bytes(&self) -> u64 {
        // As of arrays in memory.
        16 * self.places.len() as u64
    }

    fn keys(&self, part: usize) -> Texts<'_> {
        self.texts(part)
    }

    fn values(&self, column: usize) -> Numbers<'_> {
        if self.sizes[1] == 0 {
            return Numbers::Integers(Valid::default(), Integers::I8(&self.zeros));
        }
        let place = self.places[self.sizes[0] + column];
        numbers(self.batch.column(place)).expect("asked of its type")
    }

    fn filtered(&self, column: usize) -> Texts<'_> {
        self.texts(self.sizes[0] + self.sizes[1] + column)
    }
}

fn is_in_calendar(all: Integers<'_>, time: Time) -> bool {
    // Some centuries less than chrono has, which is what text is made by.
    const MOST_DAYS: i64 = 95_000_000;
    let range = match time {
        Time::Date => -MOST_DAYS..MOST_DAYS,
        Time::Clock(per_second) => 0..i64::from(per_second) * 86_400,
        Time::Moment(per_second, _) => {
            let most = MOST_DAYS.saturating_mul(86_400 * i64::from(per_second));
            -most..most
        }
    };
    match all {
        Integers::I32(all) => all.iter().all(|&count| range.contains(&count.into())),
        Integers::I64(all) => all.iter().all(|count| range.contains(count)),
        _ => false,
    }
}

fn valid(array: &dyn Array) -> Valid<'_> {
    array.nulls().map_or(Valid::default(), |nulls| Valid {
        bits: Some(nulls.validity()),
        offset: nulls.offset(),
    })
}

/// The texts of an array, or what its cells are as text; None of types that go by text alone.
pub(super) fn texts(array: &dyn Array) -> Option<Texts<'_>> {
    use DataType as Type;
    let valid = valid(array);
    let times = |time| Some(Texts::Times(valid, counts(array)?, time));
    match array.data_type() {
        Type::Utf8 => Some(short::<Utf8Type>(array)),
        Type::Binary => Some(short::<BinaryType>(array)),
        Type::LargeUtf8 => Some(long::<LargeUtf8Type>(array)),
        Type::LargeBinary => Some(long::<LargeBinaryType>(array)),
        Type::Utf8View => Some(views::<StringViewType>(array)),
        Type::BinaryView => Some(views::<BinaryViewType>(array)),
        Type::Boolean => {
            let bits = array.as_boolean().values();
            let bits = Valid { bits: Some(bits.values()), offset: bits.offset() };
            Some(Texts::Booleans(valid, bits))
        }
        Type::Date32 => times(Time::Date),
        Type::Time32(unit) | Type::Time64(unit) => times(Time::Clock(per_second(*unit))),
        Type::Timestamp(unit, zone) => times(Time::Moment(per_second(*unit), zone.is_some())),
        Type::Dictionary(places, _) => match **places {
            Type::Int8 => dictionary::<Int8Type>(array, Integers::I8),
            Type::Int16 => dictionary::<Int16Type>(array, Integers::I16),
            Type::Int32 => dictionary::<Int32Type>(array, Integers::I32),
            Type::Int64 => dictionary::<Int64Type>(array, Integers::I64),
            Type::UInt8 => dictionary::<UInt8Type>(array, Integers::U8),
            Type::UInt16 => dictionary::<UInt16Type>(array, Integers::U16),
            Type::UInt32 => dictionary::<UInt32Type>(array, Integers::U32),
            Type::UInt64 => dictionary::<UInt64Type>(array, Integers::U64),
            _ => None,
        },
        _ => match numbers(array)? {
            Numbers::Integers(valid, integers) => Some(Texts::Integers(valid, integers)),
            numbers => Some(Texts::Numbers(numbers)),
        },
    }
}

fn per_second(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn short<T: ByteArrayType<Offset = i32>>(array: &dyn Array) -> Texts<'_> {
    let texts = array.as_bytes::<T>();
    Texts::Short(valid(array), texts.value_offsets(), texts.value_data())
}

fn long<T: ByteArrayType<Offset = i64>>(array: &dyn Array) -> Texts<'_> {
    let texts = array.as_bytes::<T>();
    Texts::Long(valid(array), texts.value_offsets(), texts.value_data())
}

fn views<T: ByteViewType>(array: &dyn Array) -> Texts<'_> {
    let texts = array.as_byte_view::<T>();
    let (views, _) = texts.views().inner().as_slice().as_chunks();
    let buffers = texts.data_buffers().iter().map(|buffer| buffer.as_slice());
    Texts::Views(valid(array), views, buffers.collect())
}

fn dictionary<'a, T: ArrowDictionaryKeyType>(
    array: &'a dyn Array,
    width: fn(&'a [T::Native]) -> Integers<'a>,
) -> Option<Texts<'a>> {
    let dictionary = array.as_dictionary::<T>();
    let texts = texts(dictionary.values())?;
    Some(Texts::Dictionary(valid(array), width(dictionary.keys().values()), Box::new(texts)))
}

/// The numbers of an array; None of types that go by text alone.
pub(super) fn numbers(array: &dyn Array) -> Option<Numbers<'_>> {
    use DataType as Type;
    let valid = valid(array);
    let integers = |integers| Some(Numbers::Integers(valid, integers));
    match array.data_type() {
        Type::Int8 => integers(Integers::I8(array.as_primitive::<Int8Type>().values())),
        Type::Int16 => integers(Integers::I16(array.as_primitive::<Int16Type>().values())),
        Type::Int32 => integers(Integers::I32(array.as_primitive::<Int32Type>().values())),
        Type::Int64 => integers(Integers::I64(array.as_primitive::<Int64Type>().values())),
        Type::UInt8 => integers(Integers::U8(array.as_primitive::<UInt8Type>().values())),
        Type::UInt16 => integers(Integers::U16(array.as_primitive::<UInt16Type>().values())),
        Type::UInt32 => integers(Integers::U32(array.as_primitive::<UInt32Type>().values())),
        Type::UInt64 => integers(Integers::U64(array.as_primitive::<UInt64Type>().values())),
        Type::Float32 => Some(Numbers::F32(valid, array.as_primitive::<Float32Type>().values())),
        Type::Float64 => Some(Numbers::F64(valid, array.as_primitive::<Float64Type>().values())),
        Type::Decimal128(_, scale) => {
            let units = array.as_primitive::<Decimal128Type>().values().inner();
            let (units, _) = units.as_slice().as_chunks();
            Some(Numbers::Decimals(valid, units, u16::try_from(*scale).ok()?))
        }
        _ => None,
    }
}

/// What times count.
fn counts(array: &dyn Array) -> Option<Integers<'_>> {
    use DataType as Type;
    Some(match array.data_type() {
        Type::Date32 => Integers::I32(array.as_primitive::<Date32Type>().values()),
        Type::Time32(TimeUnit::Second) => {
            Integers::I32(array.as_primitive::<Time32SecondType>().values())
        }
        Type::Time32(_) => Integers::I32(array.as_primitive::<Time32MillisecondType>().values()),
        Type::Time64(TimeUnit::Microsecond) => {
            Integers::I64(array.as_primitive::<Time64MicrosecondType>().values())
        }
        Type::Time64(_) => Integers::I64(array.as_primitive::<Time64NanosecondType>().values()),
        Type::Timestamp(TimeUnit::Second, _) => {
            Integers::I64(array.as_primitive::<TimestampSecondType>().values())
        }
        Type::Timestamp(TimeUnit::Millisecond, _) => {
            Integers::I64(array.as_primitive::<TimestampMillisecondType>().values())
        }
        Type::Timestamp(TimeUnit::Microsecond, _) => {
            Integers::I64(array.as_primitive::<TimestampMicrosecondType>().values())
        }
        Type::Timestamp(TimeUnit::Nanosecond, _) => {
            Integers::I64(array.as_primitive::<TimestampNanosecondType>().values())
        }
        _ => return None,
    })
}
