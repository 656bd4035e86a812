//! Saved runs, shown: every function here is a pure function of
//! [`Run`](fathom_measure::result::Run).
//!
//! * [`sentence`]: a verdict in words;
//! * [`table`]: which columns a table has, whatever it is written in;
//! * [`text`]: tables for a terminal, with bars;
//! * [`markdown`], [`csv`]: the same for documents and spreadsheets;
//! * [`html`]: one self-contained page with plots;
//! * [`escape`]: text of others made harmless;
//! * [`scan`]: the plot of a scan of one number;
//! * [`diff`]: two runs, honest about not being interleaved;
//! * [`history`]: many runs over time;
//! * [`hyperfine`]: the exports of that tool;
//! * [`import`]: results of other harnesses.
//!
//! ```
//! use fathom_report::number::{duration, times};
//! assert_eq!(duration(1_234.5), "1.234 µs");
//! assert_eq!(times(1.307), "1.31x");
//! ```
#![forbid(unsafe_code)]

pub mod csv;
pub mod diff;
pub mod escape;
pub mod history;
pub mod html;
pub mod hyperfine;
pub mod import;
pub mod markdown;
pub mod number;
pub mod scan;
pub mod sentence;
mod steps;
pub mod table;
pub mod text;
pub mod view;
pub mod wrap;
