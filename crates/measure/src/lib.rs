//! Is this number true?
//!
//! The measuring core: who is measured ([`contender`], [`family`]), on what ([`workload`]), and the
//! proof that the work was done ([`digest`]). A *sample* is one timing of some *iterations* of a
//! workload by a contender; the timed loop is compiled for each contender ([`contender::timed`]), so
//! dynamic dispatch happens once per sample and never inside it.
//!
//! Beside it stands [`profile`]: zones that tell where the time of a program goes.
//!
//! Data flows one way: data (file or seed) → workload → rounds of samples → outcome → result.
//!
//! ```
//! use fathom_measure::contender::timed;
//! use fathom_measure::digest::Digest;
//! use fathom_measure::meter::Untimed;
//!
//! let words = ["alpha", "beta"];
//! let mut total = timed(
//!     &words[..],
//!     |words| words.iter().map(|word| word.len()).sum::<usize>(), // timed
//!     |total| Digest::of_u64(*total as u64),                      // not timed
//! );
//! let digest = total.sample(1_000, &mut Untimed);
//! assert_eq!(digest, Digest::of_u64(9));
//! ```
#![forbid(unsafe_code)]

pub mod audition;
pub mod bench;
pub mod command;
pub mod compare;
pub mod conductor;
pub mod contender;
pub mod digest;
pub mod facts;
pub mod family;
pub mod meter;
pub mod mix;
mod pairs;
mod parallel;
pub mod plan;
pub mod profile;
pub mod protocol;
pub mod provision;
pub mod result;
pub mod rounds;
pub mod sample;
pub mod scratch;
mod sets;
pub mod simulated;
pub mod stats;
pub mod verdict;
pub mod worker;
pub mod workload;
