//! A batch as lines of CSV (RFC 4180).

use std::fmt::{Debug, Display};
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime, as_time};
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Date32Type,
    Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    LargeBinaryType, LargeUtf8Type, StringViewType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field as Declared, TimeUnit};

/// Whether text is made of values of this type.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => {
            kind.is_numeric()
                || kind.is_temporal()
                    && !matches!(kind, DataType::Duration(_) | DataType::Interval(_))
                || matches!(
                    kind,
                    DataType::Null
                        | DataType::Boolean
                        | DataType::Utf8
                        | DataType::LargeUtf8
                        | DataType::Utf8View
                        | DataType::Binary
                        | DataType::LargeBinary
                        | DataType::BinaryView
                        | DataType::FixedSizeBinary(_)
                )
        }
    }
}

/// The delimiter before the field of this place.
pub(super) fn separate(place: usize, out: &mut Vec<u8>) {
    if place > 0 {
        out.push(b',');
    }
}

/// A text as a field; in quotes if it has to be.
pub(super) fn quoted(text: &[u8], out: &mut Vec<u8>) {
    // At the beginning of a text it would be taken for the mark of its encoding.
    let has_mark = text.starts_with("\u{feff}".as_bytes());
    let is_plain = !has_mark && !text.iter().any(|byte| b",\"\r\n".contains(byte));
    if is_plain && !text.is_empty() {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for part in text.split_inclusive(|&byte| byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

/// Writes all rows of a batch.
pub(super) fn write(batch: &RecordBatch, out: &mut Vec<u8>) {
    let declared = batch.schema_ref().fields().iter();
    let columns = declared.zip(batch.columns()).map(|(declared, column)| {
        let cells = if is_uuid(declared) { uuid(column) } else { field(column) };
        (column.logical_nulls(), cells)
    });
    let columns: Vec<_> = columns.collect();
    for row in 0..batch.num_rows() {
        let start = out.len();
        for (place, (nulls, field)) in columns.iter().enumerate() {
            separate(place, out);
            if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                field(row, out);
            }
        }
        // A blank line would be no record.
        if out.len() == start {
            out.extend_from_slice(b"\"\"");
        }
        out.push(b'\n');
    }
}

/// Writes the field of a row that has a value.
type Field<'a> = Box<dyn Fn(usize, &mut Vec<u8>) + 'a>;

fn field(column: &dyn Array) -> Field<'_> {
    use DataType as Type;
    match column.data_type() {
        Type::Boolean => {
            let column = column.as_boolean();
            Box::new(|row, out| shown(column.value(row), out))
        }
        Type::Int8 => integer::<Int8Type>(column),
        Type::Int16 => integer::<Int16Type>(column),
        Type::Int32 => integer::<Int32Type>(column),
        Type::Int64 => integer::<Int64Type>(column),
        Type::UInt8 => integer::<UInt8Type>(column),
        Type::UInt16 => integer::<UInt16Type>(column),
        Type::UInt32 => integer::<UInt32Type>(column),
        Type::UInt64 => integer::<UInt64Type>(column),
        Type::Float16 => {
            let column = column.as_primitive::<Float16Type>();
            Box::new(|row, out| shown(shortest(column.value(row)), out))
        }
        Type::Float32 => float::<Float32Type>(column),
        Type::Float64 => float::<Float64Type>(column),
        Type::Decimal32(_, scale) => decimal::<Decimal32Type>(column, *scale),
        Type::Decimal64(_, scale) => decimal::<Decimal64Type>(column, *scale),
        Type::Decimal128(_, scale) => decimal::<Decimal128Type>(column, *scale),
        Type::Decimal256(..) => {
            let column = column.as_primitive::<Decimal256Type>();
            Box::new(|row, out| shown(column.value_as_string(row), out))
        }
        Type::Utf8 => bytes::<Utf8Type>(column),
        Type::LargeUtf8 => bytes::<LargeUtf8Type>(column),
        Type::Binary => bytes::<BinaryType>(column),
        Type::LargeBinary => bytes::<LargeBinaryType>(column),
        Type::Utf8View => view::<StringViewType>(column),
        Type::BinaryView => view::<BinaryViewType>(column),
        Type::FixedSizeBinary(_) => {
            let column = column.as_fixed_size_binary();
            Box::new(|row, out| quoted(column.value(row), out))
        }
        Type::Date32 => time::<Date32Type, _>(column, as_date::<Date32Type>, ""),
        Type::Date64 => time::<Date64Type, _>(column, as_datetime::<Date64Type>, ""),
        Type::Time32(TimeUnit::Second) => {
            time::<Time32SecondType, _>(column, as_time::<Time32SecondType>, "")
        }
        Type::Time32(_) => {
            time::<Time32MillisecondType, _>(column, as_time::<Time32MillisecondType>, "")
        }
        Type::Time64(TimeUnit::Microsecond) => {
            time::<Time64MicrosecondType, _>(column, as_time::<Time64MicrosecondType>, "")
        }
        Type::Time64(_) => {
            time::<Time64NanosecondType, _>(column, as_time::<Time64NanosecondType>, "")
        }
        Type::Timestamp(unit, zone) => {
            // An instant, whatever zone it was written in; without a zone, what a clock showed.
            let end = if zone.is_some() { "Z" } else { "" };
            match unit {
                TimeUnit::Second => instant::<TimestampSecondType>(column, end),
                TimeUnit::Millisecond => instant::<TimestampMillisecondType>(column, end),
                TimeUnit::Microsecond => instant::<TimestampMicrosecondType>(column, end),
                TimeUnit::Nanosecond => instant::<TimestampNanosecondType>(column, end),
            }
        }
        Type::Dictionary(..) => {
            let column = column.as_any_dictionary();
            if column.values().is_empty() {
                return Box::new(|_, _| ());
            }
            let (places, value) = (column.normalized_keys(), field(column.values()));
            Box::new(move |row, out| value(places[row], out))
        }
        // `is_text` says which types there are; of nothing no field is written.
        _ => Box::new(|_, _| ()),
    }
}

fn is_uuid(declared: &Declared) -> bool {
    declared.extension_type_name() == Some("arrow.uuid")
        && *declared.data_type() == DataType::FixedSizeBinary(16)
}

/// UUIDs as RFC 9562 writes them.
fn uuid(column: &dyn Array) -> Field<'_> {
    let column = column.as_fixed_size_binary();
    Box::new(|row, out| {
        for (place, byte) in column.value(row).iter().enumerate() {
            if [4, 6, 8, 10].contains(&place) {
                out.push(b'-');
            }
            shown(format_args!("{byte:02x}"), out);
        }
    })
}

fn shown(value: impl Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("memory takes all");
}

/// The number of fewest digits that is nearest to this one of its type.
fn shortest(half: Half) -> f32 {
    let exact = half.to_f32();
    let rounded = |digits| format!("{exact:.digits$e}").parse().unwrap_or(exact);
    (0..HALF_DIGITS).map(rounded).find(|&some| Half::from_f32(some) == half).unwrap_or(exact)
}

/// A floating-point number of 16 bits.
type Half = <Float16Type as ArrowPrimitiveType>::Native;
/// Digits that tell it from all others, at most.
const HALF_DIGITS: usize = 5;

fn integer<T: ArrowPrimitiveType<Native: Into<i128>>>(column: &dyn Array) -> Field<'_> {
    let column = column.as_primitive::<T>();
    Box::new(|row, out| units(column.value(row).into(), 0, out))
}

/// Writes a number in units of `10^-scale`, which formatting for people takes several times as long for.
fn units(value: i128, scale: usize, out: &mut Vec<u8>) {
    // As many digits as the type has, as a scale may have zeros, a point and a sign.
    let mut text = [0; 39 + u8::MAX as usize + 2];
    let (mut at, mut rest, mut written) = (text.len(), value.unsigned_abs(), 0);
    let mut put = |byte| {
        at -= 1;
        text[at] = byte;
    };
    while rest > 0 || written <= scale {
        if written == scale && scale > 0 {
            put(b'.');
        }
        // Division of 64 bits is much cheaper.
        let digit = match u64::try_from(rest) {
            Ok(small) => {
                rest = (small / 10).into();
                small % 10
            }
            Err(_) => {
                let digit = rest % 10;
                rest /= 10;
                digit as u64
            }
        };
        put(b'0' + digit as u8);
        written += 1;
    }
    if value < 0 {
        put(b'-');
    }
    out.extend_from_slice(&text[at..]);
}

fn float<T: ArrowPrimitiveType<Native: zmij::Float>>(column: &dyn Array) -> Field<'_> {
    let column = column.as_primitive::<T>();
    Box::new(|row, out| {
        out.extend_from_slice(zmij::Buffer::new().format(column.value(row)).as_bytes());
    })
}

fn decimal<T: DecimalType<Native: Into<i128>>>(column: &dyn Array, scale: i8) -> Field<'_> {
    let column = column.as_primitive::<T>();
    match usize::try_from(scale) {
        Ok(scale) => Box::new(move |row, out| units(column.value(row).into(), scale, out)),
        Err(_) => Box::new(|row, out| shown(column.value_as_string(row), out)),
    }
}

fn bytes<T: ByteArrayType>(column: &dyn Array) -> Field<'_> {
    let column = column.as_bytes::<T>();
    Box::new(|row, out| quoted(column.value(row).as_ref(), out))
}

fn view<T: ByteViewType>(column: &dyn Array) -> Field<'_> {
    let column = column.as_byte_view::<T>();
    Box::new(|row, out| quoted(column.value(row).as_ref(), out))
}

fn instant<'a, T: ArrowPrimitiveType<Native = i64>>(
    column: &'a dyn Array,
    end: &'static str,
) -> Field<'a> {
    time::<T, _>(column, as_datetime::<T>, end)
}

/// Times as ISO 8601 has them, which is how chrono shows them to programmers; what is beyond the calendar, as marks for
/// "never" are, as the number that it is, with its unit: without, it would be taken for another time.
fn time<'a, T: ArrowPrimitiveType<Native: Into<i64>>, S: Debug + 'a>(
    column: &'a dyn Array,
    of: fn(i64) -> Option<S>,
    end: &'static str,
) -> Field<'a> {
    let column = column.as_primitive::<T>();
    Box::new(move |row, out| {
        let count: i64 = column.value(row).into();
        match of(count) {
            Some(time) => shown(format_args!("{time:?}{end}"), out),
            None => shown(format_args!("{count} {}", unit(&T::DATA_TYPE)), out),
        }
    })
}

/// What a time counts.
fn unit(kind: &DataType) -> &'static str {
    match kind {
        DataType::Date32 => "days",
        DataType::Time32(unit) | DataType::Time64(unit) | DataType::Timestamp(unit, _) => {
            match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            }
        }
        _ => "ms",
    }
}
