//! [`Structure`](super::Structure) and [`Concurrent`](super::structure::Concurrent) in few lines: from
//! an expression per method, or from nothing for maps whose methods are called as the standard
//! library's are.
//!
//! Those are inherent methods of unrelated types, which no trait joins, so that these are macros:
//! a trait would have to be implemented once per type by the very lines it is to save.

/// Implements `Structure` for `$map<K, H>`, an alias of a hash map from `K: Key` to `u64` hashed by
/// `Build<H>`: `$new` makes one with room for some entries, `$erase` is its method that removes.
macro_rules! by_methods {
    ($map:ident, $new:expr, $erase:ident) => {
        $crate::keyed::methods::structure! {
            impl[K: $crate::keyed::Key, H: $crate::hash::Hashes] for $map<K, H>:
                keys K, hasher $crate::hash::Build<H>;
            sized(entries, hasher) => $new(entries, hasher),
            entries(map) => map.len(),
            find(map, key) => map.get(&key).copied(),
            insert(map, key, value) => map.insert(key, value),
            erase(map, key) => map.$erase(&key),
            each(map, visit) => map.values().copied().for_each(visit),
        }
    };
}

/// Implements `Structure` for the search tree `$map<K, u64>`, whose methods are those of the
/// standard library's `BTreeMap`.
macro_rules! tree_by_methods {
    ($map:ident) => {
        $crate::keyed::methods::structure! {
            impl[K: $crate::keyed::Key] for $map<K, u64>:
                keys K, hasher (), can $crate::keyed::Abilities::TREE;
            sized(_, ()) => $map::new(),
            entries(map) => map.len(),
            find(map, key) => map.get(&key).copied(),
            insert(map, key, value) => map.insert(key, value),
            erase(map, key) => map.remove(&key),
            each(map, visit) => map.values().copied().for_each(visit),
            range(map, start, span, visit) =>
                map.range(start..).take(span).map(|(_, &value)| value).for_each(visit),
        }
    };
}

/// Implements `Structure` for a type from an expression per method, in this order; what a structure
/// cannot do is left out, and `can` says so:
///
/// ```text
/// structure! {
///     impl[K: Key] for Table<K>: keys K, hasher (), can Abilities::TREE;
///     sized(entries, hasher) => …,        build(keys, values, hasher) => …,
///     entries(map) => …,                  find(map, key) => …,
///     insert(map, key, value) => …,       erase(map, key) => …,
///     each(map, visit) => …,              range(map, start, span, visit) => …,
/// }
/// ```
macro_rules! structure {
    ($($all:tt)*) => {
        $crate::keyed::methods::methods! { Structure; $($all)* }
    };
}

/// The same for `Concurrent`, whose methods all take the map by reference.
macro_rules! concurrent {
    ($($all:tt)*) => {
        $crate::keyed::methods::methods! { Concurrent; $($all)* }
    };
}

/// What [`structure!`] and [`concurrent!`] share.
macro_rules! methods {
    (
        $trait:ident;
        impl[$($generics:tt)*] for $map:ty:
            keys $key:ty, hasher $hasher:ty $(, can $abilities:expr)?;
        sized($room:pat, $function:pat) => $sized:expr,
        $(build($keys:ident, $values:ident, $given:pat) => $built:expr,)?
        entries($counted:ident) => $entries:expr,
        find($read:ident, $sought:ident) => $found:expr,
        $(insert($grown:ident, $new:ident, $value:ident) => $inserted:expr,)?
        $(erase($shrunk:ident, $old:ident) => $erased:expr,)?
        $(each($walked:ident, $visit:ident) => $each:expr,)?
        $(range($from:ident, $start:ident, $span:ident, $see:ident) => $range:expr,)?
    ) => {
        impl<$($generics)*> $crate::keyed::structure::$trait<$key> for $map {
            $(const ABILITIES: $crate::keyed::Abilities = $abilities;)?
            type Hasher = $hasher;

            fn sized($room: usize, $function: $hasher) -> Self {
                $sized
            }

            $(fn build($keys: &[$key], $values: &[u64], $given: $hasher) -> Self {
                $built
            })?

            fn entries(&self) -> usize {
                let $counted = self;
                $entries
            }

            #[inline]
            fn find(&self, $sought: $key) -> Option<u64> {
                let $read = self;
                $found
            }

            $($crate::keyed::methods::change! {
                $trait insert($grown, $new: $key, $value: u64) $inserted
            })?

            $($crate::keyed::methods::change! { $trait erase($shrunk, $old: $key) $erased })?

            $(#[allow(unused_mut)]
            fn each(&self, mut $visit: impl FnMut(u64)) {
                let $walked = self;
                $each
            })?

            $(#[allow(unused_mut)]
            fn range(&self, $start: $key, $span: usize, mut $see: impl FnMut(u64)) {
                let $from = self;
                $range
            })?
        }
    };
}

/// A method that changes the map, taken as the trait has it.
macro_rules! change {
    (Structure $name:ident($map:ident, $($argument:ident: $type:ty),*) $changed:expr) => {
        #[inline]
        fn $name(&mut self, $($argument: $type),*) -> Option<u64> {
            let $map = self;
            $changed
        }
    };
    (Concurrent $name:ident($map:ident, $($argument:ident: $type:ty),*) $changed:expr) => {
        #[inline]
        fn $name(&self, $($argument: $type),*) -> Option<u64> {
            let $map = self;
            $changed
        }
    };
}

pub(crate) use {by_methods, change, concurrent, methods, structure, tree_by_methods};
