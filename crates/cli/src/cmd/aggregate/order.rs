//! From the words of `--sort` to the order of a result.

use fathom_aggregate::format::{Criterion, Wanted, Wish, WishError};
use fathom_aggregate::{Column, Layout, Query};

use super::{Options, statistics};

/// A whole `--sort`.
#[derive(Clone, Debug)]
pub(super) struct Wishes(pub(super) Vec<Wish>);

/// Reads it.
pub(super) fn list(text: &str) -> Result<Wishes, WishError> {
    Wish::list(text).map(Wishes)
}

/// The order of these columns, of whose keys these parts are in the order of numbers.
pub(super) fn criteria(
    options: &Options,
    number_parts: &[usize],
    layout: &Layout,
    columns: &[Column],
) -> Result<Vec<Criterion>, String> {
    wanted(options, number_parts).criteria(layout, columns).map_err(|why| format!("--sort: {why}"))
}

/// What is wrong with the order, as far as that can be said before anything is read.
pub(super) fn mistake(options: &Options, query: Option<&Query>) -> Option<String> {
    let number_parts = query.map(Query::number_parts).unwrap_or_default();
    let may_have_header = query.is_some_and(|query| query.header) || options.header.is_none();
    let layout = Layout {
        statistics: statistics(options),
        pairs: options.compare,
        errors: options.approx.is_some(),
        ..Layout::default()
    };
    let checked = wanted(options, &number_parts).check(query, may_have_header, layout);
    checked.err().map(|why| format!("--sort: {why}"))
}

fn wanted<'a>(options: &'a Options, number_parts: &'a [usize]) -> Wanted<'a> {
    let wishes = options.sort.as_ref().map_or(&[][..], |sort| &sort.0);
    let method = options.quantiles;
    let (reverse, only_counts) = (options.reverse, options.count);
    Wanted { wishes, reverse, method, number_parts, only_counts }
}
