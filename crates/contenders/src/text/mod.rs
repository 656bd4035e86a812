//! Scans over a megabyte of JSON: its length, whether it is UTF-8, whether it is JSON, how many items
//! and properties it has, and the same text rewritten.
//!
//! The text is the generated `People.json` of mORMot's table, nearly ASCII; validity is strict here
//! (RFC 8259), where mORMot's is lenient, and is asked of three other kinds of documents as well. The rewriting rows count the bytes they write. Two rows that
//! mORMot's table does not have are what an aggregator does with lines `station;value`.

use fathom_measure::family::{Absent, Family};

use crate::library::{CRATES, native};

mod documents;
mod fathom;
#[cfg(feature = "cpu")]
mod human;
mod hyperscan;
mod icu;
#[allow(unsafe_code)] // vector masks and the C library's strlen; every block says why it is sound
mod kernel;
mod libc;
#[cfg(feature = "cpu")]
mod memchr;
mod pcre2;
mod reference;
#[cfg(feature = "cpu")]
mod regex;
pub mod rewrite;
#[cfg(feature = "cpu")]
mod serde_json;
#[cfg(feature = "cpu")]
mod simd_json;
mod simdjson;
#[cfg(all(feature = "cpu", feature = "native"))]
mod simdutf;
#[cfg(feature = "cpu")]
mod simdutf8;
#[cfg(feature = "cpu")]
mod sonic;
mod std_library;
mod workload;

pub(crate) use kernel::{count as members, level_of};
pub use workload::{Operation, Scan};

/// The family.
pub(crate) const FAMILY: Family<Scan> = Family {
    name: "text",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        &fathom::FATHOM,
        &std_library::STD,
        &libc::LIBC,
        #[cfg(feature = "cpu")]
        &memchr::MEMCHR,
        #[cfg(feature = "cpu")]
        &simdutf8::SIMD_UTF8,
        #[cfg(feature = "cpu")]
        &serde_json::SERDE_JSON,
        #[cfg(feature = "cpu")]
        &sonic::SONIC,
        #[cfg(feature = "cpu")]
        &simd_json::SIMD_JSON,
        #[cfg(all(feature = "cpu", feature = "native"))]
        &simdutf::SIMD_UTF,
        #[cfg(feature = "cpu")]
        &regex::REGEX,
        &pcre2::PCRE2,
        &hyperscan::HYPERSCAN,
        &icu::ICU,
        &simdjson::SIMDJSON,
    ],
    absent: &[
        CRATES,
        native("simdutf"),
        Absent::left_out(
            "fpjson",
            "Free Pascal's DOM needs a Pascal compiler; the article's table has its figures",
        ),
    ],
    facts: &workload::FACTS,
};
