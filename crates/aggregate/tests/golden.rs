//! Whole results, frozen: made by an independent program on exact fractions
//! (`testdata/aggregate/oracle.py`), or published.

use std::path::{Path, PathBuf};

use fathom_aggregate::generate::Pascal;
use fathom_aggregate::{Layout, OnError, Options, Progress, Rounding, Source, aggregate, format};
use sha2::{Digest, Sha256};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn result(input: Vec<u8>, rounding: Rounding) -> Vec<u8> {
    let reader = Box::new(std::io::Cursor::new(input));
    let source = Source::Stream { path: "golden".into(), reader };
    let progress = Progress::default();
    let summary = aggregate(vec![source], &Options::default(), OnError::Fail, &progress).unwrap();
    format::brc(&summary.columns[0], &Layout { rounding, ..Layout::default() })
}

#[test]
fn results_equal_those_of_an_independent_program() {
    let folder = root().join("testdata/aggregate");
    for name in ["cities", "shapes"] {
        let input = std::fs::read(folder.join(name).with_extension("txt")).unwrap();
        for rounding in [Rounding::HalfUp, Rounding::Ceiling, Rounding::HalfEven] {
            let golden = folder.join(name).with_extension(rounding.to_string());
            let expected = std::fs::read(&golden).unwrap();
            let found = result(input.clone(), rounding);
            assert!(found == expected, "{}", String::from_utf8_lossy(&found));
        }
    }
}

/// SHA-256 of the results of the Object Pascal challenge, ceiling rounding and one newline, as
/// published with it (github.com/gcarreno/1brc-ObjectPascal).
#[test]
#[ignore = "needs the challenge's station list, named by FATHOM_PASCAL_LIST"]
fn the_published_results_of_the_pascal_challenge_are_reproduced() {
    let list = std::env::var_os("FATHOM_PASCAL_LIST").expect("FATHOM_PASCAL_LIST names the list");
    let list = std::fs::read(list).expect("it can be read");
    let pascal = Pascal::new(&list, None).unwrap();
    for (lines, published) in [
        (1_000, "d42c37ca405f230e91dd0a75e6741dbbbcddd2338963ea0f0e727cf90ecbd7e7"),
        (10_000, "b4dd36d80a63fefdccbff50ffaaef7e2092034935c729b3330569c7c7f7351fc"),
        (100_000, "c9e50d46bba327727bf4b412ec0401e0c2e59c9035b94b288e15631ca621cb52"),
        (1_000_000, "5fedbd9811660ee3423f979a0c854ec8b70da3e804170bc39bcc400c94f93bc0"),
    ] {
        let mut input = Vec::new();
        pascal.write(lines, &mut input).unwrap();
        let hash = Sha256::digest(result(input, Rounding::Ceiling));
        let shown: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(shown, published, "{lines} lines");
    }
}
