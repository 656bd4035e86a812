//! `fathom aggregate --partial`, `merge` and `plan` from outside: what is cut and merged is the whole.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::write::GzEncoder;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: impl AsRef<Path>, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Runs words, apart by blanks.
    fn run(&self, words: &str, input: &[u8]) -> Output {
        common::piped(self.0.path(), words.split_whitespace(), input)
    }

    /// What a run prints that must end well.
    fn out(&self, words: &str) -> Vec<u8> {
        let output = self.run(words, b"");
        assert_eq!(output.status.code(), Some(0), "{words}: {output:?}");
        output.stdout
    }

    /// What a run says that must end with this code.
    fn refused(&self, code: i32, words: &str) -> String {
        let output = self.run(words, b"");
        assert_eq!(output.status.code(), Some(code), "{words}: {output:?}");
        assert_eq!(output.stdout, b"", "{words}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Checks that such a run says this.
    fn says(&self, code: i32, words: &str, expected: &str) {
        let said = self.refused(code, words);
        assert!(said.contains(expected), "{words}: {said}");
    }
}

/// Readings of some places, with lines of many lengths.
fn text(rows: u32) -> String {
    let name = |i: u32| format!("place {:.width$}", f64::from(i % 7), width = (i % 11) as usize);
    (0..rows).map(|i| format!("{};{}\n", name(i), f64::from(i * 37 % 2000) / 10.0 - 90.0)).collect()
}

#[test]
fn ranges_merge_to_the_bytes_of_the_whole_for_every_statistic() {
    let folder = Folder::new();
    folder.file("a.txt", &text(900));
    folder.file("b.txt", &text(20));
    let stats = "--stats min,mean,max,count,rows,sum,variance,stddev,range,distinct,mode,first,last,p99,median";
    let whole = folder.out(&format!("aggregate {stats} --format csv b.txt a.txt"));
    for (name, words) in [
        ("1", "--number 1/2 --range 0..5001 a.txt"),
        ("2", "--number 1/2 --range 5001..5002 a.txt"),
        ("3", "--number 1/2 --range 5002.. a.txt"),
        ("4", "--number 0/2 b.txt"),
    ] {
        folder.out(&format!("aggregate {stats} --partial -o {name}.fathom {words}"));
    }
    for order in ["1 2 3 4", "4 3 2 1", "3 1 4 2"] {
        let files: String = order.split(' ').map(|name| format!(" {name}.fathom")).collect();
        assert!(folder.out(&format!("merge --format csv{files}")) == whole, "{order}");
    }
    folder.out("merge --partial -o 24.fathom 2.fathom 4.fathom");
    let first = folder.out("merge --partial 1.fathom 3.fathom");
    let piped = folder.run("merge --format csv - 24.fathom", &first);
    assert!(piped.stdout == whole);
    let both = [&first[..], &folder.out("merge --partial 24.fathom")].concat();
    let behind = folder.run("merge --format csv", &both);
    assert!(behind.stdout == whole, "one state behind the other");
}

#[test]
fn partitions_of_keys_are_merged_by_processes_of_their_own() {
    let folder = Folder::new();
    folder.file("a.txt", &text(900));
    let stats = "--stats mean,count,distinct,last,p99";
    let whole = folder.out(&format!("aggregate {stats} --format csv a.txt"));
    for (name, range) in [("1", "0..5001"), ("2", "5001..9000"), ("3", "9000..")] {
        folder.out(&format!("aggregate {stats} --partial -o {name}.fathom --range {range} a.txt"));
    }
    let merge = |part: &str, files: &str| {
        let words = format!("merge --partial --partition {part}/3 -o key-{part}.fathom {files}");
        folder.out(&words)
    };
    for part in ["0", "1", "2"] {
        merge(part, "2.fathom 1.fathom 3.fathom");
    }
    assert!(folder.out("merge --format csv key-2.fathom key-0.fathom key-1.fathom") == whole);
    assert!(folder.out("merge --partial key-2.fathom key-0.fathom key-1.fathom").len() > 1000);
    folder.says(3, "merge key-0.fathom", "partition 1/3 of the keys is in no state");
    folder.says(3, "merge --partial key-0.fathom key-2.fathom", "partition 1/3 of the keys");
    folder.says(3, "merge key-0.fathom 1.fathom", "different keys: all and partition 0/3");
    merge("1", "1.fathom 2.fathom");
    folder.says(
        3, "merge key-0.fathom key-1.fathom key-2.fathom", "were merged from different states",
    );
    folder.says(3, "merge --partial --partition 0/2 key-0.fathom", "different keys");
    folder.says(2, "merge --partition 0/2 1.fathom", "--partial");
    for wrong in ["2/2", "0/0", "-1/2", "1", "0/70000"] {
        folder.says(2, &format!("merge --partial --partition={wrong} 1.fathom"), "not K/N");
    }
}

#[test]
fn sketches_merge_to_the_bytes_of_the_whole_and_say_that_they_are_sketches() {
    let folder = Folder::new();
    let rows = (0..40_000_u32).map(|i| format!("k;{}\n", i.wrapping_mul(2_654_435_761) % 30_011));
    folder.file("a.txt", &rows.collect::<String>());
    let asked = "aggregate --approx=0.1% --stats p50,p99,distinct";
    let whole = folder.out(&format!("{asked} --format csv a.txt"));
    let text = String::from_utf8(whole.clone()).unwrap();
    let head = "key,p50,p50_error%,p99,p99_error%,distinct,distinct_error%\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains(",0.1,") && text.ends_with(",0.8125\n"), "{text}");
    for (name, range) in [("1", "0..90001"), ("2", "90001..90002"), ("3", "90002..")] {
        folder.out(&format!("{asked} --partial -o {name}.fathom --range {range} a.txt"));
    }
    for order in ["1 2 3", "3 1 2"] {
        let files: String = order.split(' ').map(|name| format!(" {name}.fathom")).collect();
        assert!(folder.out(&format!("merge --format csv{files}")) == whole, "{order}");
        assert!(folder.out(&format!("merge --partial{files}")).len() < 150_000, "of 30,011 values");
    }
    folder
        .out("aggregate --stats p50,p99,distinct --partial -o exact.fathom --range 90002.. a.txt");
    folder.says(3, "merge 1.fathom 2.fathom exact.fathom", "different questions");
    folder.says(2, "merge --stats mode 1.fathom 2.fathom 3.fathom", "the states know no mode");
    folder.says(2, "merge --approx 1.fathom", "--approx is for reading");
}

/// A state did not know the order of its keys, and was refused.
#[test]
fn buckets_of_numbers_merge_in_the_order_of_numbers() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        &(0..400).map(|i| format!("{};x{};{i}\n", i * 7 % 990, i % 3)).collect::<String>(),
    );
    for by in ["1:50", "2,1:50", "1:50,2"] {
        let asked = format!("aggregate --by {by} --value 3 --header=no --delimiter ;");
        for (name, range) in [("1", "0..777"), ("2", "777..")] {
            folder.out(&format!("{asked} --partial -o {name}.fathom --range {range} a.csv"));
        }
        for more in ["", " --reverse", " --top 2", " --sort max:asc", " --sort key:desc"] {
            let whole = folder.out(&format!("{asked}{more} a.csv"));
            assert_eq!(folder.out(&format!("merge{more} 2.fathom 1.fathom")), whole, "{by}{more}");
        }
    }
    // Not as texts, of which `100` is before `50`.
    let whole = String::from_utf8(folder.out("merge 1.fathom 2.fathom")).unwrap();
    let keys: Vec<&str> = whole.lines().skip(1).filter_map(|l| l.split(',').next()).collect();
    assert!(keys.starts_with(&["0", "0", "0", "50", "50", "50", "100"]), "{whole}");
    folder.out(
        "aggregate --by 1:25,2 --value 3 --header=no --delimiter ; --partial -o 3.fathom a.csv",
    );
    let said = folder.refused(3, "merge 1.fathom 3.fathom");
    assert!(said.contains("by: 1:50, 2 and by: 1:25, 2") && !said.contains("delimiter"), "{said}");
    let said = folder.refused(2, "merge --sort nope 3.fathom");
    assert!(said.contains("Usage: fathom merge"), "{said}");
}

#[test]
fn what_a_plan_prints_is_what_aggregate_takes() {
    let folder = Folder::new();
    for (name, rows) in [("a.txt", 700), ("b.txt", 3), ("c.txt", 0), ("it's d.txt", 5)] {
        folder.file(name, &text(rows));
    }
    let words =
        ["plan", "--bytes", "4k", "--states", "out", "a.txt", "b.txt", "c.txt", "it's d.txt"];
    let fathom = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        command.args(words).current_dir(folder.0.path()).output().unwrap()
    };
    let plan = String::from_utf8(fathom(&words).stdout).unwrap();
    assert!(plan.lines().count() > 4 && plan.contains("--number 1/4 -o out/"), "{plan}");
    for line in plan.lines() {
        let task = shlex::split(line).unwrap();
        let task: Vec<&str> = task.iter().map(String::as_str).collect();
        let output = fathom(&[&["aggregate", "--partial"], &task[..]].concat());
        assert!(output.status.success(), "{output:?}");
    }
    let mut states: Vec<PathBuf> = fs::read_dir(folder.0.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    states.sort();
    let states: Vec<&str> = states.iter().map(|path| path.to_str().unwrap()).collect();
    let whole = fathom(&[&["aggregate"], &words[5..]].concat()).stdout;
    assert!(fathom(&[&["merge"], &states[..]].concat()).stdout == whole);
    let said = fathom(&[&["merge"], &states[1..]].concat()).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("bytes 0 to ") && said.contains("are in no state"), "{said}");
}

#[test]
fn a_plan_quotes_names_of_any_bytes_and_refuses_line_breaks() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("in")).unwrap();
    let names: [&[u8]; 3] = [b" a \\ \"b\" ", b"b\xffc", b"it's"];
    for name in names {
        folder.file(Path::new("in").join(OsStr::from_bytes(name)), "a;1.0\n");
    }
    let quoted = b"--number 0/3 -- 'in/ a \\ \"b\" ' 'in/b\xffc' 'in/it'\"'\"'s'\n";
    assert_eq!(folder.out("plan in"), quoted);
    folder.file("in/x\ny", "");
    folder.says(2, "plan in", "\"in/x\\ny\" has a line break");
}

#[test]
fn what_is_read_only_once_is_no_part_of_a_plan_and_is_not_opened() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.0.path().join("pipe")).status().unwrap();
    assert!(made.success());
    // Nobody writes into it: who opened it would wait.
    for name in ["pipe", "/dev/null", "/dev/stdin"] {
        folder.says(2, &format!("plan {name}"), &format!("{name} is no regular file"));
    }
    folder.says(2, "plan -", "standard input cannot be cut");
}

#[test]
fn states_may_be_compressed_and_what_is_cut_off_or_followed_is_told_as_that() {
    let folder = Folder::new();
    folder.file("a.txt", &text(100));
    folder.out("aggregate --partial -o whole a.txt");
    let whole = fs::read(folder.0.path().join("whole")).unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.0.path().join(name), bytes).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&whole).unwrap();
    write("packed", &packed.finish().unwrap());
    assert_eq!(folder.out("merge packed"), folder.out("merge whole"));
    for end in [4, 8, 300, whole.len() - 1] {
        write("cut", &whole[..end]);
        folder.says(3, "merge cut", "cut: the state is damaged: it ends too early");
    }
    write("more", &[&whole[..], b"\n"].concat());
    folder.says(3, "merge more", "more: the state is damaged: what stands behind it is none");
}

#[test]
fn quotes_are_cut_between_records_or_refused() {
    let folder = Folder::new();
    let text = "h,v\na,1\n\"b\n\nc\",2\nd,3\n".repeat(40).replace("\nh,v", "\nx,9");
    folder.file("q.csv", &text);
    let whole = folder.out("aggregate --by h --value v q.csv");
    folder.out("aggregate --by h --value v --partial --range 0..10 -o 1.fathom q.csv");
    let output = folder.run(
        "aggregate --by h --value v --partial --range 10.. -o 2.fathom --on-error skip q.csv",
        b"",
    );
    assert_eq!(output.status.code(), Some(1));
    let said = folder.refused(3, "merge 1.fathom 2.fathom");
    assert!(said.contains("cannot be cut at byte 10") && said.contains("plan --records"), "{said}");
    let plan =
        String::from_utf8(folder.out("plan --records --tasks 5 --states out q.csv")).unwrap();
    assert_eq!(plan.lines().count(), 5, "{plan}");
    for line in plan.lines() {
        folder.out(&format!("aggregate --by h --value v --partial {line}"));
    }
    let states = (0..5).map(|n| format!(" out/0000{n}.fathom")).collect::<String>();
    assert_eq!(folder.out(&format!("merge{states}")), whole);
    // What a quote encloses depends on what separates fields, which is guessed.
    folder.file("s.csv", &format!("v;h\n{}", "1;\"b;\nx;x\nc\"\n2;d\n".repeat(9)));
    let cuts = |more| folder.out(&format!("plan --records --bytes 9 {more} s.csv"));
    assert_eq!(cuts(""), cuts("--delimiter ;"));
    assert_ne!(cuts(""), cuts("--delimiter ,"));
    // Quotes that are bytes like any other, as the second record says, were taken to enclose what is between them.
    let text = format!("v;h\n1;\"a\"b\n1;\"pipe\n{}3;pipe\"\n", "2;pipe\n".repeat(20));
    folder.file("inches.csv", &text);
    for more in ["", "--delimiter ;"] {
        let plan = folder.out(&format!("plan --records --tasks 4 {more} inches.csv"));
        assert_eq!(String::from_utf8(plan).unwrap().lines().count(), 4, "{more}");
    }
}

#[test]
fn what_cannot_be_cut_is_planned_whole_and_a_plan_replaces_no_input() {
    let folder = Folder::new();
    let text = "k,v\n\"a\nb\",1\n".repeat(9);
    let utf_16 = text.encode_utf16().flat_map(u16::to_le_bytes);
    fs::write(
        folder.0.path().join("wide.csv"),
        [0xff, 0xfe].into_iter().chain(utf_16).collect::<Vec<u8>>(),
    )
    .unwrap();
    folder.file("text.csv", &text);
    let lines = |words: &str| String::from_utf8(folder.out(words)).unwrap().lines().count();
    for more in ["", " --records"] {
        assert_eq!(lines(&format!("plan --tasks 3{more} wide.csv")), 1, "{more}");
        assert_eq!(lines(&format!("plan --tasks 3{more} text.csv")), 3, "{more}");
    }
    folder.says(2, "plan -o text.csv text.csv", "--output would replace the input");
    assert_eq!(fs::read_to_string(folder.0.path().join("text.csv")).unwrap(), text);
    // Nor does a task of it: the second one's state has the name of the first one's input.
    fs::create_dir(folder.0.path().join("out")).unwrap();
    folder.file("out/00001.fathom", &text);
    let said = "--states would replace the input out/00001.fathom";
    folder.says(2, "plan --bytes 9 --states out out/00001.fathom text.csv", said);
    folder.says(2, "plan -o out/00000.fathom --states out text.csv", "--states would replace the");
    assert_eq!(
        folder.out("plan --bytes 1k --states out out/00001.fathom"),
        b"--number 0/1 -o out/00000.fathom -- out/00001.fathom\n"
    );
}

/// The state named the size of the file as it was when its turn came, of which less was read.
#[test]
fn a_file_that_grows_before_its_turn_is_told() {
    let folder = Folder::new();
    let log = folder.file("log", "a;1\n");
    assert!(Command::new("mkfifo").arg(folder.0.path().join("pipe")).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
    command.args("aggregate --partial -o state - log pipe".split(' '));
    command.current_dir(folder.0.path()).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = text(100);
    child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    // Opens once the other end is, and so after the log was opened, whose turn comes when standard input ends.
    let mut pipe = fs::OpenOptions::new().write(true).open(folder.0.path().join("pipe")).unwrap();
    fs::OpenOptions::new().append(true).open(log).unwrap().write_all(b"b;2\n").unwrap();
    pipe.write_all(text.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("log changed while it was read"), "{said}");
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(!folder.0.path().join("state").exists());
}

#[test]
fn a_reject_of_a_range_has_the_line_of_the_whole_file() {
    let folder = Folder::new();
    folder.file("a.txt", "a;1\nb;2\nc;3\nd;x\n");
    let said = folder.refused(3, "aggregate --range 6.. a.txt");
    assert!(said.starts_with("fathom: a.txt:4:3: the value is not a decimal number"), "{said}");
    let output = folder.run("aggregate --partial --on-error skip --range 6.. -o s a.txt", b"");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("skipped a.txt:4:3:"), "{said}");
}

#[test]
fn a_merge_into_a_state_was_silent_on_records_that_were_skipped() {
    let folder = Folder::new();
    folder.file("a.txt", "a;1\nbad\n");
    let words = "aggregate --partial --on-error skip -o 1 a.txt";
    assert_eq!(folder.run(words, b"").status.code(), Some(1));
    for words in ["merge --partial -o 2 1", "merge -o 3 2"] {
        assert_eq!(folder.refused(1, words), "fathom: 1 record skipped\n");
    }
}

/// It waited for the keyboard.
#[test]
fn a_merge_of_nothing_at_a_terminal_is_a_mistake() {
    for (command, name) in [("aggregate", "FILE"), ("merge", "STATE")] {
        let line = format!("exec {} {command}", env!("CARGO_BIN_EXE_fathom"));
        let mut script = Command::new("script");
        script.args(["-qefc", &line, "/dev/null"]).stdin(Stdio::null());
        let output = script.output().expect("the program `script` of util-linux");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(&format!("no {name} was named")), "{shown}");
    }
}

#[test]
fn mistakes_are_said() {
    let folder = Folder::new();
    folder.file("a.txt", &text(100));
    fs::hard_link(folder.0.path().join("a.txt"), folder.0.path().join("same.txt")).unwrap();
    let state = |name: &str, words: &str| {
        folder.out(&format!("aggregate --partial -o {name} {words}"));
    };
    state("1", "--range 0..500 a.txt");
    state("2", "--range 500.. a.txt");
    state("max", "--stats max,p50 --range 500.. a.txt");
    state("link", "--range 500.. same.txt");
    folder.says(3, "merge 1 1", "bytes 0 to 500 of ");
    folder.says(3, "merge 1 max", "different questions");
    folder.says(3, "merge 1 link", "are the same file");
    folder.says(3, "merge 1", " are in no state");
    folder.says(3, "merge a.txt", "a.txt: this is no state of fathom");
    folder.says(4, "merge .", "cannot read .: it is a folder");
    folder.says(2, "merge - 1 -", "standard input can be read only once");
    folder.says(4, "merge nothing", "cannot read nothing");
    folder.says(
        2,
        "merge --stats p99 1 2",
        "the states know no p99: they were made for --stats min,mean,max",
    );
    folder.says(2, "merge --delimiter , 1 2", "--delimiter is for reading");
    folder.says(2, "aggregate --range 5..5 a.txt", "no range of bytes");
    folder.says(2, "aggregate --range 0..5000000 a.txt", "is not in its ");
    folder.says(2, "aggregate --range 5000000.. a.txt", "the range 5000000.. is not in its ");
    folder.says(2, "aggregate --range 0..5 -", "standard input has no ranges");
    folder.file("empty", "");
    folder.says(2, "aggregate --range 0.. empty", "empty: what is empty, compressed, UTF-16, a");
    folder.says(2, "plan --bytes 0 a.txt", "it is of one byte or more");
    let size = text(100).len();
    folder.says(2, &format!("aggregate --range {size}.. a.txt"), "or is empty");
    folder.says(2, "aggregate --range 0..5 a.txt a.txt", "--range is of one FILE");
    folder.says(2, "aggregate --range 0..5", "--range is of one FILE");
    folder.says(2, "aggregate --number 3/3 --partial a.txt", "numbered from 0");
    folder.says(2, "aggregate --number 3 a.txt", "--number needs --partial");
    folder.says(
        2, "aggregate --partial --number 1/2 a.txt same.txt", "no numbers for 2 files from 1",
    );
    for asked in ["--stats max", "--histogram"] {
        folder.says(2, &format!("merge --partial {asked} 1 2"), "cannot be used with");
    }
    folder.says(2, "merge --spill . 1 2", "--spill is for reading");
    folder.says(2, "merge --compare 1 2", "two results of merges cannot be compared");
    folder.says(2, "merge https://localhost/1", "this has to be a local file");
    folder.says(2, "aggregate --number 0/0 --partial a.txt", "of no objects none has a number");
    folder.says(
        2,
        "aggregate --partial --number 18446744073709551615 a.txt",
        "--number: no numbers for 1 file from 18446744073709551615 on",
    );
    state("last", "--number 18446744073709551614 a.txt");
    for shown in ["--quantiles nearest", "--sort mean", "--top 3", "--format csv", "--decimals 2"] {
        folder.says(2, &format!("aggregate --partial {shown} a.txt"), "cannot be used with");
        folder.says(2, &format!("merge --partial {shown} 1 2"), "cannot be used with");
    }
    folder.says(2, "aggregate --partial -o x a.txt a.txt", "a.txt is named twice");
    folder.file("a.txt", &text(101));
    state("3", "--range 500.. a.txt");
    folder.says(3, "merge 1 3", "changed between two states");
    assert!(!folder.0.path().join("x").exists());
}

#[test]
fn names_that_differ_in_bytes_that_are_no_text_were_one_object() {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join("n")).unwrap();
    for name in [&b"n/a\xff"[..], b"n/a\xfe", b"n/a\\xff", b"n/a\\\\xff", b"n/a\xef\xbf\xbd"] {
        folder.file(OsStr::from_bytes(name), "a;1\n");
    }
    folder.out("aggregate --partial -o state n");
    assert_eq!(folder.out("merge --stats count --format csv state"), b"key,count\na,5\n");
}

#[test]
fn a_merge_told_of_texts_what_they_do_not_have() {
    let folder = Folder::new();
    folder.file("a.csv", "x,1\nx,2\n");
    folder.out("aggregate --partial -o state --delimiter , --by 1 --text 2 a.csv");
    folder.says(2, "merge --stats mean state", "--stats: of texts count, rows, ");
    folder.says(2, "merge --histogram state", "--histogram: texts have none");
    let shown = folder.out("merge --stats count,count%,rows% --format csv state");
    assert_eq!(shown, b"key,count,count%,rows%\nx,2,100,100\n");
}

#[test]
fn states_of_counts_told_zeros_of_values_that_they_do_not_have() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,1\na,2\na,4\nb,3\n");
    folder.out("aggregate --partial -o state --by k --count a.csv");
    for told in ["mean", "sum", "max", "sum%", "range"] {
        let said = format!("the states know no {told}: they were made for --stats count");
        folder.says(2, &format!("merge --stats count,{told} state"), &said);
    }
    folder.says(2, "merge --sort mean state", "the states know no mean: ");
    let shown = folder.out("merge --stats count,rows,count%,rows% --sort count state");
    assert_eq!(shown, b"k,count,rows,count%,rows%\na,3,3,75,75\nb,1,1,25,25\n");
}

#[test]
fn a_key_that_is_called_like_a_statistic_was_one_that_states_do_not_know() {
    let folder = Folder::new();
    folder.file("a.csv", "payment_mode,is_first,p99,v\nx,1,3,5\ny,2,4,6\n");
    for key in ["payment_mode", "is_first", "p99"] {
        let asked = format!("aggregate --by {key} --value v");
        folder.out(&format!("{asked} --partial -o state a.csv"));
        let whole = folder.out(&format!("{asked} --sort {key}:desc a.csv"));
        assert_eq!(folder.out(&format!("merge --sort {key}:desc state")), whole, "{key}");
    }
}

/// Their merge failed: of nothing `;` was guessed, and no header.
#[test]
fn a_file_without_records_answers_whatever_was_guessed_of_the_others() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,1\nb,2\n");
    folder.file("b.ndjson", "{\"k\": \"a\", \"v\": 2}\n");
    let state = |asked: &str, number: usize, name: &str| {
        folder.out(&format!("aggregate --partial {asked} --number {number} -o {number} {name}"));
    };
    for nothing in ["", "\n", "\u{feff}", "\u{feff}\r\n\r\n"] {
        folder.file("none", nothing);
        for asked in ["--by k --value v", "--by 1 --value 2"] {
            (0..).zip(["a.csv", "none"]).for_each(|(number, name)| state(asked, number, name));
            let whole = folder.out(&format!("aggregate {asked} a.csv none"));
            for states in ["0 1", "1 0"] {
                assert_eq!(folder.out(&format!("merge {states}")), whole, "{nothing:?} {asked}");
            }
        }
        let asked = "--by k --value v";
        (0..).zip(["a.csv", "none", "b.ndjson"]).for_each(|(n, name)| state(asked, n, name));
        folder.out("merge 1 2");
    }
    let said = "(not all of this was said: options that say it are the same for all)";
    folder.says(3, "merge 0 2", said);
    // What was asked has to be the same.
    folder.out("aggregate --partial --by k --value v --trim --number 1 -o trimmed none");
    folder.says(3, "merge 0 trimmed", ", trim: true\n");
}

/// Their tasks failed, with words about states.
#[test]
fn a_plan_knows_a_file_by_any_name() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a;1\n");
    folder.file("b.txt", "b;1\n");
    fs::hard_link(&file, folder.0.path().join("hard.txt")).unwrap();
    fs::create_dir(folder.0.path().join("none")).unwrap();
    folder.says(2, "plan a.txt b.txt a.txt", "a.txt is named twice");
    for same in ["./a.txt", "hard.txt"] {
        let said = format!("a.txt and {same} are the same file");
        folder.says(2, &format!("plan a.txt b.txt {same}"), &said);
    }
    folder.says(4, "plan none", "no file is in none/");
    folder.says(4, "plan none/*.txt", "no file is called none/*.txt");
    assert_eq!(folder.out("plan a.txt b.txt"), b"--number 0/2 -- a.txt b.txt\n");
}

#[test]
fn verbose_runs_tell_of_states_what_they_tell_of_results() {
    let folder = Folder::new();
    folder.file("a.txt", "a;1\nb;2\na;3\n");
    for words in ["aggregate --partial -v -o s a.txt", "merge --partial -v -o t s"] {
        let output = folder.run(words, b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("result hash=") && said.contains("stations count=2\n"), "{said}");
        assert!(said.contains("\n3 records, 0 blank lines"), "{said}");
        assert_eq!(said.contains("a.txt was read"), words.starts_with("aggregate"), "{said}");
        // Of a merge it was the speed at which nothing was read.
        assert_eq!(said.contains("records/s"), words.starts_with("aggregate"), "{said}");
        assert_eq!(said.contains("refused merged in 0."), words.starts_with("merge"), "{said}");
    }
}

#[test]
fn quotes_were_suspected_where_none_can_enclose_a_line_break() {
    let folder = Folder::new();
    folder.file("a.csv", "k,v\na,1\nb,x\n");
    folder.file("a.ndjson", "{\"k\":1}\n{\"k\":}\n");
    for (words, is_suspected) in [
        ("--by k --value v --range 4.. a.csv", true),
        ("--by k --value v --range 4.. --quotes no a.csv", false),
        ("--by k --count --range 4.. a.ndjson", false),
    ] {
        let said = folder.refused(3, &format!("aggregate {words}"));
        assert_eq!(said.contains("with line breaks in quotes"), is_suspected, "{words}: {said}");
    }
}
