//! From the words of `--sort` to the order of a result.

use fathom_aggregate::format::{self, Criterion, Sort, Statistic, Telling};
use fathom_aggregate::{Bucket, Column, Kind, Layout, Query, Selector, Syntax};

use super::{Options, statistics};

/// What is sorted by, as users write it: a name, and perhaps which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    name: String,
    falling: Option<bool>,
}

/// A whole `--sort`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wishes(pub(super) Vec<Wish>);

impl Wish {
    /// Reads `host,ms_p99:desc`; names with commas stand in quotes.
    pub(super) fn list(text: &str) -> Result<Wishes, String> {
        let list = Selector::list(text).map_err(|why| why.to_string())?;
        let wish = |selector| match selector {
            Selector::Name(name) => Ok(match name.rsplit_once(':') {
                Some((name, "asc")) => Wish { name: name.to_owned(), falling: Some(false) },
                Some((name, "desc")) => Wish { name: name.to_owned(), falling: Some(true) },
                _ => Wish { name, falling: None },
            }),
            Selector::Place(place) => Err(format!(
                "columns are named here, and a name that is a number stands in quotes (\"{place}\")"
            )),
        };
        list.into_iter().map(wish).collect::<Result<_, _>>().map(Wishes)
    }

    /// The statistics it may mean, all of which must be kept.
    pub(super) fn statistics(&self) -> impl Iterator<Item = Statistic> + '_ {
        let ended = self.name.strip_suffix("_error%").unwrap_or(&self.name);
        let name = ["_before", "_after", "_change", "_change%"]
            .iter()
            .find_map(|end| ended.strip_suffix(end))
            .unwrap_or(ended);
        let ends = name.match_indices('_').map(move |(at, _)| &name[at + 1..]);
        ends.chain([name]).filter_map(Statistic::named)
    }

    /// What it means in a result of these parts of keys and columns.
    fn sort(
        &self,
        options: &Options,
        query: Option<&Query>,
        layout: &Layout,
        columns: &[Column],
    ) -> Option<Sort> {
        let named = |text| Statistic::named(text).map(|told: Statistic| told.by(options.method()));
        // Of two inputs the later one.
        let last = usize::from(layout.pairs);
        if let Some(statistic) = named(&self.name) {
            return Some(Sort::By(Telling::Of(last, statistic)));
        }
        if let Some(at) = layout.keys.iter().position(|key| *key == self.name) {
            return Some(part(query, at, layout));
        }
        if self.name == "key" {
            return Some(Sort::Key);
        }
        let told = format::tellings(columns, layout);
        if let Some((_, telling)) = told.iter().find(|(name, _)| *name == self.name) {
            return Some(Sort::By(*telling));
        }
        let step = last + 1;
        (last..columns.len()).step_by(step).find_map(|at| {
            let statistic = self.name.strip_prefix(&columns[at].name)?.strip_prefix('_')?;
            Some(Sort::By(Telling::Of(at, named(statistic)?)))
        })
    }

    fn criterion(
        &self,
        options: &Options,
        query: Option<&Query>,
        layout: &Layout,
        columns: &[Column],
    ) -> Result<Criterion, String> {
        let Some(sort) = self.sort(options, query, layout, columns) else {
            let told = format::tellings(columns, layout).into_iter().map(|(name, _)| name);
            let all: Vec<String> = layout.keys.iter().cloned().chain(told).collect();
            let (name, all) = (&self.name, all.join(", "));
            return Err(format!(
                "--sort: nothing is called {name:?}; there is {all}, and every statistic"
            ));
        };
        if let Sort::By(Telling::Of(at, statistic)) = sort
            && columns[at].is_text
            && !statistic.is_of_texts()
        {
            let name = &columns[at].name;
            return Err(format!("--sort: {name} is a text, and has no {statistic}"));
        }
        if let Sort::By(Telling::Of(_, statistic)) = sort
            && !statistic.has_order()
        {
            return Err(format!("--sort: a {statistic} has no order"));
        }
        let falling = self.falling.unwrap_or(matches!(sort, Sort::By(_)));
        Ok(Criterion { sort, falling: falling != options.reverse })
    }
}

/// A part of the key, in the order of numbers if its buckets are.
fn part(query: Option<&Query>, at: usize, layout: &Layout) -> Sort {
    let bucket = query.and_then(|query| query.by.get(at)?.bucket.as_ref());
    Sort::Part { at, of: layout.keys.len(), is_number: bucket.is_some_and(Bucket::is_number) }
}

/// The order of these columns; what nothing tells apart stays in the order of the keys.
pub(super) fn criteria(
    options: &Options,
    query: Option<&Query>,
    layout: &Layout,
    columns: &[Column],
) -> Result<Vec<Criterion>, String> {
    let parts: Vec<Sort> = (0..layout.keys.len()).map(|at| part(query, at, layout)).collect();
    let has_numbers = parts.iter().any(|part| matches!(part, Sort::Part { is_number: true, .. }));
    let by_parts = |falling| parts.iter().map(move |&sort| Criterion { sort, falling });
    let mut order = Vec::new();
    for wish in &options.sort.0 {
        let criterion = wish.criterion(options, query, layout, columns)?;
        match criterion.sort {
            Sort::Key if has_numbers => order.extend(by_parts(criterion.falling)),
            _ => order.push(criterion),
        }
    }
    order.extend(has_numbers.then(|| by_parts(false)).into_iter().flatten());
    Ok(order)
}

/// What is wrong with the order, as far as that can be said before anything is read: the names of
/// columns that a header gives are not known then.
pub(super) fn mistake(options: &Options, query: Option<&Query>) -> Option<String> {
    let is_known = |selector: &Selector| matches!(selector, Selector::Name(_));
    let (keys, values) = match query {
        None => (vec!["key".to_owned()], vec![("value".to_owned(), false)]),
        Some(query) => {
            let values = query.values.iter();
            let mut selectors = query
                .by
                .iter()
                .map(|by| &by.column)
                .chain(values.clone().map(|value| &value.column));
            let may_have_names = query.header || options.header.is_none();
            if (may_have_names || query.syntax != Syntax::Delimited) && !selectors.all(is_known) {
                return None;
            }
            let keys = query.by.iter().map(|by| by.column.to_string()).collect();
            let mut values: Vec<_> =
                values.map(|v| (v.column.to_string(), v.kind == Kind::Text)).collect();
            if values.is_empty() {
                values.push(("records".to_owned(), false));
            }
            (keys, values)
        }
    };
    let column = |(name, is_text): &(String, bool)| {
        let column = Column { is_text: *is_text, ..Column::new(name, Vec::new()) };
        std::iter::repeat_n(column, if options.compare { 2 } else { 1 })
    };
    let columns: Vec<Column> = values.iter().flat_map(column).collect();
    let is_single = query.is_some_and(|query| {
        !query.header && query.by.len() == 1 && query.syntax == Syntax::Delimited
    });
    let keys = if is_single { vec!["key".to_owned()] } else { keys };
    let told = statistics(options);
    let (pairs, errors) = (options.compare, options.approx.is_some());
    let layout = Layout { keys, statistics: told, pairs, errors, ..Layout::default() };
    criteria(options, query, &layout, &columns).err()
}
