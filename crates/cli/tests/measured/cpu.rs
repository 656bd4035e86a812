//! `fathom cpu` from outside: rows in both forms, the answer, two machines side by side, refusals.
//! Figures are looked at only where no machine could get them wrong.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use fathom_contenders::families;
use fathom_machine::describe::Machine;
use serde_json::Value;

use crate::fathom;

/// Standard output of a run that ended with 0.
fn done(arguments: &[&str]) -> String {
    let output = fathom(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

const QUICK: [&str; 6] = ["cpu", "checksum", "--only", "crc32c,crc32", "--budget", "100ms"];

#[test]
fn rows_are_printed_in_the_forebear_s_form_and_ours() {
    let narrow = done(&QUICK);
    let rows = narrow.split_once("\nchecksum ").unwrap().1;
    assert!(rows.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    assert!(!narrow.contains("2500 crc32c in "), "{narrow}");
    let text = done(&[&QUICK[..], &["--wide"]].concat());
    let banner: Vec<&str> = text.lines().take(2).collect();
    assert!(banner[0].contains(" - "), "{text}");
    assert!(banner[1].contains(" x ") && banner[1].ends_with(')'), "{text}");
    assert!(text.contains("checksum crc32c, calls of 8 to 10,000 bytes"), "{text}");
    assert!(text.contains("2500 crc32c in ") && text.contains(" i.e. "), "{text}");
    assert!(text.contains("iB/s  fastest, spread "), "{text}");
    let (_, answer) = text.split_once("\nfastest here\n").unwrap();
    let rows = answer.lines().take_while(|line| !line.is_empty());
    let rows: Vec<&str> = rows.filter(|line| !line.starts_with("      ")).collect();
    assert!(matches!(rows[..], [a, b] if a.contains("crc32c ") && b.contains("crc32 ")), "{text}");
    assert!(!text.contains("adler32"), "{text}");
}

#[test]
fn what_is_not_here_is_counted_of_the_families_that_were_asked() {
    let without = ["--library", "isa-l=none"];
    let absent = done(&[&["cpu", "checksum", "--absent"], &without[..]].concat()).lines().count();
    let asked = ["cpu", "--only", "crc32c", "--budget", "50ms"];
    let text = done(&[&asked, &without[..]].concat());
    let line = text.lines().find(|line| line.ends_with("and why: fathom cpu checksum --absent"));
    let count = line.map(|line| line.split(' ').next().unwrap());
    assert_eq!(count, Some(&*absent.to_string()), "{text}");
}

#[test]
fn sizes_and_threads_give_rows_of_their_own() {
    let sizes = ["cpu", "digest", "--only", "sha256", "--size", "64,1K", "--threads", "2"];
    let text = done(&[&sizes[..], &["--budget", "100ms"]].concat());
    assert!(text.contains("digest sha256, 64 bytes, 2 threads"), "{text}");
    assert!(text.contains("digest sha256, 1K bytes, 2 threads"), "{text}");
    assert!(text.contains("\n  digest sha256, 64 "), "{text}");
    let text = done(&["cpu", "hash", "--only", "crc32,sha1", "--budget", "100ms"]);
    assert!(text.contains("checksum crc32,") && text.contains("digest sha1,"), "{text}");
}

#[test]
fn what_is_named_twice_is_measured_once() {
    let twice = ["cpu", "checksum", "hash", "checksum", "--size", "1K,1024,1K", "--format", "json"];
    let run = done(&[&twice[..], &["--only", "crc32c", "--budget", "50ms"]].concat());
    let run: Value = serde_json::from_str(&run).unwrap();
    assert_eq!(run["cases"].as_array().unwrap().len(), 1, "{run}");
}

/// What a crate makes of other instructions shows only where it was compiled for them.
#[test]
fn another_build_takes_part_in_the_rows_of_this_one() {
    let worker = format!("'{}' worker --build other", env!("CARGO_BIN_EXE_fathom"));
    let contenders = |only: &str| -> Vec<String> {
        let asked = ["cpu", "checksum", "--only", only, "--budget", "50ms", "--format", "json"];
        let run: Value =
            serde_json::from_str(&done(&[&asked, &["--worker", &*worker][..]].concat())).unwrap();
        let [case] = &run["cases"].as_array().unwrap()[..] else { panic!("{run}") };
        assert!(
            case["measured"]["failures"].as_array().unwrap().iter().all(Value::is_null),
            "{case}"
        );
        let seats = case["contenders"].as_array().unwrap().iter();
        let names = seats.map(|seat| seat["id"].as_str().unwrap().to_owned());
        names.filter(|name| name != "(twin)").collect()
    };
    // The reference of either build, and who has no such row, are left out.
    let all = contenders("crc32c");
    let here: BTreeSet<&str> = all.iter().filter_map(|id| id.strip_suffix(":other")).collect();
    assert!(
        here.len() > 2 && all.iter().filter(|id| here.contains(&***id)).count() == here.len(),
        "{all:?}"
    );
    assert_eq!(contenders("crc32,crc32fast"), ["crc32fast", "crc32fast:other"]);
    assert_eq!(contenders("crc32,crc32fast:other"), ["crc32fast:other"]);
    let worker = ["--worker", &*worker];
    let recommended = done(
        &[
            &["cpu", "--only", "crc32,crc32fast:other", "--recommend", "--budget", "50ms"],
            &worker[..],
        ]
        .concat(),
    );
    assert!(
        recommended.contains("\n  crc32fast = \"")
            && recommended.contains("      # crc32 (as built in other)"),
        "{recommended}"
    );
    let bench = ["bench", "checksum", "--operation", "crc32", "-p", "size=64", "--rounds", "4"];
    let text = done(&[&bench, &["--only", "crc32fast"][..], &worker].concat());
    assert!(text.contains("crc32fast:other"), "{text}");
    for (workers, said) in [
        (vec!["true"], "worker \"true\": crashed"),
        (vec![worker[1], worker[1]], "there is a plain:other already"),
    ] {
        let words: Vec<&str> = workers.iter().flat_map(|worker| ["--worker", worker]).collect();
        let output = fathom(&[&["cpu", "checksum"], &words[..]].concat());
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(complaint.contains(said) && output.status.code() != Some(0), "{complaint}");
    }
    let bad = format!("'{}' worker --build a:b", env!("CARGO_BIN_EXE_fathom"));
    let output = fathom(&["cpu", "checksum", "--worker", &bad]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("invalid value 'a:b' for '--build <NAME>'"), "{complaint}");
}

#[test]
fn a_recommendation_is_a_line_per_task() {
    let text = done(&[&QUICK[..], &["--recommend"]].concat());
    for task in ["crc32c: ", "crc32: "] {
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(task)).collect();
        assert_eq!(lines.len(), 1, "{text}");
    }
    // Whoever is fastest: a crate with its version, or a library with its flags.
    let (_, added) = text.split_once("\nto add the fastest of each\n").unwrap();
    let lines: Vec<&str> = added.lines().take_while(|line| !line.is_empty()).collect();
    let is_line = |line: &&str| line.contains(" = \"") || line.contains("$(pkg-config --cflags");
    assert!(lines.iter().step_by(2).all(is_line), "{text}");
    assert!(lines.iter().skip(1).step_by(2).all(|line| line.contains("# crc32")), "{text}");
}

#[test]
fn the_first_screen_answers_the_common_questions() {
    let text = done(&["cpu", "--budget", "100ms"]);
    let (_, screen) = text.split_once("against the usual choice\n").unwrap();
    let lines: Vec<&str> = screen.lines().take_while(|line| !line.is_empty()).collect();
    let questions = ["CRC-32C", "XXH3", "SHA-256", "AES-128-GCM", "ChaCha20-Poly1305"];
    let others = ["LZ4 decompress", "UTF-8", "JSON"];
    // Of a cache that the machine does not tell there is no row.
    let told = Machine::here()
        .caches
        .iter()
        .any(|c| c.level == 2 && c.kind != "instruction" && c.size_bytes.is_some());
    let memory = told.then_some("memcpy");
    for question in questions.iter().chain(&others).chain(&memory) {
        let found = lines.iter().filter(|line| line.starts_with(question)).count();
        assert_eq!(found, 1, "{question}: {text}");
    }
    assert!((12..=16).contains(&lines.len()), "{text}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("implementations are not here, and why: fathom cpu --absent"), "{text}");
    assert!(!text.contains("absent: "), "{text}");
}

#[test]
fn what_is_not_here_is_listed_with_the_reason() {
    let text = done(&["cpu", "digest", "codec", "--absent", "--library", "none"]);
    for line in [
        "absent: digest openssl: openssl is left out by --library openssl=none",
        "absent: codec zlib: zlib is left out by --library zlib=none",
    ] {
        assert!(text.lines().any(|found| found == line), "{text}");
    }
    // Without any of them everything else is still measured, and right.
    let text = done(&["cpu", "checksum", "codec", "sql", "--test", "--library", "none"]);
    assert!(!text.contains("wrong"), "{text}");
}

/// What `cc` makes of a source file: a library for these tests.
fn library(folder: &Path, name: &str, source: &str) -> String {
    let (from, to) = (folder.join("source.c"), folder.join(name));
    std::fs::write(&from, source).unwrap();
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-shared", "-fPIC", "-o"]).arg(&to).arg(&from).status();
    assert!(status.is_ok_and(|status| status.success()), "cc made no {name}");
    to.to_str().unwrap().to_owned()
}

/// A library with Lizard's interface: runs of a byte, counted. `WRONG` is what it adds to the first byte.
const LIZARD: &str = "
int Lizard_compressBound(int n) { return 2 * n; }
int Lizard_compress(const char *from, char *to, int n, int room, int level) {
    int at = 0, used = 0;
    while (level >= 10 && at < n) {
        int run = 1;
        while (run < 255 && at + run < n && from[at + run] == from[at]) run++;
        if (used + 2 > room) return 0;
        to[used++] = (char)run;
        to[used++] = from[at];
        at += run;
    }
    return used;
}
int Lizard_decompress_safe(const char *from, char *to, int n, int room) {
    int used = 0;
    for (int at = 0; at + 1 < n; at += 2)
        for (int i = (unsigned char)from[at]; i > 0; i--) {
            if (used == room) return -1;
            to[used++] = from[at + 1];
        }
    if (used > 0) to[0] += WRONG;
    return used;
}
";

#[test]
#[ignore = "needs the C compiler cc"]
fn a_library_of_the_compiler_is_taken_from_the_file_or_folder_named() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("zeros");
    std::fs::write(&data, vec![0; 50_000]).unwrap();
    let data = data.to_str().unwrap();
    let bench = ["bench", "codec", data, "--only", "stored,lizard+17", "--operation", "decompress"];
    let bench = [&bench[..], &["--rounds", "2"]].concat();
    let file = library(folder.path(), "liblizard.so", &LIZARD.replace("WRONG", "0"));
    let chosen = format!("lizard={file}");
    let right = fathom(&[&bench[..], &["--library", &chosen]].concat());
    let text = String::from_utf8_lossy(&right.stdout).into_owned();
    assert!(right.status.success() && text.contains("lizard+17"), "{text}");
    // The same by its folder, as a user of a build of his own would.
    let mut listed = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let listed = listed.args(["list", "codec"]).env("FATHOM_LIBRARY_PATH", folder.path());
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    assert!(listed.contains("lizard+41"), "{listed}");
    // That a worker opens the same file is seen by a library that is wrong.
    let wrong = library(folder.path(), "wrong.so", &LIZARD.replace("WRONG", "1"));
    let wrong = fathom(&[&bench[..], &["--library", &format!("lizard={wrong}")]].concat());
    let text = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(wrong.status.code() == Some(1) && text.contains("wrong answer"), "{text}");
    let other = library(folder.path(), "other.so", "int Lizard_compressBound(int n) { return n; }");
    let other = format!("lizard={other}");
    let text = done(&["list", "codec", "--library", &other]);
    assert!(text.contains("has no Lizard_compress"), "{text}");
}

/// ICU's names in version 99, which takes everything for UTF-8.
const ICU: &str = "
void u_getVersion_99(unsigned char *version) { version[0] = 99; version[1] = 1; }
unsigned short *u_strFromUTF8_99(unsigned short *to, int room, int *units, const char *from, int n, int *error) {
    *error = 0;
    return to;
}
";

#[test]
#[ignore = "needs the C compiler cc"]
fn names_with_the_number_of_their_library_are_found_by_its_file_with_a_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let numbered = format!("icu={}", library(folder.path(), "libicuuc.so.99.1", ICU));
    let bench = ["bench", "text", "--operation", "utf8", "-p", "records=12", "--rounds", "2"];
    let wrong = fathom(&[&bench[..], &["--only", "std,icu", "--library", &numbered]].concat());
    let text = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(wrong.status.code() == Some(1) && text.contains("wrong answer"), "{text}");
    assert!(done(&["list", "text", "--library", &numbered]).contains("99.1"));
    let other = format!("icu={}", library(folder.path(), "libicuuc.so", ICU));
    let text = done(&["list", "text", "--library", &other]);
    assert!(text.contains("has no u_getVersion"), "{text}");
}

#[test]
fn a_file_of_the_user_is_measured_where_a_row_can_take_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text = format!("[{}{{\"last\":\"\u{e9}\"}}]", "{\"a\":[1,2.5,null]},\n".repeat(20_000));
    let document = file("document.json", text.as_bytes());
    let only = "utf8,json-valid,dom,compress,lz4-flex,snap,std,simdutf8,serde-json,sonic-rs";
    let run = |file: &str| fathom(&["cpu", "--file", file, "--only", only, "--budget", "200ms"]);
    let all = run(&document);
    let words = String::from_utf8(all.stdout).unwrap();
    assert!(all.status.success() && all.stderr.is_empty(), "{words}");
    for line in ["codec compress", "text utf8", "text json-valid", "json dom"] {
        assert!(words.lines().any(|other| other == line), "{line}: {words}");
    }
    assert!(words.contains(&format!("\ndata         {document}\n")), "{words}");
    // Two documents are no document, a byte of Latin-1 is no UTF-8: what is left is measured.
    let lines = run(&file("lines.ndjson", b"{\"a\":1}\n{\"a\":2}\n"));
    let said = String::from_utf8(lines.stderr).unwrap();
    assert!(lines.status.success() && said.matches("left out").count() == 2, "{said}");
    assert!(said.contains("dom: ") && said.contains("at line 2 column 1"), "{said}");
    let latin = run(&file("latin.txt", b"caf\xe9 caf\xe9 caf\xe9"));
    let said = String::from_utf8(latin.stderr).unwrap();
    assert!(latin.status.success() && said.contains("no UTF-8 after byte 3"), "{said}");
    let latin1 = file("latin1", b"caf\xe9");
    for (arguments, word) in [
        (&["--file", "not-there.bin"][..], "not-there.bin"),
        (&["--file", "/"], "fathom: /: is a directory\n"),
        (&["--file", "/dev/null"], "/dev/null: no regular file"),
        (&["--file", &file("empty", b"")], "empty: 0 bytes"),
        (&["json", "--file", &latin1], "latin1: no UTF-8 after byte 3"),
        (&["--file", &document, "--size", "64"], "--file and --size"),
        (&["digest", "--file", &document], "no row of these"),
    ] {
        let refused = fathom(&[&["cpu"], arguments].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains(word), "{said}");
    }
}

/// A pipe hung the command, or had 0 bytes; the standard input of a worker is another.
#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_a_file_as_standard_input_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let pipe = pipe.to_str().unwrap();
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for arguments in [&["cpu", "codec", "--file", pipe][..], &["bench", "codec", pipe, "--test"]] {
        let refused = fathom(arguments);
        let said = [refused.stdout, refused.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(!refused.status.success() && said.contains("no regular file"), "{said}");
    }
    let data = folder.path().join("data");
    std::fs::write(&data, "text ".repeat(100)).unwrap();
    let mut cpu = Command::new(env!("CARGO_BIN_EXE_fathom"));
    cpu.args(["cpu", "--only", "compress,utf8,lz4-flex,std", "--budget", "100ms"]);
    cpu.args(["--file", "/dev/stdin"]).stdin(std::fs::File::open(&data).unwrap());
    let measured = cpu.output().unwrap();
    let said = String::from_utf8_lossy(&measured.stderr).into_owned();
    assert!(measured.status.success() && said.is_empty(), "{said}");
}

/// It was said of rows whose other contenders the user had left out.
#[test]
fn the_plain_reference_that_was_asked_for_is_not_called_alone() {
    let text = done(&["cpu", "--only", "plain,sha256", "--size", "64", "--budget", "50ms"]);
    assert!(text.contains("plain") && !text.contains("reference alone"), "{text}");
}

/// A digest that has its name and may not be called ended the command.
#[test]
fn what_a_library_may_not_do_in_fips_mode_takes_no_part() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text =
        "openssl_conf = all\n[all]\nalg_section = usual\n[usual]\ndefault_properties = fips=yes\n";
    std::fs::write(file.path(), text).unwrap();
    for (family, names) in
        [("digest", "openssl,openssl-fetched,gcrypt,sha2"), ("cipher", "openssl,gcrypt,aes-gcm")]
    {
        let mut tested = Command::new(env!("CARGO_BIN_EXE_fathom"));
        tested.args(["cpu", "--test", family, "--only", names]);
        tested.env("OPENSSL_CONF", file.path()).env("LIBGCRYPT_FORCE_FIPS_MODE", "1");
        let tested = tested.output().unwrap();
        let said = String::from_utf8_lossy(&tested.stderr).into_owned();
        assert!(tested.status.success() && said.is_empty(), "{family}: {said}");
    }
}

/// It was not on this machine, or the system's was taken in its place.
#[test]
fn a_library_in_a_folder_of_the_user_s_is_taken_or_what_is_wrong_with_it_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libz.so.1"), "hello").unwrap();
    let mut listed = Command::new(env!("CARGO_BIN_EXE_fathom"));
    let listed = listed.args(["list", "checksum"]).env("FATHOM_LIBRARY_PATH", folder.path());
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    let line = listed.lines().find(|line| line.trim_start().starts_with("zlib "));
    assert!(line.is_some_and(|line| line.contains("libz.so.1: it cannot be opened")), "{listed}");
}

/// What does not shrink, and what is short, was copied in place of being packed.
#[test]
fn every_codec_gives_back_a_file_that_does_not_shrink() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    let noise: Vec<u8> = noise.take(5000).collect();
    for length in [1, 50, 5000] {
        std::fs::write(&path, &noise[..length]).unwrap();
        let tested = fathom(&["bench", "codec", path.to_str().unwrap(), "--test"]);
        let text = String::from_utf8_lossy(&tested.stdout).into_owned();
        assert!(tested.status.success(), "{length}: {text}");
    }
}

/// A library that was named and cannot be used left out its rows without a word; data that cannot be taken ended as
/// wrong words do.
#[test]
fn what_is_wrong_with_a_file_is_told_by_the_exit_code() {
    for (arguments, code) in [
        (&["--library", "zlib=/dev/null"][..], 2),
        (&["--library", "zlib=/none"], 4),
        (&["--file", "/none"], 4),
        (&["--file", "/dev/null"], 4),
    ] {
        let refused = fathom(&[&["cpu", "--only", "adler32"], arguments].concat());
        assert_eq!(refused.status.code(), Some(code), "{arguments:?}");
    }
}

/// Some had a comma in them.
#[test]
fn rows_are_named_as_the_first_screen_names_them() {
    let (mut names, mut asked) = (Vec::new(), BTreeSet::new());
    for family in families() {
        for common in family.facts().common.iter().filter(|common| common.only.is_empty()) {
            names.push(common.question.to_lowercase());
            asked.insert(family.name());
        }
    }
    let text = done(&["cpu", "--only", &names.join(","), "--test"]);
    let answered = text.lines().filter_map(|line| Some(line.split_once(": ")?.0));
    assert_eq!(asked, answered.collect::<BTreeSet<&str>>(), "{names:?}");
}

#[test]
fn every_implementation_is_checked_without_times() {
    let text = done(&["cpu", "checksum", "digest", "--test"]);
    let count = |family: &str| {
        let line = text.lines().find(|line| line.starts_with(family)).unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        words[words.len() - 3].parse::<u32>().unwrap()
    };
    assert!(count("checksum: ") > 50 && count("digest: ") > 50, "{text}");
    // Of a family of which nothing was asked nothing is said.
    let text = done(&["cpu", "checksum", "digest", "--test", "--only", "sha256"]);
    assert!(text.starts_with("digest: ") && text.lines().count() == 1, "{text}");
    // Nor are those counted who were not.
    let text = done(&["cpu", "checksum", "--test", "--only", "crc-fast"]);
    assert!(text.starts_with("checksum: 1 implementation, "), "{text}");
}

#[test]
fn whoever_chooses_tables_sees_tables() {
    let text = done(&[&QUICK[..], &["--sort", "command", "-u", "second"]].concat());
    let (_, table) = text.split_once("checksum crc32c seed=1 size=mix").unwrap();
    assert!(table.contains("  contender ") && table.contains(" s "), "{text}");
    assert!(!text.contains("fastest here"), "{text}");
    assert_eq!(done(&[&QUICK[..], &["--style", "none"]].concat()), "");
}

#[test]
fn what_a_run_notes_stands_below_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    done(&[&QUICK[..], &["--save", path.to_str().unwrap()]].concat());
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    run["notes"] = serde_json::json!(["interrupted: the rest was not measured"]);
    std::fs::write(&path, run.to_string()).unwrap();
    let text = done(&["report", path.to_str().unwrap()]);
    assert!(text.ends_with("\nnote: interrupted: the rest was not measured\n"), "{text}");
}

/// A baseline that was chosen afterwards was the fastest, and whoever was not in all rows could be none.
#[test]
fn a_run_that_was_judged_anew_names_no_baseline_the_fastest() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (a, b) = (path("a.json"), path("b.json"));
    let asked = ["cpu", "--only", "crc32c,adler32", "--budget", "200ms", "--library", "isa-l=none"];
    done(&[&asked[..], &["--save", &a]].concat());
    let run: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    let [crc, adler] = [0, 1].map(|case| &run["cases"][case]);
    assert_eq!(crc["workload"]["operation"], "crc32c");
    let is_in = |case: &Value, id: &Value| {
        case["contenders"].as_array().unwrap().iter().any(|own| own["id"] == *id)
    };
    let ids = crc["contenders"].as_array().unwrap().iter().map(|own| &own["id"]);
    let baseline = |number: &Value| {
        *number == crc["contenders"][crc["roles"]["baseline"].as_u64().unwrap() as usize]["id"]
    };
    let other =
        ids.filter(|id| !baseline(id) && !is_in(adler, id)).find_map(Value::as_str).unwrap();
    let shown = done(&["report", &a, "--baseline", other, "--save", &b]);
    assert!(shown.contains(&format!("against {other}")), "{shown}");
    assert!(shown.contains(&format!("{other} is not in checksum adler32")), "{shown}");
    let again = done(&["report", &b]);
    assert!(
        !again.contains("fastest, spread") && again.contains(&format!("against {other}")),
        "{again}"
    );
    let nobody = fathom(&["report", &a, "--baseline", "nobody"]);
    let said = String::from_utf8_lossy(&nobody.stderr);
    assert!(said.contains("no contender \"nobody\""), "{said}");
}

#[test]
fn two_machines_stand_side_by_side_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let (a, b) = (path("a.json"), path("b.json"));
    done(&[&QUICK[..], &["--save", &name(&a)]].concat());
    // The other machine is an ARM board where one implementation is wrong and all are twice as slow.
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(&a).unwrap()).unwrap();
    run["machine"]["processor"]["model"] = "ARM Neoverse-N1".into();
    run["machine"]["system"]["architecture"] = "aarch64".into();
    let case = &mut run["cases"][0];
    for round in case["measured"]["rounds"].as_array_mut().unwrap() {
        for sample in round["samples"].as_array_mut().unwrap() {
            for clock in ["wall_ns", "cpu_ns"] {
                if let Some(ns) = sample[clock].as_u64() {
                    sample[clock] = (2 * ns).into();
                }
            }
        }
    }
    let at = case["contenders"].as_array().unwrap().iter().position(|c| c["id"] == "crc-fast");
    let at = at.unwrap();
    case["measured"]["failures"][at] =
        serde_json::json!({"kind": "wrong_answer", "expected": "00", "found": "01"});
    std::fs::write(&b, run.to_string()).unwrap();
    let text = done(&["cpu", "--join", &name(&a), &name(&b)]);
    // Rows of others have other names.
    let other = folder.path().join("other.json");
    std::fs::write(&other, run.to_string().replace("\"family\":\"checksum\"", "\"family\":\"x\""))
        .unwrap();
    let apart = fathom(&["cpu", "--join", &name(&a), &name(&other)]);
    assert_eq!(apart.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&apart.stderr).contains("no row in common"));
    assert!(text.contains("ARM Neoverse-N1 (aarch64)"), "{text}");
    let row = |id: &str| {
        let start = format!("  {id} ");
        text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{id}: {text}"))
    };
    assert!(row("crc32c").ends_with("0.50x"), "{text}");
    assert!(row("crc-fast").contains("B: wrong answer"), "{text}");
}

/// Each was a row of its own, without the other machine.
#[test]
fn a_size_in_other_words_and_a_file_elsewhere_are_the_same_row() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.json", "b.json"].map(|name| folder.path().join(name));
    let [a, b] = paths.each_ref().map(|path| path.to_str().unwrap());
    done(&[&QUICK[..], &["--save", a]].concat());
    let mut run: Value = serde_json::from_str(&std::fs::read_to_string(a).unwrap()).unwrap();
    for (path, size, file) in [(a, "1K", "here.txt"), (b, "1024", "there.txt")] {
        run["cases"][0]["workload"]["parameters"]["size"] = size.into();
        run["cases"][1]["workload"]["file"] = file.into();
        std::fs::write(path, run.to_string()).unwrap();
    }
    let text = done(&["cpu", "--join", a, b]);
    let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("checksum ")).collect();
    let [size, file] = titles[..] else { panic!("{text}") };
    assert!(size.contains("size=1K") && file.ends_with("here.txt / there.txt"), "{text}");
}

/// The workers of contenders without `@NAME` took what others had set, and were told as on the system's.
#[test]
#[cfg(feature = "kv")]
fn a_worker_is_on_the_system_s_allocator_whatever_it_inherits() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;

    let mut worker = Command::new(env!("CARGO_BIN_EXE_fathom"));
    worker.arg("worker").env("FATHOM_ALLOCATOR", "arena").env("LD_PRELOAD", "/no/libhoard.so");
    // The loader says that there is no such file.
    worker.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut worker = worker.spawn().unwrap();
    let mut input = worker.stdin.take().unwrap();
    writeln!(input, "{{\"ask\":\"hello\",\"protocol\":1}}").unwrap();
    let mut answer = String::new();
    BufReader::new(worker.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("hello"), "{answer}");
    let environment = std::fs::read(format!("/proc/{}/environ", worker.id())).unwrap();
    drop(input);
    assert!(worker.wait().unwrap().success());
    let of_two = |pair: &&str| pair.starts_with("FATHOM_ALLOCATOR=") || pair.starts_with("LD_PRE");
    let environment = String::from_utf8_lossy(&environment);
    let found: BTreeSet<&str> = environment.split('\0').filter(of_two).collect();
    assert_eq!(found, BTreeSet::from(["FATHOM_ALLOCATOR=system", "LD_PRELOAD="]));
}

#[test]
fn what_cannot_be_measured_is_refused_with_what_can() {
    for (arguments, words) in [
        (&["cpu", "checksums"][..], "there is: memory, checksum"),
        (&["cpu", "checksum", "--only", "md5"], "no row and no implementation \"md5\""),
        (&["cpu", "checksum", "--only", "md5"], "in checksum; family digest has it"),
        (&["cpu", "--only", "sha265"], "did you mean \"sha256\"?"),
        (&["cpu", "digets"], "no family \"digets\" in fathom cpu; did you mean \"digest\"?"),
        (&["bench", "map", "--only", "nosuch"], "\"nosuch\" in map; did you mean \"touch\"?"),
        (&["bench", "codec", "/dev/null"], "/dev/null: no regular file"),
        (&["bench", "map", "--only", "std", "--baseline", "hashbrown"], "does not take part"),
        (&["selftest", "--comparisons", "0", "--slowdowns", "0"], "nothing would be audited"),
        // Before all that, not after.
        (
            &["selftest", "--comparisons", "0", "--slowdowns", "0", "-o", "no/x"],
            "cannot create no/x",
        ),
        (&["cpu", "digest", "--format", "svg"], "a plot shows one row at several sizes"),
        (&["cpu", "digest", "--only", "openssl", "--library", "none"], "openssl is not here"),
        (&["cpu", "--library", "zlip=none"], "no library \"zlip\""),
        (&["cpu", "--library", "zlib=no-such.so"], "no-such.so: No such file"),
        (&["cpu", "--library", "zlib="], "zlib= names no file"),
        (&["cpu", "--library", "zlib=/dev"], "zlib in /dev: it cannot be opened"),
        (
            &["cpu", "--test", "--library", "zlib=/dev/null"],
            "zlib in /dev/null: it cannot be opened",
        ),
        (&["bench", "codec", "--library", "zlib=/dev/null"], "it cannot be opened"),
        (
            &["cpu", "--only", "sha256", "--size", "9999999999999"],
            "fathom: size=9999999999999: at most",
        ),
        (&["cpu", "--library", "zlib"], "is no choice of a library"),
        (&["cpu", "digest", "--size", "many"], "\"many\" is no size"),
        (&["cpu", "digest", "--threads", "0"], "--threads"),
        (&["cpu", "digest", "--budget", "never"], "is no time"),
        (&["cpu", "--join", "a.json"], "2 values"),
        (&["cpu", "--join", "no.json", "no.json"], "no.json"),
        (&["cpu", "--test", "--join", "a.json", "b.json"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--only", "md5"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--size", "64"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--threads", "2"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--all"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--absent"], "cannot be used with"),
        (&["cpu", "--absent", "--only", "nonsense"], "cannot be used with"),
        (&["cpu", "--test", "--size", "64"], "cannot be used with"),
        (&["cpu", "--join", "a.json", "b.json", "--columns", "time"], "cannot be used with"),
        (&["cpu", "--absent", "--style", "none"], "cannot be used with"),
        (&["cpu", "--recommend", "--sort", "command"], "cannot be used with"),
        (&["cpu", "--recommend", "--wide"], "cannot be used with"),
        (&["cpu", "--recommend", "--open"], "cannot be used with"),
        (&["cpu", "--wide", "-u", "second"], "cannot be used with"),
        (&["cpu", "--only", "strlen", "--size", "1K"], "none of these rows has calls of a size"),
        (&["cpu", "checksum", "--test", "--only", "nobody"], "\"nobody\""),
    ] {
        let output = fathom(arguments);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(2..=4)), "{arguments:?}: {complaint}");
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    }
}
