//! What a build with the feature does.

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::server::{Fault, Request, Server};
use crate::signals;

/// Bytes of a request for a block, and of the first one for an object.
const BLOCK_BYTES: usize = 8 << 20;
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// Far above what anything here takes, far below how long a server stalls.
const PATIENCE: Duration = Duration::from_secs(60);

/// A store, a folder with the same texts, and the environment of a command that reads from it.
struct Bench {
    server: Server,
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { server: Server::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// The same text as a file `name` and as an object `bucket/name`.
    fn put(&self, name: &str, text: impl Into<Vec<u8>>) {
        let text = text.into();
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &text).unwrap();
        self.server.put(&format!("bucket/{name}"), text);
    }

    fn command(&self, words: &str) -> Command {
        let server = format!("http://127.0.0.1:{}", self.server.port);
        let account = format!(
            r#"{{"gcs_base_url":"{server}","disable_oauth":true,"client_email":"","private_key":"","private_key_id":""}}"#
        );
        let words = words.replace("http://bucket/", &format!("{server}/bucket/"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        // A blank in a name is an underscore here.
        command.args(words.split(' ').map(|word| word.replace("_blank_", " ")));
        command.current_dir(self.folder.path()).stdin(Stdio::null()).env_clear().envs([
            ("AWS_ENDPOINT", &*server),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("GOOGLE_SERVICE_ACCOUNT_KEY", &*account),
            ("GOOGLE_ALLOW_HTTP", "true"),
            ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
            ("AZURE_ENDPOINT", &*server),
            ("AZURE_SKIP_SIGNATURE", "true"),
            ("AZURE_ALLOW_HTTP", "true"),
            ("FATHOM_RETRIES", "3"),
        ]);
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a command prints that must end well.
    fn out(&self, words: &str) -> Vec<u8> {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(0), "{words}: {}", said(&output));
        output.stdout
    }

    /// What a command says that must end with this code, and print nothing.
    fn refused(&self, code: i32, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", said(&output));
        assert_eq!(output.stdout, b"", "{words}");
        said(&output)
    }

    /// Asserts that a command says of an object what it says of a file, but for the name.
    fn agree(&self, words: &str, addresses: &[&str]) {
        let local = self.run(words);
        for address in addresses {
            let place = words.rfind(' ').unwrap() + 1;
            let url = format!("{address}{}", &words[place..]);
            let remote = self.run(&format!("{}{url}", &words[..place]));
            assert_eq!(remote.status.code(), local.status.code(), "{url}: {}", said(&remote));
            assert!(remote.stdout == local.stdout, "{words}: {url}");
            let shown = url.replace("http://", &format!("http://127.0.0.1:{}/", self.server.port));
            assert_eq!(said(&remote).replace(&shown, &words[place..]), said(&local), "{words}");
        }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const S3: &str = "s3://bucket/";
const ALL: &[&str] = &[S3, "gs://bucket/", "az://bucket/", "http://bucket/"];

/// Lines of many places; so many bytes at least.
fn text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 40);
    for i in 0_u64.. {
        if text.len() >= bytes {
            break;
        }
        let value = i * 37 % 1999;
        text += &format!("place {};{}.{}\n", i * i % 613, value / 10, value % 10);
    }
    text
}

#[test]
fn objects_say_what_files_say_in_every_store_and_form() {
    let bench = Bench::new();
    bench.put("a.txt", text(300_000));
    bench.put("empty.txt", "");
    bench.put("tiny.txt", "Oslo;1.5");
    bench.put("with space+%25.txt", "Oslo;1.5\nRome;2.5\n");
    bench.agree("aggregate with_blank_space+%25.txt", &[S3]);
    let web = bench.out("aggregate http://bucket/with%20space+%2525.txt");
    assert_eq!(web, b"{Oslo=1.5/1.5/1.5, Rome=2.5/2.5/2.5}\n");
    let csv = format!("place,ms\n{}", text(200_000).replace(';', ","));
    bench.put("a.csv", format!("{csv}\"one\ntwo\",7\n"));
    let wide: Vec<u8> =
        "\u{feff}Ås;1.5\nRome;2.5\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bench.put("wide.txt", wide);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text(3_000_000).as_bytes()).unwrap();
    bench.put("a.gz", gzip.finish().unwrap());
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    bench.put("a.zst", ruzstd::encoding::compress_to_vec(text(400_000).as_bytes(), level));
    bench.put("wrong.txt", format!("{}no record\n", text(100_000)));
    bench.put("foreign.txt", "%PDF-1.4 and so on");
    bench.agree("aggregate a.txt", ALL);
    bench.agree("aggregate empty.txt", ALL);
    for words in [
        "aggregate tiny.txt",
        "aggregate --by place --value ms --stats count,p99,first a.csv",
        "aggregate wide.txt",
        "aggregate a.gz",
        "aggregate a.zst",
        "aggregate wrong.txt",
        "aggregate --on-error skip wrong.txt",
        "aggregate --range 70001..200003 a.txt",
        "aggregate --range 70001.. wrong.txt",
        "aggregate foreign.txt",
    ] {
        bench.agree(words, &[S3, "http://bucket/"]);
    }
}

#[test]
fn pairs_are_read_from_objects() {
    let bench = Bench::new();
    let pair = r#"{"x0":1.5,"y0":2.5,"x1":-30.25,"y1":60}"#;
    let pairs = vec![pair; 20_000].join(",\n");
    bench.put("pairs.json", format!("{{\"pairs\":[{pairs}]}}"));
    bench.put("wrong.json", format!("{{\"pairs\":[{pairs},\n{{}}]}}"));
    for words in
        ["haversine pairs.json", "haversine --threads 1 pairs.json", "haversine wrong.json"]
    {
        bench.agree(words, &[S3, "http://bucket/"]);
    }
}

#[test]
fn folders_and_patterns_name_objects_over_many_pages() {
    let bench = Bench::new();
    for name in [
        "logs/a.csv", "logs/b.csv", "logs/c.csv", "logs/d.csv", "logs/e.csv", "logs/.hidden.csv",
        "logs/f.txt",
    ] {
        bench.put(name, format!("{};1.5\n", &name[5..]));
    }
    bench.server.put("bucket/logs/deeper/g.csv", "g;1.0\n");
    // As the consoles of stores make folders.
    bench.server.put("bucket/logs/", "");
    for words in ["aggregate logs/*.csv", "aggregate logs/?.*", "aggregate logs/"] {
        bench.agree(words, &[S3]);
    }
    let plan = bench.out("plan s3://bucket/logs/*.csv s3://bucket/logs/f.txt");
    let all = ["a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.txt"];
    let all: String = all.iter().map(|name| format!(" s3://bucket/logs/{name}")).collect();
    assert_eq!(String::from_utf8(plan).unwrap(), format!("--number 0/6 --{all}\n"));
    let none = bench.refused(4, "aggregate s3://bucket/logs/*.json");
    assert!(none.contains("no file is called s3://bucket/logs/*.json"), "{none}");
    let web = bench.refused(4, "aggregate http://bucket/logs/*.csv");
    assert!(web.contains("it is not there (404"), "{web}");
}

#[test]
fn every_range_asks_for_the_object_that_was_opened_and_few_are_in_flight() {
    let bench = Bench::new();
    bench.put("a.txt", text(5 * BLOCK_BYTES + 1000));
    bench.server.plan(|_| Fault::Slow(5));
    let words = "aggregate --threads 2 s3://bucket/a.txt";
    let whole = bench.out("aggregate a.txt");
    let mut command = bench.command(words);
    assert!(command.env("FATHOM_REQUESTS", "3").output().unwrap().stdout == whole);
    assert!((2..=3).contains(&bench.server.most_in_flight()), "{}", bench.server.most_in_flight());
    let asked = bench.server.asked();
    assert_eq!(asked[0].range, Some((0, HEAD_BYTES)), "{asked:?}");
    let tag = bench.server.tag("bucket/a.txt");
    assert!(asked[1..].iter().all(|asked| asked.if_match.as_ref() == Some(&tag)), "{asked:?}");
    let ranges: HashSet<_> = asked.iter().map(|asked| asked.range).collect();
    assert_eq!(ranges.len(), asked.len(), "no range twice: {asked:?}");
    let bytes: usize = asked.iter().filter_map(|asked| asked.range).map(|(a, b)| b - a).sum();
    assert!(bytes < 5 * BLOCK_BYTES + 3 * HEAD_BYTES, "{bytes} {asked:?}");
    // Of a range no more than it takes, with the byte before it and where its last record may end.
    bench.agree("aggregate --range 1000000..2000000 a.txt", &[S3]);
    let asked: Vec<_> = bench.server.asked().iter().filter_map(|asked| asked.range).collect();
    assert_eq!(asked, [(0, HEAD_BYTES), (999_999, 2_000_000 + HEAD_BYTES)]);
}

#[test]
fn many_small_objects_are_asked_for_at_once_and_once() {
    let bench = Bench::new();
    let names: Vec<String> = (0..40).map(|i| format!("small/{i:02}.txt")).collect();
    names.iter().for_each(|name| bench.put(name, text(100_000)));
    bench.server.plan(|_| Fault::Slow(10));
    let whole = bench.out("aggregate small/*.txt");
    for words in ["aggregate", "aggregate --threads 1 --partial -o state"] {
        let out = bench.out(&format!("{words} s3://bucket/small/*.txt"));
        assert!(out.is_empty() || out == whole, "{words}");
        let most = bench.server.most_in_flight();
        assert!((8..=16).contains(&most), "{words}: {most}");
        let asked = bench.server.asked();
        // Some pages of a listing, then a head and the rest of each.
        let ranges = asked.iter().filter(|asked| asked.range.is_some()).count();
        assert_eq!(ranges, 80, "{words}: {asked:?}");
    }
    assert!(bench.out("merge state") == whole);
}

/// What is left of a fault: none, or an error that says so.
enum End {
    Same,
    Error(&'static str),
}

#[test]
fn whatever_a_server_does_the_bytes_are_the_same_or_an_error_says_why() {
    use End::{Error, Same};
    use Fault::{Cut, Dated, DatedShort, Long, Other, Reset, Short, Slow, Status, Whole};
    let bench = Bench::new();
    let size = BLOCK_BYTES + 300_000;
    bench.put("a.txt", text(size));
    let whole = bench.out("aggregate a.txt");
    fn first(fault: Fault) -> impl Fn(&Request) -> Fault + Send + Sync + 'static {
        move |asked| if asked.attempt == 0 { fault } else { Fault::None }
    }
    fn block(fault: Fault) -> impl Fn(&Request) -> Fault + Send + Sync + 'static {
        move |asked| match asked.range {
            Some((_, end)) if end > HEAD_BYTES => fault,
            _ => Fault::None,
        }
    }
    type Plan = Box<dyn Fn(&Request) -> Fault + Send + Sync>;
    let plans: Vec<(&str, Plan, End)> = vec![
        ("503 at first", Box::new(first(Status(503))), Same),
        (
            "503 twice",
            Box::new(|asked: &Request| if asked.attempt < 2 { Status(503) } else { Fault::None }),
            Same,
        ),
        ("429 at first", Box::new(first(Status(429))), Same),
        ("500 at first", Box::new(first(Status(500))), Same),
        ("500 for ever", Box::new(|_: &Request| Status(500)), Error("500")),
        ("503 for blocks", Box::new(block(Status(503))), Error("503")),
        ("reset at once", Box::new(first(Reset(0))), Same),
        ("reset in the body", Box::new(first(Reset(60_000))), Same),
        ("reset for ever", Box::new(block(Reset(1000))), Error("reset by peer")),
        ("ended in the body", Box::new(first(Short(60_000))), Same),
        ("ended for ever", Box::new(block(Short(7))), Error("")),
        ("a short answer", Box::new(block(Cut(70_000))), Error("")),
        ("a long answer", Box::new(block(Long(7))), Error("longer than what was asked for")),
        ("slow", Box::new(|_: &Request| Slow(10)), Same),
        ("ranges ignored", Box::new(|_: &Request| Whole), Error("no ranges of bytes")),
        ("ranges ignored later", Box::new(block(Whole)), Error("no ranges of bytes")),
        (
            "refused",
            Box::new(|_: &Request| Status(403)),
            Error("access is refused (403, AccessDenied)"),
        ),
        (
            "refused later",
            Box::new(block(Status(403))),
            Error("access is refused (403, AccessDenied)"),
        ),
        (
            "not there",
            Box::new(|_: &Request| Status(404)),
            Error("it is not there (404, NoSuchKey)"),
        ),
        ("gone", Box::new(block(Status(404))), Error("it is not there (404, NoSuchKey)")),
        ("changed", Box::new(block(Status(412))), Error("changed while it was read")),
        ("If-Match ignored", Box::new(block(Other)), Error("changed while it was read")),
        ("no ETag", Box::new(|_: &Request| Dated(30)), Same),
        (
            "no ETag, ended in the body",
            Box::new(|asked: &Request| match asked.attempt {
                0 => DatedShort(60_000),
                _ => Dated(30),
            }),
            Same,
        ),
        ("no ETag, ended for ever", Box::new(|_: &Request| DatedShort(7)), Error("")),
        (
            "no ETag, another date",
            Box::new(|asked: &Request| match asked.range {
                Some((_, end)) if end > HEAD_BYTES => Dated(31),
                _ => Dated(30),
            }),
            Error("changed while it was read"),
        ),
    ];
    for (name, plan, end) in plans {
        bench.server.plan(plan);
        let output = bench.run("aggregate --threads 2 s3://bucket/a.txt");
        let said = said(&output);
        match end {
            Same => {
                assert_eq!(output.status.code(), Some(0), "{name}: {said}");
                assert!(output.stdout == whole, "{name}");
            }
            Error(why) => {
                let ended = (output.status.code(), &*output.stdout);
                assert_eq!(ended, (Some(4), &b""[..]), "{name}: {said}");
                assert!(said.contains("s3://bucket/a.txt") && said.contains(why), "{name}: {said}");
                assert!(said.len() < 900 && said.lines().count() == 1, "{name}: {said}");
            }
        }
    }
}

/// Each header of a page was a request for each of its bytes, and what failed was damage, with code 3.
#[cfg(feature = "tables")]
#[test]
fn tables_are_read_in_blocks_and_what_fails_is_said_as_of_text() {
    let bench = Bench::new();
    let lines: String = (0..60_000).map(|i| format!("place {};{}.5\n", i * 7, i % 977)).collect();
    bench.put("a.txt", lines);
    for format in ["parquet", "arrow"] {
        let name = format!("t.{format}");
        bench.out(&format!("aggregate --format {format} -o {name} a.txt"));
        let table = fs::read(bench.folder.path().join(&name)).unwrap();
        let (size, blocks) = (table.len(), table.len().div_ceil(BLOCK_BYTES / 8));
        bench.put(&name, table);
        let words = format!("aggregate --by max --value min,mean --format csv {name}");
        bench.server.plan(|_| Fault::None);
        bench.agree(&words, &[S3]);
        let asked = bench.server.asked();
        assert!(asked.len() < 8 + 4 * blocks, "{} of {blocks}: {asked:?}", asked.len());
        let words = words.replace("t.", "s3://bucket/t.");
        for (fault, why) in [
            (Fault::Status(404), "it is not there (404, NoSuchKey)"),
            (Fault::Other, "it changed while it was read"),
        ] {
            // All behind the first bytes, or all but the end of the file.
            for is_end_spared in [false, true] {
                bench.server.plan(move |asked| match asked.range {
                    Some((0, HEAD_BYTES)) => Fault::None,
                    Some((start, _)) if is_end_spared && start + HEAD_BYTES > size => Fault::None,
                    _ => fault,
                });
                let said = bench.refused(4, &words);
                assert!(said.contains(why) && !said.contains("damaged"), "{is_end_spared}: {said}");
            }
        }
    }
}

#[test]
fn a_body_that_goes_on_with_another_object_is_an_error() {
    let bench = Bench::new();
    bench.put("a.txt", text(BLOCK_BYTES));
    bench.server.plan(|asked| match asked.attempt {
        _ if asked.range == Some((0, HEAD_BYTES)) => Fault::None,
        0 => Fault::Reset(100_000),
        _ => Fault::Other,
    });
    bench.refused(4, "aggregate s3://bucket/a.txt");
    bench.refused(4, "haversine s3://bucket/a.txt");
}

#[test]
fn who_has_no_credentials_or_no_server_is_told_soon() {
    let bench = Bench::new();
    for (words, names) in [
        ("aggregate s3://bucket/a.txt", "AWS_ACCESS_KEY_ID"),
        ("aggregate gs://bucket/a.txt", "GOOGLE_SERVICE_ACCOUNT"),
        ("plan az://bucket/a.txt", "AZURE_STORAGE_ACCOUNT_KEY"),
    ] {
        let begin = Instant::now();
        let mut bare = bench.command(words);
        let output =
            bare.env_clear().env("AZURE_STORAGE_ACCOUNT_NAME", "account").output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(said(&output).contains(names), "{}", said(&output));
        assert!(begin.elapsed() < PATIENCE, "{words}");
    }
    let bare = bench.command("plan az://bucket/a.txt").env_clear().output().unwrap();
    assert!(said(&bare).contains("AZURE_STORAGE_ACCOUNT_NAME"), "{}", said(&bare));
    let mut none = bench.command("aggregate s3://bucket/a.txt");
    let none = none.env("AWS_ENDPOINT", "http://127.0.0.1:1").output().unwrap();
    assert_eq!(none.status.code(), Some(4));
    assert!(said(&none).contains("refused"), "{}", said(&none));
    for (address, why) in [("a?b=c", "? or #"), ("a%2Fb", "%2F")] {
        let said = bench.refused(4, &format!("aggregate https://localhost/{address}"));
        assert!(said.contains(why), "{said}");
    }
    let said = bench.refused(4, "aggregate https://user:secret@localhost/a");
    assert!(said.contains("a user or password"), "{said}");
}

#[test]
fn a_plan_of_objects_is_aggregated_by_parts_and_merged_by_their_etags() {
    let bench = Bench::new();
    bench.put("logs/a.txt", text(400_000));
    bench.put("logs/b.txt", text(90_000));
    bench.put("logs/c.txt", "");
    let whole = bench.out("aggregate --stats min,mean,max,first,last --format csv logs/");
    let plan = bench.out("plan --bytes 100k --states out s3://bucket/logs/");
    let plan = String::from_utf8(plan).unwrap();
    assert!(plan.lines().count() > 4, "{plan}");
    for task in plan.lines() {
        bench.out(&format!("aggregate --partial --stats min,mean,max,first,last {task}"));
    }
    let states = |folder: &str| {
        let entries = fs::read_dir(bench.folder.path().join(folder)).unwrap();
        let names =
            entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().display()));
        names.collect::<Vec<_>>().join(" ")
    };
    assert!(bench.out(&format!("merge --format csv {}", states("out"))) == whole);
    let state = fs::read(bench.folder.path().join("out/00000.fathom")).unwrap();
    let tag = bench.server.tag("bucket/logs/a.txt").replace('"', "\\\"");
    let is_in = |words: &str| state.windows(words.len()).any(|some| some == words.as_bytes());
    assert!(is_in(&format!("object:400013:{tag}")) || is_in(&tag), "{tag}");
    assert!(is_in("s3://bucket/logs/a.txt"));
    // The same object in another version, of which one part is read now.
    bench.server.put("bucket/logs/a.txt", text(400_000));
    let task = plan.lines().next().unwrap();
    bench.out(&format!("aggregate --partial --stats min,mean,max,first,last {task}"));
    let changed = bench.refused(3, &format!("merge {}", states("out")));
    assert!(changed.contains("changed"), "{changed}");
    let behind = bench.refused(2, "aggregate --range 0..500k s3://bucket/logs/a.txt");
    assert!(behind.contains("is not in its"), "{behind}");
}

/// Their states were merged, each value twice.
#[test]
fn an_address_is_one_however_it_is_spelled() {
    let bench = Bench::new();
    bench.put("a_blank_b.txt".replace("_blank_", " ").as_str(), text(1000));
    let server = format!("http://127.0.0.1:{}", bench.server.port);
    let one = |name: &str, words: &str| {
        bench.out(&format!("aggregate --partial --number 0/2 -o {name}0 {words}"));
        bench.out(&format!("aggregate --partial --number 1/2 -o {name}1 {words}"));
    };
    one("s3", "s3://bucket/a_blank_b.txt");
    one("S3", "S3A://bucket/a_blank_b.txt");
    one("web", &format!("{server}/bucket/a_blank_b.txt"));
    one("WEB", &format!("{}/bucket/a%20b.txt", server.replace("http", "HTTP")));
    one("az", "az://bucket/a_blank_b.txt");
    one("abfs", "ABFS://bucket/a_blank_b.txt");
    for (first, second) in [("s3", "S3"), ("web", "WEB"), ("az", "abfs"), ("s3", "s3")] {
        let said = bench.refused(3, &format!("merge {first}0 {second}1"));
        assert!(said.contains("a b.txt"), "{said}");
    }
    let twice = "aggregate --partial -o state s3://bucket/a_blank_b.txt S3://bucket/a_blank_b.txt";
    assert!(bench.refused(2, twice).contains("is named twice"));
}

/// They were panics, or other numbers without a word.
#[test]
fn settings_that_are_none_are_said() {
    let bench = Bench::new();
    bench.put("a.txt", text(1000));
    for (name, value, code) in [
        ("AWS_ENDPOINT", "garbage", 4),
        ("AWS_ENDPOINT", "", 4),
        ("AWS_ENDPOINT_URL_S3", "garbage", 4),
        ("AWS_ACCESS_KEY_ID", "id\r", 4),
        ("AWS_SESSION_TOKEN", "token\n", 4),
        ("FATHOM_REQUESTS", "18446744073709551615", 2),
        ("FATHOM_REQUESTS", "0", 2),
        ("FATHOM_REQUESTS", "", 2),
        ("FATHOM_RETRIES", "-1", 2),
        ("FATHOM_RETRIES", "1.5", 2),
    ] {
        for words in ["aggregate s3://bucket/a.txt", "plan s3://bucket/*.txt"] {
            let output = bench.command(words).env(name, value).output().unwrap();
            let said = said(&output);
            assert_eq!(output.status.code(), Some(code), "{name}={value}: {said}");
            assert!(said.contains(name) && said.lines().count() == 1, "{name}={value}: {said}");
        }
    }
    // What another store's settings are is no matter.
    let mut other = bench.command("aggregate gs://bucket/a.txt");
    other.env("AWS_ENDPOINT", "garbage").env("GOOGLE_CREDENTIALS", "{\n}");
    assert_eq!(other.output().unwrap().status.code(), Some(0));
    assert!(bench.refused(4, "aggregate s3://my_blank_bucket/x").contains("called like no bucket"));
}

/// They were folders of this machine, called `s3:`.
#[test]
fn nothing_is_written_to_addresses() {
    let bench = Bench::new();
    bench.put("a.txt", text(1000));
    for words in [
        "plan --states s3://bucket/x a.txt", "man --folder s3://bucket/x",
        "aggregate --spill s3://bucket/x --memory-limit 64 a.txt",
        "aggregate -o s3://bucket/x a.txt",
    ] {
        let said = bench.refused(2, words);
        assert!(said.contains("local") || said.contains("of this machine"), "{words}: {said}");
        assert!(!bench.folder.path().join("s3:").exists(), "{words}");
    }
}

#[test]
fn records_in_quotes_are_planned_from_objects() {
    let bench = Bench::new();
    bench.put("q.csv", format!("h,v\n{}", "\"a\n\nb\",1\nc,2\n".repeat(20_000)));
    let whole = bench.out("aggregate --by h --value v q.csv");
    let plan = bench.out("plan --records --bytes 50k --states out s3://bucket/q.csv");
    let plan = String::from_utf8(plan).unwrap();
    for task in plan.lines() {
        bench.out(&format!("aggregate --partial --by h --value v {task}"));
    }
    let states: Vec<String> =
        (0..plan.lines().count()).map(|n| format!("out/{n:05}.fathom")).collect();
    assert!(states.len() > 3 && bench.out(&format!("merge {}", states.join(" "))) == whole);
}

/// Whether what is started here ends by an interrupt: in the background of a script they are ignored, and
/// that is inherited.
fn heeds_interrupts() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_none_or(|set| u64::from_str_radix(set.trim(), 16).unwrap() & 1 << 1 == 0)
}

#[test]
fn an_interrupt_ends_a_stalled_read_at_once() {
    assert!(heeds_interrupts(), "interrupts are ignored here, and nothing would ever end");
    let bench = Bench::new();
    bench.put("a.txt", text(BLOCK_BYTES));
    for (words, plan) in [
        ("aggregate s3://bucket/a.txt", Fault::Stall),
        ("aggregate --partial -o out.fathom s3://bucket/a.txt", Fault::Stall),
        ("haversine s3://bucket/a.txt", Fault::Stall),
        ("aggregate s3://bucket/*.txt", Fault::Slow(3_600_000)),
        ("aggregate s3://bucket/a.txt", Fault::Status(503)),
    ] {
        bench.server.plan(move |_| plan);
        let mut command = bench.command(words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).env("FATHOM_RETRIES", "1000");
        let mut child = command.spawn().unwrap();
        while bench.server.asked().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        signals::send("INT", child.id());
        let end = child.wait().unwrap();
        // Nothing was to be removed, or it was.
        assert!(end.code() == Some(130) || end.signal() == Some(2), "{words}: {end}");
        assert!(begin.elapsed() < PATIENCE, "{words}");
        assert!(!bench.folder.path().join("out.fathom").exists());
    }
}

/// Asks a server something without credentials.
fn ask(port: u16, method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// A server that others wrote, until it is dropped.
struct Foreign(Child);

impl Foreign {
    /// Starts what a variable names.
    fn start(name: &str, words: &[&str]) -> Foreign {
        let program = std::env::var_os(name).unwrap_or_else(|| panic!("{name} names a program"));
        let mut command = Command::new(program);
        Foreign(command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A port that nobody listens at, and a bench whose commands ask there.
fn elsewhere() -> (u16, Bench) {
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let mut bench = Bench::new();
    bench.server.port = port;
    (port, bench)
}

/// Waits for who is to listen at a port.
fn listens(port: u16) {
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begin.elapsed() < PATIENCE, "nobody listens");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Objects of a store of others.
const KEPT: [&str; 4] = ["logs/a.txt", "logs/b.txt", "logs/empty.txt", "logs/c.csv"];

fn text_of(name: &str) -> String {
    text(if name == "logs/empty.txt" { 0 } else { BLOCK_BYTES + 77_777 })
}

/// `no_bucket` is what the store says of a bucket that is not there.
fn says_what_files_say(bench: &Bench, no_bucket: &str) {
    for words in [
        "aggregate logs/a.txt", "aggregate logs/*.txt", "aggregate logs/",
        "aggregate --range 8388600..8388700 logs/a.txt", "aggregate logs/empty.txt",
    ] {
        bench.agree(words, &[S3]);
    }
    let gone = bench.refused(4, "aggregate s3://bucket/logs/d.txt");
    assert!(gone.contains("it is not there (404, NoSuchKey)"), "{gone}");
    let bucket = bench.refused(4, "aggregate s3://another/logs/d.txt");
    assert!(bucket.contains(&format!("it is not there (404, {no_bucket})")), "{bucket}");
}

#[test]
#[ignore = "a server that others wrote: cargo xtask remote installs and names it"]
fn moto_s_objects_say_what_files_say() {
    let (port, bench) = elsewhere();
    let _moto = Foreign::start("FATHOM_MOTO", &["-p", &port.to_string()]);
    listens(port);
    let made = ask(port, "PUT", "/bucket", b"");
    assert!(made.starts_with("HTTP/1.1 200"), "{made}");
    for name in KEPT {
        let put = ask(port, "PUT", &format!("/bucket/{name}"), text_of(name).as_bytes());
        assert!(put.starts_with("HTTP/1.1 200"), "{put}");
        bench.put(name, text_of(name));
    }
    says_what_files_say(&bench, "NoSuchBucket");
}

/// It keeps objects as files, and asks for signatures that are right.
#[test]
#[ignore = "a server that others wrote: cargo xtask remote installs and names it"]
fn s3s_s_objects_say_what_files_say() {
    let (port, bench) = elsewhere();
    let (port_word, store) = (port.to_string(), tempfile::tempdir().unwrap());
    for name in KEPT {
        bench.put(name, text_of(name));
        let path = store.path().join("bucket").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text_of(name)).unwrap();
    }
    let folder = store.path().to_str().unwrap();
    let keys = ["--access-key", "id", "--secret-key", "secret"];
    let words = [&["--host", "127.0.0.1", "--port", &port_word], &keys[..], &[folder]].concat();
    let _s3s = Foreign::start("FATHOM_S3S", &words);
    listens(port);
    says_what_files_say(&bench, "NoSuchKey");
    let mut command = bench.command("aggregate s3://bucket/logs/a.txt");
    let wrong = command.env("AWS_SECRET_ACCESS_KEY", "another").output().unwrap();
    assert_eq!((wrong.status.code(), &*wrong.stdout), (Some(4), &b""[..]), "{}", said(&wrong));
    assert!(said(&wrong).contains("403"), "{}", said(&wrong));
}
