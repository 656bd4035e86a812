//! What the engine's tests share: running it over bytes, and saying the reference's answer.
#![allow(dead_code)] // not every test file wants all of it

use std::io::{Cursor, Read, Write};

use fathom_aggregate::{
    Error, OnError, Options, Partial, Progress, Reason, Source, Summary, aggregate, reference,
};

/// A file that holds `input` and nothing else, open for reading.
pub(crate) fn file(input: &[u8]) -> Source {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input).unwrap();
    Source::File { path: "input".into(), file, size: input.len() as u64 }
}

/// A stream that hands out `portion` bytes at a time.
pub(crate) fn stream(input: &[u8], portion: usize) -> Source {
    struct Portions(Cursor<Vec<u8>>, usize);
    impl Read for Portions {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let most = into.len().min(self.1);
            self.0.read(&mut into[..most])
        }
    }
    let reader = Box::new(Portions(Cursor::new(input.to_vec()), portion));
    Source::Stream { path: "input".into(), reader }
}

/// Runs the engine and keeps all rejects as `(byte, reason)` of the shown ones plus the raw text.
pub(crate) fn run(source: Source, options: &Options) -> (Summary, Vec<u8>) {
    let mut rejects = Vec::new();
    let on_error = OnError::Skip(Some(Box::new(&mut rejects)));
    let summary = aggregate(vec![source], options, on_error, &Progress::default()).unwrap();
    (summary, rejects)
}

/// Asserts that a run over `input` says what the reference says.
pub(crate) fn assert_same(input: &[u8], source: Source, options: &Options, what: &str) {
    let plain = reference::aggregate(input, options.with_squares);
    let (summary, rejects) = run(source, options);
    let groups: &[Partial] = &summary.columns[0].groups;
    if let Some((left, right)) =
        groups.iter().zip(&plain.groups).find(|(left, right)| left != right)
    {
        panic!("{what}: {left:?}\nreference: {right:?}");
    }
    assert_eq!(groups.len(), plain.groups.len(), "{what}: keys");
    assert_eq!(summary.records, plain.records, "{what}: records");
    assert_eq!(summary.blank_lines, plain.blank_lines, "{what}: blank lines");
    assert_eq!(summary.rejected, plain.rejects.len() as u64, "{what}: rejects");
    let lines_before = |byte: u64| input[..byte as usize].iter().filter(|&&b| b == b'\n').count();
    let expected: Vec<(u64, u64, Reason)> = plain
        .rejects
        .iter()
        .take(fathom_aggregate::SHOWN)
        .map(|&(byte, reason)| (byte, lines_before(byte) as u64 + 1, reason))
        .collect();
    let shown: Vec<_> =
        summary.shown_rejects.iter().map(|r| (r.record_byte, r.position.line, r.reason)).collect();
    assert_eq!(shown, expected, "{what}: shown rejects");
    let mut texts = Vec::new();
    for &(byte, _) in &plain.rejects {
        let rest = &input[byte as usize..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        texts.extend_from_slice(&rest[..end]);
        texts.push(b'\n');
    }
    assert_eq!(rejects, texts, "{what}: kept rejects");
}

/// The first error of a run that must fail.
pub(crate) fn failure(source: Source, options: &Options) -> Error {
    aggregate(vec![source], options, OnError::Fail, &Progress::default()).unwrap_err()
}
