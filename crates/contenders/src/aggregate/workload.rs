//! The workload of the family: a file of `key;value` lines, given or made from a seed.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use fathom_aggregate::{Layout, Rounding};
use fathom_measure::facts::{Choices, Facts, Timed};
use fathom_measure::scratch::{self, Unnamed};
use fathom_measure::workload::{Offer, Spec, SpecError, Work, Workload};

use super::journey::{Strategy, StrategyError};
use super::{plain, tables};
use crate::own;
use crate::tasks::{offer, parameter};

/// A file of lines and how to aggregate it.
pub struct Text {
    pub(super) path: PathBuf,
    /// Threads; none for as many as there are processors.
    pub(super) threads: Option<usize>,
    pub(super) layout: Layout,
    bytes: u64,
    rows: u64,
    /// Keeps a made file until the workload goes.
    _made: Option<Unnamed>,
}

/// What is special about the family.
pub(super) const FACTS: Facts = Facts {
    reference: Timed::WhenNamed,
    choices: Some(Choices { base: "final", check }),
    outside: Some("plain"),
    tables: tables::of,
    ..Facts::NONE
};

impl Workload for Text {
    const OPERATIONS: &'static [Offer] =
        &[offer("brc", "min, mean and max per key, printed sorted")];
    const PARAMETERS: &'static [Offer] = &[
        parameter("threads", "0", "threads; 0: as many as processors"),
        parameter("rounding", "half-up", "of means: half-up, ceiling or half-even"),
        parameter("rows", "1M", "rows to make when no file is given"),
        parameter("keys", "400", "keys of a made file"),
        parameter("seed", "1", "seed of a made file"),
    ];
    const MADE: &'static [&'static str] = &["rows", "keys", "seed"];

    fn load(spec: &Spec) -> Result<Text, SpecError> {
        let threads = usize::try_from(spec.number("threads")?).ok().filter(|&n| n <= 65_535);
        let threads = threads.ok_or_else(|| spec.bad("threads", "at most 65535"))?;
        let rounding = match spec.text("rounding") {
            "half-up" => Rounding::HalfUp,
            "ceiling" => Rounding::Ceiling,
            "half-even" => Rounding::HalfEven,
            _ => return Err(spec.bad("rounding", "expected half-up, ceiling or half-even")),
        };
        let (path, rows, made) = match &spec.file {
            Some(file) => (file.clone(), 0, None),
            None => {
                let (rows, keys) = (spec.number("rows")?, spec.number("keys")?);
                if !(1..=1 << 30).contains(&rows) || !(1..=1 << 24).contains(&keys) {
                    return Err(spec.bad("rows", "1 to 1G rows of 1 to 16M keys"));
                }
                let made = make(rows, keys, spec.number("seed")?);
                let made = made.map_err(|error| own::unreadable(&std::env::temp_dir(), error))?;
                (made.path(), rows, Some(made))
            }
        };
        let data = readable(&path).map_err(|error| own::unreadable(&path, error))?;
        Ok(Text {
            path,
            threads: (threads > 0).then_some(threads),
            layout: Layout { rounding, ..Layout::default() },
            bytes: data.len(),
            rows,
            _made: made,
        })
    }

    fn verify(&self) -> Result<(), SpecError> {
        plain::run(&self.path, &self.layout).map(drop)
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes, items: self.rows }
    }

    fn cases() -> Vec<Spec> {
        ["400", "40K"].map(|keys| Spec::new("brc", &[("rows", "10M"), ("keys", keys)])).to_vec()
    }

    fn small_cases() -> Vec<Spec> {
        [("1", "1"), ("1000", "7"), ("20K", "400")]
            .map(|(rows, keys)| Spec::new("brc", &[("rows", rows), ("keys", keys)]))
            .to_vec()
    }

    fn leaves_the_thread(&self) -> bool {
        true
    }
}

/// A strategy by name, perhaps with other choices.
fn check(text: &str) -> Result<Option<String>, String> {
    match text.parse::<Strategy>() {
        Ok(_) => Ok(None),
        Err(StrategyError::Unbuilt(why)) => Ok(Some(why.to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

/// What is known of a file that can be read, which a folder cannot.
fn readable(path: &Path) -> std::io::Result<Metadata> {
    let file = File::open(path)?;
    BufReader::new(&file).fill_buf()?;
    file.metadata()
}

/// A file of `rows` lines over `keys` names of 6 to 21 bytes, made up of a number and some of a
/// text.
fn make(rows: u64, keys: u64, seed: u64) -> std::io::Result<Unnamed> {
    let mut file = scratch::file()?;
    let mut out = std::io::BufWriter::with_capacity(1 << 20, file.as_file_mut());
    let mut state = seed;
    for _ in 0..rows {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (state >> 33) % keys;
        let tenths = ((state >> 20) & 0x7ff) as i32 % 1999 - 999;
        let sign = if tenths < 0 { "-" } else { "" };
        let tenths = tenths.abs();
        let end = &"-on-the-river"[..(key % 14) as usize];
        writeln!(out, "{key:06}{end};{sign}{}.{}", tenths / 10, tenths % 10)?;
    }
    out.flush()?;
    drop(out);
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both were contenders that do not take part, and so a usage error.
    #[test]
    fn a_file_that_cannot_be_read_and_one_without_values_are_errors_of_their_own() {
        let error = |path: &Path| {
            let spec = Spec { file: Some(path.to_owned()), ..Spec::new("brc", &[]) };
            Text::load(&spec.completed::<Text>().unwrap())?.verify()
        };
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(error(folder.path()), Err(SpecError::Unreadable { .. })));
        let path = folder.path().join("rows");
        for (text, why) in [("a;1.0\nb;x\n", ": line 2: "), ("a;1.0\n;2.0\n", "the key is empty")] {
            std::fs::write(&path, text).unwrap();
            let found = error(&path).unwrap_err();
            assert!(matches!(found, SpecError::File { .. }), "{found:?}");
            assert!(found.to_string().contains(why), "{found}");
        }
        std::fs::write(&path, "a;1.0\n\nb;-22.5").unwrap();
        error(&path).unwrap();
    }
}
