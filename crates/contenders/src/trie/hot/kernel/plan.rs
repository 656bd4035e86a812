//! A node spelled out: positions, sparse partial keys and children as plain lists. What changes a node
//! works on this; the packed form is only searched.

/// Ends of a node at most.
pub(super) const WIDTH: usize = 32;

/// A node that may be one too full. The partial key of child `n` is `partials[n]`; the first
/// position is its highest used bit, `positions.len() - 1`.
#[derive(Clone, Debug)]
pub(super) struct Plan<C> {
    /// Where the bits lie in the key, ascending.
    pub(super) positions: Vec<u64>,
    pub(super) partials: Vec<u32>,
    pub(super) children: Vec<C>,
    /// One more than that of the highest child; at least 1.
    pub(super) height: u32,
}

impl<C: Copy> Plan<C> {
    /// Two children that differ first at `position`.
    pub(super) fn pair(position: u64, low: C, high: C, height: u32) -> Plan<C> {
        Plan { positions: vec![position], partials: vec![0, 1], children: vec![low, high], height }
    }

    /// The children that agree with child `at` in all bits of its path before `position`.
    pub(super) fn alike(&self, at: usize, position: u64) -> std::ops::Range<usize> {
        let before = self.positions.partition_point(|&known| known < position);
        let shift = self.positions.len() - before;
        // Shifted in 64 bits, where by 32 is allowed.
        let prefix = |n: usize| u64::from(self.partials[n]) >> shift;
        let low = (0..at).rev().take_while(|&n| prefix(n) == prefix(at)).count();
        let high = (at..self.partials.len()).take_while(|&n| prefix(n) == prefix(at)).count();
        at - low..at + high
    }

    /// Adds a child that differs from child `at` first at `position`, where it has `bit`.
    pub(super) fn add(&mut self, at: usize, position: u64, bit: bool, child: C) {
        let alike = self.alike(at, position);
        let column = match self.positions.binary_search(&position) {
            Ok(known) => self.positions.len() - 1 - known,
            Err(new) => {
                self.positions.insert(new, position);
                let column = self.positions.len() - 1 - new;
                for partial in &mut self.partials {
                    // Room for one more bit; in 64 bits, where a shift by 32 is allowed.
                    let (wide, low) = (u64::from(*partial), (1_u64 << column) - 1);
                    *partial = (((wide & !low) << 1) | (wide & low)) as u32;
                }
                column
            }
        };
        let path = ((u64::from(self.partials[at]) >> column) << column) as u32 & !(1 << column);
        if bit {
            self.partials.insert(alike.end, path | (1 << column));
            self.children.insert(alike.end, child);
        } else {
            self.partials[alike.clone()].iter_mut().for_each(|partial| *partial |= 1 << column);
            self.partials.insert(alike.start, path);
            self.children.insert(alike.start, child);
        }
    }

    /// Takes child `at` out; what only it was told apart by is forgotten.
    pub(super) fn remove(&mut self, at: usize) {
        let own = self.partials[at];
        // The lowest branch above it is the deeper of those to its neighbours.
        let branch = |n: usize| 31 - (self.partials[n] ^ own).leading_zeros();
        let left = (at > 0).then(|| branch(at - 1));
        let right = (at + 1 < self.partials.len()).then(|| branch(at + 1));
        if let Some(column) = right
            && left.is_none_or(|left| column < left)
        {
            // It was the low side: its sisters no longer have that bit on their path.
            let sisters = |n: &usize| {
                (u64::from(self.partials[*n]) >> (column + 1)) == (u64::from(own) >> (column + 1))
            };
            let end = (at + 1..self.partials.len()).take_while(sisters).last().unwrap_or(at);
            self.partials[at + 1..=end].iter_mut().for_each(|partial| *partial &= !(1 << column));
        }
        self.partials.remove(at);
        self.children.remove(at);
        self.forget_unused();
    }

    /// Drops positions at which no child has a bit: nothing branches there.
    fn forget_unused(&mut self) {
        let used = self.partials.iter().fold(0, |used, partial| used | partial);
        let columns = self.positions.len();
        let is_used = |n: usize| used >> (columns - 1 - n) & 1 != 0;
        let pack = |partial: u32| super::bits::pack(partial.into(), used.into()) as u32;
        self.positions = (0..columns).filter(|&n| is_used(n)).map(|n| self.positions[n]).collect();
        self.partials.iter_mut().for_each(|partial| *partial = pack(*partial));
    }

    /// Cuts the node at its first position.
    pub(super) fn split(self, is_leaf: impl Fn(C) -> bool) -> (u64, Plan<C>, Plan<C>) {
        let top = 1_u32 << (self.positions.len() - 1);
        let middle = self.partials.partition_point(|partial| partial & top == 0);
        let half = |range: std::ops::Range<usize>| {
            let children = self.children[range.clone()].to_vec();
            let leaves_only = children.iter().all(|&child| is_leaf(child));
            let mut half = Plan {
                positions: self.positions.clone(),
                partials: self.partials[range].iter().map(|partial| partial & !top).collect(),
                height: if leaves_only { 1 } else { self.height },
                children,
            };
            half.forget_unused();
            half
        };
        (self.positions[0], half(0..middle), half(middle..self.partials.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::node::Child;
    use super::*;

    #[test]
    fn adding_and_removing_keeps_the_paths() {
        // Keys 000, 010, 011, 110 of three bits.
        let leaf = Child::of_leaf;
        let mut plan = Plan::pair(1, leaf(0), leaf(2), 1);
        plan.add(1, 2, true, leaf(3));
        assert_eq!(plan.positions, [1, 2]);
        assert_eq!(plan.partials, [0b00, 0b10, 0b11]);
        plan.add(0, 0, true, leaf(6));
        assert_eq!(plan.partials, [0b000, 0b010, 0b011, 0b100]);
        assert_eq!(plan.alike(1, 2), 1..3);
        assert_eq!(plan.alike(1, 1), 0..3);
        let (position, low, high) = plan.clone().split(|child: Child| child.leaf().is_some());
        assert_eq!((position, low.partials.len(), high.partials), (0, 3, vec![0]));
        // Without 000 the bit at 1 tells nothing apart among the low ones.
        plan.remove(0);
        assert_eq!(plan.positions, [0, 2]);
        assert_eq!(plan.partials, [0b00, 0b01, 0b10]);
    }
}
