//! `fathom machine`: this computer, as it is stored beside every result.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use fathom_machine::counter::{Counters, EVENTS, Event, Source, explain, metric};
use fathom_machine::describe::Machine;

use crate::cmd::noise;
use crate::exit::Exit;
use crate::output;

/// Describe this computer: system, processor, caches, memory, limits, instruction levels, timers
///
/// What the kernel, a container or a board does not tell is shown as unknown, in JSON as null.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Instead: which events can be counted here, which not and why, and the metric groups
    #[arg(long)]
    counters: bool,
    /// With --counters: also the groups and raw events of this file (its form: docs/counters.md)
    #[arg(long, value_name = "FILE", requires = "counters", conflicts_with = "noise")]
    groups: Option<PathBuf>,

    /// Also measure what this machine can resolve, on both clocks, for so many seconds (10 without a number; text only)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "10",
          value_parser = clap::value_parser!(u32).range(1..=3600),
          conflicts_with_all = ["format", "counters"])]
    noise: Option<u32>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs: every field, feature bits and all
    Json,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<Exit> {
    if options.counters {
        output::print(counters(options)?)?;
        return Ok(Exit::Done);
    }
    let machine = Machine::here();
    let text = match options.format {
        Format::Text => {
            let noise = options.noise.map(|seconds| noise::text(f64::from(seconds)));
            output::fitted(
                &(machine.text() + &noise.transpose()?.unwrap_or_default()),
                output::LABEL,
            )
        }
        Format::Json => serde_json::to_string_pretty(&machine)? + "\n",
    };
    output::print(text)?;
    Ok(Exit::Done)
}

fn counters(options: &Options) -> anyhow::Result<String> {
    let mut groups = metric::built_in();
    if let Some(path) = &options.groups {
        let name = path.display();
        let text = fs::read_to_string(path).with_context(|| name.to_string())?;
        groups.extend(metric::parse(&text, &groups).with_context(|| name.to_string())?);
    }
    let mut events = EVENTS.to_vec();
    for event in groups.iter().flat_map(|group| &group.events) {
        if !events.contains(event) {
            events.push(event.clone());
        }
    }
    let counters = Counters::of_this_thread(&events);
    Ok(match options.format {
        Format::Text => counters_text(&events, &groups, &counters),
        Format::Json => {
            serde_json::to_string_pretty(&counters_json(&events, &groups, &counters))? + "\n"
        }
    })
}

fn is_counted(event: &Event, counters: &Counters) -> bool {
    counters.events().any(|other| other == event)
}

fn counters_text(events: &[Event], groups: &[metric::Group], counters: &Counters) -> String {
    let mut out = String::new();
    for source in [Source::Hardware, Source::Software] {
        for event in events.iter().filter(|event| event.source() == source) {
            let state = if is_counted(event, counters) { source.name() } else { "n/a" };
            writeln!(out, "{:<24} {state:<9} {}", event.name, event.meaning)
                .expect("a string grows");
        }
    }
    let events = output::fitted(&out, 35);
    let mut out = String::from("\n");
    for group in groups {
        let has_all = group.events.iter().all(|event| is_counted(event, counters));
        let metrics: Vec<String> = group
            .metrics
            .iter()
            .map(|m| format!("{} {}", m.name, m.unit).trim().to_owned())
            .collect();
        let state = if has_all { "" } else { " (not all of it here)" };
        writeln!(out, "group {:<10} {}{state}", group.name, metrics.join(", "))
            .expect("a string grows");
    }
    let groups = output::fitted(&out, 17);
    let why = explain(counters.missing()).into_iter();
    let why: String = why.map(|line| output::fitted(&format!("\n{line}\n"), 0)).collect();
    events + &groups + &why
}

fn counters_json(
    events: &[Event],
    groups: &[metric::Group],
    counters: &Counters,
) -> serde_json::Value {
    let registers = counters.registers();
    let event = |event: &Event| {
        let missing = counters.missing().iter().find(|missing| missing.event == *event);
        serde_json::json!({
            "name": event.name,
            "meaning": event.meaning,
            "source": event.source().name(),
            "counted": missing.is_none(),
            "reason": missing.map(|missing| missing.reason.to_string()),
            "user_space": registers.iter().any(|(name, _, _)| *name == event.name),
        })
    };
    let group = |group: &metric::Group| {
        let metric = |m: &metric::Metric| serde_json::json!({"name": m.name, "unit": m.unit});
        serde_json::json!({
            "name": group.name,
            "events": group.events.iter().map(|event| &event.name).collect::<Vec<_>>(),
            "metrics": group.metrics.iter().map(metric).collect::<Vec<_>>(),
        })
    };
    serde_json::json!({
        "events": events.iter().map(event).collect::<Vec<_>>(),
        "groups": groups.iter().map(group).collect::<Vec<_>>(),
    })
}
