//! Writes a table as code: a module in Rust and a header in C++, each with tests, and the keys these read. Small
//! tables stand in the code; of large ones it has the builder, which makes the very table that was measured.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use fathom_keys::{KeySet, Keys};

use super::analysis::{Plan, Planned};
use super::build::Built;
use super::lookup::{Shape, Slot};
use super::{NO_TABLE, SEED};
use crate::keyed::Bytes;

/// What was found out about keys, and the table that was made of it as files.
pub struct Module {
    /// In a sentence.
    pub found: String,
    /// Name and content; none unless they were asked for.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// What the files are called.
pub const FILES: [&str; 4] = ["table.rs", "table.hpp", "tests.cpp", PAIRS];

/// The keys and values that the tests read.
const PAIRS: &str = "keys.bin";

/// Tables of at most so many bytes stand in the code.
const CODE_BYTES: usize = 64 << 10;

/// A table that finds for each key its value, where `keys` have values of eight bytes (little-endian), else its
/// number among them, from 0; of equal keys the last one's. As files, too, if `is_written`.
///
/// # Errors
/// Why none can be made, in a sentence.
pub fn module(keys: &KeySet<'_>, is_written: bool) -> Result<Module, String> {
    let values = Values::of(keys);
    match &keys.keys {
        Keys::Integers(integers) => {
            made(integers, &values, is_written, |key| key.to_le_bytes().to_vec())
        }
        Keys::Bytes(spans) => {
            // As they are measured, so that building is compiled once.
            let all: Vec<Bytes<'_>> =
                spans.iter().map(|span| Bytes(span.of(&keys.bytes))).collect();
            made(&all, &values, is_written, |key| key.0.to_vec())
        }
    }
}

/// What a table finds.
struct Values {
    /// One for each key.
    all: Vec<u64>,
    /// Where they come from, for who reads the code.
    words: &'static str,
}

impl Values {
    fn of(keys: &KeySet<'_>) -> Values {
        let count = keys.len();
        let whole = |at| Some(u64::from_le_bytes(keys.value(at).try_into().ok()?));
        let all = keys.values.as_ref().and_then(|_| (0..count).map(whole).collect());
        let number = "its number in the file, from 0";
        match (all, &keys.values) {
            (Some(all), _) => Values { all, words: "the one in the file" },
            (None, None) => Values { all: (0..count as u64).collect(), words: number },
            (None, Some(_)) => Values {
                all: (0..count as u64).collect(),
                words: "its number in the file, from 0 (not all values there have 8 bytes)",
            },
        }
    }
}

fn made<K: Planned + Eq + std::hash::Hash>(
    keys: &[K],
    values: &Values,
    is_written: bool,
    raw: impl Fn(K) -> Vec<u8>,
) -> Result<Module, String> {
    let count = u32::try_from(keys.len()).ok().filter(|&count| 0 < count && count < u32::MAX);
    count.ok_or("a table is made for 1 to 4,294,967,294 keys")?;
    for plan in K::plans(keys, SEED) {
        let sheet = by_width!(K, plan, W => {
            Built::<W>::build(keys, &values.all, plan.shape).map(|built| is_written.then(|| sheet(&built)))
        });
        let Some(sheet) = sheet else { continue };
        let found = found(keys, plan);
        let mut files = Vec::new();
        if let Some(sheet) = sheet {
            files = self::files(&sheet, &found, values.words, size_of::<K>() == 8);
            files.push((PAIRS, pairs(keys, &values.all, raw)));
        }
        return Ok(Module { found, files });
    }
    Err(NO_TABLE.to_owned())
}

/// A table as it is written, whatever the width of its slots.
struct Sheet {
    words: usize,
    shape: Shape,
    pilots: Vec<u8>,
    /// Words of the key and the value, of a table that stands in the code.
    slots: Option<Vec<Vec<u64>>>,
    parts: [usize; 2],
    long: Vec<u8>,
    entries: usize,
    digest: u64,
}

fn sheet<const W: usize>(built: &Built<W>) -> Sheet {
    let Built { shape, pilots, slots, parts, long, holes } = built;
    let is_code = pilots.len() + size_of_val(&slots[..]) + long.len() <= CODE_BYTES;
    let mut all = is_code.then(Vec::new);
    for Slot { key, value } in slots {
        let Some(all) = &mut all else { break };
        all.push([&key[..], &[*value]].concat());
    }
    Sheet {
        words: W,
        shape: *shape,
        pilots: pilots.clone(),
        slots: all,
        parts: *parts,
        long: long.clone(),
        entries: slots.len() - holes.len(),
        digest: built.table().digest(),
    }
}

/// What the keys are like, in a sentence.
fn found<K: Planned>(keys: &[K], plan: Plan) -> String {
    let Plan { shape: Shape { length, front, back, thorough, least, .. }, words } = plan;
    if let Some(least) = least {
        return format!(
            "integers from {least} on with hardly a gap: each lies at its own distance from there"
        );
    }
    if size_of::<K>() == 8 {
        let times = if thorough { "two multiplications send" } else { "a multiplication sends" };
        return format!("integers, {times} each to a slot of its own");
    }
    let lengths = || keys.iter().map(|key| key.bytes().len());
    // What a slot has no room for: of keys of one length none.
    let far = lengths().filter(|&bytes| length == 0 && bytes >= 8 * words).count();
    let beside = match far as f64 / keys.len() as f64 * 100.0 {
        0.0 => String::new(),
        less if less < 0.1 => ", less than 0.1 % of them beside".to_owned(),
        percent => format!(", {percent:.1} % of them beside"),
    };
    let bytes = match (length, lengths().min().zip(lengths().max())) {
        (0, Some((least, most))) if least < most => {
            format!("{least} to {}", counted(most, "byte"))
        }
        (0, Some((_, most))) => counted(most, "byte"),
        _ => counted(length, "byte"),
    };
    let fit = format!("keys of {bytes} in slots of {}{beside}", counted(words, "word"));
    let what = match (thorough, words > 2 || far > 0) {
        (true, _) => "only all bytes together tell".to_owned(),
        (false, false) => "a multiplication of the words tells".to_owned(),
        (false, true) => {
            let back = if back == 0 {
                "the last 8".to_owned()
            } else {
                format!("the 8 that end {back} before the end")
            };
            format!("the 8 bytes from byte {front} on and {back} tell")
        }
    };
    format!("{fit}; {what} all apart")
}

/// So many of something: `1 word`, `2 words`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The pairs as `bin-slice-kv`, each key once.
fn pairs<K: Copy + Eq + std::hash::Hash>(
    keys: &[K],
    values: &[u64],
    raw: impl Fn(K) -> Vec<u8>,
) -> Vec<u8> {
    let last: HashMap<K, usize> = keys.iter().copied().zip(0..).collect();
    let mut bytes = (last.len() as u32).to_le_bytes().to_vec();
    for (at, &key) in keys.iter().enumerate().filter(|(at, key)| last[key] == *at) {
        let key = raw(key);
        bytes.extend([key.len() as u32, 8].iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend_from_slice(&key);
        bytes.extend(values[at].to_le_bytes());
    }
    bytes
}

fn files(sheet: &Sheet, found: &str, values: &str, integers: bool) -> Vec<(&'static str, Vec<u8>)> {
    let Sheet { words, shape, long, digest, .. } = sheet;
    let is_code = sheet.slots.is_some();
    let Shape { length, front, back, thorough, least, seed } = *shape;
    let about = about(found, values, sheet.entries, is_code);
    let rust = rust(sheet, &about, integers);
    let by = u8::from(!integers);
    let as_key = match integers {
        true => {
            "fn as_key(bytes: &[u8]) -> u64 {\n        u64::from_le_bytes(bytes.try_into().unwrap())\n    }"
        }
        false => "fn as_key(bytes: &[u8]) -> &[u8] {\n        bytes\n    }",
    };
    let table = match is_code {
        true => "let table = &TABLE;",
        false => "let built = build(&keys, &values).unwrap();\n        let table = built.table();",
    };
    let tests = filled(
        include_str!("tests.txt"),
        &[
            ("AS", &as_key),
            ("TABLE", &table),
            ("SHORTER", &by),
            ("LONGER", &by),
            ("DIGEST", digest),
        ],
    );
    let template = include_str!("module.hpp");
    let (lookup, rest) = template.split_once("//[builder\n").expect("a mark");
    let (builder, end) = rest.split_once("//builder]\n").expect("a mark");
    let template = [lookup, if is_code { "" } else { builder }, end].concat();
    let hpp = filled(
        &template,
        &[
            ("ABOUT", &about),
            ("OWN", &format!("of_{digest:016x}")),
            ("KEY", &if integers { "std::uint64_t" } else { "std::string_view" }),
            ("WORDS", words),
            ("LENGTH", &length),
            ("FRONT", &front.min(u32::MAX as usize)),
            ("BACK", &back.min(u32::MAX as usize)),
            ("THOROUGH", &thorough),
            ("IN_ORDER", &least.is_some()),
            ("ANY_LONG", &(!long.is_empty() || !is_code && length == 0)),
            ("LEAST", &least.unwrap_or(0)),
            ("SEED", &seed),
            ("DATA", &sheet.slots.as_ref().map(|slots| cpp_data(sheet, slots)).unwrap_or_default()),
        ],
    );
    let table = match is_code {
        true => "const table::Table &table = table::TABLE;",
        false => {
            "const auto built = table::build(keys, values);\n    check(built.has_value(), \"a table is built\");\n    \
             const table::Table table = built->view();"
        }
    };
    // In a function of its own name.
    let cpp = filled(include_str!("tests.cpp"), &[("TABLE", &table), ("DIGEST", digest)]);
    let texts = [rust + &tests, hpp, cpp];
    FILES.into_iter().zip(texts).map(|(name, text)| (name, text.into_bytes())).collect()
}

/// What stands above both.
fn about(found: &str, values: &str, entries: usize, is_code: bool) -> String {
    let built = match is_code {
        true => "The table stands below as data.",
        false => "It is built when the program begins, from the keys and any values.",
    };
    format!(
        "// SPDX-License-Identifier: {}\n// A table made for its {} by `fathom kv FILE --specialise` {}:\n// {found}.\n// The value of a \
         key is {values}, of equal keys the last one's; keys.bin has the pairs for the tests.\n// {built}",
        env!("CARGO_PKG_LICENSE"),
        counted(entries, "key"),
        env!("CARGO_PKG_VERSION")
    )
}

fn rust(sheet: &Sheet, about: &str, integers: bool) -> String {
    let Sheet { words, shape, pilots, slots, parts, long, .. } = sheet;
    // What uses its parts by their path stands in one file here; an inner comment is one only at its top.
    let code = |text: &str| {
        let text = text.split("\n#[cfg(test)]").next().unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with("use super::"));
        lines.fold(String::new(), |all, line| all + &line.replacen("//!", "//", 1) + "\n")
    };
    let mut text = format!("{about}\n#![allow(dead_code)]\n#![forbid(unsafe_code)]\n\n");
    let key = if integers { "u64" } else { "&[u8]" };
    text += &code(include_str!("lookup.rs"));
    let shape =
        format!("/// What was found out about the keys.\npub const SHAPE: Shape = {shape:?};\n");
    let rest = match slots {
        None => {
            text = text.replacen(
                "#![forbid(unsafe_code)]\n",
                "#![forbid(unsafe_code)]\n\nuse std::collections::BinaryHeap;\n",
                1,
            );
            text += &code(include_str!("build.rs"))
                .replacen("use std::collections::BinaryHeap;\n", "", 1);
            format!(
                "/// The table of these keys with any values; of equal keys the last one counts. Nothing for keys of \
                     another shape.\npub fn build(keys: &[{key}], values: &[u64]) -> Option<Built<{words}>> {{\n    \
                     Built::build(keys, values, SHAPE)\n}}\n"
            )
        }
        Some(slots) => {
            let slot = |slot: &Vec<u64>| {
                let (value, key) = slot.split_last().expect("the value is last");
                format!("Slot {{ key: {key:?}, value: {value} }}")
            };
            format!(
                "/// The table.\npub static TABLE: Table<'static, {words}> = Table {{\n    shape: SHAPE,\n    pilots: \
                     &[{}],\n    slots: &[{}],\n    parts: {parts:?},\n    long: &[{}],\n}};\n\n/// The value of `key`.\n\
                     pub fn find(key: {key}) -> Option<u64> {{\n    TABLE.find(key)\n}}\n",
                listed(pilots),
                listed(slots.iter().map(slot)),
                listed(long)
            )
        }
    };
    format!("{text}\n{shape}\n{rest}")
}

fn cpp_data(sheet: &Sheet, slots: &[Vec<u64>]) -> String {
    let Sheet { pilots, parts: [parts, part], long, .. } = sheet;
    let slot = |slot: &Vec<u64>| {
        let (value, key) = slot.split_last().expect("the value is last");
        let words: Vec<String> = key.iter().map(|word| format!("{word}u")).collect();
        format!("{{{{{}}}, {value}u}}", words.join(", "))
    };
    // Arrays have an element.
    let bytes = |bytes: &[u8]| listed(if bytes.is_empty() { &[0][..] } else { bytes });
    format!(
        "\ninline constexpr std::uint8_t PILOTS[] = {{{}}};\ninline constexpr Slot SLOTS[] = {{{}}};\ninline constexpr \
         std::uint8_t ELSEWHERE[] = {{{}}};\n// The table.\ninline constexpr Table TABLE = {{PILOTS, {}, SLOTS, {parts}, {part}, \
         ELSEWHERE, {}}};\n",
        bytes(pilots),
        listed(slots.iter().map(slot)),
        bytes(long),
        pilots.len(),
        long.len()
    )
}

/// One after another, in lines of a readable length.
fn listed<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let (mut text, mut column) = (String::new(), 99);
    for item in items {
        let item = item.to_string();
        column += item.len() + 2;
        if column > 96 {
            text += "\n   ";
            column = 4 + item.len();
        }
        let _ = write!(text, " {item},");
    }
    text + "\n"
}

/// `text` with these for `@NAME@`.
fn filled(text: &str, names: &[(&str, &dyn Display)]) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), &value.to_string())
    })
}
