//! One file per command: its options, then `run`, then how it shows its result.

pub(crate) mod aggregate;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod cpu;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod generate;
pub(crate) mod haversine;
pub(crate) mod history;
pub(crate) mod import;
#[cfg(feature = "kv")]
pub(crate) mod kv;
pub(crate) mod list;
pub(crate) mod machine;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod noise;
pub(crate) mod own;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod worker;
