//! Results that are written a piece after the other, as they are merged: from disk, and those of the tables of threads.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use fathom_aggregate::format::{self, Criterion, Streamed};
use fathom_aggregate::{Layout, Spill, Summary};

use super::{Digest, Format, Options, statistics, tell_twin};
use crate::input;
use crate::output::Output;

/// Where what outgrows the memory limit is written, if that was asked for.
pub(super) fn spill(options: &Options) -> Option<Spill> {
    let folder = options.spill.clone()?;
    let totals = needs_total(options);
    Some(Spill { folder, create: unnamed, totals, least_bytes: Spill::LEAST_BYTES })
}

/// A file without a name; of a folder that is none it is said without one, too.
fn unnamed(folder: &Path) -> io::Result<File> {
    match fs::metadata(folder)?.is_dir() {
        true => tempfile::tempfile_in(folder),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// What is wrong with how it was asked for.
pub(super) fn mistake(options: &Options, format: Format) -> Option<&'static str> {
    if options.spill.is_some() && options.memory_limit.is_none() {
        return Some("--spill needs --memory-limit");
    }
    if options.spill.as_deref().is_some_and(input::is_remote) {
        return Some("--spill takes a folder of this machine");
    }
    let is_bounded = options.top.is_some() || streamed(format).is_some();
    (options.spill.is_some() && !is_bounded).then_some(
        "--spill writes results a piece at a time, as --format brc, csv, tsv, json or ndjson: all others need --top N",
    )
}

/// Whether results in memory may be written a piece at a time, too.
pub(super) fn may_gather_later(options: &Options, format: Format) -> bool {
    let is_whole = options.top.is_some() || options.compare || needs_total(options);
    streamed(format).is_some() && !is_whole
}

/// Whether what is told is told of all keys together.
fn needs_total(options: &Options) -> bool {
    let told = [statistics(options), options.asked()].concat();
    options.total.is_some() || told.iter().any(|statistic| statistic.is_share())
}

/// The form if it has no need of all keys at once.
fn streamed(format: Format) -> Option<Streamed> {
    match format {
        Format::Brc => Some(Streamed::Brc),
        Format::Csv => Some(Streamed::Csv),
        Format::Tsv => Some(Streamed::Tsv),
        Format::Json => Some(Streamed::Json),
        Format::Ndjson => Some(Streamed::Ndjson),
        Format::Table | Format::Markdown | Format::Html | Format::Parquet | Format::Arrow => None,
    }
}

/// Writes all keys in their order; returns how many there are, and what the text was.
pub(super) fn write(
    options: &Options,
    format: Format,
    (order, layout): (&[Criterion], &Layout),
    summary: &mut Summary,
) -> anyhow::Result<(usize, Digest)> {
    let form = streamed(format).expect("others were refused");
    let mut output = Output::create(&options.output)?;
    let (mut keys, mut digest) = (0, Digest::default());
    let mut put = |text: &[u8]| -> anyhow::Result<()> {
        if options.verbose {
            digest.add(text);
        }
        Ok(output.write_all(text)?)
    };
    put(&form.begin(&summary.columns, layout))?;
    let total = options.total.as_ref().map(|label| format::total_key(label, layout.keys.len()));
    let mut has_twin = false;
    // Of what is gathered later no total is told.
    if summary.gathering.is_some() {
        summary.texts((order, layout), form, |more, text| {
            keys += more;
            put(text)
        })?;
    } else {
        summary.pieces(order, |columns| {
            let (groups, is_first) = (&columns[0].groups, keys == 0);
            keys += groups.len();
            has_twin |= groups.iter().any(|group| Some(&group.key) == total.as_ref());
            put(&form.keys(columns, layout, is_first))
        })?;
    }
    let mut is_empty = keys == 0;
    if let Some(label) = &options.total {
        summary.columns.iter_mut().for_each(|column| column.groups.clear());
        format::append_total(&mut summary.columns, label, layout.keys.len());
        put(&form.keys(&summary.columns, layout, is_empty))?;
        is_empty = false;
        if has_twin {
            tell_twin(label);
        }
    }
    put(form.end(is_empty))?;
    output.finish()?;
    Ok((keys, digest))
}
