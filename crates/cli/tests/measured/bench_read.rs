//! `fathom bench read` from the outside: checks, the table by buffer, the sentence on the fastest.

use std::process::Output;

use crate::fathom;

fn run(arguments: &[&str]) -> Output {
    fathom(&[&["bench", "read"], arguments].concat())
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Ways that every machine has, of files on a disk.
const WAYS: [&str; 12] = [
    "read", "pread", "read-fresh", "read-huge", "mmap+faulted", "mmap+populated", "mmap+whole",
    "overlap", "advised+sequential", "advised+willneed", "direct", "direct-ahead",
];

/// A folder on a disk: the usual one may be in memory.
fn disk() -> tempfile::TempDir {
    let usual = std::env::temp_dir();
    let folder = std::fs::File::open(&usual).unwrap();
    let is_in_memory = fathom_machine::os::cache::is_in_memory(&folder).unwrap();
    tempfile::tempdir_in(if is_in_memory { "/var/tmp".into() } else { usual }).unwrap()
}

/// With those that not every kernel has: the listing says which.
fn ways() -> Vec<&'static str> {
    let family = fathom_contenders::family("read").unwrap();
    let is_absent = family.absent().iter().any(|absent| absent.name == "uring");
    let uring = ["uring+cached", "uring+direct"].into_iter().filter(|_| !is_absent);
    WAYS.into_iter().chain(uring).collect()
}

#[test]
fn every_way_sees_every_byte() {
    let folder = disk();
    let path = folder.path().join("bytes");
    std::fs::write(&path, vec![0xa5; 123_457]).unwrap();
    let words = ["--test", "--set", "cache=warm,cold", "--set", "buffer=4K,64K,1M"];
    let text = stdout(&run(&[&[path.to_str().unwrap()], &words[..]].concat()));
    for way in ways() {
        let line = |line: &&str| line.starts_with(&format!("  {way} "));
        let lines: Vec<&str> = text.lines().filter(line).collect();
        assert!(lines.len() == 6 && lines.iter().all(|line| line.ends_with("ok")), "{way}: {text}");
    }
}

#[test]
fn the_tables_have_a_row_for_each_way_and_a_column_for_each_buffer() {
    let folder = disk();
    let path = folder.path().join("bytes");
    std::fs::write(&path, vec![0xa5; 123_457]).unwrap();
    let words = ["--set", "buffer=4K,64K", "--set", "cache=cold,warm", "--rounds", "2"];
    let text = stdout(&run(&[&[path.to_str().unwrap()], &words[..]].concat()));
    for cache in ["cold", "warm"] {
        let (_, table) = text.split_once(&format!("GB/s by buffer, {cache}")).expect("a table");
        let (table, fastest) = table.split_once("Fastest ").expect("the fastest below it");
        let sizes: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
        assert_eq!(sizes, ["4K", "64K"]);
        for way in ways() {
            let row = table.lines().find(|line| line.split(' ').next() == Some(way));
            let speeds = row.unwrap_or_else(|| panic!("{way}: {table}")).split_whitespace().skip(1);
            assert!(speeds.map(|speed| speed.parse::<f64>().unwrap()).all(|speed| speed > 0.0));
        }
        assert!(fastest.starts_with(&format!("{cache}: ")), "{fastest}");
    }
    // In a file, too.
    let file = folder.path().join("out");
    let to_file = ["--only", "read,pread", "--rounds", "2", "-o", file.to_str().unwrap()];
    assert_eq!(stdout(&run(&[&[path.to_str().unwrap()], &to_file[..]].concat())), "");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains("GB/s by buffer") && text.contains("Fastest "), "{text}");
}

/// They were two columns of one name.
#[test]
fn made_files_of_two_sizes_have_two_tables() {
    let sets = ["--set", "size=64K,128K", "--set", "buffer=4K", "--set", "cache=warm"];
    let text = stdout(&run(&[&["--only", "read,pread", "--rounds", "2"], &sets[..]].concat()));
    for size in ["64K", "128K"] {
        let heads = text.lines().filter(|line| line.starts_with("GB/s by buffer, warm, "));
        let of_size =
            |line: &&str| line.contains(&format!(", {size} made ")) && line.ends_with("  4K");
        assert_eq!(heads.filter(of_size).count(), 1, "{text}");
    }
}

#[test]
fn a_file_in_memory_is_neither_read_cold_nor_past_the_cache() {
    let shm = std::path::Path::new("/dev/shm");
    let is_in_memory = std::fs::File::open(shm)
        .and_then(|folder| fathom_machine::os::cache::is_in_memory(&folder));
    fathom_machine::needs!("/dev/shm in memory", is_in_memory.unwrap_or(false));
    let folder = tempfile::tempdir_in(shm).unwrap();
    let path = folder.path().join("bytes");
    std::fs::write(&path, vec![0xa5; 123_457]).unwrap();
    let path = path.to_str().unwrap();
    let cold = run(&[path, "--set", "cache=cold", "--rounds", "2"]);
    assert!(!cold.status.success() && cold.stdout.is_empty());
    let said = String::from_utf8(cold.stderr).unwrap();
    assert!(said.contains("cannot be put out of memory: its file system is in memory"), "{said}");
    // It ended as if all had been tested.
    let output = run(&[path, "--set", "cache=cold", "--test"]);
    assert_eq!(output.status.code(), Some(1));
    let tested = String::from_utf8(output.stdout).unwrap();
    let said = "not run: the reference does not take part: not here: /dev/shm/";
    assert!(tested.contains(said), "{tested}");
    // Unasked for, it is a case among others.
    let warm = stdout(&run(&[path, "--set", "buffer=4K", "--rounds", "2"]));
    assert!(warm.contains("note: not measured: read sum buffer=4K cache=cold /dev/shm/"), "{warm}");
    for way in ["direct", "direct-ahead"] {
        let why = "does not take part: O_DIRECT is refused here: the file system is in memory";
        assert!(warm.contains(&format!("\n{way}: {why}\n")), "{warm}");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    assert_ne!(run(&["/no/such/file"]).status.code(), Some(0));
    assert_eq!(run(&["--test", "--set", "buffer=5000"]).status.code(), Some(2));
    let lukewarm = run(&["--set", "cache=warm,lukewarm"]);
    assert!(lukewarm.status.code() == Some(2) && lukewarm.stdout.is_empty());
    assert!(String::from_utf8(lukewarm.stderr).unwrap().contains("cache=lukewarm: warm or cold"));
}

#[test]
fn nothing_has_no_speed() {
    let folder = disk();
    let path = folder.path().join("empty");
    std::fs::write(&path, "").unwrap();
    let words =
        ["--only", "read,pread", "--set", "cache=warm", "--set", "buffer=4K", "--rounds", "2"];
    let text = stdout(&run(&[&[path.to_str().unwrap()], &words[..]].concat()));
    assert!(!text.contains("Fastest"), "{text}");
}
