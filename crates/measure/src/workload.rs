//! What is done to what: data + operation + parameters, as text that fits on a command line, in a
//! result file and in the worker protocol.
//!
//! This file knows no family: a family says which operations and parameters it has
//! ([`Workload`]), and turns a checked [`Spec`] into its own typed data.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fathom_machine::os::shared::Segment;

use serde::{Deserialize, Serialize, Serializer};

/// A workload as text: which operation, with which parameters, on which file (if any).
///
/// Shown as `operation name=value …`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// One of the family's operations; empty means its first.
    pub operation: String,
    /// Parameters by name. What is not named has the family's default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// The data set, for families that work on a file. One without a Unicode name is written by a name near
    /// to its own, and no worker gets it: [`completed`](Spec::completed) refuses it.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "by_name")]
    pub file: Option<PathBuf>,
    /// The bytes of `file`, where the conductor has them in shared memory already.
    #[serde(skip)]
    pub shared: Option<Data>,
}

fn by_name<S: Serializer>(file: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    file.as_ref().map(|path| path.to_string_lossy()).serialize(to)
}

/// The bytes of a data set: shared with the other workers, or read by this process alone.
#[derive(Clone, Debug)]
pub struct Data(Arc<Held>);

#[derive(Debug)]
enum Held {
    Shared(Segment),
    Prepared(Segment),
    Own(Vec<u8>),
}

impl Data {
    /// Bytes in a shared segment.
    #[must_use]
    pub fn shared(segment: Segment) -> Data {
        Data(Arc::new(Held::Shared(segment)))
    }

    /// A prepared workload ([`Workload::prepared`]) in a shared segment.
    #[must_use]
    pub fn prepared(segment: Segment) -> Data {
        Data(Arc::new(Held::Prepared(segment)))
    }

    /// Whether a part of the bytes is on pages larger than the smallest.
    #[must_use]
    pub fn has_huge_pages(&self) -> bool {
        match &*self.0 {
            Held::Shared(segment) | Held::Prepared(segment) => {
                segment.backing().huge_bytes.is_some_and(|bytes| bytes > 0)
            }
            Held::Own(_) => false,
        }
    }

    /// Whether these are not the bytes of a file but of a prepared workload.
    #[must_use]
    pub fn is_prepared(&self) -> bool {
        matches!(*self.0, Held::Prepared(_))
    }

    /// Bytes of this process alone.
    #[must_use]
    pub fn own(bytes: Vec<u8>) -> Data {
        Data(Arc::new(Held::Own(bytes)))
    }

    /// What kind of memory the bytes are in, in words.
    #[must_use]
    pub fn backing(&self) -> String {
        match &*self.0 {
            Held::Shared(segment) | Held::Prepared(segment) => {
                format!("shared, {}", segment.backing().sentence())
            }
            Held::Own(_) => "read into the worker's own heap".to_owned(),
        }
    }
}

impl Deref for Data {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Held::Shared(segment) | Held::Prepared(segment) => segment,
            Held::Own(bytes) => bytes,
        }
    }
}

/// Two handles are equal when they are of the same bytes in memory.
impl PartialEq for Data {
    fn eq(&self, other: &Data) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Data {}

/// An operation or a parameter that a family offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// As written on the command line.
    pub name: &'static str,
    /// The value when it is not given; empty for an operation.
    pub default: &'static str,
    /// What it means, one sentence.
    pub doc: &'static str,
}

/// What a family offers, each with its name, default and sentence:
///
/// ```
/// use fathom_measure::workload::{Offer, offers};
///
/// const PARAMETERS: &[Offer] = offers! {
///     "size" "64K" "bytes";
///     "seed" "1" "of the random numbers";
/// };
/// assert_eq!(PARAMETERS[1].default, "1");
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __offers {
    ($($name:tt $default:tt $doc:tt;)*) => {
        &[$($crate::workload::Offer { name: $name, default: $default, doc: $doc }),*]
    };
}

pub use crate::__offers as offers;

/// What a family works on: typed, loaded, the same for all its contenders.
pub trait Workload: Sized {
    /// The operations; the first is the default.
    const OPERATIONS: &'static [Offer];
    /// The parameters.
    const PARAMETERS: &'static [Offer];
    /// Those of [`PARAMETERS`](Workload::PARAMETERS) that describe the data made where no file is
    /// given: a spec with a file has none of them. Without any, there is nothing a file could be
    /// in place of, and a spec with one is refused.
    const MADE: &'static [&'static str] = &[];
    /// The operations that take a file, where only some do: a spec of another one with a file is refused.
    const OF_FILES: &'static [&'static str] = &[];

    /// Builds the data of a spec. It arrives complete: operation and every parameter present.
    ///
    /// # Errors
    /// A parameter that cannot be read, a file that cannot be used.
    fn load(spec: &Spec) -> Result<Self, SpecError>;

    /// Whether the values of a complete spec make sense, as far as that can be told without data; before
    /// anything is measured.
    ///
    /// # Errors
    /// A parameter that cannot be read or makes none.
    fn check(spec: &Spec) -> Result<(), SpecError> {
        let _ = spec;
        Ok(())
    }

    /// What is wrong with the user's data that only reading all of them tells: asked when the reference could not be
    /// prepared, and before data are prepared for other workers, so that no contender's worker reads them for it.
    ///
    /// # Errors
    /// A file that cannot be used.
    fn verify(&self) -> Result<(), SpecError> {
        Ok(())
    }

    /// What one iteration works through, for throughput.
    fn work(&self) -> Work;

    /// The specs a run covers when nothing is asked for.
    fn cases() -> Vec<Spec>;

    /// Small specs, at least one per operation: what `--test` and the tests run.
    fn small_cases() -> Vec<Spec>;

    /// Whether the workload wants the bytes of its file ([`Spec::bytes`]): the conductor then loads
    /// them once into memory that all workers share. A workload that opens the file itself, because
    /// reading is part of what is measured, says no.
    fn wants_bytes() -> bool {
        false
    }

    /// The loaded workload as bytes, for contenders in other languages, which cannot load it
    /// themselves; `None` where the file or the spec is enough. The form is the family's, described
    /// in `docs/protocol.md`.
    fn prepared(&self) -> Option<Vec<u8>> {
        None
    }

    /// Whether [`load`](Workload::load) takes the bytes of [`prepared`](Workload::prepared) where
    /// [`Spec::shared`] has them: then the work of getting data ready is done once for all workers,
    /// not once in each.
    fn reads_prepared() -> bool {
        false
    }

    /// Where the data is, in words, if the workload has put it elsewhere than [`Spec::shared`].
    fn backing(&self) -> Option<String> {
        None
    }

    /// Whether an iteration uses several threads, waits or sleeps. Then only the wall clock tells
    /// the truth, and thread CPU time is never used for a verdict.
    fn leaves_the_thread(&self) -> bool {
        false
    }

    /// Whether a parameter decides anything about what `spec`, which is complete, measures; others
    /// are left out of titles and results.
    fn takes(spec: &Spec, parameter: &str) -> bool {
        let _ = (spec, parameter);
        true
    }
}

/// What one iteration works through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Bytes per iteration; 0 when bytes say nothing about this workload.
    pub bytes: u64,
    /// Items (keys, records, pairs …) per iteration; 0 when there are none.
    pub items: u64,
}

/// A spec that cannot be turned into a workload.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No such operation in the family.
    #[error("no operation {given:?} here; there is: {known}")]
    Operation {
        /// What was asked for.
        given: String,
        /// What exists, separated by commas.
        known: String,
    },
    /// No such parameter in the family.
    #[error("no parameter {given:?} here; there is: {known}")]
    Parameter {
        /// What was asked for.
        given: String,
        /// What exists, separated by commas.
        known: String,
    },
    /// A parameter that cannot be read or makes no sense.
    #[error("{name}={value}: {reason}")]
    Value {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
        /// What was expected.
        reason: String,
    },
    /// A file where none is taken, or none of such a name.
    #[error("{}: {reason}", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// A file that was read and cannot be used.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// What makes sense, but not on this machine, or not with this file: then nobody takes part.
    #[error("not here: {reason}")]
    Machine {
        /// Why not.
        reason: String,
    },
}

impl SpecError {
    /// A file without a byte.
    pub fn empty(path: &Path) -> SpecError {
        let reason = "0 bytes; a row takes a file of 1 byte at least".to_owned();
        SpecError::File { path: path.to_owned(), reason }
    }
}

/// The parameter that every family has, unless it has one of its own of that name: see
/// [`Spec::threads`].
pub const THREADS: &str = "threads";

impl Spec {
    /// A spec with this operation and these parameters.
    #[must_use]
    pub fn new(operation: &str, parameters: &[(&str, &str)]) -> Spec {
        let parameters = parameters.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        Spec { operation: operation.to_owned(), parameters, file: None, shared: None }
    }

    /// The same spec with the defaults of `W` filled in.
    ///
    /// # Errors
    /// An operation or parameter that `W` does not have, or does not have beside a file; a file where `W`
    /// takes none; a value that makes no sense.
    pub fn completed<W: Workload>(&self) -> Result<Spec, SpecError> {
        let mut full = self.clone();
        if full.operation.is_empty() {
            full.operation = W::OPERATIONS.first().map_or("", |offer| offer.name).to_owned();
        }
        if !W::OPERATIONS.iter().any(|offer| offer.name == full.operation) {
            let known = names(W::OPERATIONS);
            return Err(SpecError::Operation { given: full.operation, known });
        }
        for name in full.parameters.keys() {
            if name != THREADS && !W::PARAMETERS.iter().any(|offer| offer.name == name) {
                let known = names(W::PARAMETERS);
                return Err(SpecError::Parameter { given: name.clone(), known });
            }
        }
        if let Some(path) = full.file.clone().filter(|_| !full.takes_file::<W>()) {
            let reason = match W::MADE {
                [] => "this family takes no file, its data are made".to_owned(),
                _ => format!("{} has data of its own only", full.operation),
            };
            return Err(SpecError::NoFile { path, reason });
        }
        if let Some(path) = full.file.clone().filter(|path| path.to_str().is_none()) {
            let reason = "no Unicode, so no worker can be told the name".to_owned();
            return Err(SpecError::NoFile { path, reason });
        }
        let has_file = full.file.is_some();
        let is_idle = |name: &str| has_file && W::MADE.contains(&name);
        if let Some(name) = full.parameters.keys().find(|name| is_idle(name)) {
            return Err(self.bad(name, "a file is given, so no data are made"));
        }
        for offer in W::PARAMETERS.iter().filter(|offer| !is_idle(offer.name)) {
            full.parameters.entry(offer.name.to_owned()).or_insert_with(|| offer.default.into());
        }
        if !W::PARAMETERS.iter().any(|offer| offer.name == THREADS) {
            full.threads()?;
        }
        W::check(&full)?;
        Ok(full)
    }

    /// Whether its operation takes a file in place of made data.
    pub(crate) fn takes_file<W: Workload>(&self) -> bool {
        let takes_any = W::OF_FILES.is_empty();
        !W::MADE.is_empty() && (takes_any || W::OF_FILES.contains(&&*self.operation))
    }

    /// The bytes of the spec's file: shared with other workers when a conductor prepared them, read
    /// now otherwise.
    ///
    /// # Errors
    /// A spec without a file, a file that cannot be read.
    pub fn bytes(&self) -> Result<Data, SpecError> {
        if let Some(data) = &self.shared {
            return Ok(data.clone());
        }
        let path = self.file.clone().ok_or_else(|| SpecError::File {
            path: PathBuf::new(),
            reason: "this workload needs a file".to_owned(),
        })?;
        fs::read(&path).map(Data::own).map_err(|error| SpecError::Unreadable { path, error })
    }

    /// How many threads do the same work at the same time: the parameter [`THREADS`], 1 unless it is
    /// given.
    ///
    /// # Errors
    /// Something that is no number from 1 to 1024.
    pub fn threads(&self) -> Result<usize, SpecError> {
        if !self.parameters.contains_key(THREADS) {
            return Ok(1);
        }
        let threads = self.number(THREADS).ok().filter(|threads| (1..=1024).contains(threads));
        let threads = threads.ok_or_else(|| self.bad(THREADS, "expected 1 to 1024 threads"))?;
        Ok(threads as usize)
    }

    /// The parameter as text; empty when it is missing.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.parameters.get(name).map_or("", String::as_str)
    }

    /// The parameter as a whole number; K, M, G and T multiply by 1024 as often as usual.
    ///
    /// # Errors
    /// Something that is no such number.
    pub fn number(&self, name: &str) -> Result<u64, SpecError> {
        parse_number(self.text(name)).ok_or_else(|| {
            self.bad(name, "expected a whole number, optionally with K, M, G or T (powers of 1024)")
        })
    }

    /// The parameter as a fraction.
    ///
    /// # Errors
    /// Something that is no number.
    pub fn fraction(&self, name: &str) -> Result<f64, SpecError> {
        let value = self.text(name).parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| self.bad(name, "expected a number"))
    }

    /// The error for a parameter whose value makes no sense.
    #[must_use]
    pub fn bad(&self, name: &str, reason: &str) -> SpecError {
        SpecError::Value {
            name: name.to_owned(),
            value: self.text(name).to_owned(),
            reason: reason.to_owned(),
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Commands have no operation.
        let operation = Some(self.operation.clone()).filter(|operation| !operation.is_empty());
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        let file = self.file.iter().map(|file| file.display().to_string());
        let words: Vec<String> = operation.into_iter().chain(parameters).chain(file).collect();
        out.write_str(&words.join(" "))
    }
}

fn names(offers: &[Offer]) -> String {
    offers.iter().map(|offer| offer.name).collect::<Vec<_>>().join(", ")
}

/// A whole number with an optional binary multiplier: `64`, `16K`, `1M`.
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A time: `500ms`, `2s`, `1.5m`, `1h`; a number alone is seconds.
///
/// # Errors
/// A sentence for what is none, or is nothing.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let split = |(unit, seconds): (&str, f64)| text.strip_suffix(unit).map(|n| (n, seconds));
    let (number, seconds) = units.into_iter().find_map(split).unwrap_or((text, 1.0));
    let value: Option<f64> = number.parse().ok();
    value
        .and_then(|value| Duration::try_from_secs_f64(value * seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("{text:?} is no time (such as 500ms, 2s, 1.5m)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("3"), Ok(Duration::from_secs(3)));
        for text in ["", "s", "-1s", "0", "2 s", "1d", "inf", "nan"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_spec_without_an_operation_begins_with_its_parameters() {
        assert_eq!(Spec::new("", &[("n", "1"), ("m", "2")]).to_string(), "m=2 n=1");
        assert_eq!(Spec::new("rest", &[("n", "1")]).to_string(), "rest n=1");
        assert_eq!(Spec::default().to_string(), "");
        let of_file = Spec { file: Some("a.txt".into()), ..Spec::new("rest", &[]) };
        assert_eq!(of_file.to_string(), "rest a.txt");
    }

    struct Nothing;

    impl Workload for Nothing {
        const OPERATIONS: &'static [Offer] = offers! { "rest" "" ""; };
        const PARAMETERS: &'static [Offer] = offers! { "size" "1K" ""; };
        const MADE: &'static [&'static str] = &["size"];
        fn load(_: &Spec) -> Result<Nothing, SpecError> {
            Ok(Nothing)
        }
        fn work(&self) -> Work {
            Work::default()
        }
        fn cases() -> Vec<Spec> {
            Vec::new()
        }
        fn small_cases() -> Vec<Spec> {
            Vec::new()
        }
    }

    #[test]
    fn defaults_are_filled_in() {
        let spec = Spec::default().completed::<Nothing>().unwrap();
        assert_eq!(spec, Spec::new("rest", &[("size", "1K")]));
        assert_eq!(spec.number("size").unwrap(), 1024);
        assert_eq!(spec.to_string(), "rest size=1K");
    }

    #[test]
    fn a_file_leaves_nothing_to_be_made() {
        let with_file = |parameters: &[(&str, &str)]| {
            let spec = Spec::new("rest", parameters);
            Spec { file: Some("data".into()), ..spec }.completed::<Nothing>()
        };
        assert_eq!(with_file(&[]).unwrap().to_string(), "rest data");
        let error = with_file(&[("size", "2K")]).unwrap_err().to_string();
        assert!(error.contains("size=2K") && error.contains("a file is given"), "{error}");
    }

    #[test]
    fn what_the_family_does_not_have_is_refused_by_name() {
        let error = Spec::new("run", &[]).completed::<Nothing>().unwrap_err().to_string();
        assert_eq!(error, "no operation \"run\" here; there is: rest");
        let error = Spec::new("rest", &[("speed", "1")]).completed::<Nothing>().unwrap_err();
        assert_eq!(error.to_string(), "no parameter \"speed\" here; there is: size");
    }

    #[test]
    fn numbers_have_binary_multipliers() {
        let cases = [("0", Some(0)), ("64", Some(64)), ("16K", Some(16384)), ("2m", Some(2 << 20))];
        for (text, number) in cases {
            assert_eq!(parse_number(text), number, "{text}");
        }
        for text in ["", "K", "-1", "1.5M", "1KK", "99999999999T", "1é"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
