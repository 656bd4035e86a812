//! Tables that are written here, and what they are as text.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow_array::builder::{Int32Builder, StringDictionaryBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::DataType;
use arrow_schema::extension::Uuid;
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// The name of a column, its cells, and what they are as text.
type Column = (&'static str, ArrayRef, [&'static str; 3]);

/// A column of each type, with a missing value in the second of three rows, and what they are as text.
fn columns() -> Vec<Column> {
    fn of(name: &'static str, cells: impl Array + 'static, texts: [&'static str; 3]) -> Column {
        (name, Arc::new(cells), texts)
    }
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    dictionary.extend([Some("a,b"), None, Some("a,b")]);
    let decimal = Decimal128Array::from(vec![Some(-150), None, Some(7)]);
    let zoned = TimestampMicrosecondArray::from(vec![Some(1_700_000_000_250_000), None, Some(-1)]);
    vec![
        of("bool", BooleanArray::from(vec![Some(true), None, Some(false)]), ["true", "", "false"]),
        of("i8", Int8Array::from(vec![Some(-128), None, Some(1)]), ["-128", "", "1"]),
        of(
            "u64",
            UInt64Array::from(vec![Some(u64::MAX), None, Some(0)]),
            ["18446744073709551615", "", "0"],
        ),
        of("f32", Float32Array::from(vec![Some(0.1), None, Some(-2.5)]), ["0.1", "", "-2.5"]),
        of(
            "f64",
            Float64Array::from(vec![Some(8.5e-5), None, Some(1e300)]),
            ["0.000085", "", "1e+300"],
        ),
        of("decimal", decimal.with_precision_and_scale(9, 2).unwrap(), ["-1.50", "", "0.07"]),
        of(
            "small",
            Decimal128Array::from(vec![Some(i128::MIN / 10), None, Some(-1)])
                .with_precision_and_scale(38, 38)
                .unwrap(),
            [
                "-0.17014118346046923173168730371588410572", "",
                "-0.00000000000000000000000000000000000001",
            ],
        ),
        of(
            "text",
            StringArray::from(vec![Some("say \"x\""), None, Some("")]),
            ["\"say \"\"x\"\"\"", "", "\"\""],
        ),
        of(
            "view",
            StringViewArray::from(vec![Some("a\nb"), None, Some("longer than twelve bytes")]),
            ["\"a\nb\"", "", "longer than twelve bytes"],
        ),
        of(
            "bytes",
            LargeBinaryArray::from_opt_vec(vec![Some(b"x"), None, Some(b"y")]),
            ["x", "", "y"],
        ),
        of("fixed", fixed([Some(b"a,b"), None, Some(b"xyz")]), ["\"a,b\"", "", "xyz"]),
        of("dictionary", dictionary.finish(), ["\"a,b\"", "", "\"a,b\""]),
        of(
            "date",
            Date32Array::from(vec![Some(19_000), None, Some(-1)]),
            ["2022-01-08", "", "1969-12-31"],
        ),
        of(
            "clock",
            TimestampSecondArray::from(vec![Some(0), None, Some(86_399)]),
            ["1970-01-01T00:00:00", "", "1970-01-01T23:59:59"],
        ),
        of(
            "instant",
            zoned.with_timezone("+02:00"),
            ["2023-11-14T22:13:20.250Z", "", "1969-12-31T23:59:59.999999Z"],
        ),
        of(
            "time",
            Time64NanosecondArray::from(vec![Some(1), None, Some(0)]),
            ["00:00:00.000000001", "", "00:00:00"],
        ),
    ]
}

fn fixed<const SIZE: usize, const ROWS: usize>(
    cells: [Option<&[u8; SIZE]>; ROWS],
) -> FixedSizeBinaryArray {
    let cells = cells.into_iter();
    FixedSizeBinaryArray::try_from_sparse_iter_with_size(cells, SIZE as i32).unwrap()
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

/// A batch of one column.
fn one(name: &str, column: impl Array + 'static) -> RecordBatch {
    batch(vec![(name, Arc::new(column) as ArrayRef)])
}

/// An Arrow file.
fn arrow(batch: &RecordBatch, options: IpcWriteOptions) -> Vec<u8> {
    let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    file.write(batch).unwrap();
    file.into_inner().unwrap()
}

/// A Parquet file, an Arrow file and an Arrow stream of the same batches, in parts of as many rows.
fn files(batches: &[RecordBatch], rows: usize) -> [Vec<u8>; 3] {
    let schema = batches[0].schema();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows)).build();
    let mut parquet =
        ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties)).unwrap();
    let mut arrow = FileWriter::try_new(Vec::new(), &schema).unwrap();
    let mut stream = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    for batch in batches {
        parquet.write(batch).unwrap();
        for start in (0..batch.num_rows()).step_by(rows) {
            let part = batch.slice(start, rows.min(batch.num_rows() - start));
            arrow.write(&part).unwrap();
            stream.write(&part).unwrap();
        }
    }
    [parquet.into_inner().unwrap(), arrow.into_inner().unwrap(), stream.into_inner().unwrap()]
}

/// A Parquet file of a UUID without a schema of Arrow.
fn foreign_uuids(uuid: &[u8]) -> Vec<u8> {
    let schema = "message m { required fixed_len_byte_array(16) id (UUID); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut rows = file.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let cells = [FixedLenByteArray::from(uuid.to_vec())];
    column.typed::<FixedLenByteArrayType>().write_batch(&cells, None, None).unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    file.into_inner().unwrap()
}

/// The table in a file of these bytes, if it is one.
fn opened(bytes: &[u8]) -> io::Result<Option<Table>> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Ok(of(Box::new(file), bytes.len() as u64)?.ok())
}

fn text(bytes: &[u8], wanted: Option<&[&str]>, threads: usize) -> io::Result<String> {
    let mut text = String::new();
    let table = opened(bytes)?.expect("a table");
    table.choose(wanted, |_, _| " (a hint)".to_owned())?.text(threads).read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn every_type_is_its_text_in_all_formats() {
    let batch = batch(columns().into_iter().map(|(name, column, _)| (name, column)).collect());
    for file in files(&[batch], 10) {
        for (name, _, [first, second, third]) in columns() {
            assert_eq!(second, "", "which, alone in its line, is no blank line");
            let wanted = format!("{name}\n{first}\n\"\"\n{third}\n");
            assert_eq!(text(&file, Some(&[name]), 1).unwrap(), wanted);
        }
        let all = text(&file, None, 1).unwrap();
        assert!(all.starts_with("bool,i8,u64,f32,f64,"), "{all}");
        assert!(all.contains("\n,,,,,,,,,,,,,,,\n"), "{all}");
        let some = text(&file, Some(&["f64", "i8"]), 1).unwrap();
        assert_eq!(some, "i8,f64\n-128,0.000085\n,\n1,1e+300\n", "the table's order");
    }
}

/// Of truths and decimals these were damaged tables.
#[test]
fn a_dictionary_of_any_type_is_its_values() {
    for (name, values, [first, _, third]) in columns() {
        let is_dictionary = matches!(values.data_type(), DataType::Dictionary(..));
        let values = if is_dictionary { Arc::new(StringArray::from(vec!["a,b"])) } else { values };
        let places = Int8Array::from(vec![0, i8::try_from(values.len()).unwrap() - 1, 0]);
        let column = DictionaryArray::new(places, values);
        for file in files(&[one(name, column)], 10) {
            let last = if is_dictionary { first } else { third };
            let wanted = format!("{name}\n{first}\n{last}\n{first}\n");
            assert_eq!(text(&file, None, 1).unwrap(), wanted);
        }
    }
}

#[test]
fn a_uuid_is_hexadecimal_digits_in_groups() {
    let uuid = b"\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x11\x22\x33\x44\x55\x66\xff";
    let column: ArrayRef = Arc::new(fixed([Some(uuid), None]));
    let field = Field::new("id", column.data_type().clone(), true).with_extension_type(Uuid);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![column]).unwrap();
    let [parquet, arrow, stream] = files(&[batch], 10);
    // As of a writer that leaves no schema of Arrow, in which the extension is named.
    let foreign = foreign_uuids(uuid);
    for file in [parquet, arrow, stream, foreign] {
        let found = text(&file, None, 1).unwrap();
        assert!(found.starts_with("id\n01234567-89ab-cdef-0011-2233445566ff\n"), "{found}");
    }
}

/// "Never" was a damaged table, then a number, which in buckets of times was another time.
#[test]
fn a_time_beyond_the_calendar_is_its_number_with_a_unit() {
    let batch = batch(vec![
        ("moment", Arc::new(TimestampMicrosecondArray::from(vec![i64::MAX, 0])) as ArrayRef),
        ("day", Arc::new(Date32Array::from(vec![i32::MAX, 0]))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![86_400_000_000, 0]))),
    ]);
    for file in files(&[batch], 10) {
        assert_eq!(
            text(&file, None, 1).unwrap(),
            "moment,day,clock\n9223372036854775807 us,2147483647 days,86400000000 us\n\
             1970-01-01T00:00:00,1970-01-01,00:00:00\n"
        );
    }
}

/// As the first bytes of a text it was a mark, and the column was not there.
#[test]
fn a_name_that_begins_with_a_byte_order_mark_keeps_it() {
    for file in files(&[one("\u{feff}n", Int64Array::from(vec![1]))], 10) {
        assert_eq!(text(&file, None, 1).unwrap(), "\"\u{feff}n\"\n1\n");
    }
}

/// They had the digits that tell numbers of 32 bits apart.
#[test]
fn a_number_of_sixteen_bits_has_its_shortest_digits() {
    type Half = <arrow_array::types::Float16Type as ArrowPrimitiveType>::Native;
    let all: Vec<Half> =
        (0..=u16::MAX).map(Half::from_bits).filter(|one| one.is_finite()).collect();
    for file in files(&[one("n", Float16Array::from(all.clone()))], 1 << 15) {
        let text = text(&file, None, 1).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines.len(), all.len());
        for (line, half) in lines.iter().zip(&all) {
            let number: f64 = line.parse().unwrap();
            let away = |half: Half| (half.to_f64() - number).abs();
            let bits = half.to_bits();
            let beside = [bits.wrapping_sub(1), bits.wrapping_add(1)].map(Half::from_bits);
            let mut beside = beside.into_iter().filter(|one| one.is_finite());
            assert!(beside.all(|other| away(*half) <= away(other)), "{line}");
            let digits = line.trim_start_matches(['-', '0', '.']).trim_end_matches('0');
            assert!(digits.bytes().filter(u8::is_ascii_digit).count() <= 5, "{line}");
        }
        for (text, number) in [("1.353", 1.353), ("0.1", 0.1), ("-2.5", -2.5)] {
            let place = all.iter().position(|half| *half == Half::from_f64(number)).unwrap();
            assert_eq!(lines[place], text);
        }
    }
}

/// The Python package has such a column as days, as everybody does who does not look for the writer's types.
#[test]
fn days_in_milliseconds_are_days_in_parquet() {
    let days = Date64Array::from(vec![86_400_000, -86_400_000]);
    let properties = WriterProperties::builder().set_coerce_types(true).build();
    let batch = one("day", days);
    let mut file = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    file.write(&batch).unwrap();
    let file = file.into_inner().unwrap();
    assert_eq!(text(&file, None, 1).unwrap(), "day\n1970-01-02\n1969-12-31\n");
}

#[test]
fn a_decimal_of_hundreds_has_its_zeros() {
    let numbers = Decimal64Array::from(vec![7, -12]).with_precision_and_scale(9, -2).unwrap();
    let file = arrow(&one("n", numbers), IpcWriteOptions::default());
    assert_eq!(text(&file, None, 1).unwrap(), "n\n700\n-1200\n");
}

#[test]
fn parts_keep_their_order_on_any_number_of_threads() {
    let numbers = one("n", Int64Array::from_iter_values(0..50_000));
    let wanted: String = (0..50_000).map(|n| format!("{n}\n")).collect();
    for file in files(&[numbers], 3_000) {
        for threads in [1, 2, 7, 100] {
            assert_eq!(text(&file, None, threads).unwrap(), format!("n\n{wanted}"));
        }
    }
}

#[test]
fn whoever_leaves_early_leaves_no_thread_that_waits_for_him() {
    for file in files(&[one("n", Int64Array::from_iter_values(0..50_000))], 3_000) {
        let counted = Counted::new(&file);
        let count = Arc::clone(&counted.bytes);
        let table = of(Box::new(counted), file.len() as u64).unwrap().ok().unwrap();
        table.choose(None, |_, _| String::new()).unwrap().text(3).read_exact(&mut [0; 10]).unwrap();
        let start = Instant::now();
        // Each thread has the file.
        while Arc::strong_count(&count) > 1 {
            assert!(start.elapsed() < Duration::from_secs(60), "a thread waits");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn a_column_that_is_not_there_or_no_text_is_an_error() {
    let lists =
        ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some([Some(1)])]);
    let mut numbers = Int32Builder::new();
    numbers.append_value(5);
    let batch =
        batch(vec![("tags", Arc::new(lists) as ArrayRef), ("n", Arc::new(numbers.finish()))]);
    for file in files(&[batch], 10) {
        assert_eq!(text(&file, Some(&["n"]), 1).unwrap(), "n\n5\n");
        let said = text(&file, Some(&["m"]), 1).unwrap_err().to_string();
        assert_eq!(said, "there is no column \"m\" (a hint); there are: tags, n");
        for wanted in [Some(&["tags"][..]), None] {
            let said = text(&file, wanted, 1).unwrap_err().to_string();
            assert!(
                said.starts_with("column \"tags\" has type List(Int32), of which no"),
                "{said}"
            );
        }
    }
}

#[test]
fn a_table_without_columns_is_an_error() {
    // Its text began with a header of one column without a name, which then was not there.
    let rows = RecordBatchOptions::new().with_row_count(Some(3));
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema, vec![], &rows).unwrap();
    let file = arrow(&batch, IpcWriteOptions::default());
    for wanted in [None, Some(&["n"][..])] {
        let said = text(&file, wanted, 1).unwrap_err().to_string();
        assert_eq!(said, "it has no columns");
    }
}

#[test]
fn a_damaged_file_is_an_error_or_other_text_and_never_hangs() {
    let batch = batch(columns().into_iter().map(|(name, column, _)| (name, column)).collect());
    for file in files(&[batch], 2) {
        for length in (0..file.len()).step_by(5) {
            let cut = &file[..length];
            let is_text = opened(cut).is_ok_and(|table| table.is_none());
            assert!(is_text || text(cut, None, 2).is_err(), "{length} of {} bytes", file.len());
        }
        for place in (0..file.len()).step_by(31) {
            let mut damaged = file.clone();
            damaged[place] ^= 0x41;
            if opened(&damaged).is_ok_and(|table| table.is_some()) {
                let _ = text(&damaged, None, 2);
            }
        }
    }
}

/// The library made numbers of levels, and of streams that are shorter than the values.
#[test]
fn a_damaged_header_of_a_page_changes_no_number() {
    let numbers = |row: i64| (row % 5 > 0).then_some(row * 1_000_003);
    let columns: [ArrayRef; 3] = [
        Arc::new(Int64Array::from_iter_values((0..40).map(|row| row * 1_000_003))),
        Arc::new(Int64Array::from_iter((0..40).map(numbers))),
        Arc::new(Float32Array::from_iter((0..40).map(|row| numbers(row).map(|n| n as f32)))),
    ];
    for (column, encoding, version) in columns.iter().flat_map(|column| {
        [Encoding::PLAIN, Encoding::BYTE_STREAM_SPLIT].into_iter().flat_map(move |encoding| {
            [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]
                .map(|version| (column, encoding, version))
        })
    }) {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(encoding)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_writer_version(version);
        let nullable = column.null_count() > 0;
        let column = [("n", Arc::clone(column), nullable)];
        let batch = RecordBatch::try_from_iter_with_nullable(column).unwrap();
        let properties = Some(properties.build());
        let mut file = ArrowWriter::try_new(Vec::new(), batch.schema(), properties).unwrap();
        file.write(&batch).unwrap();
        let file = file.into_inner().unwrap();
        let whole = text(&file, None, 1).unwrap();

        let reader = SerializedFileReader::new(bytes::Bytes::from(file.clone())).unwrap();
        let rows = reader.get_row_group(0).unwrap();
        let mut pages = rows.get_column_page_reader(0).unwrap();
        let page = pages.get_next_page().unwrap().unwrap();
        let (start, length) = reader.metadata().row_group(0).column(0).byte_range();
        let head = start..start + length - page.buffer().len() as u64;
        for bit in head.start * 8..head.end * 8 {
            let mut damaged = file.clone();
            damaged[bit as usize / 8] ^= 1 << (bit % 8);
            let is_text = matches!(opened(&damaged), Ok(None));
            if !is_text && let Ok(other) = text(&damaged, None, 1) {
                assert_eq!(other, whole, "{encoding} {version:?} {nullable} {bit} {head:?}");
            }
        }
    }
}

/// Against levels that are read bit by bit.
#[test]
fn levels_are_counted_in_every_form() {
    proptest::proptest!(|(runs in proptest::collection::vec((0_u8..2, 0_u64..40, proptest::bool::ANY, proptest::num::u64::ANY), 0..6), values in 0_u64..300)| {
        let (mut bytes, mut levels) = (Vec::new(), Vec::new());
        for (value, length, is_run, bits) in runs {
            if is_run {
                bytes.extend([(length << 1) as u8, value]);
                levels.extend(std::iter::repeat_n(u64::from(value), length as usize));
            } else {
                let groups = length.min(8);
                bytes.push((groups << 1) as u8 | 1);
                bytes.extend(&bits.to_le_bytes()[..groups as usize]);
                levels.extend((0..8 * groups).map(|bit| bits >> bit & 1));
            }
        }
        let wanted = levels.get(..values as usize).map(|levels| levels.iter().sum());
        assert_eq!(pages::ones(&bytes, values), wanted);
    });
}

#[test]
fn dictionaries_of_a_stream_are_replaced_and_added_to() {
    let of = |names: &[&str]| {
        let mut column = StringDictionaryBuilder::<Int8Type>::new();
        column.extend(names.iter().map(|name| Some(*name)));
        one("town", column.finish())
    };
    let batches = [of(&["Oslo", "Rome"]), of(&["Oslo", "Rome", "Aix"]), of(&["Rome", "Aix"])];
    for handling in [DictionaryHandling::Resend, DictionaryHandling::Delta] {
        let options = IpcWriteOptions::default().with_dictionary_handling(handling);
        let mut stream =
            StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
        for batch in &batches {
            stream.write(batch).unwrap();
        }
        let stream = stream.into_inner().unwrap();
        for threads in [1, 2, 7] {
            let found = text(&stream, None, threads).unwrap();
            assert_eq!(found, "town\nOslo\nRome\nOslo\nRome\nAix\nRome\nAix\n");
        }
    }
}

/// A file that counts what is read of it, and how often.
struct Counted {
    file: Vec<u8>,
    bytes: Arc<AtomicUsize>,
    calls: Arc<AtomicUsize>,
}

impl Counted {
    fn new(file: &[u8]) -> Counted {
        Counted { file: file.to_vec(), bytes: Arc::default(), calls: Arc::default() }
    }
}

impl ReadAt for Counted {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let rest = self.file.get(at as usize..).unwrap_or_default();
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.bytes.fetch_add(count, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(count)
    }
}

/// It was read for each batch: 1500 times 28 MB of a file of 30 MB.
#[test]
fn a_dictionary_is_read_once_and_only_for_its_own_column() {
    let names = (0..1000).map(|number| format!("{number:100}")).collect::<Vec<String>>();
    let column: DictionaryArray<Int32Type> = names.iter().map(|name| Some(&**name)).collect();
    let numbers = Arc::new(Int64Array::from_iter_values(0..1000)) as ArrayRef;
    let whole = batch(vec![("town", Arc::new(column) as ArrayRef), ("n", numbers)]);
    let [_, file, stream] = files(&[whole], 10);
    for bytes in [file, stream] {
        for (wanted, most) in [(&["town", "n"][..], 2 * bytes.len()), (&["n"], bytes.len() / 2)] {
            let counted = Counted::new(&bytes);
            let count = Arc::clone(&counted.bytes);
            let table = of(Box::new(counted), bytes.len() as u64).unwrap().ok().unwrap();
            let mut text = String::new();
            let mut reader = table.choose(Some(wanted), |_, _| String::new()).unwrap().text(1);
            reader.read_to_string(&mut text).unwrap();
            assert_eq!(text.lines().count(), 1001);
            let read = count.load(Ordering::Relaxed);
            assert!(read < most, "{read} of {} bytes", bytes.len());
        }
    }
}

/// What could not be read was told as what could not be kept.
#[test]
fn a_source_that_breaks_off_is_no_error_of_the_folder() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("torn off"))
        }
    }
    let reader = Cursor::new(*b"PAR1\x15\x04\x15").chain(Broken);
    let said = kept(Box::new(reader)).map(drop).unwrap_err().to_string();
    assert_eq!(said, "torn off");
}

/// It was damage, which ends a program with another code.
#[test]
fn what_cannot_be_read_is_said_as_it_was() {
    /// A file that can be read so many times.
    struct Broken(Counted, usize);

    impl ReadAt for Broken {
        fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
            match self.0.calls.fetch_add(1, Ordering::Relaxed) < self.1 {
                true => self.0.read_at(into, at),
                false => Err(io::Error::new(ErrorKind::ConnectionReset, "torn off")),
            }
        }
    }

    for file in files(&[one("n", Int64Array::from_iter_values(0..90))], 30) {
        let read = |times| {
            let broken = Broken(Counted::new(&file), times);
            let table = of(Box::new(broken), file.len() as u64)?.ok().expect("a table");
            let mut text = String::new();
            let mut reader = table.choose(None, |_, _| String::new())?.text(2);
            reader.read_to_string(&mut text).map(|_| text)
        };
        // What is no table for this reason is said by whoever reads it as text.
        let errors = (1..).map_while(|times| read(times).err()).take(1000);
        let said: Vec<_> = errors.map(|error| (error.kind(), error.to_string())).collect();
        assert!((4..100).contains(&said.len()), "{said:?}");
        for said in said {
            assert_eq!(said, (ErrorKind::ConnectionReset, "torn off".to_owned()));
        }
    }
}

/// Headers were read byte by byte, of an object of a store by a request each.
#[test]
fn pages_are_read_in_blocks() {
    let numbers = one("n", Int64Array::from_iter_values((0..100_000).map(|n| n * n)));
    let properties = WriterProperties::builder().set_data_page_row_count_limit(500);
    let properties = Some(properties.set_write_batch_size(500).build());
    let mut file = ArrowWriter::try_new(Vec::new(), numbers.schema(), properties).unwrap();
    file.write(&numbers).unwrap();
    let file = file.into_inner().unwrap();
    let counted = Counted::new(&file);
    let (calls, bytes) = (Arc::clone(&counted.calls), Arc::clone(&counted.bytes));
    let table = of(Box::new(counted), file.len() as u64).unwrap().ok().unwrap();
    let mut text = String::new();
    let mut reader = table.choose(None, |_, _| String::new()).unwrap().text(1);
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().count(), 100_001);
    let read = [calls, bytes].map(|count| count.load(Ordering::Relaxed));
    assert!(read[0] < 10 && read[1] < 2 * file.len(), "{read:?} of {} bytes", file.len());
}

#[test]
fn a_stream_without_its_end_is_an_error_wherever_it_was_cut() {
    let [_, _, stream] = files(&[one("n", Int64Array::from_iter_values(0..9))], 3);
    for length in 8..stream.len() {
        let said = text(&stream[..length], None, 1).unwrap_err().to_string();
        assert!(said.contains("it has no end mark"), "{length} of {} bytes: {said}", stream.len());
    }
    let more = [&stream[..], b"more"].concat();
    assert_eq!(text(&more, None, 1).unwrap().lines().count(), 10, "what follows is another's");
    let said = text(&stream.repeat(2), None, 1).unwrap_err().to_string();
    assert_eq!(said, format!("a second stream follows at byte {}", stream.len()));
}

#[test]
fn what_is_no_file_is_kept_in_one_if_it_is_a_table() {
    for file in files(&[one("n", Int64Array::from_iter_values(0..9))], 3) {
        let Input::File(bytes, size) = kept(Box::new(Cursor::new(file.clone()))).unwrap() else {
            panic!("a table is read on")
        };
        assert_eq!(size, file.len() as u64);
        let mut text = String::new();
        let table = of(bytes, size).unwrap().ok().expect("a table");
        let mut reader = table.choose(None, |_, _| String::new()).unwrap().text(2);
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "n\n0\n1\n2\n3\n4\n5\n6\n7\n8\n");
    }
    for other in [&b""[..], b"n", b"n\n0\n1\n2\n3\n4\n"] {
        let Input::Stream(mut reader) = kept(Box::new(other)).unwrap() else {
            panic!("a text is kept")
        };
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, other);
    }
}

/// Taken at its word, memory ran out, which ends a program.
#[test]
fn a_buffer_that_says_it_decodes_to_more_than_it_can_is_an_error() {
    let numbers = Int64Array::from_iter_values((0..1000).map(|n| n % 7));
    let options = IpcWriteOptions::default()
        .try_with_compression(Some(arrow_ipc::CompressionType::LZ4_FRAME))
        .unwrap();
    let mut file = arrow(&one("n", numbers), options);
    assert!(text(&file, None, 1).is_ok());
    let start = [&8000_i64.to_le_bytes()[..], b"\x04\x22\x4d\x18"].concat();
    let place = file.windows(start.len()).position(|bytes| bytes == start).expect("the buffer");
    for claim in [1 << 46, i64::MAX] {
        file[place..place + 8].copy_from_slice(&claim.to_le_bytes());
        let said = text(&file, None, 2).unwrap_err().to_string();
        assert!(said.contains(&format!("are said to decode to {claim}")), "{said}");
    }
}

/// A batch became text as a whole.
#[test]
fn a_batch_of_more_rows_than_memory_is_text_as_it_is_read() {
    let file = arrow(&one("n", NullArray::new(1 << 40)), IpcWriteOptions::default());
    let table = opened(&file).unwrap().unwrap();
    let mut beginning = [0; 8];
    table.choose(None, |_, _| String::new()).unwrap().text(2).read_exact(&mut beginning).unwrap();
    assert_eq!(beginning, *b"n\n\"\"\n\"\"\n");
}

#[test]
fn other_files_are_no_tables() {
    for bytes in [&b""[..], b"a", b"PAR1;2.0\n", b"host,ms\na,1\n", b"\x1f\x8b\x08"] {
        assert!(opened(bytes).unwrap().is_none());
    }
}
