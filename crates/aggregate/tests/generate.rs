//! Generated files against the published SHA-256 hashes and against those of the first version.

use std::fs;
use std::path::Path;

use fathom_aggregate::generate::{Measurements, Pascal, Stations};
use sha2::{Digest, Sha256};

/// The Object Pascal challenge's station list, which lies beside the repository where it is at all.
const LIST: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/weather_stations.csv");

fn list() -> Option<Vec<u8>> {
    let list = fs::read(Path::new(LIST)).ok();
    if list.is_none() {
        eprintln!("skipped: no weather_stations.csv in ../shared/data");
    }
    list
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn pascal_files_have_the_published_hashes() {
    let Some(list) = list() else { return };
    let pascal = Pascal::new(&list, None).unwrap();
    assert_eq!(pascal.stations(), 41_343);
    for (rows, expected) in [
        (1_000, "0be4844a2417c08a85a44b26509bbe6868a6f65d0e0d087d3f9ceedc02f5ceaa"),
        (10_000, "447380628ca25b1c9901c2e62e01591f2e2f794d2888934a5e9d4a67d72346a5"),
        (100_000, "dd3a4821e91de82e44f17f65b1951af8a21652b92c20a7e53a1fa02ea6e5fbd2"),
        (1_000_000, "c2955973c3db29bf544655c11d2d3c7ac902c9f65014026b210bd25eb1876c0c"),
    ] {
        let mut text = Vec::new();
        pascal.write(rows, &mut text).unwrap();
        assert_eq!(sha256(&text), expected, "{rows} lines");
    }
}

#[test]
fn pascal_with_400_stations_uses_400() {
    let Some(list) = list() else { return };
    let pascal = Pascal::new(&list, Some(400)).unwrap();
    let mut text = Vec::new();
    pascal.write(20_000, &mut text).unwrap();
    let names: std::collections::HashSet<&[u8]> = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| line.split(|&byte| byte == b';').next().unwrap())
        .collect();
    assert_eq!(names.len(), 400);
}

/// A seed names a file: these hashes may change only with a note in the changelog.
#[test]
fn seeds_keep_their_meaning() {
    let file = |stations: Stations| {
        let mut text = Vec::new();
        Measurements::new(stations, 1).write(50_000, 2, &mut text).unwrap();
        sha256(&text)
    };
    let hashes = [
        ("1brc", file(Stations::world())),
        ("10k", file(Stations::scramble(10_000, 1))),
        ("41k", file(Stations::towns(41_343, 1))),
        ("chosen", file(Stations::world().chosen(10, 1).unwrap())),
    ];
    let expected = [
        ("1brc", "0e534473fb27056e0441997cb59fca48ea639fe6558242a0be960162fe71ab50"),
        ("10k", "e78bed98d1cc9bd75c54441db83c36db0a077adcb50791cfcb12c9a347869b44"),
        ("41k", "37f9fa96706c59e84470c4d98c6481ce3d6cd45c349543dc1b777afaac1c60b2"),
        ("chosen", "088aff66426c2576ed6085fc15b3e5bdd520769f766d74056a2556977736a39a"),
    ];
    for ((name, hash), (_, expected)) in hashes.iter().zip(expected) {
        assert_eq!(hash, expected, "{name}");
    }
}
