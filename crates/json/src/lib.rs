//! Strict JSON as a stream of events, in constant memory.
//!
//! Every document RFC 8259 allows is accepted and every other one is refused with a [`Code`] and
//! the offset of the byte at fault; however the input is cut into chunks, the events, the verdict
//! and the offset are the same. Numbers convert to the nearest double, always.
//!
//! ```text
//! bytes ─► Lexer ─► events ─┬─► Reader    pull, from anything that can be read
//!           ├ kernel        └─► validate  the verdict alone
//!  lines ──► Pattern           the scalars of a document built as one before
//!           └ number
//! reference::Machine: the same from one plain match per byte; the oracle of the tests
//! ```
//!
//! ```
//! use fathom_json::{Event, Reader};
//!
//! let mut reader = Reader::new(&br#"{"x0": 1e-1, "tags": ["\u00e9", null]}"#[..]);
//! let mut numbers = Vec::new();
//! while let Some(event) = reader.next()? {
//!     if let Event::Number(number) = event {
//!         numbers.push(number.to_f64().unwrap());
//!     }
//! }
//! assert_eq!(numbers, [0.1]);
//!
//! let error = fathom_json::validate(b"[1, 01]").unwrap_err();
//! assert_eq!((error.code, error.offset), (fathom_json::Code::LeadingZero, 5));
//! # Ok::<(), fathom_json::ReadError>(())
//! ```
//!
//! # What it decides
//! * Keys that occur twice are both reported: a stream cannot remember all keys in constant
//!   memory. A consumer that knows its keys refuses them.
//! * A number beyond the range of doubles is valid JSON, so the event is delivered; only
//!   [`Number::to_f64`] answers [`OutOfRange`]. One too small becomes zero, and `-0` keeps its sign.
//! * `"\ud800"`, half a surrogate pair, is valid JSON by the grammar; only [`Text::decode`] refuses
//!   it, and it equals no key.
//! * A byte-order mark is not JSON. Nesting deeper than [`Limits::depth`] and tokens longer than
//!   [`Limits::token_bytes`] are errors, not a stack overflow or an exhausted memory.
#![deny(unsafe_code)]

mod error;
mod event;
mod float;
#[allow(unsafe_code)] // the vector kernels; every block says what makes it sound
mod kernel;
mod lexer;
mod number;
mod pattern;
mod reader;
pub mod reference;
mod string;
mod validate;

pub use error::{Code, Error, OutOfRange, ReadError};
pub use event::Event;
#[doc(hidden)]
pub use float::power_of_two;
pub use kernel::{Kind, Scalar};
pub use lexer::{Lexer, Limits, Located, Mode};
pub use number::{Number, leading_number, nearest};
pub use pattern::{Marker, Pattern};
pub use reader::Reader;
pub use string::{LoneSurrogate, Text};
pub use validate::{validate, validate_at, validate_read, validate_read_at, validating_level};
