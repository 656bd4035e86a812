//! A file of the user's as the data of a row: read whole, and refused where the row has nothing to ask of it.

use fathom_measure::workload::{Spec, SpecError};

/// Contenders hold what they make of a text several times over.
const MOST: u64 = 256 << 20;

/// The file of `spec`, which is a text.
pub(crate) fn text(spec: &Spec) -> Result<Vec<u8>, SpecError> {
    let path = spec.file.clone().unwrap_or_default();
    let bad = |reason: String| SpecError::File { path: path.clone(), reason };
    let length = std::fs::metadata(&path).map_err(|error| bad(error.to_string()))?.len();
    if length == 0 || length > MOST {
        let limit = MOST >> 20;
        return Err(bad(format!("{length} bytes; a row takes a file of 1 byte to {limit} MiB")));
    }
    let bytes = spec.bytes()?.to_vec();
    match std::str::from_utf8(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(bad(format!("no UTF-8 after byte {}", error.valid_up_to()))),
    }
}

/// The file of `spec`, which is one JSON document.
pub(crate) fn json(spec: &Spec) -> Result<Vec<u8>, SpecError> {
    let bytes = text(spec)?;
    match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => {
            let path = spec.file.clone().unwrap_or_default();
            Err(SpecError::File { path, reason: format!("not one JSON document: {error}") })
        }
    }
}

/// An operation that has nothing to ask of a file.
pub(crate) fn nothing(spec: &Spec) -> SpecError {
    let path = spec.file.clone().unwrap_or_default();
    SpecError::File { path, reason: format!("{} has data of its own only", spec.operation) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn spec(bytes: &[u8]) -> (tempfile::NamedTempFile, Spec) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let spec = Spec { file: Some(file.path().into()), ..Spec::new("dom", &[]) };
        (file, spec)
    }

    #[test]
    fn a_file_that_a_row_cannot_take_is_refused_with_the_place() {
        let (_kept, empty) = spec(b"");
        assert!(text(&empty).unwrap_err().to_string().contains("0 bytes"));
        let (_kept, latin) = spec(b"caf\xe9");
        assert!(text(&latin).unwrap_err().to_string().ends_with("no UTF-8 after byte 3"));
        let (_kept, lines) = spec(b"{\"a\":1}\n{\"a\":2}\n");
        assert_eq!(text(&lines).unwrap().len(), 16);
        assert!(json(&lines).unwrap_err().to_string().contains("at line 2 column 1"));
        let (_kept, right) = spec(b" [1, \"\\u00e9\", {}]\n");
        assert_eq!(json(&right).unwrap().len(), 19);
    }
}
