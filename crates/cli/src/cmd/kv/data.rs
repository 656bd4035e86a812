//! The user's keys, ready for workers: read once, described, sampled. Full data and samples are
//! files that workers map or read; the full one is the user's own wherever workers can read it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use fathom_keys::{Format, KeySet, Keys, Portrait, Target, write};
use fathom_measure::scratch::{self, Folder};
use fathom_measure::workload::Spec;
use fathom_random::Random;

use crate::{input, key_file};

/// A set of keys as workers get it.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// The file.
    pub(super) path: PathBuf,
    /// Its format.
    pub(super) format: Format,
    /// Keys in it.
    pub(super) keys: usize,
}

/// The full data and what is known about it.
pub(super) struct Prepared {
    pub(super) portrait: Portrait,
    pub(super) full: Data,
    /// By their number of keys, ascending.
    pub(super) samples: Vec<Data>,
    /// Of the user's file.
    pub(super) format: Format,
    pub(super) file_bytes: u64,
    /// The first key, or the beginning of a long one.
    first: String,
    _folder: Folder,
}

impl Prepared {
    /// Says on stderr what the file was taken for, and how to correct that if it was a guess.
    pub(super) fn describe(&self, path: &Path, is_guess: bool) {
        let Portrait { keys, .. } = self.portrait;
        let correct = match is_guess {
            true => "; if that is wrong, name the format: -F lines, -F csv:COLUMN …",
            false => "",
        };
        eprintln!(
            "{}: taken for {}: {keys} keys, the first {:?}{correct}",
            path.display(),
            self.format,
            self.first
        );
    }
}

impl Data {
    /// `workload` on these keys.
    pub(super) fn spec(&self, workload: &Spec) -> Spec {
        let mut spec = workload.clone();
        spec.parameters.insert("format".to_owned(), self.format.to_string());
        spec.file = Some(self.path.clone());
        spec
    }
}

/// Reads the file and makes samples of `sizes` keys, as far as the file has more than `times` as
/// many.
pub(super) fn prepare(
    path: &Path,
    forced: Option<&Format>,
    sizes: &[usize],
    times: usize,
    seed: u64,
) -> anyhow::Result<Prepared> {
    let bytes = key_file::load(path)?;
    let (format, keys) = key_file::keys(path, &bytes, forced)?;
    anyhow::ensure!(!keys.is_empty(), "{} holds no key", path.display());
    let folder = scratch::folder("kv")?;
    let mut samples = Vec::new();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    Random::new(seed).shuffle(&mut order);
    for &size in sizes.iter().filter(|&&size| size.saturating_mul(times) < keys.len()) {
        // In the order of the file: sorted keys stay sorted.
        let mut places = order[..size].to_vec();
        places.sort_unstable();
        samples.push(store(&keys.selected(places.into_iter()), folder.path())?);
    }
    let own_path = |path: &Path| path.canonicalize().map(|path| (path, format.clone()));
    let is_plain =
        path != Path::new("-") && matches!(input::open(path, 1)?, input::Input::File(..));
    let full = match own_path(path) {
        Ok((path, format)) if is_plain => Data { path, format, keys: keys.len() },
        _ => store(&keys.selected(0..keys.len()), folder.path())?,
    };
    let portrait = Portrait::of(&keys);
    let file_bytes = bytes.len() as u64;
    let first = keys.key(0);
    let first = String::from_utf8_lossy(&first[..first.len().min(60)]).into_owned();
    Ok(Prepared { portrait, full, samples, format, file_bytes, first, _folder: folder })
}

/// Writes keys where workers read them.
fn store(keys: &KeySet<'_>, folder: &Path) -> anyhow::Result<Data> {
    let path = folder.join(format!("{}.keys", keys.len()));
    let format = match keys.keys {
        Keys::Integers(_) => Format::U64,
        Keys::Bytes(_) => Format::BinText,
    };
    let context = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(&path).with_context(context)?);
    write(&mut file, keys, &Target::new(format.clone())).with_context(context)?;
    file.flush().with_context(context)?;
    Ok(Data { path: path.clone(), format, keys: keys.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_keep_the_order_of_the_file_and_the_full_data_is_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let words: Vec<String> = (0..1000).map(|n| format!("w{n:04}")).collect();
        std::fs::write(&path, words.join("\n")).unwrap();
        let prepared = prepare(&path, None, &[100, 400, 600], 2, 1).unwrap();
        let sizes: Vec<usize> = prepared.samples.iter().map(|sample| sample.keys).collect();
        assert_eq!(sizes, [100, 400]);
        assert_eq!(prepared.full.path, path.canonicalize().unwrap());
        let bytes = std::fs::read(&prepared.samples[0].path).unwrap();
        let sample = fathom_keys::read(&bytes, &prepared.samples[0].format).unwrap();
        let keys: Vec<Vec<u8>> = (0..100).map(|at| sample.key(at).into_owned()).collect();
        assert!(keys.is_sorted());
        assert_eq!(prepared.portrait.keys, 1000);
        assert_eq!(prepared.first, "w0000");
    }
}
