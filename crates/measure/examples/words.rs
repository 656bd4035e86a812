//! A program of your own with zones: `cargo run --release -p fathom-measure --features profile --example
//! words -- [FILE]` counts the words of a text on two threads and says where its time went.
//!
//! Named zones, the bytes each worked on and so its bandwidth, zones within zones, one that is entered
//! for every word, several threads. Without the feature the same program runs and the zones are gone.

use std::collections::HashMap;

use fathom_measure::profile::{self, Options, zone};

type Counts = HashMap<String, u64>;

fn main() -> std::io::Result<()> {
    profile::start(Options::default());
    let text = read()?;
    let mut words: Vec<(String, u64)> = {
        let mut zone = zone!("count");
        zone.bytes(text.len() as u64);
        counted(&text).into_iter().collect()
    };
    {
        let _zone = zone!("sort");
        words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let report = profile::stop();
    for (word, count) in words.iter().take(3) {
        println!("{count:>9} {word}");
    }
    // Also `report.json()`, `.folded()` for flame graphs, `.trace()` for Perfetto.
    print!("{}", report.text());
    Ok(())
}

/// The file that is named, or a text made up.
fn read() -> std::io::Result<String> {
    // Page faults are counted too: what is read for the first time is given memory here.
    let mut zone = zone!("read", faults);
    let text = match std::env::args_os().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => {
            "the owl and the pussycat went to sea in a beautiful pea green boat\n".repeat(50_000)
        }
    };
    zone.bytes(text.len() as u64);
    Ok(text)
}

/// Two threads, a half each; what each of them did is a tree of its own.
fn counted(text: &str) -> Counts {
    let middle = text[..text.len() / 2].rfind('\n').map_or(0, |at| at + 1);
    let (first, second) = text.split_at(middle);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(second));
        let mut counts = half(first);
        let other = other.join().expect("counting does not panic");
        let _zone = zone!("merge");
        other.into_iter().for_each(|(word, count)| *counts.entry(word).or_default() += count);
        counts
    })
}

fn half(text: &str) -> Counts {
    let mut zone = zone!("half");
    zone.bytes(text.len() as u64);
    let mut counts = Counts::new();
    for word in text.split_whitespace() {
        // Some nanoseconds, millions of times: always counted, timed once in 64.
        let mut zone = zone!("word", sample = 64);
        zone.bytes(word.len() as u64);
        match counts.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(counts.insert(word.to_owned(), 1)),
        }
    }
    counts
}
