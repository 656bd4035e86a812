//! The five acts.

use std::fs;
use std::io;

use anyhow::Context;
use fathom_machine::os::ward::is_stopping;
use fathom_measure::result::Run;

use super::stage::Stage;
use super::words;
use crate::output;

pub(super) struct Act {
    pub(super) title: &'static str,
    pub(super) play: fn(&mut Stage) -> anyhow::Result<()>,
}

pub(super) const ACTS: [Act; 5] = [
    Act { title: "the same command twice", play: twice },
    Act { title: "a file of measurements, and what else this machine has for it", play: rivals },
    Act { title: "quick, and wrong", play: wrong },
    Act { title: "a map for words of this machine", play: map },
    Act { title: "the page", play: page },
];

/// The run of the second act, for the fifth.
const SAVED: &str = "rivals.json";

/// Runs of each, one command after the other, as a harness of means has them.
const RUNS: usize = 12;

fn twice(stage: &mut Stage) -> anyhow::Result<()> {
    stage.quietly(&["generate", "measurements", "--rows", "50k", "--output", "small.txt"])?;
    let line = "fathom aggregate small.txt";
    let mut means = [(0.0, 0.0); 2];
    stage.timed(line)?;
    for mean in &mut means {
        let times = (0..RUNS).map(|_| stage.timed(line)).collect::<anyhow::Result<Vec<f64>>>()?;
        *mean = mean_and_deviation(&times);
    }
    let [first, second] =
        means.map(|(mean, deviation)| format!("{:.2} ms ± {:.2}", mean * 1e3, deviation * 1e3));
    let ratio = means[0].0 / means[1].0;
    let (name, ratio) = if ratio < 1.0 { ("first", 1.0 / ratio) } else { ("second", ratio) };
    let said = format!(
        "A harness that runs one {RUNS} times, then the other, and compares means: {first}, {second}, \
         so the {name} is {ratio:.2} times faster.\n"
    );
    output::print(output::fitted(&said, 0))?;
    let words = ["run", "-N", "--clock", "wall", "--budget", "1s", "--names", "first,second"];
    stage.fathom(&[&words[..], &[line, line]].concat())
}

/// Mean and standard deviation of at least two times.
fn mean_and_deviation(times: &[f64]) -> (f64, f64) {
    let count = times.len() as f64;
    let mean = times.iter().sum::<f64>() / count;
    let square = |time: &f64| (time - mean).powi(2);
    (mean, (times.iter().map(square).sum::<f64>() / (count - 1.0)).sqrt())
}

/// Least, greatest and number by name, as programs of other makers find them.
const RIVALS: [(&str, &str); 3] = [
    ("awk", "awk -f extremes.awk measurements.txt"),
    (
        "mlr",
        "mlr --icsv --ocsv --ifs ';' --implicit-csv-header --headerless-csv-output stats1 -a \
         min,max,count -f 2 -g 1 measurements.txt",
    ),
    (
        "duckdb",
        "duckdb -csv -noheader -c \"select column0, min(column1), max(column1), count(*) from \
         read_csv('measurements.txt', delim=';', header=false) group by 1\"",
    ),
];

/// The obvious program.
const EXTREMES: &str = r#"BEGIN { FS = ";" }
!($1 in n) { low[$1] = high[$1] = $2 }
{ n[$1]++ }
$2 < low[$1] { low[$1] = $2 }
$2 > high[$1] { high[$1] = $2 }
END { for (city in n) printf "%s,%.1f,%.1f,%d\n", city, low[city], high[city], n[city] | "LC_ALL=C sort" }
"#;

/// Rows to choose from, how long a run of a rival may take, in seconds, and how many are a verdict: of a
/// machine that is busy, more.
const ROWS: [(&str, f64); 5] =
    [("10M", 1e7), ("3M", 3e6), ("1M", 1e6), ("300k", 3e5), ("100k", 1e5)];
const PATIENCE: f64 = 0.12;
const TURNS: [&str; 3] = ["32", "64", "128"];

fn rivals(stage: &mut Stage) -> anyhow::Result<()> {
    fs::write(stage.file("extremes.awk"), EXTREMES)?;
    stage.fathom(&["generate", "measurements", "--rows", "10M", "--output", "measurements.txt"])?;
    let seconds = stage.timed("fathom aggregate measurements.txt")?;
    output::print(format!(
        "fathom aggregate measurements.txt: ten million rows in {seconds:.3} s\n"
    ))?;
    // On few rows it shows how many each can do in the time.
    measurements(stage, "100k")?;
    let (mut here, mut failed) = (Vec::new(), String::new());
    for (name, line) in RIVALS.into_iter().filter(|(name, _)| stage.has(name)) {
        match stage.timed(line) {
            Ok(seconds) => here.push((seconds, name, line)),
            Err(error) if is_stopping() => return Err(error),
            // Another program of this name, or one that is too old.
            Err(_) => failed += &format!("; {name} fails"),
        }
    }
    here.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The quickest of them is asked however long it takes.
    let quick = here.iter().take_while(|(seconds, ..)| *seconds <= PATIENCE).count().max(1);
    let slow = here.split_off(quick.min(here.len()));
    let slow = slow.iter().map(|(seconds, name, _)| {
        format!("; {name} takes {seconds:.2} s for 100k, too long for a demo")
    });
    let left_out = slow.collect::<String>() + &failed;
    let Some((slowest, ..)) = here.last() else {
        let names = RIVALS.map(|(name, _)| name).join(", ");
        let said = format!("Nothing to compare it with: none of {names} runs here{left_out}.\n");
        return output::print(output::fitted(&said, 0) + "\n");
    };
    let fits = |(_, rows): &&(&str, f64)| slowest * rows / 1e5 <= PATIENCE;
    let rows = ROWS.iter().find(fits).unwrap_or(&ROWS[ROWS.len() - 1]);
    if rows.1 < 1e7 {
        let said = format!("{} rows for the others, which take longer{left_out}:\n", rows.0);
        output::print(output::fitted(&said, 0))?;
    }
    measurements(stage, rows.0)?;
    let names: Vec<&str> = std::iter::once("fathom").chain(here.iter().map(|one| one.1)).collect();
    let names = names.join(",");
    let ours = "fathom aggregate --format csv --stats min,max,count measurements.txt";
    let words = |runs| {
        let words =
            ["run", "-N", "--runs", runs, "--clock", "wall", "--names", &names, "--save", SAVED];
        words.into_iter().chain([ours]).chain(here.iter().map(|(_, _, line)| *line)).collect()
    };
    let is_decided = |run: &Run| {
        let all = run.cases.iter().flat_map(|case| &case.judged.comparisons);
        all.into_iter().all(|one| one.verdict.is_called())
    };
    stage.decided(&TURNS, words, SAVED, is_decided)
}

/// So many rows in the file that all acts read.
fn measurements(stage: &Stage, rows: &str) -> anyhow::Result<()> {
    stage.quietly(&["generate", "measurements", "--rows", rows, "--output", "measurements.txt"])
}

fn wrong(stage: &mut Stage) -> anyhow::Result<()> {
    if !stage.has("awk") {
        return output::print("This act needs awk, which is not here.\n\n");
    }
    stage
        .quietly(&["generate", "measurements", "--rows", "50k", "--output", "measurements.txt"])?;
    fs::write(stage.file("extremes.awk"), EXTREMES)?;
    // Whoever forgets the first value compares with nothing, which is 0.
    let hasty: Vec<&str> = EXTREMES.lines().filter(|line| !line.starts_with('!')).collect();
    fs::write(stage.file("hasty.awk"), hasty.join("\n"))?;
    let second = second(EXTREMES);
    output::print(format!("hasty.awk is extremes.awk without its second line: {second}\n"))?;
    let lines = ["awk -f extremes.awk measurements.txt", "awk -f hasty.awk measurements.txt"];
    if let Err(error) = stage.timed(lines[0]) {
        anyhow::ensure!(!is_stopping(), error);
        return output::print("This act needs an awk that works.\n\n");
    }
    let names = "extremes,hasty";
    let words =
        ["run", "-N", "--clock", "cpu", "--budget", "0.7s", "--same-output", "--names", names];
    stage.fathom(&[&words[..], &lines].concat())
}

fn second(text: &str) -> &str {
    text.lines().nth(1).unwrap_or_default()
}

fn map(stage: &mut Stage) -> anyhow::Result<()> {
    match words::of_this_machine() {
        Some((words, source)) => {
            output::print(format!("words.txt: {source}\n"))?;
            fs::write(stage.file("words.txt"), words)?;
        }
        None => stage.fathom(&[
            "generate", "keys", "--count", "50k", "--keys", "words", "--output", "words.txt",
        ])?,
    }
    #[cfg(feature = "kv")]
    {
        let words = |budget| {
            let line = "kv words.txt -F lines --brief -d std,hashbrown,btreemap -h foldhash,ahash,siphash13 \
                        --save words.json --budget";
            line.split_whitespace().chain([budget]).collect()
        };
        stage.decided(&["3s", "6s", "12s"], words, "words.json", crate::cmd::kv::is_proved)?;
        output::print("\n")
    }
    #[cfg(not(feature = "kv"))]
    output::print("This build has no kv.\n")
}

fn page(stage: &mut Stage) -> anyhow::Result<()> {
    if !stage.file(SAVED).exists() {
        let lines = ["fathom machine", "fathom list"];
        let words = ["run", "-N", "--budget", "1s", "--save", SAVED, lines[0], lines[1]];
        stage.quietly(&[&words[..], &["--format", "csv", "--report", "table.csv"]].concat())?;
    }
    let page = tempfile::Builder::new().prefix("fathom-demo-").suffix(".html").tempfile();
    let (_, path) =
        page.and_then(|page| page.keep().map_err(io::Error::from)).context("the page")?;
    let path = path.to_str().context("the temporary folder's name is not UTF-8")?;
    stage.fathom(&["report", SAVED, "--format", "html", "--output", path])?;
    output::print(format!("written: {path}\n"))
}
