//! JSON to values and back: documents, tables, records, numbers, and the text of records again.
//!
//! The text is `People.json` of mORMot's table: an array of 8227 objects with six properties each, about
//! a megabyte, escapes and accents included. Rows that read count the text's bytes, rows that write
//! count the bytes written. What a row builds is dropped inside its time. Blobs are base64, decoded
//! by the record rows with the same code for every contender.

use fathom_measure::family::{Absent, Family};

use crate::library::{CRATES, more};

mod fathom;
#[cfg(all(feature = "cpu", feature = "more"))]
mod jiter;
#[cfg(feature = "cpu")]
mod pooled;
mod reference;
#[cfg(feature = "cpu")]
mod serde_json;
#[cfg(feature = "cpu")]
mod simd_json;
#[cfg(feature = "cpu")]
mod sonic;
pub mod table;
pub mod value;
mod workload;
mod write;

pub use workload::{Operation, Texts};
pub(crate) use write::objects;

/// The family.
pub(crate) const FAMILY: Family<Texts> = Family {
    name: "json",
    source: include_str!("mod.rs"),
    reference: "plain",
    contenders: &[
        &reference::PLAIN,
        &fathom::FATHOM,
        #[cfg(feature = "cpu")]
        &serde_json::SERDE_JSON,
        #[cfg(feature = "cpu")]
        &sonic::SONIC,
        #[cfg(feature = "cpu")]
        &simd_json::SIMD_JSON,
        #[cfg(all(feature = "cpu", feature = "more"))]
        &jiter::JITER,
    ],
    absent: &[
        CRATES,
        more("jiter"),
        Absent::left_out(
            "simdjson",
            "the C++ library's crate, simdjson-rust, is an alpha; simd-json is its algorithm in \
                     Rust",
        ),
        Absent::left_out(
            "fpjson",
            "Free Pascal's DOM needs a Pascal compiler; the article's table has its figures",
        ),
    ],
    facts: &workload::FACTS,
};
