//! What exact quantiles and numbers of different values cost per record, and what estimates of them do.
//!
//! Ten million records of 10^3 and of 10^6 keys with response times (lognormal, in thousandths), one thread, from memory;
//! each is run three times, the fastest counts. The text of the result is part of the time.
//!
//!     cargo run --release -p fathom-aggregate --example estimates

use std::fmt::Write;
use std::io::Cursor;
use std::time::Instant;

use fathom_aggregate::format::{self, Layout, Statistic};
use fathom_aggregate::{Approx, Error, OnError, Options, Progress, Source, aggregate};
use fathom_random::Random;

const RECORDS: usize = 10_000_000;

fn main() -> Result<(), Error> {
    for keys in [1000, 1_000_000] {
        let text = records(keys);
        for words in [&["mean"][..], &["p99"], &["distinct"], &["p50", "p99", "distinct"]] {
            for approx in [None, Some(Approx::Percent), Some(Approx::Tenth)] {
                let times = [(); 3].map(|()| run(&text, words, approx));
                let times = times.into_iter().collect::<Result<Vec<f64>, Error>>()?;
                let best = times.iter().copied().fold(f64::INFINITY, f64::min);
                let shown = approx.map_or("exact".to_owned(), |approx| format!("{approx:?}"));
                println!("{keys:>8} keys  {:<18}  {shown:<8}  {best:6.1} ns", words.join(","));
            }
        }
    }
    Ok(())
}

/// Lines `key;value` from a seed.
fn records(keys: u64) -> Vec<u8> {
    let (mut random, mut text) = (Random::new(1), String::new());
    for _ in 0..RECORDS {
        // The sum of twelve is nearly normal, with a deviation of one.
        let normal = (0..12).map(|_| random.fraction()).sum::<f64>() - 6.0;
        let value = (5.0 + 1.5 * normal).exp();
        let _ = writeln!(text, "key{};{value:.3}", random.below(keys));
    }
    text.into_bytes()
}

/// Nanoseconds per record.
fn run(text: &[u8], words: &[&str], approx: Option<Approx>) -> Result<f64, Error> {
    let statistics: Vec<Statistic> =
        words.iter().filter_map(|word| Statistic::named(word)).collect();
    let options = Options { threads: 1, approx, ..Options::default() }.for_statistics(&statistics);
    let reader = Box::new(Cursor::new(text.to_vec()));
    let source = Source::Stream { path: "records".into(), reader };
    let start = Instant::now();
    let summary = aggregate(vec![source], &options, OnError::Fail, &Progress::default())?;
    let layout = Layout { statistics, errors: approx.is_some(), threads: 1, ..Layout::default() };
    assert!(!format::csv(&summary.columns, &layout).is_empty());
    Ok(start.elapsed().as_nanos() as f64 / RECORDS as f64)
}
