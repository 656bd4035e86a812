//! Tables as input: files that other programs wrote (`testdata/tables/make.py`), and what is said of them where
//! they are not read.

mod common;

use std::path::Path;
use std::process::Output;

#[cfg(feature = "tables")]
const ALL: [&str; 3] = ["pyarrow.parquet", "pyarrow.arrow", "polars.parquet"];

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
    for (file, kind) in [("pyarrow.parquet", "a Parquet file"), ("pyarrow.arrow", "an Arrow file")]
    {
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
                "--by",
                "paid",
                "--value",
                "price * weight",
                "--where",
                "town =~ \"o\" && weight < 1",
                "--stats",
                "sum",
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
        "--where",
        "town == \"Oslo\"",
        "--by",
        "town",
        "--count",
        "pyarrow.arrow",
        "polars.parquet",
    ]);
    assert_eq!(both, "town,count\nOslo,6\n");
}

#[cfg(feature = "tables")]
#[test]
fn a_missing_value_alone_in_its_row_is_a_record_without_a_key() {
    for file in ALL {
        let output = aggregate(&["--by", "town", "--count", file]);
        let wanted = format!("fathom: {file}:5:1: the key is empty: town \"\"\n");
        assert_eq!((output.status.code(), said(&output)), (Some(3), &*wanted));
    }
}

#[cfg(feature = "tables")]
#[test]
fn a_mistake_is_said_in_the_words_of_the_table() {
    let mistakes: [(&[&str], &str); 6] = [
        (
            &["--by", "city", "--count", "polars.parquet"],
            "there is no column \"city\"; there are: town, price, weight, sold, paid",
        ),
        (&["polars.parquet"], "polars.parquet: it has columns: choose them by --by and --value"),
        (
            &["--delimiter", ";", "--count", "polars.parquet"],
            "it is a table: --format-in, --delimiter",
        ),
        (
            &["--by", "1", "--count", "polars.parquet", "make.py"],
            "tables (Parquet, Arrow) and texts are read in runs of their own",
        ),
        (
            &["--by", "town", "--count", "--range", "0..9", "polars.parquet"],
            "only files that are not compressed have ranges",
        ),
        (
            &["--by", "price", "--value", "town", "pyarrow.arrow"],
            "pyarrow.arrow:2:1: the value is not a decimal number: town \"Oslo\"",
        ),
    ];
    for (words, wanted) in mistakes {
        let output = aggregate(words);
        assert!(
            matches!(output.status.code(), Some(2 | 3)) && said(&output).contains(wanted),
            "{words:?}: {}",
            said(&output)
        );
    }
    let pipe =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/tables/polars.parquet"));
    let output =
        common::piped(Path::new("."), ["aggregate", "--by", "town", "--count"], &pipe.unwrap());
    assert!(said(&output).contains("name the file itself, not a pipe"), "{}", said(&output));
}

/// Columns that are packed by Zstandard need its library.
#[cfg(feature = "tables")]
#[test]
fn zstandard_is_read_where_the_build_has_it() {
    let output = aggregate(&["--by", "town", "--count", "--on-error", "skip", "duckdb.parquet"]);
    if cfg!(feature = "zstd") {
        assert!(String::from_utf8_lossy(&output.stdout).contains("Oslo,3"), "{}", said(&output));
    } else {
        assert!(
            !output.status.success() && said(&output).to_lowercase().contains("zstd"),
            "{}",
            said(&output)
        );
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
