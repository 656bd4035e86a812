//! The crate `intrusive-collections`, `RBTree`: a red-black tree whose links lie in the entries, one
//! allocation per entry: the textbook's tree.

use std::cell::Cell;

use fathom_measure::contender::{Keeps, Meta, Origin};
use intrusive_collections::{Bound, KeyAdapter, RBTree, RBTreeLink, intrusive_adapter};

use crate::keyed::operation::PlainMap;
use crate::keyed::{Abilities, Key, Structure};

pub(super) struct Intrusive;

impl PlainMap for Intrusive {
    const META: Meta = Meta {
        name: "red-black",
        origin: Origin::Crate("intrusive-collections"),
        link: "https://docs.rs/intrusive-collections",
        licence: "Apache-2.0 OR MIT",
        keeps: Keeps::Borrowed,
        ..Meta::of(include_str!("intrusive.rs"))
    };
    type Map<K: Key> = Table<K>;
}

pub(super) struct Node<K> {
    link: RBTreeLink,
    key: K,
    value: Cell<u64>,
}

intrusive_adapter!(pub(super) ByKey<K> = Box<Node<K>>: Node<K> { link => RBTreeLink });

impl<'a, K: Key> KeyAdapter<'a> for ByKey<K> {
    type Key = K;
    fn get_key(&self, node: &'a Node<K>) -> K {
        node.key
    }
}

pub(super) struct Table<K: Key> {
    tree: RBTree<ByKey<K>>,
    entries: usize,
}

impl<K: Key> Structure<K> for Table<K> {
    const ABILITIES: Abilities = Abilities::TREE;
    type Hasher = ();

    fn sized(_: usize, (): ()) -> Self {
        Table { tree: RBTree::new(ByKey::new()), entries: 0 }
    }

    fn entries(&self) -> usize {
        self.entries
    }

    fn find(&self, key: K) -> Option<u64> {
        self.tree.find(&key).get().map(|node| node.value.get())
    }

    fn insert(&mut self, key: K, value: u64) -> Option<u64> {
        use intrusive_collections::rbtree::Entry;
        match self.tree.entry(&key) {
            Entry::Occupied(cursor) => cursor.get().map(|node| node.value.replace(value)),
            Entry::Vacant(place) => {
                let link = RBTreeLink::new();
                place.insert(Box::new(Node { link, key, value: Cell::new(value) }));
                self.entries += 1;
                None
            }
        }
    }

    fn erase(&mut self, key: K) -> Option<u64> {
        let node = self.tree.find_mut(&key).remove()?;
        self.entries -= 1;
        Some(node.value.get())
    }

    fn each(&self, mut visit: impl FnMut(u64)) {
        self.tree.iter().for_each(|node| visit(node.value.get()));
    }

    fn range(&self, start: K, span: usize, mut visit: impl FnMut(u64)) {
        let range = self.tree.range(Bound::Included(&start), Bound::Unbounded);
        range.take(span).for_each(|node| visit(node.value.get()));
    }
}
