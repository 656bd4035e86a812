//! Names: ours, kvbench's for the same things, and `all`. Knows what a name means, not whether it
//! is in this build.

/// Our name of a structure that kvbench knows under another; any other name is its own.
///
/// `f14` is folly's `F14ValueMap` there, `art` is armon's libart, `hot` the single-threaded trie of
/// its authors: here our own table after folly's design, the crate `blart`, and our own trie.
pub(super) fn structure(name: &str) -> &str {
    match name {
        "f14" => "f14-value",
        "art" => "art-blart",
        other => other,
    }
}

/// Our name of a hash function; kvbench's names are taken with one or two colons, in any case.
pub(super) fn hash(name: &str) -> String {
    let plain = name.to_lowercase().replace("::", ":");
    match plain.as_str() {
        "xxhash:xx3_64bits" | "xxhash:xxh3_64bits" => "xxh3-64".to_owned(),
        // The version of 2017, without dispatch: today's t1ha1_le.
        "t1ha:t1ha" => "t1ha1".to_owned(),
        "city:cityhash64" => "cityhash64".to_owned(),
        _ => plain,
    }
}

/// kvbench's name of a hash function, where it has one.
pub(super) fn hash_there(name: &str) -> &str {
    match name {
        "xxh3-64" => "xxhash:XX3_64bits",
        "t1ha1" => "t1ha::t1ha",
        "cityhash64" => "city::cityhash64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kvbench_s_names_are_understood_in_any_spelling() {
        for name in ["xxhash:XX3_64bits", "xxhash::XX3_64Bits", "XXHASH:xx3_64bits", "xxh3-64"] {
            assert_eq!(hash(name), "xxh3-64", "{name}");
        }
        assert_eq!(hash("t1ha::t1ha"), "t1ha1");
        assert_eq!(hash("city:cityhash64"), "cityhash64");
        for name in ["xxh3-64", "t1ha1", "cityhash64", "wyhash"] {
            assert_eq!(hash(hash_there(name)), name);
        }
        assert_eq!((structure("f14"), structure("cuckoo")), ("f14-value", "cuckoo"));
    }
}
