//! Tables as input: files that other programs wrote (`testdata/tables/make.py`), and what is said of them where
//! they are not read.

mod common;

use std::path::Path;
use std::process::Output;

#[cfg(feature = "tables")]
const ALL: [&str; 4] = ["pyarrow.parquet", "pyarrow.arrow", "pyarrow.arrows", "polars.parquet"];

fn aggregate(words: &[&str]) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables");
    common::piped(&folder, [&["aggregate"], words].concat(), b"")
}

fn said(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[cfg(not(feature = "tables"))]
#[test]
fn without_the_feature_a_table_is_an_error_that_names_it() {
    for (file, kind) in [
        ("pyarrow.parquet", "a Parquet file"),
        ("pyarrow.arrow", "an Arrow file"),
        ("pyarrow.arrows", "an Arrow stream"),
    ] {
        for words in [&[file][..], &["--by", "town", "--count", file]] {
            let output = aggregate(words);
            let wanted = format!("fathom: {file}: this is {kind}, not text: ");
            assert_eq!(output.status.code(), Some(3), "{}", said(&output));
            assert!(said(&output).starts_with(&wanted), "{}", said(&output));
            assert!(said(&output).contains("`--features tables`"), "{}", said(&output));
        }
    }
}

/// The lines of a result that has to succeed.
#[cfg(feature = "tables")]
fn result(words: &[&str]) -> String {
    let output = aggregate(words);
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[cfg(feature = "tables")]
#[test]
fn what_is_asked_of_text_is_asked_of_tables_of_any_writer() {
    let questions: [(&[&str], &str); 5] = [
        (
            &["--by", "town", "--value", "price", "--stats", "count,sum,max"],
            "town,count,sum,max\n\"Aix, \"\"la belle\"\"\",1,9.99,9.99\nOslo,3,2.95,1.5\nRome,3,2.76,2.75\n",
        ),
        (
            &["--by", "sold:1h", "--count"],
            "sold,count\n2026-11-22T09:00:00Z,2\n2026-11-22T10:00:00Z,3\n2026-11-22T11:00:00Z,3\n",
        ),
        (
            &["--by", "paid", "--value", "weight", "--stats", "rows,count,min,max"],
            "paid,rows,count,min,max\nfalse,2,2,0.00001,0.2\ntrue,5,4,0.1,7\n",
        ),
        (
            &[
                "--by", "paid", "--value", "price * weight", "--where",
                "town =~ \"o\" && weight < 1", "--stats", "sum",
            ],
            "paid,sum\nfalse,0.55\ntrue,0.15\n",
        ),
        (&["--by", "2", "--value", "3", "--stats", "max", "--top", "1"], "price,max\n-0.05,\n"),
    ];
    for (words, wanted) in questions {
        for file in ALL {
            for threads in ["1", "3"] {
                let words = [words, &["--on-error", "skip", "--threads", threads, file]].concat();
                let output = aggregate(&words);
                let found = std::str::from_utf8(&output.stdout).unwrap();
                assert_eq!(found, wanted, "{words:?}: {}", said(&output));
            }
        }
    }
    let both = result(&[
        "--where", "town == \"Oslo\"", "--by", "town", "--count", "pyarrow.arrow", "polars.parquet",
    ]);
    assert_eq!(both, "town,count\nOslo,6\n");
}

#[cfg(feature = "tables")]
#[test]
fn a_missing_value_alone_in_its_row_is_a_record_without_a_key() {
    for file in ALL {
        let output = aggregate(&["--by", "town", "--count", file]);
        let wanted = format!("fathom: {file}:5:2: the key is empty: town \"\"\n");
        assert_eq!((output.status.code(), said(&output)), (Some(3), &*wanted));
    }
}

#[cfg(feature = "tables")]
#[test]
fn a_mistake_is_said_in_the_words_of_the_table() {
    let mistakes: [(&[&str], i32, &str); 10] = [
        (
            &["--by", "city", "--count", "polars.parquet"],
            3,
            "there is no column \"city\"; there are: town, price, weight, sold, paid",
        ),
        (
            &["--by", "town:often", "--count", "polars.parquet"],
            3,
            "no column \"town:often\" (what is behind its colon is no width of buckets",
        ),
        (
            &["--by", "town", "--count", "--where", "nope > 1", "polars.parquet"],
            3,
            "there is no column \"nope\"; there are: town, price, weight, sold, paid",
        ),
        (
            &["--by", "99", "--count", "polars.parquet"],
            3,
            "polars.parquet: there is no column 99; there are 5",
        ),
        (
            &["--ragged", "pad", "--by", "town", "--count", "polars.parquet"],
            2,
            "--quotes, --ragged and --decimal-comma are of text",
        ),
        (&["polars.parquet"], 2, "polars.parquet: it has columns: choose them by --by and --value"),
        (
            &["--delimiter", ";", "--count", "polars.parquet"],
            2,
            "it is a table: --format-in, --delimiter",
        ),
        (
            &["--by", "1", "--count", "polars.parquet", "make.py"],
            2,
            "tables (Parquet, Arrow) and texts are read in runs of their own",
        ),
        (
            &["--by", "town", "--count", "--range", "0..9", "polars.parquet"],
            2,
            "what is empty, compressed, UTF-16, a table or no regular file has no ranges",
        ),
        (
            &["--by", "price", "--value", "town", "pyarrow.arrow"],
            3,
            "pyarrow.arrow:2:1: the value is not a decimal number: town \"Oslo\"",
        ),
    ];
    for (words, code, wanted) in mistakes {
        let output = aggregate(words);
        let said = said(&output);
        assert!(output.status.code() == Some(code) && said.contains(wanted), "{words:?}: {said}");
    }
    // Its tasks would not have run.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables");
    let output = common::piped(&folder, ["plan", "--tasks", "2", "polars.parquet", "make.py"], b"");
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
    assert!(said(&output).contains("in runs of their own"), "{}", said(&output));
}

#[cfg(feature = "tables")]
#[test]
fn a_table_may_come_through_a_pipe() {
    let words = ["aggregate", "--by", "town", "--count", "--on-error", "skip"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables");
    for file in ALL {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let output = common::piped(&folder, words, &bytes);
        assert_eq!(
            output.stdout,
            b"town,count\n\"Aix, \"\"la belle\"\"\",1\nOslo,3\nRome,3\n",
            "{file}: {}",
            said(&output)
        );
        let output = common::piped(&folder, words, &bytes[..bytes.len() / 2]);
        assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b""[..]), "{file}");
        assert!(said(&output).contains("the table is damaged"), "{file}: {}", said(&output));
    }
    let missing =
        format!("exec env TMPDIR=/no/folder {} aggregate --count -", env!("CARGO_BIN_EXE_fathom"));
    let output = std::process::Command::new("sh")
        .args(["-c", &missing])
        .stdin(std::fs::File::open(folder.join("pyarrow.arrows")).unwrap())
        .output()
        .unwrap();
    let wanted = "a table that is no file is kept in /no/folder: ";
    assert!(!output.status.success() && said(&output).contains(wanted), "{}", said(&output));
}

/// Another number was read as if nothing was wrong.
#[cfg(feature = "tables")]
#[test]
fn a_page_that_has_a_checksum_is_held_to_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables");
    let mut bytes = std::fs::read(folder.join("checksum.parquet")).unwrap();
    let words = ["aggregate", "--by", "town", "--value", "price", "--stats", "sum"];
    assert_eq!(common::piped(&folder, words, &bytes).stdout, b"town,sum\nOslo,780\n");
    let price = 30_u64.to_le_bytes();
    let at = bytes.windows(8).position(|bytes| bytes == price).unwrap();
    bytes[at + 6] = 1;
    let output = common::piped(&folder, words, &bytes);
    assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b""[..]));
    assert!(said(&output).contains("CRC"), "{}", said(&output));
}

/// Columns that are packed by Zstandard need its library.
#[cfg(feature = "tables")]
#[test]
fn zstandard_is_read_where_the_build_has_it() {
    let output = aggregate(&["--by", "town", "--count", "--on-error", "skip", "duckdb.parquet"]);
    if cfg!(feature = "zstd") {
        assert!(String::from_utf8_lossy(&output.stdout).contains("Oslo,3"), "{}", said(&output));
    } else {
        let said = said(&output).to_lowercase();
        assert!(!output.status.success() && said.contains("zstd"), "{said}");
    }
}

/// The text lost its first record, as if it had a header, too; the table was read with the commas of the text.
#[cfg(feature = "tables")]
#[test]
fn a_table_and_a_text_are_compared_each_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string().into_string().unwrap();
    let texts = [
        ("bare", "Oslo,1\nOslo,2\n"),
        ("headed", "place,cost\nOslo,1\nOslo,2\n"),
        ("commas", "Oslo;1,5\nOslo;2,5\n"),
    ];
    for (name, text) in texts {
        std::fs::write(path(name), text).unwrap();
        let [text, table] = [&*path(name), "polars.parquet"];
        for (files, wanted) in [([table, text], "Oslo,3,2,"), ([text, table], "Oslo,2,3,")] {
            let words = "--compare --by 1 --value 2 --stats count --on-error skip --format csv";
            let words = [&words.split(' ').collect::<Vec<_>>()[..], &files].concat();
            let output = aggregate(&words);
            let found = String::from_utf8_lossy(&output.stdout);
            assert!(found.contains(wanted), "{words:?}: {found}{}", said(&output));
        }
    }
}

#[cfg(feature = "tables")]
#[test]
fn states_of_tables_merge_to_the_same_and_plan_leaves_them_whole() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let question = ["--by", "paid", "--value", "price", "--stats", "count,sum"];
    let all = [&question[..], &["pyarrow.parquet"]].concat();
    let words =
        [&question[..], &["--partial", "-o", state.to_str().unwrap(), "pyarrow.parquet"]].concat();
    for words in [&all, &words] {
        let words = [&words[..], &["--on-error", "skip"]].concat();
        assert!(matches!(aggregate(&words).status.code(), Some(0 | 1)));
    }
    let merged = common::piped(folder.path(), ["merge", "--format", "csv", "state"], b"").stdout;
    assert_eq!(merged, aggregate(&[&all[..], &["--on-error", "skip"]].concat()).stdout);
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tables/pyarrow.parquet");
    let plan =
        common::piped(folder.path(), ["plan", "--tasks", "4", source.to_str().unwrap()], b"");
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(plan.lines().count() == 1 && !plan.contains("--range"), "{plan}");
}

#[cfg(not(feature = "tables"))]
#[test]
fn without_the_feature_no_table_is_written_and_the_build_that_does_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["parquet", "arrow"] {
        for job in ["aggregate", "merge"] {
            let words = [job, "--format", format, "-o", "out", "-"];
            let output = common::piped(folder.path(), words, b"a;1\n");
            let wanted = format!(
                "--format {format}: this fathom was built without the feature `tables`, which writes it: \
                 cargo build --features tables"
            );
            assert!(!output.status.success() && output.stdout.is_empty());
            assert!(said(&output).contains(&wanted), "{job}: {}", said(&output));
            assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        }
    }
}

/// Results as files, read back by the libraries of their formats, and beside the same result in CSV.
#[cfg(feature = "tables")]
mod results {
    use std::fs::{self, File};
    use std::path::Path;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Decimal128Type, Float64Type, Int64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_schema::{DataType, Schema};
    use fathom_random::Random;

    use super::{common, said};

    /// A file's types, and its cells by column; None is what is missing.
    fn read(path: &Path) -> (Schema, Vec<Vec<Option<String>>>) {
        let file = File::open(path).unwrap();
        let all: Vec<RecordBatch>;
        let schema;
        if path.extension().unwrap() == "parquet" {
            use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
            schema = reader.schema().clone();
            all = reader.build().unwrap().map(Result::unwrap).collect();
        } else {
            let reader = arrow_ipc::reader::FileReader::try_new(file, None).unwrap();
            schema = reader.schema();
            all = reader.map(Result::unwrap).collect();
        }
        let cells = |at: usize| all.iter().flat_map(|batch| cells(batch.column(at))).collect();
        ((*schema).clone(), (0..schema.fields().len()).map(cells).collect())
    }

    /// The cells of a column as CSV would have them.
    fn cells(column: &dyn Array) -> Vec<Option<String>> {
        let cell = |row| match column.data_type() {
            DataType::LargeUtf8 => column.as_string::<i64>().value(row).to_owned(),
            DataType::LargeBinary => {
                String::from_utf8_lossy(column.as_binary::<i64>().value(row)).into_owned()
            }
            DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
            // By its bits, and so is what it is compared with.
            DataType::Float64 => bits(column.as_primitive::<Float64Type>().value(row)),
            DataType::Decimal128(..) => {
                column.as_primitive::<Decimal128Type>().value_as_string(row)
            }
            other => panic!("{other}"),
        };
        (0..column.len()).map(|row| column.is_valid(row).then(|| cell(row))).collect()
    }

    fn bits(number: f64) -> String {
        format!("{number:?} {:x}", number.to_bits())
    }

    /// The columns of a CSV, headings first.
    fn columns_of(csv: &str) -> Vec<Vec<String>> {
        let (mut lines, mut quoted) = (vec![vec![String::new()]], false);
        let mut all = csv.chars().peekable();
        while let Some(c) = all.next() {
            let line = lines.last_mut().unwrap();
            match c {
                '"' if quoted && all.peek() == Some(&'"') => {
                    line.last_mut().unwrap().extend(all.next());
                }
                '"' => quoted = !quoted,
                ',' if !quoted => line.push(String::new()),
                '\n' if !quoted => lines.push(vec![String::new()]),
                c => line.last_mut().unwrap().push(c),
            }
        }
        assert_eq!(lines.pop().unwrap(), [""], "the last line ends");
        (0..lines[0].len()).map(|at| lines.iter().map(|line| line[at].clone()).collect()).collect()
    }

    /// The type that a column must have, by its heading and what CSV has in it.
    fn expected(heading: &str, cells: &[String], decimals: Option<u8>) -> DataType {
        let number = match decimals {
            Some(decimals) => DataType::Decimal128(38, decimals as i8),
            None => DataType::Float64,
        };
        let Some((value, told)) = heading.split_once('_') else { return DataType::LargeUtf8 };
        match (value, told) {
            (_, "histogram") | ("who", "mode" | "first" | "last") => DataType::LargeUtf8,
            (_, "count" | "rows" | "distinct") => DataType::Int64,
            (_, "mean" | "variance" | "stddev" | "median" | "p99") => number,
            (_, told) if told.ends_with('%') => number,
            ("price", _) if !cells.is_empty() => number,
            // Of integers, where all fit.
            _ if cells.iter().all(|cell| cell.is_empty() || cell.parse::<i64>().is_ok()) => {
                DataType::Int64
            }
            _ => number,
        }
    }

    fn fathom(folder: &Path, words: &[&str]) -> Vec<u8> {
        let output = common::piped(folder, words, b"");
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", said(&output));
        output.stdout
    }

    /// Writes both files by `words` and compares them with the CSV by the same words.
    fn compare(folder: &Path, words: &[&str], decimals: Option<u8>) -> Schema {
        let csv = String::from_utf8(fathom(folder, &[words, &["--format", "csv"]].concat()));
        let csv = columns_of(&csv.unwrap());
        let [parquet, arrow] = ["parquet", "arrow"].map(|format| {
            let name = format!("out.{format}");
            fathom(folder, &[words, &["--format", format, "-o", &name]].concat());
            let piped = fathom(folder, &[words, &["--format", format]].concat());
            let written = fs::read(folder.join(&name)).unwrap();
            assert_eq!(written, piped, "a pipe has the same bytes");
            read(&folder.join(name))
        });
        assert_eq!(parquet.0.fields(), arrow.0.fields());
        assert_eq!(parquet.1, arrow.1, "{words:?}");
        let (schema, found) = arrow;
        assert_eq!(found.len(), csv.len());
        for ((field, column), wanted) in schema.fields().iter().zip(found).zip(csv) {
            let (heading, wanted) = wanted.split_first().unwrap();
            assert_eq!(field.name(), heading);
            let kind = expected(heading, wanted, decimals);
            assert_eq!(*field.data_type(), kind, "{words:?}: {heading} {wanted:?}");
            let wanted = wanted.iter().map(|cell| match (&kind, &**cell) {
                (DataType::LargeUtf8, "") if heading.contains('_') => None,
                (DataType::LargeUtf8, cell) => Some(cell.to_owned()),
                (_, "") => None,
                (DataType::Float64, cell) => Some(bits(cell.parse().unwrap())),
                (_, cell) => Some(cell.to_owned()),
            });
            assert_eq!(column, wanted.collect::<Vec<_>>(), "{words:?}: {heading}");
        }
        schema
    }

    /// Records of keys of all kinds, and of values that are missing, beyond 64 bits, fractions and texts.
    fn text(random: &mut Random, records: usize) -> String {
        let towns = ["Oslo", "São Paulo", "a,b", "say \"x\"", "two\nlines", "0", " ", "東京"];
        let mut text = "town,group,n,big,price,who\n".to_owned();
        for _ in 0..records {
            let mut pick = |of: u64| random.below(of);
            let town = towns[pick(towns.len() as u64) as usize].replace('"', "\"\"");
            let n =
                if pick(3) == 0 { String::new() } else { format!("{}", pick(2000) as i64 - 990) };
            let big =
                if pick(2) == 0 { String::new() } else { format!("{}{}", pick(99) + 1, u64::MAX) };
            let price = format!("{}.{}5", pick(50) as i64 - 9, pick(1_000_000));
            let who = ["", "ann", "bob", "\"c,d\"", "é"][pick(5) as usize];
            text += &format!("\"{town}\",{},{n},{big},{price},{who}\n", pick(4));
        }
        text
    }

    #[test]
    fn every_statistic_by_any_keys_has_its_type_and_what_csv_has() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let told = "min mean max rows sum variance stddev range distinct mode first last histogram median p99 \
                    count% rows% sum%";
        let told: Vec<&str> = told.split(' ').collect();
        let more: [&[&str]; 8] = [
            &[],
            &["--decimals", "0"],
            &["--decimals", "3"],
            &["--decimals", "9"],
            &["--total"],
            &["--shares", "--sort", "n_rows", "--top", "3"],
            &["--approx"],
            &["--where", "n > 5000"],
        ];
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let records = random.below(60) as usize + 1;
            fs::write(folder.join("in.csv"), text(&mut random, records)).unwrap();
            let more = more[seed as usize % more.len()];
            let keys = ["town", "group", "town,group", "group,town,who"];
            let by = keys[random.below(4) as usize];
            let mut stats = vec!["count"];
            let wanted = |told: &&&str| match more.first() {
                Some(&"--approx") => **told != "mode",
                Some(&"--shares") => !told.ends_with('%'),
                // Of numbers beyond 64 bits more than 38 digits.
                Some(&"--decimals") => **told != "variance",
                _ => true,
            };
            stats.extend(told.iter().filter(wanted).filter(|_| random.below(3) > 0).copied());
            let stats = stats.join(",");
            let words = ["aggregate", "--by", by, "--value", "n,big,price", "--text", "who"];
            let words = [&words, &["--stats", &stats, "in.csv"][..], more].concat();
            let decimals = words.iter().position(|word| *word == "--decimals");
            let decimals = decimals.map(|at| words[at + 1].parse().unwrap());
            compare(folder, &words, decimals);
            let (read, shown) = match more.first() {
                Some(&"--shares") => continue,
                Some(&("--decimals" | "--total")) => (&words[..words.len() - more.len()], more),
                _ => (&words[..], &[][..]),
            };
            fathom(folder, &[read, &["--partial", "-o", "state"]].concat());
            compare(folder, &[&["merge", "state"], shown].concat(), decimals);
        }
    }

    #[test]
    fn keys_that_are_no_utf_8_are_bytes_and_changes_of_counts_integers() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("a.txt"), b"x\xff,1\ny,2\n").unwrap();
        fs::write(folder.join("b.txt"), b"y,4.5\ny,2\nz,1\n").unwrap();
        let ask = ["aggregate", "--delimiter", ",", "--stats", "count,sum", "-o", "out.arrow"];
        fathom(folder, &[&ask[..], &["--format", "arrow", "a.txt"]].concat());
        let (schema, _) = read(&folder.join("out.arrow"));
        let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(types, [DataType::LargeBinary, DataType::Int64, DataType::Int64]);
        let both = ["--format", "arrow", "--compare", "a.txt", "b.txt"];
        fathom(folder, &[&ask[..], &both].concat());
        let (schema, cells) = read(&folder.join("out.arrow"));
        let name = |at: usize| (schema.field(at).name().as_str(), schema.field(at).data_type());
        assert_eq!(name(3), ("count_change", &DataType::Int64));
        assert_eq!(name(4), ("count_change%", &DataType::Float64));
        assert_eq!(name(7), ("sum_change", &DataType::Float64));
        let wanted = ["-1", "1", "1"].map(|cell| Some(cell.to_owned()));
        assert_eq!(cells[3], wanted);
    }

    #[test]
    fn errors_of_estimates_were_said_to_have_too_many_digits() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("in.csv"), "k,v\na,1.5\nb,2\n").unwrap();
        for format in ["parquet", "arrow"] {
            let name = format!("out.{format}");
            let words = format!(
                "aggregate --by k --value v --stats p50 --approx=0.1% --decimals 0 --format {format} \
                 -o {name} in.csv"
            );
            fathom(folder, &words.split(' ').collect::<Vec<_>>());
            let (schema, cells) = read(&folder.join(&name));
            assert!(matches!(schema.field(1).data_type(), DataType::Decimal128(_, 0)), "{format}");
            assert_eq!(schema.field(2).data_type(), &DataType::Float64, "{format}");
            let error = cells[2][0].as_deref().unwrap();
            assert!(error.starts_with("0.1 "), "{format}: {error}");
        }
    }

    #[test]
    fn many_keys_are_many_batches_and_none_is_a_table_without_rows() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let lines: String = (0..150_000).map(|n| format!("{n:06};{n}\n")).collect();
        fs::write(folder.join("in.txt"), lines).unwrap();
        fs::write(folder.join("empty.txt"), "").unwrap();
        for format in ["parquet", "arrow"] {
            let name = format!("out.{format}");
            let ask = ["aggregate", "--stats", "sum", "--format", format, "-o", &name];
            fathom(folder, &[&ask[..], &["in.txt"]].concat());
            let (_, cells) = read(&folder.join(&name));
            let wanted = |n: &i32| [Some(format!("{n:06}")), Some(n.to_string())];
            let rows = cells[0].iter().zip(&cells[1]).map(|(key, sum)| [key.clone(), sum.clone()]);
            assert!(rows.eq((0..150_000).map(|n| wanted(&n))));
            fathom(folder, &[&ask[..], &["empty.txt"]].concat());
            let (schema, cells) = read(&folder.join(&name));
            assert_eq!((schema.fields().len(), cells), (2, vec![vec![], vec![]]));
        }
    }

    #[test]
    fn a_number_that_no_decimal_has_is_an_error_and_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("out.parquet"), "before").unwrap();
        let words = ["aggregate", "--decimals", "9", "--format", "parquet", "-o", "out.parquet"];
        let output = common::piped(folder.path(), words, b"a;1e30\na;1\n");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("\"mean\" has a number of more than 38 digits"), "{said}");
        assert_eq!(fs::read(folder.path().join("out.parquet")).unwrap(), b"before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_number_that_no_double_has_was_written_as_infinity() {
        let folder = tempfile::tempdir().unwrap();
        for format in ["parquet", "arrow"] {
            let words = ["aggregate", "--stats", "sum", "--format", format, "-o", "out"];
            for number in ["1e400", "-1e400", "1e309"] {
                let lines = format!("a;{number}\na;0.5\n");
                let output = common::piped(folder.path(), words, lines.as_bytes());
                assert_eq!(output.status.code(), Some(3), "{}", said(&output));
                let wanted = "\"sum\" has a number beyond those of doubles: csv and json have it";
                assert!(said(&output).contains(wanted), "{}", said(&output));
                assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            }
            let output = common::piped(folder.path(), words, b"a;1e308\nb;1e-400\n");
            assert!(output.status.success(), "{}", said(&output));
            fs::remove_file(folder.path().join("out")).unwrap();
        }
    }

    #[test]
    fn a_terminal_is_refused() {
        let line =
            |format| format!("exec {} aggregate --format {format} -", env!("CARGO_BIN_EXE_fathom"));
        for format in ["parquet", "arrow"] {
            let mut script = std::process::Command::new("script");
            script.args(["-qefc", &line(format), "/dev/null"]).env("TERM", "xterm");
            script.stdin(std::process::Stdio::null());
            let output = script.output().expect("the program `script` of util-linux");
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            let wanted = format!("--format {format} is not for a terminal: -o FILE, or a pipe");
            assert!(shown.contains(&wanted) && output.status.code() == Some(2), "{shown}");
        }
    }
}
