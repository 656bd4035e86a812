//! What the tests are told by what they started.

use std::process::Output;

/// All of it, and how it ended.
pub(crate) fn words(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{}\n{out}\n{err}", output.status)
}

/// What was said by what ended with this code.
#[track_caller]
pub(crate) fn told(code: i32, output: &Output) -> String {
    let said = words(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// Checks that what ended with this code said this.
#[track_caller]
pub(crate) fn says(code: i32, output: &Output, part: &str) {
    let said = told(code, output);
    assert!(said.contains(part), "{said}");
}
