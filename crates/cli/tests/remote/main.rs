//! Objects of stores as input: the same bytes out as of a local file, whatever a server does, or a clear
//! error. The server is one of our own, which can do wrong, and one that others wrote (moto).

#[cfg(not(feature = "remote"))]
#[path = "../common/mod.rs"]
mod common;

/// What a build without the feature says.
#[cfg(not(feature = "remote"))]
#[test]
fn without_the_feature_an_address_is_a_mistake_that_names_it() {
    for words in [
        "aggregate s3://bucket/key", "aggregate --partial https://localhost/key",
        "haversine gs://bucket/key", "haversine HTTP://localhost/key", "plan az://container/*.csv",
    ] {
        let output = common::piped(tempfile::tempdir().unwrap().path(), words.split(' '), b"");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains("built without the feature `remote`"), "{words}: {said}");
        assert!(said.contains("cargo build --features remote"), "{words}: {said}");
    }
}

#[cfg(feature = "remote")]
mod server;
#[cfg(feature = "remote")]
#[path = "../common/signals.rs"]
mod signals;
#[cfg(feature = "remote")]
mod with;
