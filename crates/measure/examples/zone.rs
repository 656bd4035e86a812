//! What a zone and each clock cost on this machine: `cargo run --release --example zone
//! -p fathom-measure --features profile`.
//!
//! Prints the cheapest of several batches, which a busy machine can only raise, and how far the
//! exclusive times of a nested program are from adding up.

use std::hint::black_box;

use fathom_machine::clock::{self, Clock};
use fathom_measure::profile::{self, Options, zone};

const BATCHES: usize = 200;
const ENTRIES: u64 = 10_000;

fn cheapest(mut batch: impl FnMut()) -> f64 {
    let mut best = u64::MAX;
    for _ in 0..BATCHES {
        let start = clock::ticks();
        batch();
        best = best.min(clock::ticks() - start);
    }
    clock::rate().ns(best) / ENTRIES as f64
}

fn nested(depth: u32) -> u64 {
    let _zone = zone!("nested");
    let own = (0..100).fold(u64::from(depth), |x, i| black_box(x ^ i));
    if depth == 0 { own } else { own ^ nested(depth - 1) }
}

fn main() {
    clock::start();
    let off = cheapest(|| (0..ENTRIES).for_each(|_| drop(black_box(zone!("off")))));
    profile::start(Options::default());
    let timed = cheapest(|| (0..ENTRIES).for_each(|_| drop(black_box(zone!("timed")))));
    let counted =
        cheapest(|| (0..ENTRIES).for_each(|_| drop(black_box(zone!("counted", sample = 64)))));
    let report = profile::stop();
    println!("zone, no session        {off:.2} ns");
    println!("zone, timed             {timed:.2} ns");
    println!("zone, timed 1 in 64     {counted:.2} ns");
    let inside = report.cost.inside_ticks / report.timer_hz * 1e9;
    let calibrated = report.cost.timed_ticks / report.timer_hz * 1e9;
    println!("calibrated              {calibrated:.2} ns, of which {inside:.2} ns inside");

    profile::start(Options::default());
    for _ in 0..20_000 {
        black_box(nested(5));
    }
    let report = profile::stop();
    let sum: f64 = report.stacks.iter().map(|stack| stack.exclusive_ticks).sum();
    print!("{}", report.text());
    println!("exclusive times are off by {:.6} %", (sum / report.total_ticks - 1.0) * 100.0);

    for clock in Clock::ALL {
        let precision = clock.precision();
        println!(
            "{:<18} {:>8.1} ns a read, step {:.1} ns",
            clock.name(),
            precision.cost_ns,
            precision.step_ns
        );
    }
    let rate = clock::rate();
    let (name, invariant) = clock::cycle_register();
    println!(
        "{name} {:.3} MHz (+-{:.1} ppm), invariant: {invariant}",
        rate.hz / 1e6,
        rate.error_ppm
    );
}
