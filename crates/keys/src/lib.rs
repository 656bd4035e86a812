//! Which keys are in this file?
//!
//! Reads the keys (and values) of words, lines, CSV columns, JSON lines, integers and kvbench's
//! binary files, with the offset of whatever is wrong; writes the same formats; describes a key set
//! ([`portrait`]); makes key sets from a seed ([`generate`]); reads what a program did to its keys
//! ([`trace`]). Knows no structure that holds keys and opens no file: bytes come in, bytes go out.
//!
//! ```text
//! bytes ─▶ detect ─▶ read ─┬─▶ KeySet ─┬─▶ Portrait
//! Recipe ─▶ generate ──────┘           └─▶ write ─▶ bytes
//!
//! KeySet  bytes  | 5 0 0 0 a l p h a 4 0 0 0 b e t a |   the file itself, or decoded copies
//!         spans           └ 4,5 ┘           └13,4 ┘      where each key lies
//! ```
//!
//! ```
//! use fathom_keys::{Format, Target, detect, read, write};
//!
//! let text = b"alpha beta gamma";
//! let format = detect(text)?;
//! assert_eq!(format, Format::Words);
//! let keys = read(text, &format)?;
//! assert_eq!(keys.key(1).as_ref(), b"beta");
//!
//! let mut file = Vec::new();
//! write(&mut file, &keys, &Target::new(Format::BinText)).unwrap();
//! assert_eq!(file.len(), 30);
//! assert_eq!(read(&file, &Format::BinText)?.key(2).as_ref(), b"gamma");
//!
//! let error = read(&file[..29], &Format::BinText).unwrap_err();
//! assert_eq!(error.to_string(), "byte 21: a key of 5 bytes with 4 bytes left (record 3 of 3)");
//! # Ok::<(), fathom_keys::Error>(())
//! ```
#![deny(unsafe_code)]

mod error;
mod format;
pub mod generate;
pub mod portrait;
mod read;
mod set;
pub mod trace;
mod write;

pub use error::{Error, Reason};
pub use format::{Column, Csv, Format, UnknownFormat};
pub use portrait::Portrait;
pub use read::{detect, read};
pub use set::{KeySet, Keys, Span};
pub use write::{Target, WriteError, Written, write};
