//! `--specialise`: a table made for these very keys takes part, is judged against the best that a library has,
//! and is written as code where that is asked for. Times nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use fathom_contenders::kv::special::{self, Module, NAME};

use super::candidate::{self, Candidate};
use super::data::Prepared;
use super::mix::{Mix, Part};
use super::paste;
use super::verdict::{Compound, Row, Standing, Weighed, compounds};
use crate::key_file;
use crate::output;

/// The table, or why there is none.
pub(super) struct Special {
    module: Result<Module, String>,
    /// Where it is to be written.
    folder: Option<PathBuf>,
}

/// What a table that never changes can do.
const READS: [&str; 5] = ["find-hit", "find-miss", "find-mixed", "find-zipf", "iterate"];

/// What is done where nothing is said.
pub(super) fn usual_mix() -> Mix {
    "hit=0.9,miss=0.1".parse().expect("the default is right")
}

impl Special {
    /// Makes the table, to be written into `folder` if there is one.
    ///
    /// # Errors
    /// A mix that changes keys, a folder that holds something, keys that cannot be read again.
    pub(super) fn made(
        folder: Option<PathBuf>,
        prepared: &Prepared,
        parts: &[Part],
    ) -> anyhow::Result<Special> {
        let mut operations = parts.iter().map(|part| part.workload.operation.as_str());
        let other = operations.find(|name| !READS.contains(name));
        ensure!(
            other.is_none(),
            "--specialise makes a table that never changes: a --mix of hit, miss, zipf and iterate, without {}",
            other.unwrap_or_default()
        );
        if let Some(folder) = &folder {
            // Before all the time it takes, not after.
            ensure_empty(folder)?;
            draft(folder).with_context(|| cannot_write(folder))?;
        }
        let path = prepared.full.path.as_deref().context("keys without a file")?;
        let bytes = key_file::load(path)?;
        let (_, keys) = key_file::keys(path, &bytes, Some(&prepared.full.format))?;
        Ok(Special { module: special::module(&keys, folder.is_some()), folder })
    }

    /// Who takes part for it: nobody if there is no table.
    pub(super) fn candidates(&self) -> anyhow::Result<Vec<Candidate>> {
        let names = if self.module.is_ok() { &[NAME, BATCH][..] } else { &[] };
        names.iter().map(|name| candidate::named(name)).collect()
    }

    /// What was found out, and what came of it.
    pub(super) fn sentences(
        &self,
        rows: &[Row],
        candidates: &[Candidate],
        cases: &[Weighed],
    ) -> Vec<String> {
        let found = match &self.module {
            Err(why) => return vec![format!("{NAME}: {why}.")],
            Ok(module) => format!("{NAME}: {}.", module.found),
        };
        let had = |&number: &usize| paste::is_of_library(&candidates[number]);
        let costs = (0..rows.len()).filter(had).filter_map(|n| Some((n, rows[n].cost_ns?)));
        let best = costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(number, _)| number);
        let Some(best) = best else { return vec![found] };
        let against = compounds(rows, cases, best, true);
        let own = against.iter().filter(|(number, _)| rows[*number].structure.starts_with(NAME));
        let words = |&(number, ratio): &(usize, Compound)| {
            said(&rows[number], ratio, &rows[best], &candidates[best].words())
        };
        let mut sentences: Vec<String> = std::iter::once(found).chain(own.map(words)).collect();
        if self.folder.is_none() {
            sentences.push(format!("--specialise=DIR writes {NAME} as a module in Rust and C++."));
        }
        sentences
    }

    /// Writes the folder, all of it or nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(self) -> anyhow::Result<()> {
        let (Ok(module), Some(folder)) = (self.module, self.folder) else { return Ok(()) };
        let context = || cannot_write(&folder);
        ensure_empty(&folder)?;
        let whole = draft(&folder).with_context(context)?;
        for (name, bytes) in &module.files {
            std::fs::write(whole.path().join(name), bytes).with_context(context)?;
        }
        if is_there(&folder) {
            // It may be the one we are in, or a link to one: it stays, and gets the files.
            for (name, _) in &module.files {
                std::fs::rename(whole.path().join(name), folder.join(name))
                    .with_context(context)?;
            }
        } else {
            // A folder among the temporary ones is its owner's alone.
            #[cfg(unix)]
            std::fs::set_permissions(
                whole.path(),
                std::os::unix::fs::PermissionsExt::from_mode(0o755),
            )
            .with_context(context)?;
            std::fs::rename(whole.path(), &folder).with_context(context)?;
        }
        let names: Vec<&str> = module.files.iter().map(|(name, _)| *name).collect();
        say!("{}: wrote {}", folder.display(), names.join(", "));
        Ok(())
    }
}

/// What `--specialise=DIR` writes: the folder, and the files in it.
pub(super) fn written(folder: &Path) -> Vec<PathBuf> {
    let files = special::FILES.iter().map(|name| folder.join(name));
    std::iter::once(folder.to_owned()).chain(files).collect()
}

/// Refuses a folder that holds something, and what is no folder.
fn ensure_empty(folder: &Path) -> anyhow::Result<()> {
    if !is_there(folder) {
        return Ok(());
    }
    let mut entries = folder.read_dir().with_context(|| cannot_write(folder))?;
    let name = folder.display();
    ensure!(
        entries.next().is_none(),
        "{name} holds something: --specialise=DIR writes a folder of its own"
    );
    Ok(())
}

/// Where the files are written before they are all there: in the folder, or beside it where it is not there yet.
fn draft(folder: &Path) -> std::io::Result<tempfile::TempDir> {
    let place = if is_there(folder) { folder } else { parent(folder) };
    place.metadata()?;
    tempfile::Builder::new().prefix(".fathom-").tempdir_in(place).map_err(output::nameless)
}

/// A link is there, whatever it leads to.
fn is_there(folder: &Path) -> bool {
    folder.symlink_metadata().is_ok()
}

fn cannot_write(folder: &Path) -> String {
    format!("cannot write {}", folder.display())
}

/// Where a folder stands.
fn parent(folder: &Path) -> &Path {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// The one that finds many keys at once.
const BATCH: &str = "specialised-batch";

/// How one of the two stands against the best that a library has.
fn said(own: &Row, ratio: Compound, best: &Row, name: &str) -> String {
    let Compound { ratio: times, high, .. } = ratio;
    let bytes = own.bytes_per_entry.zip(best.bytes_per_entry);
    let memory = bytes.map_or_else(String::new, |(own, best)| {
        format!(" and {own:.1} bytes per entry against {best:.1}")
    });
    let end = match ratio.standing() {
        Standing::Resolved if high < 1.0 && bytes.is_some_and(|(own, best)| own <= best) => {
            "it wins"
        }
        Standing::Resolved if high < 1.0 => "it wins in time alone",
        Standing::Resolved => "it does not win",
        Standing::Open | Standing::Unproved => "not resolved; a longer --budget tells more",
        Standing::Unknown => "not resolved, since there is no interval",
    };
    format!(
        "{}: {times:.2} times the time of {name}{}, the best that a library has,{memory}: {end}.",
        own.structure,
        ratio.bracket()
    )
}
