//! The workload of the family: a document of pairs in memory, generated or a file, read to its mean.

use std::num::NonZeroUsize;

use fathom_haversine::generate::{self, Method, Numbers, Pairs};
use fathom_haversine::{Options, Outcome, Pair, mean_exact};
use fathom_json::{Event, Lexer, Located, Mode};
use fathom_measure::contender::{Preparation, timed};
use fathom_measure::digest::Digest;
use fathom_measure::workload::{Data, Offer, Spec, SpecError, Work, Workload};

use crate::own;
use crate::tasks::{offer, parameter};

/// A document `{"pairs":[…]}`.
pub struct Document {
    bytes: Data,
    pairs: u64,
}

impl Workload for Document {
    const OPERATIONS: &'static [Offer] =
        &[offer("mean", "JSON to the exactly rounded mean distance")];
    const PARAMETERS: &'static [Offer] = &[
        parameter("count", "96K", "pairs in the document, without a file"),
        parameter("seed", "1", "seed of the pairs"),
        parameter("numbers", "shortest", "how numbers are printed: shortest or course"),
    ];
    const MADE: &'static [&'static str] = &["count", "seed", "numbers"];

    fn load(spec: &Spec) -> Result<Document, SpecError> {
        if spec.file.is_some() {
            let bytes = spec.bytes()?;
            let path = spec.file.clone().unwrap_or_default();
            let outcome = super::fathom::read(&bytes).map_err(|error| {
                own::packed(&bytes).map_or_else(|| error.to_string(), str::to_owned)
            });
            let outcome = outcome.and_then(|outcome| match is_one_object(&bytes) {
                true => Ok(outcome),
                false => Err(r#"a row takes one document {"pairs":[…]}"#.to_owned()),
            });
            let outcome = outcome.map_err(|reason| SpecError::File { path, reason })?;
            return Ok(Document { bytes, pairs: outcome.pairs });
        }
        let numbers = match spec.text("numbers") {
            "shortest" => Numbers::Shortest,
            "course" => Numbers::Course,
            _ => return Err(spec.bad("numbers", "shortest or course")),
        };
        let count = spec.number("count")?;
        if !(1..=100_000_000).contains(&count) {
            return Err(spec.bad("count", "1 to 100M"));
        }
        let mut json = Vec::new();
        let pairs = Pairs::new(Method::Uniform, spec.number("seed")?, count);
        generate::write(pairs, numbers, NonZeroUsize::MIN, &mut json, None)
            .expect("memory can be written");
        Ok(Document { bytes: Data::own(json), pairs: count })
    }

    fn work(&self) -> Work {
        Work { bytes: self.bytes.len() as u64, items: self.pairs }
    }

    fn cases() -> Vec<Spec> {
        ["shortest", "course"].map(|numbers| Spec::new("mean", &[("numbers", numbers)])).into()
    }

    fn small_cases() -> Vec<Spec> {
        let case = |count, numbers| Spec::new("mean", &[("count", count), ("numbers", numbers)]);
        vec![
            case("1", "course"),
            case("10", "shortest"),
            case("3K", "shortest"),
            case("500", "course"),
        ]
    }

    /// The document itself: other languages generate none.
    fn prepared(&self) -> Option<Vec<u8>> {
        Some(self.bytes.to_vec())
    }

    fn wants_bytes() -> bool {
        true
    }
}

/// Whether the pairs of a text that the engine reads are a member of one object: the other layouts
/// are its own.
fn is_one_object(json: &[u8]) -> bool {
    let (mut lexer, mut at) = (Lexer::new(Mode::Document), 0);
    while let Ok(Some(Located { event, depth, .. })) = lexer.next_located(json, &mut at) {
        match event {
            // The engine has seen that nothing follows the object.
            Event::Key(key) if depth == 1 && key.is("pairs") => return true,
            Event::StartArray if depth == 1 => return false,
            _ => {}
        }
    }
    false
}

impl Document {
    /// A contender that reads the pairs with `read`.
    pub(super) fn timed_pairs(
        &self,
        mut read: impl FnMut(&[u8]) -> Vec<Pair> + 'static,
    ) -> Preparation<'_> {
        let mean = move |bytes: &[u8]| mean_exact(&read(bytes), &Options::default());
        Ok(timed(&self.bytes[..], mean, |mean| Digest::of_u64(mean.map_or(0, f64::to_bits))))
    }

    /// A contender that does all by itself.
    pub(super) fn timed_outcome(
        &self,
        read: impl FnMut(&[u8]) -> Outcome + 'static,
    ) -> Preparation<'_> {
        Ok(timed(&self.bytes[..], read, |outcome| Digest::of_u64(outcome.mean_exact.to_bits())))
    }
}

#[cfg(test)]
mod tests {
    use fathom_measure::family::AnyFamily;

    use super::super::{FAMILY, digest};
    use super::*;

    fn spec(text: &str) -> (tempfile::NamedTempFile, Spec) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let spec = Spec { file: Some(file.path().into()), ..Spec::new("mean", &[]) };
        (file, spec)
    }

    #[test]
    fn objects_elsewhere_are_no_pairs_and_take_nothing_from_one() {
        let other = r#"{"x0":9.5,"y0":9.5,"x1":9.5,"y1":9.5}"#;
        let pair = r#"{"x0":1.5,"n":{"x0":8.5},"y0":2.5,"\u00781":3.5,"m":[{}],"y1":4.5}"#;
        let text = format!(r#"{{"a":[{other}],"pairs":[{pair},{pair}],"b":{{"c":{other}}}}}"#);
        let (_kept, spec) = spec(&text);
        let pair = Pair { x0: 1.5, y0: 2.5, x1: 3.5, y1: 4.5 };
        let mean = mean_exact(&[pair, pair], &Options::default()).unwrap();
        for entry in FAMILY.entries() {
            let found = digest(&FAMILY, &entry.id, &spec);
            assert_eq!(found, Digest::of_u64(mean.to_bits()), "{}", entry.id);
        }
    }

    /// They ended contenders in the middle of a run.
    #[test]
    fn layouts_that_only_the_engine_reads_are_refused() {
        let pair = r#"{"x0":1,"y0":2,"x1":3,"y1":4}"#;
        for text in [pair.to_owned(), format!("{pair}\n{pair}\n"), format!("[{pair},{pair}]")] {
            let (_kept, spec) = spec(&text);
            let error = Document::load(&spec).map(drop).unwrap_err().to_string();
            assert!(error.ends_with(r#"takes one document {"pairs":[…]}"#), "{error}");
        }
    }
}
