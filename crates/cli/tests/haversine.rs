//! `fathom generate pairs` and `fathom haversine`, as a user calls them.

mod common;
#[path = "common/signals.rs"]
mod signals;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn fathom(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn piped(arguments: &[&str], input: &[u8]) -> Output {
    common::piped(Path::new("."), arguments, input)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn generated(folder: &Path, more: &[&str]) -> Output {
    let basic = ["generate", "pairs", "-o", "p.json", "--answers", "p.f64"];
    fathom(folder, &[&basic[..], more].concat())
}

/// The first pairs of the course's files, as FNV-1a of the bytes: nothing printed may change.
#[test]
fn the_files_are_the_courses_byte_for_byte() {
    let fnv = |bytes: &[u8]| {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    };
    let folder = tempfile::tempdir().unwrap();
    for (method, hash) in [("uniform", HASH_UNIFORM), ("cluster", HASH_CLUSTER)] {
        let said = generated(folder.path(), &["--count", "1000", "--method", method]);
        assert!(said.status.success());
        let json = fs::read(folder.path().join("p.json")).unwrap();
        assert_eq!(fnv(&json), hash, "{method}: {:#x}", fnv(&json));
        assert_eq!(fs::metadata(folder.path().join("p.f64")).unwrap().len(), 8 * 1001);
    }
}

const HASH_UNIFORM: u64 = 0x146e_4f8b_0f25_a0fc;
const HASH_CLUSTER: u64 = 0x3062_ba20_80e5_7b53;

#[test]
fn the_generator_says_what_the_courses_says() {
    let said = generated(tempfile::tempdir().unwrap().path(), &["--count", "10", "--seed", "1"]);
    let expected =
        "Method: uniform\nRandom seed: 1\nPair count: 10\nExpected sum: 7488.11322979881";
    assert!(text(&said.stderr).starts_with(expected), "{}", text(&said.stderr));
}

#[test]
fn a_generated_file_matches_its_answers_and_another_does_not() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "2000"]);
    for threads in ["1", "3"] {
        let arguments = ["haversine", "p.json", "p.f64", "--threads", threads, "--block", "16"];
        let said = fathom(folder.path(), &arguments);
        assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
        let lines = text(&said.stdout);
        for start in ["Input size: 22", "Pair count: 2000", "Reference sum: ", "Worst pair: "] {
            assert!(lines.lines().any(|line| line.starts_with(start)), "{start}: {lines}");
        }
    }
    let wrong = fs::read(folder.path().join("p.f64")).map(|mut bytes| {
        bytes[8 * 77 + 4] ^= 1;
        bytes
    });
    fs::write(folder.path().join("w.f64"), wrong.unwrap()).unwrap();
    let said = fathom(folder.path(), &["haversine", "p.json", "w.f64"]);
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stdout).contains("Worst pair: 77 "), "{}", text(&said.stdout));
    assert!(text(&said.stdout).ends_with("FAILED: 1 pair differs by more than 1e-8\n"));
    let said = fathom(folder.path(), &["haversine", "p.json", "w.f64", "--tolerance", "1.26e-9"]);
    let said = text(&said.stdout);
    assert!(said.ends_with(" by more than 1.26e-9\n"), "no digit is left out: {said}");
    fs::write(folder.path().join("w.f64"), [0; 80]).unwrap();
    let said = fathom(folder.path(), &["haversine", "p.json", "w.f64"]);
    assert_eq!(said.status.code(), Some(3));
    assert!(text(&said.stderr).contains("pairs in the answers: 9, in the input: 2000"));
}

#[test]
fn written_answers_are_the_references_with_the_c_librarys_functions() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "500", "--numbers", "shortest"]);
    let arguments =
        ["haversine", "p.json", "p.f64", "--trigonometry", "libm", "--write-answers", "o.f64"];
    let said = fathom(folder.path(), &arguments);
    assert!(text(&said.stdout).contains("Difference: 0.0000000000000000"));
    let read = |name| fs::read(folder.path().join(name)).unwrap();
    assert!(read("p.f64") == read("o.f64"));
}

#[test]
fn files_and_standard_input_compressed_or_not_are_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "3000", "--method", "cluster"]);
    let json = fs::read(folder.path().join("p.json")).unwrap();
    let from_file = fathom(folder.path(), &["haversine", "p.json", "--format", "json"]).stdout;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&json).unwrap();
    let arguments = ["haversine", "-", "--format", "json", "--block", "8"];
    let zst = ruzstd::encoding::compress_to_vec(
        std::io::Cursor::new(&json),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    // Recognised by their first bytes, not by their names.
    for (name, bytes) in [("p", json), ("p.1", packed.finish().unwrap()), ("p.2", zst)] {
        assert_eq!(text(&piped(&arguments, &bytes).stdout), text(&from_file), "{name}");
        fs::write(folder.path().join(name), bytes).unwrap();
        for threads in ["1", "3"] {
            let arguments = ["haversine", name, "--format", "json", "-t", threads];
            assert_eq!(text(&fathom(folder.path(), &arguments).stdout), text(&from_file), "{name}");
        }
    }
    let cut = &fs::read(folder.path().join("p.2")).unwrap()[..2000];
    assert_eq!(piped(&["haversine", "-"], cut).status.code(), Some(4));
}

#[test]
fn bad_data_names_file_line_column_pair_and_text() {
    for (input, message) in [
        ("[{\"x0\":1}]", "fathom: -:1:9: pair 0: expected a member y0"),
        ("[1", "fathom: -:1:2: pair 0: expected an object"),
        ("{\"pairs\":", "fathom: -:1:10: the input ends inside the document at byte 9"),
        (
            "[\n {\"x0\":\"north\"}]",
            "fathom: -:2:8: pair 0: expected a number as x0, found \"north\" at byte 9",
        ),
        (
            "[{\"x0\":\n1e7}]",
            "fathom: -:2:1: pair 0: expected x0 from -1000000 to 1000000 degrees, found 1e7",
        ),
        ("[]", "fathom: -: the input holds no pair"),
        ("\u{feff}[]", "fathom: -: this is text behind a byte order mark, not JSON: tail"),
        ("BZh91AY&SYx", "fathom: -: this is compressed by bzip2, not JSON: bzip2 -dc FILE"),
    ] {
        let said = piped(&["haversine", "-"], input.as_bytes());
        assert_eq!(said.status.code(), Some(3), "{input}");
        assert!(text(&said.stderr).starts_with(message), "{input}: {}", text(&said.stderr));
        assert!(said.stdout.is_empty());
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("-.json"), input).unwrap();
        let said = fathom(folder.path(), &["haversine", "./-.json"]);
        let message = message.replace("-:", "./-.json:");
        assert!(text(&said.stderr).starts_with(&message), "{input}: {}", text(&said.stderr));
        // Of what is compressed the commands took the wrong bytes.
        let file = fs::File::create(folder.path().join("-.json")).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        packed.write_all(input.as_bytes()).unwrap();
        packed.finish().unwrap();
        let said = fathom(folder.path(), &["haversine", "./-.json"]);
        let message = message.replace("not JSON: ", "not JSON: decompress it first, then ");
        assert!(text(&said.stderr).starts_with(&message), "{input}: {}", text(&said.stderr));
    }
    let good = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
    let said = piped(&["haversine", "-", "--on-error", "skip"], format!("[{good},7]").as_bytes());
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stdout).contains("Pair count: 1\nSkipped: 1\n"));
    let said = piped(&["haversine", "-", "--on-error", "skip"], b"[1,2,3]");
    assert_eq!(said.status.code(), Some(3));
    assert!(text(&said.stderr).contains("there is no mean: 3 skipped"), "{}", text(&said.stderr));
    for radius in ["-1", "1e308", "nan"] {
        assert_eq!(piped(&["haversine", "-", "--radius", radius], b"").status.code(), Some(2));
    }
    let zero = piped(&["haversine", "-", "--radius", "-0"], good.as_bytes());
    assert!(text(&zero.stdout).contains("Exact mean: 0.0"), "{}", text(&zero.stdout));
    assert_eq!(piped(&["haversine", "/no/such/file"], b"").status.code(), Some(4));
}

/// The square of the sine of half the angle came out as -1e-19, and its root as no number.
#[test]
fn points_that_are_one_beyond_a_pole_do_not_panic() {
    let input = br#"[{"x0":0,"y0":100,"x1":180,"y1":80}]"#;
    for trigonometry in ["vector", "libm"] {
        for on_error in ["fail", "skip"] {
            let more = ["--trigonometry", trigonometry, "--on-error", on_error];
            let said = piped(&[&["haversine", "-"], &more[..]].concat(), input);
            assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
            assert!(text(&said.stdout).contains("Exact mean: 0.0000"), "{}", text(&said.stdout));
        }
    }
}

/// They gave half a circumference without a word.
#[test]
fn coordinates_whose_difference_overflows_are_refused() {
    let input = br#"[{"x0":1e308,"y0":0,"x1":-1e308,"y1":0}]"#;
    let said = piped(&["haversine", "-"], input);
    assert_eq!(said.status.code(), Some(3));
    assert!(text(&said.stderr).starts_with("fathom: -:1:8: pair 0: expected x0 from"));
    let said =
        piped(&["haversine", "-", "--radius", "1e300"], br#"{"x0":0,"y0":-90,"x1":0,"y1":90}"#);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
}

#[test]
fn the_profile_covers_the_run_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "2000"]);
    let profiled = |more: &[&str]| {
        let basic = ["haversine", "p.json", "--threads", "1", "--profile"];
        fathom(folder.path(), &[&basic[..], more].concat())
    };
    let said = text(&profiled(&[]).stderr);
    for zone in ["Total time: ", "  read[", "  parse[", "  compute[", "  merge[", "Result "] {
        assert!(said.contains(zone), "{zone}: {said}");
    }
    let json = profiled(&["--profile-format", "json", "--profile-output", "p.prof"]);
    assert!(json.stderr.is_empty() && json.status.success());
    let json = fs::read(folder.path().join("p.prof")).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&json).is_ok());
    assert!(text(&profiled(&["--profile-format", "folded"]).stderr).contains("compute"));
    assert!(text(&profiled(&["--profile-format", "trace"]).stderr).starts_with('{'));
}

#[test]
fn the_ladder_has_a_line_for_every_step_and_finds_the_wrong_numbers() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "2000"]);
    let arguments = ["haversine", "p.json", "--stages", "--rounds", "2", "--save", "run.json"];
    let said = fathom(folder.path(), &arguments);
    assert_eq!(said.status.code(), Some(0), "{}", text(&said.stderr));
    let ladder = text(&said.stdout);
    let wrong = |step: &str| -> u64 {
        let line = ladder.lines().find(|line| line.split(' ').next() == Some(step));
        let line = line.unwrap_or_else(|| panic!("{step}: {ladder}"));
        line.split_whitespace().nth(5).unwrap().parse().unwrap()
    };
    for step in ["strtod", "exact", "vector", "strict", "fathom", "threads"] {
        assert_eq!(wrong(step), 0, "{step}: {ladder}");
    }
    for step in ["quick", "scan", "views", "16k", "256k"] {
        assert!(wrong(step) > 0, "{step}: {ladder}");
    }
    assert!(fs::read_to_string(folder.path().join("run.json")).unwrap().contains("fathom-run"));
    let mut narrow = Command::new(env!("CARGO_BIN_EXE_fathom"));
    narrow.current_dir(folder.path()).env("COLUMNS", "80");
    let said = text(
        &narrow.args(["haversine", "p.json", "--stages", "--rounds", "1"]).output().unwrap().stdout,
    );
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let steps =
        |step: &str| said.lines().filter(|line| line.split(' ').next() == Some(step)).count();
    assert_eq!([steps("strtod"), steps("threads")], [2, 2], "{said}");
    assert!(said.contains("medians of 1 round,"), "{said}");
    fs::write(folder.path().join("one.json"), r#"[{"x0":1,"y0":2,"x1":3,"y1":4}]"#).unwrap();
    let arguments = ["haversine", "one.json", "--stages", "--rounds", "1"];
    let said = text(&fathom(folder.path(), &arguments).stdout);
    assert!(said.starts_with("1 pair, "), "{said}");
    assert_eq!(piped(&["haversine", "-", "--stages"], b"").status.code(), Some(2));
    fs::write(folder.path().join("empty"), "").unwrap();
    let said = text(&fathom(folder.path(), &["haversine", "empty", "--stages"]).stderr);
    assert!(said.contains("neither compressed nor empty"), "{said}");
}

#[test]
fn an_output_replaces_neither_another_nor_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |line: &str, words: &str| {
        let output = fathom(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{line}: {}", text(&output.stderr));
    };
    refused("generate pairs -c 3 -o a --answers ./a", "--answers and --output are the same file");
    assert!(!folder.path().join("a").exists());
    generated(folder.path(), &["--count", "10"]);
    let before = ["p.json", "p.f64"].map(|name| fs::read(folder.path().join(name)).unwrap());
    for (more, words) in [
        (
            "--profile --profile-output both --write-answers both",
            "--profile-output and --write-answers are the same file",
        ),
        ("--write-answers p.json", "--write-answers would replace the input p.json"),
        ("--write-answers p.f64", "--write-answers would replace the input p.f64"),
        ("--profile --profile-output p.json", "--profile-output would replace the input p.json"),
    ] {
        refused(&format!("haversine p.json p.f64 {more}"), words);
    }
    refused("haversine p.json --stages --save p.json", "--save would replace the input p.json");
    refused("haversine p.json --write-answers -", "stdout has the result");
    // It was tried when all was measured.
    for end in ["--stages --save no/run.json", "--profile --profile-output no/run.json"] {
        let line = format!("haversine missing.json {end}");
        let said = fathom(folder.path(), &line.split(' ').collect::<Vec<_>>()).stderr;
        assert!(text(&said).contains("cannot create no/run.json"), "{line}: {}", text(&said));
    }
    let after = ["p.json", "p.f64"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(before, after);
}

#[test]
fn the_tolerance_is_the_users_to_widen() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "100"]);
    let mut answers = fs::read(folder.path().join("p.f64")).unwrap();
    let first = f64::from_le_bytes(answers[..8].try_into().unwrap()) + 1e-3;
    answers[..8].copy_from_slice(&first.to_le_bytes());
    fs::write(folder.path().join("p.f64"), answers).unwrap();
    let code = |more: &[&str]| {
        let arguments = [&["haversine", "p.json", "p.f64"], more].concat();
        fathom(folder.path(), &arguments).status.code()
    };
    assert_eq!(code(&[]), Some(1));
    assert_eq!(code(&["--tolerance", "0.01"]), Some(0));
    for none in ["inf", "nan", "-1"] {
        assert_eq!(code(&["--tolerance", none]), Some(2), "{none}");
    }
}

/// The end of a command whose reader is gone before it writes.
fn without_reader(folder: &Path, words: &str) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.current_dir(folder).args(words.split(' ')).stdout(writer).output().unwrap()
}

#[test]
fn what_was_asked_for_beside_a_closed_pipe_was_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    generated(folder, &["--count", "100"]);
    assert_eq!(without_reader(folder, "haversine p.json").status.code(), Some(0));
    let output = without_reader(folder, "haversine p.json --profile --profile-output f");
    assert_eq!(output.status.code(), Some(0));
    assert!(folder.join("f").exists());
    fs::write(folder.join("off.f64"), [0; 808]).unwrap();
    assert_eq!(without_reader(folder, "haversine p.json off.f64").status.code(), Some(1));
    let output = without_reader(folder, "generate pairs --count 100 --answers a");
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(!folder.join("a").exists());
    assert_eq!(without_reader(folder, "generate pairs --count 100").status.code(), Some(0));
}

#[test]
fn a_result_that_could_not_be_written_was_lost_where_something_was_skipped_or_differed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    generated(folder, &["--count", "10"]);
    fs::write(folder.join("off.f64"), [0; 88]).unwrap();
    fs::write(folder.join("s.json"), r#"[7,{"x0":1,"y0":2,"x1":3,"y1":4}]"#).unwrap();
    for words in
        ["p.json off.f64", "s.json --on-error skip", "s.json --on-error skip --format json"]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.current_dir(folder).arg("haversine").args(words.split(' ')).stdout(full);
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{words}: {said}");
        assert!(said.contains("stdout: No space left on device"), "{words}: {said}");
    }
}

#[test]
fn answers_that_cannot_be_had_or_written_are_told_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("short.f64"), [0; 7]).unwrap();
    for (words, code, message) in [
        ("haversine - none.f64", 4, "cannot read none.f64"),
        ("haversine - short.f64", 3, "short.f64: "),
        ("haversine - https://x/p.f64", 2, "https://x/p.f64: this has to be a local file"),
        ("haversine - --write-answers none/a", 4, "cannot create none/a"),
    ] {
        // What is read is wrong, too.
        let output = common::piped(folder, words.split(' '), b"x");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.starts_with(&format!("fathom: {message}")), "{words}: {said}");
    }
}

#[test]
fn answers_that_are_no_file_were_told_to_be_empty() {
    let folder = tempfile::tempdir().unwrap();
    generated(folder.path(), &["--count", "10"]);
    for no_file in [".", "/dev/null", "-"] {
        let output = fathom(folder.path(), &["haversine", "p.json", no_file]);
        assert_eq!(output.status.code(), Some(4));
        let said = text(&output.stderr);
        assert!(said.contains("answers are in a regular file"), "{said}");
    }
}

#[test]
fn an_interrupt_leaves_neither_pairs_nor_answers_behind() {
    let folder = tempfile::tempdir().unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args(["generate", "pairs", "--count", "1G", "-o", "p.json", "--answers", "p.f64"]);
    let mut child = command.current_dir(folder.path()).stderr(Stdio::null()).spawn().unwrap();
    while files() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signals::send("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(files(), 0);
}
