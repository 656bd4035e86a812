//! Tables that are drawn, asked column by column and as text: the same bytes, and columns are silent exactly where
//! text refuses something.

use std::fs;
use std::path::Path;

use arrow_array::*;
use arrow_ipc::writer::FileWriter;
use clap::Parser;
use fathom_random::Random;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::super::{
    Format, engine_options, execute, layout, open, order, query, render, summarise as whole,
};
use super::*;
use crate::args::{Args, Command};

/// What columns cannot be asked for alone.
const KEYS: [&str; 7] = ["town", "view", "bytes", "code", "day", "moment", "paid"];
const VALUES: [&str; 5] = ["whole", "small", "double", "single", "price"];

fn pick<'a, T: ?Sized>(random: &mut Random, all: &[&'a T]) -> &'a T {
    all[random.below(all.len() as u64) as usize]
}

/// What is drawn of a table: how often a cell is missing or wrong, in thousandths, how many keys differ, and
/// whether floats are whole.
struct Habits {
    missing_keys: u64,
    missing: u64,
    wrong: u64,
    keys: u64,
    whole: bool,
}

fn text(random: &mut Random, habits: &Habits) -> String {
    match random.below(1000) < habits.wrong {
        true => String::new(),
        false => {
            let number = random.below(habits.keys);
            let rest = ["", "\"", ",", "\n", " of more than sixteen bytes", "é", "A", "a ", "a"];
            format!("{number}{}", rest[number as usize % rest.len()])
        }
    }
}

fn double(random: &mut Random, habits: &Habits) -> f64 {
    if random.below(1000) < habits.wrong {
        return [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][random.below(3) as usize];
    }
    let units = random.below(20_000) as f64 - 1e4;
    match random.below(40) {
        _ if habits.whole => units,
        0 => units * 1e12,
        1 => units / 7.0,
        2 => units * 1e200,
        3..10 => units,
        _ => units / 100.0,
    }
}

fn batch(random: &mut Random, habits: &Habits, rows: usize) -> RecordBatch {
    fn some<T>(
        random: &mut Random,
        (rows, missing): (usize, u64),
        draw: impl Fn(&mut Random) -> T,
    ) -> Vec<Option<T>> {
        let one = |random: &mut Random| {
            let value = draw(random);
            (random.below(1000) >= missing).then_some(value)
        };
        (0..rows).map(|_| one(random)).collect()
    }
    let (keys, values) = ((rows, habits.missing_keys), (rows, habits.missing));
    let towns = some(random, keys, |random| text(random, habits));
    let views = some(random, keys, |random| text(random, habits));
    let bytes = some(random, keys, |random| [b"a", b"\xff", b"b"][random.below(3) as usize]);
    // Arrow files have one dictionary for all batches.
    let names = StringArray::from_iter_values((0..9).map(|place| format!("c{place}")));
    let places = Int8Array::from(some(random, keys, |random| random.below(9) as i8));
    let places = Int8DictionaryArray::new(places, Arc::new(names));
    let most = habits.keys as i32;
    let days = some(random, keys, |random| random.below(40) as i32 - 20);
    let step = pick(random, &[&500_000, &3_600_000_001, &86_399_000_003]);
    let moments = some(random, keys, |random| (random.below(700) as i64 - 20) * step);
    let units = some(random, values, |random| i128::from(random.below(2_000_000)) - 1_000_000);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("town", Arc::new(StringArray::from(towns))),
        ("view", Arc::new(StringViewArray::from(views))),
        (
            "bytes",
            Arc::new(LargeBinaryArray::from_opt_vec(
                bytes.iter().map(|text| text.map(|text| &text[..])).collect(),
            )),
        ),
        ("place", Arc::new(places)),
        (
            "code",
            Arc::new(Int32Array::from(some(random, keys, |random| {
                random.below(most as u64) as i32 - most / 2
            }))),
        ),
        ("day", Arc::new(Date32Array::from(days))),
        ("moment", Arc::new(TimestampMicrosecondArray::from(moments).with_timezone("+01:00"))),
        ("paid", Arc::new(BooleanArray::from(some(random, keys, |random| random.below(2) == 1)))),
        (
            "whole",
            Arc::new(UInt64Array::from(some(random, values, |random| {
                random.word() >> random.below(64)
            }))),
        ),
        ("small", Arc::new(Int8Array::from(some(random, values, |random| random.word() as i8)))),
        ("double", Arc::new(Float64Array::from(some(random, values, |r| double(r, habits))))),
        (
            "single",
            Arc::new(Float32Array::from(some(random, values, |random| {
                (random.below(4000) as f32 - 2000.0) / [1.0, 2.0, 3.0][random.below(3) as usize]
            }))),
        ),
        ("price", Arc::new(Decimal128Array::from(units).with_precision_and_scale(9, 2).unwrap())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .unwrap()
}

/// Writes a file in either format, in parts and pages of all sizes, some with dictionaries that become too large.
fn write(random: &mut Random, path: &Path, batches: &[RecordBatch]) {
    let schema = batches[0].schema();
    if random.below(3) == 0 {
        let mut file = FileWriter::try_new(Vec::new(), &schema).unwrap();
        batches.iter().for_each(|batch| file.write(batch).unwrap());
        return fs::write(path, file.into_inner().unwrap()).unwrap();
    }
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1 + random.below(900) as usize))
        .set_dictionary_enabled(random.below(4) > 0)
        .set_dictionary_page_size_limit([40, 400, 1 << 20][random.below(3) as usize])
        .set_write_batch_size(1 + random.below(100) as usize)
        .set_data_page_row_count_limit(1 + random.below(300) as usize)
        .build();
    let mut file = ArrowWriter::try_new(Vec::new(), schema, Some(properties)).unwrap();
    batches.iter().for_each(|batch| file.write(batch).unwrap());
    fs::write(path, file.into_inner().unwrap()).unwrap();
}

/// The words of a question.
fn words(random: &mut Random) -> Vec<String> {
    let mut words = vec!["fathom".to_owned(), "aggregate".to_owned()];
    let list = |random: &mut Random, all: &[&str], most: u64| {
        let count = 1 + random.below(most);
        (0..count).map(|_| pick(random, all)).collect::<Vec<_>>().join(",")
    };
    let numbers = ["place", "price", "double"];
    let buckets = ["day:3d", "moment:2s", "moment:1y", "code:7", "price:2.5", "double:100"];
    words.push(format!("--by={}", list(random, &[&KEYS[..], &numbers, &buckets].concat(), 3)));
    for shape in ["--trim", "--ignore-case"] {
        words.extend((random.below(8) == 0).then(|| shape.to_owned()));
    }
    if random.below(8) == 0 {
        words.push("--count".to_owned());
    } else {
        words.push(format!("--value={}", list(random, &VALUES, 3)));
        let stats = [
            "min,mean,max", "count,rows,sum,variance,stddev,range", "median,p99,distinct,mode",
            "first,last,sum", "histogram,count",
        ];
        words.push(format!("--stats={}", pick(random, &stats)));
        words.push(format!("--null={}", pick(random, &["skip", "skip", "zero", "fail"])));
    }
    let conditions = [
        "town =~ \"1\" || double > 3.5", "code > 2 && price is not null",
        "day >= \"1970-01-03\" && paid == \"true\"",
        "place in (\"c1\", \"c2\") || whole * 2 < single",
        "bytes == \"a\" && moment < \"1970-01-01T00:00:05\"",
    ];
    if random.below(3) == 0 {
        words.push(format!("--where={}", pick(random, &conditions)));
    }
    if random.below(3) == 0 {
        words.push("--null-values=NaN".to_owned());
    }
    words.push(format!("--on-error={}", pick(random, &["fail", "skip"])));
    words.push(format!("--threads={}", 1 + random.below(3)));
    words
}

fn options(words: &[String], files: &[PathBuf]) -> Box<Options> {
    let files = files.iter().map(|file| file.to_str().unwrap().to_owned());
    match Args::parse_from(words.iter().cloned().chain(files)).command {
        Command::Aggregate(options) => Box::new(options),
        _ => unreachable!("the words of this command"),
    }
}

/// All forms of a result, and what it counted.
fn shown(options: &Options, query: &Query, mut summary: Summary) -> (Vec<Vec<u8>>, [u64; 4]) {
    let layout = layout(options, true, &summary);
    let order = order::criteria(options, &query.number_parts(), &layout, &summary.columns).unwrap();
    fathom_aggregate::format::arrange(&mut summary.columns, &order, None);
    let mut formats = vec![Format::Table, Format::Csv, Format::Json, Format::Html, Format::Parquet];
    if summary.columns.len() == 1 && summary.keys.len() == 1 {
        formats.push(Format::Brc);
    }
    // Parquet has no numbers beyond doubles, of which both sides say the same.
    let forms = formats.into_iter().map(|form| {
        match render(form, String::new(), (&summary.columns, false), &layout) {
            Err(why) if form == Format::Parquet => why.to_string().into_bytes(),
            shown => shown.unwrap(),
        }
    });
    let Summary { records, blank_lines, left_out, rejected, .. } = summary;
    (forms.collect(), [records, blank_lines, left_out, rejected])
}

/// What columns know, and what text does; as text an error is what it says.
struct Both {
    columns: Option<(Vec<Vec<u8>>, [u64; 4])>,
    text: Result<(Vec<Vec<u8>>, [u64; 4]), String>,
    /// What is told in the end.
    told: Result<(Vec<Vec<u8>>, [u64; 4]), String>,
}

/// None if the files cannot be opened.
fn both(words: &[String], files: &[PathBuf]) -> Option<Both> {
    let options = options(words, files);
    let condition =
        options.condition.as_deref().map(|text| fathom_aggregate::Filter::parse(text).unwrap());
    let mut query = query::query(&options, condition).unwrap().unwrap();
    let engine = engine_options(&options).unwrap();
    let inputs = open(&options, (Some(&mut query), &mut true), files).ok()?;
    let progress = Progress::default();
    let columns = summarise(&options, Some(&query), &inputs.tables, &engine, &progress);
    let texts = inputs.into_texts(engine.threads);
    let text = execute(&options, Some(&query), texts, &engine, None, &progress);
    let told = whole(&options, (Some(&mut query), &mut true), files, &engine, None);
    let shown = |summary| shown(&options, &query, summary);
    Some(Both {
        columns: columns.map(shown),
        text: text.map(shown).map_err(|error| error.to_string()),
        told: told.map(shown).map_err(|error| error.to_string()),
    })
}

/// The files of a drawn table, and how it was drawn.
fn files(random: &mut Random, folder: &Path) -> Vec<PathBuf> {
    let rare = |random: &mut Random| if random.below(8) == 0 { 1 + random.below(3) } else { 0 };
    let habits = Habits {
        missing_keys: if random.below(4) == 0 { 200 } else { 0 },
        missing: [0, 0, 100, 1000][random.below(4) as usize],
        wrong: rare(random),
        keys: [3, 60, 5000][random.below(3) as usize],
        whole: random.below(8) == 0,
    };
    let count = 1 + random.below(3);
    let file = |number| {
        let path = folder.join(format!("{number}"));
        let batches: Vec<RecordBatch> = (0..1 + random.below(3))
            .map(|_| {
                let rows = random.below(700) as usize;
                batch(random, &habits, rows)
            })
            .collect();
        write(random, &path, &batches);
        path
    };
    (0..count).map(file).collect()
}

#[test]
fn columns_say_what_text_says_and_nothing_where_it_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let [mut answered, mut refused] = [0; 2];
    for seed in 0..250 {
        let random = &mut Random::new(seed);
        let files = files(random, folder.path());
        let words = words(random);
        let Both { columns, text, told } = both(&words, &files).unwrap();
        let is_clean = text.as_ref().is_ok_and(|(_, counts)| counts[3] == 0);
        assert_eq!(
            columns.is_some(),
            is_clean,
            "seed {seed}: {words:?}: {:?}",
            text.as_ref().err()
        );
        // Which of several files is refused first is up to threads.
        let is_told = told == text || files.len() > 1 && told.is_err() && text.is_err();
        assert!(is_told, "seed {seed}: {words:?}: {:?} {:?}", told.err(), text.err());
        match columns {
            Some(columns) => {
                assert_eq!(columns.1, text.as_ref().unwrap().1, "seed {seed}: {words:?}");
                for (at, (found, wanted)) in columns.0.iter().zip(&text.unwrap().0).enumerate() {
                    let [found, wanted] =
                        [found, wanted].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                    assert!(
                        found == wanted,
                        "seed {seed}, form {at}: {words:?}\n{found}\n{wanted}"
                    );
                }
                answered += 1;
            }
            None => refused += 1,
        }
    }
    assert!(answered > 75 && refused > 40, "{answered} answered, {refused} refused");
}

#[test]
fn a_damaged_table_has_the_error_or_the_result_of_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["fathom", "aggregate", "--by=town,place", "--value=price,double", "--threads=2"];
    let words = words.map(str::to_owned);
    let habits = Habits { missing_keys: 0, missing: 100, wrong: 0, keys: 60, whole: false };
    for seed in 0..40 {
        let random = &mut Random::new(seed);
        let path = folder.path().join("damaged");
        let batch = batch(random, &habits, 300);
        write(random, &path, &[batch]);
        let whole = fs::read(&path).unwrap();
        for _ in 0..20 {
            let mut bytes = whole.clone();
            // Not the end, which is refused when it is opened.
            let place = 8 + random.below(bytes.len() as u64 * 3 / 4) as usize;
            bytes[place] ^= 1 << random.below(8);
            fs::write(&path, &bytes).unwrap();
            let Some(both) = both(&words, std::slice::from_ref(&path)) else { continue };
            let Both { columns, text, told } = both;
            let is_same = columns.is_none_or(|found| text.as_ref() == Ok(&found));
            assert!(is_same, "seed {seed}, byte {place}");
            assert!(told == text, "seed {seed}, byte {place}");
        }
    }
}

/// It was an error of the whole table, and in a dictionary it was told as a wrong time.
#[test]
fn a_time_beyond_the_calendar_goes_by_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("never");
    let days = Date32Array::from(vec![i32::MAX, 0]);
    let places = Int8DictionaryArray::new(Int8Array::from(vec![0, 1]), Arc::new(days.clone()));
    let columns = [("day", Arc::new(days) as ArrayRef), ("place", Arc::new(places) as ArrayRef)];
    let table = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &table.schema()).unwrap();
    file.write(&table).unwrap();
    fs::write(&path, file.into_inner().unwrap()).unwrap();
    for by in ["--by=day", "--by=place"] {
        let words = ["fathom", "aggregate", by, "--count"].map(str::to_owned);
        let Both { columns, text, told } = both(&words, std::slice::from_ref(&path)).unwrap();
        assert!(columns.is_none() && text.is_ok() && told == text, "{by}: {text:?}");
    }
    // In buckets it was a day of 2038.
    let words = ["fathom", "aggregate", "--by=day:1d", "--count"].map(str::to_owned);
    let Both { text, told, .. } = both(&words, std::slice::from_ref(&path)).unwrap();
    assert!(text.is_err() && told == text, "{text:?}");
}

/// What a query is asked instead of, and why it goes by text.
#[test]
fn what_columns_cannot_answer_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    let habits = Habits { missing_keys: 0, missing: 0, wrong: 0, keys: 9, whole: false };
    let random = &mut Random::new(1);
    let table = batch(random, &habits, 50);
    write(random, &one, std::slice::from_ref(&table));
    let renamed = RecordBatch::try_from_iter([
        ("town", Arc::clone(table.column_by_name("code").unwrap())),
        ("price", Arc::clone(table.column_by_name("price").unwrap())),
    ]);
    write(random, &other, &[renamed.unwrap()]);
    let fit = |words: &[&str], files: &[&Path]| {
        let words: Vec<String> =
            ["fathom", "aggregate"].iter().chain(words).map(|&word| word.to_owned()).collect();
        let files: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
        let options = options(&words, &files);
        let mut query = query::query(&options, None).unwrap().unwrap();
        let inputs = open(&options, (Some(&mut query), &mut true), &files).unwrap();
        let engine = engine_options(&options).unwrap();
        Asked::of(&query, &engine, &inputs.tables).err()
    };
    let name = str::to_owned;
    for (words, why) in [
        (&["--by", "town", "--value", "price"][..], None),
        (&["--by", "town,paid", "--count", "--null-values", "NaN"], None),
        (&["--by", "town", "--value", "price * whole"], Some(Unfit::Formula)),
        (&["--by", "town", "--text", "view"], Some(Unfit::Texts)),
        (&["--by", "day:1y", "--count"], None),
        (&["--by", "town", "--trim", "--count"], None),
        (&["--by", "town", "--count", "--null-values", "0"], Some(Unfit::Nulls)),
        (&["--by", "1", "--value", "price"], Some(Unfit::Places)),
        (&["--by", "town", "--count", "--memory-limit", "1G"], Some(Unfit::Limit)),
        (&["--by", "town", "--value", "view"], Some(Unfit::Type(name("view")))),
    ] {
        assert_eq!(fit(words, &[&one]), why, "{words:?}");
    }
    let words = ["--by", "town", "--value", "price"];
    assert_eq!(fit(&words, &[&one, &one]), None);
    assert_eq!(fit(&words, &[&one, &other]), Some(Unfit::Differs(name("town"))));
}
