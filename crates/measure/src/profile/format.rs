//! A profile in the forms people and tools read: text, JSON, folded stacks, trace.
//!
//! Formatting only: every number comes from the [`Report`].

use std::fmt::Write;

use serde_json::json;

use super::report::{Report, ZoneReport};

impl Report {
    /// The flat table, in the form the haversine notes print: a header, then for each zone its hits,
    /// exclusive ticks and share, the share with children where that differs, and, for zones that
    /// said how many bytes they saw, MiB and GiB per second of inclusive time (printed `mb`, `gb/s`).
    /// What that form has no place for follows each line or closes the table.
    pub fn text(&self) -> String {
        let mut out = format!(
            "\nTotal time: {:.4}ms (timer freq {:.0})\n",
            self.seconds(self.total_ticks) * 1e3,
            self.timer_hz
        );
        for zone in &self.zones {
            self.line(&mut out, zone);
        }
        self.remarks(&mut out);
        out
    }

    fn line(&self, out: &mut String, zone: &ZoneReport) {
        let share = |ticks: f64| {
            if self.total_ticks > 0.0 { ticks / self.total_ticks * 100.0 } else { 0.0 }
        };
        let own = share(zone.exclusive_ticks);
        write!(out, "  {}[{}]: {:.0} ({own:.2}%", zone.name, zone.hits, zone.exclusive_ticks)
            .unwrap();
        // Differences below a tick are arithmetic, not children.
        if zone.inclusive_ticks - zone.exclusive_ticks >= 1.0 {
            write!(out, ", {:.2}% w/children", share(zone.inclusive_ticks)).unwrap();
        }
        out.push(')');
        let seconds = self.seconds(zone.inclusive_ticks);
        if zone.bytes > 0 {
            let megabytes = zone.bytes as f64 / f64::from(1 << 20);
            write!(out, "  {megabytes:.3}mb").unwrap();
            if seconds > 0.0 {
                write!(out, " at {:.2}gb/s", megabytes / 1024.0 / seconds).unwrap();
            }
        }
        if let Some(faults) = zone.page_faults {
            write!(out, "  PF: {faults}").unwrap();
            if faults > 0 && zone.bytes > 0 {
                write!(out, " ({:.4}k/fault)", zone.bytes as f64 / 1024.0 / faults as f64).unwrap();
            }
        }
        if let Some(interval) = zone.interval {
            if interval.ticks.is_finite() && zone.inclusive_ticks > 0.0 {
                let percent = interval.ticks / zone.inclusive_ticks * 100.0;
                write!(out, "  +-{percent:.1}% (timed {} of them)", zone.timed).unwrap();
            } else {
                write!(out, "  (timed {} of them: too few to say)", zone.timed).unwrap();
            }
        }
        out.push('\n');
    }

    fn remarks(&self, out: &mut String) {
        let elapsed = self.elapsed_ticks as f64;
        if self.cost_ticks > 0.0 && elapsed > 0.0 {
            let (ticks, percent) = (self.cost_ticks, self.cost_ticks / elapsed * 100.0);
            let ns = self.seconds(self.cost.timed_ticks) * 1e9;
            writeln!(
                out,
                "Instrument cost: {ticks:.0} ticks ({percent:.2}% of elapsed time), subtracted; {ns:.1} ns a zone"
            )
            .unwrap();
        }
        if self.page_faults > 0 {
            writeln!(out, "Page faults: {}", self.page_faults).unwrap();
        }
        if self.threads > 1 {
            let threads = self.threads;
            writeln!(out, "Threads: {threads}; shares are of elapsed time and may add up to more")
                .unwrap();
        }
        if self.lost > 0 {
            writeln!(out, "Not recorded: {} entries of stacks too many", self.lost).unwrap();
        }
    }

    /// Everything, as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report holds numbers and strings only")
    }

    /// Folded stacks, a line per chain of zones with its exclusive nanoseconds: the input of
    /// flame-graph tools. Time outside of any zone is the line `thread N`.
    pub fn folded(&self) -> String {
        let mut out = String::new();
        for stack in &self.stacks {
            let ns = (self.seconds(stack.exclusive_ticks) * 1e9).round();
            if ns > 0.0 {
                write!(out, "thread {}", stack.thread).unwrap();
                for name in &stack.names {
                    // The separator cannot be escaped in this format.
                    write!(out, ";{}", name.replace(';', ",")).unwrap();
                }
                writeln!(out, " {ns:.0}").unwrap();
            }
        }
        out
    }

    /// The kept entries in Chrome's trace-event format, which Perfetto opens; uncorrected times, as
    /// they happened. Empty of events unless the session was started with room for them.
    pub fn trace(&self) -> String {
        let micros = |ticks: u64| self.seconds(ticks as f64) * 1e6;
        let mut events: Vec<serde_json::Value> = (0..self.threads)
            .map(|thread| {
                json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": thread,
                       "args": {"name": format!("thread {thread}")}})
            })
            .collect();
        events.extend(self.trace.iter().map(|event| {
            json!({"ph": "X", "name": event.name, "cat": "zone", "pid": 1, "tid": event.thread,
                   "ts": micros(event.start_ticks), "dur": micros(event.ticks)})
        }));
        json!({
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": {"dropped": self.trace_dropped, "timer_hz": self.timer_hz},
        })
        .to_string()
    }

    fn seconds(&self, ticks: f64) -> f64 {
        if self.timer_hz > 0.0 { ticks / self.timer_hz } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::{Interval, Stack, TraceEvent};
    use super::*;

    fn decode() -> ZoneReport {
        ZoneReport {
            name: "decode".to_owned(),
            hits: 2_048,
            timed: 2_048,
            exclusive_ticks: 250_000_000.0,
            inclusive_ticks: 800_000_000.0,
            bytes: 536_870_912,
            ..ZoneReport::default()
        }
    }

    fn report() -> Report {
        Report {
            timer_hz: 2e9,
            elapsed_ticks: 2_000_000_000,
            total_ticks: 2e9,
            threads: 1,
            zones: vec![decode()],
            ..Report::default()
        }
    }

    #[test]
    fn text_is_as_the_notes_print_it() {
        assert_eq!(
            report().text(),
            "\nTotal time: 1000.0000ms (timer freq 2000000000)\n  \
             decode[2048]: 250000000 (12.50%, 40.00% w/children)  512.000mb at 1.25gb/s\n"
        );
        let leaf = ZoneReport { inclusive_ticks: 250_000_000.0, bytes: 0, ..decode() };
        let text = Report { zones: vec![leaf], ..report() }.text();
        assert!(text.ends_with("\n  decode[2048]: 250000000 (12.50%)\n"), "{text}");
    }

    #[test]
    fn what_the_notes_had_no_place_for_follows() {
        let zone = ZoneReport {
            page_faults: Some(131_072),
            interval: Some(Interval { ticks: 8_000_000.0 }),
            timed: 32,
            ..decode()
        };
        let text = Report { zones: vec![zone], cost_ticks: 2e7, threads: 2, ..report() }.text();
        assert!(
            text.contains("gb/s  PF: 131072 (4.0000k/fault)  +-1.0% (timed 32 of them)\n"),
            "{text}"
        );
        assert!(text.contains("Instrument cost: 20000000 ticks (1.00% of elapsed time)"), "{text}");
        assert!(text.contains("Threads: 2"), "{text}");
    }

    #[test]
    fn nothing_recorded_is_no_division_by_zero() {
        let empty = Report::default();
        assert_eq!(empty.text(), "\nTotal time: 0.0000ms (timer freq 0)\n");
        assert_eq!(empty.folded(), String::new());
        let still = Report { zones: vec![decode()], ..Report::default() };
        assert!(!still.text().contains("inf") && !still.text().contains("NaN"));
    }

    fn stacked() -> Report {
        let stack = |names: &[&str], exclusive: f64, inclusive: f64| Stack {
            thread: 0,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            hits: 3,
            exclusive_ticks: exclusive,
            inclusive_ticks: inclusive,
        };
        Report {
            stacks: vec![
                stack(&[], 1e9, 2e9),
                stack(&["read"], 0.0, 1e9),
                stack(&["read", "parse;it"], 1e9, 1e9),
            ],
            ..report()
        }
    }

    #[test]
    fn stacks_fold_with_exclusive_time() {
        assert_eq!(stacked().folded(), "thread 0 500000000\nthread 0;read;parse,it 500000000\n");
    }

    #[test]
    fn machine_readable_forms_hold_the_same_numbers() {
        let event =
            TraceEvent { name: "decode".to_owned(), thread: 0, start_ticks: 2_000, ticks: 500 };
        let report = Report { trace: vec![event], trace_dropped: 4, ..report() };
        let trace: serde_json::Value = serde_json::from_str(&report.trace()).unwrap();
        let event = &trace["traceEvents"][1];
        assert_eq!((event["ts"].as_f64(), event["dur"].as_f64()), (Some(1.0), Some(0.25)));
        assert_eq!(event["ph"], "X");
        assert_eq!(trace["otherData"]["dropped"], 4);
        let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!(json["zones"][0]["exclusive_ticks"], 250_000_000.0);
    }
}
