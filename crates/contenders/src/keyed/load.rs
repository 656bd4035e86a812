//! Where keys come from: the file of a spec in any format of `fathom-keys`, a trace, or a recipe. Copies
//! no bytes that the format lets lie where they are.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use fathom_keys::generate::{Recipe, Shape, Sizes, generate};
use fathom_keys::trace::{self, Act, Kind, Trace};
use fathom_keys::{Format, KeySet, detect, read};
use fathom_measure::workload::{Data, Offer, Spec, SpecError};

use super::keys::{Keys, Shared, Storage, Text};
use crate::own;
use crate::tasks::parameter;

/// Where keys come from; shared by all families that work on keys.
pub(crate) const PARAMETERS: [Offer; 4] = [
    parameter(
        "keys",
        "words",
        "without a file: words, urls, emails, uuids, ipv4, paths, hex, dna, random, clustered, \
              sequential, long (410 letters), integers, integers-sequential, integers-clustered",
    ),
    parameter("count", "100000", "without a file: how many keys"),
    parameter(
        "format",
        "auto",
        "of the file: words, lines, csv:COLUMN, jsonl:FIELD, integers, u32, u64, bin-text …",
    ),
    parameter("seed", "1", "seed of keys and probes"),
];

/// The keys of a spec: from its file, or from its seed.
pub(crate) fn keys(spec: &Spec) -> Result<Keys, SpecError> {
    match &spec.file {
        Some(path) => {
            let unusable = |reason| SpecError::File { path: path.clone(), reason };
            let data = match &spec.shared {
                Some(data) => data.clone(),
                None => Data::own(fs::read(path).map_err(|error| own::unreadable(path, error))?),
            };
            parse(data, spec.text("format")).map_err(unusable)
        }
        None => made(spec),
    }
}

fn parse(data: Data, format: &str) -> Result<Keys, String> {
    let format = match format {
        "auto" => detect(&data).map_err(|error| error.to_string())?,
        named => named.parse::<Format>().map_err(|error| error.to_string())?,
    };
    let KeySet { bytes, keys, .. } = read(&data, &format).map_err(|error| error.to_string())?;
    let bytes = owned(bytes);
    lasting(bytes, data, keys)
}

/// The bytes, where they are not those of the file; otherwise how many of its last ones they are: all but a mark.
fn owned(bytes: Cow<'_, [u8]>) -> Result<Vec<u8>, usize> {
    match bytes {
        Cow::Owned(bytes) => Ok(bytes),
        Cow::Borrowed(bytes) => Err(bytes.len()),
    }
}

/// Keys in `bytes` of their own, or in the last ones of the file.
fn lasting(
    bytes: Result<Vec<u8>, usize>,
    data: Data,
    keys: fathom_keys::Keys,
) -> Result<Keys, String> {
    match bytes {
        Ok(bytes) => held(Arc::new(bytes), keys),
        Err(last) => held(Arc::new(Shared(data.len() - last, data)), keys),
    }
}

/// The trace in the file at `path`: the key of each operation, of the kind of `keys` if there are any,
/// and what is done to it.
pub(super) fn trace(path: &Path, keys: &Keys, spec: &Spec) -> Result<(Keys, Vec<Act>), SpecError> {
    let unusable = |reason| SpecError::File { path: path.to_owned(), reason };
    let kind = match (keys, spec.text("format")) {
        (keys, "auto") if keys.is_empty() => None,
        (keys, "integers" | "u32" | "u64") if keys.is_empty() => Some(Kind::Integers),
        (Keys::Integers(keys), _) if !keys.is_empty() => Some(Kind::Integers),
        _ => Some(Kind::Bytes),
    };
    let data = Data::own(fs::read(path).map_err(|error| own::unreadable(path, error))?);
    let read = trace::read(&data, kind).map_err(|error| unusable(error.to_string()))?;
    let Trace { acts, keys: KeySet { bytes, keys, .. } } = read;
    let bytes = owned(bytes);
    Ok((lasting(bytes, data, keys).map_err(unusable)?, acts))
}

fn held(bytes: Storage, keys: fathom_keys::Keys) -> Result<Keys, String> {
    match keys {
        fathom_keys::Keys::Integers(keys) => Ok(Keys::Integers(keys)),
        fathom_keys::Keys::Bytes(spans) => Text::new(bytes, spans)
            .map(Keys::Text)
            .map_err(|at| format!("key {at} reaches past the end")),
    }
}

fn made(spec: &Spec) -> Result<Keys, SpecError> {
    let count = spec.number("count")?;
    if count > 1 << 30 {
        return Err(spec.bad("count", "at most 1G keys"));
    }
    let seed = spec.number("seed")?;
    let mut recipe = Recipe { count, seed, printable_values: true, ..Recipe::default() };
    let shape = |name| Shape::ALL.iter().find(|(known, _)| *known == name).map(|found| found.1);
    match spec.text("keys") {
        // The length of kvbench's proteins.
        "long" => recipe.sizes = Some(Sizes::Fixed(410)),
        "integers" => recipe.integer_bits = Some(64),
        name => match name.strip_prefix("integers-") {
            Some(name) if ["sequential", "clustered"].contains(&name) => {
                recipe.integer_bits = Some(64);
                recipe.shape = shape(name).unwrap_or(Shape::Random);
            }
            _ => {
                let known = "expected words, urls, emails, uuids, ipv4, paths, hex, dna, random, clustered, \
                             sequential, long, integers, integers-sequential or integers-clustered";
                recipe.shape = shape(name).ok_or_else(|| spec.bad("keys", known))?;
            }
        },
    }
    let set = generate(&recipe).map_err(|error| spec.bad("keys", &error.to_string()))?;
    held(Arc::new(set.bytes.into_owned()), set.keys).map_err(|reason| spec.bad("keys", &reason))
}

#[cfg(test)]
mod tests {
    use super::super::keys::Bytes;
    use super::*;

    #[test]
    fn words_stay_where_they_are_and_decoded_fields_are_copied() {
        let data = Data::own(b"one two".to_vec());
        let Ok(Keys::Text(words)) = parse(data.clone(), "words") else { panic!() };
        assert_eq!(words.key(1), Bytes(b"two"));
        assert_eq!(words.key(0).0.as_ptr(), data.as_ptr());
        let lines = Data::own(br#"{"k":"a\nb"}"#.to_vec());
        let Ok(Keys::Text(fields)) = parse(lines, "jsonl:k") else { panic!() };
        assert_eq!(fields.key(0), Bytes(b"a\nb"));
    }

    /// Each began three bytes before itself.
    #[test]
    fn keys_behind_a_byte_order_mark_are_what_they_are_without_it() {
        for (format, text) in
            [("words", "one two"), ("lines", "one\ntwo"), ("csv:k", "k\none\ntwo")]
        {
            let marked = Data::own(format!("\u{feff}{text}").into_bytes());
            let Ok(Keys::Text(keys)) = parse(marked, format) else { panic!("{format}") };
            assert_eq!([0, 1].map(|at| keys.key(at)), [Bytes(b"one"), Bytes(b"two")], "{format}");
        }
    }

    /// Their operations were measured on byte strings.
    #[test]
    fn a_trace_on_a_file_of_no_integers_is_of_integers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace");
        fs::write(&path, "put 7\n").unwrap();
        for format in ["integers", "u32", "u64"] {
            let spec = Spec::new("replay", &[("format", format)]);
            let (keys, _) = trace(&path, &Keys::Integers(Vec::new()), &spec).unwrap();
            assert!(matches!(keys, Keys::Integers(keys) if keys == [7]), "{format}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = parse(Data::own(vec![0; 11]), "u64").err().unwrap();
        assert!(error.contains("byte"), "{error}");
        assert!(parse(Data::own(vec![1]), "cats").is_err());
    }
}
