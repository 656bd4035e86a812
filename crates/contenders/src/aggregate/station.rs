//! What the stations share: a preset with other choices, run once to see that it can hold the data.

use std::fs::File;

use fathom_aggregate::strategy::{Strategy, aggregate};
use fathom_aggregate::{Progress, Source, format};
use fathom_machine::level::Level;
use fathom_measure::contender::{Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;

use super::workload::Text;

/// The preset `name`, with the choices `axis=value,…` in place of its own.
pub(super) fn prepared<'w>(name: &str, choices: &str, workload: &'w Text) -> Preparation<'w> {
    let text = if choices.is_empty() { name.to_owned() } else { format!("{name},{choices}") };
    let mut strategy: Strategy =
        text.parse().map_err(|error| Unsupported(format!("is no strategy: {error}")))?;
    strategy.threads = strategy.threads.or(workload.threads);
    run(workload, &strategy).map_err(Unsupported)?;
    Ok(timed(
        workload,
        move |workload| run(workload, &strategy).expect("it could the first time"),
        |text| Digest::of_bytes(&text),
    ))
}

fn run(workload: &Text, strategy: &Strategy) -> Result<Vec<u8>, String> {
    let path = workload.path.clone();
    let opened = File::open(&path).and_then(|file| file.metadata().map(|data| (file, data.len())));
    let (file, size) = opened.map_err(|error| format!("{}: {error}", path.display()))?;
    let level = Level::current();
    let sources = vec![Source::File { path, file, size }];
    let summary = aggregate(sources, strategy, level, &Progress::default());
    let summary = summary.map_err(|error| error.to_string())?;
    Ok(format::brc(&summary.columns[0], &workload.layout))
}

/// The level everything here is compiled for.
pub(super) fn hardware() -> String {
    fathom_aggregate::kernel_level(Level::current()).to_string()
}
