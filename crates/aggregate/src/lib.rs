//! Min, mean and max per key of delimited text: exact, at memory speed.
//!
//! Input is `key;value` lines; output is one exact state per key. Data flows
//!
//! ```text
//! sources ─ chunk ─→ kernel ─→ table          one of each per thread
//!                      │ odd rows
//!                      └──────→ number        the exact parser
//!           tables ─ gather ─→ partial states ─ format ─→ text
//! ```
//!
//! Every number is an integer at a decimal scale from the first digit to the last: no value is
//! rounded before it is printed, and no order of threads, chunks or files changes a byte of the
//! result. [`generate`] writes the measurement files of the One Billion Row Challenge and its
//! relatives, [`parts`] has what can be used apart from a run. The oracle that all of this is tested
//! against is in `tests/answers/oracle`, and shares nothing with it.
//!
//! ```
//! use fathom_aggregate::{Layout, OnError, Options, Progress, Source, aggregate, format};
//!
//! let input: &[u8] = b"Oslo;-1.5\nQuito;14.0\nOslo;3.0\n";
//! let source = Source::Stream { path: "-".into(), reader: Box::new(input) };
//! let summary =
//!     aggregate(vec![source], &Options::default(), OnError::Fail, &Progress::default())?;
//! let text = format::brc(&summary.columns[0], &Layout::default());
//! assert_eq!(text, b"{Oslo=-1.5/0.8/3.0, Quito=14.0/14.0/14.0}\n");
//! # Ok::<(), fathom_aggregate::Error>(())
//! ```
#![deny(unsafe_code)]

mod access;
mod account;
mod approx;
mod bucket;
mod chunk;
pub mod columnar;
mod composite;
pub mod delimited;
mod engine;
mod error;
mod filter;
pub mod format;
mod gather;
pub mod generate;
pub mod guess;
mod histogram;
mod kept;
#[allow(unsafe_code)] // the hot loops: their preconditions are types, each block says why it holds
mod kernel;
mod key;
mod line;
mod merge;
mod ndjson;
mod number;
pub mod parts;
mod pool;
mod quantile;
mod queue;
mod record;
mod reference;
mod rejects;
mod selector;
mod shard;
mod source;
mod spill;
pub mod state;
mod statistic;
mod sums;
mod table;
mod texts;
mod threads;
mod waiting;
mod way;
mod wide;

pub use approx::Approx;
pub use bucket::Bucket;
pub use chunk::MOST_RECORD_BYTES;
pub use delimited::{By, Kind, Null, Query, Ragged, Syntax, Value, ValueError};
pub use engine::{CHUNK_BYTES, Column, Options, Progress, Summary, aggregate};
pub use error::{BytePosition, Error, FieldText, Position, Reason, Reject};
pub use filter::{Filter, FilterError, Formula};
pub use format::Layout;
pub use gather::Gathering;
pub use kept::Datum;
pub use kernel::level_of as kernel_level;
pub use key::Key;
pub use merge::{Partial, Stats, merge};
pub use number::{Decimal, MOST_DIGITS, NumberError, Rounding};
pub use quantile::{Method, Quantile};
pub use rejects::{OnError, Rejects, SHOWN};
pub use selector::{ListError, Selector};
pub use source::Source;
pub use spill::{Spill, Spilled};
pub use statistic::Statistic;
pub use way::{Input, Way};
