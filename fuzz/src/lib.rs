//! What fuzz targets share, compiled once for all of them: the oracle of the aggregator's tests.

#[path = "../../crates/aggregate/tests/answers/oracle/mod.rs"]
pub mod oracle;
