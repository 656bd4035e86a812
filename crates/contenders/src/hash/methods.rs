//! `HashFunction` for functions that a library has only as hashers of the standard library's traits:
//! a hasher is made for each key, which costs nothing once it is inlined.

/// Implements `HashFunction` for `$name`, a new type around the `BuildHasher` `$state`, which `$new`
/// makes with fixed seeds. Such functions have no vectors: their authors may change them.
macro_rules! by_build_hasher {
    ($(#[$doc:meta])* $seen:vis $name:ident($state:ty) = $new:expr, $avalanches:literal, $meta:expr) => {
        $(#[$doc])*
        #[derive(Clone)]
        $seen struct $name($state);

        impl Default for $name {
            #[inline]
            fn default() -> $name {
                $name($new)
            }
        }

        impl $crate::hash::HashFunction for $name {
            const META: fathom_measure::contender::Meta = $meta;
            const AVALANCHES: bool = $avalanches;

            fn vectors() -> Vec<(u64, u64)> {
                Vec::new()
            }

            #[inline]
            fn bytes(&self, bytes: &[u8]) -> u64 {
                use std::hash::{BuildHasher, Hasher};
                let mut hasher = self.0.build_hasher();
                hasher.write(bytes);
                hasher.finish()
            }

            #[inline]
            fn word(&self, word: u64) -> u64 {
                use std::hash::{BuildHasher, Hasher};
                let mut hasher = self.0.build_hasher();
                hasher.write_u64(word);
                hasher.finish()
            }
        }
    };
}

pub(super) use by_build_hasher;
