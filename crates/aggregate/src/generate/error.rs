//! What can go wrong while test data is made.

use std::io;

/// Why a station list or a measurements file could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A line of the list has nothing before its `;`.
    #[error("line {line}, column 1 of the station list: no name before the `;`")]
    NoName {
        /// Counted from 1, comments included.
        line: usize,
    },
    /// What follows the `;` is not a temperature from -99.9 to 99.9.
    #[error(
        "line {line}, column {column} of the station list: {text:?} is no mean temperature (-99.9 to 99.9)"
    )]
    NotATemperature {
        /// Counted from 1, comments included.
        line: usize,
        /// Of the byte behind the `;`, from 1.
        column: usize,
        /// The field, shortened.
        text: String,
    },
    /// A list without a station.
    #[error("the station list has no station")]
    EmptyList,
    /// No station at all was given or asked for.
    #[error("there must be at least one station")]
    NoStations,
    /// More stations were asked for than the list holds.
    #[error("the station list holds {available} distinct names, {asked} were asked for")]
    TooFewStations {
        /// How many were asked for.
        asked: usize,
        /// How many distinct names there are.
        available: usize,
    },
    /// The output refused the bytes.
    #[error("the output failed")]
    Write(#[from] io::Error),
}
