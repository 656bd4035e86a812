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
use fathom_report::escape;
use fathom_report::number::plural;

use super::traced::Traced;
use crate::{input, key_file, output};

/// A set of keys as workers get it.
#[derive(Clone, Debug)]
pub(super) struct Data {
    /// The file of keys; none where a trace begins with nothing.
    pub(super) path: Option<PathBuf>,
    /// Its format, or what the keys of the trace are.
    pub(super) format: Format,
    /// Keys in it, or operations of the trace.
    pub(super) keys: usize,
    /// The file of the trace.
    pub(super) trace: Option<PathBuf>,
}

/// The full data and what is known about it.
pub(super) struct Prepared {
    pub(super) portrait: Portrait,
    pub(super) full: Data,
    /// By their number of keys, ascending.
    pub(super) samples: Vec<Data>,
    /// The user's files, of keys and of the trace, whatever workers read in their place.
    pub(super) file: Option<PathBuf>,
    pub(super) trace_file: Option<PathBuf>,
    /// Of the user's file.
    pub(super) name: String,
    pub(super) format: String,
    pub(super) file_bytes: u64,
    /// Bytes of a key, on average over the different ones, that lie in the file and not in a structure which
    /// borrows them.
    pub(super) key_bytes: f64,
    /// The first key, or the beginning of a long one.
    pub(super) first: String,
    /// What the trace does, if there is one.
    pub(super) trace: Option<Traced>,
    pub(super) _folder: Folder,
}

impl Prepared {
    /// Says on stderr what the file was taken for, and how to correct that if it was a guess.
    pub(super) fn describe(&self, is_guess: bool) {
        let Prepared { portrait: Portrait { keys, .. }, name, format, first, .. } = self;
        let (what, correct) = match &self.trace {
            None => (
                format!("taken for {format}: {}", plural(*keys as usize, "key")),
                "; if that is wrong, name the format: -F lines, -F csv:COLUMN …",
            ),
            Some(trace) => {
                let (kind, other) = match self.full.format {
                    Format::Integers | Format::U32 | Format::U64 => ("integers", "lines"),
                    _ => ("byte strings", "integers"),
                };
                // What is there at first decides what keys are.
                let correct = match (self.full.path.is_some(), other) {
                    (false, "lines") => "; if that is wrong, -F lines takes them for text",
                    _ => "",
                };
                (format!("{}, taken for {kind}", trace.size()), correct)
            }
        };
        let correct = if is_guess { correct } else { "" };
        let said = escape::line(&format!("{name}: {what}, the first {first:?}{correct}"));
        say!("{}", output::filled(&said));
    }

    /// Names in a result what the user named: the files that workers read in place of those have other
    /// names each time, and no later run would be known to be about the same.
    pub(super) fn rename(&self, workload: &mut Spec) {
        if workload.file.is_some() {
            if let Some(sample) = self.samples.iter().find(|sample| sample.path == workload.file) {
                workload.parameters.insert("count".to_owned(), sample.keys.to_string());
            }
            workload.file.clone_from(&self.file);
            if self.trace.is_none() {
                workload.parameters.insert("format".to_owned(), self.format.clone());
            }
        }
        if let Some(trace) = &self.trace_file {
            workload.parameters.insert("trace".to_owned(), trace.display().to_string());
        }
    }

    /// Keys or operations, whichever are more: what takes time.
    pub(super) fn size(&self) -> usize {
        self.full.keys.max(self.portrait.keys as usize)
    }
}

impl Data {
    /// `workload` on these keys.
    pub(super) fn spec(&self, workload: &Spec) -> Spec {
        let mut spec = workload.clone();
        let mut set = |name: &str, value: String| spec.parameters.insert(name.to_owned(), value);
        set("format", self.format.to_string());
        if self.path.is_none() {
            set("count", "0".to_owned());
        }
        if let Some(trace) = &self.trace {
            set("trace", trace.display().to_string());
        }
        spec.file = self.path.clone();
        spec
    }

    /// What [`Data::keys`] counts.
    pub(super) fn unit(&self) -> &'static str {
        unit(self.trace.is_some())
    }
}

/// One of what samples are measured in.
pub(super) fn unit(is_trace: bool) -> &'static str {
    if is_trace { "operation" } else { "key" }
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
        let name = format!("sample-{}.keys", samples.len());
        samples.push(store(&keys.selected(places.into_iter()), &folder.path().join(name))?);
    }
    let portrait = Portrait::of(&keys);
    // An integer lies in the structure, and equal keys are one entry.
    let key_bytes = match portrait.range {
        Some(_) => 0,
        None if portrait.distinct == portrait.keys => portrait.bytes,
        None => keys.distinct_bytes(),
    };
    Ok(Prepared {
        key_bytes: key_bytes as f64 / portrait.distinct as f64,
        portrait,
        full: full(path, &format, &keys, folder.path())?,
        samples,
        file: Some(whole_path(path)),
        trace_file: None,
        name: path.display().to_string(),
        format: format.to_string(),
        file_bytes: bytes.len() as u64,
        first: shown(&keys),
        trace: None,
        _folder: folder,
    })
}

/// The user's own file, where workers can read it.
pub(super) fn own_file(path: &Path) -> anyhow::Result<Option<PathBuf>> {
    // A pipe would wait for another writer.
    let is_file = path != Path::new("-") && path.is_file();
    let is_plain = is_file && matches!(input::open(path, 1)?, input::Input::File(..));
    Ok(path.canonicalize().ok().filter(|_| is_plain))
}

/// The path from the root, where there is one.
pub(super) fn whole_path(path: &Path) -> PathBuf {
    let is_file = path != Path::new("-");
    path.canonicalize().ok().filter(|_| is_file).unwrap_or_else(|| path.to_owned())
}

/// All keys of the user's file, as workers get them.
pub(super) fn full(
    path: &Path,
    format: &Format,
    keys: &KeySet<'_>,
    folder: &Path,
) -> anyhow::Result<Data> {
    // Workers are told its name, which has to be text for that.
    match own_file(path)?.filter(|path| path.to_str().is_some()) {
        Some(path) => {
            Ok(Data { path: Some(path), format: format.clone(), keys: keys.len(), trace: None })
        }
        None => store(keys, &folder.join("all.keys")),
    }
}

/// The first key, or the beginning of a long one.
pub(super) fn shown(keys: &KeySet<'_>) -> String {
    let first = keys.key(0);
    String::from_utf8_lossy(&first[..first.len().min(60)]).into_owned()
}

/// Writes keys, and values if there are any, where workers read them.
pub(super) fn store(keys: &KeySet<'_>, path: &Path) -> anyhow::Result<Data> {
    let format = match (&keys.keys, &keys.values) {
        (Keys::Integers(_), _) => Format::U64,
        (Keys::Bytes(_), None) => Format::BinText,
        (Keys::Bytes(_), Some(_)) => Format::BinSliceKv,
    };
    let context = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(context)?);
    write(&mut file, keys, &Target::new(format.clone())).with_context(context)?;
    file.flush().with_context(context)?;
    Ok(Data { path: Some(path.to_owned()), format, keys: keys.len(), trace: None })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use fathom_keys::Span;

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
        assert_eq!(prepared.full.path, path.canonicalize().ok());
        let bytes = std::fs::read(prepared.samples[0].path.as_ref().unwrap()).unwrap();
        let sample = fathom_keys::read(&bytes, &prepared.samples[0].format).unwrap();
        let keys: Vec<Vec<u8>> = (0..100).map(|at| sample.key(at).into_owned()).collect();
        assert!(keys.is_sorted());
        assert_eq!(prepared.portrait.keys, 1000);
        assert_eq!(prepared.first, "w0000");
    }

    /// The mean of all lines was added to the bytes of an entry.
    #[test]
    fn a_key_that_occurs_often_is_borrowed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let short = (0..10_000).map(|n| format!("w{}", n % 4));
        let words: Vec<String> = short.chain((0..1000).map(|n| format!("{n:0100}"))).collect();
        std::fs::write(&path, words.join("\n")).unwrap();
        let of = |format| prepare(&path, Some(&format), &[], 2, 1).unwrap().key_bytes;
        assert!((of(Format::Lines) - 100_008.0 / 1004.0).abs() < 1e-9);
        std::fs::write(&path, "ab cdef ").unwrap();
        assert!((of(Format::Words) - 3.0).abs() < 1e-9);
    }

    /// A table made for these keys had numbers in place of the file's values.
    #[test]
    fn keys_that_are_stored_for_workers_keep_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OsStr::from_bytes(b"no text \xff"));
        let (bytes, span) = (b"keyvalue".as_slice(), |start, len| Span { start, len });
        let pairs = KeySet {
            bytes: bytes.into(),
            keys: Keys::Bytes(vec![span(0, 3)]),
            values: Some(vec![span(3, 5)]),
        };
        let mut file = File::create(&path).unwrap();
        write(&mut file, &pairs, &Target::new(Format::BinSliceKv)).unwrap();
        let prepared = prepare(&path, Some(&Format::BinSliceKv), &[], 2, 1).unwrap();
        let full = &prepared.full;
        let bytes = std::fs::read(full.path.as_ref().unwrap()).unwrap();
        assert_eq!(fathom_keys::read(&bytes, &full.format).unwrap().value(0), b"value");
    }

    #[test]
    fn results_name_the_file_and_how_much_of_it_whatever_workers_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words");
        let words: Vec<String> = (0..1000).map(|n| format!("w{n:04}")).collect();
        std::fs::write(&path, words.join("\n")).unwrap();
        let prepared = prepare(&path, None, &[100], 2, 1).unwrap();
        let find = Spec::new("find-hit", &[]);
        let named = |data: &Data| {
            let mut workload = data.spec(&find);
            prepared.rename(&mut workload);
            workload
        };
        let whole = prepared.full.spec(&find);
        assert_eq!(named(&prepared.full), whole);
        let mut sample = whole;
        sample.parameters.insert("count".to_owned(), "100".to_owned());
        assert_eq!(named(&prepared.samples[0]), sample);
    }
}
