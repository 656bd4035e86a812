//! `cargo xtask agree`: the figures of `fathom bench` beside those of `openssl speed` and `xxhsum -b`, on
//! the rows they share, in turn. Judges the median difference of each row against five percent.
//!
//! Like is compared with like: the same library, on buffers of the same size in the first caches, by
//! the wall clock. `openssl speed` looks a digest up once, goes on with one message for ever, or begins
//! each with its key (GCM), so ours do (`openssl-fetched`, `form=stream`, `form=keyed`); its figure is a
//! mean over a second, ours a median. `xxhsum`
//! tells its fastest pass, so ours is the fastest sample. Not part of `.ci/run`: figures of a shared
//! machine fail nobody's change.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

use crate::packages::{install, run};
use crate::record::built;

/// How far the median difference may be from nothing.
const MOST: f64 = 0.05;

/// `openssl speed -evp NAME`, and the family that has it here.
const OPENSSL: &[(&str, &str)] = &[
    ("aes-128-ctr", "cipher"),
    ("aes-256-ctr", "cipher"),
    ("aes-128-cfb", "cipher"),
    ("aes-128-ofb", "cipher"),
    ("aes-128-gcm", "cipher"),
    ("aes-256-gcm", "cipher"),
    ("chacha20-poly1305", "cipher"),
    ("md5", "digest"),
    ("sha1", "digest"),
    ("sha256", "digest"),
    ("sha512", "digest"),
    ("sha3-256", "digest"),
];

/// `xxhsum -bNUMBER`, and the operation here.
const XXHSUM: &[(&str, &str)] = &[("1", "xxhash32"), ("5", "xxh3")];

/// Runs every pair `turns` times.
pub(crate) fn run_all(turns: u32, fathom: Option<PathBuf>, only: &[String]) -> Result<()> {
    install(&["openssl", "xxhash"])?;
    let fathom = match fathom {
        Some(fathom) => fathom,
        None => built()?.join("fathom"),
    };
    let is_wanted = |name: &str| only.is_empty() || only.iter().any(|wanted| wanted == name);
    let openssl: Vec<_> = OPENSSL.iter().filter(|(name, _)| is_wanted(name)).collect();
    let xxhsum: Vec<_> = XXHSUM.iter().filter(|(_, name)| is_wanted(name)).collect();
    let mut rows: Vec<(&str, Vec<[f64; 2]>)> = Vec::new();
    rows.extend(openssl.iter().map(|(name, _)| (*name, Vec::new())));
    rows.extend(xxhsum.iter().map(|(_, name)| (*name, Vec::new())));
    let is_there = |wanted: &&String| rows.iter().any(|(name, _)| *name == wanted.as_str());
    if let Some(name) = only.iter().find(|wanted| !is_there(wanted)) {
        bail!("there is no row {name}");
    }
    for turn in 0..turns {
        let mut at = 0;
        let mut pair = |theirs: &dyn Fn() -> Result<f64>, ours: &dyn Fn() -> Result<f64>| {
            // Each goes first every other turn.
            let both = match turn % 2 {
                0 => [theirs()?, ours()?],
                _ => {
                    let ours = ours()?;
                    [theirs()?, ours]
                }
            };
            rows[at].1.push(both);
            at += 1;
            anyhow::Ok(())
        };
        for (name, family) in &openssl {
            pair(&|| openssl_speed(name), &|| bench(&fathom, family, name, Pick::Median))?;
        }
        for (number, name) in &xxhsum {
            let theirs = || xxhsum_bench(number);
            pair(&theirs, &|| bench(&fathom, "checksum", name, Pick::Fastest))?;
        }
    }
    let mut apart = 0;
    println!("{:<18} {:>12} {:>12}  difference (each turn)", "GB/s", "theirs", "fathom");
    for (name, pairs) in &rows {
        let differences: Vec<f64> =
            pairs.iter().map(|[theirs, ours]| ours / theirs - 1.0).collect();
        let of = |side: usize| median(pairs.iter().map(|pair| pair[side] / 1e9).collect());
        let each: Vec<String> = differences.iter().map(|d| format!("{:+.1}", 100.0 * d)).collect();
        let difference = median(differences);
        let is_apart = difference.abs() > MOST;
        apart += usize::from(is_apart);
        println!(
            "{name:<18} {:>12.3} {:>12.3}  {:+.1} % ({}){}",
            of(0),
            of(1),
            100.0 * difference,
            each.join(", "),
            if is_apart { "  apart" } else { "" }
        );
    }
    ensure!(apart == 0, "{apart} of {} rows differ by more than {:.0} %", rows.len(), 100.0 * MOST);
    Ok(())
}

/// Bytes per second of 8 KiB buffers.
fn openssl_speed(name: &str) -> Result<f64> {
    let mut command = Command::new("openssl");
    command.args(["speed", "-elapsed", "-mr", "-seconds", "1", "-bytes", "8192", "-evp", name]);
    let text = text(&run(&mut command).with_context(|| format!("openssl speed -evp {name}"))?);
    // `+F:number:NAME:bytes per second`
    let line = text.lines().rev().find(|line| line.starts_with("+F:"));
    number(line.and_then(|line| line.rsplit(':').next()), &text)
}

/// Bytes per second of 100 KiB buffers.
fn xxhsum_bench(number_of_row: &str) -> Result<f64> {
    let mut command = Command::new("xxhsum");
    command.args(["-q", "-i3"]).arg(format!("-b{number_of_row}"));
    let output = run(&mut command).context("xxhsum -b")?;
    // ` 1#XXH32 : 102400 -> 72039 it/s ( 7035.0 MB/s)`; carriage returns separate the passes.
    let text = text(&output) + &String::from_utf8_lossy(&output.stderr);
    let line = text.split(['\r', '\n']).rfind(|line| line.contains("it/s"));
    let passes = line.and_then(|line| line.split("->").nth(1)?.split_whitespace().next());
    Ok(102_400.0 * number(passes, &text)?)
}

/// Which of our figures is like theirs.
#[derive(Clone, Copy)]
enum Pick {
    Median,
    Fastest,
}

/// Bytes per second of the same row here.
fn bench(fathom: &Path, family: &str, name: &str, pick: Pick) -> Result<f64> {
    let (parameters, contender): (&[&str], &str) = match family {
        // Of GCM, openssl speed begins each message with its key; of the others it never ends one.
        "cipher" if name.ends_with("gcm") => (&["-p", "size=8K", "-p", "form=keyed"], "openssl"),
        "cipher" => (&["-p", "size=8K", "-p", "form=stream"], "openssl"),
        "digest" => (&["-p", "size=8K"], "openssl-fetched"),
        _ => (&["-p", "size=100K"], "xxhash-c"),
    };
    let mut command = Command::new(fathom);
    command.args(["bench", family, "--operation", name, "--only", contender]).args(parameters);
    command.args(["--clock", "wall", "--budget", "700ms", "--format", "csv"]);
    let output = run(&mut command).with_context(|| format!("fathom bench {family} {name}"))?;
    let text = text(&output);
    // family,workload,contender,version,samples,ns_min,ns_median,…,bytes at number 9
    let is_ours = |line: &&str| line.split(',').nth(2) == Some(contender);
    let fields: Vec<&str> =
        text.lines().find(is_ours).map_or_else(Vec::new, |line| line.split(',').collect());
    let ns = match pick {
        Pick::Fastest => fields.get(5),
        Pick::Median => fields.get(6),
    };
    Ok(number(fields.get(9).copied(), &text)? * 1e9 / number(ns.copied(), &text)?)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn number(text: Option<&str>, all: &str) -> Result<f64> {
    let number = text.and_then(|text| text.trim().parse().ok());
    number.with_context(|| format!("no figure in\n{all}"))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() % 2 {
        1 => numbers[middle],
        _ => (numbers[middle - 1] + numbers[middle]) / 2.0,
    }
}
