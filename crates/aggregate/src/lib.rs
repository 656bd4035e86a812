//! Min, mean, max and more per key of delimited text: the group-by engine, and its test data.
//!
//! [`generate`] writes the measurement files of the One Billion Row Challenge and its relatives:
//!
//! ```
//! use fathom_aggregate::generate::{Measurements, Stations};
//! let mut text = Vec::new();
//! Measurements::new(Stations::world(), 1).write(3, 1, &mut text)?;
//! assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), 3);
//! # Ok::<(), fathom_aggregate::generate::GenerateError>(())
//! ```
#![deny(unsafe_code)]

pub mod generate;
