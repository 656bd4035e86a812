//! A trace, ready for workers: read and described, with samples of it for the ladder. Replays nothing.
//!
//! A sample is all that is done to some of the keys, in its order, so that each of them is met as often,
//! and as long after it was met before, as in the whole.

use std::collections::HashMap;
use std::fs::File;
use std::hash::Hash;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use fathom_keys::trace::{self, Act, Kind, Trace};
use fathom_keys::{Format, KeySet, Keys, Portrait};
use fathom_measure::scratch;
use fathom_random::Random;

use super::choice::Source;
use super::data::{self, Data, Prepared};
use super::traced::Traced;
use crate::key_file::{self, BadKeys};

/// Reads the trace at `path` and the keys that are there before it, if any, and makes samples of `sizes`
/// keys and operations as far as there are more than twice as many.
pub(super) fn prepare(
    path: &Path,
    source: &Source,
    sizes: &[usize],
    seed: u64,
) -> anyhow::Result<Prepared> {
    let first = source.named();
    ensure!(
        path != Path::new("-") || first != Some(path),
        "stdin is the trace or the keys, not both"
    );
    let loaded = first.map(key_file::load).transpose()?;
    let entries = match (first, &loaded) {
        (Some(path), Some(bytes)) => Some(key_file::keys(path, bytes, source.from.as_ref())?),
        _ => None,
    };
    let kind = match (&entries, &source.from) {
        (Some((_, KeySet { keys: Keys::Integers(_), .. })), _) => Some(Kind::Integers),
        (Some(_), _) | (None, Some(Format::Lines)) => Some(Kind::Bytes),
        (None, Some(Format::Integers)) => Some(Kind::Integers),
        (None, None) => None,
        (None, Some(_)) => bail!("of a trace, -F says what its keys are: integers or lines"),
    };
    let bytes = key_file::load(path)?;
    let trace = trace::read(&bytes, kind).map_err(|error| bad(path, error))?;
    let whole = Whole::of(entries.as_ref().map(|(_, keys)| keys), &trace);
    let whole = whole.ok_or_else(|| bad(path, trace::Error::Memory))?;
    let traced = whole.traced();
    ensure!(
        traced.puts > 0 || whole.entries > 0,
        "{} puts no key: without a FILE of keys that are there at first, there is nothing to find",
        path.display()
    );
    let folder = scratch::folder("kv")?;
    let stored = |name: &str, places: &mut dyn Iterator<Item = usize>| {
        store(&trace, places, &folder.path().join(name))
    };
    let mut samples = Vec::new();
    for (entries_of, steps) in whole.samples(sizes, seed) {
        let keys = match &entries {
            Some((_, keys)) if !entries_of.is_empty() => {
                let name = format!("sample-{}.keys", samples.len());
                let keys = keys.selected(entries_of.into_iter());
                Some(data::store(&keys, &folder.path().join(name))?)
            }
            _ => None,
        };
        let file = stored(&format!("{}.trace", samples.len()), &mut steps.iter().copied())?;
        samples.push(data_of(keys, &trace, file, steps.len()));
    }
    let file = match data::own_file(path)?.filter(|path| path.to_str().is_some()) {
        Some(path) => path,
        None => stored("whole.trace", &mut (0..trace.acts.len()))?,
    };
    let keys = match (first, &entries) {
        (Some(path), Some((format, keys))) => Some(data::full(path, format, keys, folder.path())?),
        _ => None,
    };
    let full = data_of(keys, &trace, file, trace.acts.len());
    let name = match first {
        Some(first) => format!("{} on {}", path.display(), first.display()),
        None => path.display().to_string(),
    };
    let portrait = whole.portrait(entries.as_ref().map(|(_, keys)| keys), &trace);
    Ok(Prepared {
        key_bytes: whole.key_bytes(),
        portrait,
        full,
        samples,
        file: first.map(data::whole_path),
        trace_file: Some(data::whole_path(path)),
        format: "trace".to_owned(),
        file_bytes: bytes.len() as u64,
        name,
        first: data::shown(&trace.keys),
        trace: Some(traced),
        _folder: folder,
    })
}

/// A file that is no trace.
fn bad(path: &Path, error: trace::Error) -> BadKeys {
    let path = path.display();
    BadKeys(match error {
        trace::Error::Bad { line, column, reason } => format!("{path}:{line}:{column}: {reason}"),
        other => format!("{path}: {other}"),
    })
}

/// A trace on keys that are there before it, if any.
fn data_of(keys: Option<Data>, trace: &Trace<'_>, file: PathBuf, operations: usize) -> Data {
    let format = match trace.keys.keys {
        Keys::Integers(_) => Format::Integers,
        Keys::Bytes(_) => Format::Lines,
    };
    let empty = Data { path: None, format, keys: 0, trace: None };
    Data { keys: operations, trace: Some(file), ..keys.unwrap_or(empty) }
}

/// Writes a part of a trace where workers read it.
fn store(
    trace: &Trace<'_>,
    places: &mut dyn Iterator<Item = usize>,
    path: &Path,
) -> anyhow::Result<PathBuf> {
    let context = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(context)?);
    trace::write(&mut file, trace, places).with_context(context)?;
    file.flush().with_context(context)?;
    Ok(path.to_owned())
}

/// The keys that are there at first and the trace, every key with a number.
struct Whole<'t> {
    acts: &'t [Act],
    /// The number of each key: first of those that are there, then of each operation.
    numbers: Vec<usize>,
    /// How many of these are keys that are there.
    entries: usize,
    /// Where in `numbers` each number occurs first.
    firsts: Vec<usize>,
    /// Bytes of each key; of integers none, which lie in the structures.
    lengths: Vec<u32>,
}

impl<'t> Whole<'t> {
    /// None where that does not fit in memory.
    fn of(entries: Option<&KeySet<'_>>, trace: &'t Trace<'_>) -> Option<Whole<'t>> {
        let sets = || entries.into_iter().chain([&trace.keys]);
        let integers = sets().flat_map(|set| match &set.keys {
            Keys::Integers(keys) => &keys[..],
            Keys::Bytes(_) => &[],
        });
        let strings = sets().flat_map(|set| {
            match &set.keys {
                Keys::Integers(_) => [].iter(),
                Keys::Bytes(spans) => spans.iter(),
            }
            .map(|span| span.of(&set.bytes))
        });
        let (numbers, firsts) = match trace.keys.keys {
            Keys::Integers(_) => numbered(integers)?,
            Keys::Bytes(_) => numbered(strings.clone())?,
        };
        let all: Vec<u32> = strings.map(|key| key.len() as u32).collect();
        let length = |&first: &usize| all.get(first).copied().unwrap_or(0);
        let lengths = firsts.iter().map(length).collect();
        let entries = entries.map_or(0, KeySet::len);
        Some(Whole { acts: &trace.acts, numbers, entries, firsts, lengths })
    }

    /// What is done, in order, and to which key.
    fn steps(&self) -> impl Iterator<Item = (Act, usize)> {
        self.acts.iter().copied().zip(self.numbers[self.entries..].iter().copied())
    }

    /// Which keys are there at first.
    fn present(&self) -> Vec<bool> {
        let mut present = vec![false; self.firsts.len()];
        self.numbers[..self.entries].iter().for_each(|&key| present[key] = true);
        present
    }

    fn traced(&self) -> Traced {
        let mut present = self.present();
        let mut now = present.iter().filter(|is_there| **is_there).count();
        let mut named = vec![false; self.firsts.len()];
        let mut traced = Traced { operations: self.acts.len(), most: now, ..Traced::default() };
        for (act, key) in self.steps() {
            named[key] = true;
            let was = present[key];
            match act {
                Act::Get => {
                    traced.gets += 1;
                    traced.hits += usize::from(was);
                }
                Act::Put => {
                    traced.puts += 1;
                    traced.inserts += usize::from(!was);
                    now += usize::from(!was);
                    present[key] = true;
                }
                Act::Del => {
                    traced.dels += 1;
                    traced.erases += usize::from(was);
                    now -= usize::from(was);
                    present[key] = false;
                }
                Act::Scan(_) => traced.scans += 1,
            }
            traced.most = traced.most.max(now);
        }
        traced.keys = named.iter().filter(|named| **named).count();
        traced.last = now;
        traced
    }

    /// Mean bytes of a key that is there at the end; if none is, of all.
    fn key_bytes(&self) -> f64 {
        let mut present = self.present();
        for (act, key) in self.steps() {
            match act {
                Act::Put => present[key] = true,
                Act::Del => present[key] = false,
                _ => {}
            }
        }
        let is_empty = !present.contains(&true);
        let there =
            self.lengths.iter().zip(&present).filter(|(_, is_there)| is_empty || **is_there);
        let lengths: Vec<f64> = there.map(|(&length, _)| f64::from(length)).collect();
        lengths.iter().sum::<f64>() / lengths.len().max(1) as f64
    }

    /// Of the keys that are there at first, or of those of the trace: each once.
    fn portrait(&self, entries: Option<&KeySet<'_>>, trace: &Trace<'_>) -> Portrait {
        let firsts = self.firsts.iter().copied();
        match entries {
            Some(keys) => Portrait::of(&keys.selected(firsts.filter(|&at| at < self.entries))),
            None => Portrait::of(&trace.keys.selected(firsts)),
        }
    }

    /// For each of `sizes` that is less than half of the whole: the places of keys that are there at
    /// first, and of operations. Keys are chosen at random, the more the larger; where few of them have
    /// nearly all operations, the first of these are taken.
    fn samples(&self, sizes: &[usize], seed: u64) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut order: Vec<usize> = (0..self.firsts.len()).collect();
        Random::new(seed).shuffle(&mut order);
        let mut weights = vec![0_usize; order.len()];
        self.numbers.iter().for_each(|&key| weights[key] += 1);
        let sample = |&size: &usize| {
            let mut is_chosen = vec![false; order.len()];
            let mut weight = 0;
            for &key in &order {
                if weight >= size {
                    break;
                }
                (is_chosen[key], weight) = (true, weight + weights[key]);
            }
            let (first, steps) = self.numbers.split_at(self.entries);
            let among = |keys: &[usize]| -> Vec<usize> {
                (0..keys.len()).filter(|&at| is_chosen[keys[at]]).collect()
            };
            let mut chosen = among(steps);
            chosen.truncate(4 * size);
            self.complete(&mut chosen);
            (among(first), chosen)
        };
        let whole = self.numbers.len();
        sizes.iter().filter(|&&size| size.saturating_mul(2) < whole).map(sample).collect()
    }

    /// Adds the first operation of each kind that none of `chosen` is of: who cannot do it must not come
    /// as far as the whole.
    fn complete(&self, chosen: &mut Vec<usize>) {
        for kind in
            [Act::Get, Act::Put, Act::Del, Act::Scan(0)].map(|act| std::mem::discriminant(&act))
        {
            let is_it = |at: &usize| std::mem::discriminant(&self.acts[*at]) == kind;
            if !chosen.iter().any(is_it) {
                chosen.extend((0..self.acts.len()).find(is_it));
            }
        }
        chosen.sort_unstable();
    }
}

/// A number for each key, equal ones the same, and where each number occurs first; none without memory.
fn numbered<K: Eq + Hash>(keys: impl Iterator<Item = K>) -> Option<(Vec<usize>, Vec<usize>)> {
    let (mut known, mut firsts, mut numbers) = (HashMap::new(), Vec::new(), Vec::new());
    for (at, key) in keys.enumerate() {
        known.try_reserve(1).ok()?;
        firsts.try_reserve(1).ok()?;
        numbers.try_reserve(1).ok()?;
        numbers.push(*known.entry(key).or_insert_with(|| {
            firsts.push(at);
            firsts.len() - 1
        }));
    }
    Some((numbers, firsts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[String]) -> Vec<u8> {
        lines.join("\n").into_bytes()
    }

    #[test]
    fn what_a_trace_does_is_counted_as_it_comes() {
        let bytes = b"get a\nput a\nput b\nput a\nget a\nget x\ndel b\ndel b\nscan a 3\nput c";
        let trace = trace::read(bytes, None).unwrap();
        let traced = Whole::of(None, &trace).unwrap().traced();
        let expected = Traced {
            operations: 10,
            keys: 4,
            gets: 3,
            hits: 1,
            puts: 4,
            inserts: 3,
            dels: 2,
            erases: 1,
            scans: 1,
            most: 2,
            last: 2,
        };
        assert_eq!(traced, expected);
        let words = "this trace (30 % gets, 33.3 % of them hits; 40 % puts, 75 % of them inserts; 20 % \
                     dels, 50 % of them hits; 10 % scans)";
        assert_eq!(traced.words(), words);
        let keys = fathom_keys::read(b"a bbb a", &Format::Words).unwrap();
        let whole = Whole::of(Some(&keys), &trace).unwrap();
        let on_keys = whole.traced();
        assert_eq!((on_keys.hits, on_keys.inserts, on_keys.most, on_keys.last), (2, 2, 3, 3));
        assert!((whole.key_bytes() - 5.0 / 3.0).abs() < 1e-12, "a, bbb and c are there");
        assert_eq!(whole.portrait(Some(&keys), &trace).keys, 2);
    }

    #[test]
    fn a_sample_is_all_that_is_done_to_some_keys_in_its_order() {
        let line = |at: usize| format!("{} k{}", ["put", "get"][at % 2], at * 7 % 1000);
        let bytes = text(&(0..8000).map(line).collect::<Vec<_>>());
        let trace = trace::read(&bytes, None).unwrap();
        let whole = Whole::of(None, &trace).unwrap();
        let samples = whole.samples(&[100, 2000, 4000], 1);
        assert_eq!(samples.len(), 2, "4000 is not less than half of 8000");
        for (first, steps) in &samples {
            assert!(first.is_empty() && steps.is_sorted());
            let chosen: Vec<usize> = steps.iter().map(|&at| whole.numbers[at]).collect();
            let all = whole.numbers.iter().filter(|key| chosen.contains(key)).count();
            assert_eq!(all, steps.len(), "no operation on a chosen key is left out");
        }
        let lengths = [samples[0].1.len(), samples[1].1.len()];
        assert!((100..120).contains(&lengths[0]), "{lengths:?}");
        assert!((2000..2020).contains(&lengths[1]), "{lengths:?}");
    }

    #[test]
    fn a_sample_of_few_hot_keys_is_cut_and_has_every_kind_of_operation() {
        let mut lines = vec!["put hot".to_owned()];
        lines.extend((0..9000).map(|_| "get hot".to_owned()));
        lines.extend(["del hot".to_owned(), "scan hot 3".to_owned()]);
        let bytes = text(&lines);
        let trace = trace::read(&bytes, None).unwrap();
        let whole = Whole::of(None, &trace).unwrap();
        let samples = whole.samples(&[100], 1);
        assert_eq!(samples[0].1.len(), 402);
        assert_eq!(samples[0].1[400..], [9001, 9002]);
    }
}
