//! What exact quantiles and numbers of different values cost per record, and what estimates of them do.
//!
//! Five million records of 10^3 and of 10^6 keys with response times (lognormal, in thousandths), one thread, from memory;
//! each is run twice, the faster time counts. The text of the result is part of the time.
//!
//!     cargo run --release -p fathom-aggregate --example estimates -- [KEYS…]

use std::fmt::Write;
use std::io::Cursor;
use std::time::Instant;

use fathom_aggregate::format::{self, Layout, Statistic};
use fathom_aggregate::{Approx, Error, OnError, Options, Progress, Source, aggregate};
use fathom_random::Random;

const RECORDS: usize = 5_000_000;

fn main() -> Result<(), Error> {
    let asked: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    for keys in if asked.is_empty() { vec![1000, 1_000_000] } else { asked } {
        let text = records(keys);
        for word in ["mean", "p99", "distinct"] {
            for approx in [None, Some(Approx::Percent)] {
                let times = [(); 2].map(|()| run(&text, word, approx));
                let times = times.into_iter().collect::<Result<Vec<f64>, Error>>()?;
                let best = times.iter().copied().fold(f64::INFINITY, f64::min);
                let shown = approx.map_or("exact".to_owned(), |approx| format!("{approx:?}"));
                println!("{keys:>8} keys  {word:<8}  {shown:<7}  {best:6.0} ns");
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
fn run(text: &[u8], word: &str, approx: Option<Approx>) -> Result<f64, Error> {
    let statistics: Vec<Statistic> = Statistic::named(word).into_iter().collect();
    let options = Options { threads: 1, approx, ..Options::default() }.for_statistics(&statistics);
    let reader = Box::new(Cursor::new(text.to_vec()));
    let source = Source::Stream { path: "records".into(), reader };
    let start = Instant::now();
    let summary = aggregate(vec![source], &options, OnError::Fail, &Progress::default())?;
    let layout = Layout { statistics, errors: approx.is_some(), threads: 1, ..Layout::default() };
    assert!(!format::csv(&summary.columns, &layout).is_empty());
    Ok(start.elapsed().as_nanos() as f64 / RECORDS as f64)
}
