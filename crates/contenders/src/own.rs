//! A file of the user's as the data of a row: read whole, and refused where the row has nothing to ask of it.

use std::io;
use std::path::Path;

use fathom_json::{Event, Lexer, Mode};
use fathom_measure::workload::{Spec, SpecError};

/// Contenders hold what they make of a text several times over.
const MOST: u64 = 256 << 20;

/// The file of `spec`, which is a text.
pub(crate) fn text(spec: &Spec) -> Result<Vec<u8>, SpecError> {
    let path = spec.file.clone().unwrap_or_default();
    let bad = |reason: String| SpecError::File { path: path.clone(), reason };
    let length = regular(&path)?;
    if length == 0 || length > MOST {
        let limit = MOST >> 20;
        return Err(bad(format!("{length} bytes; a row takes a file of 1 byte to {limit} MiB")));
    }
    let bytes = spec.bytes()?.to_vec();
    if let Some(reason) = packed(&bytes) {
        return Err(bad(reason.to_owned()));
    }
    match std::str::from_utf8(&bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(bad(format!("no UTF-8 after byte {}", error.valid_up_to()))),
    }
}

/// The length of a file that can be read several times; asking for it does not wait, as opening may.
///
/// # Errors
/// A file that is not there, a folder, a pipe or a device.
pub fn regular(path: &Path) -> Result<u64, SpecError> {
    let about = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if about.is_dir() {
        return Err(unreadable(path, io::ErrorKind::IsADirectory.into()));
    }
    let often = || io::Error::other("no regular file, and a row reads it several times");
    if about.is_file() { Ok(about.len()) } else { Err(unreadable(path, often())) }
}

/// What is wrong with a text that begins like a compressed one: rows measure what is in memory.
pub(crate) fn packed(bytes: &[u8]) -> Option<&'static str> {
    const MAGICS: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];
    let is_packed = MAGICS.iter().any(|magic| bytes.starts_with(magic));
    is_packed.then_some("compressed, and rows take files as they are: decompress it first")
}

/// A file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> SpecError {
    SpecError::Unreadable { path: path.to_owned(), error }
}

/// The file of `spec`, which is one JSON document.
pub(crate) fn json(spec: &Spec) -> Result<Vec<u8>, SpecError> {
    let bytes = text(spec)?;
    let read = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes);
    let read = read.map_err(|error| format!("not one JSON document: {error}"));
    match read.and_then(|_| read_alike(&bytes)) {
        Ok(()) => Ok(bytes),
        Err(reason) => Err(SpecError::File { path: spec.file.clone().unwrap_or_default(), reason }),
    }
}

/// Refuses what the grammar of JSON has and hardly a library reads: half a surrogate pair, a number beyond
/// doubles, containers in a thousand others.
fn read_alike(document: &[u8]) -> Result<(), String> {
    let alike = |event: Event<'_>, at: usize| {
        let why = match event {
            Event::Key(text) | Event::String(text) => text.decode().err().map(|e| e.to_string()),
            Event::Number(number) => number.to_f64().err().map(|e| e.to_string()),
            _ => None,
        };
        why.map_or(Ok(()), |why| Err(format!("{why}, before byte {at}")))
    };
    let mut lexer = Lexer::new(Mode::Document);
    let mut at = 0;
    while let Some(event) = lexer.next(document, &mut at).map_err(|error| error.to_string())? {
        alike(event, at)?;
    }
    // A number that nothing follows.
    while let Some(event) = lexer.end().map_err(|error| error.to_string())? {
        alike(event, at)?;
    }
    Ok(())
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
        let pipe = Spec { file: Some("/dev/zero".into()), ..Spec::new("dom", &[]) };
        assert!(text(&pipe).unwrap_err().to_string().contains("no regular file"));
        let (_kept, gzip) = spec(b"\x1f\x8b\x08\0");
        assert!(text(&gzip).unwrap_err().to_string().ends_with("decompress it first"));
        let (_kept, lines) = spec(b"{\"a\":1}\n{\"a\":2}\n");
        assert_eq!(text(&lines).unwrap().len(), 16);
        assert!(json(&lines).unwrap_err().to_string().contains("at line 2 column 1"));
        for (text, why) in [
            (r#"["a\ud800"]"#, "half a surrogate pair"),
            ("[1, -1e400]", "before byte 10"),
            ("1e400", "before byte 5"),
            (&"[".repeat(1025), "EOF"),
            (&("[".repeat(1025) + &"]".repeat(1025)), "nested too deeply"),
        ] {
            let (_kept, unlike) = spec(text.as_bytes());
            let error = json(&unlike).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let (_kept, right) = spec(b" [1, \"\\u00e9\", {}]\n");
        assert_eq!(json(&right).unwrap().len(), 19);
    }
}
