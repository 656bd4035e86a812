//! Tables made for their keys, as the code they are written as: compiled, and run on their own tests.
#![cfg(feature = "kv")]

use std::path::Path;
use std::process::Command;

use fathom_contenders::kv::special::{Module, module};
use fathom_keys::{Format, KeySet, Keys, Span, read};

fn byte_strings(keys: impl IntoIterator<Item = String>) -> KeySet<'static> {
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for key in keys {
        spans.push(Span { start: bytes.len() as u64, len: key.len() as u32 });
        bytes.extend(key.into_bytes());
    }
    KeySet { bytes: bytes.into(), keys: Keys::Bytes(spans), values: None }
}

fn integers(keys: impl IntoIterator<Item = u64>) -> KeySet<'static> {
    let keys = Keys::Integers(keys.into_iter().collect());
    KeySet { bytes: Vec::new().into(), keys, values: None }
}

/// Kinds of keys by name, and what is said of them.
fn kinds() -> Vec<(&'static str, KeySet<'static>, &'static str)> {
    let url = |n: u64| {
        format!("https://example.com/{}/{}", n * 7919 % 10_007, "path/".repeat(n as usize % 17))
    };
    let twice = (0..400).chain(0..200).map(|n| format!("key {n}"));
    let uuids = (0..5000_u64).map(|n| format!("{:036x}", n * n * n));
    let many_urls = (0..70_000).map(|n| url(n) + &n.to_string());
    let dense = (1000..9000_u64).filter(|n| n % 97 != 3);
    let grid = (0..200_u64).map(|n| ((n / 100) << 56) | ((n / 10 % 10) << 32) | (n % 10));
    let pins = (0..1000).map(|n| format!("{n:03}"));
    vec![
        ("one", byte_strings(["alone".to_owned()]), "keys of 5 bytes in slots of 1 word;"),
        ("twice", byte_strings(twice), "keys of 5 to 7 bytes in slots of 1 word;"),
        ("urls", byte_strings((0..300).map(url)), "% of them beside; the 8 bytes from byte"),
        ("uuids", byte_strings(uuids), "keys of 36 bytes in slots of 5"),
        ("many-urls", byte_strings(many_urls), "% of them beside"),
        ("few", integers((0..100).map(|n| n * n * n)), "integers, a multiplication sends each"),
        ("squares", integers((0..40_000).map(|n| n * n)), "integers, a multiplication sends each"),
        ("dense", integers(dense), "integers from 1000 on with hardly a gap"),
        // Whatever one changes of a single bit that is looked at is another one.
        ("grid", integers(grid), "integers"),
        // Nothing that the tests looked for was absent.
        (
            "closed",
            integers((0..16).map(|n| {
                let bits = [!0, 1, 1 << 32, 1 << 56];
                (0..4).filter(|bit| n >> bit & 1 == 1).fold(0, |key, bit| key ^ bits[bit])
            })),
            "integers",
        ),
        // What differs from one in a bit is another one.
        ("pins", byte_strings(pins), "keys of 3 bytes in slots of 1"),
    ]
}

fn written(folder: &Path, keys: &KeySet<'_>) -> Module {
    let module = module(keys, true).unwrap();
    for (name, bytes) in &module.files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    module
}

/// Compiles with these words and runs what came of it.
fn tested(folder: &Path, compiler: &str, words: &[&str], run: &[&str]) -> String {
    let compiled = Command::new(compiler).args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
    let output = Command::new(folder.join("tests")).args(run).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text.into_owned()
}

#[test]
fn a_module_in_rust_passes_its_own_tests() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    for (number, (name, keys, found)) in kinds().into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let module = written(folder.path(), &keys);
        assert!(module.found.contains(found), "{name}: {}", module.found);
        let edition = if number % 2 == 0 { "--edition=2021" } else { "--edition=2024" };
        let words = [edition, "--test", "-Dwarnings", "-Copt-level=1", "table.rs", "-o", "tests"];
        let text = tested(folder.path(), &rustc, &words, &[]);
        assert!(text.contains("3 passed"), "{name}: {text}");
    }
}

/// Of pairs, the values of the file are what is found; of equal keys the last one's.
#[test]
fn a_module_of_pairs_finds_the_values_of_the_file() {
    let key = |n: u64| format!("key {}", n % 90);
    let pairs = |values: &dyn Fn(u64) -> Vec<u8>| {
        let mut keys = byte_strings((0..100).map(key));
        let mut bytes = keys.bytes.into_owned();
        let span = |n| {
            let (start, value) = (bytes.len() as u64, values(n));
            bytes.extend(&value);
            Span { start, len: value.len() as u32 }
        };
        keys.values = Some((0..100).map(span).collect());
        KeySet { bytes: bytes.into(), ..keys }
    };
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let text = |module: &Module| String::from_utf8(module.files[0].1.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let whole = written(folder.path(), &pairs(&|n| (7 + 1_000_003 * n).to_le_bytes().into()));
    assert!(text(&whole).contains("The value of a key is the one in the file, of"));
    for number in [10, 99] {
        let value = format!(", value: {} }}", 7 + 1_000_003 * number);
        assert_eq!(text(&whole).matches(&value).count(), 1, "{value}");
    }
    assert!(!text(&whole).contains(", value: 7 }"), "that key has another value further on");
    let words = ["--edition=2024", "--test", "-Dwarnings", "table.rs", "-o", "tests"];
    assert!(tested(folder.path(), &rustc, &words, &[]).contains("3 passed"));
    let short = module(&pairs(&|n| n.to_string().into_bytes()), true).unwrap();
    assert!(text(&short).contains("its number in the file, from 0 (not all values there have 8"));
    assert!(text(&short).contains(", value: 99 }"));
}

#[test]
fn one_of_anything_is_singular_and_nothing_beside_is_not_told() {
    for keys in [vec!["a"], vec!["a", "b"], vec!["a", "bc"], vec!["", "b"], vec!["b"; 3]] {
        let module = module(&byte_strings(keys.iter().map(|&key| key.to_owned())), true).unwrap();
        let about = String::from_utf8(module.files[0].1.clone()).unwrap();
        let about = about.split("#!").next().unwrap();
        for wrong in ["1 bytes", "1 words", "1 keys", "0.0 %"] {
            assert!(!module.found.contains(wrong) && !about.contains(wrong), "{about}");
        }
    }
}

/// A wrong table is seen by the tests that stand beside it.
#[test]
fn the_tests_of_a_module_see_a_value_and_a_key_that_changed() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &integers((0..100).map(|n| n * n * n)));
    let path = folder.path().join("table.rs");
    let right = std::fs::read_to_string(&path).unwrap();
    for (from, to) in
        [("{ key: [1000], value: 10 }", "{ key: [1000], value: 11 }"), ("[1000]", "[1001]")]
    {
        assert_eq!(right.matches(from).count(), 1, "{from}");
        std::fs::write(&path, right.replace(from, to)).unwrap();
        let words = ["--edition=2021", "--test", "table.rs", "-o", "tests"];
        let compiled =
            Command::new(&rustc).args(words).current_dir(folder.path()).output().unwrap();
        assert!(compiled.status.success());
        let run = Command::new(folder.path().join("tests")).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        let value = "every_key_has_its_value_one_by_one_and_in_batches ... FAILED";
        assert!(text.contains(value), "{text}");
        assert!(text.contains("the_table_is_the_one_that_was_measured ... FAILED"), "{text}");
    }
}

#[test]
#[ignore = "needs the C++ compiler g++"]
fn a_header_passes_its_own_tests_once_a_compiler_has_it() {
    for (name, keys, _) in kinds() {
        let folder = tempfile::tempdir().unwrap();
        written(folder.path(), &keys);
        let words = [
            "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined",
            "-fno-sanitize-recover", "tests.cpp", "-o", "tests",
        ];
        let text = tested(folder.path(), "g++", &words, &["keys.bin"]);
        assert!(text.starts_with("ok: "), "{name}: {text}");
    }
}

/// Both had the same names for other constants, of which the linker took one.
#[test]
#[ignore = "needs the C++ compiler g++"]
fn to_a_compiler_two_headers_are_two_tables() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let mut names = Vec::new();
    for (name, keys) in [("a", 0..100), ("b", 1000..8000)] {
        let module = module(&byte_strings(keys.map(|n| format!("{name}{}", n * n))), true).unwrap();
        let header = String::from_utf8(module.files[1].1.clone()).unwrap();
        let (_, own) = header.split_once("inline namespace ").unwrap();
        names.push(own.split_once(' ').unwrap().0.to_owned());
        write(&format!("{name}.hpp"), &header);
        let pairs = &module.files.iter().find(|(name, _)| *name == "keys.bin").unwrap().1;
        std::fs::write(folder.path().join(format!("{name}.bin")), pairs).unwrap();
        let tests = String::from_utf8(module.files[2].1.clone()).unwrap();
        let tests = tests.replace("table.hpp", &format!("{name}.hpp"));
        write(&format!("{name}.cpp"), &tests.replace("int main(", &format!("void {name}(")));
    }
    let both = format!(
        "#include \"a.hpp\"\n#include \"b.hpp\"\nvoid a(int, char **);\nvoid b(int, char **);\nint main(int, char **words) {{\n\
         static_assert(sizeof(table::{}::Slot) + sizeof(table::{}::Slot) > 0);\na(2, words);\nb(2, words + 1);\n}}\n",
        names[0], names[1]
    );
    write("main.cpp", &both);
    let words =
        ["-std=c++17", "-O1", "-Wall", "-Wextra", "a.cpp", "b.cpp", "main.cpp", "-o", "tests"];
    let text = tested(folder.path(), "g++", &words, &["a.bin", "b.bin"]);
    assert!(text.contains("ok: 100 keys") && text.contains("ok: 7000 keys"), "{text}");
}

#[test]
fn the_pairs_beside_it_are_the_keys_each_once_with_the_last_number() {
    let module = module(&byte_strings(["b", "a", "b", "c"].map(str::to_owned)), true).unwrap();
    let (_, bytes) = module.files.iter().find(|(name, _)| *name == "keys.bin").unwrap();
    let pairs = read(bytes, &Format::BinSliceKv).unwrap();
    let all: Vec<(Vec<u8>, Vec<u8>)> =
        (0..pairs.len()).map(|at| (pairs.key(at).into_owned(), pairs.value(at).to_vec())).collect();
    let pair = |key: &str, value: u64| (key.as_bytes().to_vec(), value.to_le_bytes().to_vec());
    assert_eq!(all, [pair("a", 1), pair("b", 2), pair("c", 3)]);
}

#[test]
fn the_same_keys_are_written_the_same_and_none_are_refused() {
    for (name, keys, _) in kinds().into_iter().take(4) {
        let [once, again] = [(); 2].map(|()| module(&keys, true).unwrap());
        assert!(once.files == again.files, "{name}");
    }
    assert!(module(&integers([]), true).err().unwrap().contains("for 1 to"));
}
