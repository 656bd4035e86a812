//! Counts work whose counts are known, and prints what was counted: a line of words each.
//!
//! Judges nothing; `cargo xtask counters` does.
//!
//! ```text
//! event NAME ok | event NAME missing REASON…
//! loop N REPEAT INSTRUCTIONS CYCLES            user mode, read through the kernel
//! user N REPEAT INSTRUCTIONS CYCLES            the same, read from the registers
//! register NAME INDEX WIDTH
//! shared NUMBER SHARE ESTIMATE                 many events on few registers
//! samples COUNT LOST INSIDE
//! ```

use std::fs;

use fathom_machine::counter::{Counters, EVENTS, Event, Moment, Sampler, Source};

use crate::kernel;

/// Everything, in the order above.
pub(crate) fn print_all() {
    // Refusals show in what is printed.
    if std::process::id() == 1 {
        let _ = fs::write("/proc/sys/kernel/perf_event_paranoid", "-1");
        let _ = fs::write("/proc/sys/kernel/perf_user_access", "1");
        let _ = fs::write("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
    }
    println!();
    events();
    let pair = [named("instructions"), named("cycles")];
    loops(&pair);
    in_user_space(&pair);
    shared();
    samples();
}

fn named(name: &str) -> Event {
    Event::named(name).expect("a catalogued event").clone()
}

/// Which events open.
fn events() {
    let counters = Counters::of_this_thread(&EVENTS);
    for event in counters.events() {
        println!("event {} ok", event.name);
    }
    for missing in counters.missing() {
        println!("event {} missing {}", missing.event.name, missing.reason);
    }
}

/// What the differences of two moments are, in the order of opening; 0 for what is missing.
fn difference(counters: &Counters, before: &Moment, after: &Moment, names: [&str; 2]) -> [f64; 2] {
    let counts = counters.between(before, after);
    names.map(|name| counts.get(name).unwrap_or(0.0))
}

fn loops(pair: &[Event; 2]) {
    let counters = Counters::in_groups(&[pair.to_vec()]);
    let (mut before, mut after) = (counters.blank(), counters.blank());
    for exponent in 3..=7 {
        let rounds = 10u64.pow(exponent);
        for repeat in 0..5 {
            counters.now_into(&mut before);
            kernel::four_instructions(rounds);
            counters.now_into(&mut after);
            let [instructions, cycles] =
                difference(&counters, &before, &after, ["instructions", "cycles"]);
            println!("loop {rounds} {repeat} {instructions} {cycles}");
        }
    }
}

fn in_user_space(pair: &[Event; 2]) {
    let counters = Counters::in_groups(&[pair.to_vec()]);
    for (name, index, width) in counters.registers() {
        println!("register {name} {index} {width}");
    }
    let (mut before, mut after) = (counters.blank(), counters.blank());
    for exponent in 3..=6 {
        let rounds = 10u64.pow(exponent);
        for repeat in 0..5 {
            let first = counters.now_in_user_space(&mut before);
            kernel::four_instructions(rounds);
            if !(first && counters.now_in_user_space(&mut after)) {
                println!("user {rounds} {repeat} refused");
                continue;
            }
            let [instructions, cycles] =
                difference(&counters, &before, &after, ["instructions", "cycles"]);
            println!("user {rounds} {repeat} {instructions} {cycles}");
        }
    }
}

/// Twelve events, each in a group of its own, on a processor with half as many registers.
fn shared() {
    const ROUNDS: u64 = 20_000_000;
    let groups: Vec<Vec<Event>> = (0..12).map(|_| vec![named("instructions")]).collect();
    let counters = Counters::in_groups(&groups);
    let before = counters.now();
    kernel::four_instructions(ROUNDS);
    let counts = counters.since(&before);
    for (number, count) in counts.counted().iter().enumerate() {
        println!("shared {number} {:.4} {:.0}", count.share(), count.estimate());
    }
}

fn samples() {
    const ROUNDS: u64 = 25_000_000;
    let sampler = match Sampler::start(&named("cycles"), 1_000_000, 8) {
        Ok(sampler) => sampler,
        Err(reason) => return println!("samples refused {reason}"),
    };
    kernel::four_instructions(ROUNDS);
    let samples = sampler.finish();
    let (start, end) = kernel::four_instructions_addresses();
    let inside = samples.addresses.iter().filter(|&&at| at >= start && at < end).count();
    println!("samples {} {} {inside}", samples.addresses.len(), samples.lost);
    assert!(named("cycles").source() == Source::Hardware);
}
