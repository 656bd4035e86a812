//! Results as text, a piece after the other: of what lies in memory as of what was spilled.

use crate::engine::{Column, Summary};
use crate::error::Error;
use crate::format::{Criterion, Layout, Streamed, groups, is_by_key};
use crate::gather::Gathering;
use crate::merge::Partial;

impl Summary {
    /// What a form says of all groups in an order, once; `take` gets each piece with how many keys it is of.
    ///
    /// Those that were to be [gathered later](crate::Options::gathers_later) are never all in one list if the order is that of their keys,
    /// and neither squares nor values were kept group by group.
    ///
    /// # Errors
    /// What cannot be read or written on the way, and what `take` says.
    pub fn texts<E: From<Error> + Send>(
        &mut self,
        (order, layout): (&[Criterion], &Layout),
        form: Streamed,
        mut take: impl FnMut(usize, &[u8]) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let in_pieces = |gathering: &mut Gathering| is_by_key(order) && gathering.is_flat();
        let Some(gathering) = self.gathering.take_if(in_pieces) else {
            let mut is_first = true;
            return self.pieces(order, |columns| {
                let (keys, text) = told(columns, layout, form, is_first);
                is_first &= keys == 0;
                take(keys, &text)
            });
        };
        let (columns, layout) = (&self.columns, &Layout { threads: 1, ..layout.clone() });
        let make = |groups: &mut [Vec<Partial>], is_first| {
            let mut columns = columns.clone();
            let mut swap = |columns: &mut [Column]| {
                let lists = columns.iter_mut().map(|column| &mut column.groups);
                lists.zip(&mut *groups).for_each(|(own, other)| std::mem::swap(own, other));
            };
            swap(&mut columns);
            let told = told(&columns, layout, form, is_first);
            swap(&mut columns);
            told
        };
        gathering.in_pieces(make, |(keys, text)| take(keys, &text))
    }
}

/// How many keys there are, and their text.
fn told(columns: &[Column], layout: &Layout, form: Streamed, is_first: bool) -> (usize, Vec<u8>) {
    (groups(columns), form.keys(columns, layout, is_first))
}
