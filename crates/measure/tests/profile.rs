//! Zones on the real clock, from several threads: what is certain whatever the machine does.
#![cfg(feature = "profile")]

use std::hint::black_box;

use fathom_measure::profile::{self, Options, Report, zone};

fn spin(rounds: u64) -> u64 {
    (0..rounds).fold(1, |x, i| black_box(x.wrapping_mul(31) ^ i))
}

fn recurse(depth: u32) {
    let _zone = zone!("recurse");
    spin(200);
    if depth > 1 {
        recurse(depth - 1);
    }
}

fn workload() {
    let mut outer = zone!("outer", faults);
    let pages = black_box(vec![1u8; 1 << 20]);
    outer.bytes(pages.len() as u64);
    for _ in 0..50 {
        let _inner = zone!("inner");
        spin(500);
    }
    for _ in 0..5_000 {
        let _tiny = zone!("tiny", sample = 16);
        spin(3);
    }
    recurse(4);
}

fn hits(report: &Report, name: &str) -> u64 {
    report.zones.iter().find(|zone| zone.name == name).map_or(0, |zone| zone.hits)
}

/// One test, since a session is the process's.
#[test]
fn sessions_on_the_real_clock() {
    workload(); // no session: nothing is recorded
    assert_eq!(profile::stop(), Report::default());

    profile::start(Options::default());
    workload();
    let report = profile::stop();
    println!("{}", report.text());
    let names: Vec<&str> = report.zones.iter().map(|zone| zone.name.as_str()).collect();
    assert_eq!(names, ["outer", "inner", "tiny", "recurse"]);
    assert_eq!(
        (hits(&report, "inner"), hits(&report, "tiny"), hits(&report, "recurse")),
        (50, 5_000, 4)
    );
    let outer = &report.zones[0];
    assert!(outer.page_faults.unwrap() > 0);
    assert!(outer.inclusive_ticks <= report.total_ticks);
    assert_eq!(outer.bytes, 1 << 20);
    assert!(report.zones[2].interval.is_some() && report.zones[2].timed < 1_000);
    let sum: f64 = report.stacks.iter().map(|stack| stack.exclusive_ticks).sum();
    assert!((sum / report.total_ticks - 1.0).abs() < 1e-3, "{sum} of {}", report.total_ticks);
    assert!(report.cost_ticks > 0.0 && report.cost.inside_ticks <= report.cost.timed_ticks);
    assert!(report.timer_hz > 1e6);

    // Again, with threads and a trace; nothing of the first session is left.
    profile::start(Options { trace_events: 100 });
    let threads: Vec<_> = (0..3).map(|_| std::thread::spawn(|| recurse(2))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    recurse(1);
    let report = profile::stop();
    assert_eq!(hits(&report, "recurse"), 7);
    assert_eq!(report.zones.len(), 1);
    assert_eq!((report.trace.len(), report.trace_dropped), (7, 0));
    assert!(report.trace().contains("\"ph\":\"X\""));
    assert!(report.folded().contains(";recurse;recurse "));

    // A zone left after its session ended, or entered before it began, is not in it.
    let early = zone!("inner");
    profile::start(Options::default());
    drop(early);
    let late = zone!("outer");
    let report = profile::stop();
    drop(late);
    assert_eq!(hits(&report, "inner"), 0);
    profile::start(Options::default());
    assert!(profile::stop().zones.is_empty());
}
