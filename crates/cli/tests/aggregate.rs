//! `fathom aggregate` from outside: what a user types, sees and gets back as exit code.

mod common;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::write::GzEncoder;

const INPUT: &str = "Oslo;-1.5\nQuito;14.0\nOslo;3.0\nRome;20.3\n\nQuito;13.5\n";
const RESULT: &str = "{Oslo=-1.5/0.8/3.0, Quito=13.5/13.8/14.0, Rome=20.3/20.3/20.3}\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn run(&self, args: &[&str], input: &[u8]) -> Output {
        common::piped(self.0.path(), [&["aggregate"], args].concat(), input)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Checks that a run ended with this code, and said this.
#[track_caller]
fn says(output: &Output, code: i32, part: &str) {
    assert_eq!(output.status.code(), Some(code), "{part}: {}", err(output));
    assert!(err(output).contains(part), "{part}: {}", err(output));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn files_stdin_and_compressed_input_give_the_same_result() {
    let folder = Folder::new();
    folder.file("a.txt", INPUT);
    folder.file("a.gz", gzip(INPUT.as_bytes()));
    let zst = ruzstd::encoding::compress_to_vec(
        INPUT.as_bytes(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    folder.file("a.zst", zst);
    for args in [&["a.txt"][..], &["-"], &[], &["a.gz"], &["a.zst"], &["-t", "1", "a.txt"]] {
        let output = folder.run(args, INPUT.as_bytes());
        assert_eq!((out(&output).as_str(), err(&output).as_str()), (RESULT, ""), "{args:?}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn members_and_frames_give_the_same_result_on_any_number_of_threads_and_so_does_their_damage() {
    let folder = Folder::new();
    let part = |n: usize| -> String {
        let line = |i: usize| format!("town {};{}.{}\n", i * i % 1009, i % 90, i % 10);
        (n * 10_000..(n + 1) * 10_000).map(line).collect()
    };
    let zstd = |bytes: &[u8]| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(bytes, level)
    };
    let parts: Vec<String> = (0..40).map(part).collect();
    let whole = parts.concat();
    let members: Vec<u8> = parts.iter().flat_map(|part| gzip(part.as_bytes())).collect();
    let frames: Vec<u8> = parts.iter().flat_map(|part| zstd(part.as_bytes())).collect();
    let expected = out(&folder.run(&["-t", "1"], whole.as_bytes()));
    let one = [gzip(whole.as_bytes()), zstd(whole.as_bytes())];
    for packed in [&members, &frames, &one[0], &one[1]] {
        let file = folder.file("packed", packed);
        let mut damaged = packed.clone();
        damaged[packed.len() - 400_000] ^= 1;
        for threads in ["1", "2", "5"] {
            for args in [&["-t", threads, file.to_str().unwrap()][..], &["-t", threads, "-"]] {
                let output = folder.run(args, packed);
                assert_eq!((out(&output), err(&output)), (expected.clone(), String::new()));
            }
            let output = folder.run(&["-t", threads], &packed[..packed.len() - 9]);
            let said = err(&output);
            assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(4)), "{said}");
            assert!(said.starts_with("fathom: -: cannot read at byte "), "{said}");
            // What comes out before the damage is noticed may be a bad record. It was exit code 4.
            let output = folder.run(&["-t", threads], &damaged);
            assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(3)));
        }
    }
}

#[test]
fn several_files_are_one_result() {
    let folder = Folder::new();
    let (first, second) = INPUT.split_at(INPUT.find("Rome").unwrap());
    folder.file("1.txt", first);
    folder.file("2.gz", gzip(second.as_bytes()));
    folder.file("empty.txt", "");
    assert_eq!(out(&folder.run(&["1.txt", "empty.txt", "2.gz"], b"")), RESULT);
    assert_eq!(out(&folder.run(&["1.txt", "-"], second.as_bytes())), RESULT);
    assert_eq!(out(&folder.run(&["empty.txt"], b"")), "{}\n");
}

#[test]
fn bad_data_names_path_line_column_and_field_and_exits_3() {
    let folder = Folder::new();
    folder.file("bad.txt", "a;1.0\n\nb;x\n");
    let output = folder.run(&["bad.txt", "-o", "result.txt"], b"");
    assert_eq!(output.status.code(), Some(3));
    let said = "fathom: bad.txt:3:3: the value is not a decimal number: value \"x\"\n";
    assert_eq!(err(&output), said);
    assert_eq!(folder.names(), ["bad.txt"], "no output is left behind");
}

#[test]
fn compressed_input_that_is_cut_short_is_an_error_said_once() {
    let mut input = gzip(INPUT.as_bytes());
    input.truncate(input.len() - 12);
    let output = Folder::new().run(&["-"], &input);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(out(&output), "", "no result of half the input");
    let said = err(&output);
    assert!(said.starts_with("fathom: -: cannot read at byte "), "{said}");
    assert_eq!(said.matches("deflate stream").count(), 1, "{said}");
}

#[test]
fn skipped_records_are_shown_kept_and_exit_1() {
    let folder = Folder::new();
    let mut input = b"a;1.0\n".to_vec();
    for i in 0..12 {
        input.extend_from_slice(format!("bad {i}\r\n").as_bytes());
    }
    input.extend_from_slice(b"no utf-8 \xff");
    folder.file("bad.txt", &input);
    let output =
        folder.run(&["--on-error", "skip", "--rejects", "r.txt", "-o", "o.txt", "bad.txt"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(out(&output), "");
    assert_eq!(fs::read(folder.0.path().join("o.txt")).unwrap(), b"{a=1.0/1.0/1.0}\n");
    let kept = fs::read(folder.0.path().join("r.txt")).unwrap();
    assert_eq!(kept, &input[6..], "byte for byte, also a last line without its end");
    let said = err(&output);
    assert_eq!(said.lines().filter(|line| line.contains("skipped bad.txt:")).count(), 10);
    assert!(said.contains("… and 3 more") && said.contains("13 records skipped"), "{said}");
}

#[test]
fn after_a_byte_order_mark_a_reject_without_its_line_end_got_one() {
    let folder = Folder::new();
    folder.file("marked.txt", "\u{feff}no value");
    for (args, input) in [(&["marked.txt"][..], &b""[..]), (&[], b"\xef\xbb\xbfno value")] {
        let output = folder.run(&[&["--on-error=skip", "--rejects=r"], args].concat(), input);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert_eq!(fs::read(folder.0.path().join("r")).unwrap(), b"no value", "{args:?}");
    }
}

#[test]
fn usage_mistakes_exit_2_and_missing_files_4() {
    let folder = Folder::new();
    folder.file("a.txt", INPUT);
    for args in [
        &["--rejects", "r", "a.txt"][..],
        &["--format", "brc", "--value", "2", "--value", "3", "a.txt"],
        &["--by", "name,", "a.txt"],
        &["--by", "3-2", "a.txt"],
        &["--count", "--value", "2", "a.txt"],
        &["--format", "brc", "--by", "1,2", "a.txt"],
        &["--key", "0", "a.txt"],
        &["--delimiter", "5", "a.txt"],
        &["--delimiter", "ab", "a.txt"],
        &["--threads", "0", "a.txt"],
        &["--chunk", "0", "a.txt"],
        &["--decimals", "19", "a.txt"],
        &["--stats", "average", "a.txt"],
        &["--stats", "p101", "a.txt"],
        &["--sort", "p", "a.txt"],
        &["--sort", "key:up", "a.txt"],
        &["--by", "host", "--value", "ms", "--sort", "kb_max", "a.txt"],
        &["--by", "host", "--text", "user", "--sort", "user_min", "a.txt"],
        &["--compare", "a.txt"],
        &["--compare", "--format", "brc", "a.txt", "a.txt"],
        &["--text", "2", "--stats", "max", "a.txt"],
        &["--where", "$2 = 1", "a.txt"],
        &["--text", "2", "--stats", "mode", "--sort", "min", "a.txt"],
        &["-", "-"],
    ] {
        let output = folder.run(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", err(&output));
        assert!(!output.stderr.is_empty());
    }
    for (args, said) in [
        (["--stats", "p101"], "quantiles are p0 to p100, with up to six decimals"),
        (["--range", "..5"], "\"..5\" is no range of bytes"),
    ] {
        assert!(err(&folder.run(&args, b"")).contains(said), "{args:?}");
    }
    fs::create_dir(folder.0.path().join("empty")).unwrap();
    for args in [&["missing.txt"][..], &["empty"], &["*.csv"], &["a.txt", "-o", "no/such/folder/o"]]
    {
        let output = folder.run(args, b"");
        assert_eq!(output.status.code(), Some(4), "{args:?}: {}", err(&output));
    }
    assert_eq!(folder.names(), ["a.txt", "empty"]);
}

#[test]
fn files_are_mapped_or_read_with_the_same_result_and_verbose_says_which() {
    let folder = Folder::new();
    let rows = INPUT.repeat(200);
    folder.file("rows", &rows);
    folder.file("rows.gz", gzip(rows.as_bytes()));
    for (files, input, said) in [
        (&["rows"][..], "map", &["rows was mapped: as asked for"][..]),
        (&["rows"][..], "read", &["rows was read: as asked for"][..]),
        (&["rows"][..], "auto", &["rows was read: it is small"][..]),
        (
            &["rows", "rows.gz"][..],
            "map",
            &[
                "rows was mapped: as asked for",
                "rows.gz was read: it is no file that can be mapped",
            ][..],
        ),
    ] {
        let options = ["--input", input, "--chunk", "0.001", "-v"];
        let output = folder.run(&[files, &options[..]].concat(), b"");
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(0), RESULT), "{input}");
        for said in said {
            assert!(err(&output).contains(said), "{input}: {}", err(&output));
        }
    }
    // A bad row of a mapped chunk has its place and its text.
    folder.file("bad", [&rows, "Oslo;x\n", &rows].concat());
    for input in ["map", "read"] {
        let output = folder.run(&["--input", input, "--chunk", "0.001", "bad"], b"");
        says(&output, 3, "bad:1201:6");
    }
    // What is never mapped is a mistake where mapping was asked for.
    for options in [&["--by", "1", "--value", "2"][..], &["--stats", "median"]] {
        let output = folder.run(&[options, &["--input", "map", "rows"]].concat(), b"");
        says(&output, 2, "--input map");
    }
}

#[test]
fn the_verbose_block_hashes_the_result_as_the_forebear_does() {
    let output = Folder::new().run(&["-v", "-t", "1"], INPUT.as_bytes());
    let said = err(&output);
    // CRC-32C of the result without its newline, from an independent implementation.
    let hash = crc32(RESULT.trim_end().as_bytes());
    assert!(said.contains(&format!("result hash={hash:08x}\n")), "{said}");
    assert!(said.contains(&format!("result length={}\n", RESULT.len() - 1)), "{said}");
    assert!(said.contains("stations count=3\nvalid utf8=true\n"), "{said}");
    assert!(said.contains("5 records, 1 blank lines, 0 refused"), "{said}");
}

/// CRC-32C bit by bit (RFC 3720, appendix B.4 gives 8a9136aa for 32 zero bytes).
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[test]
fn statistics_order_and_formats_are_the_users_choice() {
    let folder = Folder::new();
    let args = ["--stats", "count,sum,stddev", "--sort", "mean", "--top", "2", "--format"];
    let run = |format: &str| out(&folder.run(&[&args[..], &[format]].concat(), INPUT.as_bytes()));
    assert_eq!(
        run("table"),
        "key    count   sum  stddev\nRome       1  20.3       -\nQuito      2  27.5   0.354\n"
    );
    let csv = "key,count,sum,stddev\nRome,1,20.3,\nQuito,2,27.5,0.35355339059327376\n";
    assert_eq!(run("csv"), csv);
    assert_eq!(run("brc"), "{Rome=1/20.3/, Quito=2/27.5/0.354}\n");
    assert_eq!(
        run("json"),
        "[\n  {\"key\": \"Rome\", \"count\": 1, \"sum\": 20.3, \"stddev\": null},\n  \
         {\"key\": \"Quito\", \"count\": 2, \"sum\": 27.5, \"stddev\": 0.35355339059327376}\n]\n"
    );
    let mean = |rounding: &str, decimals: &str| {
        let args = ["--stats", "mean", "--rounding", rounding, "--decimals", decimals];
        out(&folder.run(&args, b"a;0.25\na;0.20\n"))
    };
    assert_eq!(mean("half-up", "2"), "{a=0.23}\n");
    assert_eq!(mean("half-even", "2"), "{a=0.22}\n");
    assert_eq!(mean("ceiling", "1"), "{a=0.3}\n");
    assert_eq!(mean("half-up", "4"), "{a=0.2250}\n");
}

#[test]
fn delimited_text_chooses_columns_by_name() {
    let folder = Folder::new();
    let csv = "when,host,ms,bytes\n1,\"web, 1\",12.5,100\n2,db,7,200\n3,\"web, 1\",0.25,50\n";
    let args = ["--delimiter", ",", "--header", "--key", "host", "--value", "ms", "--value"];
    let output = folder.run(
        &[&args[..], &["bytes", "--format", "csv", "--stats", "max,count"]].concat(),
        csv.as_bytes(),
    );
    let csv = "host,ms_max,ms_count,bytes_max,bytes_count\ndb,7,1,200,1\n\"web, 1\",12.5,2,100,2\n";
    assert_eq!(out(&output), csv);
    let output = folder.run(&["--key", "nobody"], b"a;b\n1;2\n");
    says(&output, 3, "the header has no column \"nobody\"; it has: \"a\", \"b\"");
    let tab = folder.run(&["--delimiter", "tab"], b"\"a\tb\"\t1\n");
    assert_eq!(out(&tab), "key,min,mean,max\na\tb,1,1,1\n");
}

#[test]
fn keys_of_several_columns_stand_in_columns_of_their_own() {
    let csv = "host,path,ms,kb\nweb,/a,1.5,1\n\"w,b\",/a,2,2\nweb,/b,3,4\nweb,/a,0.5,8\n,/a,1,16\n";
    let run = |args: &str| {
        let args: Vec<&str> = ["--delimiter", ","].into_iter().chain(args.split(' ')).collect();
        let output = Folder::new().run(&args, csv.as_bytes());
        assert_eq!(err(&output), "", "{args:?}");
        out(&output)
    };
    let by_name = run("--by host,path --value ms,kb --stats sum");
    let expected = "host,path,ms_sum,kb_sum\n,/a,1,16\n\"w,b\",/a,2,2\nweb,/a,2,9\nweb,/b,3,4\n";
    assert_eq!(by_name, expected);
    assert_eq!(run("--header --by 1-2 --value 3-4 --stats sum"), by_name);
    assert_eq!(run("--key host --by path --value ms --value kb --stats sum"), by_name);
    let expected = "path,host,count\n/a,,1\n/a,\"w,b\",1\n/a,web,2\n/b,web,1\n";
    assert_eq!(run("--by path,host --count"), expected);
    assert_eq!(run("--by path --count --sort count --top 1"), "path,count\n/a,4\n");
    let shown = run("--by host,path --value kb --stats max --format table --reverse --top 2");
    assert_eq!(shown, "host  path  max\nweb   /b      4\nweb   /a      8\n");
    let shown = run("--by host,path --value kb --stats max --format ndjson --top 1");
    assert_eq!(shown, "{\"host\": \"\", \"path\": \"/a\", \"max\": 16}\n");
    assert_eq!(run("--header=no --by 1,2 --count --top 1"), "column 1,column 2,count\n,/a,1\n");
}

#[test]
fn quantiles_and_what_else_values_say_are_exact() {
    let folder = Folder::new();
    let run = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let output = folder.run(&args, b"a;1\na;10.5\nb;3\na;2\na;2.0\nb;-1\n");
        assert_eq!(err(&output), "", "{args:?}");
        out(&output)
    };
    let all = "median,p25,p99.9,p100,distinct,mode,first,last,range";
    assert_eq!(
        run(&format!("--format csv --stats {all}")),
        format!("key,{all}\na,2,1.75,10.4745,10.5,3,2,1,2,9.5\nb,1,0,2.996,3,2,-1,3,-1,4\n")
    );
    assert_eq!(
        run("--format table --quantiles nearest --stats median,p25 --sort median --reverse"),
        "key  median   p25\nb      -1.0  -1.0\na       2.0   1.0\n"
    );
    assert_eq!(run("--stats p50,mode"), "{a=2.0/2.0, b=1.0/-1.0}\n");
    let csv = "host,ms,user\na,1,bob\na,4,\"x\"\"y\"\nb,2,\na,1,bob\n";
    let args = "--delimiter , --by host --value ms --text user --stats mean,distinct,mode,last";
    let texts = |format: &str| {
        let args = format!("{args} --format {format}");
        out(&folder.run(&args.split(' ').collect::<Vec<_>>(), csv.as_bytes()))
    };
    assert_eq!(
        texts("csv"),
        "host,ms_mean,ms_distinct,ms_mode,ms_last,user_distinct,user_mode,user_last\n\
         a,2,2,1,1,2,bob,bob\nb,2,1,2,2,0,,\n"
    );
    let part = "\"ms_last\": 1, \"user_distinct\": 2, \"user_mode\": \"bob\"";
    assert!(texts("ndjson").contains(part));
    assert!(texts("ndjson").ends_with("\"user_mode\": null, \"user_last\": null}\n"));
}

#[test]
fn estimates_say_in_every_format_how_far_off_they_may_be() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,137\na,2.525\nb,996\n");
    let shown = |format: &str| {
        let args = ["--approx", "--by", "k", "--value", "v", "--stats", "p50,distinct", "a.csv"];
        out(&folder
            .run(&[&args[..], &["--quantiles", "nearest", "--format", format]].concat(), b""))
    };
    let wanted = "k,p50,p50_error%,distinct,distinct_error%\na,2.55,1,2,0\nb,996,1,1,0\n";
    assert_eq!(shown("csv"), wanted, "no estimate leaves the extremes");
    assert_eq!(shown("tsv"), shown("csv").replace(',', "\t"));
    let table = "k      p50  p50_error%  distinct  distinct_error%\n";
    assert!(shown("table").starts_with(table), "{}", shown("table"));
    let first =
        "{\"k\": \"a\", \"p50\": 2.55, \"p50_error%\": 1, \"distinct\": 2, \"distinct_error%\": 0}";
    assert!(shown("ndjson").starts_with(first) && shown("json").contains(first));
    assert!(shown("brc").starts_with("{a=2.550/1/2/0, "), "{}", shown("brc"));
    assert!(shown("markdown").contains("| p50\\_error% | distinct |"), "{}", shown("markdown"));
    assert!(shown("html").contains("p50_error%"));
    let usage = |args: &[&str]| {
        let output = folder.run(&[args, &["a.csv"]].concat(), b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        err(&output)
    };
    let said = usage(&["--approx", "--stats", "p50,mode", "--by", "k", "--value", "v"]);
    assert!(said.contains("--approx keeps no values, and cannot tell mode"), "{said}");
    let said = usage(&["--approx=2%", "--stats", "p50"]);
    assert!(said.contains("1%, 0.1%, 0.01%"), "{said}");
}

/// Ten times less, it was the rounding of both.
#[test]
fn a_change_of_estimates_came_without_its_error() {
    let folder = Folder::new();
    folder.file("x1.csv", "k,v\na,1\na,1009\na,9999\n");
    folder.file("x2.csv", "k,v\na,1\na,1011\na,9999\n");
    let shown = |more: &str| {
        let words = format!("--compare --approx --by k --value v {more} x1.csv x2.csv");
        out(&folder.run(&words.split(' ').collect::<Vec<_>>(), b""))
    };
    assert_eq!(
        shown("--stats p50 --sort p50_change_error --top 1"),
        "k,p50_before,p50_before_error%,p50_after,p50_after_error%,p50_change,p50_change_error,p50_change%\n\
         a,1000,1,1020,1,20,20.404040404040405,2\n"
    );
    let fixed = shown("--stats p50 --decimals 1");
    assert!(fixed.ends_with(",20.0,20.5,2.0\n"), "a bound is not rounded down");
    assert!(shown("--stats distinct").ends_with("a,3,0,3,0,0,0,0\n"));
}

#[test]
fn an_estimate_between_signs_said_a_bound_that_is_none() {
    let told = |values: &str, more: &str| {
        let text: String = values.split(' ').map(|value| format!("a;{value}\n")).collect();
        let words = format!("--stats p50 --approx --format csv --quantiles {more}");
        out(&Folder::new().run(&words.split(' ').collect::<Vec<_>>(), text.as_bytes()))
    };
    let shown = |row: &str| format!("key,p50,p50_error%\na,{row}\n");
    assert_eq!(told("-1.37 1.379", "linear"), shown("0,"), "0.0045 is no percent of 0 away");
    assert_eq!(told("-1.37 1.379", "nearest"), shown("-1.37,1"));
    assert_eq!(told("-2 -1.37 1.379", "linear"), shown("-1.38,1"));
    assert_eq!(told("0 1.379", "linear"), shown("0.69,1"));
}

#[test]
fn histograms_are_bars_for_people_and_bins_for_programs() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,0\na,1\na,1.5\na,10\nb,7\n");
    let shown = |more: &[&str]| {
        let args = ["--by", "k", "--value", "v", "--stats", "max", "--histogram", "a.csv"];
        out(&folder.run(&[&args[..], more].concat(), b""))
    };
    let table = "k   max   histogram\na  10.0  ▄█·······▄\nb   7.0           █\n";
    assert_eq!(shown(&["--format", "table"]), table);
    let first = "{\"k\": \"a\", \"max\": 10, \"histogram\": \
                 {\"from\": 0, \"to\": 10, \"counts\": [1, 2, 0, 0, 0, 0, 0, 0, 0, 1]}}\n";
    assert!(shown(&["--format", "ndjson"]).starts_with(first));
    let csv =
        "k,max,histogram\na,10,\"{\"\"from\"\": 0, \"\"to\"\": 10, \"\"counts\"\": [1, 2, 0, 0, ";
    assert!(shown(&[]).starts_with(csv), "{}", shown(&[]));
    assert!(shown(&["--format", "html"]).contains("▄█·······▄"));
    let sorted = folder.run(&["--histogram", "--sort", "histogram", "a.csv"], b"");
    says(&sorted, 2, "a histogram has no order");
    // All keys had the same.
    for by in ["k", "1"] {
        let sorted = folder.run(&["--by", by, "--count", "--sort", "sum", "a.csv"], b"");
        assert!(err(&sorted).contains("that are only counted have no sum"), "{}", err(&sorted));
    }
}

#[test]
fn values_are_computed_exactly_or_the_formula_is_refused() {
    let folder = Folder::new();
    folder.file("a.csv", "k,price,n,b c\na,0.10,3,7\na,19.99,2,\nb,1,x,1\n");
    let run = |value: &str, more: &[&str]| {
        let args = ["--by", "k", "--value", value, "--stats", "rows,count,sum", "a.csv"];
        folder.run(&[&args[..], more].concat(), b"")
    };
    let a = &["--where", "k == \"a\""];
    assert_eq!(out(&run("price * n", a)), "k,rows,count,sum\na,2,2,40.28\n");
    let two =
        "k,price * n_rows,price * n_count,price * n_sum,n_rows,n_count,n_sum\na,2,2,40.28,2,2,5\n";
    assert_eq!(out(&run("price * n,n", a)), two);
    assert_eq!(out(&run("round(price / n, 3) - `b c` / 2", a)), "k,rows,count,sum\na,2,1,-3.467\n");
    let zero = ["--null", "n - `b c`=zero", "--where", "k == \"a\""];
    assert_eq!(out(&run("n - `b c`", &zero)), "k,rows,count,sum\na,2,2,-4\n");
    let said = "a.csv:4:5: the value is not a decimal number: n \"x\"";
    says(&run("price * n", &[]), 3, said);
    for (value, expected) in [
        ("price / n", "a quotient may have digits without end"),
        ("price * \"x\"", "a text is no number\n  price * \"x\"\n          ^^^"),
        ("price * nobody", "no column \"nobody\""),
    ] {
        let output = run(value, &[]);
        assert!(matches!(output.status.code(), Some(2 | 3)), "{output:?}");
        assert!(err(&output).contains(expected) && output.stdout.is_empty(), "{}", err(&output));
    }
}

/// Or the first record of each piece of a file that was split would be lost.
#[test]
fn a_file_without_the_header_that_the_first_was_guessed_to_have_is_refused() {
    let folder = Folder::new();
    for (name, text) in [
        ("headed", "key,ms\na,1\na,2\n"),
        ("again", "key,ms\na,3\n"),
        ("bare", "a,4\na,5\n"),
        ("odd", "a,x\na,5\n"),
        ("commas", "a;1,5\nb;2,5\n"),
        ("points", "a;1.5\nb;2.5\n"),
    ] {
        folder.file(name, text);
    }
    let run = |words: &str| {
        let asked = "--by 1 --value 2 --stats count --format csv".split(' ');
        let output = folder.run(&asked.chain(words.split(' ')).collect::<Vec<_>>(), b"");
        (output.status.code().unwrap(), format!("{}{}", out(&output), err(&output)))
    };
    assert_eq!(run("headed again"), (0, "key,count\na,3\n".to_owned()));
    let said = "bare:1:1: the first record is not that of the first input, which was taken for a header: \
                \"a\", \"4\"";
    for files in ["headed bare", "headed again bare", "--compare headed bare"] {
        let (code, shown) = run(files);
        assert!(code == 3 && shown.contains(said), "{files}: {code} {shown}");
    }
    assert!(run("headed odd").1.contains("odd:1:1: the first record"));
    assert!(run("bare headed").1.contains("headed:1:5: the value is not a decimal number"));
    assert_eq!(run("--header headed bare").1, "key,count\na,3\n");
    // Whatever is guessed of one side of a comparison holds for the other.
    assert!(run("--compare bare headed").1.contains("headed:1:5: the value"));
    assert!(run("--compare commas points").1.contains("points:1:3: the value"));
    assert!(run("--compare points commas").1.contains("commas:1:3: the value"));
}

#[test]
fn conditions_values_and_codes_of_missing_ones_may_begin_with_a_sign() {
    let run = |args: &[&str]| {
        let always = ["--by", "k", "--stats", "sum", "--format", "csv"];
        out(&Folder::new().run(&[&always[..], args].concat(), b"k,v\na,-99.9\na,2\nb,1\n"))
    };
    assert_eq!(run(&["--value", "v", "--null-values", "-99.9,-"]), "k,sum\na,2\nb,1\n");
    assert_eq!(run(&["--value", "v", "--where", "-v < -1"]), "k,sum\na,2\n");
    assert_eq!(run(&["--value", "-v * 2"]), "k,sum\na,195.8\nb,-2\n");
}

/// A column of the key that is called like a statistic was not found, and one that got a number had no name.
#[test]
fn columns_of_the_result_are_sorted_by_under_their_names() {
    let folder = Folder::new();
    folder.file("a.csv", "mode,first,v\ndark,1,5\nlight,2,9\nlight,2,1\nauto,3,4\n");
    let first = |words: &str| {
        let output = folder.run(&words.split(' ').collect::<Vec<_>>(), b"");
        assert_eq!(output.status.code(), Some(0), "{words}: {}", err(&output));
        let cells = |line: &str| line.split(',').next().unwrap().to_owned();
        out(&output).lines().skip(1).map(cells).collect::<Vec<_>>()
    };
    for (words, keys) in [
        ("--by mode --count --sort mode:desc a.csv", ["light", "dark", "auto"]),
        (
            "--by mode --value v --approx --stats p50 --sort mode:desc a.csv",
            ["light", "dark", "auto"],
        ),
        ("--by 1 --value 3 --approx --stats p50 --sort mode:desc a.csv", ["light", "dark", "auto"]),
        ("--by mode --value v --stats max --sort max a.csv", ["light", "dark", "auto"]),
        ("--by first:1 --value v --stats first --sort first:desc a.csv", ["3", "2", "1"]),
        ("--by first:1 --value v --stats first --sort first_2:desc a.csv", ["2", "1", "3"]),
        ("--by first:10,first:1 --count --sort first_2:desc a.csv", ["0", "0", "0"]),
    ] {
        assert_eq!(first(words), keys, "{words}");
    }
    let said =
        "there is mode, v_min, v_mean, v_max, v_min_2, v_mean_2, v_max_2, and every statistic";
    says(&folder.run(&["--by", "mode", "--value", "v,v", "--sort", "v", "a.csv"], b""), 2, said);
    // Where a key may be called so only the header says that it is not.
    let words = ["--by", "2", "--value", "3", "--approx", "--stats", "p50", "--sort", "mode"];
    let said = "--sort: sketches keep no values, and cannot tell mode";
    says(&folder.run(&[&words[..], &["a.csv"]].concat(), b""), 2, said);
}

/// A column that is called `key` took the place of the whole key.
#[test]
fn the_usual_order_is_that_of_the_whole_key_whatever_its_columns_are_called() {
    let folder = Folder::new();
    folder.file("a.csv", "zone,key,v\nb,1,10\nc,0,30\na,2,20\n");
    let run = |words: &str| out(&folder.run(&words.split(' ').collect::<Vec<_>>(), b""));
    for by in ["zone,key", "1,2"] {
        let asked = format!("--by {by} --value v --stats sum a.csv");
        assert_eq!(run(&asked), "zone,key,sum\na,2,20\nb,1,10\nc,0,30\n");
        assert_eq!(run(&format!("{asked} --top 1 --reverse")), "zone,key,sum\nc,0,30\n");
        assert_eq!(run(&format!("{asked} --top 1 --sort key")), "zone,key,sum\nc,0,30\n");
    }
}

#[test]
fn names_that_can_be_sorted_by_are_told_as_they_are_taken() {
    let folder = Folder::new();
    folder.file("a.csv", "k,2024,v\na,1,1\nb,2,3\n");
    let asked = ["--by", "k,\"2024\"", "--value", "round(v / 3, 2)", "--stats", "sum", "a.csv"];
    let run = |sort| folder.run(&[&asked[..], &["--sort", sort]].concat(), b"");
    says(&run("x"), 2, "there is k, \"2024\", sum, and every statistic");
    assert_eq!(out(&run("\"2024\":desc")), "k,2024,sum\nb,2,1\na,1,0.33\n");
    let asked = ["--by", "k", "--value", "round(v / 3, 2),v", "--stats", "sum", "a.csv"];
    let run = |sort| folder.run(&[&asked[..], &["--sort", sort]].concat(), b"");
    says(&run("x"), 2, "there is k, \"round(v / 3, 2)_sum\", v_sum, and every statistic");
    let shown = out(&run("\"round(v / 3, 2)_sum\""));
    assert_eq!(shown, "k,\"round(v / 3, 2)_sum\",v_sum\nb,1,3\na,0.33,1\n");
}

/// The first reject of the second file stood on the line of the first one's last.
#[test]
fn rejects_of_one_file_after_the_other_are_lines_of_their_own() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,1\nb,x");
    folder.file("b.csv", "k,v\nc,y\na,3\n");
    for more in [&[][..], &["--compare"], &["--partial", "-o", "state"]] {
        let asked = ["--by", "k", "--value", "v", "--on-error", "skip", "--rejects", "r"];
        let ran = folder.run(&[&asked, more, &["a.csv", "b.csv"]].concat(), b"");
        assert_eq!(ran.status.code(), Some(1), "{more:?}: {}", err(&ran));
        let kept = fs::read_to_string(folder.0.path().join("r")).unwrap();
        assert_eq!(kept, "b,x\nc,y\n", "{more:?}");
    }
}

/// They were told on a terminal alone.
#[test]
fn guesses_that_may_be_why_records_are_refused_are_told() {
    let folder = Folder::new();
    folder.file("point.csv", format!("k;v\n{}a;2.5\n", "a;1,5\n".repeat(20_000)));
    let asked = ["--by", "k", "--value", "v"];
    let said = "numbers were taken to have decimal commas (--decimal-comma=no)";
    says(&folder.run(&[&asked[..], &["point.csv"]].concat(), b""), 3, said);
    let skipped = folder.run(&[&asked[..], &["point.csv", "--on-error", "skip"]].concat(), b"");
    assert!(err(&skipped).contains(said), "{}", err(&skipped));
    folder.file("quotes.csv", format!("k,v\n{}\"x,y\",1\n", "5\" pipe,1\n".repeat(20_000)));
    let said = "quotes were taken for bytes like any other (--quotes=yes)";
    says(&folder.run(&[&asked[..], &["quotes.csv"]].concat(), b""), 3, said);
}

/// Nothing was guessed of the second side.
#[test]
fn a_side_without_text_is_none_that_is_guessed_by() {
    let folder = Folder::new();
    folder.file("some.csv", "k,v\na,1\n");
    for nothing in ["", "\n\n"] {
        folder.file("none.csv", nothing);
        for (files, numbers) in
            [(["none.csv", "some.csv"], ",1,,\n"), (["some.csv", "none.csv"], "1,,,\n")]
        {
            let words = ["--compare", "--by", "k", "--value", "v", "--stats", "max"];
            let output = folder.run(&[&words[..], &files].concat(), b"");
            assert_eq!(output.status.code(), Some(0), "{}", err(&output));
            let expected = format!("k,max_before,max_after,max_change,max_change%\na,{numbers}");
            assert_eq!(out(&output), expected);
        }
    }
}

#[test]
fn a_range_is_of_one_file_however_it_is_named() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("two")).unwrap();
    folder.file("two/1.csv", "k,v\na,1\n");
    let run = |files| folder.run(&["--by", "k", "--value", "v", "--range", "0..8", files], b"");
    assert!(run("two").status.success());
    folder.file("two/2.csv", "k,v\nb,2\n");
    for files in ["two", "two/*.csv"] {
        says(&run(files), 2, "--range is of one FILE");
    }
}

#[test]
fn headers_quotes_and_decimal_commas_are_guessed_once_and_said_otherwise() {
    let run = |args: &[&str], input: &str| Folder::new().run(args, input.as_bytes());
    let sum = ["--by", "1", "--value", "2", "--stats", "sum"];
    let with = |more: &[&'static str]| [&sum[..], more].concat();
    let text = "name;value\na;1,5\na;2\nb;-0,25\n";
    assert_eq!(out(&run(&sum, text)), "name,sum\na,3.5\nb,-0.25\n");
    let refused = |args: &[&str], input: &str, place: &str| {
        let output = run(args, input);
        assert_eq!((output.status.code(), out(&output).as_str()), (Some(3), ""), "{args:?}");
        assert!(err(&output).contains(place), "{}", err(&output));
    };
    refused(&with(&["--header=no"]), text, "-:1:6: the value is not a decimal number");
    refused(&with(&["--decimal-comma=no"]), text, "-:2:3: the value is not a decimal number");
    let hint = "--decimal-comma reads numbers with a comma, such as 1,5";
    refused(&with(&["--decimal-comma=no"]), text, hint);
    refused(&[], "a;1,5\n", hint);
    let thousands = "--decimal-comma reads it as 1.234; separators of thousands are not read";
    refused(&[], "a;1,234\n", thousands);
    assert!(!err(&run(&[], "a;x,5\n")).contains(hint));
    let long = "a;1,5\n".repeat(20_000);
    refused(&sum, &format!("{long}a;1.5\n"), "-:20001:3: the value is not a decimal number");
    let long = "a;1.5\n".repeat(20_000);
    refused(&sum, &format!("{long}a;1,5\n"), "-:20001:3: the value is not a decimal number");
    refused(&sum, &format!("{long}a;x\n"), "-:20001:3: the value is not a decimal number");
    let pipes = "5\" pipe;1,5\n7\" pipe;2\n5\" pipe;0,5\n";
    assert_eq!(out(&run(&sum, pipes)), "key,sum\n\"5\"\" pipe\",2\n\"7\"\" pipe\",2\n");
    refused(&with(&["--quotes", "yes"]), pipes, "-:1:");
    let quoted = "\"a\";1\n\"a\";2\n";
    assert_eq!(out(&run(&sum, quoted)), "key,sum\na,3\n");
    let bytes = out(&run(&with(&["--quotes", "no", "--delimiter", ";"]), quoted));
    assert_eq!(bytes, "key,sum\n\"\"\"a\"\"\",3\n");
    says(&run(&["--header=no", "--by", "name"], text), 2, "only a header has names");
    let commas = [
        "--decimal-comma", "--by", "k:0.5", "--value", "v", "--where", "v * 2 > 2.5", "--stats",
        "sum",
    ];
    assert_eq!(out(&run(&commas, "k;v\n0,75;1,5\n0,9;1\n")), "k,sum\n0.5,1.5\n");
    let guessed = "k;v\na;1,5\nb;2,5\n";
    for (args, expected) in [
        (["--by=k", "--count", "--where=v > 2"], "k,count\nb,1\n"),
        (["--by=k", "--count", "--where=v * 2 in (3)"], "k,count\na,1\n"),
        (["--by=1", "--count", "--where=$2 > 2"], "k,count\nb,1\n"),
        (["--by=v:1", "--count", "--sort=v"], "v,count\n1,1\n2,1\n"),
        (["--by=v:1", "--text=k", "--stats=rows"], "v,rows\n1,1\n2,1\n"),
        (["--by=v", "--count", "--where=v != \"1,5\""], "v,count\n\"2,5\",1\n"),
    ] {
        assert_eq!(out(&run(&args, guessed)), expected, "{args:?}");
    }
    let exact = out(&run(&["--delimiter", ",", "--by", "1", "--value", "2"], "k,v\na,1\n"));
    assert_eq!(exact, "k,min,mean,max\na,1,1,1\n");
}

#[test]
fn conditions_choose_records_and_say_what_is_wrong_with_them() {
    let csv = "host,status,ms\nweb,200,5\nweb,503,x\ndb,500,7\ndb,,1\nweb,504,9\n";
    let run = |condition: &str, more: &[&str]| {
        let args = ["--delimiter", ",", "--by", "host", "--where", condition];
        Folder::new().run(&[&args[..], more].concat(), csv.as_bytes())
    };
    let count = |condition: &str| out(&run(condition, &["--count"]));
    assert_eq!(count("status >= 500"), "host,count\ndb,1\nweb,2\n");
    assert_eq!(count("status >= 500 && host =~ \"^w\""), "host,count\nweb,2\n");
    assert_eq!(count("status is null || status in (200, 503.0)"), "host,count\ndb,1\nweb,2\n");
    assert_eq!(count("ms != \"x\" && ms * 2 > 13"), "host,count\ndb,1\nweb,1\n");
    // Values of what is left out are not looked at.
    let sums = run("ms != \"x\"", &["--value", "ms", "--stats", "sum", "-v"]);
    assert_eq!(out(&sums), "host,sum\ndb,8\nweb,14\n");
    assert!(err(&sums).contains("4 records, 0 blank lines, 1 left out by --where, 0 refused"));
    let bad = run("ms > 1", &["--count"]);
    assert_eq!(bad.status.code(), Some(3));
    assert!(err(&bad).starts_with("fathom: -:3:9: the value is not a decimal number: ms \"x\""));
    says(&run("size > 1", &["--count"]), 3, "no column \"size\"");
    let said = "--where: a text is no number\n  status + \"x\" > 3\n           ^^^\n";
    says(&run("status + \"x\" > 3", &["--count"]), 2, said);
}

#[test]
fn the_delimiter_is_guessed_once_and_said_otherwise() {
    let folder = Folder::new();
    let run = |args: &[&str], input: &str| folder.run(args, input.as_bytes());
    let args = ["--by", "a", "--value", "b", "--stats", "sum"];
    for delimiter in [",", ";", "|", "\t"] {
        let text = format!("a{delimiter}b\nx{delimiter}1.5\n\"y;,|\t\"{delimiter}2\n");
        assert_eq!(out(&run(&args, &text)).lines().nth(1), Some("x,1.5"), "{delimiter:?}");
        let gz = folder.file("a.gz", gzip(text.as_bytes()));
        let from_file = run(&[&args[..], &[gz.to_str().unwrap()]].concat(), "");
        assert_eq!(out(&from_file), out(&run(&args, &text)));
    }
    let semicolon = [&args[..], &["--delimiter", ";"]].concat();
    assert!(err(&run(&semicolon, "a,b\nx,1\n")).contains("no column \"a\""));
    // Nothing is guessed a second time.
    let late = format!("a,b\n{}x;1\n", "x,1\n".repeat(20_000));
    assert!(err(&run(&args, &late)).starts_with("fathom: -:20002:1: expected 2 fields, found 1"));
    let hint = "without --by, --value or --delimiter, input is key;value lines";
    assert!(err(&run(&[], "a,b\n")).contains(hint));
}

#[test]
fn a_forced_level_changes_nothing_and_a_wrong_one_is_refused() {
    let folder = Folder::new();
    folder.file("a.txt", INPUT);
    let run = |level: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.args(["aggregate", "a.txt"]).current_dir(folder.0.path());
        command.env("FATHOM_LEVEL", level).output().unwrap()
    };
    assert_eq!(out(&run("scalar")), RESULT);
    says(&run("avx9"), 2, "no such level");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new();
    let input: String = (0..200_000).map(|i| format!("key number {i};1.0\n")).collect();
    let path = folder.file("many.txt", input);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.arg("aggregate").arg(Path::new(&path));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), err(&output).as_str()), (Some(0), ""));
}

#[test]
fn machine_formats_lost_digits_to_the_challenge_s_rounding() {
    let run = |args: &[&str], input: &str| out(&Folder::new().run(args, input.as_bytes()));
    let csv = "host,ms\na,1\na,2\na,2\n";
    let args = ["--delimiter", ",", "--header", "--stats", "mean,sum,rows"];
    assert_eq!(run(&args, csv), "host,mean,sum,rows\na,1.6666666666666667,5,3\n");
    let brc = [&args[..], &["--format", "brc"]].concat();
    assert_eq!(run(&brc, csv), "{a=1.7/5.0/3}\n");
    let fixed = [&args[..], &["--decimals", "2"]].concat();
    assert_eq!(run(&fixed, csv), "host,mean,sum,rows\na,1.67,5.00,3\n");
    let table = [&args[..], &["--format", "table"]].concat();
    assert_eq!(run(&table, csv), "host  mean  sum  rows\na     1.67    5     3\n");
}

#[test]
fn top_changed_the_decimals_of_what_is_shown() {
    let folder = Folder::new();
    let input = "a;1.5\nb;0.125\n";
    let all = out(&folder.run(&[], input.as_bytes()));
    assert_eq!(all, "{a=1.500/1.500/1.500, b=0.125/0.125/0.125}\n");
    assert_eq!(out(&folder.run(&["--top", "1"], input.as_bytes())), "{a=1.500/1.500/1.500}\n");
}

#[test]
fn json_had_members_twice() {
    let args = ["--header", "--value", "v", "--value", "v", "--stats", "min,min", "--format"];
    let output = Folder::new().run(&[&args[..], &["ndjson"]].concat(), b"k;v\na;1\n");
    let expected = "{\"k\": \"a\", \"v_min\": 1, \"v_min_2\": 1, \"v_min_3\": 1, \"v_min_4\": 1}\n";
    assert_eq!(out(&output), expected);
}

#[test]
fn rejects_replaced_the_input_or_were_replaced_by_the_output() {
    let folder = Folder::new();
    folder.file("in.txt", "a;1.0\nbad\n");
    std::os::unix::fs::symlink("in.txt", folder.0.path().join("link")).unwrap();
    std::os::unix::fs::symlink("new", folder.0.path().join("to-new")).unwrap();
    for (rejects, output) in [
        ("in.txt", "o"),
        ("link", "o"),
        ("./in.txt", "o"),
        ("new", "new"),
        ("new", "to-new"),
        ("-", "-"),
    ] {
        let args = ["--on-error", "skip", "--rejects", rejects, "-o", output, "in.txt"];
        let run = folder.run(&args, b"");
        assert_eq!(run.status.code(), Some(2), "{rejects} {output}: {}", err(&run));
    }
    assert_eq!(fs::read(folder.0.path().join("in.txt")).unwrap(), b"a;1.0\nbad\n");
    assert_eq!(folder.names(), ["in.txt", "link", "to-new"]);
}

#[test]
fn a_missing_value_costs_only_its_own_column() {
    let csv = b"host,ms,kb\na,,3\na,NA,5\na,1.5,4\n";
    let run = |more: &[&str]| {
        let args = [
            "--delimiter", ",", "--header", "--value", "ms", "--value", "kb", "--stats",
            "count,rows,sum",
        ];
        Folder::new().run(&[&args[..], more].concat(), csv)
    };
    let skipped = out(&run(&["--null-values", "NA,null"]));
    assert_eq!(skipped.lines().nth(1), Some("a,1,3,1.5,3,3,12"), "{skipped}");
    let zero = out(&run(&["--null-values", "NA", "--null", "ms=zero"]));
    assert_eq!(zero.lines().nth(1), Some("a,3,3,1.5,3,3,12"), "{zero}");
    let output = run(&["--null-values", "NA", "--null", "fail"]);
    assert_eq!(output.status.code(), Some(3));
    let said = err(&output);
    assert!(said.starts_with("fathom: -:2:3: the value is missing: ms"), "{said}");
    let output = run(&[]);
    assert!(err(&output).starts_with("fathom: -:3:3: "), "{}", err(&output));
    assert!(err(&run(&["-v"])).contains("byte 18, in the record from byte 16 on"));
    for mistake in ["--null=ms=never", "--null=maybe", "--null=when=skip"] {
        assert_eq!(run(&[mistake]).status.code(), Some(2), "{mistake}");
    }
    let same = run(&["--null-values=NA", "--null=ms,kb=zero", "--null=ms=zero", "--null=skip"]);
    assert_eq!(out(&same), zero);
    for [first, second] in [["zero", "skip"], ["ms=zero", "ms=skip"], ["ms,kb=zero", "kb=fail"]] {
        says(&run(&["--null", first, "--null", second]), 2, "--null says otherwise");
    }
    let list = err(&run(&["--null=ms=zero,ms=skip"]));
    assert!(list.contains("names ms=zero, and each COL=… is a --null of its own"), "{list}");
}

#[test]
fn a_missing_key_is_told_where_its_field_stands() {
    let told = |args: &str, input: &str| {
        let args: Vec<&str> = args.split(' ').chain(["--value", "v"]).collect();
        err(&Folder::new().run(&args, input.as_bytes()))
    };
    let one = "--delimiter , --by k";
    assert_eq!(told(one, "a,k,v\n1,,1\n"), "fathom: -:2:3: the key is empty: k \"\"\n");
    let said = "fathom: -:2:3: the key is empty: k \" \"\n";
    assert_eq!(told("--delimiter , --by k --trim", "a,k,v\n1, ,1\n"), said);
    let said = "fathom: -:2:4: the key is empty: k \"\"\n";
    assert_eq!(told("--delimiter , --by k,l", "a,k,l,v\n1,\"\",,1\n"), said);
    for (line, column) in [
        ("{\"a\":1,\"k\":\"\",\"v\":2}", 13),
        ("{\"a\":1,\"k\":null,\"v\":2}", 12),
        ("{\"a\":1,\"v\":2}", 1),
    ] {
        let said = format!("fathom: -:1:{column}: the key is empty: k \"\"\n");
        assert_eq!(told("--format-in ndjson --by k", line), said);
    }
}

#[test]
fn line_ends_of_windows_were_shown_as_part_of_records() {
    let folder = Folder::new();
    let csv = b"k,v\r\na,1,2\r\na\r\nb,1\r\n";
    let args = ["--delimiter", ",", "--by", "k", "--count", "--on-error=skip", "--rejects=r"];
    let output = folder.run(&args, csv);
    let said = "fathom: skipped -:2:5: expected 2 fields, found 3: \"a,1,2\"\n\
                fathom: skipped -:3:1: expected 2 fields, found 1: \"a\"\n\
                fathom: 2 records skipped\n";
    assert_eq!((err(&output).as_str(), out(&output).as_str()), (said, "k,count\nb,1\n"));
    assert_eq!(fs::read(folder.0.path().join("r")).unwrap(), b"a,1,2\r\na\r\n");
    let output = folder.run(&["--delimiter=,", "--by=k", "--value=3"], b"k,v\r\na,1\r\n");
    assert_eq!(err(&output), "fathom: -:2:1: there is no column 3: \"a,1\"\n");
}

#[test]
fn a_key_that_is_called_as_the_total_is_noted() {
    let note = "fathom: a key is called \"total\" as well as the line of all keys: --total=NAME \
                calls that otherwise\n";
    let csv = b"k,l,v\ntotal,,1\nb,,2\n";
    for (args, is_noted) in [
        ("--by k --total", true),
        ("--by k,l --total --sort mean --top 2", true),
        ("--by k,l --total --memory-limit 2M --spill .", true),
        ("--by k --total --sort mean --memory-limit 2M --spill .", true),
        ("--by v,k --total --memory-limit 2M --spill .", false),
        ("--by k --total --top 1", false),
        ("--by k --total=all", false),
        ("--by v,k --total", false),
        ("--by k", false),
    ] {
        let args: Vec<&str> = args.split(' ').chain(["--value", "v", "--delimiter=,"]).collect();
        let said = err(&Folder::new().run(&args, csv));
        assert_eq!(said, if is_noted { note } else { "" }, "{args:?}");
    }
}

#[test]
fn ragged_records_were_taken_in_silence() {
    let folder = Folder::new();
    let args = ["--delimiter", ",", "--header", "--stats", "sum"];
    says(&folder.run(&args, b"k,v\na,1,234\n"), 3, "expected 2 fields, found 3");
    let padded = [&args[..], &["--ragged", "pad"]].concat();
    let output = folder.run(&padded, b"k,v\na,1,234\nb\n");
    assert_eq!(out(&output), "k,sum\na,1\nb,0\n");
    let output = folder.run(&args, b"k,v,v\na,1,2\n");
    assert_eq!(output.status.code(), Some(0), "columns by number are no matter of names");
    let named = [&args[..], &["--value", "v"]].concat();
    let said = err(&folder.run(&named, b"k,v,v\na,1,2\n"));
    let twice = "\"v\" twice, as columns 2 and 3: choose one by its number";
    assert!(said.contains(twice), "{said}");
}

/// Lines of a log that have an object, or a member twice, could not be left out.
#[test]
fn what_a_condition_leaves_out_need_have_no_values() {
    let log = b"{\"kind\":\"a\",\"v\":{\"w\":1},\"id\":\"x\"}\n\
        {\"kind\":\"a\",\"id\":\"x\",\"v\":1,\"v\":[2]}\n\
        {\"id\":\"x\",\"v\":\"\\ud800\",\"kind\":\"a\"}\n\
        {\"kind\":\"b\",\"id\":\"y\",\"v\":2}\n";
    let run = |condition: &str, text: &[u8]| {
        let args = "--format-in ndjson --by id --value v --stats sum --where";
        let args: Vec<&str> = args.split(' ').chain([condition]).collect();
        Folder::new().run(&args, text)
    };
    for condition in ["kind == \"b\"", "kind == \"b\" && v > 1", "!(kind is null || kind == \"a\")"]
    {
        assert_eq!(out(&run(condition, log)), "id,sum\ny,2\n", "{condition}");
    }
    says(&run("kind == \"a\"", log), 3, "-:1:17: an object or an array is no value");
    says(&run("v > 1 && kind == \"b\"", log), 3, "-:1:17: an object or an array is no value");
    // Nobody knows what else would be there.
    says(&run("kind == \"b\"", b"{\"kind\":\"a\",\"v\":{},\"id\":}\n"), 3, "-:1:17: an object");
    says(&run("kind == \"b\"", b"{\"kind\":\"a\",\"v\":1,\"id\":}\n"), 3, "-:1:");
}

/// The header was skipped like a wrong record, or the delimiter to blame was not named; a record cut short hid the
/// delimiter of the others.
#[test]
fn what_was_guessed_is_told_where_records_are_skipped_or_filled() {
    let by_number = ["--by", "1", "--value", "2", "--stats", "sum"];
    let run = |args: [&str; 2], text: &str| {
        Folder::new().run(&[&by_number[..], &args].concat(), text.as_bytes())
    };
    let many = "a,1\nb,2\nc,3\nd,4\ne,5\nf,1,234\n";
    for (text, sums, said) in [
        ("k,v\na,1\na,2\n", "k,sum\na,3\n", "the first record is taken for a header"),
        (many, "key,sum\na,1\nb,2\nc,3\nd,4\ne,5\n", ", was taken for the delimiter"),
        ("a 1\n", "key,sum\n", "no delimiter cuts the records alike, so ; is taken"),
    ] {
        let output = run(["--on-error", "skip"], text);
        assert_eq!(out(&output), sums);
        assert!(err(&output).starts_with(&format!("fathom: {said}")), "{}", err(&output));
    }
    let filled = run(["--ragged", "pad"], "a|1\nb|2|z\na|3|y|x\nc|\n");
    assert_eq!((out(&filled).as_str(), err(&filled).as_str()), ("key,sum\na,4\nb,2\nc,0\n", ""));
}

/// What a run over `csv` prints, with these words as options.
fn printed(csv: &str, args: &str) -> String {
    let output = Folder::new().run(&args.split(' ').collect::<Vec<_>>(), csv.as_bytes());
    assert_eq!(err(&output), "", "{args}");
    out(&output)
}

const SALES: &str = "country,city,price\nNO,Oslo,30\nDK,Ribe,10.5\nNO,Bergen,20\nDK,Aarhus,10.5\n\
    SE,Lund,\nNO,Oslo,9\n";

#[test]
fn order_shares_and_totals_are_those_of_all_keys() {
    let run = |args: &str| printed(SALES, args);
    assert_eq!(
        run("--by country --value price --stats count,sum --shares --total --sort sum --top 1"),
        "country,count,count%,sum,sum%\nNO,3,60,59,73.75\ntotal,5,100,80,100\n"
    );
    assert_eq!(
        run("--by country,city --value price --stats sum --sort country:desc,sum:asc"),
        "country,city,sum\nSE,Lund,0\nNO,Bergen,20\nNO,Oslo,39\nDK,Aarhus,10.5\nDK,Ribe,10.5\n"
    );
    assert_eq!(
        run(
            "--by country --value price --stats rows% --total=all --sort price_mean,key --format table"
        ),
        "country   rows%\nNO        50.00\nDK        33.33\nSE        16.67\nall      100.00\n"
    );
    assert_eq!(
        run("--by country --count --shares --format markdown"),
        "| country | count | count% |\n| ------- | ----: | -----: |\n| DK      |     2 |  33.33 |\n\
         | NO      |     3 |  50.00 |\n| SE      |     1 |  16.67 |\n"
    );
    let folder = Folder::new();
    let output = folder.run(&["--by=1", "--value=3", "--header", "--sort=ms"], SALES.as_bytes());
    let said = "--sort: nothing is called \"ms\"; there is country, min, mean, max";
    assert!(err(&output).contains(said), "{}", err(&output));
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(2), ""));
}

#[test]
fn two_inputs_are_compared_key_by_key() {
    let folder = Folder::new();
    folder.file("before.csv", "path,ms\n/a,10\n/a,20\n/b,5\n/gone,1\n");
    folder.file("after.csv", "path,ms\n/a,30\n/b,4\n/b,4\n/new,7\n");
    let run = |args: &str| {
        let args = format!("--compare --by path --value ms {args} before.csv after.csv");
        let output = folder.run(&args.split(' ').collect::<Vec<_>>(), b"");
        assert_eq!((err(&output).as_str(), output.status.code()), ("", Some(0)), "{args}");
        out(&output)
    };
    assert_eq!(
        run("--stats count,mean"),
        "path,count_before,count_after,count_change,count_change%,mean_before,mean_after,mean_change,mean_change%\n\
         /a,2,1,-1,-50,15,30,15,100\n/b,1,2,1,100,5,4,-1,-20\n/gone,1,0,-1,-100,1,,,\n/new,0,1,1,,,7,,\n"
    );
    assert_eq!(
        run("--stats p50 --sort p50_change% --top 2 --total --format table"),
        "path   p50_before  p50_after  p50_change  p50_change%\n\
         /a          15.00      30.00       15.00       100.00\n\
         /b           5.00       4.00       -1.00       -20.00\n\
         total        7.50       5.50       -2.00       -26.67\n"
    );
    // Shares of texts had no change.
    let words = "--compare --by path --text path --stats count% before.csv after.csv";
    assert_eq!(
        out(&folder.run(&words.split(' ').collect::<Vec<_>>(), b"")),
        "path,count%_before,count%_after,count%_change,count%_change%\n\
         /a,50,25,-25,-50\n/b,25,50,25,100\n/gone,25,0,-25,-100\n/new,0,25,25,\n"
    );
    // Columns were called by their places if the first input had no header.
    folder.file("none.csv", "");
    folder.file("header.csv", "page,s\n");
    for (first, key, value) in [("none.csv", "path", "ms"), ("--header header.csv", "page", "s")] {
        let asked = format!("--compare --by 1 --value 2,2 --stats max --sort {value}_max");
        let words = format!("{asked} {first} after.csv");
        let shown = out(&folder.run(&words.split(' ').collect::<Vec<_>>(), b""));
        assert!(shown.starts_with(&format!("{key},{value}_max_before,")), "{shown}");
    }
}

#[test]
fn keys_are_joined_by_time_by_hundreds_and_without_blanks_and_case() {
    let csv = "time,host,ms\n2026-11-22T08:59:59Z,Web ,99\n2026-11-22 09:00, web,100\n\
        22/Nov/2026:10:30:00 +0100,DB,1250\n1795338000,db,0.5\n\
        2026-11-22T08:00:00Z,db,-7\n";
    let hours = printed(csv, "--by time:1h --value ms --stats count,max");
    assert_eq!(hours, "time,count,max\n2026-11-22T08:00:00Z,2,99\n2026-11-22T09:00:00Z,3,1250\n");
    assert_eq!(printed(csv, "--by ms:100 --count"), "ms,count\n-100,1\n0,2\n100,1\n1200,1\n");
    let last = printed(csv, "--by 3:100 --header --count --sort key:desc --top 1");
    assert_eq!(last, "ms,count\n1200,1\n");
    let days = printed(csv, "--by host,time:1d --trim --ignore-case --count");
    assert_eq!(days, "host,time,count\ndb,2026-11-22,3\nweb,2026-11-22,2\n");
    let output = Folder::new().run(&["--by", "host:1h", "--count"], csv.as_bytes());
    assert_eq!(output.status.code(), Some(3));
    let said = err(&output);
    assert!(said.starts_with("fathom: -:2:22: not a time (RFC 3339,"), "{said}");
    assert!(said.ends_with("host \"Web \"\n"), "{said}");
}

#[test]
fn logs_json_and_folders_are_read_as_what_they_are() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("logs")).unwrap();
    let log = |host: &str, bytes: &str| {
        format!(
            "{host} - - [22/Nov/2026:10:00:00 +0000] \"GET /a?b HTTP/1.1\" 200 {bytes} \"-\" \"x\"\n"
        )
    };
    folder.file("logs/2.log", log("::1", "100") + &log("::2", "-"));
    folder.file("logs/1.log.gz", gzip(log("::1", "5").as_bytes()));
    folder.file("logs/.hidden", "nothing of a log");
    for args in ["--format-in combined", "--format-in common", ""] {
        let args = format!("{args} --by host,path --value bytes --stats rows,sum logs");
        let output = folder.run(&args.split_whitespace().collect::<Vec<_>>(), b"");
        assert_eq!(err(&output), "", "{args}");
        assert_eq!(out(&output), "host,path,rows,sum\n::1,/a,2,105\n::2,/a,1,0\n");
    }
    let output = folder.run(&["--by", "host", "--count", "logs/*.log", "logs/?.log.gz"], b"");
    assert_eq!(out(&output), "host,count\n::1,2\n::2,1\n");
    let json =
        b"{\"user\": {\"id\": \"a\"}, \"ms\": 1.5}\n\n{\"ms\": 2, \"user\": {\"id\": \"a\"}}\n";
    let args = ["--by", "user.id", "--value", "ms", "--stats", "sum"];
    let summed = folder.run(&args, json);
    assert_eq!((out(&summed), err(&summed)), ("user.id,sum\na,3.5\n".to_owned(), String::new()));
    // Lines of JSON have no header that could lack a column.
    let absent = ["--by", "user.id,user.ip", "--value", "ms*2,ms", "--stats", "sum"];
    let absent = folder.run(&absent, json);
    assert_eq!(out(&absent), "user.id,user.ip,ms*2_sum,ms_sum\na,,0,3.5\n");
    let said = "fathom: no record has a member \"user.ip\"\n\
                fathom: no record has a member \"ms*2\" (a formula has blanks around its signs: ms * 2)\n";
    assert_eq!(err(&absent), said);
    // It was said of each side, of each file of a state and of a range, and neither of a filter nor with --spill.
    folder.file("without", "{\"a\": 1}\n");
    folder.file("with", "{\"a\": 2, \"v\": 2}\n");
    for (more, said) in [
        ("--compare without with", ""),
        ("--compare without without", "fathom: no record has a member \"v\"\n"),
        ("--spill . --memory-limit 4M without", "fathom: no record has a member \"v\"\n"),
        ("--range 0..9 without", ""),
        ("--partial -o state without with", ""),
        ("--where a<2 without with", ""),
        ("--where aa<2 without with", "fathom: no record has a member \"aa\"\n"),
        ("--where a<2||b.a<2 without with -t 2", "fathom: no record has a member \"b.a\"\n"),
    ] {
        let asked = "--by a --value v --stats sum".split(' ');
        let output = folder.run(&asked.chain(more.split(' ')).collect::<Vec<_>>(), b"");
        assert_eq!((err(&output).as_str(), output.status.code()), (said, Some(0)), "{more}");
    }
    let wrong =
        folder.run(&args, b"{\"user\": {\"id\": \"a\"}, \"ms\": 1}\n{\"user\": {\"id\" 1}}\n");
    let said = "fathom: -:2:16: not JSON: expected ':' after the key: ";
    assert!(err(&wrong).starts_with(said), "{}", err(&wrong));
    let args = [&["--format-in", "ndjson"], &args[..]].concat();
    let said = err(&folder.run(&args, b"{\"user\": \"x\", \"ms\": {}}\n"));
    assert!(said.starts_with("fathom: -:1:21: an object or an array is no value"), "{said}");
    let log = log("::1", "5") + "[22/Nov/2026] x\n";
    let wrong = folder.run(&["--by", "host", "--count"], log.as_bytes());
    let said = "fathom: -:2:15: not a line of an access log: expected an identity: ";
    assert!(err(&wrong).starts_with(said), "{}", err(&wrong));
    let unknown = folder.run(&["--format-in", "clf", "--by", "hots", "--count"], b"");
    assert!(err(&unknown).contains("no column \"hots\"; it has: \"host\""), "{}", err(&unknown));
    for args in [&["--by", "a"][..], &["--count"], &["--by", "a", "--count", "--header"]] {
        let output = folder.run(&[&["--format-in", "ndjson"], args].concat(), b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn names_in_quotes_keep_what_is_behind_a_colon() {
    let folder = Folder::new();
    folder.file("t.csv", "a:10,b:desc,b,c/d\nx,1,27,0\ny,3,32,0\n");
    let run = |words: &str| folder.run(&words.split(' ').collect::<Vec<_>>(), b"");
    let told = out(&run("--by \"a:10\" --value b --stats sum t.csv"));
    assert_eq!(told, "a:10,sum\nx,27\ny,32\n");
    let told = out(&run("--by b:10 --value \"b:desc\" --stats sum t.csv"));
    assert_eq!(told, "b,sum\n20,1\n30,3\n");
    let told = out(&run("--by \"b:desc\" --value b --stats sum --sort \"b:desc\" t.csv"));
    assert_eq!(told, "b:desc,sum\n1,27\n3,32\n");
    let told = out(&run("--by \"b:desc\":2 --value b --stats sum --sort \"b:desc\":desc t.csv"));
    assert_eq!(told, "b:desc,sum\n2,32\n0,27\n");
    for (words, said) in [
        ("--by \"b\":often --count", "\"often\" is no width of buckets"),
        ("--by b:often --count", "has no column \"b:often\" (what is behind its colon is no width"),
        ("--by b --value b*2", "has no column \"b*2\" (a formula has blanks around its signs"),
        ("--by b --count --where c/d>1", "has no column \"c\" (if c/d is meant: in a condition"),
        (
            "--by a:10 --count",
            "has no column \"a\" (behind the colon of a:10 is a width of buckets",
        ),
    ] {
        let output = run(&format!("{words} t.csv"));
        assert!(!output.status.success() && err(&output).contains(said), "{}", err(&output));
    }
    for option in ["--by", "--text"] {
        let output = folder.run(&[option, "b + 1", "--stats", "count", "t.csv"], b"");
        let said = "has no column \"b + 1\" (formulas are values only)";
        assert!(err(&output).contains(said), "{}", err(&output));
    }
}

#[test]
fn of_texts_alone_is_told_what_texts_have() {
    let rows = b"k,v\na,x\na,y\na,x\n";
    let run = |words: &str| out(&Folder::new().run(&words.split(' ').collect::<Vec<_>>(), rows));
    assert_eq!(run("--by k --text v --format csv"), "k,count,distinct\na,3,2\n");
    assert_eq!(run("--by k --text v --stats mode --format csv"), "k,mode\na,x\n");
}

#[test]
fn json_over_several_lines_is_said_to_be_some() {
    for (words, json) in [
        ("--by a --count", "{\n  \"a\": 1\n}\n"),
        ("--by a --count", "[\n{\"a\": 1}]\n"),
        ("--by a --count", "[{\"a\": \"x\"},\n{\"a\": \"y\"}]\n"),
        ("--by 1 --value a", "{\"a\": 1, \"b\": \"x\"}\n"),
        ("--by a --count --delimiter ;", "{\"a\": 1, \"b\": \"x\"}\n"),
    ] {
        let output = Folder::new().run(&words.split(' ').collect::<Vec<_>>(), json.as_bytes());
        let said = " (JSON is read as ndjson, of which each line is an object)";
        assert!(err(&output).contains(said), "{}", err(&output));
    }
    let said = "--value, --text or --count says what is told of each key";
    says(&Folder::new().run(&["--by", "a", "-"], b"{\"a\": 1}\n"), 2, said);
}

#[test]
fn utf_16_is_decoded_and_other_formats_are_named() {
    let folder = Folder::new();
    let wide: Vec<u8> =
        "\u{feff}k;1.5\né;2.0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.file("wide.txt", &wide);
    assert_eq!(out(&folder.run(&["wide.txt"], b"")), "{k=1.5/1.5/1.5, é=2.0/2.0/2.0}\n");
    assert_eq!(out(&folder.run(&["-"], &gzip(&wide))), "{k=1.5/1.5/1.5, é=2.0/2.0/2.0}\n");
    assert_eq!(folder.run(&[], &wide[..wide.len() - 1]).status.code(), Some(3));
    folder.file("x.xz", b"\xfd7zXZ\0\0\x04");
    for args in [&["x.xz"][..], &["--by", "a", "--count", "x.xz"]] {
        let output = folder.run(args, b"");
        assert_eq!(output.status.code(), Some(3));
        assert!(err(&output).starts_with("fathom: x.xz: this is compressed by xz, not text: "));
    }
}

#[test]
fn what_is_spilled_gives_the_same_bytes_in_every_form_and_leaves_nothing() {
    let folder = Folder::new();
    let row = |at: u32| {
        format!("k{},{}.{},{}\n", at.wrapping_mul(2_654_435_761) % 9973, at % 50, at % 10, at % 7)
    };
    let rows: String = (0..30_000).map(row).collect();
    folder.file("rows.csv", format!("name,ms,kind\n{rows}"));
    folder.file("rows.csv.gz", gzip(format!("name,ms,kind\n{rows}").as_bytes()));
    folder.file(
        "pairs.txt",
        rows.lines().fold(String::new(), |all, line| {
            let mut fields = line.split(',');
            all + fields.next().unwrap() + ";" + fields.next().unwrap() + "\n"
        }),
    );
    let lines = rows.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!(
            "{{\"name\": \"{}\", \"ms\": {}, \"kind\": \"{}\"}}\n",
            fields[0], fields[1], fields[2]
        )
    });
    folder.file("rows.ndjson", lines.collect::<String>());
    fs::create_dir(folder.0.path().join("disk")).unwrap();
    let csv = ["--by", "name", "--value", "ms", "rows.csv"];
    let all = "min,mean,max,count,rows,sum,stddev,range,p99,distinct,mode,first,last,histogram";
    let questions: [&[&str]; 12] = [
        &["pairs.txt"],
        &["--format", "json", "--stats", "count,p50", "pairs.txt"],
        &[&csv[..], &["--stats", all]].concat(),
        &[&csv[..], &["--stats", all, "--format", "ndjson", "--total"]].concat(),
        &[&csv[..], &["--stats", "count,sum", "--shares", "--sort", "sum", "--format", "tsv"]]
            .concat(),
        &[&csv[..], &["--sort", "mean,key:desc", "--reverse"]].concat(),
        &[&csv[..], &["--sort", "max", "--top", "12", "--format", "table", "--total"]].concat(),
        &[&csv[..], &["--top", "3", "--format", "html"]].concat(),
        &[
            "--by", "name,ms:10", "--value", "ms", "--text", "kind", "--stats",
            "count,distinct,last", "rows.csv.gz",
        ],
        &["--by", "name,kind", "--count", "--where", "ms > 20", "rows.csv"],
        &["--by", "name", "--value", "ms", "--stats", "p99,distinct", "--approx", "rows.ndjson"],
        &[
            "--by", "name", "--value", "ms,kind", "--stats", "sum,max", "--format", "csv",
            "rows.csv", "rows.csv.gz",
        ],
    ];
    let spill = ["--memory-limit", "2M", "--spill", "disk", "--verbose"];
    for question in questions {
        let expected = folder.run(&[question, &["--verbose"]].concat(), b"");
        let found = folder.run(&[question, &spill].concat(), b"");
        assert_eq!(found.status.code(), Some(0), "{question:?}: {}", err(&found));
        assert!(found.stdout == expected.stdout, "{question:?}");
        // The hash, the length, the number of keys and the counts.
        let told = |output: &Output| -> Vec<String> {
            let lines = err(output);
            let is_told = |line: &&str| line.contains('=') || line.contains("records,");
            let line = |line: &str| line.split(" in ").next().unwrap().to_owned();
            lines.lines().filter(is_told).map(line).collect()
        };
        assert_eq!(told(&found), told(&expected), "{question:?}");
        assert!(err(&found).contains("spilled "), "{question:?}: {}", err(&found));
    }
    assert_eq!(fs::read_dir(folder.0.path().join("disk")).unwrap().count(), 0);
}

#[test]
fn what_cannot_be_spilled_is_refused_before_anything_is_read() {
    let folder = Folder::new();
    let spill = ["--memory-limit", "1M", "--spill", "."];
    for (args, said) in [
        (&["--spill", "."][..], "--memory-limit"),
        (&[&spill[..], &["--partial"]].concat(), "cannot be used with '--partial'"),
        (&[&spill[..], &["--compare"]].concat(), "cannot be used with '--compare'"),
        (&[&spill[..], &["--format", "table"]].concat(), "all others need --top N"),
        (&[&spill[..], &["--format", "html"]].concat(), "all others need --top N"),
    ] {
        says(&folder.run(&[args, &["missing.txt"]].concat(), b""), 2, said);
    }
    for (at, said) in [("nowhere", "No such file"), ("file", "not a directory")] {
        folder.file("file", "");
        let output = folder.run(&["--memory-limit", "1M", "--spill", at], INPUT.as_bytes());
        assert_eq!(output.status.code(), Some(4), "{}", err(&output));
        let expected = format!("fathom: cannot spill to {at}: {said}");
        assert!(err(&output).starts_with(&expected), "{}", err(&output));
    }
}

#[test]
fn a_top_that_does_not_fit_was_told_to_spill_as_it_did() {
    let rows: String = (0..60_000).map(|at| format!("{at};1.5\n")).collect();
    let args = ["--memory-limit", "2M", "--spill", ".", "--top", "60000"];
    let output = Folder::new().run(&args, rows.as_bytes());
    assert_eq!((output.status.code(), out(&output)), (Some(3), String::new()));
    let said = "fathom: the first 60000 keys do not fit the memory limit (bytes: 2097152): ";
    assert!(err(&output).starts_with(said), "{}", err(&output));
}

#[test]
fn rejects_stayed_of_a_run_whose_output_could_not_be_written() {
    let folder = Folder::new();
    for (at, code, said) in [
        ("none/x", 4, "cannot create none/x"),
        ("https://localhost/x", 2, "https://localhost/x: this has to be a local file"),
    ] {
        for more in [&[][..], &["--partial"]] {
            let words = ["--on-error", "skip", "--rejects", "rejects", "-o", at, "-"];
            let output = folder.run(&[&words[..], more].concat(), b"a;1\nbad\n");
            assert_eq!(output.status.code(), Some(code), "{}", err(&output));
            assert!(err(&output).starts_with(&format!("fathom: {said}")), "{}", err(&output));
        }
    }
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 0);
}

/// They are of a result that there is; and an older file of their name was gone.
#[test]
fn rejects_of_a_run_without_a_result_took_the_place_of_others() {
    let folder = Folder::new();
    folder.file("rejects", "of another run");
    let words = "--by 1 --value 2 --header --on-error skip --rejects rejects";
    let run = |more: &str| {
        let words = [words, more].join(" ");
        folder.run(&words.split_whitespace().collect::<Vec<_>>(), b"k,v\na,1\nb,x\n")
    };
    for (more, code) in [("--sort nosuch", 2), ("-o /dev/full", 4), ("--partial -o /dev/full", 4)] {
        assert_eq!(run(more).status.code(), Some(code), "{more}");
        let kept = fs::read_to_string(folder.0.path().join("rejects")).unwrap();
        assert_eq!(kept, "of another run", "{more}");
    }
    assert_eq!(folder.names(), ["rejects"]);
    assert_eq!(run("").status.code(), Some(1));
    assert_eq!(fs::read_to_string(folder.0.path().join("rejects")).unwrap(), "b,x\n");
}

#[test]
fn names_of_files_were_commands_to_a_terminal() {
    let folder = Folder::new();
    folder.file("a\x1b[31m.txt", "a;x\n");
    let output = folder.run(&["-v", "a\x1b[31m.txt"], b"");
    assert!(err(&output).starts_with("aggregating a") && !err(&output).contains('\x1b'));
}

#[test]
fn a_dash_was_a_folder_of_this_name_and_a_file_of_this_name_standard_input() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("-")).unwrap();
    for args in [&["-"][..], &[]] {
        assert_eq!(out(&folder.run(args, b"a;1\n")), "{a=1.0/1.0/1.0}\n", "{args:?}");
    }
    fs::remove_dir(folder.0.path().join("-")).unwrap();
    folder.file("+", "x;6\n");
    folder.file("-", "x;5\n");
    folder.file("z", "x;7\n");
    let output = folder.run(&["--by", "1", "--stats", "sum,first,last", "?"], b"a;1\n");
    assert_eq!(out(&output), "key,sum,first,last\nx,18,6,7\n");
    assert_eq!(out(&folder.run(&["./-"], b"a;1\n")), "{x=5.0/5.0/5.0}\n");
}

#[test]
fn on_a_page_the_total_was_a_key_and_texts_were_numbers() {
    let told = ["--by", "1", "--text", "2", "--stats", "count,mode", "--total", "--format", "html"];
    let page = out(&Folder::new().run(&told, b"a;web-2\n"));
    for part in ["1 key<", "<td class=\"n\">1</td><td>web-2</td>", "<tfoot>\n<tr>"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn options_that_change_nothing_are_told() {
    for (words, said) in [
        ("--approx --stats max", "fathom: --approx changes nothing: "),
        ("--quantiles nearest", "fathom: --quantiles changes nothing: "),
        ("--approx --stats distinct", ""),
        ("--approx --histogram", ""),
        ("--quantiles nearest --sort p50", ""),
    ] {
        let output = Folder::new().run(&words.split(' ').collect::<Vec<_>>(), INPUT.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{words}: {}", err(&output));
        let told = err(&output);
        assert!(told.starts_with(said) && told.is_empty() == said.is_empty(), "{words}: {told}");
    }
}

#[test]
fn rejects_are_counted_and_kept_alike_where_tables_are_spilled() {
    let folder = Folder::new();
    let row = |at: u32| {
        if at.is_multiple_of(1000) { format!("bad {at}\n") } else { format!("{at};1.5\n") }
    };
    folder.file("rows.txt", (0..100_000).map(row).collect::<String>());
    let skip = ["--on-error", "skip", "rows.txt", "--rejects"];
    let expected = folder.run(&[&skip[..], &["expected"]].concat(), b"");
    let found =
        folder.run(&[&skip[..], &["found", "--memory-limit", "2M", "--spill", "."]].concat(), b"");
    assert_eq!((found.status.code(), err(&found)), (Some(1), err(&expected)));
    assert!(found.stdout == expected.stdout);
    let kept = |name| fs::read(folder.0.path().join(name)).unwrap();
    assert_eq!(kept("found"), kept("expected"));
    let fails = folder.run(&["rows.txt", "--memory-limit", "2M", "--spill", "."], b"");
    assert_eq!((fails.status.code(), out(&fails)), (Some(3), String::new()));
    assert!(err(&fails).contains("fathom: rows.txt:1:1: "), "{}", err(&fails));
}

#[test]
fn a_line_of_totals_or_a_short_record_hid_what_separates_fields() {
    let run = |words: &str, input: &str| {
        let output = Folder::new().run(&words.split(' ').collect::<Vec<_>>(), input.as_bytes());
        (output.status.code().unwrap(), format!("{}{}", out(&output), err(&output)))
    };
    let totals = "name,amount\nA,1\nB,2\nTotal: 3\n";
    for words in ["--by 1 --count", "--by name --count", "--by name --value amount"] {
        let (code, said) = run(words, totals);
        assert!(code == 3 && said.contains(":4:1: expected 2 fields, found 1"), "{words}: {said}");
        let told =
            "fathom: , was taken for the delimiter, though it does not cut all records alike";
        assert!(said.starts_with(told), "{said}");
    }
    let (code, said) = run("--by name --value amount --stats sum --on-error skip", totals);
    assert!(code == 1 && said.starts_with("name,sum\nA,1\nB,2\n"), "{said}");
    let short = "name,amount,note\nA,1\nB,2,x\nC,3\n";
    let padded = run("--by name --value amount --stats sum --ragged pad", short);
    assert_eq!(padded, (0, "name,sum\nA,1\nB,2\nC,3\n".to_owned()));
    let told = "fathom: no delimiter cuts the records alike, so ; is taken (--delimiter)\n";
    let (code, said) = run("--by name --value amount", "name\nA\nB\n");
    assert!(code == 3 && said.starts_with(told), "{said}");
    let (code, said) = run("--by name --partial", "name\nA\nB\n");
    assert!(code == 3 && said.starts_with(told), "{said}");
    assert_eq!(run("--by name --count", "name\nA\n"), (0, "name,count\nA,1\n".to_owned()));
    // What is no fault of a record is not the delimiter's.
    let many: String = (0..300_000).map(|number| format!("{number}\n")).collect();
    let (code, said) = run("--by 1 --count --memory-limit 1M", &many);
    assert!(code == 3 && said.starts_with("fathom: the memory limit is reached"), "{said}");
}

#[test]
fn dates_without_dashes_were_counted_in_1970() {
    let run = |words: &[&str], input: &str| {
        Folder::new().run(&[words, &["--by", "date:1mo", "--count"]].concat(), input.as_bytes())
    };
    let (plain, json): (&[&str], &[&str]) = (&[], &["--format-in", "ndjson"]);
    for date in ["20260203", "2026", "20260203081458"] {
        let (csv, line) = (format!("date,v\n{date},1\n"), format!("{{\"date\":{date}}}\n"));
        for (words, input, place) in [(plain, csv, "-:2:1"), (json, line, "-:1:9")] {
            let output = run(words, &input);
            let said = format!("fathom: {place}: a date is written YYYY-MM-DD");
            assert_eq!(output.status.code(), Some(3));
            assert!(err(&output).starts_with(&said), "{}", err(&output));
        }
    }
    assert_eq!(out(&run(plain, "date,v\n20260203.0,1\n")), "date,count\n1970-08,1\n");
}

#[test]
fn what_texts_or_shares_have_nothing_of_was_left_out_in_silence() {
    for (words, said) in [
        ("--text d --stats count,mean,p99", "fathom: --stats mean,p99 changes nothing: of texts"),
        ("--value v --text d", "fathom: --text changes nothing: of texts"),
        ("--value v --shares", "fathom: --shares changes nothing: "),
        ("--value v --text d --stats mean,count", ""),
        ("--text d", ""),
        ("--count --shares", ""),
    ] {
        let words: Vec<&str> = ["--by", "k"].into_iter().chain(words.split(' ')).collect();
        let told = err(&Folder::new().run(&words, b"k,v,d\na,1,x\n"));
        assert!(told.starts_with(said) && told.is_empty() == said.is_empty(), "{words:?}: {told}");
    }
}

#[test]
fn numbers_and_files_of_spreadsheets_are_refused_with_a_hint() {
    let wide: Vec<u8> = "k;v\na;1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (words, input, hint) in [
        ("-", &b"a;1.234,50\n"[..], "fathom: separators of thousands are not read"),
        ("-", b"a;12%\n", "fathom: signs of percent and currencies are not read"),
        ("--by 1:1d --count", b"01.02.2026,5\n", "fathom: dates are written YYYY-MM-DD"),
        ("--by k --count", b"sep=;\nk;v\na;1\n", "(a first line sep=… is for spreadsheets"),
        ("--by k --count", &wide, "(this looks like UTF-16 without a byte order mark)"),
        ("-", &wide, "fathom: this looks like UTF-16 without a byte order mark"),
    ] {
        says(&Folder::new().run(&words.split(' ').collect::<Vec<_>>(), input), 3, hint);
    }
}

#[test]
fn a_first_file_without_a_line_told_what_the_others_are() {
    let folder = Folder::new();
    folder.file("table", "k,v\nb,2\n");
    folder.file("json", "{\"k\":\"b\",\"v\":2}\n");
    for (first, text) in [("mark", "\u{feff}"), ("ends", "\n\r\n"), ("both", "\u{feff}\n")] {
        folder.file(first, text);
        for others in ["table", "json"] {
            let words = ["--by", "k", "--value", "v", "--stats", "sum", first, others];
            assert_eq!(out(&folder.run(&words, b"")), "k,sum\nb,2\n", "{first}, {others}");
        }
    }
}

#[test]
fn shares_that_are_asked_for_are_shown_once() {
    let words = ["--by", "k", "--value", "v", "--stats", "count,count%", "--shares"];
    let output = Folder::new().run(&words, b"k,v\na,1\nb,2\n");
    assert_eq!(out(&output), "k,count,count%\na,1,50\nb,1,50\n");
}
