//! What holds for every family and contender, read from the slices: names, pages, agreement.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::available_parallelism;

use fathom_contenders::{beside, families, version};
use fathom_machine::needs::not_run;
use fathom_measure::contender::{Origin, page};
use fathom_measure::digest::Digest;
use fathom_measure::family::{AnyFamily, OpenError, Opened};
use fathom_measure::meter::Untimed;
use fathom_measure::workload::{Spec, SpecError};

fn is_kebab(name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    name.split('-').all(part)
}

fn digest(family: &dyn AnyFamily, id: &str, spec: &Spec, iterations: u64) -> Option<Digest> {
    let mut digest = None;
    let opened = family.open(id, spec, &mut |mut opened| {
        digest = Some(opened.prepared.sample(iterations, &mut Untimed));
    });
    match opened {
        Ok(()) => digest,
        Err(OpenError::Unsupported(_)) => None,
        Err(error) => panic!("{}/{id} on {spec}: {error}", family.name()),
    }
}

#[test]
fn names_are_unique_and_kebab_case() {
    let mut names = BTreeSet::new();
    for family in families() {
        assert!(is_kebab(family.name()) && names.insert(family.name()), "{}", family.name());
        let mut ids = BTreeSet::new();
        for entry in family.entries() {
            let id = entry.id;
            assert!(id.splitn(2, '+').all(is_kebab), "{}/{id}", family.name());
            assert!(ids.insert(id.clone()), "{}/{id} twice", family.name());
        }
        for absent in family.absent() {
            let (name, reason) = (absent.name, absent.reason.to_string());
            assert!(!ids.contains(name), "{name} is here and absent");
            assert!(reason.len() > 10, "{name} is absent for no reason");
        }
        assert!(ids.contains(family.reference()), "{}: no reference", family.name());
    }
}

#[test]
fn pages_are_written_and_versions_known() {
    for family in families() {
        assert!(family.source().starts_with("//! "), "{}: no page", family.name());
        let has_links = |page: &str| page.contains("[`");
        assert!(!has_links(&page(family.source())), "{}: people read it", family.name());
        for entry in family.entries() {
            let (name, meta) = (format!("{}/{}", family.name(), entry.id), entry.meta);
            assert!(meta.summary().len() > 20, "{name}: its file opens with no sentence");
            assert!(!meta.licence.is_empty(), "{name}: no licence");
            let version = version(meta.origin);
            // Of libdeflate it was the number of the interface, 0.
            let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version != "0";
            assert!(is_version || version == "not told", "{name}: {version}");
            if !matches!(meta.origin, Origin::Own) {
                assert!(meta.link().starts_with("https://"), "{name}: no link");
            }
        }
    }
}

/// A library had the licence of its newest version whatever its version was.
#[test]
fn a_licence_is_that_of_the_version() {
    const KNOWN: [(&str, &str, &str); 7] = [
        ("icu", "72.", "ICU"),
        ("icu", "76.", "Unicode-3.0"),
        ("lzma", "5.4.", "LicenseRef-public-domain"),
        ("lzma", "5.8.", "0BSD"),
        ("openssl", "1.1.", "OpenSSL"),
        ("openssl", "3.", "Apache-2.0"),
        ("openssl", "4.", "Apache-2.0"),
    ];
    for entry in families().iter().flat_map(|family| family.entries()) {
        let (name, version) = (entry.meta.name, version(entry.meta.origin));
        let is_it = |of: &&(&str, &str, &str)| of.0 == name && version.starts_with(of.1);
        if let Some((.., licence)) = KNOWN.iter().find(is_it) {
            assert_eq!(entry.meta.licence, *licence, "{name} {version}");
        }
    }
}

/// What the source of a contender that takes a crate has: its name, or a file beside that takes it.
const HELPERS: [(&str, &[&str]); 5] = [
    ("aes", &["\nuse aes::"]),
    ("hmac", &["\nuse hmac::"]),
    ("memchr", &[" memchr::memchr(0"]),
    ("serde", &["\nuse serde::", "\nuse super::pooled::", "\nuse super::serde_json::"]),
    ("serde-transcode", &["\nuse super::human::"]),
];

/// `fathom cpu --recommend` has a line for each crate. It had none for `serde`.
#[test]
fn crates_that_serve_others_are_known_where_they_are_used() {
    for family in families() {
        for entry in family.entries() {
            let Origin::Crate(own) = entry.meta.origin else { continue };
            for (helper, uses) in HELPERS {
                let is_used = uses.iter().any(|text| entry.meta.source.contains(text));
                let operations = family.operations().iter();
                let is_known = operations
                    .flat_map(|operation| beside(entry.meta.origin, operation.name))
                    .any(|(name, _)| *name == helper);
                assert_eq!(is_known, is_used && own != helper, "{}/{}", family.name(), entry.id);
            }
        }
    }
}

/// Without its features XXH3 was not there, and BLAKE3 was another program.
#[test]
fn a_crate_that_is_built_with_more_than_its_usual_features_says_so() {
    let manifest = include_str!("../../../Cargo.toml");
    for entry in families().iter().flat_map(|family| family.entries()) {
        let Origin::Crate(name) = entry.meta.origin else { continue };
        let beginning = format!("{name} = {{ version = ");
        let mut lines = manifest.lines().filter(|line| line.starts_with(&beginning));
        let has_more = lines.any(|line| {
            line.contains(" features = ") && !line.contains("default-features = false")
        });
        assert!(!has_more || !entry.meta.feature.is_empty(), "{}", entry.id);
    }
}

/// Why this machine cannot do a workload, if so.
fn lack(family: &dyn AnyFamily, spec: &Spec) -> Option<String> {
    match family.open(family.reference(), spec, &mut |_| ()) {
        Err(OpenError::Spec(SpecError::Machine { reason })) => Some(reason),
        _ => None,
    }
}

#[test]
fn every_contender_agrees_with_the_reference() {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(family) = families().get(next.fetch_add(1, Relaxed)) {
            agrees_with_its_reference(*family);
        }
    };
    let threads = 0..available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| threads.for_each(|_| drop(scope.spawn(work))));
}

fn agrees_with_its_reference(family: &dyn AnyFamily) {
    let mut unused: BTreeSet<String> = family.entries().into_iter().map(|e| e.id).collect();
    let mut operations: BTreeSet<&str> = family.operations().iter().map(|o| o.name).collect();
    let mut is_able = true;
    for spec in family.small_cases() {
        let spec = family.completed(&spec).unwrap();
        if let Some(reason) = lack(family, &spec) {
            not_run(&format!("{} {spec}: {reason}", family.name()));
            is_able = false;
            continue;
        }
        let expected = digest(family, family.reference(), &spec, 1)
            .unwrap_or_else(|| panic!("{}: the reference has no {spec}", family.name()));
        operations.remove(spec.operation.as_str());
        for entry in family.entries() {
            for iterations in [1, 3] {
                if let Some(found) = digest(family, &entry.id, &spec, iterations) {
                    assert_eq!(found, expected, "{}/{} on {spec}", family.name(), entry.id);
                    unused.remove(&entry.id);
                }
            }
        }
    }
    assert!(operations.is_empty(), "{}: no small case for {operations:?}", family.name());
    if !is_able && !unused.is_empty() {
        not_run(&format!("workload of {} for {unused:?}", family.name()));
        return;
    }
    assert!(unused.is_empty(), "{}: {unused:?} take part in nothing", family.name());
}

/// What JSON leaves open is no wrong answer, and what a library does not read no crash.
#[cfg(feature = "cpu")]
#[test]
fn of_any_json_document_whoever_reads_it_has_the_same_answer() {
    let operations = [
        ("json", "dom"),
        ("json", "dom-no-guess"),
        ("json", "dom-interned"),
        ("text", "json-valid"),
    ];
    let texts = [
        "[-0, -0.0, 0, 0.0, 1.0, 1e2]",
        "[9223372036854775807, 9223372036854775808, 18446744073709551615, -9223372036854775808]",
        "[18446744073709551616, -9223372036854775809, 123456789012345678901234567890]",
        r#"[{"a": 1, "b": 2, "a": 3, "\u0061": {}}]"#,
        &("[".repeat(150) + &"]".repeat(150)),
        "null",
    ];
    for text in texts {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        for (family, operation) in operations {
            let family = fathom_contenders::family(family).unwrap();
            let spec = Spec { file: Some(file.path().into()), ..Spec::new(operation, &[]) };
            let expected = digest(family, family.reference(), &spec, 1);
            assert!(expected.is_some(), "{text}");
            for entry in family.entries() {
                let found = digest(family, &entry.id, &spec, 1);
                assert!(found.is_none() || found == expected, "{} on {text}", entry.id);
            }
        }
    }
}

/// The least key and the largest one, one twice, one that is the beginning of another.
#[cfg(feature = "kv")]
#[test]
fn every_structure_takes_keys_at_the_edges() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let (least, most) = (u64::MIN, u64::MAX);
    let integers = format!("{most}\n{least}\n7\n{most}\n{}\n7\n1\n", most - 1);
    for (format, text) in [("integers", &integers[..]), ("lines", "ab\na\nabc\nab\n~~\n~\n!\n")] {
        std::fs::write(&file, text).unwrap();
        for family in
            families().iter().filter(|f| ["map", "tree", "trie", "store"].contains(&f.name()))
        {
            for operation in family.operations().iter().map(|offer| offer.name) {
                let mut spec = Spec::new(operation, &[("format", format), ("span", "3")]);
                spec.file = Some(file.clone());
                // Walks begin at few of the keys each time.
                for seed in 1..=if operation == "range" { 6 } else { 1 } {
                    spec.parameters.insert("seed".to_owned(), seed.to_string());
                    let spec = family.completed(&spec).unwrap();
                    let expected = digest(*family, family.reference(), &spec, 1);
                    // The crate of farmhash32 adds without wrapping, which builds with assertions refuse.
                    let entries = family.entries().into_iter();
                    for entry in entries.filter(|entry| !entry.id.ends_with("+farmhash32")) {
                        let found = digest(*family, &entry.id, &spec, 1);
                        let name = format!("{}/{} on {spec}", family.name(), entry.id);
                        assert!(found.is_none() || found == expected, "{name}");
                    }
                }
            }
        }
    }
}

/// One unpacked what it had packed itself, at another level.
#[cfg(feature = "cpu")]
#[test]
fn the_decoders_of_zstandard_are_given_the_same_bytes() {
    let codec = fathom_contenders::family("codec").unwrap();
    let spec = Spec::new("decompress", &[("prefixes", "4"), ("data", "people")]);
    let spec = codec.completed(&spec).unwrap();
    let ratio = |id: &str| {
        let mut ratio = None;
        let mut then = |mut opened: Opened<'_>| {
            ratio = opened.prepared.metrics().first().map(|metric| metric.value);
        };
        codec.open(id, &spec, &mut then).map(|()| ratio.expect("a ratio"))
    };
    match ratio("zstd+3") {
        Err(OpenError::Unsupported(_)) => not_run("Zstandard's C library"),
        of_both => assert_eq!(ratio("ruzstd").unwrap(), of_both.unwrap()),
    }
}

/// Stores that keep in memory what they say is in a file would be smaller than they can be.
#[cfg(feature = "kv")]
#[test]
fn a_store_in_a_file_has_its_entries_there() {
    let store = fathom_contenders::family("store").unwrap();
    let spec = Spec::new("insert", &[("count", "3000"), ("keys", "integers")]);
    let spec = store.completed(&spec).unwrap();
    for entry in store.entries().iter().filter(|entry| entry.id.ends_with("-file")) {
        let mut metrics = Vec::new();
        let opened = store.open(&entry.id, &spec, &mut |mut opened| {
            metrics = opened.prepared.metrics();
        });
        if let Err(OpenError::Unsupported(_)) = opened {
            continue;
        }
        let stored = metrics.iter().find(|metric| metric.name == "stored_bytes_per_entry");
        // A key and a value of eight bytes.
        assert!(stored.is_some_and(|stored| stored.value >= 16.0), "{}: {metrics:?}", entry.id);
    }
}

/// Here and not beside the family: this program holds every structure anyway, that of the unit tests
/// would be the second to.
#[cfg(feature = "kv")]
#[test]
fn every_structure_is_found_in_the_union_of_their_families_and_the_planted_ones_are_as_planted() {
    use fathom_contenders::kv;

    let found = |id: &str| {
        let spec = kv::family().completed(&Spec::new("find-hit", &[("count", "500")])).unwrap();
        digest(kv::family(), id, &spec, 1).unwrap()
    };
    let ids: Vec<String> = kv::family().entries().into_iter().map(|entry| entry.id).collect();
    assert!(ids.iter().filter(|id| *id == "btreemap").count() == 1);
    assert!(ids.iter().all(|id| !id.starts_with("planted")));
    assert_eq!(found("hashbrown+xxh3-64"), found("btreemap"));
    let spec = kv::family().completed(&Spec::new("insert", &[])).unwrap();
    assert!(kv::family().open("no-such", &spec, &mut |_| ()).is_err());

    assert_eq!(kv::planted().len(), 7);
    assert_ne!(found("planted-wrong"), found("btreemap"));
    for right in ["planted-slow", "planted-right", "planted-twin", "planted-slower"] {
        assert_eq!(found(right), found("btreemap"), "{right}");
    }
}

#[test]
fn the_cases_of_a_family_are_ones_it_can_read() {
    for family in families() {
        for spec in family.cases() {
            family.completed(&spec).unwrap();
        }
    }
}
