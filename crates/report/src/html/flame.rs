//! A profile on a page: a flame graph by thread and zone, and the zones with their bandwidths.

use std::fmt::Write;

use fathom_measure::profile::{Report, Stack, ZoneReport};

use super::page::{self, Cell};
use super::plot;
use crate::escape::html as escaped;
use crate::number::{bytes, bytes_per_second, duration, percent, plural};

/// A row of the graph, in pixels.
const ROW: f64 = 24.0;

/// A zone of a smaller share of the width has no room for its name.
const LEAST_NAMED: f64 = 0.04;

/// The page of a profile; `command` is what was profiled.
#[must_use]
pub fn page(report: &Report, command: &str) -> String {
    let total = seconds(report, report.total_ticks);
    let mut zones: Vec<&ZoneReport> = report.zones.iter().collect();
    zones.sort_by(|a, b| b.exclusive_ticks.total_cmp(&a.exclusive_ticks));
    let headline = match zones.first() {
        Some(zone) => format!(
            "{} takes most: {} of its own{}, in a run of {}",
            zone.name,
            duration(seconds(report, zone.exclusive_ticks) * 1e9),
            if report.threads > 1 { " over all threads" } else { "" },
            duration(total * 1e9)
        ),
        None => "No zone was entered".to_owned(),
    };
    let body = format!(
        "<section>\n{}{}</section>\n<section>\n<h2>Zones</h2>\n{}{}</section>\n",
        graph(report),
        "<p class=\"soft small\">Zones of the same name have the same colour.</p>\n",
        table(report, &zones),
        page::list(&remarks(report))
    );
    let (title, kicker) = (format!("profile of {command}"), format!("profile · {command}"));
    page::plain(title, kicker, headline, body)
}

fn seconds(report: &Report, ticks: f64) -> f64 {
    if report.timer_hz > 0.0 { ticks / report.timer_hz } else { 0.0 }
}

/// A place in the graph: its chain, and the shares of the width where it begins and how long it is.
struct Place<'a> {
    stack: &'a Stack,
    from: f64,
    share: f64,
}

/// Every stack as long as its inclusive time, below the one that contains it.
fn places(report: &Report, thread: usize) -> Vec<Place<'_>> {
    let stacks: Vec<&Stack> = report.stacks.iter().filter(|stack| stack.thread == thread).collect();
    let Some(root) = stacks.iter().find(|stack| stack.names.is_empty()) else { return Vec::new() };
    let whole = root.inclusive_ticks.max(1.0);
    let mut places: Vec<Place<'_>> = vec![Place { stack: root, from: 0.0, share: 1.0 }];
    // Parents come before children: each child begins where the one before it ends.
    let mut ends: Vec<f64> = vec![0.0];
    for stack in stacks.iter().filter(|stack| !stack.names.is_empty()) {
        let parent = &stack.names[..stack.names.len() - 1];
        let Some(at) = places.iter().position(|place| place.stack.names == parent) else {
            continue;
        };
        let from = ends[at];
        let left = places[at].from + places[at].share - from;
        let share = (stack.inclusive_ticks / whole).min(left).max(0.0);
        ends[at] = from + share;
        places.push(Place { stack, from, share });
        ends.push(from);
    }
    places
}

fn graph(report: &Report) -> String {
    let mut html = String::new();
    for thread in 0..report.threads {
        let places = places(report, thread);
        let depth = places.iter().map(|place| place.stack.names.len()).max().unwrap_or(0);
        let mut marks = String::new();
        for Place { stack, from, share } in &places {
            let name = stack.names.last().map_or_else(|| format!("thread {thread}"), Clone::clone);
            let zone = report.zones.iter().position(|zone| zone.name == name);
            let inclusive = duration(seconds(report, stack.inclusive_ticks) * 1e9);
            let own = duration(seconds(report, stack.exclusive_ticks) * 1e9);
            let y = stack.names.len() as f64 * ROW;
            let label = if *share < LEAST_NAMED { "" } else { name.as_str() };
            let _ = write!(
                marks,
                "<svg class=\"cut\" x=\"{:.2}%\" y=\"{y}\" width=\"{:.2}%\" height=\"{}\"><g {}\">\
                 <rect class=\"{}\" width=\"100%\" height=\"100%\" rx=\"2\"/><text x=\"4\" y=\"15\">{}</text>\
                 <title>{}</title></g></svg>",
                from * 100.0,
                (share * 100.0).max(0.1),
                ROW - 2.0,
                plot::series(zone.unwrap_or(report.zones.len())),
                if zone.is_some() { "zone" } else { "b" },
                escaped(label),
                escaped(&format!(
                    "{name}: {inclusive}, {own} of it its own, entered {} times",
                    stack.hits
                )),
            );
        }
        let said = format!(
            "Flame graph of thread {thread}: {}; the table below has their times",
            // The first is the thread itself.
            plural(places.len().saturating_sub(1), "zone")
        );
        html += &plot::drawing((depth + 1) as f64 * ROW, &said, &marks);
        html += "<p></p>\n";
    }
    plot::figure(
        "Each zone below the one that entered it, as wide as its time with what it entered; point at one for its figures",
        &html,
    )
}

fn table(report: &Report, zones: &[&ZoneReport]) -> String {
    let head = [
        "zone", "entered", "own time", "share", "", "with children", "bytes", "bandwidth",
        "page faults",
    ];
    let most = zones.first().map_or(1.0, |zone| zone.exclusive_ticks.max(1.0));
    let row = |zone: &&ZoneReport| {
        let inclusive = seconds(report, zone.inclusive_ticks);
        let number = report.zones.iter().position(|other| other.name == zone.name).unwrap_or(0);
        let interval = match zone.interval {
            Some(i) if i.ticks.is_finite() && zone.inclusive_ticks > 0.0 => {
                format!(" ±{}", percent(i.ticks / zone.inclusive_ticks))
            }
            _ => String::new(),
        };
        let (seen, rate) = match zone.bytes {
            0 => (String::new(), String::new()),
            seen if inclusive > 0.0 => {
                (bytes(seen as f64), bytes_per_second(seen as f64 / inclusive))
            }
            seen => (bytes(seen as f64), String::new()),
        };
        vec![
            Cell::name(&zone.name),
            Cell::number(&zone.hits.to_string()),
            Cell::number(&duration(seconds(report, zone.exclusive_ticks) * 1e9)),
            Cell::number(&percent(zone.exclusive_ticks / report.total_ticks.max(1.0))),
            Cell::drawing(plot::bar(number, zone.exclusive_ticks / most, None)),
            Cell::number(&format!("{}{interval}", duration(inclusive * 1e9))),
            Cell::number(&seen),
            Cell::number(&rate),
            Cell::number(&zone.page_faults.map_or_else(String::new, |faults| faults.to_string())),
        ]
    };
    page::table("Zones", &head.map(str::to_owned), &zones.iter().map(row).collect::<Vec<_>>())
}

fn remarks(report: &Report) -> Vec<String> {
    let mut said = Vec::new();
    if report.cost_ticks > 0.0 && report.elapsed_ticks > 0 {
        said.push(format!(
            "The zones themselves cost {} of the elapsed time, which is subtracted",
            percent(report.cost_ticks / report.elapsed_ticks as f64)
        ));
    }
    if report.threads > 1 {
        said.push(format!(
            "{} threads: shares are of elapsed time and may add up to more",
            report.threads
        ));
    }
    if report.lost > 0 {
        said.push(format!("Not recorded: {} entries of stacks too many", report.lost));
    }
    said
}
