//! The lines that bring a choice into a program, and what an enemy who chooses the keys can do to it.
//! Every type in them is one that this build names, too (`library!`), so that it exists.

use fathom_contenders::alloc::{self, Preload, SYSTEM};
use fathom_contenders::hash::{self, Flooding};
use fathom_contenders::kv::{self, special::NAME};
use fathom_measure::contender::{Meta, Origin};
use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use crate::measuring;

/// What to write where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Paste {
    /// Lines for `[dependencies]` in `Cargo.toml`, or of C++ the packages; none where the standard library
    /// has it all.
    pub(super) manifest: Vec<String>,
    /// The type and what it needs.
    pub(super) code: Vec<String>,
}

/// Where a hash function is a function, and a map wants something that makes hashers. Strings and slices
/// cost one call of it: what the standard library writes beside their bytes is no piece of its own.
const ONCE: &str = "
#[derive(Default)]
pub struct Once(u64); // best for keys written in one piece: strings, slices, integers
impl std::hash::Hasher for Once {
    fn write(&mut self, bytes: &[u8]) {
        let hash: u64 = HASH;
        self.0 = self.0.rotate_left(23) ^ FULL;
    }
    fn write_usize(&mut self, number: usize) { // the length of a slice, too
        let wide = u128::from(number as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = self.0.rotate_left(23) ^ wide as u64 ^ (wide >> 64) as u64;
    }
    fn write_u8(&mut self, byte: u8) {
        if byte != 0xff { self.write(&[byte]) } // 0xff ends a string
    }
    fn finish(&self) -> u64 { self.0 }
}";

/// Whether there is something to paste: a line brings it, and its allocator is none for measuring only.
pub(super) fn is_had(candidate: &Candidate) -> bool {
    !candidate.about.code.is_empty() && is_of_library(candidate)
}

/// Whether a library has it, be there a line to paste or not, and its allocator is none for measuring only.
pub(super) fn is_of_library(candidate: &Candidate) -> bool {
    let is_ours = candidate.about.code.is_empty() && matches!(origin(candidate), Origin::Own);
    !is_ours && alloc::is_for_measuring(&candidate.allocator).is_none()
}

/// Where a structure comes from that no line brings.
fn origin(candidate: &Candidate) -> Origin {
    let own = kv::family().entries().into_iter().find(|entry| entry.id == candidate.contender());
    own.filter(|_| candidate.runner.is_none()).map_or(Origin::Own, |entry| entry.meta.origin)
}

/// Why there is nothing to paste of `candidate`; nothing if there is.
pub(super) fn lacking(candidate: &Candidate) -> Option<String> {
    let Candidate { structure, allocator, about, .. } = candidate;
    if about.code.is_empty() {
        let own = match origin(candidate) {
            Origin::Crate(name) | Origin::Library(name, _) => {
                return Some(format!("{structure} is of {name}; there is no line to paste."));
            }
            Origin::Own if structure.starts_with(NAME) => {
                "made for these keys and written by --specialise=DIR"
            }
            Origin::Own => "fathom's own, for comparison",
        };
        return Some(format!("No library has {structure}: it is {own}."));
    }
    let why = alloc::is_for_measuring(allocator)?;
    Some(format!("Allocator {allocator} is for measuring only: {why}."))
}

/// How a program gets an allocator that the lines do not bring, because it is no crate of this build.
pub(super) fn unbrought(candidate: &Candidate) -> Option<String> {
    let name = &candidate.allocator;
    if name == SYSTEM || alloc::meta(name).is_some() {
        return None;
    }
    let file = Preload::named(name).and_then(Preload::file);
    let preload = file.map_or_else(String::new, |file| {
        format!(": start the program with LD_PRELOAD={}", file.display())
    });
    Some(format!("The lines do not bring allocator {name}{preload}."))
}

/// The lines for `candidate` over integers or byte strings; nothing if none bring it.
pub(super) fn paste(candidate: &Candidate, integers: bool) -> Option<Paste> {
    let about = &candidate.about;
    if !is_had(candidate) {
        return None;
    }
    if candidate.runner.is_some() {
        // As its worker says it, in its own language, which is C++.
        let key = if integers { "std::uint64_t" } else { "std::string_view" };
        let words = [("K", key), ("V", "std::uint64_t")];
        let code = filled(&about.code, &words).lines().map(str::to_owned).collect();
        return Some(Paste { manifest: about.manifest.lines().map(str::to_owned).collect(), code });
    }
    let hash = candidate.hash.as_deref().and_then(hash::known);
    let builder = match hash {
        Some(known) if is_function(&known.meta) => "std::hash::BuildHasherDefault<Once>",
        Some(known) => known.meta.code,
        None => "",
    };
    // It takes bytes alone, as it was given them.
    let by_bytes = integers && about.code.starts_with("qp_trie::");
    let key = match (integers, candidate.borrows()) {
        _ if by_bytes => "[u8; 8]",
        (true, _) => "u64",
        (false, true) => "&'keys [u8]",
        (false, false) => "Vec<u8>",
    };
    let whole = filled(&about.code, &[("K", key), ("V", "u64"), ("S", builder)]);
    let lifetime = if whole.contains("'keys") { "<'keys>" } else { "" };
    let note = if by_bytes { " // big-endian: key.to_be_bytes()" } else { "" };
    let mut code = vec![format!("pub type Map{lifetime} = {whole};{note}")];
    if let Some(known) = hash.filter(|known| is_function(&known.meta)) {
        // As it was measured: in both halves of 64 bits, because tables look at the highest ones, too.
        let full = if known.bits == 32 { "(hash | hash << 32)" } else { "hash" };
        let mut function = known.meta.code.replace('\n', "\n        ");
        if known.flooding == Flooding::Keyed {
            let note = "// A published key: take a random one, and keep it secret.\n        const";
            function = function.replacen("const", note, 1);
        }
        let once = ONCE.replace("HASH", &function).replace("FULL", full);
        code.extend(once.lines().map(str::to_owned));
    }
    let allocator = alloc::meta(&candidate.allocator);
    if let Some(Meta { code: allocator, .. }) = allocator {
        code.extend([
            String::new(),
            "#[global_allocator]".to_owned(),
            format!("static ALLOCATOR: {allocator} = {allocator};"),
        ]);
    }
    let meta = hash.map(|known| known.meta);
    let needed = [Some(about.manifest.clone()), meta.as_ref().map(measuring::manifest)];
    // The standard library has what `siphasher` has, under a name of its own.
    let is_std = |meta: &Meta| meta.code.starts_with("std::");
    let [structure, function] = needed;
    let function = function.filter(|_| !meta.as_ref().is_some_and(is_std));
    let bring = allocator.as_ref().map(measuring::manifest);
    let mut manifest: Vec<String> = [structure, function, bring].into_iter().flatten().collect();
    manifest.retain(|line| !line.is_empty());
    manifest.sort_unstable();
    manifest.dedup();
    Some(Paste { manifest, code })
}

/// Whether what is known of it is the hash of `bytes`, and not a type.
fn is_function(meta: &Meta) -> bool {
    meta.code.contains("bytes")
}

/// `code` with types for these words.
fn filled(code: &str, types: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        let found = types.iter().find(|(name, _)| *name == word);
        text += found.map_or(word, |(_, full)| full);
        rest = after;
    }
    text
}

/// How well a candidate, as it is pasted, bears keys that an enemy chose; in between where it tells nothing.
pub(super) fn flooding(candidate: &Candidate) -> Option<Flooding> {
    let known = candidate.hash.as_deref().and_then(hash::known)?;
    // A function is pasted with the key of its published vectors, which everybody knows.
    Some(if is_function(&known.meta) { Flooding::Open } else { known.flooding })
}

/// The same in a sentence.
pub(super) fn warning(candidate: &Candidate) -> Option<String> {
    let hash = candidate.hash.as_deref()?;
    Some(match hash::known(hash)?.flooding {
        Flooding::Keyed if flooding(candidate) == Some(Flooding::Open) => format!(
            "The key of {hash} in these lines is published: strangers may choose the keys once it is a random \
             and secret one."
        ),
        Flooding::Keyed => {
            format!(
                "Strangers may choose the keys as long as the seed of {hash} is random and secret."
            )
        }
        Flooding::Seeded => format!(
            "{hash} seeds itself at random, but is not made to withstand strangers who choose the keys; \
             siphash13 is."
        ),
        Flooding::Open => format!(
            "{hash} has no seed: strangers who choose the keys can make every operation slow; siphash13 \
             withstands them."
        ),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use fathom_measure::conductor::Launch;

    use super::super::candidate::named;
    use super::*;

    fn of(id: &str, integers: bool) -> Paste {
        paste(&named(id).unwrap(), integers).unwrap()
    }

    #[test]
    fn a_library_is_named_with_its_version_and_its_type() {
        let lines = of("hashbrown+foldhash", false);
        let [foldhash, hashbrown] = &lines.manifest[..] else { panic!("{lines:?}") };
        assert!(foldhash.starts_with("foldhash = \"0."), "{foldhash}");
        assert!(hashbrown.starts_with("hashbrown = \"0."), "{hashbrown}");
        let line = "pub type Map<'keys> = hashbrown::HashMap<&'keys [u8], u64, \
                    foldhash::fast::RandomState>;";
        assert_eq!(lines.code, [line]);
        let usual = of("std+siphash13", true);
        assert_eq!(usual.manifest, Vec::<String>::new());
        let line = "pub type Map = std::collections::HashMap<u64, u64, std::hash::RandomState>;";
        assert_eq!(usual.code, [line]);
        let feature = of("std+xxh3-64", false).manifest.concat();
        assert!(feature.ends_with("features = [\"xxh3\"] }"), "{feature}");
        assert!(paste(&named("f14-value+foldhash").unwrap(), false).is_none(), "no library has it");
        let line = "pub type Map = qp_trie::Trie<[u8; 8], u64>; // big-endian: key.to_be_bytes()";
        assert_eq!(of("qp-trie", true).code, [line], "it takes no integers");
    }

    /// It was called fathom's own, and not compared with what was made for the keys.
    #[test]
    fn what_a_crate_has_without_a_line_to_paste_is_a_librarys() {
        let said = |id: &str| {
            let one = named(id).unwrap();
            (is_had(&one), is_of_library(&one), lacking(&one).unwrap())
        };
        let why = "red-black is of intrusive-collections; there is no line to paste.";
        assert_eq!(said("red-black"), (false, true, why.to_owned()));
        // A set of pairs is ordered by its values, too, and was pasted.
        let why = "sorted-vec is of sorted-vec; there is no line to paste.";
        assert_eq!(said("sorted-vec"), (false, true, why.to_owned()));
        let why = "No library has f14-value: it is fathom's own, for comparison.";
        assert_eq!(said("f14-value+foldhash"), (false, false, why.to_owned()));
    }

    /// They were called as safe as the standard library's, which seeds itself.
    #[test]
    fn a_published_key_is_told_beside_the_lines_and_makes_nothing_safe() {
        for (name, is_published) in
            [("siphash13", false), ("siphash24", true), ("highwayhash", true)]
        {
            let candidate = named(&format!("std+{name}")).unwrap();
            let rank = if is_published { Flooding::Open } else { Flooding::Keyed };
            assert_eq!(flooding(&candidate), Some(rank), "{name}");
            assert_eq!(warning(&candidate).unwrap().contains("is published"), is_published);
            let code = paste(&candidate, false).unwrap().code.join("\n");
            assert_eq!(code.contains("// A published key"), is_published, "{code}");
        }
    }

    #[test]
    fn of_a_cpp_structure_its_include_and_type_are_told() {
        let mut candidate = named("std+siphash13").unwrap();
        candidate.runner = Some(Launch::default());
        candidate.about.code = "#include <kv.h>\nusing Map = Kv::Flat<K, V, Xxh3>;".to_owned();
        candidate.about.manifest = "// Debian: libkv-dev".to_owned();
        let lines = |integers| paste(&candidate, integers).unwrap().code.join("\n");
        for (integers, key) in [(true, "std::uint64_t"), (false, "std::string_view")] {
            let map = format!("\nusing Map = Kv::Flat<{key}, std::uint64_t, Xxh3>;");
            assert!(lines(integers).contains(&map));
        }
        assert_eq!(paste(&candidate, true).unwrap().manifest, ["// Debian: libkv-dev"]);
        candidate.about.code.clear();
        assert!(paste(&candidate, true).is_none(), "one that says nothing cannot be had");
    }

    /// Every structure of every family, with a hash function that is a type and one that is a function,
    /// has a place for each of its parameters.
    #[test]
    fn no_placeholder_is_left() {
        let mut seen = 0;
        for entry in kv::family().entries() {
            for integers in [false, true] {
                let Some(paste) = paste(&named(&entry.id).unwrap(), integers) else { continue };
                let code = paste.code.join("\n");
                let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
                let is_free = words.clone().all(|word| !["K", "S", "HASH", "FULL"].contains(&word));
                assert!(is_free, "{code}");
                assert!(!code.contains(", >") && !code.contains("<,"), "{code}");
                seen += 1;
            }
        }
        assert!(seen > 100, "{seen}");
    }

    /// Every crate that a path begins with is one that the lines bring.
    fn assert_brought(paste: &Paste) {
        let lines = paste.manifest.iter().filter_map(|line| line.split_once(" = "));
        let brought: Vec<String> = lines.map(|(name, _)| name.replace('-', "_")).collect();
        let code = paste.code.join("\n");
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        for (at, _) in code.match_indices("::") {
            let start = code[..at].rfind(|c| !is_part(c)).map_or(0, |before| before + 1);
            let first = &code[start..at];
            let is_inner = code[..start].ends_with("::");
            let is_own = ["std", "u64", "u128"].contains(&first)
                || first.starts_with(|c: char| c.is_ascii_uppercase());
            if !is_inner && !first.is_empty() && !is_own {
                assert!(brought.iter().any(|name| name == first), "{first}: {paste:#?}");
            }
        }
    }

    #[test]
    fn each_crate_of_the_code_is_in_the_lines_of_the_manifest() {
        for entry in kv::family().entries() {
            paste(&named(&entry.id).unwrap(), false).iter().for_each(assert_brought);
        }
        for name in hash::NAMES {
            assert_brought(&of(&format!("std+{name}"), false));
        }
        for name in alloc::CHOICES {
            let mut candidate = named("std+siphash13").unwrap();
            (*name).clone_into(&mut candidate.allocator);
            paste(&candidate, false).iter().for_each(assert_brought);
        }
    }

    #[test]
    fn an_allocator_for_measuring_is_in_no_program_and_a_preloaded_one_in_no_line() {
        let mut candidate = named("std+siphash13").unwrap();
        assert_eq!((lacking(&candidate), unbrought(&candidate)), (None, None));
        for name in ["counting", "arena"] {
            name.clone_into(&mut candidate.allocator);
            assert!(!is_had(&candidate) && paste(&candidate, true).is_none(), "{name}");
            let why = lacking(&candidate).unwrap();
            assert!(why.starts_with(&format!("Allocator {name} is for measuring only")), "{why}");
        }
        "hoard".clone_into(&mut candidate.allocator);
        let said = unbrought(&candidate).unwrap();
        assert!(is_had(&candidate) && said.starts_with("The lines do not bring allocator hoard"));
    }

    /// What needs no crate compiles as it stands.
    #[test]
    fn what_is_pasted_compiles() {
        for (id, integers) in [("std+fnv1a", false), ("std+siphash13", true), ("btreemap", false)] {
            let lines = of(id, integers);
            assert_eq!(lines.manifest, Vec::<String>::new(), "{id}");
            let folder = tempfile::tempdir().unwrap();
            compile(
                &lines.code.join("\n"),
                &["--crate-type=lib", "--emit=metadata"],
                folder.path(),
            );
        }
    }

    /// Has `rustc` make `pasted` of `text` in `folder`.
    fn compile(text: &str, flags: &[&str], folder: &Path) {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut command = Command::new(rustc);
        command.args(["--edition=2024", "-Dwarnings", "-Adead-code", "--crate-name=pasted"]);
        command.args(flags).arg("-").current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }

    /// What a hash function needs beside its crate is pasted with it. (That it names nothing else of its
    /// contender's file is seen to by `function!`.)
    #[test]
    fn a_constant_that_is_named_is_pasted() {
        let mut constants = 0;
        for name in hash::NAMES {
            let code = of(&format!("std+{name}"), false).code.join("\n");
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let is_constant = |word: &&str| {
                let is_capital = |c: char| c.is_ascii_uppercase() || c == '_';
                word.len() > 1 && word.chars().all(is_capital) && word.contains(char::is_alphabetic)
            };
            for word in code.split(|c| !is_part(c)).filter(is_constant) {
                assert!(code.contains(&format!("const {word}: ")), "{name}: {word}:\n{code}");
                constants += 1;
            }
        }
        assert!(constants >= 6, "{constants}");
    }

    #[test]
    fn a_hash_of_32_bits_is_pasted_as_it_was_measured() {
        for name in hash::NAMES {
            let code = of(&format!("std+{name}"), false).code.join("\n");
            let is_short = hash::known(name).unwrap().bits == 32;
            assert_eq!(code.contains("^ (hash | hash << 32);"), is_short, "{name}:\n{code}");
        }
    }

    /// The hasher that is pasted hashes strings and slices with one call, and no integer to a constant.
    #[test]
    fn what_is_pasted_hashes_keys_of_every_type() {
        let mut text = of("std+fnv1a", false).code.join("\n");
        text += r#"
            fn of<T: std::hash::Hash + ?Sized>(key: &T) -> u64 {
                let mut hasher = Once::default();
                key.hash(&mut hasher);
                std::hash::Hasher::finish(&hasher)
            }
            fn differ(name: &str, hashes: impl Iterator<Item = u64>) {
                let hashes: Vec<u64> = hashes.collect();
                let of = |bits: u32| {
                    let ends = hashes.iter().map(|hash| hash.rotate_left(bits) & 0x7f);
                    ends.collect::<std::collections::HashSet<u64>>().len()
                };
                let all = hashes.iter().collect::<std::collections::HashSet<_>>().len();
                // Random ones have 111 of the 128 values. FNV-1a has few in the highest bits.
                assert!(all == 256 && of(0) > 64, "{name}: {all} {}", of(0));
                assert!(name.len() < 5 || of(7) > 64, "{name}: {}", of(7));
            }
            fn main() {
                assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
                assert_eq!(of(&7_u64), { let mut h = Once::default();
                    std::hash::Hasher::write(&mut h, &7_u64.to_ne_bytes()); h.0 });
                differ("byte", (0..=255_u8).map(|n| of(&n)));
                differ("byte", (-128..=127_i8).map(|n| of(&n)));
                differ("u16", (0..256_u16).map(|n| of(&n)));
                differ("i32", (0..256_i32).map(|n| of(&n)));
                differ("i64", (0..256_i64).map(|n| of(&n)));
                differ("u128", (0..256_u128).map(|n| of(&n)));
                differ("usize", (0..256_usize).map(|n| of(&n)));
                differ("isize", (-128..128_isize).map(|n| of(&n)));
                differ("pages", (0..256_usize).map(|n| of(&(n << 48))));
                differ("pairs", (0..256_usize).map(|n| of(&(n, "same"))));
                differ("some", (0..=255_u8).map(|n| of(&Some(n))));
                assert_ne!(of(&[1_u8, 2][..]), of(&[1_u8, 2, 0][..]));
            }
        "#;
        let folder = tempfile::tempdir().unwrap();
        compile(&text, &["--crate-type=bin"], folder.path());
        assert!(Command::new(folder.path().join("pasted")).status().unwrap().success());
    }

    #[test]
    fn an_allocator_that_is_known_is_brought_and_the_systems_is_not() {
        let mut candidate = named("std+siphash13").unwrap();
        assert!(paste(&candidate, false).unwrap().code.len() == 1 && candidate.allocator == SYSTEM);
        candidate.allocator = "mimalloc".to_owned();
        let code = paste(&candidate, false).unwrap().code.join("\n");
        assert!(code.contains("#[global_allocator]") || !cfg!(feature = "native"), "{code}");
    }
}
