//! Files of `station;temperature` records, from a seed: the same bytes for any number of threads,
//! on any machine, in any version.
//!
//! ```text
//! seed, list or preset → Stations → blocks of rows, each with its own random stream → in order → out
//! ```
//!
//! [`Measurements`] draws gaussian temperatures around each station's mean, as the original
//! challenge does; [`Pascal`] reproduces the Object Pascal challenge's files bit for bit. Neither
//! reads back or aggregates what it wrote, and neither knows about files: they write to anything
//! that takes bytes.

mod error;
mod gaussian;
mod measurements;
mod names;
mod ordered;
mod pascal;
mod rows;
mod stations;

pub use error::GenerateError;
pub use fathom_random::Random;
pub use measurements::Measurements;
pub use pascal::Pascal;
pub use stations::Stations;
