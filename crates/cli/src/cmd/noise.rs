//! `fathom machine --noise`: what this machine can resolve, on both clocks, measured on identical
//! code.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Context;
use fathom_contenders::planted;
use fathom_machine::os::usage;
use fathom_measure::compare::{Clock, judge};
use fathom_measure::result::Case;
use fathom_measure::rounds::{Plan, Stop};
use fathom_report::number::percent;

use crate::cmd::selftest::planted_pair;
use crate::measuring::{bounds, nanoseconds};

/// Measures identical code for about `seconds` of wall time, half of it in registers, half over
/// memory, and says what width of interval came out.
pub(crate) fn text(seconds: f64) -> anyhow::Result<String> {
    let mut text = String::from("noise, measured on identical code:\n");
    let before = usage::disturbance();
    for operation in planted::family().operations().iter().map(|offer| offer.name) {
        let case = measured(operation, Duration::from_secs_f64(seconds / 2.0))?;
        let share = case.judged.disturbed_share;
        let rounds = case.measured.rounds.len();
        let _ = writeln!(
            text,
            "  {operation:<10} {rounds} rounds; {} of the samples disturbed",
            percent(share)
        );
        for clock in [Clock::Wall, Clock::Cpu] {
            let plan = Plan { clock: Some(clock), ..case.plan.clone() };
            let judged = judge(&case.measured, case.roles, &plan);
            let comparison = judged.comparisons.first().context("a contender failed")?;
            let Some(interval) = comparison.interval else {
                let _ = writeln!(text, "    {:<9} too few rounds to say", clock.words());
                continue;
            };
            // Widths of intervals shrink with the root of the time.
            let rounds = case.measured.rounds.iter();
            let received: u64 = rounds.filter_map(|round| round.samples[0].as_ref()?.cpu_ns).sum();
            let at_two_seconds = interval.width() * (received as f64 / 2e9).sqrt();
            let _ = writeln!(
                text,
                "    {:<9} interval {} wide after {:.1} s of processor time; about {} after 2 s",
                clock.words(),
                percent(interval.width()),
                received as f64 / 1e9,
                percent(at_two_seconds)
            );
        }
    }
    if let (Some(before), Some(after)) = (before, usage::disturbance()) {
        let during = after - before;
        let pressure = match during.pressure_us {
            Some(us) => format!("{:.1} s of waiting for a processor", us as f64 / 1e6),
            None => "waiting for a processor unknown".to_owned(),
        };
        let _ = writeln!(
            text,
            "  meanwhile  {:.2} s stolen by the hypervisor, {pressure}",
            during.steal_ticks as f64 / 100.0
        );
    }
    Ok(text)
}

fn measured(operation: &str, wall: Duration) -> anyhow::Result<Case> {
    let plan = Plan {
        stop: Stop::Budget,
        budget_ns: nanoseconds(wall),
        limit_ns: nanoseconds(wall),
        sample_ns: 5_000_000,
        ..Plan::default()
    };
    planted_pair(operation, &["steady", "steady-too"], &plan, bounds(None))
}
