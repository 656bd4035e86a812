//! The tree: descending, inserting, erasing and walking. Each node is owned by exactly one parent, or
//! by the tree as its root.

mod bits;
mod node;
mod plan;

use fathom_machine::level::Level;

use self::bits::{bit, first_difference};
use self::node::{Child, Node, Plan};
use self::plan::WIDTH;
use crate::keyed::Key;

/// A height-optimised trie over entries that lie in an array.
pub(crate) struct Tree<K> {
    root: Option<Child>,
    /// Leaves are places in here.
    entries: Vec<(K, u64)>,
    /// Places whose entry was erased.
    free: Vec<usize>,
    /// Whether nodes are searched with AVX2 and BMI2.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // nothing to choose there
    fast: bool,
}

// SAFETY: the tree owns its nodes as a `Box` owns its value; nothing else points to them.
unsafe impl<K: Send> Send for Tree<K> {}
// SAFETY: a shared reference only reads nodes.
unsafe impl<K: Sync> Sync for Tree<K> {}

/// A step of a descent: a node and the child taken in it.
type Step = (Node, usize);

/// Whether the level has what the fast search needs.
pub(crate) fn is_fast() -> bool {
    matches!(Level::current(), Level::Avx2 | Level::Avx512)
}

impl<K: Key> Tree<K> {
    pub(crate) fn with_capacity(entries: usize) -> Tree<K> {
        let entries = Vec::with_capacity(entries);
        Tree { root: None, entries, free: Vec::new(), fast: is_fast() }
    }

    /// With the fast search or without; only where it exists.
    #[cfg(test)]
    pub(super) fn with_level(fast: bool) -> Tree<K> {
        let mut tree = Tree::with_capacity(0);
        tree.fast = fast && is_fast();
        tree
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    #[cfg(test)]
    pub(super) fn height(&self) -> u32 {
        // SAFETY: the root is alive.
        self.root.and_then(Child::node).map_or(0, |node| unsafe { node.height() })
    }

    #[inline]
    pub(crate) fn find(&self, key: K) -> Option<u64> {
        let raw = key.raw();
        let place = self.descend(self.root?, raw.as_ref(), |_| ());
        let (found, value) = &self.entries[place];
        (*found == key).then_some(*value)
    }

    /// The entry that `key` leads to from `child` on; `pass` is told each step.
    #[inline(always)]
    fn descend(&self, child: Child, key: &[u8], pass: impl FnMut(Step)) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.fast {
            // SAFETY: `fast` says that the processor has what it takes; nodes are alive.
            return unsafe { descend_avx2(child, key, pass) };
        }
        // SAFETY: nodes are alive.
        unsafe { descend_plain(child, key, pass) }
    }

    pub(crate) fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        let Some(root) = self.root else {
            self.root = Some(self.leaf(key, value));
            return None;
        };
        let raw = key.raw();
        let mut path = Vec::with_capacity(16);
        let place = self.descend(root, raw.as_ref(), |step| path.push(step));
        let met = self.entries[place].0.raw();
        let Some(position) = first_difference(raw.as_ref(), met.as_ref()) else {
            return Some(std::mem::replace(&mut self.entries[place].1, value));
        };
        let high = bit(raw.as_ref(), position);
        let leaf = self.leaf(key, value);
        if path.is_empty() {
            self.root = Some(pair(position, high, root, leaf));
        } else {
            self.branch(&path, position, high, leaf);
        }
        None
    }

    /// Puts an entry into the array.
    fn leaf(&mut self, key: K, value: u64) -> Child {
        let place = self.free.pop().unwrap_or(self.entries.len());
        match self.entries.get_mut(place) {
            Some(entry) => *entry = (key, value),
            None => self.entries.push((key, value)),
        }
        Child::of_leaf(place)
    }

    /// Adds a branch at `position` to the path, with `leaf` on its high or low side.
    fn branch(&mut self, path: &[Step], position: u64, high: bool, leaf: Child) {
        let level = level_of(path, position);
        let (node, at) = path[level];
        // SAFETY: nodes of a path just taken are alive; each is replaced before it is freed.
        let mut plan = unsafe { node.unpack() };
        let alike = plan.alike(at, position);
        if alike.len() == 1 {
            let child = plan.children[at];
            match path.get(level + 1) {
                // Leaf push-down: the node is high enough for one more level below it.
                None if plan.height > 1 => {
                    let below = pair(position, high, child, leaf);
                    // SAFETY: as above; nobody else looks at the node.
                    unsafe { node.set_child(at, below) };
                    return;
                }
                // The branch lies between this node and the next: into that one if it has room.
                // SAFETY: as above.
                Some(&(next, _)) if unsafe { next.count() } < WIDTH => {
                    // SAFETY: as above.
                    let mut below = unsafe { next.unpack() };
                    below.add(0, position, high, leaf);
                    self.replace(path, level + 1, Child::of_node(Node::pack(&below)));
                    // SAFETY: its parent points to the new one.
                    unsafe { next.free() };
                    return;
                }
                _ => {}
            }
        }
        plan.add(at, position, high, leaf);
        self.put(path, level, plan);
    }

    /// Puts `plan` in the place of the node at `level`, splitting it as often as it takes.
    fn put(&mut self, path: &[Step], mut level: usize, mut plan: Plan) {
        loop {
            let (old, _) = path[level];
            if plan.children.len() <= WIDTH {
                self.replace(path, level, Child::of_node(Node::pack(&plan)));
                // SAFETY: its parent points to the new one.
                unsafe { old.free() };
                return;
            }
            let height = plan.height;
            let (position, low, high) = plan.split(|child: Child| child.leaf().is_some());
            let (low, high) = (packed(&low), packed(&high));
            // SAFETY: everything in it is in the halves; its parent gets them below.
            unsafe { old.free() };
            let parent = level.checked_sub(1).map(|above| path[above]);
            // SAFETY: the parent is alive.
            let pull_up = parent.filter(|(node, _)| unsafe { node.height() } <= height + 1);
            let Some((node, at)) = pull_up else {
                // A new root, or an intermediate node: there is a level free above.
                let between = Plan::pair(position, low, high, height + 1);
                self.replace(path, level, Child::of_node(Node::pack(&between)));
                return;
            };
            // SAFETY: the parent is alive; its child `at` is gone, and replaced right here.
            plan = unsafe { node.unpack() };
            plan.children[at] = low;
            plan.add(at, position, true, high);
            level -= 1;
        }
    }

    /// Makes the parent of the node at `level`, or the root, point to `child` instead.
    fn replace(&mut self, path: &[Step], level: usize, child: Child) {
        match level.checked_sub(1) {
            None => self.root = Some(child),
            // SAFETY: the parent is alive, and nobody else looks at it.
            Some(above) => unsafe { path[above].0.set_child(path[above].1, child) },
        }
    }

    pub(crate) fn erase(&mut self, key: K) -> Option<u64> {
        let raw = key.raw();
        let mut path = Vec::with_capacity(16);
        let place = self.descend(self.root?, raw.as_ref(), |step| path.push(step));
        let (found, value) = self.entries[place];
        if found != key {
            return None;
        }
        self.entries[place].0 = K::default();
        self.free.push(place);
        let Some(&(node, at)) = path.last() else {
            self.root = None;
            return Some(value);
        };
        // SAFETY: nodes of a path just taken are alive; this one is replaced before it is freed.
        let mut plan = unsafe { node.unpack() };
        plan.remove(at);
        self.replace(&path, path.len() - 1, packed(&plan));
        // SAFETY: its parent points to the new one.
        unsafe { node.free() };
        Some(value)
    }

    /// Visits every value in key order.
    pub(crate) fn visit_all(&self, visit: impl FnMut(u64)) {
        let mut path = Vec::new();
        if let Some(root) = self.root {
            self.walk(Some(root), &mut path, usize::MAX, visit);
        }
    }

    /// Visits in key order the values of the first `span` keys not below `start`.
    pub(crate) fn visit_from(&self, start: K, span: usize, visit: impl FnMut(u64)) {
        let Some(root) = self.root else { return };
        let raw = start.raw();
        let mut path = Vec::with_capacity(16);
        let place = self.descend(root, raw.as_ref(), |step| path.push(step));
        let met = self.entries[place].0.raw();
        let Some(position) = first_difference(raw.as_ref(), met.as_ref()) else {
            // In the path a step says which child comes next: the one after the leaf.
            path.iter_mut().for_each(|(_, at)| *at += 1);
            return self.walk(Some(Child::of_leaf(place)), &mut path, span, visit);
        };
        let high = bit(raw.as_ref(), position);
        // SAFETY: nodes of a path just taken are alive.
        let is_above =
            path.first().is_none_or(|(node, _)| unsafe { node.first_position() } > position);
        if is_above {
            // It differs from every key at once: all are on one side of it.
            let first = (!high).then_some(root);
            return self.walk(first, &mut Vec::new(), span, visit);
        }
        let level = level_of(&path, position);
        path.truncate(level + 1);
        // SAFETY: as above.
        let alike = unsafe { path[level].0.unpack() }.alike(path[level].1, position);
        path.iter_mut().for_each(|(_, at)| *at += 1);
        path[level].1 = if high { alike.end } else { alike.start };
        self.walk(None, &mut path, span, visit);
    }

    /// Visits the leaves below `first`, then those that come next on `path`.
    fn walk(
        &self,
        first: Option<Child>,
        path: &mut Vec<Step>,
        span: usize,
        mut visit: impl FnMut(u64),
    ) {
        let mut next = first;
        for _ in 0..span {
            let leaf = loop {
                if let Some(child) = next.take() {
                    match child.node() {
                        Some(node) => path.push((node, 0)),
                        None => break child.leaf(),
                    }
                }
                let Some((node, at)) = path.last_mut() else { return };
                // SAFETY: nodes on the path are alive.
                if *at < unsafe { node.count() } {
                    // SAFETY: the node is alive and has that child.
                    next = Some(unsafe { node.child(*at) });
                    *at += 1;
                } else {
                    path.pop();
                }
            };
            if let Some(place) = leaf {
                visit(self.entries[place].1);
            }
        }
    }

    /// Asserts what must hold of every node.
    #[cfg(test)]
    pub(super) fn check(&self) {
        fn check(child: Child) -> (u32, usize) {
            let Some(node) = child.node() else { return (0, 1) };
            // SAFETY: reached from the root, so alive.
            let plan = unsafe { node.unpack() };
            assert!((2..=WIDTH).contains(&plan.children.len()));
            assert!(plan.positions.is_sorted() && plan.partials.is_sorted());
            assert_eq!(plan.partials[0], 0);
            let mut leaves = 0;
            for &child in &plan.children {
                let (height, below) = check(child);
                assert!(height < plan.height, "{height} below {}", plan.height);
                leaves += below;
            }
            (plan.height, leaves)
        }
        assert_eq!(self.root.map_or(0, |root| check(root).1), self.len());
    }
}

/// The node on the path to which a branch at `position` belongs: the last whose first position is
/// not behind it, or the first of all.
fn level_of(path: &[Step], position: u64) -> usize {
    // SAFETY: nodes of a path just taken are alive.
    let before = |(node, _): &&Step| unsafe { node.first_position() } <= position;
    path.iter().take_while(before).count().saturating_sub(1)
}

/// A node of two, the new leaf on its high or low side.
fn pair(position: u64, high: bool, old: Child, new: Child) -> Child {
    let (low, up) = if high { (old, new) } else { (new, old) };
    // SAFETY: the old child is alive if it is a node.
    let below = old.node().map_or(0, |node| unsafe { node.height() });
    Child::of_node(Node::pack(&Plan::pair(position, low, up, below + 1)))
}

/// A plan packed; a single child needs no node.
fn packed(plan: &Plan) -> Child {
    match plan.children[..] {
        [only] => only,
        _ => Child::of_node(Node::pack(plan)),
    }
}

/// # Safety
/// All nodes below `child` are alive.
#[inline(always)]
unsafe fn descend_plain(mut child: Child, key: &[u8], mut pass: impl FnMut(Step)) -> usize {
    while let Some(node) = child.node() {
        // SAFETY: the caller answers for the node; `search` returns one of its children.
        unsafe {
            let at = node.search(key);
            pass((node, at));
            child = node.child(at);
        }
    }
    child.leaf().unwrap_or(0)
}

/// # Safety
/// All nodes below `child` are alive; the processor has AVX2 and BMI2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2")]
unsafe fn descend_avx2(mut child: Child, key: &[u8], mut pass: impl FnMut(Step)) -> usize {
    while let Some(node) = child.node() {
        // SAFETY: the caller answers for the node; `search_avx2` returns one of its children.
        unsafe {
            let at = node.search_avx2(key);
            pass((node, at));
            child = node.child(at);
        }
    }
    child.leaf().unwrap_or(0)
}

impl<K> Drop for Tree<K> {
    fn drop(&mut self) {
        let mut left: Vec<Child> = self.root.take().into_iter().collect();
        while let Some(child) = left.pop() {
            if let Some(node) = child.node() {
                // SAFETY: each node has one parent, so each is reached and freed once.
                unsafe {
                    left.extend((0..node.count()).map(|at| node.child(at)));
                    node.free();
                }
            }
        }
    }
}
