//! Numbers that wait for the others of their key.
//!
//! What many keys keep lies far apart, beyond the caches. So numbers are written down one behind the other,
//! each with the number of its group; when there are several for each group, or no more of them,
//! they are put group by group (a counting sort), and each group takes all of its own at once.
//!
//! ```text
//!   waiting  │ 2: 1.5 │ 0: 3 │ 2: 1.25 │ 0: -4 │
//!   grouped  │ 0: 3  -4 │ 1: │ 2: 1.5  1.25 │
//! ```
//!
//! Where memory has a limit nobody waits: what could be done without would be in the way of what cannot.

use std::ops::Range;

use fathom_machine::os::memory::{List, huge};
use fathom_machine::prefetch;

use crate::number::Decimal;

/// A number of few digits: in units of `10^-scale`, and the scale.
pub(crate) type Few = (i64, u16);

/// A number as that, if it has so few.
#[inline]
pub(crate) fn few(number: &Decimal) -> Option<Few> {
    Some((i64::try_from(number.small()?).ok()?, number.scale()))
}

/// Fewest that are put group by group: sorted at once they cost less than sorted into others. Tests fill it several times.
const FEWEST: usize = if cfg!(test) { 1 << 14 } else { 1 << 20 };
/// So many for each group.
const EACH: usize = 4;

/// Those of one thread, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    entries: List<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    units: i64,
    group: u32,
    scale: u16,
}

const _: () = assert!(size_of::<Entry>() == 16 && size_of::<Few>() == 16);

/// The same group by group.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    /// Where those of each group end; the next group's begin there.
    ends: Vec<u32>,
    numbers: Vec<Few>,
}

impl Waiting {
    /// Writes a number down.
    #[inline]
    pub(crate) fn push(&mut self, group: usize, (units, scale): Few) {
        let group = u32::try_from(group).expect("groups are numbered in 32 bits");
        self.entries.push(Entry { units, group, scale });
    }

    /// Whether it is time to put them group by group.
    #[inline]
    pub(crate) fn is_full(&self, groups: usize) -> bool {
        self.entries.len() >= (EACH * groups).clamp(FEWEST, u32::MAX as usize)
    }

    /// All of them by group, of which there are so many; then none waits.
    pub(crate) fn grouped(&mut self, groups: usize) -> Grouped {
        let mut places = huge(groups, 0_u32);
        for entry in &*self.entries {
            places[entry.group as usize] += 1;
        }
        let mut before = 0_u32;
        for place in &mut places {
            let count = std::mem::replace(place, before);
            before = before.checked_add(count).expect("they are grouped before there are 2^32");
        }
        let mut numbers = huge(self.entries.len(), (0, 0));
        for &Entry { units, group, scale } in &*self.entries {
            let place = &mut places[group as usize];
            numbers[*place as usize] = (units, scale);
            *place += 1;
        }
        self.entries.clear();
        Grouped { ends: places, numbers }
    }
}

impl Grouped {
    /// Those of a group; of groups that are not known there are none.
    #[inline]
    pub(crate) fn of(&self, group: usize) -> &[Few] {
        &self.numbers[self.range(group)]
    }

    #[inline]
    fn range(&self, group: usize) -> Range<usize> {
        let Some(&end) = self.ends.get(group) else { return 0..0 };
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        start as usize..end as usize
    }

    /// The most digits one of them has after its decimal point.
    pub(crate) fn scale(&self) -> u16 {
        self.numbers.iter().map(|&(_, scale)| scale).max().unwrap_or(0)
    }

    /// Begins to fetch where those of a group are.
    #[inline]
    pub(crate) fn prefetch_place(&self, group: usize) {
        self.ends.get(group).inspect(|end| prefetch(*end));
    }

    /// And these; their place should have come.
    #[inline]
    pub(crate) fn prefetch_numbers(&self, group: usize) {
        self.of(group).first().inspect(|number| prefetch(*number));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn each_group_has_its_own_in_the_order_they_came(
            all in prop::collection::vec((0..9_usize, any::<i64>(), 0..17_u16), 0..300),
        ) {
            let mut waiting = Waiting::default();
            // Twice, since nothing may be left of the first time.
            for _ in 0..2 {
                for &(group, units, scale) in &all {
                    waiting.push(group, (units, scale));
                }
                let grouped = waiting.grouped(9);
                for group in 0..9 {
                    let own = all.iter().filter(|(of, ..)| *of == group);
                    let own: Vec<Few> = own.map(|&(_, units, scale)| (units, scale)).collect();
                    prop_assert_eq!(grouped.of(group), &own);
                }
                prop_assert_eq!(grouped.of(9), &[]);
            }
        }
    }

    #[test]
    fn it_is_time_when_there_are_several_for_each_group_and_enough_in_all() {
        let mut waiting = Waiting::default();
        (1..FEWEST).for_each(|_| waiting.push(0, (0, 0)));
        assert!(!waiting.is_full(1));
        waiting.push(0, (0, 0));
        assert!(waiting.is_full(FEWEST / EACH) && !waiting.is_full(FEWEST / EACH + 1));
    }
}
