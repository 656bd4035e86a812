//! A contender that does the same in several ways.

use fathom_measure::contender::{Contender, Meta, Preparation};

/// A function, as most are, of the way as well.
pub(crate) struct Several<W: 'static> {
    /// What is known about it.
    pub(crate) meta: Meta,
    /// The ways by their names.
    pub(crate) ways: &'static [&'static str],
    /// The one where none is chosen.
    pub(crate) usual: &'static str,
    /// See [`Contender::prepare_variant`].
    pub(crate) prepare: for<'w> fn(&str, &'w W) -> Preparation<'w>,
}

impl<W> Contender<W> for Several<W> {
    fn meta(&self) -> Meta {
        self.meta
    }

    fn variants(&self) -> &'static [&'static str] {
        self.ways
    }

    fn prepare<'w>(&self, workload: &'w W) -> Preparation<'w> {
        (self.prepare)(self.usual, workload)
    }

    fn prepare_variant<'w>(&self, variant: &str, workload: &'w W) -> Preparation<'w> {
        (self.prepare)(variant, workload)
    }
}
