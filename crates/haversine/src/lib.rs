//! The mean great-circle distance of coordinate pairs in JSON: strict, exact, and fast.
//!
//! ```text
//! file ─► blocks ─► session ─► pairs ─► kernel ─► distances ─► exact sum ─► mean
//!                   │ lexer of `json`: decides what is valid           └─► answers
//!                   └ template: reads what looks like the element before
//! ```
//!
//! Every number is the double nearest to its text and every mean is rounded once, whatever the
//! number of threads; what is not valid JSON, or no pair, is an error with its offset. The course's
//! formula, generator, answer files and order of summation are here as the reference.
//!
//! ```
//! use fathom_haversine::{Options, Source, read};
//!
//! let json = br#"{"pairs":[{"x0":0,"y0":0,"x1":90,"y1":0}, {"y1":0,"x1":0,"y0":0,"x0":0}]}"#;
//! let outcome = read(Source::Stream(Box::new(&json[..])), &Options::default())?;
//! assert_eq!(outcome.pairs, 2);
//! let quarter = fathom_haversine::EARTH_RADIUS_KM * std::f64::consts::FRAC_PI_2;
//! assert!((outcome.mean_exact - quarter / 2.0).abs() < 1e-8);
//! # Ok::<(), fathom_haversine::Error>(())
//! ```
#![deny(unsafe_code)]

mod alike;
pub mod answers;
mod block;
mod engine;
mod error;
mod formula;
pub mod generate;
#[allow(unsafe_code)] // vector kernels; every block says what makes it sound
mod kernel;
mod pairs;
mod session;
mod sum;
mod template;
mod zone;

pub use engine::{BLOCK_BYTES, Options, Outcome, Source, distances, mean_exact, read};
pub use error::{AnswersError, Error, Fault, Found, Shape};
pub use formula::{
    Coordinate, EARTH_RADIUS_KM, MOST_DEGREES, MOST_RADIUS, Pair, RADIANS_PER_DEGREE, distance,
};
pub use kernel::Trigonometry;
pub use pairs::OnError;
pub use sum::{ExactSum, mean_in_order};
