//! The crate `congee`: an adaptive radix tree of 8-byte keys for several threads, synchronised by
//! versions that readers check instead of locks.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ::congee::{U64Congee, epoch};

use crate::keyed::Abilities;
use crate::keyed::methods::{contender, structure};

contender! {
    pub(super) Congee: IntegerMap = Arc<Table>,
    library!("art-congee", "congee", "MIT", "congee.rs";
        caveat "integer keys only; made for several threads", code congee::U64Congee<usize>)
}

pub(super) struct Table {
    tree: U64Congee<usize>,
    /// The tree does not count.
    entries: AtomicUsize,
}

thread_local! {
    /// What a range writes to, kept from one to the next.
    static FOUND: Cell<Vec<([u8; 8], usize)>> = const { Cell::new(Vec::new()) };
}

const CAN: Abilities = Abilities { iterate: false, ordered: false, ..Abilities::TREE };

structure! {
    impl[] for shared Table: keys u64, hasher (), can CAN;
    sized(_, ()) => Table { tree: U64Congee::new(), entries: AtomicUsize::new(0) },
    entries(map) => map.entries.load(Relaxed),
    find(map, key) => map.tree.get(key, &epoch::pin()).map(|value| value as u64),
    insert(map, key, value) => {
        let old = map.tree.insert(key, value as usize, &epoch::pin()).expect("memory for a node");
        map.entries.fetch_add(usize::from(old.is_none()), Relaxed);
        old.map(|value| value as u64)
    },
    erase(map, key) => {
        let old = map.tree.remove(key, &epoch::pin())?;
        map.entries.fetch_sub(1, Relaxed);
        Some(old as u64)
    },
    range(map, start, span, visit) => {
        let room = span.min(map.entries.load(Relaxed));
        let mut found = FOUND.take();
        found.resize(found.len().max(room), ([0; 8], 0));
        let count = map.tree.range(start, u64::MAX, &mut found[..room], &epoch::pin());
        found[..count].iter().for_each(|(_, value)| visit(*value as u64));
        FOUND.set(found);
        // The range has no key at its end, and there is none beyond the last one.
        if count < span {
            map.tree.get(u64::MAX, &epoch::pin()).into_iter().for_each(|value| visit(value as u64));
        }
    },
}
