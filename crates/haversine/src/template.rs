//! What an element looks like, learned from one that the strict lexer has read.
//!
//! If the text between the numbers of a later element is the same, byte by byte, and its numbers
//! are numbers, then its parse is the same too, and it need not be parsed again: the grammar's
//! state after a complete number and equal bytes is equal. Knows nothing of blocks or threads.
//!
//! ```text
//! {"x0":-28.47, "y0":-53.29, "x1":97.76, "y1":-63.58},⏎    {"x0":…
//! └prefix┘    └─── 0 ───┘└── 1 ──┘ … 2 …          └──── 3 ─────┘
//! ```

use fathom_json::leading_number;

use crate::formula::{MOST_DEGREES, Pair};
use crate::kernel::Extent;
use crate::pairs::Place;

/// The longest text between two numbers that is learned: one register.
pub(crate) const SEPARATOR_BYTES: usize = 32;

/// An element's text without its numbers.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// From the opening brace to the first number.
    prefix: Separator,
    /// What follows each number; the last reaches to the next element's first number.
    separators: [Separator; 4],
    /// Which coordinate each number is.
    order: [usize; 4],
}

/// At most [`SEPARATOR_BYTES`] bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Separator {
    pub(crate) bytes: [u8; SEPARATOR_BYTES],
    /// All ones where there is a byte.
    pub(crate) mask: [u8; SEPARATOR_BYTES],
    pub(crate) len: usize,
}

impl Separator {
    fn new(bytes: &[u8]) -> Option<Separator> {
        let len = bytes.len();
        let none = [0; SEPARATOR_BYTES];
        let mut separator = Separator { bytes: none, mask: none, len };
        separator.bytes.get_mut(..len)?.copy_from_slice(bytes);
        separator.mask[..len].fill(0xff);
        (!bytes.is_empty()).then_some(separator)
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Template {
    /// Learns from the element at `start` whose numbers are at `places` (offsets, `base` that of the first byte, which
    /// may lie before the session's own beginning: modulo 2^64), followed by the element at `next`. `None` when they do not lie within `bytes`, are too far
    /// apart, or do not begin alike.
    pub(crate) fn learn(
        bytes: &[u8],
        start: usize,
        places: &[Place; 4],
        base: u64,
        next: usize,
    ) -> Option<Template> {
        let at = |place: &Place| usize::try_from(place.at.wrapping_sub(base)).ok();
        let end = |place: &Place| at(place).map(|at| at + place.bytes);
        let [first, second, third, fourth] = places;
        let prefix = bytes.get(start..at(first)?)?;
        let follows = bytes.get(next..)?.starts_with(prefix);
        let after = next + prefix.len();
        let between = |from: Option<usize>, to: usize| Separator::new(bytes.get(from?..to)?);
        follows.then_some(Template {
            prefix: Separator::new(prefix)?,
            separators: [
                between(end(first), at(second)?)?,
                between(end(second), at(third)?)?,
                between(end(third), at(fourth)?)?,
                between(end(fourth), after)?,
            ],
            order: places.map(|place| place.coordinate),
        })
    }

    pub(crate) fn separators(&self) -> &[Separator; 4] {
        &self.separators
    }

    #[cfg(target_arch = "x86_64")] // AVX2 puts its lanes in order by itself
    pub(crate) fn order(&self) -> [usize; 4] {
        self.order
    }

    /// Bytes from an element's opening brace to its first number.
    pub(crate) fn prefix_bytes(&self) -> usize {
        self.prefix.len
    }

    /// The first place after `from` that looks like the first number of an element.
    pub(crate) fn next_after(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let between = self.separators[3].text();
        memchr::memmem::find(&bytes[from..], between).map(|at| from + at + between.len())
    }

    /// Whether an element that looks like this one begins at `bytes[at..]`.
    pub(crate) fn begins_at(&self, bytes: &[u8], at: usize) -> bool {
        bytes.get(at..).is_some_and(|rest| rest.starts_with(self.prefix.text()))
    }

    /// The pair of four numbers in the order of the text.
    pub(crate) fn pair(&self, values: [f64; 4]) -> Pair {
        let mut row = [0.0; 4];
        for (value, coordinate) in values.into_iter().zip(self.order) {
            row[coordinate] = value;
        }
        Pair::new(row)
    }

    /// Reads the element whose first number is at `at`, any numbers the grammar allows: their
    /// values, in the order of the text, and where the next element's first number is. `None` when
    /// it looks different.
    pub(crate) fn values(&self, bytes: &[u8], at: usize) -> Option<([f64; 4], usize)> {
        let mut values = [0.0; 4];
        let next = self.each_number(bytes, at, |i, value, _| values[i] = value)?;
        Some((values, next))
    }

    /// [`Template::values`], where they are instead of what they are.
    pub(crate) fn extents(&self, bytes: &[u8], at: usize) -> Option<([Extent; 4], usize)> {
        let mut extents = [Extent::default(); 4];
        let next = self.each_number(bytes, at, |i, _, extent| extents[i] = extent)?;
        Some((extents, next))
    }

    fn each_number(
        &self,
        bytes: &[u8],
        mut at: usize,
        mut take: impl FnMut(usize, f64, Extent),
    ) -> Option<usize> {
        for (i, separator) in self.separators.iter().enumerate() {
            let (value, used) = leading_number(bytes.get(at..)?)?;
            if value.abs() > MOST_DEGREES {
                return None; // a fault, which the lexer's consumer reports
            }
            take(i, value, Extent::unusual(at, used)?);
            at += used;
            if !bytes[at..].starts_with(separator.text()) {
                return None;
            }
            at += separator.len;
        }
        Some(at)
    }
}
