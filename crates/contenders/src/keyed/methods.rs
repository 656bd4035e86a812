//! [`Structure`](super::Structure) in few lines: from an expression per method, or from nothing for
//! maps whose methods are called as the standard library's are.
//!
//! Those are inherent methods of unrelated types, which no trait joins, so that these are macros:
//! a trait would have to be implemented once per type by the very lines it is to save.

/// A contender by its type: `$name: HashedMap<K, H> = Table<K, H>`, `PlainMap<K>` or `IntegerMap`, and
/// what is known about it.
macro_rules! contender {
    ($seen:vis $name:ident: HashedMap<$key:ident, $function:ident> = $map:ty, $meta:expr) => {
        $seen struct $name;

        impl $crate::keyed::bench::HashedMap for $name {
            const META: fathom_measure::contender::Meta = $meta;
            type Map<$key: $crate::keyed::Key, $function: $crate::hash::Hashes> = $map;
        }
    };
    ($seen:vis $name:ident: PlainMap<$key:ident> = $map:ty, $meta:expr) => {
        $seen struct $name;

        impl $crate::keyed::bench::PlainMap for $name {
            const META: fathom_measure::contender::Meta = $meta;
            type Map<$key: $crate::keyed::Key> = $map;
        }
    };
    ($seen:vis $name:ident: IntegerMap = $map:ty, $meta:expr) => {
        $seen struct $name;

        impl $crate::keyed::bench::IntegerMap for $name {
            const META: fathom_measure::contender::Meta = $meta;
            type Map = $map;
        }
    };
}

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
///
/// With `shared` before the type it is for one that several threads may use at once, by reference
/// alone: what it implements `Structure` for is a handle, `Arc<Table<K>>`.
macro_rules! structure {
    (impl[$($generics:tt)*] for shared $($all:tt)*) => {
        $crate::keyed::methods::methods! { shared impl[$($generics)*] for $($all)* }
    };
    ($($all:tt)*) => {
        $crate::keyed::methods::methods! { own $($all)* }
    };
}

macro_rules! methods {
    (
        $who:ident impl[$($generics:tt)*] for $map:ty:
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
        impl<$($generics)*> $crate::keyed::Structure<$key>
            for $crate::keyed::methods::held!($who type $map)
        {
            $crate::keyed::methods::held! { $who abilities $($abilities)? }
            $crate::keyed::methods::held! { $who share $key }

            type Hasher = $hasher;

            fn sized($room: usize, $function: $hasher) -> Self {
                $crate::keyed::methods::held!($who new $sized)
            }

            $(fn build($keys: &[$key], $values: &[u64], $given: $hasher) -> Self {
                $built
            })?

            fn entries(&self) -> usize {
                let $counted = $crate::keyed::methods::held!($who map self);
                $entries
            }

            #[inline]
            fn find(&self, $sought: $key) -> Option<u64> {
                let $read = $crate::keyed::methods::held!($who map self);
                $found
            }

            $(#[inline]
            fn insert(&mut self, $new: $key, $value: u64) -> Option<u64> {
                let $grown = $crate::keyed::methods::held!($who map self);
                $inserted
            })?

            $(#[inline]
            fn erase(&mut self, $old: $key) -> Option<u64> {
                let $shrunk = $crate::keyed::methods::held!($who map self);
                $erased
            })?

            $(#[allow(unused_mut)]
            fn each(&self, mut $visit: impl FnMut(u64)) {
                let $walked = $crate::keyed::methods::held!($who map self);
                $each
            })?

            $(#[allow(unused_mut)]
            fn range(&self, $start: $key, $span: usize, mut $see: impl FnMut(u64)) {
                let $from = $crate::keyed::methods::held!($who map self);
                $range
            })?
        }
    };
}

/// What differs where a structure is held by a handle.
macro_rules! held {
    (own type $map:ty) => { $map };
    (shared type $map:ty) => { std::sync::Arc<$map> };
    (own new $sized:expr) => { $sized };
    (shared new $sized:expr) => { std::sync::Arc::new($sized) };
    (own map $self:ident) => { $self };
    (shared map $self:ident) => { &**$self };
    (own abilities $($can:expr)?) => { $(const ABILITIES: $crate::keyed::Abilities = $can;)? };
    (shared abilities) => {
        $crate::keyed::methods::held! { shared abilities $crate::keyed::Abilities::MAP }
    };
    (shared abilities $can:expr) => {
        const ABILITIES: $crate::keyed::Abilities =
            $crate::keyed::Abilities { concurrent: true, ..$can };
    };
    (own share $key:ty) => {};
    (shared share $key:ty) => {
        fn share(
            &mut self,
            shares: &[$crate::keyed::step::Share<'_, $key>],
            start: &mut dyn FnMut(),
        ) -> $crate::keyed::Tally {
            $crate::keyed::structure::together(self, shares, start)
        }
    };
}

pub(crate) use {by_methods, contender, held, methods, structure, tree_by_methods};
