//! What stands before the first record of a source: blank lines and a header.
//!
//! Values are not looked at.

use std::path::Path;
use std::sync::Arc;

use super::columns::{Columns, OF_JSON};
use super::pieces::Pieces;
use super::query::Query;
use crate::chunk::{Buffer, behind};
use crate::error::Error;
use crate::kernel::marks::Marker;
use crate::record::{Field, Split, split};

/// What comes before the first record of a chunk, and what was learnt there.
pub(super) struct Head {
    pub(super) columns: Option<Arc<Columns>>,
    /// Blank lines before the header, by where they start.
    pub(super) blank: Vec<usize>,
    /// Where the header starts, if it was read.
    pub(super) header: Option<usize>,
    /// Where the first record starts.
    pub(super) from: usize,
}

impl Head {
    pub(super) fn new(columns: Option<Arc<Columns>>, from: usize) -> Head {
        Head { columns, blank: Vec::new(), header: None, from }
    }

    /// Where the last record that starts before `limit` ends; those before `at` are complete. Reads
    /// the header first if the columns are not known. An inner error is the place of a record that
    /// is not complete.
    pub(super) fn end_of_records(
        &mut self,
        query: &Query,
        path: &Path,
        bytes: &[u8],
        (at, limit): (usize, usize),
        ended: bool,
        (fields, marker): (&mut Vec<Field>, Marker),
    ) -> Result<Result<usize, usize>, Error> {
        if let Err(incomplete) = self.learn(query, path, bytes, limit, ended, fields)? {
            return Ok(Err(incomplete));
        }
        let range = (at.max(self.from), limit);
        Ok(Pieces::new(bytes, range, query.cut_by(), ended, marker).end(fields))
    }

    /// Whether nothing is left to be learnt.
    pub(super) fn is_known(&self) -> bool {
        self.columns.as_ref().is_some_and(|columns| columns.fields.is_some())
    }

    /// Reads the header, or how many fields the first record has, unless they are known or start behind
    /// `limit`. An inner error is the place of a record that is not complete.
    pub(super) fn learn(
        &mut self,
        query: &Query,
        path: &Path,
        bytes: &[u8],
        limit: usize,
        ended: bool,
        fields: &mut Vec<Field>,
    ) -> Result<Result<(), usize>, Error> {
        while self.columns.is_none() && self.from < limit {
            match split(bytes, self.from, query.dialect(), ended, fields) {
                Split::More => return Ok(Err(self.from)),
                Split::Blank(end) => {
                    self.blank.push(self.from);
                    self.from = end;
                }
                Split::Malformed { reason, at, .. } => {
                    let hint = match bytes[self.from..].first() {
                        Some(b'{' | b'[') => OF_JSON,
                        _ => "",
                    };
                    let position = behind(path, &bytes[..at]);
                    return Err(Error::BadHeader { position, reason, hint });
                }
                Split::Record(end) => {
                    let names: Vec<_> = fields.iter().map(|field| field.content(bytes)).collect();
                    self.columns = Some(Arc::new(Columns::named(query, path, &names)?));
                    self.header = Some(self.from);
                    self.from = end;
                }
            }
        }
        let mut first = self.from;
        while let Some(columns) = self.columns.as_mut().filter(|known| known.fields.is_none())
            && first < limit
        {
            match split(bytes, first, query.dialect(), ended, fields) {
                Split::More => return Ok(Err(first)),
                Split::Blank(end) | Split::Malformed { end, .. } => first = end,
                Split::Record(_) => Arc::make_mut(columns).fields = Some(fields.len()),
            }
        }
        Ok(Ok(()))
    }
}

/// Puts a newline behind the last of `have` bytes unless it is one; true if it did.
pub(super) fn terminate(buffer: &mut Buffer, have: usize) -> bool {
    let missing = buffer.room(have).last().is_some_and(|&byte| byte != b'\n');
    if missing {
        buffer.terminate(have);
    }
    missing
}
