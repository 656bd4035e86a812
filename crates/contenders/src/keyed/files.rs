//! Keys from a file: words, lines or integers. Other formats are converted first.

use std::fs;
use std::sync::Arc;

use fathom_measure::workload::{Data, Spec, SpecError};

use super::keys::{Keys, Span, Text};

/// The keys of the file of `spec`, if it has one; byte strings stay in its buffer, which is the
/// conductor's shared memory where there is one.
pub(crate) fn read(spec: &Spec) -> Result<Option<Keys>, SpecError> {
    let Some(path) = &spec.file else { return Ok(None) };
    let unreadable = |reason| SpecError::File { path: path.clone(), reason };
    let data = match &spec.shared {
        Some(data) => data.clone(),
        None => Data::own(fs::read(path).map_err(|error| unreadable(error.to_string()))?),
    };
    parse(data, spec.text("format")).map(Some).map_err(unreadable)
}

/// A data set as storage of keys.
struct Shared(Data);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn parse(bytes: Data, format: &str) -> Result<Keys, String> {
    let spans = match format {
        "words" => split(&bytes, |byte| byte.is_ascii_whitespace() || byte == 0x0b),
        "lines" => split(&bytes, |byte| byte == b'\n'),
        "u64" => return integers(&bytes),
        _ => return Err(format!("no format {format:?}; there is: words, lines, u64")),
    };
    Text::new(Arc::new(Shared(bytes)), spans)
        .map(Keys::Text)
        .map_err(|at| format!("key {at} is too long"))
}

/// Where the parts lie that `ends` separates; empty parts do not exist.
fn split(bytes: &[u8], ends: impl Fn(u8) -> bool) -> Vec<Span> {
    let (mut spans, mut start) = (Vec::new(), 0);
    for part in bytes.split(|&byte| ends(byte)) {
        // A key of 4 GiB or more gets a span past the end, which is refused.
        let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
        if len > 0 {
            spans.push(Span { start: if len == u32::MAX { u64::MAX } else { start }, len });
        }
        start += part.len() as u64 + 1;
    }
    spans
}

fn integers(bytes: &[u8]) -> Result<Keys, String> {
    let (words, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        let at = bytes.len() - rest.len();
        return Err(format!(
            "{} bytes left over at byte {at}; expected a multiple of 8",
            rest.len()
        ));
    }
    Ok(Keys::Integers(words.iter().map(|&word| u64::from_le_bytes(word)).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::keys::Bytes;
    use super::*;

    #[test]
    fn words_are_split_where_c_splits_them() {
        let bytes = b"  the quick\x0bbrown\n\nfox".to_vec();
        let spans = split(&bytes, |byte| byte.is_ascii_whitespace() || byte == 0x0b);
        let text = Text::new(Arc::new(bytes), spans).unwrap();
        let words = [&b"the"[..], b"quick", b"brown", b"fox"].map(Bytes);
        assert_eq!(text.keys(), words);
    }

    #[test]
    fn left_over_bytes_are_an_error_with_their_place() {
        assert!(integers(&[0; 11]).err().unwrap().contains("at byte 8"));
        assert!(integers(&[0; 16]).is_ok());
    }
}
