//! [`Structure`](super::Structure) for maps whose methods are called as the standard library's are.
//!
//! Those are inherent methods of unrelated types, which no trait joins, so that this is a macro:
//! a trait would have to be implemented once per type by the very lines it is to save.

/// Implements `Structure` for `$map<K, H>`, an alias of a hash map from `K: Key` to `u64` hashed by
/// `Build<H>`: `$new` makes one with room for some entries, `$erase` is its method that removes.
macro_rules! by_methods {
    ($map:ident, $new:expr, $erase:ident) => {
        impl<K: $crate::keyed::Key, H: $crate::hash::Hashes> $crate::keyed::Structure<K>
            for $map<K, H>
        {
            type Hasher = $crate::hash::Build<H>;

            fn sized(entries: usize, hasher: $crate::hash::Build<H>) -> Self {
                $new(entries, hasher)
            }

            fn entries(&self) -> usize {
                self.len()
            }

            #[inline]
            fn find(&self, key: K) -> Option<u64> {
                self.get(&key).copied()
            }

            #[inline]
            fn insert(&mut self, key: K, value: u64) -> Option<u64> {
                self.insert(key, value)
            }

            #[inline]
            fn erase(&mut self, key: K) -> Option<u64> {
                self.$erase(&key)
            }

            fn each(&self, visit: impl FnMut(u64)) {
                self.values().copied().for_each(visit);
            }
        }
    };
}

/// Implements `Structure` for the search tree `$map<K, u64>`, whose methods are those of the
/// standard library's `BTreeMap`.
macro_rules! tree_by_methods {
    ($map:ident) => {
        impl<K: $crate::keyed::Key> $crate::keyed::Structure<K> for $map<K, u64> {
            const ABILITIES: $crate::keyed::Abilities = $crate::keyed::Abilities::TREE;
            type Hasher = ();

            fn sized(_: usize, (): ()) -> Self {
                $map::new()
            }

            fn entries(&self) -> usize {
                self.len()
            }

            fn find(&self, key: K) -> Option<u64> {
                self.get(&key).copied()
            }

            fn insert(&mut self, key: K, value: u64) -> Option<u64> {
                self.insert(key, value)
            }

            fn erase(&mut self, key: K) -> Option<u64> {
                self.remove(&key)
            }

            fn each(&self, visit: impl FnMut(u64)) {
                self.values().copied().for_each(visit);
            }

            fn range(&self, start: K, span: usize, visit: impl FnMut(u64)) {
                self.range(start..).take(span).map(|(_, &value)| value).for_each(visit);
            }
        }
    };
}

pub(crate) use {by_methods, tree_by_methods};
