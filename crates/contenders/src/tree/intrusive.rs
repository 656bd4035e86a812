//! The crate `intrusive-collections`, `RBTree`: a red-black tree whose links lie in the entries, one
//! allocation per entry: the textbook's tree.

use std::cell::Cell;

use intrusive_collections::rbtree::Entry;
use intrusive_collections::{Bound, KeyAdapter, RBTree, RBTreeLink, intrusive_adapter};

use crate::keyed::methods::{contender, structure};
use crate::keyed::{Abilities, Key};

contender! {
    pub(super) Intrusive: PlainMap<K> = Table<K>,
    library!("red-black", "intrusive-collections", "Apache-2.0 OR MIT", "intrusive.rs";
        keeps Borrowed)
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

structure! {
    impl[K: Key] for Table<K>: keys K, hasher (), can Abilities::TREE;
    sized(_, ()) => Table { tree: RBTree::new(ByKey::new()), entries: 0 },
    entries(map) => map.entries,
    find(map, key) => map.tree.find(&key).get().map(|node| node.value.get()),
    insert(map, key, value) => match map.tree.entry(&key) {
        Entry::Occupied(cursor) => cursor.get().map(|node| node.value.replace(value)),
        Entry::Vacant(place) => {
            let link = RBTreeLink::new();
            place.insert(Box::new(Node { link, key, value: Cell::new(value) }));
            map.entries += 1;
            None
        }
    },
    erase(map, key) => {
        let node = map.tree.find_mut(&key).remove()?;
        map.entries -= 1;
        Some(node.value.get())
    },
    each(map, visit) => map.tree.iter().for_each(|node| visit(node.value.get())),
    range(map, start, span, visit) => {
        let range = map.tree.range(Bound::Included(&start), Bound::Unbounded);
        range.take(span).for_each(|node| visit(node.value.get()));
    },
}
