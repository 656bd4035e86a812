//! Tables column by column in a build without the feature `tables`: there are none.

use std::path::PathBuf;

use fathom_aggregate::{Options as EngineOptions, Progress, Query, Summary};

use super::Options;
use crate::input::Columns;

/// Nothing is known of no table.
pub(super) fn summarise(
    _: &Options,
    _: Option<&Query>,
    _: &[(PathBuf, Columns)],
    _: &EngineOptions,
    _: &Progress,
) -> Option<Summary> {
    None
}
