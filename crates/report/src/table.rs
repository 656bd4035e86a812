//! The table of a case, whatever it is written in: which columns, what stands in them.

use fathom_measure::result::{Case, Row};

use crate::number::{TimeUnit, bytes, percent, quantity};
use crate::view::{Line, lines, own_rate, rate};

/// How results are shown.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Escape sequences for colour.
    pub colour: bool,
    /// The columns between contender and verdict; the usual ones if there are none.
    pub columns: Vec<Column>,
    /// The unit of all times in tables; `None` lets each have its own.
    pub unit: Option<TimeUnit>,
    /// Rows as they were given, instead of the fastest first.
    pub as_given: bool,
    /// The characters of a line on a terminal: sentences are wrapped, and of the usual columns those that say
    /// least are left out. Nothing of either in a file or pipe, where `None`.
    pub width: Option<usize>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Median time per iteration.
    Time,
    /// The same as a bar, where there is room.
    Bar,
    /// Median absolute deviation as a share of the median.
    Spread,
    /// The least time.
    Min,
    /// 95 % took no longer.
    P95,
    /// Bytes or items per second.
    Throughput,
    /// Processor time outside of the kernel: mean.
    User,
    /// Processor time in the kernel: mean.
    System,
    /// Most memory ever resident.
    Peak,
    /// Page faults: mean.
    Faults,
    /// Context switches: mean.
    Switches,
    /// Event counters and numbers beside time.
    Counters,
}

impl Column {
    /// All, with their names.
    pub const ALL: [(&'static str, Column); 12] = [
        ("time", Column::Time),
        ("bar", Column::Bar),
        ("spread", Column::Spread),
        ("min", Column::Min),
        ("p95", Column::P95),
        ("throughput", Column::Throughput),
        ("user", Column::User),
        ("system", Column::System),
        ("peak", Column::Peak),
        ("faults", Column::Faults),
        ("switches", Column::Switches),
        ("counters", Column::Counters),
    ];

    /// The column of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Column> {
        Column::ALL.iter().find(|column| column.0 == name).map(|column| column.1)
    }

    /// How early a usual column is left out where there is no room: the greatest first.
    fn rank(self) -> u8 {
        match self {
            Column::Time => 0,
            Column::Spread => 1,
            Column::Throughput => 2,
            Column::Peak => 3,
            Column::Bar => 4,
            _ => 5,
        }
    }

    fn name(self) -> &'static str {
        Column::ALL.iter().find(|column| column.1 == self).map_or("", |column| column.0)
    }
}

/// A table: every cell a text, numbers to the right.
pub(crate) struct Table<'a> {
    /// Head and rows; the first column is the contender, the last one the verdict.
    pub(crate) rows: Vec<Vec<String>>,
    /// Whether each column stands at the left.
    pub(crate) left: Vec<bool>,
    /// How early each column is left out where there is no room: 0 never, the greatest first.
    pub(crate) ranks: Vec<u8>,
    /// The rows, without the head.
    pub(crate) lines: Vec<Line<'a>>,
}

/// The table of a case in the columns that were chosen, or in `usual` ones; without those of the latter in which
/// nobody has anything.
pub(crate) fn table<'a>(case: &'a Case, look: &Look, usual: &[Column]) -> Table<'a> {
    let mut lines = lines(case);
    if look.as_given {
        lines.sort_by_key(|line| line.number);
    }
    let columns = if look.columns.is_empty() { usual } else { &look.columns };
    let slowest = lines.iter().filter_map(|l| l.summary).map(|s| s.ns_median).fold(0.0, f64::max);
    let mut head = vec!["contender".to_owned()];
    let mut ranks = vec![0];
    for &column in columns {
        match column {
            Column::Bar => head.push(String::new()),
            Column::Counters => head.extend(extras(case)),
            column => head.push(column.name().to_owned()),
        }
        ranks.resize(head.len(), if look.columns.is_empty() { column.rank() } else { 0 });
    }
    ranks.push(0);
    head.push(format!("against {}", case.contenders[case.roles.baseline].id));
    let mut rows = vec![head];
    for line in &lines {
        let mut row = vec![line.row.id.clone()];
        for &column in columns {
            row.extend(cells(case, line, column, look, slowest));
        }
        row.push(line.last_word());
        rows.push(row);
    }
    let bars: Vec<bool> = rows[0].iter().map(String::is_empty).collect();
    let is_used = |column: &usize| {
        !look.columns.is_empty() || rows.iter().skip(1).any(|row| !row[*column].is_empty())
    };
    let used: Vec<usize> = (0..rows[0].len()).filter(is_used).collect();
    let kept = |row: &Vec<String>| used.iter().map(|&column| row[column].clone()).collect();
    let last = rows[0].len() - 1;
    let left = used.iter().map(|&column| column == 0 || column == last || bars[column]).collect();
    let ranks = used.iter().map(|&column| ranks[column]).collect();
    Table { rows: rows.iter().map(kept).collect(), left, ranks, lines }
}

/// What a contender has in a column: one cell, or one for each counter that anybody has.
fn cells(case: &Case, line: &Line<'_>, column: Column, look: &Look, slowest: f64) -> Vec<String> {
    if column == Column::Counters {
        let value = |name: &String| extras_of(case, line.row).find(|extra| extra.0 == *name);
        let shown = |name| value(name).map_or_else(String::new, |(_, value)| quantity(value));
        return extras(case).iter().map(shown).collect();
    }
    let Some(s) = line.summary else { return vec![String::new()] };
    let time = |ns: f64| TimeUnit::shown(look.unit, ns);
    let of_usage = |of: &dyn Fn(fathom_measure::compare::Usage) -> Option<String>| {
        case.judged.usage[line.number].and_then(of).unwrap_or_default()
    };
    vec![match column {
        Column::Time => time(s.ns_median),
        Column::Bar => bar(s.ns_median / slowest),
        // One sample has none.
        Column::Spread if s.samples < 2 => String::new(),
        Column::Spread => format!("±{}", percent(s.ns_mad / s.ns_median)),
        Column::Min => time(s.ns_min),
        Column::P95 => time(s.ns_p95),
        Column::Throughput => rate(case, line.row, s.ns_median),
        Column::User => of_usage(&|u| u.ns_user.map(time)),
        Column::System => of_usage(&|u| u.ns_system.map(time)),
        Column::Peak if line.row.peak_bytes == 0 => String::new(),
        Column::Peak => bytes(line.row.peak_bytes as f64),
        Column::Faults => of_usage(&|u| Some(quantity(u.minor_faults + u.major_faults))),
        Column::Switches => {
            of_usage(&|u| Some(quantity(u.voluntary_switches + u.involuntary_switches)))
        }
        Column::Counters => unreachable!("has cells of its own"),
    }]
}

/// The counters and metrics of a row, by the name of their column, without the throughput; counters per item, where
/// an iteration works through several.
fn extras_of<'a>(case: &Case, row: &'a Row) -> impl Iterator<Item = (String, f64)> + use<'a> {
    let items = case.work.items.max(1);
    let unit = if items > 1 { "/item" } else { "" };
    let counters = row.counters.iter().map(move |counter| {
        let source = if counter.source == "simulated" { " (simulated)" } else { "" };
        (format!("{}{unit}{source}", counter.event), counter.per_iteration / items as f64)
    });
    let shown = own_rate(case, row).map(|(name, _)| name);
    let metrics = row.metrics.iter().filter(move |metric| Some(&*metric.name) != shown);
    counters.chain(metrics.map(|metric| (metric.name.clone(), metric.value)))
}

/// The columns of counters and metrics that anybody has, in the order in which they first come up; a single one,
/// which is empty, where nobody has any.
fn extras(case: &Case) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in case.entrants().flat_map(|(_, row)| extras_of(case, row)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        names.push("counters".to_owned());
    }
    names
}

/// Width of a bar, in characters.
const BAR: usize = 20;

/// A bar of eighths of a character.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let parts = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(parts[eighths % 8 - 1]);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        assert_eq!(bar(1.0).chars().count(), BAR);
        assert_eq!(bar(0.5), "█".repeat(10));
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(1.0 / 160.0), "▏");
    }
}
