//! `cargo xtask cpp`: builds the C++ runner with Debian's packages, checks every answer of it against the reference, and
//! that `kv` has its structures, too. Judges no time.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::packages::{cache, host_fathom, install, root, run};

/// The libraries the runner offers, and what builds it.
const PACKAGES: &[&str] = &[
    "cmake", "g++", "make", "nlohmann-json3-dev", "libxxhash-dev", "libabsl-dev",
    "libboost1.81-dev", "libcuckoo-dev", "robin-map-dev", "libtsl-hopscotch-map-dev",
    "libsparsehash-dev", "libjudy-dev", "libhat-trie-dev", "libsimdjson-dev",
];

/// How many contenders a whole build offers.
const CONTENDERS: usize = 22;

pub(crate) fn run_all() -> Result<()> {
    install(PACKAGES)?;
    let build = cache().join("cpp");
    let source = root().join("runners/cpp");
    run(Command::new("cmake").arg("-S").arg(source).arg("-B").arg(&build))?;
    run(Command::new("cmake").arg("--build").arg(&build).args(["--parallel", "2"]))?;
    let worker = build.join("fathom-runner-cpp");
    let fathom = host_fathom()?;
    let mut answers = 0;
    let mut names = std::collections::BTreeSet::new();
    for family in ["map", "tree", "trie", "haversine", "text"] {
        let text = test(&fathom, family, &worker)?;
        for line in text.lines() {
            let Some((name, word)) = line.trim().split_once(' ') else { continue };
            if name.starts_with("cpp-") {
                names.insert(name.to_owned());
                answers += usize::from(word.trim() == "ok");
            }
        }
    }
    ensure!(names.len() >= CONTENDERS, "only {} contenders: {names:?}", names.len());
    take_part_in_kv(&fathom, &worker)?;
    let written = compile_written(&worker)?;
    println!("ok: {written} structures are written as programs can write them");
    println!("ok: {answers} answers of {} C++ contenders agree with the reference", names.len());
    Ok(())
}

/// `kv` finds the runner by itself, and gives it the keys in the form that it asks for.
fn take_part_in_kv(fathom: &Path, worker: &Path) -> Result<()> {
    let folder = cache().join("cpp-kv");
    let place = folder.join("runners/cpp/build");
    fs::create_dir_all(&place)?;
    fs::copy(worker, place.join("fathom-runner-cpp"))?;
    // Eight bytes each, so that they are integers, too.
    let words: Vec<String> = (0..1000).map(|number| format!("{number:07}\n")).collect();
    fs::write(folder.join("words"), words.concat())?;
    for format in ["lines", "u64"] {
        let mut command = Command::new(fathom);
        let words =
            ["kv", "bench", "words", "-F", format, "-d", "cpp-robin-map,std", "-h", "xxh3-64"];
        command.current_dir(&folder).args(words);
        command.args(["--operation", "find-hit", "--rounds", "2", "--format", "json"]);
        let run: serde_json::Value = serde_json::from_slice(&run(&mut command)?.stdout)?;
        let mut cases = run["cases"].as_array().context("cases")?.iter();
        let case = cases.find(|case| case["workload"]["operation"] == "find-hit");
        let case = case.context("no finds")?;
        let rows = case["contenders"].as_array().context("contenders")?;
        let at =
            rows.iter().position(|row| row["id"].as_str().is_some_and(|id| id.starts_with("cpp-")));
        let failure = &case["measured"]["failures"][at.context("no C++ structure in kv")?];
        ensure!(failure.is_null(), "kv, {format}: {failure}");
    }
    Ok(())
}

/// Compiles what the worker says of how its structures are written, for integers and for strings.
fn compile_written(worker: &Path) -> Result<usize> {
    let mut child = Command::new(worker).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("its input is a pipe")?;
    writeln!(input, r#"{{"ask":"hello","protocol":1}}"#)?;
    drop(input);
    let answer = child.wait_with_output()?.stdout;
    let answer: serde_json::Value = serde_json::from_slice(&answer)?;
    let offered = answer["contenders"].as_array().context("it offers contenders")?;
    let mut count = 0;
    for one in offered.iter().filter(|one| one["family"] != "haversine" && one["family"] != "text")
    {
        let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
        let (name, lines) = (text("name"), [text("manifest"), text("code")].join("\n"));
        ensure!(lines.contains("using Map = "), "{name} does not say how it is written");
        for key in ["std::uint64_t", "std::string_view"] {
            let lines = lines.replace("<K, V", &format!("<{key}, std::uint64_t"));
            let program = format!("{lines}\nint main() {{ [[maybe_unused]] Map map{{}}; }}\n");
            let mut compiler = Command::new("g++");
            compiler.args(["-std=c++20", "-fsyntax-only", "-x", "c++", "-"]);
            let mut child = compiler.stdin(Stdio::piped()).spawn()?;
            child.stdin.take().context("its input is a pipe")?.write_all(program.as_bytes())?;
            ensure!(child.wait()?.success(), "{name} as written does not compile:\n{program}");
        }
        count += 1;
    }
    Ok(count)
}

fn test(fathom: &Path, family: &str, worker: &Path) -> Result<String> {
    let mut command = Command::new(fathom);
    command.args(["bench", family, "--test", "--only", "cpp-*", "--worker"]).arg(worker);
    let output = run(&mut command).with_context(|| format!("fathom bench {family}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
