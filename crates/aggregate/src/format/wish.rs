//! What users want a result to be sorted by, in their words, and which order of its keys that is.

use super::order::{Criterion, Sort};
use super::telling::{Telling, tellings};
use super::{Layout, Statistic, headings};
use crate::delimited::{Kind, Query, Syntax};
use crate::engine::Column;
use crate::quantile::Method;
use crate::selector::{Entry, ListError, Selector};

/// What is sorted by, as users write it: a name, and perhaps which way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    name: String,
    falling: Option<bool>,
}

/// Why nothing can be sorted so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WishError {
    /// The list is none.
    #[error(transparent)]
    List(#[from] ListError),
    /// A column of the result has no place.
    #[error("columns are named here, and a name that is a number stands in quotes (\"{0}\")")]
    Place(usize),
    /// There is no such column.
    #[error("nothing is called {name:?}; there is {}, and every statistic", known.join(", "))]
    Unknown {
        /// What it was called.
        name: String,
        /// What there is, as it stands in a list.
        known: Vec<String>,
    },
    /// A statistic that texts do not have.
    #[error("{name} is a text, and has no {statistic}")]
    Text {
        /// The column.
        name: String,
        /// What it does not have.
        statistic: Statistic,
    },
    /// A statistic of which none is larger than another.
    #[error("a {0} has no order")]
    NoOrder(Statistic),
    /// A statistic that sketches cannot tell.
    #[error("sketches keep no values, and cannot tell {0}")]
    NotKept(Statistic),
    /// A statistic of values where records are counted alone.
    #[error("records that are only counted have no {0}")]
    NoValues(Statistic),
}

impl Wish {
    /// One: a name, perhaps with `:asc` or `:desc` behind it.
    pub fn of(text: &str) -> Wish {
        let ended = text.rsplit_once(':').and_then(|(name, way)| Some((name, falls(way)?)));
        match ended {
            Some((name, falling)) => Wish { name: name.to_owned(), falling: Some(falling) },
            None => Wish { name: text.to_owned(), falling: None },
        }
    }

    /// Reads `host,ms_p99:desc`; names with commas stand in quotes, and all that is in quotes is the name.
    ///
    /// # Errors
    /// [`WishError::List`] and [`WishError::Place`].
    pub fn list(text: &str) -> Result<Vec<Wish>, WishError> {
        let wish = |entry| match entry {
            Entry::Word(Selector::Name(name)) => Ok(Wish::of(&name)),
            Entry::Word(Selector::Place(place)) => Err(WishError::Place(place)),
            Entry::Quoted(name, None) => Ok(Wish { name, falling: None }),
            Entry::Quoted(name, Some(way)) => match falls(&way) {
                Some(falling) => Ok(Wish { name, falling: Some(falling) }),
                None => Err(ListError::Quote(text.to_owned()).into()),
            },
        };
        Selector::entries(text)?.into_iter().map(wish).collect()
    }

    /// The statistics it may mean, all of which must be kept; a column of the key, of which these are known, means none.
    pub fn statistics(&self, keys: &[Selector]) -> Vec<Statistic> {
        if keys.iter().any(|key| key.name() == Some(&self.name)) {
            return Vec::new();
        }
        let ended = self.name.strip_suffix("_error%").unwrap_or(&self.name);
        let name = ["_before", "_after", "_change", "_change_error", "_change%"]
            .iter()
            .find_map(|end| ended.strip_suffix(end))
            .unwrap_or(ended);
        let ends = name.match_indices('_').map(move |(at, _)| &name[at + 1..]);
        ends.chain([name]).filter_map(Statistic::named).collect()
    }
}

/// A name as it stands in a list: in quotes if it were several or a number without.
fn listed(name: String) -> String {
    let is_itself = matches!(&Selector::entries(&name).as_deref(), Ok([Entry::Word(Selector::Name(word))]) if *word == name);
    if is_itself { name } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Whether this way, as users write it behind a colon, is the falling one.
fn falls(way: &str) -> Option<bool> {
    match way {
        "asc" => Some(false),
        "desc" => Some(true),
        _ => None,
    }
}

/// The order that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What decides first comes first.
    pub wishes: &'a [Wish],
    /// Whether the order is turned around.
    pub reverse: bool,
    /// How quantiles are told.
    pub method: Method,
    /// The parts of the key, from 0, that are in the order of [numbers](Query::number_parts).
    pub number_parts: &'a [usize],
    /// Whether there are no values: records are only counted.
    pub only_counts: bool,
}

impl Wanted<'_> {
    /// The order of these columns; what nothing tells apart stays in the order of the keys.
    ///
    /// # Errors
    /// What it cannot be sorted by.
    pub fn criteria(
        &self,
        layout: &Layout,
        columns: &[Column],
    ) -> Result<Vec<Criterion>, WishError> {
        let parts: Vec<Sort> = (0..layout.keys.len()).map(|at| self.part(at, layout)).collect();
        let by_parts = |falling| parts.iter().map(move |&sort| Criterion { sort, falling });
        let has_numbers = !self.number_parts.is_empty();
        let mut order = Vec::new();
        let whole = Criterion { sort: Sort::Key, falling: self.reverse };
        let wished = self.wishes.iter().map(|wish| self.criterion(wish, layout, columns));
        let usual = self.wishes.is_empty().then_some(Ok(whole));
        for criterion in wished.chain(usual) {
            let criterion = criterion?;
            match criterion.sort {
                Sort::Key if has_numbers => order.extend(by_parts(criterion.falling)),
                _ => order.push(criterion),
            }
        }
        order.extend(has_numbers.then(|| by_parts(false)).into_iter().flatten());
        Ok(order)
    }

    /// The same as far as it can be said before anything is read: the names of columns that only a header gives, which
    /// there may be, are not known then.
    ///
    /// # Errors
    /// The same.
    pub fn check(
        &self,
        query: Option<&Query>,
        may_have_header: bool,
        layout: Layout,
    ) -> Result<(), WishError> {
        let is_known = |selector: &Selector| matches!(selector, Selector::Name(_));
        let (keys, values) = match query {
            None => (vec!["key".to_owned()], vec![("value".to_owned(), false)]),
            Some(query) => {
                let values = query.values.iter();
                let by = query.by.iter().map(|by| &by.column);
                let mut selectors = by.chain(values.clone().map(|value| &value.column));
                let may_have_names = may_have_header || query.syntax != Syntax::Delimited;
                if may_have_names && !selectors.all(is_known) {
                    return Ok(());
                }
                let keys = match query.has_named_parts() {
                    true => query.by.iter().map(|by| by.column.to_string()).collect(),
                    false => vec!["key".to_owned()],
                };
                let mut values: Vec<_> =
                    values.map(|v| (v.column.to_string(), v.kind == Kind::Text)).collect();
                if values.is_empty() {
                    values.push(("records".to_owned(), false));
                }
                (keys, values)
            }
        };
        self.check_columns(&values, &Layout { keys, ..layout })
    }

    /// The same of columns of these names, each of texts or of numbers; of two inputs each is there twice.
    ///
    /// # Errors
    /// The same.
    pub fn check_columns(
        &self,
        values: &[(String, bool)],
        layout: &Layout,
    ) -> Result<(), WishError> {
        let column = |(name, is_text): &(String, bool)| {
            let column = Column { is_text: *is_text, ..Column::new(name, Vec::new()) };
            std::iter::repeat_n(column, if layout.pairs { 2 } else { 1 })
        };
        let columns: Vec<Column> = values.iter().flat_map(column).collect();
        self.criteria(layout, &columns).map(drop)
    }

    fn criterion(
        &self,
        wish: &Wish,
        layout: &Layout,
        columns: &[Column],
    ) -> Result<Criterion, WishError> {
        let Some(sort) = self.sort(wish, layout, columns) else {
            let known = headings(columns, layout).into_iter().map(listed).collect();
            let name = wish.name.clone();
            return Err(WishError::Unknown { name, known });
        };
        if let Sort::By(Telling::Of(at, statistic)) = sort {
            if columns[at].is_text && !statistic.is_of_texts() {
                return Err(WishError::Text { name: columns[at].name.clone(), statistic });
            }
            if !statistic.has_order() {
                return Err(WishError::NoOrder(statistic));
            }
            if layout.errors && statistic.needs_all() {
                return Err(WishError::NotKept(statistic));
            }
            if !statistic.is_of_records() && self.only_counts {
                return Err(WishError::NoValues(statistic));
            }
        }
        let falling = wish.falling.unwrap_or(matches!(sort, Sort::By(_)));
        Ok(Criterion { sort, falling: falling != self.reverse })
    }

    /// What a wish means in a result of these parts of keys and columns.
    fn sort(&self, wish: &Wish, layout: &Layout, columns: &[Column]) -> Option<Sort> {
        let named = |text| Statistic::named(text).map(|told: Statistic| told.by(self.method));
        // Of two inputs the later one.
        let last = usize::from(layout.pairs);
        let parts = layout.keys.len();
        let heading = headings(columns, layout).into_iter().position(|name| name == wish.name);
        if let Some(at) = heading.filter(|&at| at < parts) {
            return Some(self.part(at, layout));
        }
        if wish.name == "key" {
            return Some(Sort::Key);
        }
        if let Some(statistic) = named(&wish.name) {
            return Some(Sort::By(Telling::Of(last, statistic)));
        }
        if let Some(at) = heading {
            return Some(Sort::By(tellings(columns, layout)[at - parts].1));
        }
        let step = last + 1;
        (last..columns.len()).step_by(step).find_map(|at| {
            // Both sides are shown under the name of the first.
            let statistic = wish.name.strip_prefix(&columns[at - last].name)?.strip_prefix('_')?;
            Some(Sort::By(Telling::Of(at, named(statistic)?)))
        })
    }

    /// A part of the key, in the order of numbers if its buckets are.
    fn part(&self, at: usize, layout: &Layout) -> Sort {
        Sort::Part { at, of: layout.keys.len(), is_number: self.number_parts.contains(&at) }
    }
}
