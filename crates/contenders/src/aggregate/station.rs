//! What the stations share: a preset with other choices, run once to see that it can hold the data.

use fathom_aggregate::{Column, format};
use fathom_machine::level::Level;
use fathom_measure::contender::{Contender, Meta, Path, Preparation, Unsupported, timed};
use fathom_measure::digest::Digest;

use super::journey::{Strategy, aggregate};
use super::workload::Text;

/// A preset, known by its name; its variants are other choices.
pub(super) struct Station(pub(super) Meta);

impl Contender<Text> for Station {
    fn meta(&self) -> Meta {
        self.0
    }

    fn prepare<'w>(&self, workload: &'w Text) -> Preparation<'w> {
        prepared(self.0.name, "", workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w Text) -> Preparation<'w> {
        prepared(self.0.name, variant, workload)
    }
}

/// The preset `name`, with the choices `axis=value,…` in place of its own.
fn prepared<'w>(name: &str, choices: &str, workload: &'w Text) -> Preparation<'w> {
    let text = if choices.is_empty() { name.to_owned() } else { format!("{name},{choices}") };
    let mut strategy: Strategy =
        text.parse().map_err(|error| Unsupported(format!("is no strategy: {error}")))?;
    strategy.threads = strategy.threads.or(workload.threads);
    run(workload, &strategy).map_err(Unsupported)?;
    Ok(timed(
        workload,
        move |workload| run(workload, &strategy).expect("it could the first time"),
        |text| Digest::of_bytes(text),
    ))
}

fn run(workload: &Text, strategy: &Strategy) -> Result<Vec<u8>, String> {
    let level = Level::current();
    let groups = aggregate(&workload.path, strategy, level).map_err(|error| error.to_string())?;
    Ok(format::brc(&Column::new("value", groups), &workload.layout))
}

/// The level everything here is compiled for.
pub(super) fn hardware(_: &str) -> Path {
    Path::takes(fathom_aggregate::kernel_level(Level::current()))
}
