//! Generated files against the published SHA-256 hashes and against those of the first version.

use fathom_aggregate::generate::{Measurements, Pascal, Stations};
use sha2::{Digest, Sha256};

/// The Object Pascal challenge's station list, which is not ours to hand on.
fn list() -> Vec<u8> {
    let path = std::env::var_os("FATHOM_PASCAL_LIST").expect("FATHOM_PASCAL_LIST names the list");
    std::fs::read(path).expect("it can be read")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stations as a list has them: in any case and order, with comments, twice, and with coordinates.
const SMALL_LIST: &[u8] =
    b"# a comment\nZagreb;45.8\noslo;59.9\nOslo;1.0\nAbha;18.2\n\xc3\x85rhus;56.2\n\
    Bergen;60.4\nabidjan;5.3\nBERGEN;0\nQuito;-0.2\nUlm;48.4\n";

/// The challenge's generator again, from its description: stations sorted without regard to case,
/// each with a span and a lowest value, then a station and a value a line, all from one state.
fn by_the_book(list: &[u8], keep: usize, lines: usize) -> Vec<u8> {
    let text = list.split(|&byte| byte == b'\n').filter(|l| !l.is_empty() && l[0] != b'#');
    let mut names: Vec<&[u8]> =
        text.map(|line| line.split(|&byte| byte == b';').next().unwrap()).collect();
    names.sort_by_key(|name| name.to_ascii_uppercase());
    names.dedup_by_key(|name| name.to_ascii_uppercase());
    let (mut a, mut b) = (46_668_267_u32, 7266_u32);
    let mut next = |range: usize| {
        let mixed = a ^ b;
        let t = (mixed.wrapping_mul(3) ^ 5).wrapping_mul(7);
        b = a ^ (mixed << 9);
        a = t;
        ((u64::from(t) * range as u64) >> 32) as usize
    };
    while names.len() > keep {
        names.remove(next(names.len()));
    }
    let ranges: Vec<(usize, usize)> = (0..names.len())
        .map(|_| {
            let span = next(501) + 350;
            (next(1999 - span), span)
        })
        .collect();
    let mut text = Vec::new();
    for _ in 0..lines {
        let station = next(names.len());
        let (low, span) = ranges[station];
        let tenths = (low + next(span)) as i32 - 999;
        let sign = if tenths < 0 { "-" } else { "" };
        let value = format!(";{sign}{}.{}\n", tenths.abs() / 10, tenths.abs() % 10);
        text.extend_from_slice(names[station]);
        text.extend_from_slice(value.as_bytes());
    }
    text
}

#[test]
fn pascal_files_are_those_of_the_description() {
    for keep in [3, 8, 100] {
        let pascal = Pascal::new(SMALL_LIST, (keep < 100).then_some(keep)).unwrap();
        assert_eq!(pascal.stations(), keep.min(8));
        let mut text = Vec::new();
        pascal.write(5000, &mut text).unwrap();
        assert_eq!(text, by_the_book(SMALL_LIST, keep, 5000), "{keep} stations");
    }
}

#[test]
#[ignore = "needs the challenge's station list, named by FATHOM_PASCAL_LIST"]
fn pascal_files_have_the_published_hashes() {
    let list = list();
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

/// A seed names a file: these hashes may change only with a note in the changelog.
#[test]
fn seeds_keep_their_meaning() {
    let (world, chosen) = (Stations::world(), Stations::world().chosen(10, 1).unwrap());
    let (scramble, towns) = (Stations::scramble(10_000, 1), Stations::towns(41_343, 1));
    for (name, stations, expected) in [
        ("1brc", world, "0e534473fb27056e0441997cb59fca48ea639fe6558242a0be960162fe71ab50"),
        ("10k", scramble, "e78bed98d1cc9bd75c54441db83c36db0a077adcb50791cfcb12c9a347869b44"),
        ("41k", towns, "37f9fa96706c59e84470c4d98c6481ce3d6cd45c349543dc1b777afaac1c60b2"),
        ("chosen", chosen, "088aff66426c2576ed6085fc15b3e5bdd520769f766d74056a2556977736a39a"),
    ] {
        let mut text = Vec::new();
        Measurements::new(stations, 1).write(50_000, 2, &mut text).unwrap();
        assert_eq!(sha256(&text), expected, "{name}");
    }
}
