//! Traces replayed by every key-value structure, against a model that knows nothing of the loops that
//! replay them.
#![cfg(feature = "kv")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use fathom_contenders::kv;
use fathom_measure::digest::Digest;
use fathom_measure::family::OpenError;
use fathom_measure::meter::Untimed;
use fathom_measure::workload::Spec;
use fathom_random::Random;

/// What replaying `lines` on `entries` must answer, as docs/protocol.md has it.
fn model<K: Ord + Clone>(entries: &[K], lines: &[(&str, K, u64)]) -> Digest {
    let mut map: BTreeMap<K, u64> = BTreeMap::new();
    for (place, key) in (0..).zip(entries) {
        map.entry(key.clone()).or_insert(place);
    }
    let (mut count, mut sum) = (0_u64, 0_u64);
    for (place, (act, key, span)) in (entries.len() as u64..).zip(lines) {
        let met = match *act {
            "get" => map.get(key).copied(),
            "put" => map.insert(key.clone(), place),
            "del" => map.remove(key),
            _ => {
                for (_, value) in map.iter().filter(|(other, _)| *other >= key).take(*span as usize)
                {
                    count += 1;
                    sum = sum.wrapping_mul(31).wrapping_add(*value);
                }
                continue;
            }
        };
        count += u64::from(met.is_some());
        sum = sum.wrapping_mul(31).wrapping_add(met.map_or(0, |value| value + 1));
    }
    let digest = Digest::of_u64(count).with_u64(sum).with_u64(map.len() as u64);
    if lines.iter().all(|(act, ..)| matches!(*act, "get" | "scan")) {
        return digest;
    }
    let there = lines.iter().map(|(_, key, _)| key).chain(entries);
    let there: Vec<u64> = there.filter_map(|key| map.get(key).copied()).collect();
    digest.with_u64(there.len() as u64).with_u64(there.iter().sum())
}

/// A trace that meets each of few keys many times.
fn drawn(random: &mut Random, acts: &[&'static str]) -> Vec<(&'static str, u64, u64)> {
    let mut line = |_| {
        let act = acts[random.below(acts.len() as u64) as usize];
        (act, 1 + random.below(60), 1 + random.below(9))
    };
    (0..700).map(&mut line).collect()
}

fn text<K: ToString>(lines: &[(&str, K, u64)]) -> String {
    let mut text = String::new();
    for (act, key, span) in lines {
        let _ = match *act {
            "scan" => writeln!(text, "scan {} {span}", key.to_string()),
            act => writeln!(text, "{act} {}", key.to_string()),
        };
    }
    text
}

/// Every structure that takes part answers as the model does; how many those are.
fn replayed(spec: &Spec, expected: Digest) -> usize {
    let mut taken = 0;
    for entry in kv::family().entries() {
        for iterations in [1, 3] {
            let mut digests = Vec::new();
            let opened = kv::family().open(&entry.id, spec, &mut |opened| {
                let mut prepared = opened.prepared;
                digests = (0..2).map(|_| prepared.sample(iterations, &mut Untimed)).collect();
            });
            match opened {
                Ok(()) => assert_eq!(digests, [expected; 2], "{} on {spec}", entry.id),
                Err(OpenError::Unsupported(_)) => continue,
                Err(error) => panic!("{} on {spec}: {error}", entry.id),
            }
            taken += 1;
        }
    }
    taken
}

fn spec(trace: &Path, file: Option<&Path>) -> Spec {
    let mut spec = Spec::new("replay", &[("trace", trace.to_str().unwrap())]);
    match file {
        Some(file) => spec.file = Some(file.to_owned()),
        None => drop(spec.parameters.insert("count".to_owned(), "0".to_owned())),
    }
    kv::family().completed(&spec).unwrap()
}

/// Every structure that does `acts`, of which there are so many, replays them as the model says: of integers and words, on a
/// file of keys and on none.
fn replays(acts: &[&'static str], at_least: usize) {
    let lines = drawn(&mut Random::new(5 + acts.len() as u64), acts);
    let entries: Vec<u64> = (0..40).map(|at| at * at % 61 + 1).collect();
    replays_keys(&entries, &lines, at_least);
    let word = |key: &u64| format!("w{key}");
    let words: Vec<String> = entries.iter().map(word).collect();
    let named: Vec<_> = lines.iter().map(|(act, key, span)| (*act, word(key), *span)).collect();
    replays_keys(&words, &named, at_least);
}

fn replays_keys<K: Ord + Clone + ToString>(entries: &[K], lines: &[(&str, K, u64)], least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = (folder.path().join("trace"), folder.path().join("keys"));
    let shown: Vec<String> = entries.iter().map(K::to_string).collect();
    std::fs::write(&trace, text(lines)).unwrap();
    std::fs::write(&file, shown.join("\n")).unwrap();
    for (file, there) in [(None, &[][..]), (Some(&*file), entries)] {
        let taken = replayed(&spec(&trace, file), model(there, lines));
        assert!(taken >= least, "{file:?}: {taken}");
    }
}

#[test]
fn updates_replay_as_the_model_says() {
    replays(&["get", "get", "put", "del"], 60);
}

#[test]
fn updates_between_scans_replay_as_the_model_says() {
    replays(&["get", "put", "put", "del", "scan"], 10);
}

#[test]
fn scans_replay_as_the_model_says() {
    replays(&["get", "get", "scan"], 10);
}

/// One made room for as many as were asked for.
#[test]
fn a_scan_of_any_length_ends_with_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let spans = [u64::from(u32::MAX), 20_000_000, 1, 3];
    let scans = spans.into_iter().map(|span| ("scan", 5, span));
    let lines: Vec<(&str, u64, u64)> =
        [("put", 5, 0), ("put", 9, 0), ("put", u64::MAX, 0)].into_iter().chain(scans).collect();
    std::fs::write(&trace, text(&lines)).unwrap();
    assert!(replayed(&spec(&trace, None), model(&[], &lines)) >= 10);
}

#[test]
fn who_cannot_do_what_the_trace_does_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace");
    let reason = |id: &str, text: &str| {
        std::fs::write(&path, text).unwrap();
        let opened = kv::family().open(id, &spec(&path, None), &mut |_| ());
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(reason("std+siphash13", "put a\nscan a 3").contains("has no ordered range"));
    assert!(reason("fst", "put a\nget a").contains("has no insert"));
    assert_eq!(reason("std+siphash13", "put a\ndel a\ndel a"), "");
    assert_eq!(reason("btreemap", "put a\nscan a 3"), "");
}

#[test]
fn keys_are_what_the_first_ones_are_or_what_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, file) = (folder.path().join("trace"), folder.path().join("keys"));
    std::fs::write(&trace, "put 9\nput 10\nscan 1 9").unwrap();
    let answer = |spec: &Spec| {
        let mut digest = None;
        let opened = kv::family().open("btreemap", spec, &mut |mut opened| {
            digest = Some(opened.prepared.sample(1, &mut Untimed));
        });
        opened.map_err(|error| error.to_string()).map(|()| digest.unwrap())
    };
    let numbers = [("put", 9_u64, 0), ("put", 10, 0), ("scan", 1, 9)];
    assert_eq!(answer(&spec(&trace, None)), Ok(model(&[], &numbers)));
    let words = numbers.map(|(act, key, span)| (act, key.to_string(), span));
    let mut as_text = spec(&trace, None);
    as_text.parameters.insert("format".to_owned(), "lines".to_owned());
    assert_eq!(answer(&as_text), Ok(model(&[], &words)));
    assert_ne!(model(&[], &numbers), model(&[], &words), "order tells them apart");
    std::fs::write(&file, "a 7").unwrap();
    let entries = ["a".to_owned(), "7".to_owned()];
    assert_eq!(answer(&spec(&trace, Some(&file))), Ok(model(&entries, &words)));
    std::fs::write(&file, "7 8").unwrap();
    std::fs::write(&trace, "put 9\nget x").unwrap();
    let error = answer(&spec(&trace, Some(&file))).unwrap_err();
    assert!(error.contains("line 2, column 5: \"x\" is no whole number"), "{error}");
}
