//! Where the chosen columns stand: as the user placed them, or as the header names them.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::{Selector, Shape};
use crate::error::{Error, quoted};

/// Where the chosen columns stand in a source, from 0.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) key: usize,
    pub(super) values: Vec<usize>,
}

impl Columns {
    /// Those of a source without a header; None where a header must be read first.
    pub(super) fn placed(shape: &Shape) -> Option<Arc<Columns>> {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => place - 1,
            Selector::Name(_) => unreachable!("names come with a header"),
        };
        (!shape.header).then(|| {
            let values = shape.values.iter().map(place).collect();
            Arc::new(Columns { key: place(&shape.key), values })
        })
    }

    pub(super) fn named(
        shape: &Shape,
        path: &Path,
        names: &[Cow<'_, [u8]>],
    ) -> Result<Columns, Error> {
        let place = |selector: &Selector| match selector {
            Selector::Place(place) => Ok(place - 1),
            Selector::Name(name) => {
                names.iter().position(|found| **found == *name.as_bytes()).ok_or_else(|| {
                    let shown: Vec<String> = names.iter().map(|name| quoted(name)).collect();
                    Error::NoSuchColumn {
                        path: path.to_owned(),
                        name: name.clone(),
                        header: shown.join(", "),
                    }
                })
            }
        };
        let values = shape.values.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Columns { key: place(&shape.key)?, values })
    }
}
